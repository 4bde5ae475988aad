import copy
import dataclasses
import inspect
import json
import math
import pickle

import numpy as np
import pytest

from probatum import stats


def test_every_public_name_is_there_and_is_documented():
    for name in stats.__all__:
        assert inspect.getdoc(getattr(stats, name)), name
    assert list(stats.__all__) == sorted(stats.__all__)
    assert set(stats.__all__) <= set(dir(stats))
    with pytest.raises(AttributeError, match="no attribute 'mean_ci'"):
        _ = stats.mean_ci


def test_results_cannot_be_changed_and_give_their_number():
    found = stats.proportion_interval(3, 10)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.value = 1.0
    assert float(found) == 0.3
    assert found.interval == (found.low, found.high)
    assert found.width == found.high - found.low


def test_results_can_be_copied_pickled_and_written_as_json():
    found = stats.pass_at_k_interval([20, 20, 5], [5, 10, 5], 10)
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found
    assert json.loads(json.dumps(dataclasses.asdict(found), allow_nan=False))["missing"] == {
        "fewer than 10 samples": 1
    }


def test_an_undefined_number_is_none_with_a_reason_and_no_float():
    found = stats.pass_at_k_interval([2], [1], 5)
    assert found.value is None
    assert found.warnings
    with pytest.raises(ValueError, match="fewer than 5 samples"):
        float(found)
    with pytest.raises(ValueError, match="undefined"):
        float(stats.mean_test([1, 0], 0.5, ["a", "a"]))


DEGENERATE = [
    lambda: stats.mean_interval([1.0], bounds=(0, 1)),
    lambda: stats.mean_interval([0.0, 0.0], ["a", "a"]),
    lambda: stats.mean_interval([0.0] * 5),
    lambda: stats.paired_difference([1], [1]),
    lambda: stats.paired_difference([1, 1], [0, 0]),
    lambda: stats.unpaired_difference([1.0], [0.0]),
    lambda: stats.bootstrap_mean([1.0]),
    lambda: stats.bootstrap_mean([1.0, 1.0], ci="t"),
    lambda: stats.cohen_kappa(["a"], ["a"]),
    lambda: stats.gwet_ac1(["a", "a"], ["a", "a"]),
    lambda: stats.fleiss_kappa([[3, 0]]),
    lambda: stats.krippendorff_alpha([[1, None], [None, 1]]),
    lambda: stats.auroc([0.5, 0.5], [1, 1]),
    lambda: stats.auroc([0.9, 0.1], [1, 0]),
    lambda: stats.brier_score([0.5], [1]),
    lambda: stats.negative_log_likelihood([0.0], [1], eps=0),
    lambda: stats.corpus_perplexity([1.0], [1]),
    lambda: stats.missing_bounds([None, None]),
    lambda: stats.pass_at_k_interval([3], [3], 3),
    lambda: stats.ppi_mean([1, 1], [1, 1], [1, 1]),
    lambda: stats.e_aurc([1], [0]),
]


@pytest.mark.parametrize("call", DEGENERATE)
def test_no_number_of_a_degenerate_input_is_nan_or_a_standard_error_of_zero(call):
    found = call()
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if isinstance(value, float | np.floating):
            assert math.isfinite(value), field.name
    assert found.se is None or found.se > 0
    if found.value is None or found.interval is None:
        assert found.warnings
