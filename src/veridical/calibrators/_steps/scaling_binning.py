"""Scaling, then binning: a parametric map whose calibration error can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core.data.schema import LARGEST, Fields, Numbers, Relations
from veridical._core.formula import Node, Nodes, Quotient, step
from veridical._core.numeric.bisection import last_within
from veridical._core.typing import FloatArray
from veridical.binning import root_count
from veridical.calibrators._base.bases import BinaryCalibrator, Notes, WeightedOutcomes
from veridical.calibrators._base.nodes import floored_pair, outputs_from_positive, positive_value
from veridical.calibrators._base.persistence import Part
from veridical.calibrators._base.scales import FARTHEST, BinaryScores
from veridical.calibrators._base.words import share
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._steps.pieces import check_bins, pool_rows, steps


@dataclass(kw_only=True, eq=False, repr=False)
class ScalingBinningCalibrator(BinaryCalibrator):
    r"""Platt scaling rounded to the mean of its own values in each of a few bins of equal mass.

    Bins make the calibration error of a map measurable without bias, and averaging fitted values
    instead of outcomes needs :math:`O(1/\epsilon^2 + B)` rows instead of the
    :math:`O(B/\epsilon^2)` of a histogram [1]_. What scaling and binning lose in sharpness is lost:
    proper scores are usually worse than those of `PlattCalibrator`.

    Parameters
    ----------
    n_bins : int, "sqrt" or "cbrt", default 10
        Number of bins, or the root of the (effective) sample size rounded down.
    smooth_targets, penalty
        Guards of :class:`PlattCalibrator`, which keep the map off 0 and 1; defaults as there.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are.
    labels : array-like, optional
        Classes in column order.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    scaling_ : PlattCalibrator
        The fitted map before binning.
    edges_ : array of shape (k - 1,)
        Values of `scaling_` that end a bin, halfway between neighbours.
    values_ : array of shape (k,)
        Mean value of `scaling_` in each bin.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    All rows serve all three steps (fit, bins, means), as in the authors' package; their theorem
    divides the rows into three parts instead. Time O(n log n).

    References
    ----------
    .. [1] Kumar, Liang & Ma (2019), NeurIPS, arXiv 1909.10155, section 4.

    Examples
    --------
    Four equal scores of which three are positive, and four of which one is: Platt scaling returns
    3/4 and 1/4, and so do two bins; one bin returns their mean.

    >>> p, y = [0.9] * 4 + [0.1] * 4, [1, 1, 1, 0, 0, 0, 0, 1]
    >>> plain = {"smooth_targets": False, "penalty": None}
    >>> ScalingBinningCalibrator(n_bins=2, **plain).fit(p, y).predict_proba([0.9]).round(6)
    array([[0.25, 0.75]])
    >>> ScalingBinningCalibrator(n_bins=1, **plain).fit(p, y).predict_proba([0.9]).round(6)
    array([[0.5, 0.5]])
    """

    _fitted = Fields(
        scaling_=Part(bare=True),
        edges_=Numbers("m", low=0, high=1, increasing=True),
        values_=Numbers("m+1", low=0, high=1),
    )

    n_bins: int | Literal["sqrt", "cbrt"] = 10
    smooth_targets: bool | str = "auto"
    penalty: float | None = 1.0

    def _scaling(self) -> PlattCalibrator:
        return PlattCalibrator(
            smooth_targets=self.smooth_targets,
            penalty=self.penalty,
            input=self.input,
            weight_type=self.weight_type,
        )

    def _check_parameters(self) -> None:
        check_bins(type(self).__name__, self.n_bins)
        self._scaling()._check_parameters()

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield "scaling_", type(self.scaling_) is PlattCalibrator, "a PlattCalibrator"
        yield "scaling_", self.scaling_.input == self.input, "of the same `input`"
        yield "scaling_", self.scaling_._is_bounded, f"at most {LARGEST:g} in slope and intercept"

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> Notes | None:
        by_rule = isinstance(self.n_bins, str)
        wanted = root_count(str(self.n_bins), rows.size) if by_rule else int(self.n_bins)
        self.scaling_ = self._scaling()
        notes = self.scaling_._fit_map(scores, rows)
        pooled = pool_rows(self.scaling_._map(scores), rows)
        ends = pooled.equal_mass(wanted)
        at = np.append(0, ends + 1)
        cum_p = np.append(0.0, np.cumsum(pooled.weight * pooled.value))
        self.edges_ = pooled.edges_after(ends)[1:-1]
        self.values_ = np.diff(cum_p[at]) / np.diff(pooled.cum_w[at])
        return notes

    def _map(self, scores: BinaryScores) -> FloatArray:
        return steps(self.edges_, self.values_, self.scaling_._map(scores))

    def _formula(self, inputs: Nodes) -> Nodes:
        from scipy.special import expit

        slope, intercept = self.scaling_.slope_, self.scaling_.intercept_
        edges, values = self.edges_, self.values_
        if slope < 0:  # the map of -x rises
            edges, values = edges[::-1], values[::-1]
        if self.input == "probability":
            of: Node = Quotient(*floored_pair(self, inputs))
            low, high = 1e-320, 1e305
        else:
            of, low, high = positive_value(self, inputs), -1e308, 1e308

        def scaled(x: FloatArray) -> FloatArray:
            if self.input == "probability":
                x = np.log(x)
            elif self.input == "logit":
                x = np.clip(x, -FARTHEST, FARTHEST)
            with np.errstate(over="ignore"):
                return np.asarray(expit(x * slope + intercept))

        if slope >= 0:
            places = last_within(scaled, edges, low, high)
        else:
            # Above an edge, scaled(x) > e, is now where x is at most a number: the last with
            # -scaled < -e.
            places = last_within(lambda x: -scaled(x), np.nextafter(-edges, -np.inf), low, high)
        return outputs_from_positive(self, step(of, places, values))

    def _in_words(self) -> str:
        scaled = self.scaling_._in_words().rstrip(".")
        if len(self.values_) == 1:
            return f"Says {share(float(self.values_[0]))} whatever the score."
        return f"{scaled}; then rounds to one of {len(self.values_)} values."
