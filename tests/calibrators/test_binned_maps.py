"""What non-parametric maps have in common: guards, weights, order of rows, odd data, text."""

import json
import math

import numpy as np
import pytest
from sklearn.base import clone

from veridical.calibrators._base.persistence import encode
from veridical.calibrators._steps.bbq import BBQCalibrator
from veridical.calibrators._steps.density import DensityCalibrator
from veridical.calibrators._steps.histogram import HistogramCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._steps.near_isotonic import NearIsotonicCalibrator
from veridical.calibrators._steps.venn_abers import VennAbersCalibrator
from veridical.calibrators._wrappers.scaling_binning import ScalingBinningCalibrator

MAPS = {
    "quantile": HistogramCalibrator(),
    "uniform": HistogramCalibrator(strategy="uniform"),
    "kmeans": HistogramCalibrator(strategy="kmeans"),
    "isotonic": IsotonicCalibrator(),
    "centred": IsotonicCalibrator(centered=True),
    "strict": IsotonicCalibrator(strict=True),
    "near isotonic": NearIsotonicCalibrator(),
    "bbq": BBQCalibrator(),
    "scaling binning": ScalingBinningCalibrator(),
    "venn-abers": VennAbersCalibrator(),
    "cross venn-abers": VennAbersCalibrator(cv=2),
    "density": DensityCalibrator(),
    "monotone density": DensityCalibrator(monotone=True),
}
CERTAIN = ["quantile", "uniform", "kmeans", "isotonic", "centred", "near isotonic", "density"]


def rows(n=200, seed=0):
    rng = np.random.default_rng([seed, n])
    p = rng.random(n).round(2)
    return p, (rng.random(n) < p**1.5).astype(int), rng


def log_loss(p, y):
    return -np.log(np.where(y == 1, p, 1 - p)).mean()


@pytest.mark.parametrize("name", CERTAIN)
def test_guard_keeps_the_log_loss_finite(name):
    # Perfectly separated when fitted; later one row of each class is on the wrong side.
    p, y = np.array([0.1, 0.15, 0.2, 0.8, 0.85, 0.9] * 5), np.array([0, 0, 0, 1, 1, 1] * 5)
    new, later = np.array([0.1, 0.9]), np.array([1, 0])
    guarded = clone(MAPS[name]).fit(p, y).predict_proba(new)[:, 1]
    assert math.isfinite(log_loss(guarded, later))
    bare = clone(MAPS[name]).set_params(laplace=0).fit(p, y).predict_proba(new)[:, 1]
    with np.errstate(divide="ignore"):
        assert log_loss(bare, later) == math.inf


@pytest.mark.parametrize("name", [name for name in MAPS if name not in CERTAIN])
def test_other_maps_are_never_certain(name):
    p, y = np.array([0.1, 0.2, 0.8, 0.9] * 5), np.array([0, 0, 1, 1] * 5)
    got = clone(MAPS[name]).fit(p, y).predict_proba([0.0, 0.1, 0.9, 1.0])
    assert got.min() > 0


@pytest.mark.parametrize("name", [name for name in MAPS if name != "cross venn-abers"])
def test_frequency_weights_are_repetitions(name):
    p, y, rng = rows()
    w = rng.integers(1, 4, len(p))
    weighted = clone(MAPS[name]).set_params(weight_type="frequency").fit(p, y, w)
    repeated = clone(MAPS[name]).fit(np.repeat(p, w), np.repeat(y, w))
    new = np.linspace(0, 1, 101)
    np.testing.assert_allclose(weighted.predict_proba(new), repeated.predict_proba(new), atol=1e-7)


@pytest.mark.parametrize("name", ["quantile", "uniform", "kmeans", "isotonic", "centred"])
def test_importance_weights_are_repetitions_without_the_guard(name):
    p, y, rng = rows()
    w = rng.integers(1, 4, len(p))
    weighted = clone(MAPS[name]).set_params(laplace=0).fit(p, y, 0.1 * w)
    repeated = clone(MAPS[name]).set_params(laplace=0).fit(np.repeat(p, w), np.repeat(y, w))
    new = np.linspace(0, 1, 101)
    np.testing.assert_allclose(weighted.predict_proba(new), repeated.predict_proba(new), atol=1e-9)


@pytest.mark.parametrize("name", MAPS)
def test_importance_weights_have_no_scale_and_zero_is_removal(name):
    p, y, rng = rows()
    w = rng.gamma(1.0, size=len(p))
    w[::7] = 0
    new = np.linspace(0, 1, 51)
    one = clone(MAPS[name]).fit(p, y, w).predict_proba(new)
    kept = w > 0
    other = clone(MAPS[name]).fit(p[kept], y[kept], 7 * w[kept]).predict_proba(new)
    np.testing.assert_allclose(one, other, atol=1e-7)


@pytest.mark.parametrize("name", MAPS)
def test_order_of_rows_does_not_matter(name):
    p, y, rng = rows()
    order = rng.permutation(len(p))
    new = np.linspace(0, 1, 51)
    one = clone(MAPS[name]).fit(p, y).predict_proba(new)
    other = clone(MAPS[name]).fit(p[order], y[order]).predict_proba(new)
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    ("p", "y"),
    [
        ([0.3], [1]),
        ([0.2, 0.4, 0.9], [0, 0, 0]),
        ([0.2, 0.4, 0.9], [1, 1, 1]),
        ([0.5] * 6, [0, 1, 0, 1, 1, 1]),
        ([0.0, 0.0, 1.0, 1.0], [0, 1, 0, 1]),
        ([0.0, 1.0], [0, 1]),
        ([0.0, 1e-300, 5e-324, 1.0], [0, 1, 0, 1]),
        (np.nextafter([0.5, 0.5, 0.5], [0, 0.5, 1]), [0, 1, 0]),
    ],
    ids=["one row", "no positive", "no negative", "equal", "extremes", "two", "tiny", "neighbours"],
)
def test_odd_data_give_a_finite_map(name, p, y):
    calibrator = clone(MAPS[name]).set_params(labels=[0, 1])
    if name == "cross venn-abers" and len(p) == 1:
        pytest.skip("one row has no folds")
    got = calibrator.fit(p, y).predict_proba([0.0, 1e-320, 0.3, 0.5, 1.0])
    assert np.isfinite(got).all()
    assert got.min() >= 0
    assert got.max() <= 1


@pytest.mark.parametrize("name", MAPS)
def test_rows_by_the_million_as_weights(name):
    calibrator = clone(MAPS[name]).set_params(weight_type="frequency")
    calibrator.fit([0.2, 0.2, 0.7, 0.7], [0, 1, 0, 1], [3e6, 1e6, 1e6, 3e6])
    got = calibrator.predict_proba([0.2, 0.7])[:, 1]
    if name == "cross venn-abers":  # folds of one class each are as uncertain as can be
        assert np.isfinite(got).all()
        return
    # Guards, priors, and the share of a strict map, are far below a thousandth at this size.
    np.testing.assert_allclose(got, [0.25, 0.75], atol=1e-3)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("kind", ["logit", "score"])
def test_logits_and_scores_of_any_size_are_mapped(name, kind):
    rng = np.random.default_rng(3)
    z = rng.normal(scale=30, size=100)
    y = (rng.random(100) < 1 / (1 + np.exp(-z / 10))).astype(int)
    calibrator = clone(MAPS[name]).set_params(input=kind).fit(z, y)
    got = calibrator.predict_proba([-1e9, -1.0, 0.0, 1.0, 1e9])
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got.sum(axis=1), 1)


@pytest.mark.parametrize("name", MAPS)
def test_fitted_maps_are_plain_values(name):
    p, y, _ = rows(60)
    text = json.dumps(encode(clone(MAPS[name]).fit(p, y)))
    assert type(MAPS[name]).__name__ in text
