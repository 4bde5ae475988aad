"""A process that keeps outcomes until it is killed, and says after each call what it has kept.

python -m tests.store.writer URL RUN FIRST BATCH [BATCHES]
"""

from __future__ import annotations

import sys
from itertools import count

from probatum.core.errors import StoreError
from probatum.store import open_store
from tests.store import rows


def main(url: str, run: str, first: str, batch: str, batches: str = "") -> None:
    size = int(batch)
    with open_store(url) as store:
        store.open_run(rows.run_of(run))
        for number in range(int(batches)) if batches else count():
            start = int(first) + number * size
            graded = [rows.graded(n, prompt="a long prompt " * 50) for n in range(start, start + size)]
            asked = [request for _, _, requests, _ in graded for request in requests]
            try:
                store.keep_responses(
                    rows.MODEL.digest, [rows.answer(request, f"{run} ") for request in asked]
                )
                store.keep_outcomes(run, "t", graded)
            except StoreError as error:
                tell(f"StoreError: {error}")
                sys.exit(1)
            tell(start + size)


def tell(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
