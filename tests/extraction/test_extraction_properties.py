"""Properties: nothing raises, dress does not matter, spans are true, time is linear."""

from __future__ import annotations

import string
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.core.canonical import digest
from probatum.core.records import Item
from probatum.extraction import (
    Ambiguous,
    DeclaredLine,
    Extraction,
    FinalNumber,
    Missing,
    OptionLetter,
    PatternAnswer,
    PythonCode,
    ShortAnswer,
    extract_boxed,
    extract_code,
    extract_number,
    extract_option,
    strip_reasoning,
)
from probatum.extraction.characters import fold, fold_width
from probatum.extraction.options import Choices, find_option
from probatum.extraction.quantity import Reading, find_number
from probatum.extraction.stops import cut_at_stop

ITEM = Item(id="i", fields={"entry_point": "f"}, choices=("41", "42", "a city", "(x) + y"))
EXTRACTORS = [
    DeclaredLine(),
    DeclaredLine(declared=("RESULT =>", "答："), take="only"),
    OptionLetter(),
    OptionLetter(declared=("=>",), multiple=True),
    FinalNumber(),
    FinalNumber(declared=("=>",), chinese_numerals=True, decimal="comma", percent="fraction"),
    ShortAnswer(loose=True),
    PatternAnswer(pattern=r"(\d)\w?"),
    PythonCode(),
    PythonCode(entry_point=None),
]

FRAGMENTS = [
    "Answer: ", "answer is ", "####", "答案：", "选", "不选", "【答案】", "B", "(B)", "A, B", "Ｂ", "I", " a ", "42", "4",
    "\\boxed{", "}", "{", "$", "**", "`", "```", "```python\n", "````", "~~~", "<think>", "</think>", "[THINK]",
    "<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "\n", "\r\n", "\u2028", "\u00a0", "\t", " ",
    "1,234.5", "−", "-", "/", "1/0", "%", "e9999", "10^99999", "½", "三百", "百分之", "又", "分之", "点", "万",
    "def f():\n", "    return 1\n", "class A:\n", "@f\n", '"""', "'''", "(", ")", "[", "x = ", "import os\n", "\\", "#",
    "\ud800", "\0", "🙂", "\u0301", "ﬁ", "İ", "ß", "a city", "wait, ", "or ", "and ", "not ", "RESULT => ", "：",
]  # fmt: skip
SOUP = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6)), max_size=40).map("".join)
ANY = st.one_of(SOUP, st.text(st.characters(), max_size=200))


@given(ANY)
@settings(max_examples=600, deadline=None)
def test_nothing_that_a_model_writes_raises(text: str) -> None:
    for extractor in EXTRACTORS:
        found = extractor.extract(text, ITEM)
        assert isinstance(found, (Extraction, Ambiguous, Missing))
        if isinstance(found, Extraction):
            start, end = found.span
            assert 0 <= start <= end <= len(text)
            assert found.answer
        else:
            assert found.reason
            assert "\n" not in found.reason
    for function in (strip_reasoning, extract_boxed, extract_number, extract_code):
        function(text)
    extract_option(text, "ABCD")


@given(ANY)
@settings(deadline=None)
def test_folding_keeps_positions(text: str) -> None:
    assert len(fold(text)) == len(fold_width(text)) == len(text)


LABELS = st.sampled_from("ABCD")
DRESSED = [
    "{}", "({})", "**{}**", "**({})**", "`{}`", "${}$", "\\({}\\)", "$\\boxed{{{}}}$", "\\text{{{}}}", "[{}]", "{}.",
    "{})", '"{}"', "option {}", "Option ({})", "**{}.**", "$\\mathbf{{{}}}$", "<{}>", "{}<|eot_id|>", "（{}）", "“{}”",
]  # fmt: skip
MARKED = [
    "Answer: {}", "**Answer:** {}", "ANSWER：{}", "- Final answer: {}", "答案：{}", "> Answer: {}", "Answer:\n{}",
    "The answer is {}", "It follows that the correct answer is {}", "因此选{}",
]  # fmt: skip
PROSE = st.sampled_from(
    [
        "",
        "Let me think about it.\n\n",
        "<think>Could be A, or B, or C, or D. Answer: A</think>\n",
        "A good question. It depends.\n",
        "Options A and C fail on units. D is too big.\n",
        "先分析一下题目。\n",
        "| x | y |\n|---|---|\n| 1 | 2 |\n\n",
    ]
)


def widen(text: str) -> str:
    return "".join(chr(ord(each) + 0xFEE0) if each in string.ascii_letters else each for each in text)


@given(LABELS, st.sampled_from(DRESSED), st.sampled_from(MARKED), PROSE, st.booleans(), st.booleans())
@settings(max_examples=400, deadline=None)
def test_dress_does_not_change_the_option(
    label: str, dress: str, mark: str, prose: str, lower: bool, wide: bool
) -> None:
    shown = label.lower() if lower and "\\" not in dress and "<|" not in dress else label
    shown = widen(shown) if wide and "\\" not in dress else shown
    text = prose + mark.format(dress.format(shown))
    found = find_option(text, Choices.of("ABCD"))
    assert isinstance(found, Extraction), (text, found)
    assert found.answer == label
    assert fold(text[slice(*found.span)]).upper() == label


@given(st.integers(-(10**9), 10**9), st.sampled_from(MARKED[:8]), PROSE, st.booleans())
@settings(deadline=None)
def test_dress_does_not_change_the_marked_number(value: int, mark: str, prose: str, wide: bool) -> None:
    digits = str(value)
    if wide:
        digits = "".join(chr(ord(each) + 0xFEE0) if each.isdecimal() else "−" for each in digits)
    text = prose + mark.format(digits)
    found = find_number(text)
    assert isinstance(found, Extraction), (text, found)
    assert found.answer == str(value)
    assert text[slice(*found.span)] == digits


@given(st.sampled_from("ABCD"), st.sampled_from("ABCD"))
@settings(deadline=None)
def test_two_answers_of_equal_standing_are_one_answer_only_if_equal(first: str, second: str) -> None:
    found = extract_option(f"The answer is {first}. The answer is {second}.", "ABCD")
    assert (found.answer if found else None) == (first if first == second else None)


@given(ANY, st.lists(st.text(min_size=1, max_size=3), max_size=3))
@settings(deadline=None)
def test_a_cut_text_holds_no_stop_string(text: str, stops: list[str]) -> None:
    cut = cut_at_stop(text, tuple(stops))
    assert text.startswith(cut.text)
    assert not any(stop in cut.text for stop in stops)


def test_extractors_have_digests_that_cover_their_fields() -> None:
    digests = {digest(extractor) for extractor in EXTRACTORS}
    assert len(digests) == len(EXTRACTORS)
    assert digest(FinalNumber(edition=1)) != digest(FinalNumber())


REPEATED = [
    "a", "1", "1,", " ", "\n", "(", "{", "\\boxed{", "\\boxed{1}", "<think>", "</think>", "<think>a</think>b", "`",
    "```\n", "Answer: ", "Answer: A\n", "Answer:\n", "the answer is ", "the answer is A. ", "A ", "A, ", "I ", "1 or ",
    "-", "1/", "1.2.", "$", "= ", "1,111,", "选", "选A", "三", "百分之", "def f():\n", "@a\n", "x = (\n", '"""\n', '"\\',
    "x = 1\n", "    y\n", "\t", "*", "> ", "1\u00a0", "{,}", "so ", "41 ", "wait ", "\ud800", " \n",
]  # fmt: skip
READERS: dict[str, Callable[[str], object]] = {
    "reasoning": strip_reasoning,
    "box": extract_boxed,
    "option": lambda text: find_option(text, Choices.of(dict(zip("ABCD", ITEM.choices, strict=True)))),
    "number": lambda text: find_number(text, Reading(chinese=True)),
    "short": lambda text: ShortAnswer(loose=True).extract(text, ITEM),
    "code": lambda text: extract_code(text, "f"),
}


def cpu_seconds(read: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    read(text)
    return time.thread_time() - start


@pytest.mark.parametrize("reader", READERS)
def test_ten_times_the_text_takes_some_ten_times_the_cpu(reader: str) -> None:
    """CPU time of this thread, and a factor of 40: a quadratic reader takes 100 times as long."""
    read = READERS[reader]
    slow = []
    for piece in REPEATED:
        for tail in ("", "x\nAnswer: B"):
            short = piece * (2000 // len(piece)) + tail
            base = max(min(cpu_seconds(read, short) for _ in range(2)), 1e-3)
            factor = min(cpu_seconds(read, piece * (20_000 // len(piece)) + tail) / base for _ in range(2))
            if factor > 40:
                slow.append((piece, tail, round(factor)))
    assert slow == []


@pytest.mark.parametrize("reader", READERS)
def test_a_megabyte_is_read(reader: str) -> None:
    text = ("Let's see: 1 + 1 = 2, so (A) or \\boxed{2}. \ud800\n" * 23_000)[:1_000_000]
    READERS[reader](text)
