"""Quadratic calibration: a parabola on the scale of log odds that never falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.data.options import check_penalty
from veridical._core.data.schema import Fields, Number, Relations, Together
from veridical._core.formula import Nodes
from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import LogisticCalibrator, Notes, WeightedOutcomes
from veridical.calibrators._base.nodes import outputs_from_parabolas
from veridical.calibrators._base.scales import FARTHEST, BinaryScores, log_odds, map_log_odds
from veridical.calibrators._base.words import number
from veridical.calibrators._logistic.bounded_newton import check_two_classes, ridge_to
from veridical.calibrators._logistic.rows import fit_rows, logistic_rows


@dataclass(kw_only=True, eq=False, repr=False)
class QuadraticCalibrator(LogisticCalibrator):
    r"""Quadratic map of log odds: logit p' = a + b z + c z^2, non-decreasing.

    The map of two normal classes of unequal variance. Platt scaling with one more parameter that
    bends it; the identity is a = 0, b = 1, c = 0.

    Parameters
    ----------
    penalty : float or None, default 1.0
        Weight of the ridge towards the identity in units of one row: the mean log loss is minimised
        plus penalty / (2 n) (a^2 + (s0 - 1)^2 + (s1 - 1)^2), where s0 and s1 are the slopes
        b + 2 c z at the smallest and the largest z of the data. None or 0 turns it off.
    input : {"probability", "logit"}, default "probability"
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What a weight means for n.

    Attributes
    ----------
    a_, b_, c_ : float
    range_ : (float, float)
        Smallest and largest z of the data. Outside, the map goes on as a straight line.
    n_iter_ : int
        Newton steps.
    gradient_norm_ : float
        Norm of the gradient in (a, s0, s1) at the solution divided by n, less what presses against
        s0 >= 0 or s1 >= 0; below 1e-8.
    classes_ : array of shape (2,)

    Notes
    -----
    The slope of a parabola is linear in z, so it is nowhere negative on the data exactly if
    s0 >= 0 and s1 >= 0: two bounds of a convex problem, solved as a whole. Both at zero give a
    constant. One prediction far outside the others widens the range and so straightens the map.
    Without a penalty, separated classes have no finite optimum: the fit stops at a steep
    map and warns. O(n) for each of a few passes.

    References
    ----------
    .. [1] Berta, Holzmüller, Jordan & Bach (2025), Structured matrix scaling for multi-class
       calibration, arXiv 2511.03685 (the binary quadratic map).

    Examples
    --------
    Three groups of equal predictions and three parameters: each group gets its share.

    >>> p, y = [0.2] * 4 + [0.5] * 2 + [0.8] * 4, [0, 0, 0, 1, 0, 1, 1, 1, 1, 0]
    >>> plain = QuadraticCalibrator(penalty=None).fit(p, y)
    >>> plain.predict_proba([0.2, 0.5, 0.8])[:, 1].round(6)
    array([0.25, 0.5 , 0.75])
    """

    _inputs = ("probability", "logit")
    _fitted = Fields(
        a_=Number(),
        b_=Number(),
        c_=Number(),
        range_=Together((Number(low=-FARTHEST - 1, high=FARTHEST + 1),) * 2),
        n_iter_=Number(low=0, whole=True),
        gradient_norm_=Number(low=0),
    )

    penalty: float | None = 1.0

    def _check_parameters(self) -> None:
        check_penalty(type(self).__name__, self.penalty)

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield "range_", self.range_[0] < self.range_[1], "two numbers, the smaller first"

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> Notes:
        caller = type(self).__name__
        penalty = check_penalty(caller, self.penalty)
        check_two_classes(caller, rows, guarded=penalty > 0)
        z = log_odds(scores)
        low, high = float(z.min()), float(z.max())
        if high == low:  # any width serves a parabola at one point
            low, high = low - 0.5, high + 0.5
        half = z * z / (2 * (high - low))
        left, right = high / (high - low), -low / (high - low)
        weight = None if rows.weight is None else rows.weights
        # What a slope of one at one end, falling linearly to zero at the other, adds up to from 0.
        columns = (left * z - half, right * z + half)
        loss = logistic_rows(columns, rows.y, weight, rows.size)
        identity = np.array([0.0, 1.0, 1.0])
        ridge = ridge_to(identity, penalty)
        fit = fit_rows(loss, ridge, identity, identity > 0, z, caller=caller)
        first, last = float(fit.theta[1]), float(fit.theta[2])
        self.a_, self.b_ = float(fit.theta[0]), first * left + last * right
        self.c_ = (last - first) / (2 * (high - low))
        self.range_ = (low, high)
        self.n_iter_, self.gradient_norm_ = fit.n_iter, fit.gradient
        return fit.notes

    def _log_odds(self, scores: BinaryScores) -> FloatArray:
        return map_log_odds(scores, self._of_log_odds)

    def _of_log_odds(self, z: FloatArray) -> FloatArray:
        inside = np.clip(z, *self.range_)
        slope = np.maximum(self.b_ + 2 * self.c_ * inside, 0)
        return self.a_ + (self.b_ + self.c_ * inside) * inside + slope * (z - inside)

    def _formula(self, inputs: Nodes) -> Nodes:
        knots = np.array(self.range_)
        first = float(knots[0])
        constant = self.a_ + (self.b_ + self.c_ * first) * first
        inside = np.array([[constant], [self.b_ + 2 * self.c_ * first], [self.c_]])
        return outputs_from_parabolas(self, inputs, knots, inside)

    def _in_words(self) -> str:
        a, b, c = number(self.a_), number(self.b_), number(self.c_)
        low, high = map(number, self.range_)
        curve = f"{a} plus {b} z plus {c} z^2"
        return f"Log odds z become {curve} from {low} to {high}, and go on straight."
