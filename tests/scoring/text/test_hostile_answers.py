"""No answer makes a scorer of text raise: whatever a model says is data."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from probatum.core.protocol import Scorer
from probatum.core.status import Status
from probatum.scoring.text import Cmrc2018Match, DropMatch, NgramOverlap, SquadMatch, TruthfulOverlap
from tests.scoring.text.answers import graded

SCORERS: tuple[Scorer, ...] = (
    SquadMatch(),
    SquadMatch(version=1, tokens="mixed"),
    Cmrc2018Match(),
    DropMatch(separator=","),
    NgramOverlap(rouge=("rouge1", "rouge2", "rougeL", "rougeLsum"), ter=True),
    NgramOverlap(tokens="zh"),
    TruthfulOverlap(),
)
ANY = st.text(alphabet=st.one_of(st.characters(), st.characters(categories=["Cs"])), max_size=60)


@settings(max_examples=300, deadline=None)
@given(text=ANY, which=st.integers(0, len(SCORERS) - 1))
@example(text="nan inf 1e999 １２ ½", which=3)
@example(text="\ud800", which=4)
@example(text="\x00`` '' \u2028", which=2)
def test_every_answer_is_scored_or_has_a_status(text: str, which: int) -> None:
    scorer = SCORERS[which]
    outcome = graded(scorer, text, "the 5 towers", "北京 2008", incorrect_answers=["no tower"])
    if outcome.status is Status.SCORED:
        assert set(outcome.scores) == set(scorer.scores)
        shares = {
            name for name in outcome.scores if name in ("exact", "f1", "bleu") or name.startswith("rouge")
        }
        if not isinstance(scorer, TruthfulOverlap):
            assert all(0 <= outcome.scores[name] <= 1 for name in shares)
    else:
        assert outcome.status in (Status.TRUNCATED, Status.NO_ANSWER)


@pytest.mark.parametrize("scorer", SCORERS[:6], ids=lambda scorer: type(scorer).__name__)
def test_a_long_answer_is_scored(scorer: Scorer) -> None:
    text = "the tower of 5 " * 2_000
    assert graded(scorer, text, "the 5 towers").status is Status.SCORED
