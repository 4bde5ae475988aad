import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import stats


def test_only_tokens_that_the_mask_keeps_are_scored():
    assert stats.masked_perplexity([0.0, math.log(4)], [False, True]).value == pytest.approx(4)
    assert stats.masked_perplexity([math.nan, math.log(4)], [0, 1]).units == 1


@pytest.mark.parametrize(
    ("losses", "mask", "said"),
    [
        ([0.0], [True, False], "2 mask entries do not match 1 token losses"),
        ([0.0], [False], "none of 1 tokens is evaluated"),
        ([], [], "none of 0 tokens"),
        ([math.inf], [True], "not finite"),
    ],
)
def test_nothing_to_score_is_refused(losses, mask, said):
    with pytest.raises(ValueError, match=said):
        stats.masked_perplexity(losses, mask)


def test_a_corpus_is_its_totals_and_not_the_mean_of_its_documents():
    assert stats.corpus_perplexity([10, 2], [5, 4]).value == pytest.approx(3.7937, abs=1e-4)


def test_documents_without_a_unit_are_skipped_and_counted():
    found = stats.corpus_perplexity([0, 2], [0, 4])
    assert found.value == pytest.approx(1.6487, abs=1e-4)
    assert found.missing == {"no unit to score": 1}
    assert found.n == 1
    with pytest.raises(ValueError, match="1 documents have a loss but no unit"):
        stats.corpus_perplexity([3, 2], [0, 4])


@given(
    st.lists(st.tuples(st.floats(0.1, 50), st.integers(1, 40), st.integers(1, 200)), min_size=1, max_size=20)
)
def test_two_to_the_bits_per_byte_is_the_byte_perplexity(rows):
    nll, tokens, octets = zip(*rows, strict=True)
    found = stats.corpus_perplexity(nll, tokens, octets)
    assert 2**found.bits_per_byte == pytest.approx(found.byte_perplexity)
    assert found.byte_perplexity == pytest.approx(stats.corpus_perplexity(nll, octets).value)
    assert found.bits_per_byte == pytest.approx(sum(nll) / math.log(2) / sum(octets))
    if found.interval:
        assert found.low <= found.value <= found.high


def test_known_bits_per_byte():
    assert stats.bits_per_byte(61.0, 80) == pytest.approx(1.100055, abs=1e-6)
    assert stats.bits_per_byte(100 * math.log(2), 100) == pytest.approx(1)
    with pytest.raises(ValueError, match="at least 1 byte"):
        stats.bits_per_byte(1.0, 0)


def test_tokens_of_one_document_are_one_cluster():
    random = np.random.default_rng(0)
    documents = np.repeat(np.arange(40), 25)
    losses = np.abs(random.normal(2, 0.5, 40)[documents] + random.normal(0, 1, 1_000))
    found = stats.masked_perplexity(losses, np.ones(1_000), documents)
    assert found.clusters == 40
    error = stats.mean_interval(losses, documents).se
    assert found.se == pytest.approx(found.value * error)
    single = stats.masked_perplexity(losses, np.ones(1_000))
    assert single.value == pytest.approx(found.value)
    assert single.interval is None
    assert "name the document" in single.warnings[0]


def test_a_document_that_was_cut_is_divided_by_what_was_scored():
    found = stats.corpus_perplexity([12.0], [6], unscored=[4])
    assert found.nll_per_unit == 2.0
    assert found.missing == {"cut off: units not scored": 4}
    assert any("4 units were cut off" in warning for warning in found.warnings)
    assert stats.corpus_perplexity([12.0], [6], unscored=[0]).missing == {}
    with pytest.raises(ValueError, match="unscored units"):
        stats.corpus_perplexity([12.0], [6], unscored=[4, 4])


def test_signs_and_masks_that_cannot_be_meant_are_refused():
    with pytest.raises(ValueError, match="2 losses are negative: give negative log-likelihoods"):
        stats.corpus_perplexity([-10.0, -20.0], [5, 9])
    with pytest.raises(ValueError, match="mask entries must be 0 or 1"):
        stats.masked_perplexity([1.0, 2.0], [1, -100])
    with pytest.raises(ValueError, match="not finite"):
        stats.masked_perplexity([1.0, 2.0], [1, math.nan])
    with pytest.raises(ValueError, match=r"shapes \(3, 2\) and \(2, 3\)"):
        stats.masked_perplexity([[1.0] * 3] * 2, [[1, 0]] * 3)


def test_a_perplexity_beyond_floating_point_is_none():
    found = stats.corpus_perplexity([1000.0], [1], [3000])
    assert (found.value, found.nll_per_unit) == (None, 1000)
    assert found.byte_perplexity == pytest.approx(math.exp(1 / 3))
    assert any("beyond floating point" in warning for warning in found.warnings)
    wide = stats.corpus_perplexity([120.0, 20.0], [1, 9])
    assert wide.low is not None
    assert wide.high is None


def test_bits_of_a_log_probability_are_refused():
    with pytest.raises(ValueError, match="nll is negative"):
        stats.bits_per_byte(-10.0, 5)
    assert stats.bits_per_byte(-1e-9, 5) == pytest.approx(0, abs=1e-9)
