"""Spline calibration: a smooth non-decreasing map of log odds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.options import check_penalty
from veridical._core.data.randomness import check_rng
from veridical._core.data.schema import Fields, Number, Numbers
from veridical._core.data.validation import is_integer, is_number
from veridical._core.formula import Nodes
from veridical._core.typing import BoolArray, FloatArray
from veridical.calibrators._base.bases import LogisticCalibrator, Notes, WeightedOutcomes
from veridical.calibrators._base.nodes import outputs_from_parabolas
from veridical.calibrators._base.scales import FARTHEST, BinaryScores, log_odds, map_log_odds
from veridical.calibrators._base.words import number
from veridical.calibrators._logistic.bounded_newton import (
    PROMISED,
    Ridge,
    Solution,
    better_start,
    bounded_newton,
    check_two_classes,
    with_notes,
)
from veridical.calibrators._logistic.spline_basis import (
    Basis,
    SplineCells,
    SplineLoss,
    parabolas,
    place_knots,
    pool_rows,
    share_among_folds,
)
from veridical.exceptions import invalid

# From all but straight to all but free, in units of rows times log odds cubed.
_GRID = 10.0 ** np.arange(5.0, -2.1, -0.5)
_PATIENCE = 3
_FAR = FARTHEST + 1  # of knots: one log odds gets two of them around it
_STEPS = 60  # with a borrowed Hessian
_ROUGHLY = 1e-6  # gradient per row: moves log losses by its square


@dataclass(kw_only=True, eq=False, repr=False)
class SplineCalibrator(LogisticCalibrator):
    r"""Penalised monotone spline on the scale of log odds.

    logit p' is a function of z = logit p whose slope is linear between knots and nowhere negative.
    As smooth as cross-validation says: from a straight line (Platt scaling, which contains the
    identity) to any non-decreasing bend.

    Parameters
    ----------
    n_knots : int, default 20
        Knots at quantiles of z, ends included; fewer if values repeat.
    smoothness : float or "cv", default "cv"
        Weight of the integral of the squared second derivative, in units of one row: the mean log
        loss is minimised plus smoothness / (2 n) times the integral. "cv" takes the value between
        1e-2 and 1e5 with the least log loss on held-out folds, the smoother of equals.
    n_folds : int, default 5
    penalty : float or None, default 1.0
        Weight of the ridge towards the identity in units of one row: penalty / (2 n) times the
        squared shift at the middle knot plus the mean squared deviation of the slope from 1. None
        or 0 turns it off.
    random_state : int, Generator or None, default 0
        Draws the folds.
    input : {"probability", "logit"}, default "probability"
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What a weight means for n.

    Attributes
    ----------
    knots_ : array of shape (k,)
        In log odds. Outside, the map goes on as a straight line.
    coefficients_ : array of shape (3, k - 1)
        Constant, linear and quadratic term in z minus the left knot, between neighbouring knots.
    smoothness_ : float
    n_iter_ : int
        Newton steps of the final fit.
    gradient_norm_ : float
        Norm of the gradient at the solution divided by n, less what presses against a slope of
        zero; below 1e-8.
    classes_ : array of shape (2,)

    Notes
    -----
    A slope that is linear between knots is nowhere negative exactly if it is not at the knots, and
    its integral of the squared second derivative is a sum of squared jumps: a convex problem with
    bounds, solved as a whole. Folds are fitted to rows pooled in 64 cells between each pair of
    knots, the final map to all rows. One sort and a few passes: O(n log n), whatever the number of
    folds and of values tried.

    The choice by cross-validation is noisy: in small samples it can bend a straight map or leave
    a bent one straight.

    References
    ----------
    .. [1] Lucena (2018), Spline-based probability calibration, arXiv 1809.07751.
    .. [2] Eilers & Marx (1996), Flexible smoothing with B-splines and penalties, Statistical
       Science 11, 89-121, doi 10.1214/ss/1038425655.

    Examples
    --------
    Three groups of equal predictions and more parameters: without penalties each group gets its
    share.

    >>> p, y = [0.2] * 4 + [0.5] * 2 + [0.8] * 4, [0, 0, 0, 1, 0, 1, 1, 1, 1, 0]
    >>> plain = SplineCalibrator(penalty=None, smoothness=0.0).fit(p, y)
    >>> plain.predict_proba([0.2, 0.5, 0.8])[:, 1].round(6)
    array([0.25, 0.5 , 0.75])
    """

    _inputs = ("probability", "logit")
    _fitted = Fields(
        smoothness_=Number(low=0),
        knots_=Numbers("m", low=-_FAR, high=_FAR, increasing=True, least=2),
        coefficients_=Numbers(3, "m-1"),
        n_iter_=Number(low=0, whole=True),
        gradient_norm_=Number(low=0),
    )

    n_knots: int = 20
    smoothness: float | str = "cv"
    n_folds: int = 5
    penalty: float | None = 1.0
    random_state: Any = 0

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_penalty(caller, self.penalty)
        for param, value in (("n_knots", self.n_knots), ("n_folds", self.n_folds)):
            if not is_integer(value) or value < 2:
                got, hint = f"{value!r}", "leave the default if unsure."
                raise invalid(caller, param, "a whole number of at least 2", got, hint=hint)
        smoothness = self.smoothness
        if smoothness != "cv" and (not is_number(smoothness) or smoothness < 0):  # type: ignore[operator]
            got, hint = f"{smoothness!r}", 'choose "cv" if unsure.'
            raise invalid(caller, "smoothness", '"cv" or a number of at least 0', got, hint=hint)

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> Notes:
        caller = type(self).__name__
        penalty = check_penalty(caller, self.penalty)
        check_two_classes(caller, rows, guarded=penalty > 0)
        z, weight = log_odds(scores), None if rows.weight is None else rows.weights
        basis = Basis.on(place_knots(z, weight, self.n_knots))
        cells = pool_rows(basis, z, rows.y, weight)
        path = _Path(basis, penalty)
        if self.smoothness == "cv":
            rng = check_rng(self.random_state, caller=caller)
            folds = share_among_folds(cells, rows.y, z, weight, self.n_folds, rng)
            self.smoothness_ = _choose(path, cells, folds)
        else:
            self.smoothness_ = float(self.smoothness)
        pooled = path.loss(cells.z, cells.mass)
        fit = path.solve(pooled, self.smoothness_, path.start(pooled, self.smoothness_))
        if not cells.exact:
            positive = rows.y.astype(np.float64) if weight is None else rows.y * weight
            loss = SplineLoss.of(basis, z, positive, weight)
            last = path.solve(loss, self.smoothness_, fit.theta, hessian=pooled.hessian)
            fit = Solution(last.theta, fit.n_iter + last.n_iter, last.gradient)
        fit = with_notes(pooled, fit, caller)
        self._keep(basis, fit)
        return fit.notes

    def _keep(self, basis: Basis, fit: Solution) -> None:
        self.knots_ = basis.knots
        self.coefficients_ = basis.terms(fit.theta)
        self.n_iter_, self.gradient_norm_ = fit.n_iter, fit.gradient

    def _log_odds(self, scores: BinaryScores) -> FloatArray:
        return map_log_odds(scores, parabolas(self.knots_, self.coefficients_, len(scores)))

    def _formula(self, inputs: Nodes) -> Nodes:
        return outputs_from_parabolas(self, inputs, self.knots_, self.coefficients_)

    def _in_words(self) -> str:
        pieces = len(self.knots_) - 1
        low, high = number(self.knots_[0]), number(self.knots_[-1])
        parabolas = f"{pieces} joined parabolas that never fall"
        parabolas = parabolas if pieces > 1 else "a parabola that never falls"
        return f"Bends log odds by {parabolas}, from {low} to {high}, and goes on straight."


class _Path:
    """The penalised problem as a function of its smoothness."""

    def __init__(self, basis: Basis, penalty: float) -> None:
        self._basis, self._identity = basis, basis.identity
        self._roughness, self._ridge = basis.roughness, penalty * basis.distance
        self._bounded: BoolArray = np.arange(len(self._identity)) > 0

    def loss(self, z: FloatArray, mass: FloatArray) -> SplineLoss:
        """Loss of cells at z with these masses of outcomes 0 and 1."""
        return SplineLoss.of(self._basis, z, mass[1], mass.sum(axis=0))

    def solve(
        self,
        loss: SplineLoss,
        smoothness: float,
        start: FloatArray,
        hessian: Callable[[FloatArray], FloatArray] | None = None,
    ) -> Solution:
        """Best coefficients."""
        fit = bounded_newton(
            loss, self._penalty(smoothness), start, self._bounded, hessian=hessian, max_steps=_STEPS
        )
        if fit.gradient > PROMISED:
            fit = bounded_newton(loss, self._penalty(smoothness), fit.theta, self._bounded)
        return fit

    def start(self, loss: SplineLoss, smoothness: float) -> FloatArray:
        """Where to begin: the identity, or zero if that is better."""
        return better_start(loss, self._penalty(smoothness), self._identity)

    def approach(self, loss: SplineLoss, smoothness: float, start: FloatArray) -> FloatArray:
        """Coefficients good enough to compare log losses."""
        ridge = self._penalty(smoothness)
        return bounded_newton(loss, ridge, start, self._bounded, tolerance=_ROUGHLY).theta

    def _penalty(self, smoothness: float) -> Ridge:
        """Both penalties as one: the identity is not rough."""
        return Ridge(smoothness * self._roughness + self._ridge, self._identity)


def _choose(path: _Path, cells: SplineCells, folds: FloatArray) -> float:
    """Smoothness with the least log loss on held-out folds."""
    pairs = [(path.loss(cells.z, cells.mass - fold), path.loss(cells.z, fold)) for fold in folds]
    thetas = [path.start(train, float(_GRID[0])) for train, _ in pairs]
    best, least, since = float(_GRID[0]), np.inf, 0
    for smoothness in _GRID.tolist():
        total = 0.0
        for k, (train, test) in enumerate(pairs):
            if train.total > 0:
                thetas[k] = path.approach(train, smoothness, thetas[k])
            total += test.value(thetas[k])
        if total < least:
            best, least, since = smoothness, total, 0
        else:
            since += 1
        if since == _PATIENCE:
            break
    return best
