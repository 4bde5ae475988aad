import numpy as np
import pytest

from probatum import stats

RECORDS = [
    {"kind": "harmful", "refused": False, "harmful_success": False, "unauthorized_effect": False},
    {"kind": "harmful", "refused": True, "harmful_success": True, "unauthorized_effect": True},
    {"kind": "benign", "refused": False, "unauthorized_effect": False},
    {"kind": "benign", "refused": True, "unauthorized_effect": False},
]


def test_each_rate_has_its_own_denominator():
    found = stats.safety_frontier(RECORDS)
    assert (found.attack_success_rate.value, found.attack_success_rate.n) == (0.5, 2)
    assert (found.false_refusal_rate.value, found.false_refusal_rate.n) == (0.5, 2)
    assert (found.unauthorized_effect_rate.value, found.unauthorized_effect_rate.n) == (0.25, 4)
    assert found.refused_yet_succeeded == 1
    assert found.attack_success_rate.method == "clopper_pearson"


def test_no_attack_that_succeeded_still_leaves_a_rate_that_it_could_be():
    rows = [dict(RECORDS[0]) for _ in range(100)] + RECORDS[2:]
    found = stats.safety_frontier(rows).attack_success_rate
    assert found.value == 0
    assert found.high == pytest.approx(stats.proportion_interval(0, 100, "clopper_pearson").high)
    assert "one-sided 95% limit of the rate of success is 0.0295" in found.warnings[0]


def test_variants_of_one_attack_are_one_cluster():
    rows = RECORDS[:2] * 10 + RECORDS[2:] * 10
    found = stats.safety_frontier(rows, clusters=[i % 5 for i in range(40)])
    assert found.attack_success_rate.clusters == 5
    with pytest.raises(ValueError, match="1 clusters do not match 4 records"):
        stats.safety_frontier(RECORDS, clusters=["x"])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no records"),
        (RECORDS[:2], "2 harmful and 0 benign"),
        (RECORDS[2:], "0 harmful and 2 benign"),
        ([*RECORDS, {"kind": "unclear"}], "1 of 5 records are neither harmful nor benign, e.g. 'unclear'"),
        ([*RECORDS, {**RECORDS[2], "refused": None}], "1 of 5 records have no boolean refused"),
        ([*RECORDS, {**RECORDS[2], "refused": 1}], "no boolean refused, e.g. 1"),
        (
            [*RECORDS[1:], {"kind": "harmful", "refused": False, "unauthorized_effect": False}],
            "no boolean harmful_success",
        ),
    ],
)
def test_a_missing_slice_or_outcome_is_refused(rows, said):
    with pytest.raises(ValueError, match=said):
        stats.safety_frontier(rows)


CLAIMS = [
    {"support": "supported", "cited": True},
    {"support": "supported", "cited": False},
    {"support": "unsupported", "cited": True},
    {"support": "unknown", "cited": False},
]


def test_unknown_support_stays_in_the_rate_of_decidable_claims_only():
    found = stats.factuality_report(CLAIMS)
    assert found.support_precision.value == pytest.approx(2 / 3)
    assert found.support_precision.missing == {"unknown support": 1}
    assert found.decidable_rate.value == 0.75
    assert found.citation_completeness.value == 0.5
    assert (found.supported, found.unsupported, found.unknown) == (2, 1, 1)


def test_where_no_claim_can_be_decided_the_precision_is_undefined():
    found = stats.factuality_report([CLAIMS[3]] * 3)
    assert found.support_precision.value is None
    assert found.decidable_rate.value == 0


def test_claims_of_one_answer_are_one_cluster():
    found = stats.factuality_report(CLAIMS * 10, clusters=[i // 4 for i in range(40)])
    assert found.decidable_rate.clusters == 10


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ([], "no claims"),
        ([{"support": "maybe", "cited": True}], "1 of 1 claims are not supported, unsupported or unknown"),
        ([{"support": "supported", "cited": "yes"}], "no boolean cited"),
    ],
)
def test_claims_without_an_explicit_outcome_are_refused(claims, said):
    with pytest.raises(ValueError, match=said):
        stats.factuality_report(claims)


def test_booleans_of_numpy_are_explicit_and_rows_must_be_mappings():
    rows = [
        {
            "kind": "harmful",
            "refused": np.True_,
            "unauthorized_effect": np.False_,
            "harmful_success": np.False_,
        },
        {"kind": "benign", "refused": False, "unauthorized_effect": False},
    ]
    assert stats.safety_frontier(rows).harmful_refusal_rate.value == 1
    with pytest.raises(ValueError, match="1 of 1 records are no mappings"):
        stats.safety_frontier(["harmful"])
    with pytest.raises(ValueError, match="1 of 1 claims are no mappings"):
        stats.factuality_report([1])
