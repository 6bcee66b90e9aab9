"""Fake classifiers made from real rows: fitted to resemble them, or with them as the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from veridical._core.data.validation import check_option, check_sample
from veridical._core.sample import effective_size
from veridical._core.typing import ArrayLike, FloatArray, IntArray, WeightType
from veridical.exceptions import invalid, warn_of
from veridical.simulation._fakes.dirichlet import (
    DirichletFakeClassifier,
    DirichletMixtureFakeClassifier,
)
from veridical.simulation._fakes.dirichlet_means import fit_dirichlet
from veridical.simulation._fakes.exact import Nodes
from veridical.simulation._fakes.fake import FakeClassifier, check_map
from veridical.simulation._fakes.joint import JointFakeClassifier, posterior_of
from veridical.simulation._fakes.maps import IdentityMap, SimplexMap, TemperatureMap
from veridical.simulation._fakes.rows import weighted_rows


@dataclass(frozen=True, eq=False)
class EmpiricalFakeClassifier(FakeClassifier):
    """Fake classifier that takes given rows for the truth: p is one of them, y ~ p, c = map(p).

    With the calibrated outputs of a real classifier it has their joint distribution, whatever its
    shape, and any map perturbs it.

    Parameters
    ----------
    p_true : array-like of shape (n_rows, n_classes) or (n_rows,)
        Rows of probabilities, preferably after recalibration; one column is the probability of the
        second of two classes.
    map : SimplexMap, default identity
        From true to reported probabilities.
    sample_weight : array-like of shape (n_rows,), optional
        How often rows are drawn, in proportion; integer weight = repetition, zero = removal.

    Notes
    -----
    Figures are finite sums, without error. Rows that report the same value are pooled, so with
    rows all different the ECE is the mean of |p_argmax(c) - max c|: a population of n rows has no
    neighbours to average over, and its ECE is above that of the smooth law the rows came from.

    Examples
    --------
    >>> from veridical.simulation import PowerMap
    >>> fake = EmpiricalFakeClassifier([[0.75, 0.25], [0.5, 0.5]], map=PowerMap(2))
    >>> fake.accuracy().value  # (3/4 + 1/2) / 2
    0.625
    >>> round(fake.expected_calibration_error().value, 6)  # (9/10 - 3/4) / 2
    0.075
    """

    p_true: FloatArray
    map: SimplexMap = field(default_factory=IdentityMap)
    sample_weight: ArrayLike | None = None

    def __post_init__(self) -> None:
        caller = "EmpiricalFakeClassifier"
        check_map(self.map, caller=caller)
        rows, weight = weighted_rows(caller, "p_true", self.p_true, self.sample_weight)
        for name, value in (("p_true", rows), ("sample_weight", weight)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.p_true.shape[1]

    def draw_log_truth(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Logarithms of `n` of the rows, drawn with replacement."""
        nodes = self._population()
        return nodes.log_p[generator.choice(len(nodes.weight), size=n, p=nodes.weight)]

    def quadrature_rules(self) -> list[Nodes] | None:
        """All of the distribution: the rows and their shares."""
        return [self._population()]

    def _population(self) -> Nodes:
        with np.errstate(divide="ignore"):
            log_p = np.log(self.p_true)
        weight = np.asarray(self.sample_weight)
        return Nodes(log_p, weight / weight.sum())


FitMethod: TypeAlias = Literal["dirichlet", "mixture", "empirical", "joint"]

_CALLER = "fit_fake_classifier"
_ZERO = 1e-12  # what a probability of zero is read as
_FEW, _RARE = 30, -1  # rows that make a component of their own, and the component of others
_LOG_POWER = np.log(100.0)  # inverse temperatures from 1/100 to 100 are searched


def fit_fake_classifier(
    y_prob: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    method: FitMethod = "dirichlet",
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> FakeClassifier:
    """Fake classifier fitted to the outputs of a real one.

    Without labels the outputs are taken for the truth and the map is the identity. With labels
    they are first calibrated by the temperature of least log loss; the fit describes the
    calibrated rows, and its map takes them back to what was reported. Change the map with
    ``dataclasses.replace(fake, map=PowerMap(2))`` to see the same classifier more or less
    confident. `method="joint"` copies the most: use it to have the same accuracy, log loss and
    calibration errors, and the others for a law of few numbers that can be changed at will.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples, n_classes) or (n_samples,)
        Reported probabilities.
    y_true : array-like of shape (n_samples,), optional
        Labels.
    method : {"dirichlet", "mixture", "empirical", "joint"}
        One Dirichlet distribution by maximum likelihood; one for the rows of each predicted class,
        mixed by how often it is predicted; the rows themselves; or the rows themselves with what
        their labels say is true there, class by class, as pairs (without labels, the rows).
    labels, pos_label : optional
        Classes in column order, and the positive one, as everywhere.
    sample_weight : array-like of shape (n_samples,), optional
        Weights; zero = removal.
    weight_type : {"importance", "frequency"}
        What counts as 30 rows below: (sum w)^2 / sum w^2, or sum w (integer weight = repetition).

    Returns
    -------
    FakeClassifier
        Of Dirichlet, Dirichlet mixture, empirical or joint kind.

    Warns
    -----
    VeridicalWarning
        If probabilities of zero are read as 1e-12 (a Dirichlet likelihood is infinite there, so
        they weigh heavily), or if no temperature within [1/100, 100] is best.

    Notes
    -----
    A Dirichlet distribution has K numbers to describe all outputs, so accuracy and calibration
    error of the fit need not be those of the data: compare `accuracy()` and prefer the mixture or
    the rows where they differ. Only miscalibration that one temperature repairs is copied, but by
    `method="joint"`: there the truth of a row is a matrix scaling of its report with a level, a
    slope and a bend of its own for each predicted class, so that accuracy and calibration are
    those of each class. What is noise in the labels of n rows is copied, too: the fake of a
    calibrated model has a calibration error of about .01 from 5,000 rows.
    Classes predicted fewer than 30 times share one component of a mixture. O(n K) per iteration.

    Examples
    --------
    >>> from veridical.simulation import DirichletFakeClassifier
    >>> real = DirichletFakeClassifier([2.0, 1.0], map=TemperatureMap(0.5)).sample(50_000, rng=1)
    >>> fake = fit_fake_classifier(real.y_prob, y_true=real.y)
    >>> [round(alpha, 1) for alpha in fake.alpha], round(fake.map.temperature, 1)
    ([2.0, 1.0], 0.5)
    """
    check_option(_CALLER, "method", method, ("dirichlet", "mixture", "empirical", "joint"))
    check_option(_CALLER, "weight_type", weight_type, ("importance", "frequency"))
    notes: list[str] = []
    rows, index, weight = _inputs(y_prob, y_true, labels, pos_label, sample_weight)
    fake: FakeClassifier
    if method == "joint" and index is not None:
        size = effective_size(weight, len(weight), weight_type)
        log_c = _normalised(np.log(np.maximum(rows, _ZERO)))
        return JointFakeClassifier(
            posterior_of(log_c, index, weight, size), rows, sample_weight=weight
        )
    log_p, map_ = _calibrated(rows, index, weight, notes)
    if method in ("empirical", "joint"):
        fake = EmpiricalFakeClassifier(np.exp(log_p), map=map_, sample_weight=weight)
    elif (np.ptp(log_p, axis=0) == 0).all():
        hint = 'use `method="empirical"` for a classifier that always says the same.'
        raise invalid(_CALLER, "y_prob", "rows that differ", "equal rows", hint=hint)
    elif method == "dirichlet":
        fake = DirichletFakeClassifier(tuple(fit_dirichlet(log_p, weight)), map=map_)
    else:
        fake = _mixture(log_p, weight, weight_type, map_)
    warn_of(notes, caller=_CALLER)
    return fake


def _inputs(
    y_prob: ArrayLike,
    y_true: ArrayLike | None,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> tuple[FloatArray, IntArray | None, FloatArray]:
    """Rows of probabilities in column order, class indices if there are labels, and weights."""
    if y_true is None:
        for param, value in (("labels", labels), ("pos_label", pos_label)):
            if value is not None:
                hint = "it names the classes of `y_true`."
                raise invalid(_CALLER, param, "unset without `y_true`", repr(value), hint=hint)
        rows, weight = weighted_rows(_CALLER, "y_prob", y_prob, sample_weight)
        return rows, None, weight
    named = {"labels": labels, "pos_label": pos_label}
    sample = check_sample(y_true, y_prob, caller=_CALLER, sample_weight=sample_weight, **named)
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    return sample.matrix.astype(np.float64), sample.index, weight


def _calibrated(
    rows: FloatArray, index: IntArray | None, weight: FloatArray, notes: list[str]
) -> tuple[FloatArray, SimplexMap]:
    """Logarithms of the calibrated rows, and the map back to the reported ones."""
    zeros = int((rows <= 0).sum())
    if zeros:
        notes.append(f"{zeros:,} probabilities of zero are read as {_ZERO:g} and may rule the fit")
    log_c = _normalised(np.log(np.maximum(rows, _ZERO)))
    if index is None:
        return log_c, IdentityMap()
    power, found = _inverse_temperature(log_c, index, weight)
    if not found:
        notes.append("no temperature between 1/100 and 100 is best; the nearest is used")
    return _normalised(power * log_c), TemperatureMap(power)


def _inverse_temperature(
    log_c: FloatArray, index: IntArray, weight: FloatArray
) -> tuple[float, bool]:
    """Power of the reported rows with the least log loss, and whether it is within the search.

    The loss is convex in the power. Without a minimum (every row right, or the rows point away
    from the labels) it is as low at an end of the search as anywhere.
    """
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(log_c))

    def loss(log_power: float) -> float:
        return -float(weight @ _normalised(np.exp(log_power) * log_c)[rows, index])

    bounds = (-_LOG_POWER, _LOG_POWER)
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-8})
    end = min(bounds, key=loss)
    if loss(end) <= best.fun + 1e-12 * float(weight.sum()):
        return float(np.exp(end)), False
    return float(np.exp(best.x)), True


def _mixture(
    log_p: FloatArray, weight: FloatArray, weight_type: WeightType, map_: SimplexMap
) -> DirichletMixtureFakeClassifier:
    predicted = log_p.argmax(axis=1)
    component = np.full_like(predicted, _RARE)
    for k in range(log_p.shape[1]):
        inside = predicted == k
        if inside.any() and effective_size(weight[inside], int(inside.sum()), weight_type) >= _FEW:
            component[inside] = k
    alphas, weights = [], []
    for value in np.unique(component):
        inside = component == value
        same = (np.ptp(log_p[inside], axis=0) == 0).all()
        # Rows that are all alike have no likelihood of their own: they join the common fit.
        rows = np.ones_like(inside) if same else inside
        alphas.append(fit_dirichlet(log_p[rows], weight[rows]))
        weights.append(float(weight[inside].sum()))
    return DirichletMixtureFakeClassifier(np.array(alphas), weights, map_)  # type: ignore[arg-type]


def _normalised(log_rows: FloatArray) -> FloatArray:
    """Logarithms of rows that sum to one."""
    largest = log_rows.max(axis=1, keepdims=True)
    return log_rows - largest - np.log(np.exp(log_rows - largest).sum(axis=1, keepdims=True))
