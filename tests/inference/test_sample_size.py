"""Planned numbers of rows against non-central chi-squares and normal formulas."""

import math

import numpy as np
import pytest

from veridical import InvalidInputError
from veridical.exceptions import VeridicalWarning
from veridical.inference._design.sample_size import detectable_error, required_sample_size
from veridical.results.inference import SampleSize

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("delta", [0.02, 0.05])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_one_bin_needs_what_a_test_of_a_proportion_needs(delta, power):
    """n = ((z_a sd_0 + z_b sd_1) / delta)^2, two-sided, for 0.5 against 0.5 + delta."""
    z = stats.norm.isf(0.025) * 0.5 + stats.norm.ppf(power) * math.sqrt(0.25 - delta**2)
    expected = (z / delta) ** 2
    found = required_sample_size(delta, power=power, y_prob=[0.5] * 10, n_bins=15)
    assert math.isclose(found.n, expected, rel_tol=0.05)


def test_equal_bins_need_what_a_chi_square_of_as_many_degrees_needs():
    """Two scores of equal variance and share: n delta^2 / variance is the non-centrality."""
    found = required_sample_size(0.01, y_prob=[0.45, 0.55], n_bins=2, power=0.9)
    beyond = stats.ncx2.sf(stats.chi2.isf(0.05, 2), 2, found.n * 0.01**2 / 0.2475)
    assert abs(beyond - 0.9) < 0.01


def test_equivalence_in_equal_bins_needs_what_two_chi_squares_need():
    """The central one is below the 5 % quantile of the one at the margin 80 % of the time."""
    found = required_sample_size(0.02, goal="equivalence", y_prob=[0.48, 0.52], n_bins=2)
    at_margin = stats.ncx2.ppf(0.05, 2, found.n * 0.02**2 / 0.2496)
    assert abs(stats.chi2.cdf(at_margin, 2) - 0.8) < 0.03


@pytest.mark.parametrize("goal", ["detect", "equivalence"])
@pytest.mark.parametrize("shape", ["even", "slope", "shift"])
def test_detectable_error_undoes_the_sample_size(goal, shape):
    for delta in (0.03, 0.06):
        n = required_sample_size(delta, goal=goal, shape=shape).n
        found = detectable_error(n, goal=goal, shape=shape)
        assert math.isclose(found.delta, delta, rel_tol=2e-3)
        assert found.delta <= delta * (1 + 1e-9)  # n is rounded up
        assert detectable_error(n - 1, goal=goal, shape=shape).delta > delta * (1 - 1e-9)


@pytest.mark.parametrize("goal", ["detect", "equivalence"])
def test_more_is_needed_for_smaller_errors_more_power_and_stricter_levels(goal):
    base = required_sample_size(0.05, goal=goal).n
    assert required_sample_size(0.04, goal=goal).n > base
    assert required_sample_size(0.05, goal=goal, power=0.9).n > base
    assert required_sample_size(0.05, goal=goal, level=0.01).n > base
    assert required_sample_size(0.05, goal=goal, n_bins=5).n < base


def test_many_predictions_stand_for_their_distribution():
    rng = np.random.default_rng(0)
    found = required_sample_size(0.05, y_prob=rng.random(200_000))
    assert math.isclose(found.n, required_sample_size(0.05).n, rel_tol=0.01)


def test_sparse_bins_are_doubted():
    p = np.concatenate([np.full(999, 0.5), [0.99]])
    with pytest.warns(VeridicalWarning, match="1 of 2 bins would hold fewer than 5 rows"):
        found = required_sample_size(0.1, y_prob=p)
    assert found.notes
    with pytest.warns(VeridicalWarning, match="15 of 15 bins"):
        detectable_error(60)


def test_result_reads_back_and_says_what_it_answers():
    found = required_sample_size(0.05)
    assert SampleSize.from_json(found.to_json()) == found
    assert f"{found.n:,} rows detect an error of 0.0500 (even gap)" in str(found)
    shown = required_sample_size(0.05, goal="equivalence")
    assert shown.shape is None
    assert "show calibration within 0.0500" in str(shown)
    assert shown.to_frame()["n"].to_list() == [shown.n]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: required_sample_size(0), "`delta` must be between 0 and 1"),
        (lambda: required_sample_size(0.1, power=1), "`power` must be between 0 and 1"),
        (lambda: required_sample_size(0.1, power=0.05), "`power` must be above `level`"),
        (lambda: required_sample_size(0.1, goal="find"), "`goal` must be one of"),
        (lambda: required_sample_size(0.1, shape="odd"), "`shape` must be one of"),
        (lambda: required_sample_size(0.1, n_bins="sqrt"), "`n_bins` must be a positive integer"),
        (lambda: required_sample_size(0.1, y_prob=[]), "`y_prob` must be of shape"),
        (lambda: required_sample_size(0.1, y_prob=[2.0]), "`y_prob` must be in"),
        (lambda: required_sample_size(0.4, shape="slope"), "`delta` must be an error a 'slope'"),
        (lambda: required_sample_size(1e-6), "within reach of 1e"),
        (lambda: detectable_error(1), "`n` must be an integer from 2"),
        (lambda: detectable_error(10.5), "`n` must be an integer"),
        (lambda: detectable_error(2, shape="slope"), "`n` must be enough for some error"),
    ],
)
def test_what_cannot_be_planned_is_refused(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
