"""Scaling-binning against the authors' package and against its three steps written out."""

import numpy as np
import pytest
from oracles import quantile_bins

from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._steps.scaling_binning import ScalingBinningCalibrator
from veridical.exceptions import InvalidInputError, VeridicalWarning

UNGUARDED = {"smooth_targets": False, "penalty": None}


def test_equals_the_package_of_the_authors():
    """uncertainty-calibration 0.1.4: get_platt_scaler, get_equal_bins, get_discrete_calibrator."""
    p = [0.05, 0.1, 0.15, 0.2, 0.3, 0.35, 0.45, 0.5, 0.6, 0.7, 0.8, 0.95]
    y = [0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1]
    calibrator = ScalingBinningCalibrator(n_bins=3, **UNGUARDED).fit(p, y)
    recorded = [0.21905799834598802, 0.4976528204037498, 0.78321581790468]
    got = calibrator.predict_proba([0.02, 0.4, 0.9])[:, 1]
    np.testing.assert_allclose(got, recorded, atol=1e-4)  # theirs stops at a tolerance of 1e-4


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_means_of_the_scaled_scores_in_each_bin(weighted):
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p**2).astype(int)
    w = rng.gamma(1.0, size=300) if weighted else np.ones(300)
    scaled = PlattCalibrator().fit(p, y, w).predict_proba(p)[:, 1]
    cells = np.array(quantile_bins(scaled, 7, w))
    means = np.bincount(cells, w * scaled) / np.bincount(cells, w)
    got = ScalingBinningCalibrator(n_bins=7).fit(p, y, w).predict_proba(p)[:, 1]
    np.testing.assert_allclose(got, means[cells], atol=1e-12)


def test_there_are_as_many_values_as_bins():
    rng = np.random.default_rng(1)
    p = rng.random(1000)
    y = (rng.random(1000) < p).astype(int)
    calibrator = ScalingBinningCalibrator(n_bins="cbrt").fit(p, y)
    assert len(np.unique(calibrator.predict_proba(p)[:, 1])) == 10


def test_scores_that_rank_the_wrong_way_are_turned_round():
    rng = np.random.default_rng(2)
    z = rng.normal(size=500)
    y = (rng.random(500) < 1 / (1 + np.exp(2 * z))).astype(int)
    with pytest.warns(VeridicalWarning, match="lower where 1 happened"):
        calibrator = ScalingBinningCalibrator(input="score", n_bins=5).fit(z, y)
    assert (np.diff(calibrator.predict_proba(np.sort(z))[:, 1]) <= 0).all()


@pytest.mark.parametrize("option", [{"n_bins": 0}, {"penalty": -1}, {"smooth_targets": 2}])
def test_bad_options_are_refused(option):
    with pytest.raises(InvalidInputError, match=f"`{next(iter(option))}` must be"):
        ScalingBinningCalibrator(**option).fit([0.2, 0.8], [0, 1])
