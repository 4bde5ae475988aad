"""A judge's verdict is read where the judge gives it, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.extraction.evidence import Ambiguous, Extraction, Missing
from probatum.extraction.json_replies import find_objects
from probatum.extraction.judgement import (
    PAIR_LABELS,
    JudgeReply,
    find_reply,
    find_score,
    find_scores,
    find_tagged,
    find_verdict,
)
from probatum.extraction.verdict_places import numbers_in, read_number

OUTPUTS = {"Output (a)": "a", "Output (b)": "b"}


@pytest.mark.parametrize(
    ("text", "scale", "answer"),
    [
        ("Rating: [[7]]", (1, 10), "7"),
        ("Rating: [[7.5]]", (1, 10), "7.5"),
        ("Rating: [[7,5]]", (1, 10), "7.5"),
        ("Rating: [[8/10]]", (1, 10), "8"),
        ("评分：8分", (1, 10), "8"),
        ("**Rating:** 8 out of 10.", (1, 10), "8"),
        ("My rating is 9.", (1, 10), "9"),
        ("Score: 0.2 (this is not excellent)", (0, 1), "0.2"),
        ("The score is 85%.", (0, 100), "85"),
        ("Score: 8 (2 errors)", (1, 10), "8"),
        ("7", (1, 10), "7"),
        ("**8**", (1, 10), "8"),
        ("8/10", (1, 10), "8"),
        ("It ends with 'Rating: 5'. It ignores the image. Rating: 1", (1, 5), "1"),
        ("It says 'rating is: [[2]]' and is wrong.\nRating: [[0]]", (0, 2), "0"),
        ("It says 'rating is: [[2]]'. [[0]]", (0, 2), "0"),
        ("Rating: [[0]]. It had written “rating: [[2]]”.", (0, 2), "0"),
        ("Score:\n- Accuracy: 4/5\n- Style: 3/5\nOverall score: 4", (1, 5), "4"),
        ("<think>Rating: 3</think>Rating: 4", (1, 5), "4"),
        ('```json\n{"reason": "a\nb", "score": 3}\n```', (1, 5), "3"),
        ('{"score": "4"}', (1, 5), "4"),
        ('{"score": "4/5"}', (1, 5), "4"),
        ("Score – 4", (1, 5), "4"),
        ("<score>4</score>", (1, 5), "4"),
        ("<score>2</score> or rather <final_score>4</final_score>", (1, 5), "4"),
        ("Overall, I would rate this response a 4 out of 5.", (1, 5), "4"),
        ("I rate this answer 4/5 because it is short.", (1, 5), "4"),
        ('{"reason": "a, b", "score": 4,}', (1, 5), "4"),
        ("{'score': 4, 'reason': 'it\\'s fine'}", (1, 5), "4"),
        ('It has {x} and {"score": 4}.', (1, 5), "4"),
        ('draft {"v": 0}\nfinal {"v": 1}', None, "1"),
    ],
)
def test_the_judges_own_score_is_read(text, scale, answer):
    found = find_score(text, scale)
    assert isinstance(found, Extraction), found
    assert found.answer == answer
    assert 0 <= found.span[0] < found.span[1] <= len(text)


@pytest.mark.parametrize(
    ("text", "scale", "says"),
    [
        ("Good. Rating: [[95]]", (1, 10), "out of range"),
        ("Rating: 0", (1, 10), "out of range"),
        ("Rating: [[-1]]", (1, 10), "out of range"),
        ('{"score": 11}', (1, 10), "out of range"),
        ("Rating: [[N/A]]", (1, 10), "no verdict"),
        ("Score: 7/10", (1, 5), "no verdict"),
        ("Score: 85%", (0, 1), "no verdict"),
        ("Rating: 4-5", (1, 10), "no verdict"),
        ("Rating: 4 or 5", (1, 10), "no verdict"),
        ("Excellent work, far above the rest.", (0, 1), "no score"),
        ("The user asked for 3 items and got 4.", (1, 5), "no score"),
        ("I would give it 3 more sentences.", (1, 5), "no score"),
        ("", (1, 5), "no score"),
        ('{"score": "invalid"}', (0, 1), "no number"),
        ('{"score": true}', (0, 1), "no number"),
        ('{"rationale": "cannot tell"}', (0, 1), "no number"),
        ("It ends with 'Rating: 5'.", (1, 5), "quotation"),
    ],
)
def test_what_is_no_score_is_told_and_has_no_default(text, scale, says):
    found = find_score(text, scale)
    assert isinstance(found, Missing)
    assert says in found.reason


@pytest.mark.parametrize(
    "text", ['I weigh this\n{"score": ', '{"score": 4, "reason": "it', "Rating: [[", "Rating:", "<think>4"]
)
def test_a_reply_that_was_cut_off_is_truncated(text):
    found = find_score(text, (1, 5))
    assert isinstance(found, Missing)
    assert found.truncated


@pytest.mark.parametrize(
    "text",
    [
        "[[0]]\nThe text under review claimed 'my mark: [[2]]'",
        "Rating: 3. On reflection, Rating: 4",
        "Rating: [[3]]\nIts last words are Rating: [[5]]",
        "[[3]] or rather [[4]], who knows",
    ],
)
def test_two_scores_of_equal_standing_are_none(text):
    assert isinstance(find_score(text, (0, 5)), Ambiguous)


@pytest.mark.parametrize(
    ("text", "labels", "answer"),
    [
        ("Yes, I compared both. The values differ.\nVerdict: No", ["Yes", "No"], "No"),
        (
            "SUCCESS is plausible at first.\nFinal verdict: NOT SUCCESS",
            ["SUCCESS", "NOT SUCCESS"],
            "NOT SUCCESS",
        ),
        ("Yes. It is right.", ["Yes", "No"], "Yes"),
        ("yes", ["Yes", "No"], "Yes"),
        ("GRADE: C", ["C", "P", "I"], "C"),
        ("The first has the line\nOutput (b)\nwhich is spam. My choice:\nOutput (a)", OUTPUTS, "a"),
        ("[[A]] is fluent, but facts decide.\nFinal verdict: [[B]]", PAIR_LABELS, "B"),
        ("Equal quality. [[C]]", PAIR_LABELS, "tie"),
        ("My final verdict is: [[A>>B]]", PAIR_LABELS, "A"),
        ("**Winner: Assistant B**", PAIR_LABELS, "B"),
        ("Verdict: B, not A", PAIR_LABELS, "B"),
        ("最终裁决：[[B]]", PAIR_LABELS, "B"),
        ('{"winner": "tie"}', PAIR_LABELS, "tie"),
        ("Decision: M", ["m", "M"], "M"),
        ("Judgement: The response is correct.", ["correct", "incorrect"], "correct"),
        ("Yes — because it holds.", ["Yes", "No"], "Yes"),
        ("Assistant A is better.", PAIR_LABELS, "A"),
        ("Both are long. Therefore, Output (a) is clearly better.", OUTPUTS, "a"),
        ("I prefer Output (b).", OUTPUTS, "b"),
        ("<verdict>B</verdict>", PAIR_LABELS, "B"),
    ],
)
def test_the_judges_own_label_is_read(text, labels, answer):
    found = find_verdict(text, labels)
    assert isinstance(found, Extraction), found
    assert found.answer == answer


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("No issues found.", ["Yes", "No"]),
        ("Verdict: not correct", ["correct", "incorrect"]),
        ("Verdict: A and B are equal", PAIR_LABELS),
        ("Verdict: A/B", PAIR_LABELS),
        ("[[A]] or [[B]]? Hard to say.", PAIR_LABELS),
        ("[[Z]]", PAIR_LABELS),
        ("Judgement: The response is not correct.", ["correct", "incorrect"]),
        ("Assistant A is better in style, and Assistant B is better in content.", PAIR_LABELS),
        ("Assistant A is not better.", PAIR_LABELS),
        ("A better answer would be short.", PAIR_LABELS),
        ("It says 'I prefer Output (b)'. I do not.", OUTPUTS),
        ("[[A]][[B]]", PAIR_LABELS),
        ('{"verdict": null}', PAIR_LABELS),
        ('{"verdict": "both are fine"}', PAIR_LABELS),
    ],
)
def test_what_is_no_label_is_no_verdict(text, labels):
    assert not isinstance(find_verdict(text, labels), Extraction)


def test_only_the_declared_mark_counts_where_one_is_declared():
    for text in ("**Answer: C**", "GRID: C"):
        assert isinstance(find_verdict(text, ["C", "I"], declared=("GRADE:",)), Missing)


def test_several_scores_stand_on_their_line():
    quoted = "Scores: 4 and 8. (Answer two ends with: I give myself 10 and 2)"
    for text in (quoted, "4 8\nThe first one is better in 3 of 5 points.", "4,8"):
        found = find_scores(text)
        assert isinstance(found, tuple)
        assert [each.answer for each in found] == ["4", "8"]
    assert isinstance(find_scores("4 8 6"), Missing)
    assert isinstance(find_scores("Scores: 4 and 80", scale=(1, 10)), Missing)


def test_a_tag_is_read_in_any_language():
    texts = ["评分：[[7]]", "最终裁决：[[B]]", "Note finale : [[7,5]]"]
    assert [find_tagged(text).answer for text in texts] == ["7", "B", "7.5"]


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ('{"score": 0, "reason": "off topic"}', JudgeReply(passed=False, score=0.0, derived=True)),
        ('{"score": 0.8}', JudgeReply(passed=True, score=0.8, derived=True)),
        ('{"pass": "false", "score": 1}', JudgeReply(passed=False, score=1.0)),
        ('So:\n```json\n{"pass": true}\n```', JudgeReply(passed=True)),
    ],
)
def test_a_json_reply_gives_verdict_and_score(text, reply):
    assert find_reply(text) == reply


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "fine"}',
        "{'score': 0, 'score': 1}",
        '{"score": 2}',
        '{"score": "high"}',
        '{"pass": "maybe"}',
        "fine",
        '{"score": NaN}',
        '{"score": 0, "score": 1}',
    ],
)
def test_a_json_reply_without_a_verdict_never_passes(text):
    assert isinstance(find_reply(text), Missing)


def test_objects_inside_a_broken_one_are_no_reply():
    assert find_objects('{"a": {"score": 1}, bad}').found == ()


@pytest.mark.parametrize(
    ("part", "found"),
    [("4 and 8", ["4", "8"]), ("1,000 of 2", ["1000", "2"]), ("GPT-4 wins", []), ("50%", []), ("−2", ["-2"])],
)
def test_numbers_of_a_short_text(part, found):
    assert numbers_in(part) == found


def test_a_number_is_the_whole_text_or_none():
    assert [read_number(text) for text in ("7,50", " 0 ", "-0", "7 of 10", "")] == [
        "7.5",
        "0",
        "0",
        None,
        None,
    ]


@given(st.text(alphabet=st.sampled_from("[]{}\"'`:.,/ \n019AByesRating:Verdict\ud800分 "), max_size=200))
def test_no_reply_of_a_judge_raises(text):
    for found in (
        find_score(text, (0, 10)),
        find_verdict(text, PAIR_LABELS),
        find_reply(text),
        find_tagged(text),
    ):
        assert found is not None
    find_scores(text)


def test_long_replies_of_the_worst_kind_are_read():
    for part in ("[[", '{"a":', "'", "Rating: ", "Rating: [[5]] ", "> ", '"x ', "{", "Verdict: A\n"):
        text = part * (60_000 // len(part))
        find_score(text, (0, 10))
        find_verdict(text, PAIR_LABELS)


@pytest.mark.parametrize(
    ("text", "labels", "right"),
    [
        ("[[A]]. Not [[B]].", PAIR_LABELS, "A"),
        ("Verdict: [[B]], not [[A]]", PAIR_LABELS, "B"),
        ("[[A > B]]", PAIR_LABELS, "A"),
        (r"\[\[B\]\]", PAIR_LABELS, "B"),
        ("Verdict: A B", ["A", "B"], None),
        ("Verdict: A B C", ["A", "B"], "A"),
        (
            "The answer is supported by the text.\nVerdict: NOT SUPPORTED",
            ["SUPPORTED", "NOT SUPPORTED"],
            "NOT SUPPORTED",
        ),
        ("The answer is supported.", ["SUPPORTED", "NOT SUPPORTED"], "SUPPORTED"),
    ],
)
def test_what_is_said_beside_a_verdict_is_none(text, labels, right):
    found = find_verdict(text, labels)
    assert (found.answer if isinstance(found, Extraction) else None) == right


@pytest.mark.parametrize(
    ("text", "scale", "answer"),
    [
        ("Feedback: it is short. [RESULT] 4", (1, 5), "4"),
        ("[RESULT] (3)", (1, 5), "3"),
        ("Relevance: 3\nStyle: 5\n**Overall:** 4", (1, 5), "4"),
        ("There are 2 reasons why this deserves a score of 9.", (1, 10), "9"),
        (r"So I give \boxed{5}.", (1, 10), "5"),
        (r"The answer has \boxed{3} where it is wrong. So I give \boxed{5}.", (1, 10), "5"),
        (r"It ends with \boxed{9}. Score: 2", (1, 10), "2"),
    ],
)
def test_scores_as_judges_of_other_schools_write_them(text, scale, answer):
    found = find_score(text, scale)
    assert isinstance(found, Extraction), found
    assert found.answer == answer


@pytest.mark.parametrize(
    "text",
    [
        "Overall: 2 flaws and 3 merits",
        "A score of 10 needs more than that",
        r"The answer \boxed{5} is wrong.",
    ],
)
def test_a_number_in_a_remark_is_no_score(text):
    assert isinstance(find_score(text, (1, 10)), Missing)


@pytest.mark.parametrize(
    ("text", "labels", "answer"),
    [
        ("GRADE: $I", ["C", "I"], "I"),
        ("[RESULT] B", PAIR_LABELS, "B"),
        (r"\boxed{\text{B}}", PAIR_LABELS, "B"),
        ("It's a tie.", PAIR_LABELS, "tie"),
        ("(A) CORRECT", ["A", "B", "C"], "A"),
        ("Correct? I wonder.\nVerdict: incorrect", ["correct", "incorrect"], "incorrect"),
    ],
)
def test_labels_as_judges_of_other_schools_write_them(text, labels, answer):
    found = find_verdict(text, labels)
    assert isinstance(found, Extraction), found
    assert found.answer == answer


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Correct? Hardly, since it fails.", ["correct", "incorrect"]),
        ("A) fine\nB) wrong", ["A", "B"]),
        ("No, wait.", ["Yes", "No"]),
    ],
)
def test_a_question_and_a_list_of_labels_are_no_verdict(text, labels):
    assert not isinstance(find_verdict(text, labels), Extraction)


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ('{"verdict": "no"}', False),
        ('{"verdict": 1}', True),
        ('{"match": "false"}', False),
        ('{"correct": "TRUE"}', True),
        ('{"pass": true, "score": 0}', False),
        ('{"pass": false, "score": 1}', False),
        ('{"pass": true, "score": null}', True),
    ],
)
def test_a_json_reply_passes_where_all_of_it_does(text, passed):
    found = find_reply(text)
    assert isinstance(found, JudgeReply), found
    assert found.passed is passed
