import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import stats

verdicts = st.sampled_from(["A", "B", "tie"])


@given(verdicts, verdicts)
def test_a_side_wins_only_where_both_games_say_so(first, second):
    assert stats.combine_swapped(first, second) == (first if first == second else "tie")
    score = stats.combine_swapped(first, second, "half")
    assert score == 1 - stats.combine_swapped(
        *({"A": "B", "B": "A"}.get(v, v) for v in (first, second)), "half"
    )


@pytest.mark.parametrize("odd", [None, "error", "invalid", "C"])
def test_an_invalid_verdict_is_an_error_and_no_tie(odd):
    assert stats.combine_swapped("A", odd) == "error"
    assert stats.combine_swapped(odd, "tie", "half") == "error"


def test_seats_are_mapped_back_to_answers():
    found = stats.judge_swap_report(
        [("A", "B"), ("A", "A"), ("B", "B"), ("tie", "tie"), ("B", "A"), ("A", None)]
    )
    shares = {name: interval.value for name, interval in found.outcomes.items()}
    assert shares == pytest.approx(
        {"A": 1 / 6, "B": 1 / 6, "tie": 1 / 6, "inconsistent": 2 / 6, "error": 1 / 6}
    )
    assert found.consistency.value == pytest.approx(3 / 5)
    assert found.consistency.missing == {"error in a game": 1}
    assert found.first_seat.value == 0.5
    assert found.win_rate.value == pytest.approx((1 + 0.5 + 0.5 + 0.5 + 0) / 5)


def test_a_judge_that_follows_the_seat_is_shown_to():
    found = stats.judge_swap_report([("A", "A")] * 30 + [("A", "B")] * 70)
    assert found.first_seat.value == 1
    assert found.first_seat.low > 0.85
    assert stats.judge_swap_report([("A", "B")]).first_seat.value is None
    with pytest.raises(ValueError, match="0 verdicts"):
        stats.judge_swap_report([])
    with pytest.raises(ValueError, match="not 'C'"):
        stats.judge_swap_report([("A", "C")])


def judged(random, n, bias=0.15):
    """Human scores, and a judge that is related to them but too kind."""
    human = (random.random(n) < 0.6).astype(float)
    return human, np.clip(0.7 * human + bias + random.normal(0, 0.15, n), 0, 1)


def test_few_human_labels_take_the_bias_out_of_many_verdicts():
    random = np.random.default_rng(0)
    covered, better, naive = 0, 0, []
    for _ in range(300):
        human, judge = judged(random, 1_000)
        found = stats.ppi_mean(human[:100], judge[:100], judge[100:])
        covered += found.low <= 0.6 <= found.high
        better += found.width < found.human_only.width
        naive.append(found.judge_mean)
    assert 0.92 <= covered / 300 <= 0.98
    assert better == 300
    assert abs(np.mean(naive) - 0.6) > 0.02


@given(st.floats(0, 1), st.integers(0, 1_000))
def test_any_weight_keeps_the_formula(weight, seed):
    random = np.random.default_rng(seed)
    human, judge = judged(random, 60)
    found = stats.ppi_mean(human[:20], judge[:20], judge[20:], weight)
    assert found.value == pytest.approx(
        weight * judge[20:].mean() + (human[:20] - weight * judge[:20]).mean()
    )
    best = stats.ppi_mean(human[:20], judge[:20], judge[20:])
    assert 0 <= best.weight <= 1


def test_a_useless_judge_is_not_believed():
    random = np.random.default_rng(1)
    found = stats.ppi_mean(random.integers(0, 2, 200), random.random(200), random.random(5_000))
    assert found.weight < 0.3
    assert found.n_effective == pytest.approx(200, rel=0.1)
    assert stats.ppi_mean([1, 0, 1], [0.5] * 3, [0.5] * 9).weight == 0


def test_labels_that_were_chosen_are_refused():
    with pytest.raises(ValueError, match="no random sample"):
        stats.ppi_mean([1, 0], [1, 0], [1, 0], random_sample=False)
    with pytest.raises(ValueError, match="at least 2 labelled"):
        stats.ppi_mean([1], [1], [1, 0])


def test_a_known_error_rate_is_undone():
    found = stats.rogan_gladen(460, 1_000, (180, 200), (160, 200))
    assert found.value == pytest.approx((0.46 + 0.8 - 1) / 0.7)
    assert found.low < found.value < found.high
    assert found.width > 2 * stats.proportion_interval(460, 1_000).width * 0.9
    perfect = stats.rogan_gladen(460, 1_000, (200, 200), (200, 200))
    assert perfect.value == pytest.approx(0.46)


def test_the_corrected_rate_is_covered():
    random = np.random.default_rng(2)
    covered = 0
    for _ in range(1_000):
        positives = int(random.binomial(500, 0.3 * 0.85 + 0.7 * 0.1))
        found = stats.rogan_gladen(
            positives, 500, (int(random.binomial(80, 0.85)), 80), (int(random.binomial(80, 0.9)), 80)
        )
        covered += found.low <= 0.3 <= found.high
    assert covered / 1_000 >= 0.93


def test_a_judge_no_better_than_a_coin_corrects_nothing():
    with pytest.raises(ValueError, match="no better than a coin"):
        stats.rogan_gladen(5, 10, (1, 2), (1, 2))
    with pytest.raises(ValueError, match="more hits than trials"):
        stats.rogan_gladen(11, 10, (1, 2), (2, 2))


def test_swapped_rows_of_another_length_or_kind_are_named():
    with pytest.raises(ValueError, match="rows of another length"):
        stats.judge_swap_report([("A", "B", "A")])
    with pytest.raises(ValueError, match="not 'x', 1"):
        stats.judge_swap_report([("A", 1), ("A", "x")])
