"""What limits suppose of rows, pairs and clusters that are not seen."""

import numpy as np
import pytest
from scipy import stats

from veridical import BrierScore, LogScore
from veridical._core.sample import BinarySample
from veridical.inference._intervals.bounded import Masses, Support, mean_pvalue
from veridical.inference._intervals.rows import design_effect
from veridical.inference._intervals.support import difference_support


def pair_of(p, q, y):
    return tuple(BinarySample(y=y, p=each) for each in (p, q))


def log_losses(p):
    return np.column_stack([-np.log(1 - p), -np.log(p)])


def test_a_row_not_seen_is_as_bad_as_all_but_half_a_surprise_of_the_more_confident_model():
    rng = np.random.default_rng(0)
    p = rng.random(40)
    q = p**1.5
    y = (p > 0.5).astype(np.int8)  # no surprise is seen
    at = np.arange(40)
    change = log_losses(p) - log_losses(q)
    ends = difference_support(LogScore(), pair_of(p, q, y), change[at, y])
    # Written out: each row has one outcome that is less likely, as frequent as the root of it.
    surprises = []
    for row in range(40):
        least = np.minimum([1 - p[row], p[row]], [1 - q[row], q[row]])
        outcome = int(np.argmin(least))
        surprises.append((change[row, outcome], np.sqrt(least[outcome])))
    surprises.sort()
    total = sum(chance for _, chance in surprises)
    beyond, passed = min(0.5, total / 20), 0.0
    inside = []
    for value, chance in surprises:
        passed += chance
        inside += [value] if beyond <= passed and passed - chance < total - beyond else []
    likely = change[at, np.minimum(log_losses(p), log_losses(q)).argmin(axis=1)]
    seen = [*change[at, y], *likely, inside[0], inside[-1]]
    assert ends == pytest.approx((min(seen), max(seen)))
    assert ends.highest < change.max()


@pytest.mark.parametrize("n", [30, 199, 200])
def test_few_rows_that_all_move_one_way_may_hide_one_that_moves_the_other(n):
    """0.15 instead of 0.3 costs 0.2325 if it happens, and saves 0.0675 if not."""
    p = np.full(n, 0.3)
    pair = pair_of(p, p / 2, np.zeros(n, dtype=np.int8))
    ends = difference_support(BrierScore(), pair, np.full(n, 0.0675))
    assert ends == pytest.approx((-0.2325, 0.2325 if n < 200 else 0.0675))


@pytest.mark.parametrize("n", [10, 60, 200])
def test_small_pvalues_are_no_zero(n):
    """One exponential variable exceeds the sum of n others with the chance 2^-n."""
    masses = Masses(np.full(n, -1.0), np.ones(n), np.ones(n))
    assert mean_pvalue(masses, Support(-1.0, 1.0)) == pytest.approx(2.0 ** (1 - n), rel=0.04)


def t_square(clusters):
    return stats.t(clusters - 1).ppf(0.975) ** 2 * clusters / (clusters - 1)


def test_clusters_have_two_more_pairs_that_go_together():
    """Sums 2, -2, 0, 0 of rows of size 1: 8 + 4 instead of 8 for independent rows."""
    away = np.array([1, 1, -1, -1, 1, -1, 1, -1.0])
    found = design_effect(away, 8.0, 8.0, np.repeat(np.arange(4), 2), 0.95)
    assert found == pytest.approx(1.5 * t_square(4) / t_square(8 / 1.5))


def test_few_clusters_with_all_of_the_variance_count_as_few():
    """Two of ten clusters differ: 3 (sum of squares)^2 / sum of fourth powers clusters, nearly."""
    away = np.zeros(100)
    away[:4], away[10:14] = 1, -1
    found = design_effect(away, 8.0, 100.0, np.repeat(np.arange(10), 10), 0.95)
    ratio = (2 * 16 + 4) / 8
    told = 3 * 32**2 / (2 * 4**4)
    alike = (ratio - 1) / (10 - 1)  # of ten rows that are one
    number = 10 * (told / 10) ** (1 - alike)
    assert found == pytest.approx(ratio * t_square(number) / t_square(100 / ratio))


def test_rows_alone_count_in_full_and_copies_as_one():
    away = np.random.default_rng(1).normal(size=30)
    own = float(away @ away)
    assert design_effect(away, own, 30.0, np.arange(30), 0.95) == pytest.approx(1)
    rows = np.repeat(np.arange(30), 4)
    copies = design_effect(away[rows], 4 * own, 120.0, rows, 0.95)
    assert copies == pytest.approx(4)


def test_where_nothing_varies_pairs_may():
    clusters = np.repeat(np.arange(10), [2] * 5 + [8] * 5)
    found = design_effect(np.zeros(50), 0.0, 50.0, clusters, 0.95)
    assert 5 < found < 5 * t_square(5) / t_square(50 / 5)
    assert design_effect(np.zeros(50), 0.0, 50.0, np.arange(50), 0.95) == 1
