"""Scaling-binning against the authors' package and against its three steps written out."""

import numpy as np
import pytest
from oracles import quantile_bins

from veridical.calibrators import IdentityCalibrator, OneVsRestCalibrator
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._logistic.beta import BetaCalibrator
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._softmax.temperature import TemperatureCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._wrappers.scaling_binning import ScalingBinningCalibrator
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


def sample(n, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, (rng.random(n) < p**2).astype(int)


@pytest.mark.parametrize("base", [BetaCalibrator(), TemperatureCalibrator(), IsotonicCalibrator()])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_map_is_rounded_to_its_means(base, weighted):
    p, y = sample(400, 3)
    w = np.random.default_rng(4).gamma(1.0, size=400) if weighted else None
    scaled = base.fit(p, y, w).predict_proba(p)[:, 1]
    cells = np.array(quantile_bins(scaled, 6, np.ones(400) if w is None else w))
    means = np.bincount(cells, scaled if w is None else w * scaled) / np.bincount(cells, w)
    rounded = ScalingBinningCalibrator(n_bins=6, calibrator=base).fit(p, y, w)
    np.testing.assert_allclose(rounded.predict_proba(p)[:, 1], means[cells], atol=1e-12)


def test_a_platt_map_given_is_the_default():
    p, y = sample(200, 5)
    given = ScalingBinningCalibrator(calibrator=PlattCalibrator()).fit(p, y)
    default = ScalingBinningCalibrator().fit(p, y)
    np.testing.assert_array_equal(given.predict_proba(p), default.predict_proba(p))
    assert not hasattr(given, "scaling_")
    assert not hasattr(default, "part_")


def test_both_columns_and_a_positive_class_that_comes_first():
    p, y = sample(200, 6)
    names = np.array(["good", "bad"])[y]
    expected = ScalingBinningCalibrator(calibrator=BetaCalibrator()).fit(p, y).predict_proba(p)
    turned = ScalingBinningCalibrator(calibrator=BetaCalibrator(), pos_label="bad")
    found = turned.fit(p, names).predict_proba(p)  # columns: bad, good
    np.testing.assert_allclose(found[:, ::-1], expected, atol=1e-12)
    matrix = np.column_stack([1 - p, p])
    both = ScalingBinningCalibrator(calibrator=BetaCalibrator()).fit(matrix, y)
    np.testing.assert_allclose(both.predict_proba(matrix), expected, atol=1e-9)


def test_the_given_map_is_saved_with_it():
    p, y = sample(200, 7)
    fitted = ScalingBinningCalibrator(calibrator=BetaCalibrator()).fit(p, y)
    again = Calibrator.from_dict(fitted.to_dict())
    np.testing.assert_array_equal(again.predict_proba(p), fitted.predict_proba(p))
    stripped = fitted.to_dict()
    del stripped["fitted"]["part_"]
    with pytest.raises(InvalidInputError, match="part_"):
        Calibrator.from_dict(stripped)


def test_several_classes_go_one_against_the_rest():
    p = np.random.default_rng(8).dirichlet(np.ones(3), 300)
    rows = OneVsRestCalibrator(ScalingBinningCalibrator(n_bins=2, calibrator=IdentityCalibrator()))
    y = np.arange(300) % 3
    means = np.empty((300, 3))
    for k in range(3):
        cells = np.array(quantile_bins(p[:, k], 2, np.ones(300)))
        means[:, k] = (np.bincount(cells, p[:, k]) / np.bincount(cells))[cells]
    expected = means / means.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows.fit(p, y).predict_proba(p), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("option", "param"),
    [
        ({"calibrator": BetaCalibrator}, "calibrator"),
        ({"calibrator": 3}, "calibrator"),
        ({"calibrator": BetaCalibrator(), "penalty": 2.0}, "penalty"),
        ({"calibrator": BetaCalibrator(), "smooth_targets": True}, "smooth_targets"),
        ({"calibrator": BetaCalibrator(input="logit")}, "calibrator"),
    ],
)
def test_what_does_not_go_with_a_given_map_is_refused(option, param):
    with pytest.raises(InvalidInputError, match=f"`{param}` must be"):
        ScalingBinningCalibrator(**option).fit([0.2, 0.8], [0, 1])
