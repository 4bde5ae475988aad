import pytest

from probatum.core.errors import UsageError
from probatum.core.records import Finish, Response
from probatum.core.status import BOUNDED, FAULTS, Status
from probatum.extraction.judgement import find_verdict
from probatum.scoring.judged import claim_support, grade_values, judged_outcome


def outcome(text="", finish=Finish.STOP):
    response = Response(request="r", text=text, finish=finish)
    return judged_outcome("q", 0, response, find_verdict(text, ["Yes", "No"]), {"correct": 1.0})


def test_a_verdict_is_scored_with_its_rule():
    found = outcome("Verdict: Yes")
    assert (found.status, found.answer, found.rule, found.scores) == (
        Status.SCORED,
        "Yes",
        "judge:mark",
        {"correct": 1.0},
    )


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("", Finish.MODEL_ERROR),
        ("", Finish.INFRA_ERROR),
        ("", Finish.TIMEOUT),
        ("Verdict: Yes", Finish.REFUSAL),
        ("Verdict: Yes", Finish.FILTERED),
        ("I cannot tell.", Finish.STOP),
        ("Verdict: Yes", Finish.LENGTH),
    ],
)
def test_a_judge_that_fails_is_no_wrong_answer_and_is_asked_again(text, finish):
    found = outcome(text, finish)
    assert found.status is Status.JUDGE_ERROR
    assert found.status in BOUNDED & FAULTS
    assert not found.scores
    assert "judge" in found.reason or "verdict" in found.reason


def test_no_response_at_all_is_a_judge_error():
    assert judged_outcome("q", 0, None, None, {}).status is Status.JUDGE_ERROR


def test_a_grade_that_the_task_does_not_map_is_refused():
    assert grade_values(["C", "P", "I"]) == [1.0, 0.5, 0.0]
    with pytest.raises(UsageError, match="'r'"):
        grade_values(["C", "r"])
    assert grade_values(["r"], {"r": 0.0}) == [0.0]


def test_the_denominator_of_claims_is_what_was_asked():
    assert claim_support(4, [1, 0, True, 1]).rate == 0.75
    for asked, verdicts in ((5, [1]), (1, [1, 1]), (0, []), (1, [2])):
        with pytest.raises(UsageError):
            claim_support(asked, verdicts)
