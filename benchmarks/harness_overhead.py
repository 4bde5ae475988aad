"""What this harness costs beside the model: CPU per sample over a server that answers at once.

    python benchmarks/harness_overhead.py                     # the whole: plan, ask, grade, keep, summarise
    python benchmarks/harness_overhead.py --layer transport   # the API backend alone
    python benchmarks/harness_overhead.py --peer /other/venv/bin/python   # inspect-ai and lm-eval as well

The work is the one that other harnesses were measured with: 1,000 prompts to a server on loopback that
always says "The answer is 42.", which is right for exactly half of them. It lies in the directory that
`PROBATUM_BENCH_OVERHEAD` names, or in `../shared/bench/overhead` beside the repository. The server runs
in a process of its own; CPU seconds are those of this process alone, all its threads included. Imports
are measured apart, as they are for the others.

The last line is JSON: cpu_ms_per_sample, samples_per_second, peak_rss_mb, accuracy (and more).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from probatum.core.protocol import Source, Task
from probatum.core.records import Item, Message, Request, Sampling
from probatum.extraction import FinalNumber
from probatum.prompting import ChatPrompt
from probatum.scoring import NumberMatch, Rate

REPOSITORY = Path(__file__).resolve().parents[1]
MODULES = ("sqlalchemy.dialects.sqlite", "probatum.runner", "probatum.models.openai.asking")
"""What a run loads when it first needs it."""


@dataclass(frozen=True)
class Row:
    """A prompt of the workload."""

    id: int
    input: str
    target: str


def to_item(row: Row) -> Item:
    return Item(id=str(row.id), fields={"input": row.input}, targets=(row.target,))


def gold(item: Item) -> str:
    return f"The answer is {item.targets[0]}."


def wrong(item: Item) -> str:
    return f"The answer is {item.targets[0]}7."


TASK = Task(
    name="harness_overhead",
    version=1,
    summary="1,000 prompts in the manner of GSM8K, half of them with the answer 42",
    citation="probatum",
    source=Source(local=("data.jsonl",)),
    row=Row,
    to_item=to_item,
    chat=ChatPrompt(template="{{ input }}"),
    sampling=Sampling(max_tokens=64),
    scorer=NumberMatch(FinalNumber(declared=("The answer is",))),
    metrics=(Rate(),),
    gold=gold,
    wrong=wrong,
)


@dataclass(frozen=True)
class Figures:
    """One measurement."""

    cpu_seconds: float
    wall_seconds: float
    samples: int
    accuracy: float

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of CPU a sample."""
        return 1000 * self.cpu_seconds / self.samples

    def __str__(self) -> str:
        rate = self.samples / self.wall_seconds
        return f"{self.cpu_ms:.3f} ms CPU per sample, {rate:,.0f} samples/s, accuracy {self.accuracy:.3f}"


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_rss_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")  # `ru_maxrss` starts at a parent's peak
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def workload() -> Path | None:
    """Where the server and the maker of the prompts lie."""
    named = os.environ.get("PROBATUM_BENCH_OVERHEAD")
    place = Path(named) if named else REPOSITORY.parent / "shared" / "bench" / "overhead"
    return place if (place / "mock_server.py").exists() else None


@contextmanager
def running_server(place: Path, latency_ms: float) -> Iterator[str]:
    """The root of the server's interface."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "mock_server.py", "--port", str(port), "--latency-ms", str(latency_ms)]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if not process.stdout.readline().startswith("listening"):
                raise SystemExit(f"the server {place / 'mock_server.py'} did not start")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def measure_transport(base_url: str, place: Path, options: argparse.Namespace, _: int) -> Figures:
    """The API backend alone: requests in, responses out."""
    from probatum.models import load_model

    rows = [json.loads(line) for line in (place / "data.jsonl").read_text().splitlines()]
    model = load_model("openai/mock", {"base_url": base_url, "concurrency": options.conns})
    requests = (
        Request(
            item_id=str(row["id"]),
            prompt=(Message("user", row["input"]),),
            sampling=TASK.sampling,
        )
        for row in rows
    )
    targets = {}
    right = answered = 0
    cpu, wall = cpu_seconds(), time.perf_counter()

    def remembered() -> Iterator[Request]:
        for request, row in zip(requests, rows, strict=True):
            targets[request.key] = row["target"]
            yield request

    for response in model.answer(remembered()):
        answered += 1
        right += targets[response.request] in response.text
    model.close()
    figures = Figures(cpu_seconds() - cpu, time.perf_counter() - wall, answered, right / answered)
    if answered != len(rows):
        raise SystemExit(f"{answered} responses to {len(rows)} requests")
    return figures


def measure_harness(base_url: str, place: Path, options: argparse.Namespace, repeat: int) -> Figures:
    """A whole run into a new database."""
    import probatum

    cpu, wall = cpu_seconds(), time.perf_counter()
    run = probatum.evaluate(
        TASK,
        model="openai/mock",
        settings={"base_url": base_url, "concurrency": options.conns},
        store=f"sqlite:///{place / f'run{repeat}.db'}",
        form="chat",
        data_directory=place,
    )
    spent, taken = cpu_seconds() - cpu, time.perf_counter() - wall
    accuracy = run.estimates[0].value
    statuses = dict(run.statuses[TASK.name])
    run.store.close()
    if accuracy is None or statuses != {"scored": options.n}:
        raise SystemExit(f"not every sample was scored: {statuses}")
    return Figures(spent, taken, options.n, accuracy)


def peers(python: str, base_url: str, place: Path, conns: int) -> dict[str, dict[str, float]]:
    """The same work by other harnesses, as far as that interpreter has them."""
    found = {}
    for module, runner in (("inspect_ai", "run_inspect.py"), ("lm_eval", "run_lmeval.py")):
        if subprocess.run([python, "-c", f"import {module}"], check=False, capture_output=True).returncode:
            print(f"{module}: not importable by {python}, skipped")
            continue
        command = [python, runner, "--conns", str(conns), "--base", base_url]
        environment = {**os.environ, "PYTHONPATH": str(place)}
        done = subprocess.run(
            command, cwd=place, check=False, capture_output=True, text=True, env=environment
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        if not lines:
            print(f"{module}: failed: {done.stderr.strip().splitlines()[-1:]}")
            continue
        result = json.loads(lines[-1].removeprefix("RESULT "))
        found[module] = {
            "cpu_ms_per_sample": round(1000 * result["eval_cpu"] / result["n"], 3),
            "samples_per_second": result["samples_per_s"],
            "peak_rss_mb": result["peak_rss_mb"],
            "accuracy": result["acc"],
        }
        print(f"{module}: {json.dumps(found[module])}")
    return found


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layer", choices=("harness", "transport"), default="harness")
    parser.add_argument("--n", type=int, default=1000, help="prompts")
    parser.add_argument("--conns", type=int, default=10, help="requests in flight")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="how long the server takes")
    parser.add_argument(
        "--repeats",
        type=int,
        default=3,
        help="runs; the first is reported",
    )
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter that has inspect-ai or lm-eval")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    source = workload()
    if source is None:
        print("skipped: no workload; set PROBATUM_BENCH_OVERHEAD to the directory with mock_server.py")
        return
    cpu = cpu_seconds()
    for module in MODULES:
        __import__(module)
    imports = cpu_seconds()
    measure = measure_harness if options.layer == "harness" else measure_transport
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "overhead"
        shutil.copytree(source, place)
        place.chmod(0o755)
        subprocess.run([sys.executable, "make_data.py", str(options.n)], cwd=place, check=True)
        with running_server(place, options.latency_ms) as base_url:
            figures = [measure(base_url, place, options, repeat) for repeat in range(options.repeats)]
            peak = peak_rss_mb()
            others = peers(options.peer, base_url, place, options.conns) if options.peer else {}
    for one in figures:
        print(f"{options.layer}: {one}")
    print(f"imports: {imports:.2f} CPU-seconds, {imports - cpu:.2f} of them for what a run loads later")
    print(f"peak resident memory: {peak:.0f} MB")
    first = figures[0]  # with all that happens once: the recipe's digest, the new database
    result = {
        "layer": options.layer,
        "cpu_ms_per_sample": round(first.cpu_ms, 4),
        "cpu_ms_per_sample_again": round(statistics.median(one.cpu_ms for one in figures), 4),
        "samples_per_second": round(first.samples / first.wall_seconds, 1),
        "peak_rss_mb": round(peak, 1),
        "accuracy": first.accuracy,
        "import_cpu_seconds": round(imports, 3),
    }
    if any(one.accuracy != 0.5 for one in figures):
        raise SystemExit(f"accuracy must be exactly 0.5: {[one.accuracy for one in figures]}")
    print(json.dumps({**result, **({"peers": others} if others else {})}, allow_nan=False))


if __name__ == "__main__":
    main()
