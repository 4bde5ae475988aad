"""From A's score to B's, one change at a time: kept responses are graded by the other's rules, no model is asked."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum import evaluate
from probatum.benchmarks import find_task
from probatum.core.protocol import Policy
from probatum.core.records import Finish, Identity, Item, Outcome, Response
from probatum.core.status import Status
from probatum.core.strictjson import strict_text
from probatum.runner import grade
from probatum.runner.comparing import explain
from probatum.runner.comparing.explaining import CONTEXT
from probatum.scoring import Rate
from probatum.store import open_store
from tests.fakes import Echo, FakeModel, Verbatim, answer_sums, failure, sums_task, write_sums
from tests.runner.runs import carry_out
from tests.runner.stored import stored_run

GOLDS = "gold answers of B, on A's responses"
RULES = "extraction and scoring of B, on A's responses"
DENOMINATOR = "denominator of B"


@dataclass(frozen=True)
class Lenient:
    """Takes the last word of a text for the answer."""

    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        words = responses[0].text.split()
        status = Status.SCORED if words else Status.NO_ANSWER
        scores = {"correct": float(words[-1] in item.targets)} if words else {}
        return Outcome(
            item_id=item.id, sample=sample, status=status, scores=scores, answer=words[-1] if words else None
        )


def wordy(request):
    """A sum alone for even numbers, in a sentence for odd ones."""
    right = answer_sums(request)
    return right if int(request.item_id.removeprefix("sum-")) % 2 == 0 else f"the sum is {right}"


def run(store, data, name="m", *, reply=wordy, task=None, **options):
    model = FakeModel(reply=reply, identity=Identity(provider="fake", name=name))
    return evaluate(task or sums_task(), model=model, store=store, data_directory=data, **options)


def walked(a, b, *definitions):
    (found,) = explain(a, b, definitions=definitions)
    assert math.fsum(stage.change for stage in found.path.stages) + found.path.rest == pytest.approx(
        found.difference, abs=1e-15
    )
    assert abs(found.path.rest) < 1e-12
    assert found.path.stages[0].score == found.mean_a
    assert found.path.stages[-1].score == pytest.approx(found.mean_b)
    return found.path


def changes(path):
    return {stage.name: (round(stage.change, 9), stage.items) for stage in path.stages[1:]}


def test_another_scorer_explains_what_it_explains_and_the_model_is_asked_nothing(store, data):
    lenient = sums_task(scorer=Lenient())
    a, b = run(store, data), run(store, data, task=lenient)
    path = walked(a, b, lenient)
    assert changes(path) == {RULES: (0.5, 50)}
    (stage,) = path.stages[1:]
    assert stage.low < 0.5 < stage.high
    assert path.notes == ()


def test_a_change_of_rates_is_never_said_to_be_beyond_one(store, data):
    lenient = sums_task(scorer=Lenient())
    path = walked(run(store, data, limit=2), run(store, data, task=lenient, limit=2), lenient)
    assert changes(path)[RULES][1] == 1  # of two items one: t with one degree of freedom knows no limit
    (stage,) = path.stages[1:]
    assert (stage.low, stage.high) == (-1.0, 1.0)


def test_a_scorer_and_other_answers_are_told_apart(store, data):
    lenient = sums_task(scorer=Lenient())

    def silent(request):
        return "" if request.item_id in ("sum-1", "sum-2") else wordy(request)

    path = walked(run(store, data), run(store, data, "b", reply=silent, task=lenient), lenient)
    assert changes(path) == {RULES: (0.5, 50), "answered otherwise: another status": (-0.02, 2)}


def test_rules_that_are_not_at_hand_are_said_and_their_part_is_left_over(store, data):
    a, b = run(store, data), run(store, data, task=sums_task(scorer=Lenient()))
    path = walked(a, b)
    assert changes(path) == {"read or graded otherwise, beyond what could be graded again": (0.5, 50)}
    assert "A was not graded by the rules of B: its task cannot be had (" in path.notes[0]
    changed = sums_task(scorer=Verbatim())
    path = walked(a, b, changed)
    assert path.notes == ("A was not graded by the rules of B: its rules are not those of today's code",)


def one_more(row):
    """The same questions, with another gold answer for every fourth."""
    more = int(int(row.id.removeprefix("sum-")) % 4 == 0)
    return Item(id=row.id, fields={"a": row.a, "b": row.b}, targets=(str(row.a + row.b + more),))


def test_other_golds_of_the_same_questions_are_a_step_of_their_own(store, data):
    mended = sums_task(to_item=one_more, gold_fails="counted")
    a, b = run(store, data, reply=answer_sums), run(store, data, "b", reply=answer_sums, task=mended)
    path = walked(a, b, mended)
    assert changes(path) == {GOLDS: (-0.25, 25)}


def test_another_question_under_the_same_id_is_no_other_gold(store, data, tmp_path):
    other = write_sums(tmp_path / "other", 100)
    lines = (other / "sums.jsonl").read_text().replace('"a": 7,', '"a": 8,')
    (other / "sums.jsonl").write_text(lines)
    path = walked(
        run(store, data, reply=answer_sums),
        run(
            store,
            other,
            "b",
            reply=lambda request: "0" if request.item_id == "sum-7" else answer_sums(request),
        ),
        sums_task(),
    )
    assert changes(path) == {"another question under the same id": (-0.01, 1)}


def test_another_denominator_is_a_step(store, data):
    def refusing(request):
        return failure(Finish.REFUSAL) if request.item_id == "sum-3" else answer_sums(request)

    narrow = sums_task(policy=Policy(name="answers", counted=frozenset({Status.SCORED})))
    a, b = run(store, data, reply=refusing), run(store, data, reply=refusing, task=narrow)
    path = walked(a, b, narrow)
    assert changes(path) == {DENOMINATOR: (0.01, 1)}
    assert path.stages[1].low is None  # an item goes: no mean of differences over the same items


def test_items_of_one_run_alone_are_the_first_and_the_last_step(store, tmp_path):
    one, other = write_sums(tmp_path / "a", 60), write_sums(tmp_path / "b", 60, first=20)

    def wrong_at_the_ends(request):
        number = int(request.item_id.removeprefix("sum-"))
        return "0" if number < 5 or number >= 70 else answer_sums(request)

    path = walked(
        run(store, one, reply=wrong_at_the_ends), run(store, other, "b", reply=wrong_at_the_ends), sums_task()
    )
    assert changes(path) == {
        "without the items that only A has": (round(1 - 55 / 60, 9), 20),
        "with the items that only B has": (round(50 / 60 - 1, 9), 20),
    }


def test_few_shot_and_truncation_are_told_apart_by_item(store, data):
    def cut(request):
        number = int(request.item_id.removeprefix("sum-"))
        if number < 10:
            return failure(Finish.TIMEOUT)
        return "0" if number < 30 else answer_sums(request)

    path = walked(
        run(store, data, reply=answer_sums, form="completion"),
        run(store, data, "b", reply=cut, form="chat", minimum_answered=0.5),
        sums_task(),
    )
    assert changes(path) == {
        "asked with other texts (form): another status": (-0.1, 10),
        "asked with other texts (form)": (-0.2, 20),
    }
    assert path.notes == ()  # the rules are the same: there is nothing to grade again


def test_truncated_answers_are_named(store):
    def graded(name, statuses):
        return stored_run(store, name, statuses, text=name)

    a = graded("a", {"x": 1.0, "y": 1.0, "z": 0.0})
    b = graded("b", {"x": Status.TRUNCATED, "y": Status.NO_ANSWER, "z": 1.0})
    third = round(1 / 3, 9)
    assert changes(walked(a, b)) == {
        "answered otherwise: truncated in one run": (-third, 1),
        "answered otherwise: another status": (-third, 1),
        "answered otherwise": (third, 1),
    }


def test_two_forms_cannot_be_read_by_each_others_rules(store, data):
    lenient = sums_task(scorer=Lenient())
    a, b = run(store, data, form="completion"), run(store, data, form="chat", task=lenient)
    path = walked(a, b, lenient)
    assert path.notes == ("asked in two forms: what A said cannot be read as B is",)


@dataclass(frozen=True)
class Strict(Echo):
    """As `Echo`, and an answer of two digits is none."""

    def program(self, item, sample, responses):
        if len(responses[0].text) == 2:
            return Outcome(item_id=item.id, sample=sample, status=Status.NO_ANSWER)
        return super().program(item, sample, responses)


def test_programs_that_ran_are_graded_again_and_none_is_executed(store, data):
    metrics = (Rate(score="passed"),)
    loose, strict = (sums_task(scorer=scorer, metrics=metrics) for scorer in (Echo(), Strict()))
    runs = [carry_out(task, FakeModel(), store, data, allow_code_execution=True) for task in (loose, strict)]
    path = walked(*runs, strict)
    two_digits = sum(10 <= 3 * number + 1 < 100 for number in range(100))
    assert changes(path) == {RULES: (-two_digits / 100, two_digits)}


def test_programs_that_never_ran_stay_as_they_are_and_are_counted(store, data):
    metrics = (Rate(score="passed"),)
    strict, loose = (sums_task(scorer=scorer, metrics=metrics) for scorer in (Strict(), Echo()))
    runs = [carry_out(task, FakeModel(), store, data, allow_code_execution=True) for task in (strict, loose)]
    path = walked(*runs, loose)
    two_digits = sum(10 <= 3 * number + 1 < 100 for number in range(100))
    assert path.notes[0].startswith(f"{two_digits} samples of A would have to be executed")
    assert changes(path) == {
        "read or graded otherwise, beyond what could be graded again": (two_digits / 100, two_digits)
    }


def test_a_benchmark_is_graded_again_by_its_name(store):
    def reply(request):
        return f"Answer: {'AB'[int(request.digest[:8], 16) % 2]}"

    a = evaluate("mini", model=FakeModel(reply=reply), store=store)
    b = evaluate(
        "mini",
        model=FakeModel(reply=lambda _: "Answer: A", identity=Identity(provider="f", name="b")),
        store=store,
    )
    path = walked(a, b)
    assert path.notes == ()
    assert set(changes(path)) <= {"answered otherwise", "answered otherwise: another status"}


def test_what_was_asked_for_answers_made_elsewhere_is_unknown_and_no_difference(store, tmp_path):
    def answered(name, *texts):
        path = tmp_path / f"{name}.jsonl"
        items = ("option-en-01", "option-en-02", "option-en-03")
        rows = [{"item_id": item, "completion": text} for item, text in zip(items, texts, strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return grade(path, find_task("mini"), store=store)[0]

    a = answered("a", "Answer: A", "Answer: B", "Answer: C")
    asked = evaluate("mini", model=FakeModel(reply=lambda _: "Answer: A"), store=store, form="chat")
    for b in (answered("b", "Answer: A", "Answer: A", "Answer: A"), asked):
        (found,) = explain(a, b)
        assert found.first.name in ("data", "model")  # a file may hold a part of the items
        assert {one.detail for one in found.steps if one.name in ("shots", "prompts", "sampling")} == {
            "unknown: answers were made elsewhere"
        }
        assert {name for name, _ in changes(walked(a, b)).items()} <= {
            "answered otherwise", "answered otherwise: another status", "without the items that only A has",
            "with the items that only B has",
        }  # fmt: skip


def test_the_path_is_strict_json(store, data):
    (found,) = explain(run(store, data), run(store, data, "b", reply=answer_sums))
    plain = json.loads(strict_text(found.plain()))
    assert plain["path"]["stages"][0]["name"] == "A"
    assert plain["path"]["rest"] == pytest.approx(0, abs=1e-12)


def test_the_first_byte_that_differs_is_under_the_caret(store, data):
    a, b = (
        run(store, data, system="Ærlig:\nadd well.", form="chat"),
        run(store, data, "b", system="Ærlig:\nadd badly.", form="chat"),
    )
    (found,) = explain(a, b)
    step = found.first
    assert step.name == "prompts"
    assert "at character 19 (byte 20, line 2, column 5), in message 1 (system)" in step.detail
    assert (step.a[step.caret], step.b[step.caret]) == ("w", "b")
    assert step.a[: step.caret] == step.b[: step.caret] == "system: Ærlig:\nadd "
    assert len(step.a) <= 2 * CONTEXT


kinds = st.sampled_from(
    [0.0, 1.0, 0.5, Status.NO_ANSWER, Status.TRUNCATED, Status.INFRA_ERROR, Status.INVALID_ITEM]
)
runs_of = st.dictionaries(st.sampled_from("abcdefgh"), kinds, min_size=1)


@settings(max_examples=25, deadline=None)
@given(runs_of, runs_of, st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("12")), st.booleans())
def test_the_steps_add_up_whatever_the_runs(tmp_path_factory, one, other, contents, alike):
    path = tmp_path_factory.mktemp("path") / "s.db"
    with open_store(f"sqlite:///{path}") as store:
        a = stored_run(store, "a", one, text="x")
        b = stored_run(store, "b", other, contents=contents, text="x" if alike else "y")
        (found,) = explain(a, b)
    if found.path is None:
        assert found.difference is None or not any(
            one[name] is not Status.INVALID_ITEM and other[name] is not Status.INVALID_ITEM
            for name in one.keys() & other.keys()
        )
    else:
        assert abs(found.path.rest) < 1e-12
        assert found.path.stages[-1].score == pytest.approx(found.mean_b)
        assert math.fsum(stage.change for stage in found.path.stages) == pytest.approx(found.difference)
