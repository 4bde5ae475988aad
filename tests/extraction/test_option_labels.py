"""Options: which label an answer names, and when it names none."""

from __future__ import annotations

import pytest

from probatum.core.errors import UsageError
from probatum.extraction import Ambiguous, Missing, extract_option, extract_options
from probatum.extraction.options import Choices, default_labels, find_option

TEXTS = {"A": "Paris", "B": "London", "C": "New York", "D": "Rome"}

NAMED = [
    # declared line
    ("Answer: B", "B", "declared:line"),
    ("ANSWER: B", "B", "declared:line"),
    ("answer: b", "B", "declared:line"),
    ("Answer: (B)", "B", "declared:line"),
    ("Answer: **B**", "B", "declared:line"),
    ("**Answer:** B", "B", "declared:line"),
    ("**Answer**: B", "B", "declared:line"),
    ("**Answer: B**", "B", "declared:line"),
    ("### Answer: B", "B", "declared:line"),
    ("> Answer: B", "B", "declared:line"),
    ("- Answer: B", "B", "declared:line"),
    ("`Answer: B`", "B", "declared:line"),
    ("Answer: $B$", "B", "declared:line"),
    ("Answer: $\\boxed{B}$", "B", "declared:line"),
    ("Answer: \\(B\\)", "B", "declared:line"),
    ("Answer: \\text{B}", "B", "declared:line"),
    ("Answer: $\\mathbf{B}$", "B", "declared:line"),
    ("Answer: $B", "B", "declared:line"),
    ("Answer: <B>", "B", "declared:line"),
    ("Answer: [B]", "B", "declared:line"),
    ('Answer: "B"', "B", "declared:line"),
    ("Answer: B.", "B", "declared:line"),
    ("Answer: B) London", "B", "declared:line"),
    ("Answer: B, because A is a river", "B", "declared:line"),
    ("Answer: Option B", "B", "declared:line"),
    ("Answer: London", "B", "declared:text"),
    ("Answer: New York.", "C", "declared:text"),
    ("Answer:\nB", "B", "declared:line"),
    ("Answer:\n\n**B**", "B", "declared:line"),
    ("Answer: Ｂ", "B", "declared:line"),
    ("Ａｎｓｗｅｒ：（Ｂ）", "B", "declared:line"),
    ("Final answer: B", "B", "declared:line"),
    ("**Final Answer**: B", "B", "declared:line"),
    ("Final Answer (one letter): B", "B", "declared:line"),
    ("Answer: A\nWait, that is the river.\nAnswer: B", "B", "declared:line"),
    ("Answer: B<|im_end|>", "B", "declared:line"),
    ("答案：B", "B", "declared:line"),
    ("答案: B。", "B", "declared:line"),
    ("答案：（Ｂ）", "B", "declared:line"),
    ("**答案：B**", "B", "declared:line"),
    ("【答案】B", "B", "declared:line"),
    ("【答案】：B <eoa>", "B", "declared:line"),
    ("正确答案：B", "B", "declared:line"),
    ("Antwort: B", "B", "declared:line"),
    ("Réponse : B", "B", "declared:line"),
    ("Respuesta: B", "B", "declared:line"),
    ("Ответ: B", "B", "declared:line"),
    ("答え：B", "B", "declared:line"),
    ("정답: B", "B", "declared:line"),
    ("الإجابة: B", "B", "declared:line"),
    ("Answer: C\nAnswer: see above", "C", "declared:line"),
    # box
    ("So \\boxed{B}.", "B", "box:label"),
    ("$$\\boxed{\\text{(B)}}$$", "B", "box:label"),
    ("\\boxed{\\textbf{B}}", "B", "box:label"),
    ("\\boxed{A}... no. \\boxed{B}", "B", "box:label"),
    ("\\boxed{London}", "B", "box:text"),
    ("The result is \\boxed{\\vec{B} + C}.\nAnswer: A", "A", "declared:line"),
    # the whole text
    ("B", "B", "whole:label"),
    ("b", "B", "whole:label"),
    ("(B)", "B", "whole:label"),
    ("B.", "B", "whole:label"),
    (" **B** \n", "B", "whole:label"),
    ("B) London", "B", "whole:label"),
    ("B: London", "B", "whole:label"),
    ("London", "B", "whole:text"),
    ("new york.", "C", "whole:text"),
    ("Ｂ", "B", "whole:label"),
    # phrases
    ("I checked all of them. The answer is B.", "B", "phrase:answer"),
    ("It holds, so the answer is (B).", "B", "phrase:answer"),
    ("It holds. The correct answer is option B.", "B", "phrase:answer"),
    ("Hence the best answer to the question is clearly B.", "B", "phrase:answer"),
    ("It holds. The answer is: B", "B", "phrase:answer"),
    ("It holds. The answer is therefore **B**.", "B", "phrase:answer"),
    ("It holds. The correct answer is London.", "B", "phrase:text"),
    ("It is not C.\nThe right choice is d.", "D", "phrase:choice"),
    ("Let me see. I would go with B.", "B", "phrase:choice"),
    ("After some thought, I choose (B).", "B", "phrase:choice"),
    ("The answer is not A. The answer is B.", "B", "phrase:answer"),
    ("The answer is A. Wait, I forgot the river. The answer is B.", "B", "phrase:answer"),
    ("The answer is A at first sight. Therefore, the final answer is B.", "B", "phrase:answer"),
    ("The answer is B. I repeat: the answer is B.", "B", "phrase:answer"),
    ("Cities are listed. (B) is the correct answer.", "B", "phrase:is_right"),
    ("As said, option C is correct.", "C", "phrase:is_right"),
    ("我们比较一下，所以选B。", "B", "phrase:choice"),
    ("排除A和C。故选D", "D", "phrase:choice"),
    ("A不对，应该选择B", "B", "phrase:choice"),
    ("综上所述，正确答案是B。", "B", "phrase:answer"),
    ("因此答案为（Ｂ）。", "B", "phrase:answer"),
    ("选项A是河流，选项C是州，因此正确答案是选项B。", "B", "phrase:answer"),
    ("A和B都不完整，只有选项C是对的", "C", "phrase:is_right"),
    ("分析如下。B项正确。", "B", "phrase:is_right"),
    ("Die richtige Antwort ist B.", "B", "phrase:answer"),
    ("Je pense que la réponse est B.", "B", "phrase:answer"),
    ("Creo que la respuesta correcta es B.", "B", "phrase:answer"),
    ("私の考えでは、正解はBです。", "B", "phrase:answer"),
    ("그래서 정답은 B입니다.", "B", "phrase:answer"),
    ("<answer>\nB\n</answer>", "B", "phrase:answer"),
    ("It is so. The answer is:\n\n(B)", "B", "phrase:answer"),
    ("Answer: B\n\nQuestion: Which is a river?\nAnswer: A", "B", "declared:line"),
    # search
    ("B. It lies on the Thames.\nParis does not.", "B", "loose:line"),
    ("It lies on the Thames.\n\nB", "B", "loose:line"),
    ("It lies on the Thames. It is London.", "B", "loose:text"),
    ("Only (B) lies on the Thames.", "B", "loose:only_label"),
    # reasoning
    ("<think>Answer: A</think>Answer: B", "B", "declared:line"),
    ("The answer is A\n</think>\n\nB", "B", "whole:label"),
]


@pytest.mark.parametrize(("text", "label", "rule"), NAMED)
def test_a_named_option_is_found_by_the_stage_that_names_it(text: str, label: str, rule: str) -> None:
    found = extract_option(text, TEXTS)
    assert found is not None, find_option(text, Choices.of(TEXTS))
    assert (found.answer, found.rule) == (label, rule)


NONE = [
    "",
    "   \n",
    "I am not able to decide between these.",
    "Answer: ",
    "Answer: A, B",
    "Answer: A or B",
    "Answer: A/B",
    "Answer: A and C.",
    "答案：A、B",
    "The answer is A. The answer is B.",
    "The answer is (A) and (B).",
    "选A。选B。",
    "<think>The answer is B",
    "<think>The answer is B</think>",
    "Answer: A and then \\boxed{B",
    "\\boxed{B} and later \\boxed{",
    "A is a river, B is a city.",
    "A good question about a city.",
    "Let's think: a city is a place.",
    "The answer is a city on a river.",
    "An A-level student asked about C++.",
    "It is Paris or it is London.",
    "不选B。",
    "The answer is not B.",
    "Answer: E",
    "Answer: Bath",
    "A) it is a river\nB) it is a city",
    "B5 and D2 are vitamins",
]


@pytest.mark.parametrize("text", NONE)
def test_no_option_or_several_are_no_answer(text: str) -> None:
    assert extract_option(text, TEXTS) is None


def test_letters_that_are_words_are_no_labels() -> None:
    ten = "ABCDEFGHIJ"
    assert extract_option("I cannot provide an answer.", ten) is None
    assert extract_option("Therefore, I cannot answer this question.", ten) is None
    assert extract_option("The current is I = 5, so E = 3 and the answer is (C).", ten).answer == "C"
    assert extract_option("The answer is (I).", ten).answer == "I"
    assert extract_option("Answer: I", ten).answer == "I"
    assert extract_option("Answer: I think it is hard", ten) is None


@pytest.mark.parametrize(
    ("text", "options", "label"),
    [
        ("Answer: 10", [str(number) for number in range(1, 37)], "J"),  # text of the tenth option
        ("Answer: 10", {str(number): "" for number in range(1, 37)}, "10"),
        ("Answer: 1", {str(number): "" for number in range(1, 37)}, "1"),
        ("Answer: AB", dict.fromkeys(default_labels(40), ""), "AB"),
        ("Answer: (iii)", {"i": "", "ii": "", "iii": ""}, "iii"),
        ("ответ: Б", {"А": "", "Б": "", "В": ""}, "Б"),
        ("答案：乙", {"甲": "", "乙": "", "丙": ""}, "乙"),
        ("Answer: yes", {"yes": "", "no": ""}, "yes"),
        ("Answer: True.", {"True": "", "False": ""}, "True"),
        ("Answer: C", "ABCDEFGHIJKLMNOP", "C"),
    ],
)
def test_labels_of_any_kind_and_number_are_compared_whole(text: str, options: object, label: str) -> None:
    assert extract_option(text, options).answer == label


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("ANSWER: A, B.", "A,B"),
        ("ANSWER: C and A", "A,C"),
        ("答案：A、C、D", "A,C,D"),
        ("ANSWER: B", "B"),
        ("The answer is (A), (B) and (D).", "A,B,D"),
    ],
)
def test_several_labels_are_an_answer_where_several_may_be_right(text: str, labels: str) -> None:
    assert extract_options(text, "ABCD").answer == labels


def test_the_span_points_at_the_label() -> None:
    text = "<think>A</think>\nSo it is clear.\n答案：（Ｂ）"
    found = extract_option(text, TEXTS)
    assert text[slice(*found.span)] == "Ｂ"


def test_ambiguity_names_its_candidates() -> None:
    found = find_option("The answer is A. The answer is B.", Choices.of(TEXTS))
    assert isinstance(found, Ambiguous)
    assert found.reason == "ambiguous: 'A' and 'B' (phrase:answer)"


def test_reasoning_and_boxes_that_stay_open_are_truncated() -> None:
    for text in ("<think>B", "Answer: none\n\\boxed{B", "\\boxed{A} \\boxed{"):
        found = find_option(text, Choices.of(TEXTS))
        assert isinstance(found, Missing)
        assert found.truncated


@pytest.mark.parametrize("options", ["", [], {}, "AA", {"a": "x", "A": "y"}, {"": "x"}])
def test_options_that_cannot_be_told_apart_are_refused(options: object) -> None:
    with pytest.raises(UsageError):
        extract_option("A", options)


def test_equal_texts_do_not_name_an_option() -> None:
    assert extract_option("It is 5.", {"A": "5", "B": "5", "C": "6"}) is None


def test_labels_after_z() -> None:
    assert default_labels(3) == ("A", "B", "C")
    assert default_labels(28)[24:] == ("Y", "Z", "AA", "AB")
