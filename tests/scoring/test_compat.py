"""Rules of published results: what each reads, faults included."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import ProtocolError
from probatum.core.protocol import Scorer
from probatum.core.records import Item, Outcome, Response
from probatum.core.status import Status
from probatum.extraction.evidence import Extraction, Extractor
from probatum.scoring import ExactMatch
from probatum.scoring.compat import (
    GaokaoAnswer,
    MmluProAnswer,
    PercentNumberMatch,
    RoundedNumberMatch,
    TextAfter,
    ZeroShotCotAnswer,
)
from probatum.scoring.exact import verbatim
from probatum.scoring.text import WholeText


def read(extractor: Extractor, text: str, **fields: object) -> str | None:
    found = extractor.extract(text, Item(id="1", fields=fields))
    return found.answer if isinstance(found, Extraction) else None


def graded(scorer: Scorer, text: str, *targets: str) -> Outcome:
    item = Item(id="1", fields={}, targets=targets)
    return scorer.grade(item, 0, [Response(request="r", text=text)])


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3 + 4 = 7. So the answer is 7.", "7"),
        ("The answer is A. No: the answer is (B).", "(B)"),
        ("The answer is 7.\nQ: another", "7.\nQ: another"),
        ("True", "True"),
        ("So the answer is ", ""),
    ],
)
def test_big_bench_hard_takes_all_behind_the_last_mark(text: str, answer: str) -> None:
    assert read(TextAfter(mark="answer is "), text) == answer


def test_a_final_stop_stays_where_it_is_asked_to() -> None:
    assert read(TextAfter(mark="A:", strip_stop=False), "A: 7.") == "7."


@pytest.mark.parametrize(
    ("kind", "text", "answer"),
    [
        ("number", " 1,000 or 5.", "1000"),
        ("number", " 18.", "18"),
        ("number", "-3.5 degrees", "-3.5"),
        ("number", "none", None),
        ("option", "Among these E", "A"),
        ("option", "(C) or (D)", "C"),
        ("yes_no", ":\n\nYes.", "yes"),
        ("yes_no", "not known", None),
        ("text", ' "f n e l".', "fnel"),
    ],
)
def test_zero_shot_cot_takes_the_first_that_looks_like_an_answer(
    kind: str, text: str, answer: str | None
) -> None:
    assert read(ZeroShotCotAnswer(kind=kind), text) == answer  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("The answer is (B). No, the answer is (C).", ("B", "B", "B")),
        ("Answer: D", (None, "D", "D")),
        ("So it is C, or A better.", (None, None, "A")),
        ("Then I cannot tell", (None, None, "I")),
        ("nothing", (None, None, None)),
    ],
)
def test_the_chain_of_mmlu_pro_by_the_number_of_its_patterns(
    text: str, answers: tuple[str | None, str | None, str | None]
) -> None:
    assert tuple(read(MmluProAnswer(patterns=count), text) for count in (1, 2, 3)) == answers


@pytest.mark.parametrize(
    ("kind", "text", "answer"),
    [
        ("single", "【答案】B、D <eoa>", "D"),
        ("single", "无正确答案", None),
        ("several_questions", "（1）【答案】 A <eoa>（2）【答案】：C <eoa>", "A,C"),
        ("several_questions", "B, C and D", "B,C"),
        ("multiple", "选C。【答案】 A B <eoa>", "AB"),
        ("multiple", "……所以选AC", "AC"),
        ("five_of_seven", "【答案】C F A E D <eoa> G", "C,F,A,E,D"),
    ],
)
def test_gaokao_by_kind_of_question(kind: str, text: str, answer: str | None) -> None:
    assert read(GaokaoAnswer(kind=kind), text, questions=2) == answer  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "target", "right"),
    [("1.98", "2.0", True), ("2.06", "2.0", False), ("15.67", "15.0", False), ("x", "2.0", False), ("350.0000001", "350.0", True)],
)  # fmt: skip
def test_program_of_thoughts_rounds_to_the_fewer_decimals(text: str, target: str, right: bool) -> None:
    assert graded(RoundedNumberMatch(WholeText()), text, target).scores == {"correct": float(right)}


@pytest.mark.parametrize(
    ("text", "target", "right"),
    [
        ("0.05", "5", True),
        ("70", "0.7", True),
        ("5.0004", "5", True),
        ("6", "5", False),
        ("2,125", "2125", True),
        ("", "5", False),
    ],
)
def test_tora_takes_hundredths_and_hundredfolds(text: str, target: str, right: bool) -> None:
    outcome = graded(PercentNumberMatch(WholeText()), text, target)
    assert outcome.scores == {"correct": float(right)}


@pytest.mark.parametrize("scorer", [RoundedNumberMatch(WholeText()), PercentNumberMatch(WholeText())])
def test_an_item_without_a_number_is_broken(scorer: Scorer) -> None:
    assert graded(scorer, "1", "one").status is Status.INVALID_ITEM


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ProtocolError, match="kind 'letters'"):
        ZeroShotCotAnswer(kind="letters")  # type: ignore[arg-type]
    with pytest.raises(ProtocolError, match="kind 'essay'"):
        GaokaoAnswer(kind="essay")  # type: ignore[arg-type]


EXTRACTORS: tuple[Extractor, ...] = (
    TextAfter(mark="answer is "),
    ZeroShotCotAnswer(kind="number"),
    ZeroShotCotAnswer(kind="option"),
    ZeroShotCotAnswer(kind="yes_no"),
    ZeroShotCotAnswer(kind="text"),
    MmluProAnswer(),
    GaokaoAnswer(kind="multiple"),
    GaokaoAnswer(kind="several_questions"),
)


@given(text=st.text(), which=st.integers(0, len(EXTRACTORS) - 1))
def test_no_text_makes_a_rule_raise(text: str, which: int) -> None:
    EXTRACTORS[which].extract(text, Item(id="1", fields={}))


def test_the_rules_are_parts_of_a_scorer() -> None:
    scorer = ExactMatch(TextAfter(mark="answer is "), verbatim)
    assert graded(scorer, "So the answer is (B).", "(B)").scores == {"correct": 1.0}
