"""Numbers: what is one, what it is worth, and which one is the answer."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.extraction import Ambiguous, FinalNumber, Missing, extract_number
from probatum.extraction.numbers import parse_number, scan_numbers, show
from probatum.extraction.numerals import parse_numeral
from probatum.extraction.quantity import Reading, find_number

VALUES = [
    ("5", 5),
    ("-5", -5),
    ("−5", -5),
    ("+5", 5),
    ("–5", -5),
    ("－５", -5),
    ("１２．５", "12.5"),
    ("007", 7),
    ("3.0", 3),
    (".5", "0.5"),
    ("-.5", "-0.5"),
    ("5.", 5),
    ("1,234", 1234),
    ("1,234,567.89", "1234567.89"),
    ("1,00,000", 100000),
    ("1_000", 1000),
    ("1'000", 1000),
    ("1’000", 1000),
    ("12\u202f500", 12500),
    ("12\u00a0500", 12500),
    ("12\u2009500", 12500),
    ("1{,}234", 1234),
    ("1\\,234", 1234),
    ("1\\!234", 1234),
    ("1.234.567", 1234567),
    ("1.234,56", "1234.56"),
    ("$5", 5),
    ("\\$5", 5),
    ("-$5", -5),
    ("$-5", -5),
    ("€ 5", 5),
    ("£1,000.50", "1000.50"),
    ("￥100", 100),
    ("US$5", 5),
    ("USD 5", 5),
    ("25%", 25),
    ("25 %", 25),
    ("25\\%", 25),
    ("25 percent", 25),
    ("1/2", "1/2"),
    ("-1/2", "-1/2"),
    ("3 1/2", "7/2"),
    ("½", "1/2"),
    ("2½", "5/2"),
    ("\\frac{1}{2}", "1/2"),
    ("-\\frac{3}{4}", "-3/4"),
    ("\\dfrac{-1}{2}", "-1/2"),
    ("\\tfrac12", "1/2"),
    ("2\\frac{1}{2}", "5/2"),
    ("1e3", 1000),
    ("1.5E-3", "0.0015"),
    ("3×10^5", 300000),
    ("3 \\times 10^{5}", 300000),
    ("3 x 10^-2", "0.03"),
    ("6.02·10²³", 602 * 10**21),
    ("2*10**3", 2000),
    ("2^10", 1024),
    ("5 million", 5_000_000),
    ("1.5 billion", 1_500_000_000),
    ("3万", 30000),
    ("1.2亿", 120_000_000),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_a_number_has_the_value_that_people_read(text: str, value: object) -> None:
    assert parse_number(text) == Fraction(value)


@pytest.mark.parametrize(
    "text",
    ["", ",", ".", "-", "abc", "x2", "H2O", "1.2.3", "12:30", "2024/05/01", "5 apples", "3 or 4", "5\\pi", "2x",
     "1/0", "1e99999", "9" * 500, "3,5"],
)  # fmt: skip
def test_what_is_no_single_number_has_no_value(text: str) -> None:
    assert parse_number(text) is None


def test_the_comma_may_be_the_decimal_sign() -> None:
    assert parse_number("3,5", "comma") == Fraction("3.5")
    assert parse_number("1.234,56", "comma") == Fraction("1234.56")
    assert parse_number("1,234.56", "comma") == Fraction("1234.56")
    assert [number.value for number in scan_numbers("3,5")] == [3, 5]


@given(st.fractions(max_denominator=10**6))
@settings(deadline=None)
def test_what_is_shown_reads_back(value: Fraction) -> None:
    assert parse_number(show(value)) == value


@given(
    st.integers(-(10**15), 10**15),
    st.sampled_from(["{:,}", "${:,}", "{:_}", "{}%", "{} kg", "**{}**", "\\({}\\)"]),
)
@settings(deadline=None)
def test_dress_does_not_change_the_number(value: int, dress: str) -> None:
    found = extract_number(f"Answer: {dress.format(value)}.")
    assert found is not None
    assert found.answer == str(value)


FINAL = [
    ("#### 26\n\nI double-checked this in 2 ways.", "26", "declared:line"),
    ("Recap: #### 5\nNow mine: 9*4=36\n#### 36", "36", "declared:line"),
    ("#### -5", "-5", "declared:line"),
    ("Answer: p+q = 144 + 25 = 169", "169", "declared:line"),
    ("Answer: 18 dollars per day", "18", "declared:line"),
    ("Answer: 18 dollars per 2 days", "18", "declared:line"),
    ("Answer: 18 (3 times 6)", "18", "declared:line"),
    ("Answer: 18, because 3*6=18", "18", "declared:line"),
    ("Answer: 18 because there are 3 of them", "18", "declared:line"),
    ("Answer: about 18", "18", "declared:line"),
    ("**Answer:** $18$", "18", "declared:line"),
    ("Answer: 12\nActually I forgot one.\nAnswer: 13", "13", "declared:line"),
    ("Answer:\n\n$$18$$", "18", "declared:line"),
    ("Answer: x = 18", "18", "declared:line"),
    ("Answer: 3/8 or .375", "0.375", "declared:line"),
    ("答案：18元", "18", "declared:line"),
    ("答案是１８。", "18", "declared:line"),
    ("We get \\boxed{18}.", "18", "box"),
    ("We get \\boxed{18 \\text{ cm}}.", "18", "box"),
    ("We get \\boxed{\\$1{,}800}.", "1800", "box"),
    ("First \\boxed{12}. Then, corrected, \\boxed{18}.", "18", "box"),
    ("\\boxed{18}\n\nThat took 3 steps.", "18", "box"),
    ("There are 3 steps. So the answer is 18. It took 5 minutes.", "18", "phrase:answer"),
    ("The answer (arabic numerals) is $2200 - $1980 = $220.", "220", "phrase:answer"),
    ("The answer is not 12; it is 15.", "15", "phrase:answer"),
    ("She pays $31.00.", "31", "loose:last_number"),
    ("Profit: $410,000 - $330,000 = $80,000", "80000", "loose:last_number"),
    ("The ages range over 3-7", "7", "loose:last_number"),
    ("12 - 5 gives 7.", "7", "loose:last_number"),
    ("The result is −5.", "-5", "loose:last_number"),
    ("He has 84 stickers, counting both boxes.", "84", "loose:last_number"),
    ("It takes 5 hours.\n\nGood luck!", "5", "loose:last_number"),
    ("1) 3 apples\n2) 5 pears\n\nTotal: 8", "8", "loose:last_number"),
    ("first 4, no...\n</think>\n7", "7", "whole:number"),
    ("**18**", "18", "whole:number"),
    ("Answer: 90 + 80, which equals 170", "170", "declared:line"),
    ("= 18", "18", "whole:number"),
    ("The answer is minus 5", "-5", "phrase:answer"),
    ("The answer is:\n\n$$18$$", "18", "phrase:answer"),
    ("Answer: 20 000 people", "20000", "declared:line"),
    ("Answer: 10^{-3}", "0.001", "declared:line"),
    ("Answer: 18\n\nQuestion: 2 + 2?\nAnswer: 4", "18", "declared:line"),
    ("The 3rd", "3", "loose:last_number"),
    ("共有12个。", "12", "loose:last_number"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer", "rule"), FINAL)
def test_the_answer_is_the_number_that_is_marked_as_such(text: str, answer: str, rule: str) -> None:
    found = extract_number(text)
    assert found is not None, find_number(text)
    assert (found.answer, found.rule) == (answer, rule)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot say.",
        "Answer: 3 or 4",
        "Answer: 3 and 4",
        "Answer: (3, 4)",
        "Answer: 3 ± 1",
        "Answer: 3 hours 20 minutes",
        "Answer: 5\\pi",
        "Answer: 5\\sqrt{2}",
        "\\boxed{5\\pi}",
        "x = \\boxed{3} or x = \\boxed{4}",
        "\\boxed{12}, but rather \\boxed{",
        "Answer: 12, or rather \\boxed{",
        "The answer is 3. The answer is 4.",
        "It is either 3 or 4.",
        "I think 18, but it could be 20.",
        "Answer: x = 3, y = 4",
        "It happened on 2024-05-01",
        "<think>The answer is 3",
    ],
)
def test_several_numbers_or_a_part_of_an_expression_are_no_answer(text: str) -> None:
    assert extract_number(text) is None


def test_reasons_are_told() -> None:
    assert find_number("Answer: 3 or 4").reason == "ambiguous: '3' and '4' (declared:line)"
    assert isinstance(find_number("x"), Missing)
    assert isinstance(find_number("The answer is 3. The answer is 4."), Ambiguous)
    assert find_number("\\boxed{").truncated


def test_the_span_covers_sign_currency_and_percent() -> None:
    for text, shown in (
        ("It costs −$1,200.50 now", "−$1,200.50"),
        ("答案：２５％", "２５％"),
        ("= - 5", "- 5"),
    ):
        found = extract_number(text)
        assert text[slice(*found.span)] == shown


def test_a_number_at_the_end_of_the_text_may_go_on() -> None:
    assert not extract_number("Answer: 12").complete
    assert extract_number("Answer: 12.").complete
    assert extract_number("Answer: 12\n").complete


def test_percent_is_a_unit_or_a_fraction_as_declared() -> None:
    assert find_number("Answer: 25%").answer == "25"
    assert find_number("Answer: 25%", Reading(percent="fraction")).answer == "0.25"


def test_without_search_only_marked_numbers_count() -> None:
    assert isinstance(find_number("It is 5.", Reading(loose=False)), Missing)
    assert find_number("Answer: 5", Reading(loose=False)).answer == "5"


def test_a_mark_of_the_tasks_own_may_stand_in_mid_line() -> None:
    reading = Reading(markers=("RESULT =>",))
    assert find_number("RESULT => 7", reading).rule == "declared:line"
    assert find_number("So we have RESULT => 7 now", reading).rule == "declared:inline"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("三", 3), ("十", 10), ("十二", 12), ("二十", 20), ("二十一", 21), ("一百", 100), ("一百零五", 105),
        ("一百一十", 110), ("三百五", 350), ("三百二十一", 321), ("两千", 2000), ("两千零五", 2005), ("一万", 10000),
        ("一万二千", 12000), ("三十万", 300000), ("一亿", 10**8), ("一亿三千万", 130_000_000), ("二〇二四", 2024),
        ("负七", -7), ("三点五", "3.5"), ("零点二五", "0.25"), ("三分之二", "2/3"), ("一又二分之一", "3/2"),
        ("百分之二十", 20), ("壹佰贰拾叁", 123), ("三点五万", 35000),
    ],
)  # fmt: skip
def test_chinese_numerals(text: str, value: object) -> None:
    assert parse_numeral(text) == Fraction(value)


@pytest.mark.parametrize("text", ["", "点", "百分之", "分之", "十十十分", "又", "负", "三点", "二三百"])
def test_ill_formed_numerals_are_none(text: str) -> None:
    assert parse_numeral(text) is None


def test_chinese_numerals_count_where_the_task_declares_them() -> None:
    assert find_number("答案：三百二十一", Reading(chinese=True)).answer == "321"
    assert isinstance(find_number("答案：三百二十一"), Missing)
    assert find_number("答案：3万", Reading(chinese=True)).answer == "30000"
    assert FinalNumber(chinese_numerals=True).chinese_numerals
