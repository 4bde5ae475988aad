"""A process that runs `sums` until it is done, interrupted or killed.

python -m tests.runner.killed STORE DATA LOG DELAY [THREAD]
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from probatum import evaluate
from probatum.core.errors import ProbatumError
from tests.fakes import TASK, load


def main(store: str, data: str, log: str, delay: str) -> None:
    model = load("slow", {"log": log, "delay": float(delay)})
    try:
        run = evaluate(TASK, model=model, store=store, data_directory=Path(data), samples=2, temperature=0.5)
    except ProbatumError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_status)
    run.store.close()
    alive = [one.name for one in threading.enumerate() if one is not threading.main_thread()]
    sys.stdout.write(f"{run.id} {run.record.state} {alive}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
