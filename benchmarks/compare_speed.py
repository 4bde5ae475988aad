"""Comparing, exporting and verifying runs of MMLU's size: wall and CPU time of the real commands.

    python benchmarks/compare_speed.py                  # two runs of 14,042 items in 57 subjects
    python benchmarks/compare_speed.py --items 2000

The runs are made up (0/1 scores of two models whose answers correlate) and written into a store of their own;
that is not in the figures. Each command is a process, its start and imports included.

The last line is JSON: compare_seconds, compare_cpu_seconds, the same for diff, export and verify, and
bundle_bytes.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from probatum.benchmarks import find_task
from probatum.core.canonical import canonical, digest_json
from probatum.core.protocol import Protocol
from probatum.core.records import Identity, Item, Outcome, Request, Response
from probatum.core.run import Run, RunState, TaskRun
from probatum.core.status import Status
from probatum.store import Store, open_store

NOW = "2026-11-30T10:00:00Z"
SUBJECTS = 57


def write_run(store: Store, name: str, scores: list[float]) -> str:
    """A complete run of `mmlu` by a model of that name."""
    task = find_task("mmlu")
    protocol = Protocol(task=task, form="letters", shots=5, samples=1, sampling=task.sampling)
    model = Identity(provider="made", name=name)
    rows = []
    for number, score in enumerate(scores):
        subject = f"subject {number % SUBJECTS}"
        item = Item(id=f"{subject}/{number}", fields={"question": f"{number}?"}, stratum=subject)
        request = Request(item_id=item.id, prompt=f"Five examples of {subject}. " * 20 + f"{number}?")
        outcome = Outcome(item_id=item.id, sample=0, status=Status.SCORED, scores={"correct": score})
        rows.append((number, item, (request,), outcome))
    record = Run(
        id=digest_json(name)[:16],
        model=model,
        tasks=(
            TaskRun(
                task="mmlu",
                protocol=protocol.digest,
                recipe={"protocol": canonical(protocol)},
                items=digest_json([item.digest for _, item, _, _ in rows]),
                planned=len(rows),
            ),
        ),
        state=RunState.COMPLETE,
        created=NOW,
        updated=NOW,
    )
    store.open_run(record)
    answered = [(asked, Response(request=asked.key, text="A")) for _, _, (asked,), _ in rows]
    store.keep_responses(model.digest, answered)
    store.keep_outcomes(record.id, "mmlu", rows)
    store.close_run(record)
    return record.id


def measured(*arguments: str) -> tuple[float, float]:
    """Wall and CPU seconds of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "probatum", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return time.perf_counter() - start, used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=14_042)
    parser.add_argument("--repetitions", type=int, default=3)
    chosen = parser.parse_args()
    draws = random.Random(0)
    ease = [draws.random() for _ in range(chosen.items)]
    with tempfile.TemporaryDirectory() as name:
        url = f"sqlite:///{Path(name) / 'runs.db'}"
        bundle = Path(name) / "run.zip"
        with open_store(url) as store:
            runs = [
                write_run(store, model, [float(each / 2 + draws.random() / 2 < skill) for each in ease])
                for model, skill in (("one", 0.60), ("other", 0.62))
            ]
        commands = {
            "compare": ("compare", *runs, "--store", url),
            "diff": ("diff", *runs, "--store", url),
            "export": ("export", runs[0], "-o", str(bundle), "--store", url),
            "verify": ("verify", str(bundle)),
        }
        figures: dict[str, float] = {"items": chosen.items}
        for command, arguments in commands.items():
            wall, used = zip(*(measured(*arguments) for _ in range(chosen.repetitions)), strict=True)
            figures |= {f"{command}_seconds": min(wall), f"{command}_cpu_seconds": min(used)}
            print(f"{command}: {min(wall):.2f} s, {min(used):.2f} s of CPU")
        figures["bundle_bytes"] = bundle.stat().st_size
    print(json.dumps(figures, allow_nan=False))


if __name__ == "__main__":
    main()
