"""What a map gains on new rows: by hand, and against its own limits."""

import numpy as np
import pytest
from scipy.stats import norm

from veridical._core.numeric.optimism import corrected_gain, fit_error
from veridical.inference.intervals import Gains, IntervalOptions, Support, gain_interval

RNG = np.random.default_rng(0)
HELD = RNG.normal(0.02, 0.1, 80)
OWN = HELD + RNG.normal(0.03, 0.02, 80)


def options(level=0.95):
    return IntervalOptions("analytic", level)


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_folds_are_corrected_to_all_rows(n_folds):
    """A map of p parameters loses p / 2m fitted to m rows and gains as much in hindsight."""
    p, n, limit = 3, 200, 0.01
    held_out = limit - p / (2 * n * (n_folds - 1) / n_folds)
    hindsight = limit + p / (2 * n)
    found = corrected_gain(held_out, hindsight - held_out, n_folds)
    assert found == pytest.approx(limit - p / (2 * n), rel=1e-12)


def test_the_error_of_the_fit_is_that_of_a_chi_square():
    """Of p parameters: the variance 2 p of a chi-square, unless p^2 is less."""
    assert fit_error(8 / 300, 300) == pytest.approx(np.sqrt(16) / 300)
    assert fit_error(1 / 300, 300) == pytest.approx(1 / 300)


def test_normal_limits_by_hand():
    found = gain_interval(Gains(HELD, OWN, 5), options())
    optimism = np.mean(OWN - HELD)
    estimate = HELD.mean() + optimism / 9
    half = norm.ppf(0.975) * np.hypot(HELD.std() / np.sqrt(80), optimism)
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert (found.low, found.high) == pytest.approx((estimate - half, estimate + half), rel=1e-9)
    assert found.pvalue == pytest.approx(2 * norm.sf(estimate / (half / norm.ppf(0.975))), rel=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("support", [None, Support(-0.5, 0.7)])
@pytest.mark.parametrize("shift", [0.0, 0.03, 0.08])
def test_limits_leave_out_zero_where_the_pvalue_says_so(sign, support, shift):
    held, own = sign * (HELD + shift), sign * (HELD + shift) + 0.01
    if support is not None and sign < 0:
        support = Support(-support.highest, -support.lowest)
    gains = Gains(held, own, 5, smooth=True)
    p = gain_interval(gains, options(), support=support).pvalue
    if p < 1:
        inner, outer = (
            gain_interval(gains, options(1 - q), support=support) for q in (p * 1.02, p * 0.98)
        )
        assert inner.low > 0 or inner.high < 0
        assert outer.low < 0 < outer.high


def test_hindsight_that_is_no_better_widens_nothing():
    plain = gain_interval(Gains(HELD, HELD, 5), options())
    worse = gain_interval(Gains(HELD, HELD - 0.1, 5), options())
    assert plain == worse
    assert plain.estimate == pytest.approx(HELD.mean())


def test_nothing_gained_is_no_evidence():
    found = gain_interval(Gains(np.zeros(50), np.zeros(50), 5), options(), support=Support(-1, 1))
    assert (found.estimate, found.pvalue) == (0, 1)
    assert found.high == -found.low == pytest.approx(1 - 0.025 ** (1 / 50))  # Clopper and Pearson


def test_frequencies_are_repetitions():
    count = RNG.integers(1, 4, 80)
    weighted = Gains(HELD, OWN, 5, count.astype(float), by_frequency=True, smooth=True)
    repeated = Gains(np.repeat(HELD, count), np.repeat(OWN, count), 5, smooth=True)
    support = Support(-1, 1)
    one, two = (gain_interval(g, options(), support=support) for g in (weighted, repeated))
    assert tuple(one) == pytest.approx(tuple(two), rel=1e-6)
