"""Guards against the blow-ups of bare maps: each is shown to fail without its guard.

Samples that are separated, or of more parameters than rows, from populations that are not: bare
maps become certain, and the first surprise costs more than all they had gained. Judged on many
new rows of the same task, for which the log loss of the truth is known.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from calibrators.multiclass_oracles import log_loss as rows_loss, overconfident
from scipy.special import expit
from sklearn.base import clone

from veridical import log_loss
from veridical.calibrators._logistic.beta import BetaCalibrator
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._logistic.quadratic import QuadraticCalibrator
from veridical.calibrators._logistic.spline import SplineCalibrator
from veridical.calibrators._softmax.dirichlet import DirichletCalibrator
from veridical.calibrators._softmax.linear import MatrixCalibrator, VectorCalibrator
from veridical.calibrators._softmax.structured import (
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
)
from veridical.calibrators._softmax.temperature import EnsembleTemperatureCalibrator
from veridical.calibrators._steps.histogram import HistogramCalibrator, SimplexHistogramCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._steps.near_isotonic import NearIsotonicCalibrator
from veridical.calibrators._wrappers.mixtures import MixingCalibrator
from veridical.calibrators._wrappers.reductions import OneVsRestCalibrator
from veridical.calibrators._wrappers.scaling_binning import ScalingBinningCalibrator

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")

OFF = {"penalty": None}
RIDGES = {
    "platt": (PlattCalibrator(), {"penalty": None, "smooth_targets": False}),
    "platt with targets": (
        PlattCalibrator(penalty=None, smooth_targets=True),
        {"smooth_targets": False},
    ),
    "beta": (BetaCalibrator(), OFF),
    "quadratic": (QuadraticCalibrator(), OFF),
    "spline": (SplineCalibrator(), OFF),
}
MATRICES = {
    "matrix": (MatrixCalibrator(), {"penalty": None, "pseudo_rows": 0}),
    "dirichlet": (DirichletCalibrator(), {"penalty": None, "pseudo_rows": 0}),
    "structured matrix": (StructuredMatrixCalibrator(), {"strength": 0, "pseudo_rows": 0}),
}
VECTORS = {
    "vector": (VectorCalibrator(), {"penalty": None, "pseudo_rows": 0}),
    "structured vector": (StructuredVectorCalibrator(), {"strength": 0, "pseudo_rows": 0}),
}
CERTAIN = {
    "isotonic": IsotonicCalibrator(),
    "centred isotonic": IsotonicCalibrator(centered=True),
    "histogram": HistogramCalibrator(n_bins=30),
    "near-isotonic": NearIsotonicCalibrator(),
}


def rare_positives(n, rng):
    """One in 40 rows positive, 6 deviations apart: log odds 6 x - ln 39; predicted 0.4 of that."""
    y = (rng.random(n) < 1 / 40).astype(int)
    x = rng.normal(np.where(y == 1, 3, -3), 1)
    return expit(0.4 * (6 * x - math.log(39))), y


@pytest.mark.parametrize("name", RIDGES)
def test_ridge_with_few_positives_of_many_rows(name):
    """Of 1,390 rows some 35 are positive, and most such samples are separated.

    The truth has a log loss of about 0.002 here. Unguarded maps become steps at the gap of the
    sample, and each row of a new sample on the wrong side of it costs dozens of nats.
    """
    guarded, off = RIDGES[name]
    rng = np.random.default_rng(0)
    p_new, y_new = rare_positives(200_000, rng)
    before = log_loss(y_new, p_new)
    change = {"guarded": [], "bare": []}
    for _ in range(6):
        p, y = rare_positives(1390, rng)
        for kind, options in (("guarded", {}), ("bare", off)):
            fitted = clone(guarded).set_params(**options).fit(p, y)
            change[kind].append(log_loss(y_new, fitted.predict_proba(p_new)) - before)
    assert max(change["guarded"]) < 0.001
    assert max(change["bare"]) > max(0.003, 5 * max(change["guarded"]))


@pytest.mark.parametrize("name", MATRICES)
def test_ridge_with_more_parameters_than_rows(name):
    """12 classes, 120 rows, 156 parameters."""
    guarded, off = MATRICES[name]
    posterior, y, p = overconfident(2120, 12, seed=12)
    few, new = slice(0, 120), slice(120, None)
    best, raw = rows_loss(posterior[new], y[new]), rows_loss(p[new], y[new])
    bare = clone(guarded).set_params(**off).fit(p[few], y[few])
    assert log_loss(y[new], bare.predict_proba(p[new])) > raw + 1
    kept = clone(guarded).fit(p[few], y[few])
    assert log_loss(y[new], kept.predict_proba(p[new])) < (best + raw) / 2


@pytest.mark.parametrize("name", VECTORS)
def test_ridge_with_as_many_rows_as_classes(name):
    """20 classes, 30 rows, 39 parameters: some classes were never seen."""
    guarded, off = VECTORS[name]
    labels = list(range(20))
    _, y, p = overconfident(2030, 20, seed=13)
    few, new = slice(0, 30), slice(30, None)
    assert len(np.unique(y[few])) < 20
    raw = rows_loss(p[new], y[new])
    bare = clone(guarded).set_params(labels=labels, **off).fit(p[few], y[few])
    assert log_loss(y[new], bare.predict_proba(p[new]), labels=labels) > raw + 0.5
    kept = clone(guarded).set_params(labels=labels).fit(p[few], y[few])
    assert log_loss(y[new], kept.predict_proba(p[new]), labels=labels) < raw


@pytest.mark.parametrize("name", CERTAIN)
def test_imagined_rows_keep_one_map_a_class_finite(name):
    """One-vs-rest maps that never saw a class at a score say 0, and the class comes later."""
    _, y, p = overconfident(6000, 10, seed=14)
    few, new = slice(0, 1000), slice(1000, None)
    guarded = OneVsRestCalibrator(clone(CERTAIN[name]))
    bare = OneVsRestCalibrator(clone(CERTAIN[name]).set_params(laplace=0))
    kept = guarded.fit(p[few], y[few]).predict_proba(p[new])
    assert log_loss(y[new], kept) < rows_loss(p[new], y[new])
    assert log_loss(y[new], bare.fit(p[few], y[few]).predict_proba(p[new])) == math.inf


def test_imagined_rows_of_cells_of_the_simplex():
    _, y, p = overconfident(6000, 3, seed=15)
    few, new = slice(0, 600), slice(600, None)
    guarded = SimplexHistogramCalibrator().fit(p[few], y[few])
    bare = SimplexHistogramCalibrator(laplace=0).fit(p[few], y[few])
    assert log_loss(y[new], guarded.predict_proba(p[new])) < rows_loss(p[new], y[new])
    assert log_loss(y[new], bare.predict_proba(p[new])) == math.inf


def test_ridge_of_the_line_within_scaling_binning():
    """Separated rows: without a guard a bin's mean is certain to many digits."""
    rng = np.random.default_rng(16)
    y = np.repeat([0, 1], 45)
    p = expit(rng.normal(np.where(y == 1, 4, -4), 0.5))
    wrong = np.array([p.min(), p.max()])
    guarded = ScalingBinningCalibrator().fit(p, y).predict_proba(wrong)
    bare = ScalingBinningCalibrator(penalty=None, smooth_targets=False).fit(p, y)
    # One mistake among n rows should not cost more than some ln n; here n = 90, twice for luck.
    assert log_loss([1, 0], guarded) < 2 * math.log(90)
    assert log_loss([1, 0], bare.predict_proba(wrong)) > 2 * math.log(90)


def test_weights_of_three_temperatures_bound_the_loss():
    """Certain and always right when fitted; then a class never seen beside the certain one."""
    z = np.array([[0.0, 900.0, -900.0], [900.0, 0.0, -900.0]] * 10)
    fitted = EnsembleTemperatureCalibrator(input="logit", labels=[0, 1, 2])
    kept = fitted.fit(z, z.argmax(axis=1)).predict_proba([[1e6, 0.0, -1e6]])
    # One pseudo row among 21 and three classes: a share of at least 1 / 63 for each.
    assert kept.min() >= 1 / 63 - 1e-12


def test_a_given_share_of_the_uniform_distribution_guards_any_map():
    _, y, p = overconfident(6000, 10, seed=17)
    few, new = slice(0, 1000), slice(1000, None)
    bare = OneVsRestCalibrator(IsotonicCalibrator(laplace=0))
    mixed = MixingCalibrator(bare, mix=0.01).fit(p[few], y[few]).predict_proba(p[new])
    assert mixed.min() == pytest.approx(0.001, rel=1e-9)  # m / K of a class said to be impossible
    assert log_loss(y[new], bare.fit(p[few], y[few]).predict_proba(p[new])) == math.inf


@pytest.mark.parametrize("factor", [1.0, 50.0])
def test_saturated_logits_of_many_classes(factor):
    """Logits beyond what a softmax can show: guards bound the loss whatever the scale."""
    rng = np.random.default_rng(18)
    z = rng.normal(size=(600, 8)) * 4 * factor
    y = np.where(rng.random(600) < 0.3, rng.integers(8, size=600), z.argmax(axis=1))
    for guarded, _ in (*MATRICES.values(), *VECTORS.values()):
        fitted = clone(guarded).set_params(input="logit").fit(z[:300], y[:300])
        assert log_loss(y[300:], fitted.predict_proba(z[300:])) < math.log(8)  # of no information
