"""Fake classifiers of one accuracy, each miscalibrated in its own way."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.simulation import (
    ClassPowerMap,
    DirichletFakeClassifier,
    FakeSample,
    IdentityMap,
    PowerMap,
    SimplexMap,
    TemperatureMap,
    TopComponentMap,
    fake_classifier_for,
)
from veridical.simulation._dirichlet_fake import draw_log_dirichlet

ACCURACY = 0.8
DISTORTIONS = {
    "calibrated": "what is reported is true",
    "over-confident": "power 2 of every component, temperature 1/2",
    "under-confident": "temperature 2",
    "by class": "powers from 1/2 for the first class to 2 for the last; moves the largest",
    "top only": "1 - (1 - t)^2 in place of the largest component t",
}
BY_LABEL = "Dirichlet by label"


def distorted(kind: str, n_classes: int) -> DirichletFakeClassifier:
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
    alpha = fake_classifier_for(ACCURACY, 0.0, n_classes=n_classes).alpha
    maps: dict[str, SimplexMap] = {
        "calibrated": IdentityMap(),
        "over-confident": PowerMap(2.0),
        "under-confident": TemperatureMap(2.0),
        "by class": ClassPowerMap(np.geomspace(0.5, 2.0, n_classes)),
        "top only": TopComponentMap(_surer, preserves_argmax=True, injective=True),
    }
    return DirichletFakeClassifier(alpha, map=maps[kind])


def _surer(top: FloatArray) -> FloatArray:
    return 1 - (1 - top) ** 2


def draw(kind: str, n_classes: int, n: int, rng: np.random.Generator) -> FakeSample:
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
    return FakeSample(y, np.exp(log_c), truth)


def _label_parameters(n_classes: int) -> FloatArray:
    """Parameters for each label: its own class weighs most, and the next one more than others."""
    own = np.eye(n_classes)
    return 0.3 + 1.2 * own + 0.4 * np.roll(own, 1, axis=1)
