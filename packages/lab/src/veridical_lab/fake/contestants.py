"""Calibrators that meet on fake classifiers, and what is left of the error after each.

Fake classifiers of one accuracy, each miscalibrated in its own way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical import calibrators as maps, simulation
from veridical.calibrators import Calibrator
from veridical.selection import AutoCalibrator
from veridical.simulation.core import (
    GROUPS,
    GapBins,
    class_gaps,
    confidence_gap,
    cross_fitted_error,
    draw_log_dirichlet,
    top_truth,
)
from veridical_lab.arrays import FloatArray

_STRENGTHS = (1.0, 10.0, 100.0, 1000.0)
_LEAST = 1e-12  # a probability of zero would cost infinitely much if it were wrong
_BINS = 64  # of scores that report about the same, for errors given a score

# Of two classes; with more, each is fitted to one class against the rest.
_ONE_CLASS: dict[str, Callable[[], Calibrator]] = {
    "Platt": maps.PlattCalibrator,
    "beta": maps.BetaCalibrator,
    "quadratic": maps.QuadraticCalibrator,
    "spline": maps.SplineCalibrator,
    "isotonic": maps.IsotonicCalibrator,
    "near-isotonic": maps.NearIsotonicCalibrator,
    "Venn-Abers": maps.VennAbersCalibrator,
    "histogram": maps.HistogramCalibrator,
    "BBQ": maps.BBQCalibrator,
    "scaling-binning": maps.ScalingBinningCalibrator,
    "density": maps.DensityCalibrator,
}
_ANY_CLASSES: dict[str, Callable[[], Calibrator]] = {
    "none": maps.IdentityCalibrator,
    "temperature": maps.TemperatureCalibrator,
    "ensemble temperature": maps.EnsembleTemperatureCalibrator,
    "vector": maps.VectorCalibrator,
    "Dirichlet": maps.DirichletCalibrator,
    "Dirichlet, no penalty": lambda: maps.DirichletCalibrator(penalty=None, pseudo_rows=0),
    "Dirichlet, tuned penalty": lambda: tuned_dirichlet(),
    "structured vector": maps.StructuredVectorCalibrator,
    "structured matrix": maps.StructuredMatrixCalibrator,
    "temperature by predicted class": lambda: maps.ClassConditionalCalibrator(
        maps.TemperatureCalibrator()
    ),
    "temperature of the top": lambda: maps.ConfidenceReducedCalibrator(
        maps.TemperatureCalibrator()
    ),
    "simplex histogram": maps.SimplexHistogramCalibrator,
}
_STRUCTURED = ("structured vector", "structured matrix")
PARAMETRIC = ("temperature", "vector", "Dirichlet", *_STRUCTURED, "Platt", "beta", "quadratic")
_OF_SETS = ("histogram", "BBQ", "density", "simplex histogram")
NON_PARAMETRIC = ("isotonic", "near-isotonic", "Venn-Abers", *_OF_SETS)
_DIRICHLET = ("Dirichlet", "Dirichlet, no penalty")
QUICK = ("none", "temperature", *_DIRICHLET, _STRUCTURED[1], "beta", "isotonic", "histogram")
_MOST_CELLS = 3  # classes from which bins of the whole simplex are too many to hold rows


def tuned_dirichlet() -> AutoCalibrator:
    """Return Dirichlet calibration whose penalty is chosen on rows held out, as in its source.

    Predictions are left as they are where no penalty does better than that.
    """
    candidates = {f"{s:g}": maps.DirichletCalibrator(strength=s) for s in _STRENGTHS}
    return AutoCalibrator(strategy="select", candidates=candidates)


def contestants(n_classes: int, *, quick: bool) -> dict[str, Calibrator]:
    """Return a fresh calibrator of every kind that applies to so many classes.

    Examples
    --------
    >>> "simplex histogram" in contestants(10, quick=False)
    False
    >>> contestants(10, quick=True)["isotonic"]
    OneVsRestCalibrator(calibrator=IsotonicCalibrator())
    """
    found = {name: make() for name, make in _ANY_CLASSES.items()}
    for name, make in _ONE_CLASS.items():
        found[name] = make() if n_classes == 2 else maps.OneVsRestCalibrator(make())
    if n_classes > _MOST_CELLS:
        del found["simplex histogram"]
    return {name: map_ for name, map_ in found.items() if not quick or name in QUICK}


def what_is_left(p: FloatArray, c: FloatArray) -> dict[str, float]:
    """Return the figures of reports `c` about a drawn truth `p`, both of shape (n, K).

    Labels are not needed, so neither is their noise. `distance` is the root of E |p - c|^2: what
    the Brier score exceeds that of the truth by, and zero for the best post-processing only.
    """
    each = len(p) // GROUPS
    c = np.maximum(c, _LEAST)
    return {
        "accuracy": float(top_truth(p, c).mean()),
        "ECE": _given_score(*confidence_gap(p, c), each),
        "classwise ECE": _given_score(*class_gaps(p, c), each),
        "distance": float(np.sqrt(np.mean(np.sum((p - c) ** 2, axis=1)))),
        "log loss": -float(np.mean(np.sum(p * np.log(c), axis=1))),
    }


def _given_score(z: FloatArray, d: FloatArray, each: int) -> float:
    bins = GapBins.by_quantiles(z, _BINS)
    sums = np.stack(
        [bins.sums(z[i * each :][:each], d[i * each :][:each]) / each for i in range(GROUPS)]
    )
    return cross_fitted_error(sums)[0]


ACCURACY = 0.8
DISTORTIONS = {
    "calibrated": "what is reported is true",
    "over-confident": "power 2 of every component, temperature 1/2",
    "under-confident": "temperature 2",
    "by class": "powers from 1/2 for the first class to 2 for the last; moves the largest",
    "top only": "1 - (1 - t)^2 in place of the largest component t",
}
BY_LABEL = "Dirichlet by label"


def distorted(kind: str, n_classes: int) -> simulation.DirichletFakeClassifier:
    """Return a fake classifier whose truth has accuracy 0.8, distorted as the kind says.

    Parameters
    ----------
    kind : one of `DISTORTIONS`
    n_classes : number of classes

    Examples
    --------
    >>> fake = distorted("over-confident", 3)
    >>> round(fake.accuracy().value, 6), fake.map
    (0.8, PowerMap(exponent=2.0))
    """
    alpha = simulation.fake_classifier_for(ACCURACY, 0.0, n_classes=n_classes).alpha
    maps: dict[str, simulation.SimplexMap] = {
        "calibrated": simulation.IdentityMap(),
        "over-confident": simulation.PowerMap(2.0),
        "under-confident": simulation.TemperatureMap(2.0),
        "by class": simulation.ClassPowerMap(np.geomspace(0.5, 2.0, n_classes)),
        "top only": simulation.TopComponentMap(_surer, preserves_argmax=True, injective=True),
    }
    return simulation.DirichletFakeClassifier(alpha, map=maps[kind])


def _surer(top: FloatArray) -> FloatArray:
    return 1 - (1 - top) ** 2


def draw(kind: str, n_classes: int, n: int, rng: np.random.Generator) -> simulation.FakeSample:
    """Return rows of a distortion, or of `BY_LABEL`, with their truth.

    For the latter the label comes first: c given y = k is Dirichlet with parameters of its own, so
    that P(y | c) is proportional to prod_j c_j^(alpha_kj - 1) / B(alpha_k) by Bayes' rule, which is
    the matrix map of 003 eq. 5.
    """
    if kind != BY_LABEL:
        return distorted(kind, n_classes).sample(n, rng=rng)
    from scipy.special import gammaln, log_softmax

    alpha = _label_parameters(n_classes)
    y = rng.integers(n_classes, size=n)
    log_c = draw_log_dirichlet(alpha[y], n, rng)
    log_beta = gammaln(alpha).sum(axis=1) - gammaln(alpha.sum(axis=1))
    truth = np.exp(log_softmax(log_c @ (alpha - 1).T - log_beta, axis=1))
    return simulation.FakeSample(y, np.exp(log_c), truth)


def _label_parameters(n_classes: int) -> FloatArray:
    """Parameters for each label: its own class weighs most, and the next one more than others."""
    own = np.eye(n_classes)
    return 0.3 + 1.2 * own + 0.4 * np.roll(own, 1, axis=1)
