"""Code: taken out of answers, assembled, executed."""

from __future__ import annotations

import ast
import atexit
import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from probatum.benchmarks import mini_code
from probatum.core.errors import GraderError, SandboxError
from probatum.core.protocol import Task
from probatum.core.records import Execution, ExecutionStatus, Item, Limits, Program, Response
from probatum.datasets import load_items
from probatum.extraction import assemble_answer, extract_code
from probatum.extraction.code import continues
from probatum.runner.canaries import check_grader
from probatum.sandbox import Sandbox
from probatum.scoring import PassesExamples, PassesTests
from tests.cases.frame import Given, NotMappedError, Said, begins, operation


@cache
def sandbox() -> Sandbox:
    made = Sandbox(workers=1)
    atexit.register(made.close)
    return made


def execute(program: Program) -> Execution:
    (execution,) = sandbox().execute([program])
    return execution


ENDINGS = {
    "timeout": (ExecutionStatus.TIMEOUT,),
    "out of memory": (ExecutionStatus.MEMORY_LIMIT,),
    "tests not completed": (ExecutionStatus.EXIT_CALLED,),
    "EOFError": (ExecutionStatus.EXCEPTION,),
}
"""Words in a right value's brackets → how such an execution ends."""


def word_of(ours: Execution, expected: str) -> str:
    """Tests that test nothing are an error, or a failure."""
    if ours.status is ExecutionStatus.NO_CALLS and begins(expected, "error"):
        return "error"
    return "pass" if ours.status is ExecutionStatus.PASSED else "fail"


def same_verdict(ours: Any, expected: Any) -> bool:
    """`pass` or `fail`, ended in the way that the brackets name, and within the time that they name."""
    if isinstance(ours, Alone):
        return ours.agrees(str(expected))
    if isinstance(ours, Said) or not isinstance(ours, Execution):
        return isinstance(ours, Said) and begins(str(expected), ours.word)
    if not begins(str(expected), word_of(ours, str(expected))):
        return False
    for words, statuses in ENDINGS.items():
        if re.search(rf"\({words}", expected) and ours.status not in statuses:
            return False
    if "EOFError" in expected and ours.detail != "EOFError":
        return False
    seconds = re.search(r"(?:within|<) (\d+) s", expected)
    return seconds is None or (ours.cpu_seconds or 0.0) <= float(seconds[1])


@dataclass(frozen=True)
class Alone:
    """A program that was run for what it writes."""

    execution: Execution

    def agrees(self, expected: str) -> bool:
        ended = self.execution
        if expected.startswith("fails at once"):  # refused by the system, and not waited for
            refused = ended.detail in ("PermissionError", "OSError", "gaierror")
            return ended.status is ExecutionStatus.EXCEPTION and refused
        if ended.status is not ExecutionStatus.PASSED:
            return False
        if "in-process exec is not offered" in expected:
            return ended.isolation not in ("", "unsafe-subprocess")
        return ended.stdout.strip() == expected


def run_alone(given: Given) -> Alone:
    """The whole program, with what stands in the environment of this process while it runs."""
    if given.get("policy", "in-process exec") != "in-process exec":
        raise NotMappedError(f"policy {given['policy']!r}")
    with pytest.MonkeyPatch.context() as here:
        for name, value in given.get("parent_env", {}).items():
            here.setenv(name, value)
        with Sandbox(workers=1) as fresh:  # its workers start in that environment
            (ended,) = fresh.execute([Program(code=given["code"], tests="run_program()")])
    return Alone(ended)


def limits(given: Given) -> Limits:
    settings: dict[str, Any] = {}
    if "timeout" in given:
        settings["cpu_seconds"] = float(given["timeout"])
    if "memory_mb" in given:
        settings["memory_bytes"] = given["memory_mb"] << 20
    return Limits(**settings)


def tested(code: str, tests: str) -> str:
    """The function of the program that the tests call, where the case does not name it."""
    names = [
        name for name in re.findall(r"^def (\w+)", code, re.MULTILINE) if re.search(rf"\b{name}\(", tests)
    ]
    if not names:
        raise NotMappedError("the input names no entry point")
    return names[-1]


@operation("run_python", unused=("stdin", "tests_count", "n_tests", "prompt"), agrees=same_verdict)
def run_python(given: Given) -> Any:
    if "tests" not in given and "entry" not in given:
        return run_alone(given)
    if given.get("style", "function") not in ("function", "leetcode", "method"):
        raise NotMappedError(f"style {given['style']!r}")
    settings: dict[str, Any] = {}
    tests = "{tests}"
    if given.get("style", "function") != "function":  # the cases' tests say `call` for the entry point
        settings["call"], tests = "method", "call = {entry}\n{tests}"
    source = given["tests"] if isinstance(given["tests"], str) else "\n".join(given["tests"])
    scorer = PassesTests(
        tests=tests if source.strip() else "", entry_point="{entry}", prompt="", given="program",
        limits=limits(given), **settings,
    )  # fmt: skip
    item = Item(
        id="case", fields={"tests": source, "entry": given.get("entry") or tested(given["code"], source)}
    )
    program = scorer.program(item, 0, [Response(request="", text=given["code"])])
    if not isinstance(program, Program):
        return Said("error", program.reason or "")
    return execute(program)


@operation("run_repo_tests", agrees=same_verdict)
def run_repo_tests(given: Given) -> Execution:
    """Files that the submission adds lie in its own directory, which no test reads its settings from."""
    files = given["new_files"]
    code = "\n".join(f"open({name!r}, 'w').write({text!r})" for name, text in files.items())
    return execute(
        Program(code=f"{code}\ndef f(): pass", tests=f"f()\n{given['tests']}", entry_points=("f",))
    )


def literal(expression: str) -> str:
    """The value of an expression of literals, `+` and `*`, such as `'1' + '0'*9`."""
    return str(_value(ast.parse(expression, mode="eval").body))


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        combine = operator.add if isinstance(node.op, ast.Add) else operator.mul
        return combine(_value(node.left), _value(node.right))
    raise NotMappedError(f"expression {ast.unparse(node)!r}")


@operation("run_stdio", agrees=same_verdict)
def run_stdio(given: Given) -> Execution | Said:
    wanted = literal(given["expected_expr"]) if "expected_expr" in given else given["expected"]
    item = Item(id="case", fields={"inputs": [given["stdin"]], "outputs": [wanted]})
    scorer = PassesExamples(given="program", limits=limits(given))
    program = scorer.program(item, 0, [Response(request="", text=given["code"])])
    return execute(program) if isinstance(program, Program) else Said("error", program.reason or "")


@operation("canary")
def canary(given: Given) -> Any:
    if "environment" in given:
        return broken_environment(given["environment"])
    (name,) = set(re.findall(r"^def (\w+)", given["good"], re.MULTILINE))
    ended = {
        kind: execute(Program(code=given[kind], tests=given["tests"], entry_points=(name,)))
        for kind in ("good", "bad")
    }
    return {kind: "pass" if each.status is ExecutionStatus.PASSED else "fail" for kind, each in ended.items()}


class NoWorkers:
    """A sandbox whose workers do not start."""

    def execute(self, programs: Iterable[Program]) -> Iterator[Execution]:
        raise SandboxError(f"no worker can be started for {len(list(programs))} program")


def stopped(task: Task, executor: Any) -> Said:
    """What becomes of a run whose known answers are graded first."""
    items = load_items(task.source, task.row, task.to_item)
    try:
        check_grader(task, task.scorer, items, executor)
    except (GraderError, SandboxError) as error:
        return Said("run stopped", str(error))
    return Said("run goes on")


def broken_environment(what: str) -> Said:
    if what != "workers cannot start":
        raise NotMappedError(f"environment {what!r}")
    return stopped(mini_code.TASK, NoWorkers())


@operation("gt_check", unused=("model_pass",))
def gt_check(given: Given) -> Said:
    """A benchmark whose reference solutions all pass here, or all fail."""
    rate = given["reference_pass_rate"]
    if rate not in (0, 1):
        raise NotMappedError(f"reference pass rate {rate!r}")
    return stopped(mini_code.TASK if rate else replace(mini_code.TASK, gold=mini_code.wrong), sandbox())


# ── code in answers ─────────────────────────────────────────────────────────────────────────────────


@operation("extract_code")
def code(given: Given) -> str | None:
    found = extract_code(given["text"], given.get("entry"), language=given.get("language", "python"))
    return found.answer if found else None


@operation("extract_code_many")
def code_many(given: Given) -> list[str | None]:
    shared = {key: given[key] for key in given if key not in ("op", "texts")}
    return [code(Given({**shared, "text": text})) for text in given["texts"]]


def passes_for(ours: str, expected: str) -> bool:
    """The program passes (or fails) the assertion that the right value names."""
    match = re.fullmatch(r"(pass|fail) for (\w+)(\(.*)", expected)
    if match is None:
        return False
    ended = execute(Program(code=ours, tests=f"assert {match[2]}{match[3]}", entry_points=(match[2],)))
    return (ended.status is ExecutionStatus.PASSED) == (match[1] == "pass")


@operation("assemble_python", agrees=passes_for)
def assemble(given: Given) -> str:
    prompt, completion, entry = given["prompt"], given["completion"], given.get("entry")
    if (program := continues(prompt, completion, entry)) is not None:
        return program
    found = extract_code(completion, entry)
    return assemble_answer(prompt, completion if found is None else found.answer, entry)
