"""Choice match: labels are compared whole, and a broken item is named."""

from __future__ import annotations

import pytest

from probatum.core.records import Item, Outcome, Response
from probatum.core.status import Status
from probatum.extraction import OptionLetter
from probatum.scoring import ChoiceMatch


def grade(
    text: str, target: str | None, scorer: ChoiceMatch | None = None, choices: tuple[str, ...] = ()
) -> Outcome:
    targets = () if target is None else (target,)
    item = Item(id="i", fields={}, targets=targets, choices=choices or ("41", "42", "43", "44"))
    return (scorer or ChoiceMatch()).grade(item, 0, [Response(request="", text=text)])


@pytest.mark.parametrize(
    ("text", "target", "score"),
    [
        ("Answer: B", "B", 1.0),
        ("Answer: B", "b", 1.0),
        ("Answer: （Ｂ）", "B", 1.0),
        ("Answer: 42", "B", 1.0),
        ("Answer: A", "B", 0.0),
        ("It must be 43.", "B", 0.0),
    ],
)
def test_the_chosen_label_is_a_target_or_not(text: str, target: str, score: float) -> None:
    outcome = grade(text, target)
    assert (outcome.status, outcome.scores) == (Status.SCORED, {"correct": score})
    assert outcome.span is not None
    assert outcome.rule is not None


@pytest.mark.parametrize(
    ("target", "choices"),
    [
        (None, ()),
        ("E", ()),
        ("42", ()),
        ("B", ("41", "42", "42", "44")),
        ("B", ("41", "42", " 42 ", "44")),
    ],
)
def test_a_broken_item_is_invalid_whatever_the_answer(target: str | None, choices: tuple[str, ...]) -> None:
    assert grade("Answer: B", target, choices=choices).status is Status.INVALID_ITEM


def test_equal_wrong_options_do_not_break_an_item() -> None:
    outcome = grade("Answer: B", "B", choices=("41", "42", "43", "43"))
    assert outcome.scores == {"correct": 1.0}


def test_labels_that_are_fewer_than_the_choices_break_the_item() -> None:
    scorer = ChoiceMatch(OptionLetter(labels=("A", "B")))
    outcome = grade("Answer: B", "B", scorer)
    assert outcome.status is Status.INVALID_ITEM
    assert "4 choices and only 2 labels" in outcome.reason


@pytest.mark.parametrize(
    ("text", "score"),
    [("Answer: A, C", 1.0), ("Answer: C and A", 1.0), ("Answer: A", 0.0), ("Answer: A, B, C", 0.0)],
)
def test_several_labels_are_compared_as_a_set(text: str, score: float) -> None:
    outcome = grade(text, "C,A", ChoiceMatch(OptionLetter(multiple=True)))
    assert outcome.scores == {"correct": score}
