"""The scorer of mathematical answers, and the check of golds."""

from __future__ import annotations

import pytest

from probatum.core.canonical import digest
from probatum.core.records import Finish, Item, Outcome, Response
from probatum.core.status import Status
from probatum.scoring import Conventions, MathMatch
from probatum.scoring.math import gold_problem


def graded(
    text: str, *targets: str, finish: Finish = Finish.STOP, scorer: MathMatch | None = None
) -> Outcome:
    item = Item(id="one", fields={}, targets=targets)
    response = Response(request="key", text=text, finish=finish)
    return (scorer or MathMatch()).grade(item, 0, [response])


@pytest.mark.parametrize(
    ("text", "target", "score"),
    [
        (r"Thus $x = \boxed{\frac{1}{\sqrt2}}$.", r"\frac{\sqrt2}{2}", 1.0),
        (r"The answer is $x \in (1, 2]$.", "1 < x <= 2", 1.0),
        ("Answer: 35 cm", "35", 1.0),
        (r"\boxed{1} and \boxed{2}", "2, 1", 1.0),
        (r"\boxed{1}", "1, 2", 0.0),
        (r"\boxed{7^{7^{7^{7^{7}}}} + 2}", "3", 0.0),
    ],
)
def test_an_answer_scores_by_what_it_means(text: str, target: str, score: float) -> None:
    outcome = graded(text, target)
    assert outcome.status is Status.SCORED
    assert outcome.scores == {"correct": score}
    assert outcome.rule
    assert outcome.reason


def test_any_of_several_targets_will_do() -> None:
    assert graded(r"\boxed{0.5}", "1/3", "1/2").scores == {"correct": 1.0}


def test_an_undecided_verdict_is_wrong_and_named() -> None:
    outcome = graded(r"\boxed{\int_0^1 x dx}", r"\frac12")
    assert outcome.scores == {"correct": 0.0}
    assert outcome.reason is not None
    assert outcome.reason.startswith("undecided: ")


@pytest.mark.parametrize("target", ["", r"\frac{1}{0}", r"\foo{1}{2}", "$"])
def test_an_item_whose_gold_cannot_be_compared_with_is_invalid(target: str) -> None:
    outcome = graded(r"\boxed{1}", target)
    assert outcome.status is Status.INVALID_ITEM
    assert outcome.reason is not None
    assert repr(target) in outcome.reason


def test_an_item_without_a_gold_is_invalid() -> None:
    assert graded(r"\boxed{1}").status is Status.INVALID_ITEM


@pytest.mark.parametrize("target", ["7", "(1,2)", "x=5", r"\text{Evelyn}", "no solution", "x<3", "4:30 p.m."])
def test_golds_of_every_type_equal_themselves(target: str) -> None:
    assert gold_problem(target) is None
    assert graded(rf"So it is $\boxed{{{target}}}$.", target).scores == {"correct": 1.0}


@pytest.mark.parametrize(
    ("text", "finish", "status"),
    [
        ("", Finish.STOP, Status.NO_ANSWER),
        (r"$\boxed{\frac{1}{2}", Finish.STOP, Status.TRUNCATED),
        ("So we begin with x", Finish.LENGTH, Status.TRUNCATED),
        ("<think>it is 7", Finish.STOP, Status.TRUNCATED),
        ("", Finish.REFUSAL, Status.REFUSED),
        (r"\boxed{3} no no no no no no \boxed{4}", Finish.STOP, Status.NO_ANSWER),
    ],
)
def test_a_text_without_one_answer_has_the_status_that_says_why(
    text: str, finish: Finish, status: Status
) -> None:
    assert graded(text, "7", finish=finish).status is status


def test_conventions_and_edition_are_part_of_the_recipe() -> None:
    usual, ordered = MathMatch(), MathMatch(conventions=Conventions(ordered=True))
    assert digest(usual) != digest(ordered)
    assert graded(r"\boxed{4, 10}", "10, 4", scorer=ordered).scores == {"correct": 0.0}
    assert graded(r"\boxed{4, 10}", "10, 4", scorer=usual).scores == {"correct": 1.0}
