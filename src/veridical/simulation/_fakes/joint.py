"""Fake classifiers of pairs: what a real one reports, with what its labels say is true there."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.simulation._fakes.exact import Nodes
from veridical.simulation._fakes.fake import FakeClassifier, check_map
from veridical.simulation._fakes.maps import IdentityMap, SimplexMap
from veridical.simulation._fakes.rows import weighted_rows

_LEAST = 1e-12  # of 1 - c, before its logarithm
_CALLER = "JointFakeClassifier"


@dataclass(frozen=True, eq=False)
class JointFakeClassifier(FakeClassifier):
    """Fake classifier of given pairs of rows: true p and reported c, y ~ p.

    Reports need not be a function of the truth, so any distortion can be copied: one that differs
    from class to class, or between kinds of rows. `fit_fake_classifier(method="joint")` makes it.

    Parameters
    ----------
    p_true : array-like of shape (n_rows, n_classes) or (n_rows,)
        True probabilities; one column is the probability of the second of two classes.
    y_prob : array-like of the same shape
        What is reported of each row.
    map : SimplexMap, default identity
        Applied to the reports: ``dataclasses.replace(fake, map=PowerMap(2))`` is the same
        classifier, more confident.
    sample_weight : array-like of shape (n_rows,), optional
        How often rows are drawn, in proportion; integer weight = repetition, zero = removal.

    Notes
    -----
    Accuracy, mean confidence, log loss and canonical error are finite sums, without error. ECE and
    classwise error are conditional on one number, which hardly two rows share: rows are pooled in
    about n^(1/3) bins of equal mass, and the error is the distance to twice as many.

    Examples
    --------
    Class 0 is reported right, class 1 is over-confident:

    >>> fake = JointFakeClassifier([[0.75, 0.25], [0.25, 0.75]], [[0.75, 0.25], [0.05, 0.95]])
    >>> fake.accuracy().value, round(fake.mean_confidence().value, 6)  # (.75 + .95) / 2
    (0.75, 0.85)
    >>> round(fake.canonical_error().value, 6)  # (0 + .2) / 2
    0.1
    """

    p_true: FloatArray
    y_prob: FloatArray
    map: SimplexMap = field(default_factory=IdentityMap)
    sample_weight: ArrayLike | None = None

    def __post_init__(self) -> None:
        check_map(self.map, caller=_CALLER)
        rows, weight = weighted_rows(_CALLER, "p_true", self.p_true, self.sample_weight)
        reported, _ = weighted_rows(_CALLER, "y_prob", self.y_prob, self.sample_weight)
        if rows.shape != reported.shape:
            got, hint = f"{reported.shape} beside {rows.shape}", "pass one report for each row."
            raise invalid(_CALLER, "y_prob", "of the shape of `p_true`", got, hint=hint)
        for name, value in (("p_true", rows), ("y_prob", reported), ("sample_weight", weight)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.p_true.shape[1]

    def draw_rows(self, n: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Logarithms of `n` true rows, drawn with replacement, and what is reported of them."""
        nodes = self._population()
        chosen = generator.choice(len(nodes.weight), size=n, p=nodes.weight)
        assert nodes.c is not None
        return nodes.log_p[chosen], nodes.c[chosen]

    def draw_log_truth(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Logarithms of `n` true rows, drawn with replacement."""
        return self.draw_rows(n, generator)[0]

    def quadrature_rules(self) -> list[Nodes] | None:
        """All of the distribution: the pairs and their shares."""
        return [self._population()]

    @property
    def n_pools(self) -> int:
        """Bins in which rows are pooled where figures are conditional on one number."""
        return max(2, round(len(self.p_true) ** (1 / 3)))

    def _population(self) -> Nodes:
        with np.errstate(divide="ignore"):
            log_p, log_c = np.log(self.p_true), np.log(self.y_prob)
        weight = np.asarray(self.sample_weight)
        return Nodes(log_p, weight / weight.sum(), self.map.from_log(log_c))


def posterior_of(log_c: FloatArray, index: IntArray, weight: FloatArray, n: float) -> FloatArray:
    r"""Probabilities of the classes given the reports, (n, K), by penalised maximum likelihood.

    With t the predicted class, scores are

    .. math:: f_k = \sum_j W_{kj} \log c_j + b_k
              + [k = t]\,(a_k + s_k \log c_t + u_k \log(1 - c_t)),

    so that, up to the penalty, each class is right as often as it is when it is predicted, and
    with the same trend along its confidence: accuracy and calibration are copied class by class.
    Squared distances from the identity (W = I, all else 0) cost K / n, off the diagonal of W
    K (K - 1) / n as in `StructuredMatrixCalibrator`, and 0.1 / n those of a, s and u.
    """
    from scipy.optimize import minimize

    k = log_c.shape[1]
    rows, top = np.arange(len(log_c)), log_c.argmax(axis=1)
    share = weight / weight.sum()
    sure = log_c[rows, top]
    features = np.stack(
        [np.ones(len(sure)), sure, np.log(np.maximum(-np.expm1(sure), _LEAST))], axis=1
    )
    truth = np.zeros_like(log_c)
    truth[rows, index] = share
    ridge = np.full((k, k), k * (k - 1) / n)
    np.fill_diagonal(ridge, k / n)
    ridge = np.concatenate([ridge.ravel(), np.full(k, k / n), np.full(3 * k, 0.1 / n)])
    centre = np.concatenate([np.eye(k).ravel(), np.zeros(4 * k)])

    def scores(theta: FloatArray) -> FloatArray:
        matrix, bias = theta[: k * k].reshape(k, k), theta[k * k : k * k + k]
        own = theta[k * k + k :].reshape(k, 3)
        found = log_c @ matrix.T + bias
        found[rows, top] += np.einsum("ij,ij->i", features, own[top])
        return np.asarray(found - _log_sums(found))

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        log_p, away = scores(theta), theta - centre
        residual = np.exp(log_p) * share[:, None] - truth
        own = np.zeros((k, 3))
        np.add.at(own, top, residual[rows, top][:, None] * features)
        slope = np.concatenate([(residual.T @ log_c).ravel(), residual.sum(axis=0), own.ravel()])
        value = -float((truth * log_p).sum()) + float(ridge @ away**2)
        return value, slope + 2 * ridge * away

    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-13, "gtol": 1e-8}
    best = minimize(loss, centre, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(np.exp(scores(best.x)))


def _log_sums(scores: FloatArray) -> FloatArray:
    largest = scores.max(axis=1, keepdims=True)
    return np.asarray(largest + np.log(np.exp(scores - largest).sum(axis=1, keepdims=True)))
