"""Beta calibration: log odds bent differently at both ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.data.options import check_penalty
from veridical._core.data.schema import Fields, Number
from veridical._core.data.validation import check_option
from veridical._core.formula import Constant, Linear, Log, LogSumExp, Node, Nodes
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import LogisticCalibrator, Notes, WeightedOutcomes
from veridical.calibrators._base.nodes import floored_pair, log_odds_of, outputs_from_log_odds
from veridical.calibrators._base.scales import BinaryScores, near_log_odds
from veridical.calibrators._base.words import number
from veridical.calibrators._logistic.bounded_newton import check_two_classes, ridge_to
from veridical.calibrators._logistic.rows import fit_rows, logistic_rows

_LOG2 = float(np.log(2.0))
_ROWS = 1 << 13


@dataclass(kw_only=True, eq=False, repr=False)
class BetaCalibrator(LogisticCalibrator):
    r"""Beta calibration: logit p' = a ln p - b ln(1 - p) + c with a, b >= 0.

    The map of two beta-distributed classes [1]_. Contains the identity (a = b = 1, c = 0), Platt
    scaling of log odds (a = b) and maps steeper at one end than at the other.

    Parameters
    ----------
    parameters : {"abm", "am", "ab", "a"}, default "abm"
        What is fitted: "abm" all three; "am" a = b and c; "ab" a and b with the midpoint 1/2 kept,
        c = (a - b) ln 2; "a" a = b and c = 0, which is temperature scaling.
    penalty : float or None, default 1.0
        Weight of the ridge towards the identity in units of one row: the mean log loss is minimised
        plus penalty / (2 n) times the squared distance of the fitted parameters from a = b = 1,
        c = 0. None or 0 turns it off.
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
    n_iter_ : int
        Newton steps.
    gradient_norm_ : float
        Norm of the gradient at the solution divided by n, less what presses against a >= 0 or
        b >= 0; below 1e-8.
    classes_ : array of shape (2,)

    Notes
    -----
    The bounds make the map non-decreasing. They are part of a convex problem that is solved as a
    whole; fitting without them and dropping what came out negative, as is common, can end at a
    worse map. Both at zero give a constant: predictions ranked the wrong way. Without a penalty,
    separated classes have no finite optimum: the fit stops at a steep map and warns. O(n) for each
    of a few passes.

    References
    ----------
    .. [1] Kull, Silva Filho & Flach (2017), Beyond sigmoids: how to obtain well-calibrated
       probabilities from binary classifiers with beta calibration, Electronic Journal of Statistics
       11, 5052-5080, doi 10.1214/17-EJS1338SI.

    Examples
    --------
    Three groups of equal predictions and three parameters: each group gets its share.

    >>> p, y = [0.2] * 4 + [0.5] * 2 + [0.8] * 4, [0, 0, 0, 1, 0, 1, 1, 1, 1, 0]
    >>> plain = BetaCalibrator(penalty=None).fit(p, y)
    >>> plain.predict_proba([0.2, 0.5, 0.8])[:, 1].round(6)
    array([0.25, 0.5 , 0.75])
    """

    _inputs = ("probability", "logit")
    _fitted = Fields(
        a_=Number(low=0),
        b_=Number(low=0),
        c_=Number(),
        n_iter_=Number(low=0, whole=True),
        gradient_norm_=Number(low=0),
    )

    parameters: str = "abm"
    penalty: float | None = 1.0

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_option(caller, "parameters", self.parameters, ("abm", "am", "ab", "a"))
        check_penalty(caller, self.penalty)

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> Notes:
        caller = type(self).__name__
        penalty = check_penalty(caller, self.penalty)
        check_two_classes(caller, rows, guarded=penalty > 0)
        positive, negative = log_shares(scores)
        position = positive + negative
        columns: tuple[FloatArray, ...] = (position,)
        if "b" in self.parameters:
            columns = (positive, negative)
        moved = "m" in self.parameters
        if self.parameters == "ab":
            columns = (positive + _LOG2, negative - _LOG2)
        weight = None if rows.weight is None else rows.weights
        loss = logistic_rows(columns, rows.y, weight, rows.size, constant=moved)
        identity = np.array([0.0] * moved + [1.0] * len(columns))
        ridge = ridge_to(identity, penalty)
        fit = fit_rows(loss, ridge, identity, identity > 0, position, caller=caller)
        slopes = fit.theta[int(moved) :]
        self.a_, self.b_ = float(slopes[0]), float(slopes[-1])
        self.c_ = float(fit.theta[0]) if moved else (self.a_ - self.b_) * _LOG2
        self.n_iter_, self.gradient_norm_ = fit.n_iter, fit.gradient
        return fit.notes

    def _log_odds(self, scores: BinaryScores) -> FloatArray:
        result = np.empty(len(scores))
        for block in row_blocks(len(scores), _ROWS):
            positive, negative = _log_shares(scores, block)
            result[block] = self.a_ * positive + self.b_ * negative + self.c_
        return result

    def _formula(self, inputs: Nodes) -> Nodes:
        if self.input == "logit":
            z, zero = log_odds_of(self, inputs), Constant(0.0)
            low: Node = Linear(((-1.0, LogSumExp((zero, Linear(((-1.0, z),))))),))
            high: Node = Linear(((-1.0, LogSumExp((zero, z))),))
        else:
            value, rest = floored_pair(self, inputs)
            low, high = Log(value), Log(rest)
        return outputs_from_log_odds(self, Linear(((self.a_, low), (-self.b_, high)), self.c_))

    def _in_words(self) -> str:
        a, b, c = number(self.a_), number(self.b_), number(self.c_)
        return f"Log odds become {a} ln p - {b} ln(1 - p) plus {c}."


def log_shares(scores: BinaryScores) -> tuple[FloatArray, FloatArray]:
    """Logarithm ln p of each row and -ln(1 - p), both finite."""
    positive, negative = np.empty(len(scores)), np.empty(len(scores))
    for block in row_blocks(len(scores), _ROWS):
        positive[block], negative[block] = _log_shares(scores, block)
    return positive, negative


def _log_shares(scores: BinaryScores, block: slice) -> tuple[FloatArray, FloatArray]:
    value = scores.value[block]
    if scores.kind == "logit":
        value = near_log_odds(value)
        return -np.logaddexp(0.0, -value), np.logaddexp(0.0, value)
    rest = 1 - value if scores.rest is None else scores.rest[block]
    low, high = scores.floors
    return np.log(np.maximum(value, low)), -np.log(np.maximum(rest, high))
