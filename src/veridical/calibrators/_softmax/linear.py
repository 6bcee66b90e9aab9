"""Vector and matrix scaling, and what linear maps of logits share: penalty, fit, application."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from veridical._core.data.options import check_non_negative
from veridical._core.data.schema import Fields, Numbers
from veridical._core.data.validation import check_option
from veridical._core.formula import Linear, Nodes
from veridical._core.typing import FloatArray
from veridical.calibrators._base import nodes
from veridical.calibrators._base.bases import Notes, Shared, WeightedOutcomes
from veridical.calibrators._base.frames import FitColumns
from veridical.calibrators._base.words import number
from veridical.calibrators._softmax.inverse_temperature import fit_inverse_temperature
from veridical.calibrators._softmax.softmax import GuardedCalibrator, softmax_in_place
from veridical.calibrators._softmax.summed import SummedObjective, temperature_of_sums
from veridical.calibrators._softmax.truncated_newton import (
    DiagonalMap,
    FullMap,
    Minimum,
    truncated_newton,
)

if TYPE_CHECKING:
    from veridical.frames.grid import SoftmaxMap

PENALTIES = ("odir", "l2")

# Share of the ridge on the diagonal that "odir" keeps: published ODIR leaves the diagonal free,
# and then separable rows have no optimum.
_LOOSE = 1e-3


@dataclass(kw_only=True, eq=False, repr=False)
class LinearCalibrator(GuardedCalibrator):
    """A softmax of linear functions of logits, fitted by penalised log loss."""

    _full: ClassVar[bool]

    _fitted = Fields(coef_=Numbers("K"), intercept_=Numbers("K"))

    strength: float = 1.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        caller, hint = type(self).__name__, "1 is usual, 0 turns the ridge off."
        check_non_negative(caller, "strength", self.strength, hint=hint)

    def _ridge(self, n_classes: int, size: float) -> tuple[float, float, float]:
        """Penalty on squared distances of diagonal, off-diagonal and intercepts from identity.

        That of Berta et al. (2025), arXiv 2511.03685: K / n, and K (K - 1) / n off the diagonal. A
        K-th of the K (K - 1) off-diagonal parameters enters each score, hence the stronger pull on
        each.
        """
        unit = self.strength * n_classes / size
        return unit, unit * (n_classes - 1), unit

    def _penalty(self, n_classes: int, size: float) -> FloatArray:
        """Penalty of each parameter: of (W | b), or of v and b."""
        diagonal, off, intercept = self._ridge(n_classes, size)
        if not self._full:
            return np.repeat([diagonal, intercept], n_classes)
        penalty = np.full((n_classes, n_classes + 1), off)
        np.fill_diagonal(penalty, diagonal)
        penalty[:, -1] = intercept
        return penalty

    def _features(self, logits: FloatArray) -> FloatArray:
        """What the linear functions are of; may be the same array."""
        return logits

    @abstractmethod
    def _start(self, features: FloatArray, rows: WeightedOutcomes) -> float:
        """Multiple of the identity to start from."""

    def _fit_map(self, logits: FloatArray, rows: WeightedOutcomes) -> Notes:
        features = self._features(logits)
        start = self._start(features, rows)
        fit = fit_full if self._full else fit_diagonal
        penalty = self._penalty(rows.n_classes, rows.size)
        return self._take(*fit(features, rows, penalty, start), features, rows)

    def _fit_sums(self, columns: FitColumns) -> Notes | None:
        """Fit by Newton steps, each of one pass of the engine; None if there are too many."""
        k = len(columns.prob)
        full = FullMap.exact_up_to if self._full else DiagonalMap.exact_up_to
        penalty = self._penalty(k, 1.0)
        if k < 2 or penalty.size > full:
            return None
        from veridical.frames.grid import SoftmaxSums

        found = temperature_of_sums(self, columns)
        sums = SoftmaxSums(columns.source, **found.named)
        if not sums.runs:
            return None
        start = self._start_at(found.fit.inverse, found.size)
        centre = np.eye(*penalty.shape).ravel() if self._full else np.repeat([1.0, 0.0], k)
        penalty = self._penalty(k, found.size)
        n_features = penalty.shape[1] - 1 if self._full else k
        objective = SummedObjective(
            sums, self._as_sums(centre * start), n_features, centre, penalty.ravel()
        )
        try:
            minimum = truncated_newton(objective, centre * start)  # type: ignore[arg-type]
        except sums.errors:  # workers without Python: rows are drawn instead
            return None
        theta, self.fitted_on_ = minimum.theta, found.fitted_on
        coef, intercept = as_matrix(theta, k) if self._full else (theta[:k], theta[k:])
        return self._found(coef, intercept, minimum, found.size)

    def _start_at(self, inverse: float, size: float) -> float:
        """Multiple of the identity to start from, where this is the inverse temperature."""
        del size
        return inverse

    def _as_sums(self, theta: FloatArray) -> SoftmaxMap:
        """What an engine needs to know of the map to sum it up."""
        from veridical.frames.grid import SoftmaxMap

        return SoftmaxMap(
            floor=self.floor_, inverse=None, mix=0.0, least_rest=None, full=self._full, theta=theta
        )

    def _take(
        self,
        coef: FloatArray,
        intercept: FloatArray,
        minimum: Minimum,
        features: FloatArray,
        rows: WeightedOutcomes,
    ) -> Notes:
        """Take what was found, and say what is in doubt."""
        notes = self._found(coef, intercept, minimum, rows.size)
        if not notes and self._runs_away(features, rows):
            doubt = "without a penalty there is no optimum: classes are separable or absent"
            return (f"{type(self).__name__}: {doubt}.",)
        return notes

    def _found(
        self, coef: FloatArray, intercept: FloatArray, minimum: Minimum, size: float
    ) -> Notes:
        self.coef_, self.intercept_ = coef, intercept
        self.n_iter_ = minimum.n_iter
        self.gradient_norm_ = minimum.gradient_norm
        self.mix_ = self._mixing_share(size)
        if minimum.converged:
            return ()
        return (
            f"{type(self).__name__}: the fit stopped after {minimum.n_iter} steps with a gradient"
            f" of {minimum.gradient_norm:.1e}.",
        )

    def _map(self, logits: FloatArray) -> FloatArray:
        return softmax_in_place(self._scores(self._features(logits)), self.mix_)

    def _predict_sharing(self, values: FloatArray, shared: Shared) -> FloatArray:
        return softmax_in_place(self._scores(self._shared_features(values, shared)), self.mix_)

    def _shared_features(self, values: FloatArray, shared: Shared) -> FloatArray:
        return self._once(self._features, values, shared)

    def _once(
        self, features: Callable[[FloatArray], FloatArray], values: FloatArray, shared: Shared
    ) -> FloatArray:
        """Features that other maps have as well, computed by the first of them."""
        key = ("features", self._features_by(), self.input, self.floor_)
        if key not in shared:
            shared[key] = features(self._shared_logits(values, shared))
        return shared[key]

    def _features_by(self) -> Hashable:
        """What `_features` depends on: equal for maps that have the same."""
        return type(self)._features

    def _scores(self, features: FloatArray) -> FloatArray:
        if (
            self._full and features.shape[1] == 2
        ):  # a product would round by how many rows there are
            scores = features[:, :1] * self.coef_[:, 0] + features[:, 1:] * self.coef_[:, 1]
        else:
            scores = features @ self.coef_.T if self._full else features * self.coef_
        scores += self.intercept_
        return scores

    def _runs_away(self, features: FloatArray, rows: WeightedOutcomes) -> bool:
        """Whether larger parameters would always be better: then the gradient just fades."""
        diagonal, *others = self._ridge(rows.n_classes, rows.size)
        if diagonal:
            return False
        if len(np.unique(rows.y)) < rows.n_classes:
            return True
        scores = self._scores(features)
        if self._full and any(others):  # what is penalised stays small
            scores = features * np.diag(self.coef_)
        return bool((scores.argmax(axis=1) == rows.y).all())

    def _formula(self, inputs: Nodes) -> Nodes:
        features = self._feature_nodes(nodes.logits_of(self, inputs))
        matrix = self.coef_ if self._full else np.diag(self.coef_)
        scores = tuple(
            Linear(tuple((w, x) for w, x in zip(row, features, strict=True) if w), constant)
            for row, constant in zip(matrix.tolist(), self.intercept_.tolist(), strict=True)
        )
        return nodes.mixed_with_uniform(nodes.softmax_of(scores), self.mix_)

    def _feature_nodes(self, logits: Nodes) -> Nodes:
        """Formulas of `_features`."""
        return logits

    def _in_words(self) -> str:
        slopes = np.diag(self.coef_) if self._full else self.coef_
        low, high = number(float(slopes.min())), number(float(slopes.max()))
        shifts = number(float(self.intercept_.min())), number(float(self.intercept_.max()))
        others = ", adds shares of the other ones" if self._full else ""
        return (
            f"Multiplies the logit of each class by {low} to {high}{others} and adds {shifts[0]} to"
            f" {shifts[1]}{self._guard_in_words()}."
        )


@dataclass(kw_only=True, eq=False, repr=False)
class PenalisedCalibrator(LinearCalibrator):
    """A linear map on the logits themselves, with a choice of penalties."""

    penalty: str | None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.penalty is not None:
            check_option(type(self).__name__, "penalty", self.penalty, PENALTIES)

    def _ridge(self, n_classes: int, size: float) -> tuple[float, float, float]:
        if self.penalty is None:
            return 0.0, 0.0, 0.0
        diagonal, off, intercept = super()._ridge(n_classes, size)
        return (diagonal * _LOOSE if self.penalty == "odir" else diagonal), off, intercept

    def _start(self, features: FloatArray, rows: WeightedOutcomes) -> float:
        return fit_inverse_temperature(features, rows).inverse  # near any good map


def fit_diagonal(
    features: FloatArray, rows: WeightedOutcomes, penalty: FloatArray, start: float
) -> tuple[FloatArray, FloatArray, Minimum]:
    """Fit v * z + b; returns v, b and how the search ended."""
    k = rows.n_classes
    identity = np.repeat([1.0, 0.0], k)
    minimum = truncated_newton(DiagonalMap(features, rows, identity, penalty), identity * start)
    return minimum.theta[:k], minimum.theta[k:], minimum


def fit_full(
    features: FloatArray, rows: WeightedOutcomes, penalty: FloatArray, start: float
) -> tuple[FloatArray, FloatArray, Minimum]:
    """Fit W x + b, of which W = (I | 0) is the identity; returns W, b and how the search ended."""
    objective = full_objective(features, rows, penalty)
    minimum = truncated_newton(objective, objective.centre * start)
    return *as_matrix(minimum.theta, rows.n_classes), minimum


def full_objective(features: FloatArray, rows: WeightedOutcomes, penalty: FloatArray) -> FullMap:
    """Penalised mean log loss of W x + b; `penalty` is that of each entry of (W | b)."""
    return FullMap(features, rows, np.eye(*penalty.shape).ravel(), penalty.ravel())


def as_matrix(theta: FloatArray, n_classes: int) -> tuple[FloatArray, FloatArray]:
    """W and b of one vector of parameters."""
    matrix = theta.reshape(n_classes, -1)
    return matrix[:, :-1].copy(), matrix[:, -1].copy()


@dataclass(kw_only=True, eq=False, repr=False)
class VectorCalibrator(PenalisedCalibrator):
    r"""Scales and shifts the logit of each class: softmax(v * z + b).

    The parameters have the least penalised mean log loss,

    .. math:: \frac1n \sum_i -\log c_{y_i}(z_i) + \frac{\lambda K}{n}
              \Big(\sum_j (v_j - 1)^2 + \sum_j b_j^2\Big),

    which is convex: the optimum is checked by its gradient. Unlike a temperature, intercepts
    correct for class frequencies that differ, and the most probable class may change.

    Parameters
    ----------
    penalty : {"l2", "odir"} or None, default "l2"
        "l2" pulls slopes to 1 and intercepts to 0, as above. "odir" leaves slopes free, but for
        a thousandth of that ridge, without which separable rows have no optimum. None is the
        method as published [1]_; it fails on few rows of many classes.
    strength : float, default 1.0
        lambda; the penalty is scaled by K / n and fades as n grows.
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting.
        0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Probabilities become their logarithms; scores are read as logits.
        The penalty assumes that predictions are near right as they are; for scores on another
        scale use `StructuredVectorCalibrator`.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    coef_ : array of shape (K,)
        Slopes v.
    intercept_ : array of shape (K,)
        Intercepts b; without a penalty defined up to a constant.
    mix_ : float
        u, the share of the uniform distribution.
    n_iter_ : int
        Newton steps.
    gradient_norm_ : float
        Largest derivative of the penalised mean loss, in units of the logits; below 1e-9, or a
        `VeridicalWarning` was given.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Eq. 14 of the survey [2]_ with its sign put right: as printed, exp(-w z) reverses the order
    of classes. Time O(n K^2) a step up to 300 classes and O(n K) a product with the Hessian
    beyond; memory O(n K).

    References
    ----------
    .. [1] Guo, Pleiss, Sun & Weinberger (2017), ICML, arXiv 1706.04599.
    .. [2] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.4.2.

    Examples
    --------
    Two classes predicted alike, of which one happens three times as often: without guards only
    the intercepts move, apart by log 3.

    >>> calibrator = VectorCalibrator(penalty=None, pseudo_rows=0)
    >>> calibrator = calibrator.fit([[0.5, 0.5]] * 4, [0, 1, 1, 1])
    >>> calibrator.predict_proba([[0.5, 0.5]]).round(6).tolist()
    [[0.25, 0.75]]
    """

    _full = False

    penalty: str | None = "l2"


@dataclass(kw_only=True, eq=False, repr=False)
class MatrixCalibrator(PenalisedCalibrator):
    r"""Maps logits linearly: softmax(W z + b) with a full matrix.

    The parameters have the least penalised mean log loss,

    .. math:: \frac1n \sum_i -\log c_{y_i}(z_i) + \frac{\lambda K}{n} \Big((K - 1)
              \sum_{j \ne k} W_{jk}^2 + \sum_j b_j^2 + \epsilon \sum_j (W_{jj} - 1)^2\Big),

    which is convex: the optimum is checked by its gradient. The identity costs nothing.

    Parameters
    ----------
    penalty : {"odir", "l2"} or None, default "odir"
        "odir" (off-diagonal and intercept regularisation [1]_) has epsilon = 0.001; it is zero
        as published, but then separable rows have no optimum. "l2" has epsilon = 1. None is the
        method as published [2]_: K (K + 1) free parameters, which fail on few rows.
    strength : float, default 1.0
        lambda; the penalty is scaled by 1 / n and fades as n grows.
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting.
        0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Probabilities become their logarithms; scores are read as logits.
        The penalty assumes that predictions are near right as they are; for scores on another
        scale use `StructuredMatrixCalibrator`.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    coef_ : array of shape (K, K)
        W; without a penalty defined up to a constant in each column.
    intercept_ : array of shape (K,)
        b; without a penalty defined up to a constant.
    mix_ : float
        u, the share of the uniform distribution.
    n_iter_ : int
        Newton steps.
    gradient_norm_ : float
        Largest derivative of the penalised mean loss, in units of the logits; below 1e-9, or a
        `VeridicalWarning` was given.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Eq. 16 of the survey [3]_ with its sign put right: as printed, exp(-w'z) reverses the order of
    classes. Logits are used as given, so with `input="logit"` a constant added to all logits of
    a row matters, as it does for a linear layer; `DirichletCalibrator` normalises first. From
    probabilities both start from log p and are the same map.

    Time O(n K^4) a step up to 24 classes, where the Hessian is formed, and O(n K^2) a product
    with the Hessian beyond; memory O(n K).

    References
    ----------
    .. [1] Kull et al. (2019), NeurIPS, arXiv 1910.12656, eq. 6.
    .. [2] Guo, Pleiss, Sun & Weinberger (2017), ICML, arXiv 1706.04599.
    .. [3] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.4.3.

    Examples
    --------
    Two classes predicted alike, of which one happens three times as often:

    >>> calibrator = MatrixCalibrator(penalty=None, pseudo_rows=0)
    >>> calibrator = calibrator.fit([[0.5, 0.5]] * 4, [0, 1, 1, 1])
    >>> calibrator.predict_proba([[0.5, 0.5]]).round(6).tolist()
    [[0.25, 0.75]]
    """

    _full = True
    _fitted = Fields(coef_=Numbers("K", "K"))

    penalty: str | None = "odir"
