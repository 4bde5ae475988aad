"""lm-eval's rules for choices and texts: against its formulas, and where they differ from ours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.benchmarks import find_task
from probatum.core.protocol import Protocol
from probatum.core.records import Item, Mark, Response, Sampling
from probatum.core.status import Status
from probatum.prompting import OptionsPrompt, TextPrompt
from probatum.scoring import OptionLikelihood, TextLikelihood
from probatum.scoring.compat_lm_eval import LmEvalMean, compat_metrics
from tests.fakes import sums_task


def said(*sums: float) -> list[Response]:
    return [Response(request="", logprobs=(total,)) for total in sums]


def item(choices: tuple[str, ...], *targets: str) -> Item:
    return Item(id="1", fields={}, choices=choices, targets=targets)


FOUR = ("one", "two", "three", "four")
THEIRS = OptionLikelihood().for_compat("lm_eval")
OURS = OptionLikelihood()


@given(
    st.lists(st.text(min_size=0, max_size=5), min_size=1, max_size=6),
    st.data(),
)
def test_choices_are_those_of_its_formulas(texts: list[str], data: st.DataObject) -> None:
    """numpy's argmax of the sums, and of the sums by characters and bytes; the gold is one index."""
    size = len(texts)
    sums = data.draw(st.lists(st.integers(-9, -1).map(float), min_size=2 * size, max_size=2 * size))
    gold = data.draw(st.integers(0, size - 1))
    scorer = OptionLikelihood(unconditional=True).for_compat("lm_eval")
    scores = scorer.grade(item(tuple(texts), "ABCDEF"[gold]), 0, said(*sums)).scores
    asked, alone = np.array(sums[:size]), np.array(sums[size:])
    with np.errstate(divide="ignore"):
        by = {
            "sum": asked,
            "per_character": asked / np.array([float(len(text)) for text in texts]),
            "per_byte": asked / np.array([float(len(text.encode())) for text in texts]),
            "pmi": asked - alone,
        }
    for name, values in by.items():
        assert scores[name] == float(int(np.argmax(values)) == gold), name


@pytest.mark.parametrize(
    ("choices", "targets", "sums", "theirs", "ours"),
    [
        (FOUR, ("B",), (-2.0, -1.0, -3.0, -4.0), 1, 1),
        # tied: the first wins there, and the credit is shared here
        (FOUR, ("B",), (-1.0, -1.0, -3.0, -4.0), 0, 0.5),
        (FOUR, ("A",), (-1.0, -1.0, -3.0, -4.0), 1, 0.5),
        # the same text twice: only one of them is right there
        (("x", "y", "x"), ("C",), (-1.0, -2.0, -1.0), 0, 1),
        # several golds: any of them
        (FOUR, ("B", "D"), (-4.0, -3.0, -2.0, -1.0), 1, 1),
        # gold by its text
        (FOUR, ("three",), (-4.0, -3.0, -1.0, -2.0), 1, None),
        # gold that is no option: everything is wrong there, and the item is broken here
        (FOUR, ("E",), (-4.0, -3.0, -1.0, -2.0), 0, None),
        (FOUR, (), (-4.0, -3.0, -1.0, -2.0), 0, None),
        # an empty option is scored there
        (("", "y"), ("A",), (-1.0, -2.0), 1, None),
        (("only",), ("A",), (-1.0,), 1, None),
    ],
)
def test_where_its_choice_differs_from_ours(
    choices: tuple[str, ...],
    targets: tuple[str, ...],
    sums: tuple[float, ...],
    theirs: float,
    ours: float | None,
) -> None:
    found = THEIRS.grade(item(choices, *targets), 0, said(*sums))
    assert found.status is Status.SCORED
    assert found.scores["sum"] == theirs
    own = OURS.grade(item(choices, *targets), 0, said(*sums))
    assert own.status is (Status.INVALID_ITEM if ours is None else Status.SCORED)
    assert own.scores.get("sum") == ours


def test_white_space_at_the_ends_of_an_option_counts_there_and_not_here() -> None:
    both = item(("ab   ", "abcd"), "A")
    likely = said(-3.0, -3.9)
    assert THEIRS.grade(both, 0, likely).scores["per_character"] == 1  # -3/5 beats -3.9/4
    assert OURS.grade(both, 0, likely).scores["per_character"] == 0  # -3/2 does not
    prompt = OptionsPrompt(template="Q:", continuation=" {{ choice }}", shot_template="Q: {{ answer }}")
    assert [part.continuation for part in prompt.parts(both, (), None)] == [" ab", " abcd"]
    theirs = prompt.for_compat("lm_eval").parts(both, (both,), None)
    assert [part.continuation for part in theirs] == [" ab   ", " abcd"]
    assert theirs[0].prompt == "Q: ab   \n\nQ:"


def test_without_the_question_it_scores_after_nothing() -> None:
    prompt = OptionsPrompt(template="Q:", continuation=" {{ choice }}", unconditional="Answer:")
    asked = prompt.for_compat("lm_eval").parts(item(FOUR, "A"), (), None)
    assert [part.prompt for part in asked] == ["Q:"] * 4 + [""] * 4


def test_a_task_may_ask_otherwise_there() -> None:
    for name, question in (("cmmlu", "题目：问\n"), ("c_eval", "问\n")):
        task = find_task(name)
        assert task.letters is not None
        one = Item(
            id="1", fields={"question": "问", "name": "农学", "subject": "x"}, choices=FOUR, targets=("A",)
        )
        ours = task.letters.parts(one, (), None)[0]  # type: ignore[attr-defined]
        theirs = task.letters.for_compat("lm_eval").parts(one, (), None)[0]  # type: ignore[attr-defined]
        assert question in ours.prompt
        assert (ours.continuation, theirs.continuation) == ("A", " A")
        assert theirs.prompt.endswith("\n\n问\nA. one\nB. two\nC. three\nD. four\n答案：")
        assert theirs.prompt.startswith("以下是")


def text_of(task_name: str) -> Item:
    task = find_task(task_name)
    page = " = Title = \n \n It weighed 3 @.@ 5 kg , he said ( once ) . \n"
    (found,) = task.to_item(task.row(text=page))  # type: ignore[misc]
    return found


def test_its_wikitext_scores_a_cleaned_text_and_counts_the_raw_one() -> None:
    one, task = text_of("wikitext"), find_task("wikitext")
    assert isinstance(task.text, TextPrompt)
    assert task.text.parts(one, (), None)[0].continuation.startswith("= Title =")
    (theirs,) = task.text.for_compat("lm_eval").parts(one, (), None)
    assert theirs.continuation == " = Title =\n\nIt weighed 3.5 kg, he said (once).\n"
    scorer = task.scorer.for_compat("lm_eval")  # type: ignore[union-attr]
    scores = scorer.grade(one, 0, [Response(request="", logprobs=(-5.0, -5.0), scored_bytes=7)]).scores
    page = str(one.fields["page"])
    assert scores["bytes"] == len(page)
    assert scores["words"] == len(page.split()) + 2  # the empty pieces at both ends count
    assert scores["nll"] == 10


@pytest.mark.parametrize(
    ("scorer", "names"),
    [
        (OptionLikelihood(), ["acc", "acc_norm", "acc_bytes"]),
        (OptionLikelihood(unconditional=True), ["acc", "acc_norm", "acc_bytes", "acc_mutual_info"]),
        (OptionLikelihood(of="labels"), ["acc", "acc_norm"]),
        (OptionLikelihood(of="rest"), ["acc"]),
        (TextLikelihood(), ["word_perplexity", "byte_perplexity", "bits_per_byte"]),
        (TextLikelihood(primary="greedy"), ["acc", "perplexity"]),
    ],
)
def test_its_figures_stand_beside_ours_only_where_they_are_asked_for(
    scorer: OptionLikelihood | TextLikelihood, names: list[str]
) -> None:
    protocol = Protocol(
        task=sums_task(scorer=scorer), form="letters", shots=0, samples=1, sampling=Sampling()
    )
    assert compat_metrics(protocol) == ()
    theirs = Protocol(
        task=sums_task(scorer=scorer),
        form="letters",
        shots=0,
        samples=1,
        sampling=Sampling(),
        compat="lm_eval",
    )
    assert [metric.name for metric in compat_metrics(theirs)] == names  # type: ignore[attr-defined]


def test_corpus_figures_are_totals_over_totals() -> None:
    protocol = Protocol(
        task=sums_task(scorer=TextLikelihood()),
        form="text",
        shots=0,
        samples=1,
        sampling=Sampling(),
        compat="lm_eval",
    )
    marks = [
        Mark(name, 0, Status.SCORED, {"nll": loss, "words": words, "bytes": octets})
        for name, loss, words, octets in (("a", 10.0, 4.0, 20.0), ("b", 5.0, 6.0, 40.0))
    ]
    marks.append(Mark("c", 0, Status.CONTEXT_OVERFLOW, {}))
    found = {
        one.name: one
        for metric in compat_metrics(protocol)
        for one in metric.estimate(marks, protocol.task, 0.95)
    }
    assert found["word_perplexity"].value == pytest.approx(math.exp(15 / 10))
    assert found["byte_perplexity"].value == pytest.approx(math.exp(15 / 60))
    assert found["bits_per_byte"].value == pytest.approx(15 / 60 / math.log(2))
    assert found["word_perplexity"].coverage == pytest.approx(2 / 3)
    assert any("beginning token" in note for note in found["word_perplexity"].warnings)


def test_one_item_has_no_standard_error() -> None:
    (found,) = LmEvalMean(name="acc", score="sum").estimate(
        [Mark("a", 0, Status.SCORED, {"sum": 1.0})], sums_task(), 0.95
    )
    assert (found.value, found.se) == (1.0, None)
    assert LmEvalMean(name="acc", score="sum").estimate([], sums_task(), 0.95) == ()
