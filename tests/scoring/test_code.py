"""Passing tests: what is executed, and what an execution means."""

from __future__ import annotations

import pytest

from probatum.core.canonical import digest
from probatum.core.protocol import FormScorer, ProgramScorer
from probatum.core.records import (
    Execution,
    ExecutionStatus,
    Finish,
    Item,
    Limits,
    Outcome,
    Program,
    Response,
)
from probatum.core.status import Status
from probatum.scoring import PassesTests

PROMPT = 'import math\n\n\ndef root(x):\n    """The square root."""\n'
TEST = "def check(candidate):\n    assert candidate(4) == 2\n"
ITEM = Item(id="p", fields={"prompt": PROMPT, "test": TEST, "entry_point": "root"})
BODY = "    return math.sqrt(x)\n"
SCORER = PassesTests(stop=("\ndef",))
CHAT = SCORER.for_form("chat")


def answered(text: str, finish: Finish = Finish.STOP) -> list[Response]:
    return [Response(request="r", text=text, finish=finish)]


def program(scorer: PassesTests, text: str, finish: Finish = Finish.STOP) -> Program:
    made = scorer.program(ITEM, 0, answered(text, finish))
    assert isinstance(made, Program), made
    return made


def outcome(scorer: PassesTests, text: str, finish: Finish = Finish.STOP, item: Item = ITEM) -> Outcome:
    made = scorer.program(item, 0, answered(text, finish))
    assert isinstance(made, Outcome), made
    return made


def test_a_completion_is_executed_as_it_stands() -> None:
    made = program(SCORER, BODY + "\ndef more")
    assert made.code == PROMPT + BODY
    assert made.tests == TEST + "\ncheck(root)"
    assert made.entry_points == ("root",)
    assert (made.mode, made.limits) == ("split", Limits())


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.LENGTH])
def test_an_empty_completion_is_a_completion(finish: Finish) -> None:
    assert program(SCORER, "", finish).code == PROMPT


def test_prose_behind_a_prompt_is_executed_too() -> None:
    assert program(SCORER, "    Sure, ```").code == PROMPT + "    Sure, ```"


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{PROMPT}{BODY}```",
        "Sure.\n```python\ndef root(x):\n    return math.sqrt(x)\n```",
        f"```python\n{BODY}```",
        "```\nreturn math.sqrt(x)\n```",
        "<think>no</think>```python\ndef root(x):\n    return math.sqrt(x)\n```",
    ],
)
def test_an_answer_is_searched_for_code(text: str) -> None:
    names: dict[str, object] = {}
    exec(program(CHAT, text).code, names)
    assert names["root"](4) == 2


@pytest.mark.parametrize("text", ["", "I cannot.", "No code here."])
def test_an_answer_without_code_is_none(text: str) -> None:
    assert outcome(CHAT, text).status is Status.NO_ANSWER


def test_an_answer_cut_within_its_function_is_truncated() -> None:
    cut = "```python\ndef root(x):\n    y = x"
    assert outcome(CHAT, cut, Finish.LENGTH).status is Status.TRUNCATED
    assert program(CHAT, cut).code.endswith("y = x")
    assert program(CHAT, "```python\ndef root(x):\n    return 2\n```\nIt", Finish.LENGTH)


def test_broken_code_is_an_answer() -> None:
    assert "def root(:" in program(CHAT, "```python\ndef root(:\n```").code


def test_a_program_is_executed_alone() -> None:
    scorer = PassesTests(given="program")
    assert program(scorer, "def root(x): return 2").code == "def root(x): return 2"
    assert scorer.for_form("chat") == scorer


@pytest.mark.parametrize("finish", [Finish.REFUSAL, Finish.TIMEOUT, Finish.INFRA_ERROR])
def test_nothing_is_executed_where_nothing_was_answered(finish: Finish) -> None:
    for scorer in (SCORER, CHAT):
        assert outcome(scorer, BODY, finish).status not in {Status.SCORED, Status.NO_ANSWER}


@pytest.mark.parametrize("fields", [{"prompt": PROMPT}, {"prompt": PROMPT, "entry_point": "root"}])
def test_an_item_without_tests_is_invalid(fields: dict[str, object]) -> None:
    made = outcome(SCORER, BODY, item=Item(id="p", fields=fields))
    assert made.status is Status.INVALID_ITEM
    assert "no field 'test'" in made.reason or "no field 'entry_point'" in made.reason


def test_empty_tests_pass_nobody() -> None:
    empty = Item(id="p", fields={"prompt": "", "tests": []})
    made = PassesTests(tests="{tests}", entry_point=None).program(empty, 0, answered("x = 1"))
    assert isinstance(made, Outcome)
    assert made.status is Status.INVALID_ITEM


def test_assertions_in_a_list_and_set_up_code() -> None:
    scorer = PassesTests(tests="{setup}\n{asserts}", entry_point=None, prompt="", given="answer")
    item = Item(id="m", fields={"setup": "import math", "asserts": ["assert f(1) == 1", "assert f({}) == 0"]})
    made = scorer.program(item, 0, answered("```python\ndef f(x):\n    return x or 0\n```"))
    assert made.tests == "import math\nassert f(1) == 1\nassert f({}) == 0"
    assert made.entry_points == ()
    assert made.code == "def f(x):\n    return x or 0"


def run(status: ExecutionStatus, **extra: object) -> Execution:
    return Execution(program="d", status=status, **extra)


FAILED = [
    status
    for status in ExecutionStatus
    if status not in {ExecutionStatus.PASSED, ExecutionStatus.SANDBOX_ERROR}
]


def test_a_program_that_passed_scores_one() -> None:
    execution = run(ExecutionStatus.PASSED)
    verdict = SCORER.verdict(ITEM, 2, answered(BODY + "\ndef x"), execution)
    assert (verdict.status, verdict.scores, verdict.sample) == (Status.SCORED, {"passed": 1.0}, 2)
    assert (verdict.answer, verdict.rule, verdict.span) == (BODY, "completion", (0, len(BODY)))
    assert verdict.execution == execution
    assert verdict.reason is None


@pytest.mark.parametrize("status", FAILED)
def test_a_program_that_failed_scores_nothing(status: ExecutionStatus) -> None:
    verdict = CHAT.verdict(ITEM, 0, answered("```\ndef root(x): pass\n```"), run(status, message="a\nb"))
    assert (verdict.status, verdict.scores) == (Status.SCORED, {"passed": 0.0})
    assert verdict.reason == f"{status}: a b"
    assert verdict.rule == "fence:block"


def test_our_failure_is_not_the_programs() -> None:
    verdict = SCORER.verdict(ITEM, 0, answered(BODY), run(ExecutionStatus.SANDBOX_ERROR, message="no worker"))
    assert (verdict.status, verdict.scores, verdict.reason) == (Status.INFRA_ERROR, {}, "no worker")


def test_it_is_a_program_scorer_with_a_digest() -> None:
    assert isinstance(SCORER, ProgramScorer)
    assert isinstance(SCORER, FormScorer)
    assert SCORER.scores == ("passed",)
    assert len({digest(each) for each in (SCORER, CHAT, PassesTests(), PassesTests(mode="joint"))}) == 4
    assert SCORER.for_form("completion") is SCORER
