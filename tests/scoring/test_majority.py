"""maj@k and best-of-k: who votes, what is one answer, and what a tie is worth."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import UsageError
from probatum.core.records import Outcome
from probatum.core.status import Status
from probatum.scoring import best_of_k, majority_at_k, majority_vote


def samples(item: str, *answers: str | Status | None, gold: str = "7") -> list[Outcome]:
    found = []
    for number, answer in enumerate(answers):
        if answer is None or isinstance(answer, Status):
            status = answer or Status.NO_ANSWER
            found.append(Outcome(item_id=item, sample=number, status=status))
        else:
            scores = {"correct": float(same_number(answer, gold))}
            found.append(
                Outcome(item_id=item, sample=number, status=Status.SCORED, scores=scores, answer=answer)
            )
    return found


def same_number(first: str, second: str) -> bool:
    return Fraction(first) == Fraction(second)


@pytest.mark.parametrize(
    ("answers", "winners", "votes"),
    [
        ([], (), 0),
        ([None, None], (), 0),
        (["7", "8", "7"], (0,), 2),
        (["8", "7", "7"], (1,), 2),
        (["8", "7", None], (0, 1), 1),
        (["1/2", "0.5", "3"], (0, 1, 2), 1),
    ],
)
def test_votes_are_counted(answers: list[str | None], winners: tuple[int, ...], votes: int) -> None:
    ballot = majority_vote(answers)
    assert (ballot.winners, ballot.votes) == (winners, votes)
    assert ballot.tied is (len(winners) > 1)


def test_what_is_one_answer_is_the_tasks_to_say() -> None:
    assert majority_vote(["1/2", "3", "0.5"], same_number).winners == (0,)


@pytest.mark.parametrize(
    ("answers", "expected", "first"),
    [
        (("7", "8", "7"), 1.0, 1.0),
        (("8", "7"), 0.5, 0.0),
        (("7", "8"), 0.5, 1.0),
        (("8", "9", "7"), 1 / 3, 0.0),
        ((None, "7", None), 1.0, 1.0),
        ((None, Status.REFUSED), 0.0, 0.0),
    ],
)
def test_a_tie_is_worth_its_mean_or_its_first(
    answers: tuple[str | Status | None, ...], expected: float, first: float
) -> None:
    outcomes = samples("a", *answers)
    assert majority_at_k(outcomes, len(answers)).value == pytest.approx(expected)
    assert majority_at_k(outcomes, len(answers), ties="first").value == first


def test_only_the_first_k_samples_vote_whatever_their_order() -> None:
    outcomes = samples("a", "7", "8", "8")[::-1]
    assert majority_at_k(outcomes, 1).value == 1.0
    assert majority_at_k(outcomes, 3).value == 0.0


def test_items_without_k_known_samples_are_missing_and_widen_the_bounds() -> None:
    outcomes = [
        *samples("a", "7", "7"),
        *samples("b", "8", "8"),
        *samples("c", "7", Status.INFRA_ERROR),
        *samples("d", "7"),
        *samples("e", Status.INVALID_ITEM, Status.INVALID_ITEM),
    ]
    found = majority_at_k(outcomes, 2)
    assert (found.value, found.n, found.coverage, found.bounds) == (0.5, 2, 0.5, (0.25, 0.75))


def test_what_was_decided_is_told() -> None:
    found = majority_at_k([*samples("a", "7", "8"), *samples("b", None, None)], 2)
    assert "1 items are tied; rule: expected" in found.warnings
    assert "1 items have no vote, and count as wrong" in found.warnings


def test_no_item_no_number() -> None:
    assert majority_at_k([], 3).value is None


@pytest.mark.parametrize(
    ("k", "options", "message"),
    [(0, {}, "k of 1"), (1, {"ties": "last"}, "ties 'last'"), (1, {"score": "passed"}, "no score 'passed'")],
)
def test_bad_arguments_are_refused(k: int, options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        majority_at_k(samples("a", "7"), k, **options)  # type: ignore[arg-type]


def test_a_sample_that_comes_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="comes twice"):
        majority_at_k([*samples("a", "7"), *samples("a", "7")], 1)


def test_the_sample_with_most_reward_is_chosen_and_the_first_among_equals() -> None:
    outcomes = [*samples("a", "8", "7", "7"), *samples("b", "7", None)]
    rewards = {("a", 0): 0.1, ("a", 1): 0.9, ("a", 2): 0.9, ("b", 0): 0.2, ("b", 1): 0.3}
    assert best_of_k(outcomes, rewards, 2).value == 0.5
    assert best_of_k(outcomes, rewards, 1).value == 0.5
    assert best_of_k(outcomes, rewards, 3).coverage == 0.5
    with pytest.raises(UsageError, match="no reward for sample 1"):
        best_of_k(outcomes, {("a", 0): 0.1, ("b", 0): 0.2}, 2)
    with pytest.raises(UsageError, match="k of 1"):
        best_of_k(outcomes, rewards, 0)


VOTES = st.lists(st.sampled_from(["7", "8", "9", None]), min_size=1, max_size=8)


@given(votes=VOTES)
def test_the_winners_have_most_votes_and_the_value_is_a_share(votes: list[str | None]) -> None:
    ballot = majority_vote(votes)
    counts = {answer: votes.count(answer) for answer in votes if answer is not None}
    assert {votes[place] for place in ballot.winners} == {
        answer for answer, count in counts.items() if count == max(counts.values())
    }
    value = majority_at_k(samples("a", *votes), len(votes)).value
    best = [answer for answer in counts if counts[answer] == max(counts.values())]
    assert value == pytest.approx(best.count("7") / len(best) if best else 0.0)


@given(votes=VOTES)
def test_of_one_sample_majority_is_plain_accuracy(votes: list[str | None]) -> None:
    outcomes = [each for number, vote in enumerate(votes) for each in samples(str(number), vote)]
    assert majority_at_k(outcomes, 1).value == pytest.approx(votes.count("7") / len(votes))
