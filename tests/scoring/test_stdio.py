"""Outputs of programs: equal by declared rules, and the place where they are not."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import evaluate
from probatum.core.canonical import digest
from probatum.core.errors import ProtocolError, SandboxError
from probatum.core.protocol import FormScorer, ProgramScorer, Source, Task
from probatum.core.records import (
    Execution,
    ExecutionStatus,
    Item,
    Limits,
    Outcome,
    Program,
    Response,
    Sampling,
)
from probatum.core.status import Status
from probatum.prompting import ChatPrompt
from probatum.runner import Options, validate
from probatum.runner import grade as grade_file
from probatum.sandbox import Sandbox
from probatum.scoring import PassAtK
from probatum.scoring.stdio import OutputRules, PassesExamples, compare_output

LINES = OutputRules()
EXACT = OutputRules(layout="exact")
WORDS = OutputRules(layout="words")
STREAM = OutputRules(layout="stream")
ANY = OutputRules(order="any")
SET = OutputRules(order="any", multiplicity=False)
VALUE = OutputRules(layout="words", numbers="value")
NEAR = OutputRules(layout="words", numbers="value", absolute="1e-6", relative="1e-6")
LOOSE = OutputRules(layout="words", numbers="value", absolute="0.5", integers="tolerant")
ANY_NEAR = OutputRules(layout="words", numbers="value", absolute="0.01", order="any")
ANY_WORDS = OutputRules(layout="stream", order="any")
YES_NO = OutputRules(case="yes_no")
FOLDED = OutputRules(case="folded")
STRICT_NAN = OutputRules(layout="words", numbers="value", nan_equal=False)
BIG = "9" * 6000

COMPARED = [
    # layout
    (LINES, "3 4 \n5\n\n", "3 4\n5", True),
    (LINES, "3  4\n", "3 4\n", False),
    (LINES, " 3 4", "3 4", False),
    (LINES, "3 4\r\n5\r\n", "3 4\n5\n", True),
    (LINES, "1\n\n2", "1\n2", False),
    (LINES, "1", "1\n2", False),
    (LINES, "1\n2\n3", "1\n2", False),
    (LINES, "", "", True),
    (LINES, "\n \n", "", True),
    (LINES, "0", "", False),
    (LINES, "", "0", False),
    (EXACT, "3 4", "3 4\n", False),
    (EXACT, "3 4\n", "3 4\n", True),
    (EXACT, "3 4\r\n", "3 4\n", False),
    (WORDS, "  3 \t 4 \n5", "3 4\n5\n", True),
    (WORDS, "3\n4 5", "3 4\n5", False),
    (STREAM, "3\n4 5", "3 4\n5", True),
    (STREAM, "3 4", "3 4 5", False),
    (STREAM, "3 4 5 6", "3 4\n5", False),
    # order and multiplicity
    (LINES, "A\nB\nB", "B\nA\nB", False),
    (ANY, "A\nB\nB", "B\nA\nB", True),
    (ANY, "A\nA\nB", "B\nA\nB", False),
    (ANY, "A\nB", "A\nB\nB", False),
    (SET, "A\nA\nB", "B\nA\nB", True),
    (SET, "A\nB\nC", "A\nB", False),
    (SET, "A", "A\nB", False),
    (ANY_WORDS, "3 1\n2", "1 2 3", True),
    (ANY_WORDS, "3 1 1", "1 3 3", False),
    # case
    (LINES, "Yes", "YES", False),
    (YES_NO, "Yes\nNO", "YES\nno", True),
    (YES_NO, "maybe", "Maybe", False),
    (YES_NO, "yes", "no", False),
    (FOLDED, "Maybe", "MAYBE", True),
    (OutputRules(order="any", case="yes_no"), "yes\nNo", "NO\nYES", True),
    # numbers
    (WORDS, "1.0", "1", False),
    (WORDS, "007", "7", False),
    (VALUE, "1.0", "1", True),
    (VALUE, "007 -0 +5 1e2", "7 0 5 100", True),
    (VALUE, "0.1", "0.10000000000000001", False),
    (NEAR, "1000001", "1000000", False),
    (NEAR, "1000000.5", "1000000.0", True),
    (NEAR, "1000002.5", "1000000.0", False),
    (NEAR, "0.3333333", "0.333333333", True),
    (NEAR, "0.33", "0.333333333", False),
    (NEAR, "1.0000005", "1", False),
    (NEAR, "abc", "1.5", False),
    (NEAR, "x 1.5", "x 1.5000001", True),
    (LOOSE, "4", "4.4", True),
    (LOOSE, "5", "4", False),
    (LOOSE, "4.4", "4", True),
    (WORDS, BIG, BIG, True),
    (WORDS, BIG[:-1] + "8", BIG, False),
    (VALUE, "00" + BIG, BIG, True),
    (VALUE, "0" * 6000 + "7", "7", True),
    (VALUE, "-" + BIG, BIG, False),
    (VALUE, str(2**64 + 1), str(2**64), False),
    (NEAR, "1e999999999", "1.0", False),
    (NEAR, "1e999999999", "1e999999999", True),
    (NEAR, "1e-99999999999999999999", "0.0", False),
    # not a number, and without bounds
    (NEAR, "nan", "NaN", True),
    (STRICT_NAN, "nan", "nan", False),
    (NEAR, "nan", "1.0", False),
    (NEAR, "1.0", "nan", False),
    (NEAR, "inf -inf", "Infinity -Infinity", True),
    (NEAR, "inf", "-inf", False),
    (NEAR, "inf", "1e300", False),
    (NEAR, "--inf", "inf", False),
    # any order, within a tolerance
    (ANY_NEAR, "2.001 b\n1.999 a", "1.995 a\n2.005 b", True),
    (ANY_NEAR, "1.00\n1.02", "1.01\n1.01", True),
    (ANY_NEAR, "1.00\n1.00", "1.00\n1.02", False),
    (ANY_NEAR, "1.00 x", "1.00 y", False),
    # what could be taken for a number
    (VALUE, "1_000", "1000", False),
    (VALUE, "٣", "3", False),
    (VALUE, "0x10", "16", False),
]


@pytest.mark.parametrize(("rules", "actual", "expected", "equal"), COMPARED)
def test_outputs_are_compared_by_the_rules(rules, actual, expected, equal):
    found = compare_output(actual, expected, rules)
    assert found.equal is equal, found
    assert (found.reason is None) is equal


@pytest.mark.parametrize(
    ("rules", "actual", "expected", "line", "word", "said"),
    [
        (LINES, "1\n2\n3", "1\n2\n4", 3, None, "line 3: the lines differ (expected '4', got '3')"),
        (WORDS, "1 2\n3 5", "1 2\n3 4", 2, 2, "line 2, word 2: the words differ (expected '4', got '5')"),
        (WORDS, "1 2\n3", "1 2\n3 4", 2, 2, "line 2, word 2: the output ends before this word"),
        (STREAM, "1 2 3 4 5", "1 2\n3 4", 2, 3, "line 2, word 3: the output goes on after the last word"),
        (LINES, "1", "1\n2", 2, None, "line 2: the output ends before this line"),
        (LINES, "1\n2", "1", 2, None, "line 2: the output goes on after the last line"),
        (NEAR, "1.5", "2.5", 1, 1, "line 1, word 1: the values differ by more than is allowed"),
        (NEAR, "3", "2", 1, 1, "line 1, word 1: the values differ (expected '2', got '3')"),
        (NEAR, "x", "2", 1, 1, "line 1, word 1: a number is expected"),
        (ANY, "a\nb", "a\nc", None, None, "in any order: the outputs differ (expected 'c', got 'b')"),
        (ANY, "a", "a\nc", None, None, "in any order: 2 are expected, and 1 are written"),
        (EXACT, "a\nb", "a\nc", 2, None, "line 2: the lines differ"),
    ],
)
def test_the_first_difference_is_told_with_its_place(rules, actual, expected, line, word, said):
    found = compare_output(actual, expected, rules)
    assert (found.line, found.word) == (line, word)
    assert said in found.reason


@given(st.text(max_size=200), st.sampled_from([LINES, EXACT, WORDS, STREAM, ANY, SET, VALUE, NEAR, ANY_NEAR]))
def test_every_output_equals_itself(text, rules):
    assert compare_output(text, text, rules).equal


TEXT = st.text(alphabet="01 \nabYeEsS.-+", max_size=40)


@given(TEXT, TEXT)
def test_a_looser_layout_never_parts_what_a_stricter_one_joins(actual, expected):
    held = [compare_output(actual, expected, rules).equal for rules in (EXACT, LINES, WORDS, STREAM)]
    assert held == sorted(held)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=6))
def test_tolerance_is_exact_at_its_edge(values):
    rules = OutputRules(layout="words", numbers="value", absolute="0.25", integers="tolerant")
    for value in values:
        near = Fraction(value) + Fraction(1, 4)
        edge = str(math.floor(near)) if near.denominator == 1 else repr(float(near))
        if Fraction(edge) == near:
            assert compare_output(edge, repr(value), rules).equal
        assert not compare_output(repr(value + 1e3 + abs(value)), repr(value), rules).equal


@pytest.mark.parametrize(
    "wrong",
    [
        {"absolute": "1e-6"},
        {"layout": "lines", "numbers": "value"},
        {"layout": "words", "numbers": "value", "absolute": "-1"},
        {"layout": "words", "numbers": "value", "absolute": "wide"},
        {"layout": "words", "numbers": "value", "relative": 0.1},
        {"layout": "columns"},
        {"case": "upper"},
        {"layout": "exact", "order": "any"},
    ],
)
def test_rules_that_do_not_fit_together_are_refused(wrong):
    with pytest.raises(ProtocolError):
        OutputRules(**wrong)


# programs


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        made = Sandbox(workers=1)
    except SandboxError as error:
        if "allow user namespaces" not in str(error) and "not Linux" not in str(error):
            raise  # the sandbox is broken, rather than forbidden
        pytest.skip(f"no isolation on this machine: {error}")
    with made:
        yield made


SCORER = PassesExamples(given="program", limits=Limits(cpu_seconds=1.0, memory_bytes=256 << 20))
SUM = Item(id="sum", fields={"inputs": ["1 2\n", "5 6\n"], "outputs": ["3\n", "11\n"]})


def grade(sandbox: Sandbox, code: str, item: Item = SUM, scorer: PassesExamples = SCORER) -> Outcome:
    responses = [Response(request="r", text=code)]
    program = scorer.program(item, 0, responses)
    if isinstance(program, Outcome):
        return program
    (execution,) = sandbox.execute([program])
    return scorer.verdict(item, 0, responses, execution)


ADD = "a, b = map(int, input().split())\nprint(a + b)\n"


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        (ADD, ExecutionStatus.PASSED, None),
        (ADD + "exit()", ExecutionStatus.PASSED, None),
        (ADD + "quit(1)", ExecutionStatus.ASSERTION_FAILED, "example 1: exit code 1"),
        (ADD + "import sys; sys.exit(1)", ExecutionStatus.ASSERTION_FAILED, "example 1: exit code 1"),
        (
            ADD.replace("a + b", "min(3, a + b)"),
            ExecutionStatus.ASSERTION_FAILED,
            "example 2: line 1: the lines differ (expected '11', got '3')",
        ),
        ("raise SystemExit(1)", ExecutionStatus.ASSERTION_FAILED, "exit code 1"),
        ("print(EXAMPLES)", ExecutionStatus.EXCEPTION, "NameError"),
        ("print('3')", ExecutionStatus.ASSERTION_FAILED, "example 2"),
        ("while True: pass", ExecutionStatus.TIMEOUT, "timeout"),
        ("print(", ExecutionStatus.SYNTAX_ERROR, "syntax_error"),
        ("", ExecutionStatus.ASSERTION_FAILED, "example 1: line 1: the output ends before this line"),
    ],
)
def test_a_program_passes_where_it_writes_what_every_example_expects(sandbox, code, status, reason):
    outcome = grade(sandbox, code)
    assert outcome.status is Status.SCORED
    assert outcome.execution is not None
    assert outcome.execution.status is status, outcome
    assert outcome.scores == {"passed": float(status is ExecutionStatus.PASSED)}
    assert outcome.reason is None if reason is None else reason in (outcome.reason or "")


def test_rules_of_an_item_take_the_place_of_the_tasks(sandbox):
    scorer = PassesExamples(given="program", rules_field="checker")
    item = Item(
        id="third",
        fields={
            "inputs": [""],
            "outputs": ["0.333333"],
            "checker": {"layout": "words", "numbers": "value", "absolute": "1e-5"},
        },
    )
    assert grade(sandbox, "print(1 / 3)", item, scorer).scores == {"passed": 1.0}
    plain = Item(id="third", fields={"inputs": [""], "outputs": ["0.333333"]})
    assert grade(sandbox, "print(1 / 3)", plain, scorer).scores == {"passed": 0.0}


def test_all_outputs_together_may_be_larger_than_one_may_be(sandbox):
    item = Item(id="long", fields={"inputs": ["1", "2", "3"], "outputs": ["x" * 700_000] * 3})
    assert grade(sandbox, "print('x' * 700_000)", item).scores == {"passed": 1.0}


def test_integers_of_any_length_are_read_written_and_compared(sandbox):
    item = Item(id="big", fields={"inputs": ["7" * 9000], "outputs": ["7" * 8999 + "8"]})
    assert grade(sandbox, "print(int(input()) + 1)", item).scores == {"passed": 1.0}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"inputs": [], "outputs": []},
        {"inputs": ["1"], "outputs": ["1", "2"]},
        {"inputs": "1", "outputs": ["1"]},
        {"inputs": [1], "outputs": ["1"]},
        {"inputs": ["1"], "outputs": ["1"], "checker": {"tolerance": 1}},
        {"inputs": ["1"], "outputs": ["1"], "checker": {"layout": "columns"}},
    ],
)
def test_an_item_without_usable_examples_is_invalid_and_never_passes(fields):
    scorer = PassesExamples(given="program", rules_field="checker")
    outcome = scorer.program(Item(id="x", fields=fields), 0, [Response(request="r", text="print(1)")])
    assert isinstance(outcome, Outcome)
    assert outcome.status is Status.INVALID_ITEM


def test_code_is_taken_out_of_a_conversations_answer():
    assert isinstance(SCORER, ProgramScorer)
    assert isinstance(SCORER, FormScorer)
    text = "Here it is:\n\n```python\nprint(sum(map(int, input().split())))\n```\n"
    program = PassesExamples().program(SUM, 0, [Response(request="r", text=text)])
    assert isinstance(program, Program)
    assert program.code.strip() == "print(sum(map(int, input().split())))"
    assert program.entry_points == ()
    outcome = PassesExamples().program(SUM, 0, [Response(request="r", text="I do not know.")])
    assert isinstance(outcome, Outcome)
    assert outcome.status is Status.NO_ANSWER


def test_our_own_failure_is_not_the_programs():
    execution = Execution(program="p", status=ExecutionStatus.SANDBOX_ERROR, message="no worker")
    outcome = SCORER.verdict(SUM, 0, [Response(request="r", text=ADD)], execution)
    assert outcome.status is Status.INFRA_ERROR


def test_the_rules_are_in_the_digest():
    scorers = [SCORER, PassesExamples(), PassesExamples(rules=WORDS), PassesExamples(rules=NEAR)]
    assert len({digest(each) for each in scorers}) == len(scorers)


# a whole task


@dataclass(frozen=True)
class Row:
    id: str
    question: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    solution: str


def to_item(row: Row) -> Item:
    return Item(
        id=row.id,
        fields={
            "question": row.question,
            "inputs": list(row.inputs),
            "outputs": list(row.outputs),
            "solution": row.solution,
        },
    )


def gold(item: Item) -> str:
    return f"```python\n{item.fields['solution']}\n```"


def wrong(_: Item) -> str:
    return "```python\nprint(input())\n```"


TASK = Task(
    name="stdio",
    version=1,
    summary="programs that read and write",
    citation="none",
    source=Source(local=("stdio.jsonl",)),
    row=Row,
    to_item=to_item,
    chat=ChatPrompt(template="{{ question }}"),
    sampling=Sampling(max_tokens=64),
    scorer=PassesExamples(),
    metrics=(PassAtK(),),
    gold=gold,
    wrong=wrong,
)


@pytest.fixture
def rows(sandbox, tmp_path):
    del sandbox  # skips where nothing holds programs
    row = {"id": "sum", "question": "Add.", "inputs": ["1 2", "5 6"], "outputs": ["3", "11"], "solution": ADD}
    (tmp_path / "stdio.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


def test_a_task_of_examples_is_validated_and_run_like_others(rows, tmp_path):
    checked = validate(TASK, data_directory=rows, workers=1)
    assert checked.passed, checked.faults
    answers = [{"item_id": "sum", "text": f"Sure:\n```python\n{ADD}```"}]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    run = evaluate(
        TASK,
        model=f"replay/{tmp_path / 'answers.jsonl'}",
        store=f"sqlite:///{tmp_path / 'runs.db'}",
        data_directory=rows,
        allow_code_execution=True,
        workers=1,
    )
    assert run.estimates[0].value == 1.0
    run.store.close()


def test_files_of_whole_programs_are_read_as_such(rows, tmp_path):
    (tmp_path / "programs.jsonl").write_text(json.dumps({"task_id": "sum", "solution": ADD}) + "\n")
    run, _ = grade_file(tmp_path / "programs.jsonl", TASK, store=f"sqlite:///{tmp_path / 'runs.db'}",
                        options=Options(data_directory=rows, allow_code_execution=True, workers=1))  # fmt: skip
    assert run.estimates[0].value == 1.0
    run.store.close()
