"""Platt scaling: log odds as a straight line of log odds, of probabilities or of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veridical._core.data.options import check_penalty
from veridical._core.data.schema import ANY, LARGEST, Fields, Number, Relations
from veridical._core.data.validation import check_option
from veridical._core.formula import Clip, Linear, Logistic, Node, Nodes
from veridical._core.sample import weighted_mean
from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import LogisticCalibrator, Notes, WeightedOutcomes
from veridical.calibrators._base.nodes import log_odds_of, outputs_from_log_odds, positive_value
from veridical.calibrators._base.scales import BinaryScores, log_odds, map_log_odds
from veridical.calibrators._base.words import number
from veridical.calibrators._logistic.bounded_newton import check_two_classes, ridge_to
from veridical.calibrators._logistic.rows import fit_rows, logistic_rows
from veridical.exceptions import invalid

_SATURATED = 2e3  # log odds beyond which a probability is 0 or 1
_LARGEST = 1e300
_EQUAL = 1e-100  # probabilities that spread less are all the same
FEATURES = ("log_odds", "probability")


@dataclass(kw_only=True, eq=False, repr=False)
class PlattCalibrator(LogisticCalibrator):
    r"""Platt scaling: logit p' = a z + b, with z the log odds of the prediction (or the score).

    The map of two normal classes of equal variance. Two parameters are hard to overfit, and can
    stretch, shrink and shift log odds but not bend them.

    Parameters
    ----------
    feature : {"log_odds", "probability"}, default "log_odds"
        What z is. "probability" is scikit-learn's sigmoid on probabilities: logit p' = a p + b, a
        map that flattens towards 0 and 1. It cannot leave calibrated predictions alone, but is
        the better line where extreme predictions deserve no trust. Scores are read as logits.
    smooth_targets : bool or "auto", default "auto"
        Whether to fit to (n1 + 1) / (n1 + 2) and 1 / (n0 + 2) instead of 1 and 0, where n1 and n0
        count the rows of each class: keeps the map finite where the classes are separated. "auto"
        does so where no ridge does: for scores, on probabilities, and without a penalty.
    penalty : float or None, default 1.0
        Weight of the ridge towards the identity, a = 1 and b = 0, in units of one row: the mean
        log loss is minimised plus penalty / (2 n) ((a - 1)^2 + b^2). None or 0 turns it off. It
        does not act on scores or on probabilities, where the identity is no such line.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Probabilities become log odds first, unless `feature` says otherwise.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What a weight means for n.

    Attributes
    ----------
    slope_, intercept_ : float
        a and b.
    n_iter_ : int
        Newton steps.
    gradient_norm_ : float
        Norm of the gradient at the solution divided by n; below 1e-8. For scores, and on
        probabilities, in units of their standard deviation.
    classes_ : array of shape (2,)

    Notes
    -----
    Convex; one optimum unless all scores are equal. Both guards vanish as 1/n. One is enough, and
    the ridge is the better one where there is an identity to go to: on nearly separated classes,
    smoothed targets take away confidence that the model has earned, and on 90 such rows they cost
    0.02 nats where the ridge gains 0.01. With both off, separated classes have no finite optimum:
    the fit stops at a steep map and warns. The slope
    may be negative, for scores that rank the wrong way. O(n) for each of a few passes.

    With `feature="probability"` the optimum is that of `CalibratedClassifierCV(method="sigmoid")`
    on a model's `predict_proba`, Platt's targets included.

    References
    ----------
    .. [1] Platt (1999), Probabilistic outputs for support vector machines, in Advances in Large
       Margin Classifiers, MIT Press, 61-74.
    .. [2] Lin, Lin & Weng (2007), A note on Platt's probabilistic outputs for support vector
       machines, Machine Learning 68, doi 10.1007/s10994-007-5018-6.

    Examples
    --------
    Three of four rows in each group of equal predictions are of the class 1 or 0. The map has one
    parameter a group, so it returns the group's share: 3/4 and 1/4.

    >>> plain = PlattCalibrator(smooth_targets=False, penalty=None)
    >>> plain.fit([0.9] * 4 + [0.1] * 4, [1, 1, 1, 0, 0, 0, 0, 1]).predict_proba([0.9]).round(6)
    array([[0.25, 0.75]])
    """

    _fitted = Fields(
        slope_=Number(low=-ANY, high=ANY),  # scores may be of any size
        intercept_=Number(low=-ANY, high=ANY),
        n_iter_=Number(low=0, whole=True),
        gradient_norm_=Number(low=0),
    )

    _later = (*LogisticCalibrator._later, "feature")

    feature: str = "log_odds"
    smooth_targets: bool | str = "auto"
    penalty: float | None = 1.0

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_option(caller, "feature", self.feature, FEATURES)
        check_penalty(caller, self.penalty)
        known = isinstance(self.smooth_targets, (bool, np.bool_))
        if not known and self.smooth_targets != "auto":
            got, hint = f"{self.smooth_targets!r}", 'choose "auto" if unsure.'
            raise invalid(caller, "smooth_targets", 'True, False or "auto"', got, hint=hint)

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield "slope_", self._is_bounded, f"at most {LARGEST:g} in size, as the intercept"

    @property
    def _is_bounded(self) -> bool:
        """Whether products with log odds are numbers; with scores, nobody knows their size."""
        scores = self.input == "score" and self.feature == "log_odds"
        return scores or max(abs(self.slope_), abs(self.intercept_)) <= LARGEST

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> Notes:
        caller = type(self).__name__
        penalty = check_penalty(caller, self.penalty) if self._has_identity else 0.0
        smooth = penalty == 0 if self.smooth_targets == "auto" else bool(self.smooth_targets)
        check_two_classes(caller, rows, guarded=smooth or penalty > 0)
        weight = None if rows.weight is None else rows.weights
        z, centre, unit = self._predictor(scores), 0.0, 1.0
        start = np.array([0.0, 1.0])
        if not self._has_identity:
            z, centre, unit = _standardised(z, weight)
            if self.feature == "probability" and unit < _EQUAL:
                z, unit = np.zeros(len(z)), 1.0
            start = np.array(logistic_map_of_means(z, rows)[::-1])
        targets = smoothed_targets(rows) if smooth else (0.0, 1.0)
        loss = logistic_rows((z,), rows.y, weight, rows.size, targets=targets)
        ridge = ridge_to(np.array([0.0, 1.0]), penalty)
        fit = fit_rows(loss, ridge, start, np.zeros(2, dtype=bool), z, caller=caller)
        self.slope_ = float(fit.theta[1]) / unit
        self.intercept_ = float(fit.theta[0]) - self.slope_ * centre
        self.n_iter_, self.gradient_norm_ = fit.n_iter, fit.gradient
        return fit.notes

    @property
    def _has_identity(self) -> bool:
        """Whether a line of slope one leaves predictions as they are."""
        return self.input != "score" and self.feature == "log_odds"

    def _predictor(self, scores: BinaryScores) -> FloatArray:
        """What the line is of."""
        return scores.p if self.feature == "probability" else log_odds(scores)

    def _log_odds(self, scores: BinaryScores) -> FloatArray:
        if self.feature == "probability":
            return scores.p * self.slope_ + self.intercept_
        return map_log_odds(scores, lambda z: z * self.slope_ + self.intercept_)

    def _formula(self, inputs: Nodes) -> Nodes:
        slope, intercept = self.slope_, self.intercept_
        z: Node = log_odds_of(self, inputs)
        if self.feature == "probability":
            z = positive_value(self, inputs) if self.input == "probability" else Logistic(z)
        elif self.input == "score":  # any size: cut where the answer no longer changes
            far = (_SATURATED + abs(intercept)) / abs(slope) if slope else 0.0
            z = Clip(z, -min(far, _LARGEST), min(far, _LARGEST))
        return outputs_from_log_odds(self, Linear(((slope, z),), intercept))

    def _in_words(self) -> str:
        slope, intercept = number(self.slope_), number(self.intercept_)
        if not self._has_identity:
            what = "probability" if self.feature == "probability" else "score"
            return f"Log odds are {slope} times the {what} plus {intercept}."
        return f"Multiplies log odds by {slope} and adds {intercept}."


def _standardised(scores: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, float, float]:
    """Scores less their mean in units of their standard deviation, that mean and that unit."""
    largest = float(np.abs(scores).max()) or 1.0  # squares of huge scores would overflow
    centre = weighted_mean(scores / largest, weight)
    away = scores / largest - centre
    spread = math.sqrt(weighted_mean(away**2, weight)) or 1.0
    return away / spread, centre * largest, spread * largest


def smoothed_targets(rows: WeightedOutcomes) -> tuple[float, float]:
    """Platt's targets of outcomes 0 and 1: 1 / (n0 + 2) and (n1 + 1) / (n1 + 2).

    The mean of the posterior of a share of which all outcomes are alike, under a uniform prior
    (Platt 1999, section 2.2).
    """
    positive = weighted_mean(rows.y, rows.weight) * rows.size
    return 1 / (rows.size - positive + 2), (positive + 1) / (positive + 2)


def logistic_map_of_means(scores: FloatArray, rows: WeightedOutcomes) -> tuple[float, float]:
    """Slope w and intercept -w m of the logistic map through the class means.

    m is the mean of the two class means, w their difference divided by the variance within the
    classes (Flach 2012, section 7.4): the posterior of two normal classes of that variance and
    equal shares. (0, log odds of the classes) if there is no such variance or but one class.
    """
    positive = rows.y == 1
    share = weighted_mean(positive, rows.weight)
    weight = np.ones(len(scores)) if rows.weight is None else rows.weight
    if 0 < share < 1:
        high = weighted_mean(scores[positive], weight[positive])
        low = weighted_mean(scores[~positive], weight[~positive])
        spread = weighted_mean((scores - np.where(positive, high, low)) ** 2, weight)
        if spread > 0:
            slope = (high - low) / spread
            return slope, -slope * (high + low) / 2
    share = min(max(share, 1 / (rows.size + 2)), 1 - 1 / (rows.size + 2))
    return 0.0, math.log(share / (1 - share))
