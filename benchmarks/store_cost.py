"""What keeping one sample costs: a response and an outcome, in batches as the runner keeps them.

    python benchmarks/store_cost.py [--samples 20000] [--batch 32] [--store URL]

Prompts are few-shot like (3,000 characters, shared by the samples of an item); answers have 500
characters. The last line is JSON: CPU and wall milliseconds a sample, reading included where named.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from probatum.core.records import Identity, Item, Outcome, Request, Response, Sampling
from probatum.core.run import Run, RunState
from probatum.core.status import Status
from probatum.store import Store, open_store

MODEL = Identity(provider="benchmark", name="none")


def prose(name: str, characters: int) -> str:
    """Text that compresses about as well as prose: words drawn from a small vocabulary."""
    words: list[str] = []
    length = block = 0
    while length < characters:
        for byte in hashlib.sha256(f"{name} {block}".encode()).digest():
            words.append(f"{'aeiou'[byte % 5]}{'bcdfghklmnprst'[byte % 14]}{'aeiou'[byte % 3]}{byte % 7:b}")
            length += len(words[-1]) + 1
        block += 1
    return " ".join(words)[:characters]


def batches(
    samples: int, per_item: int, size: int
) -> Iterator[list[tuple[int, Item, Request, Response, Outcome]]]:
    shots = prose("shots", 2700)
    batch = []
    for number in range(samples):
        position, sample = divmod(number, per_item)
        question = prose(f"question {position}", 300)
        item = Item(id=f"item-{position}", fields={"question": question}, targets=(str(position),))
        sampling = Sampling(temperature=0.8, seed=number)
        request = Request(item_id=item.id, sample=sample, prompt=f"{shots}\n{question}", sampling=sampling)
        response = Response(
            request=request.key,
            text=prose(f"answer {number}", 500),
            prompt_tokens=700,
            completion_tokens=120,
            seconds=0.5,
        )
        outcome = Outcome(
            item_id=item.id,
            sample=sample,
            status=Status.SCORED,
            scores={"exact": float(number % 2)},
            answer=str(position),
            rule="last_number",
            span=(480, 484),
        )
        item.digest  # noqa: B018 - the runner has it already: not the store's cost
        batch.append((position, item, request, response, outcome))
        if len(batch) == size or number == samples - 1:
            yield batch
            batch = []


def keep(store: Store, work: list[list[tuple[int, Item, Request, Response, Outcome]]]) -> None:
    for batch in work:
        store.responses(MODEL.digest, [request.key for _, _, request, _, _ in batch])
        store.keep_responses(MODEL.digest, [(request, response) for _, _, request, response, _ in batch])
        store.keep_outcomes(
            "run", "task", [(p, item, (request,), outcome) for p, item, request, _, outcome in batch]
        )


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def peak_rss_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")  # `ru_maxrss` starts at a parent's peak
    return round(int(status.partition("VmHWM:")[2].split()[0]) / 1024, 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--per-item", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "store.db"
        store = open_store(options.store or str(path))
        store.open_run(Run(id="run", model=MODEL, tasks=(), state=RunState.RUNNING, created="", updated=""))
        cpu = wall = 0.0
        work = batches(options.samples, options.per_item, options.batch)
        while chunk := [batch for batch, _ in zip(work, range(20), strict=False)]:
            more = measured(lambda chunk=chunk: keep(store, chunk))
            cpu, wall = cpu + more[0], wall + more[1]
        peak = peak_rss_mb()
        marks, _ = measured(lambda: sum(1 for _ in store.marks("run", "task")))
        samples, _ = measured(lambda: sum(1 for _ in store.samples("run", "task")))
        store.close()
        figures = {
            "samples": options.samples,
            "keep_cpu_ms_per_sample": round(cpu / options.samples * 1e3, 4),
            "keep_wall_ms_per_sample": round(wall / options.samples * 1e3, 4),
            "marks_cpu_ms_per_sample": round(marks / options.samples * 1e3, 4),
            "samples_cpu_ms_per_sample": round(samples / options.samples * 1e3, 4),
            "bytes_per_sample": round(path.stat().st_size / options.samples) if path.exists() else None,
            "peak_rss_mb": peak,
            "peak_rss_mb_after_streaming": peak_rss_mb(),
        }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
