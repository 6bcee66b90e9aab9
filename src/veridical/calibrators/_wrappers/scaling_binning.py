"""Scaling, then binning: a map rounded to few values, whose calibration error can be measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from veridical._core.data.schema import LARGEST, Fields, Numbers, Relations
from veridical._core.formula import Node, Nodes, Quotient, step
from veridical._core.numeric.bisection import last_within
from veridical._core.typing import FloatArray
from veridical.binning import root_count
from veridical.calibrators._base.bases import (
    BinaryCalibrator,
    Calibrator,
    MulticlassCalibrator,
    Notes,
    WeightedOutcomes,
)
from veridical.calibrators._base.exporting import probe_scores
from veridical.calibrators._base.nodes import (
    both_columns,
    floored_pair,
    outputs_from_positive,
    positive_value,
)
from veridical.calibrators._base.persistence import Part
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._base.scales import FARTHEST, BinaryScores
from veridical.calibrators._base.words import share
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._steps.pieces import check_bins, pool_rows, steps
from veridical.calibrators._wrappers.wrapping import check_part, fit_part, part_of, predict_part
from veridical.exceptions import invalid

_ROUNDING = 1e-12  # falls that are no more than this are rounding


@dataclass(kw_only=True, eq=False, repr=False)
class ScalingBinningCalibrator(BinaryCalibrator):
    r"""Platt scaling, or any map, rounded to the mean of its values in a few bins of equal mass.

    Bins make the calibration error of a map measurable without bias, and averaging fitted values
    instead of outcomes needs :math:`O(1/\epsilon^2 + B)` rows instead of the
    :math:`O(B/\epsilon^2)` of a histogram [1]_. What scaling and binning lose in sharpness is lost:
    proper scores are usually worse than those of `PlattCalibrator`.

    Parameters
    ----------
    n_bins : int, "sqrt" or "cbrt", default 10
        Number of bins, or the root of the (effective) sample size rounded down.
    calibrator : Calibrator, optional
        The map that is rounded; default `PlattCalibrator`, as in [1]_.
    smooth_targets, penalty
        Guards of :class:`PlattCalibrator`, which keep the map off 0 and 1; defaults as there. Not
        to be set beside `calibrator`, which has guards of its own.
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
        The fitted map before binning; only without a `calibrator`.
    part_ : Calibrator
        The fitted `calibrator`, if one was given.
    edges_ : array of shape (k - 1,)
        Values of the map before binning that end a bin, halfway between neighbours.
    values_ : array of shape (k,)
        Mean value of that map in each bin.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    All rows serve all three steps (fit, bins, means), as in the authors' package; their theorem
    divides the rows into three parts instead. Time O(n log n) beside that of the map.

    The bound on rows needs a map of few parameters: after isotonic regression the values that are
    averaged are fitted to the same rows, and look better calibrated than they are. A given map gets
    the probability of the positive class alone. If it falls anywhere, exported bins are of what an
    engine has computed, whose last bit may differ: rows within 1e-15 of an edge may end on its
    other side.

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

    With the map that changes nothing, bins hold the means of what was predicted, whatever happened:

    >>> from veridical.calibrators import IdentityCalibrator
    >>> rounded = ScalingBinningCalibrator(n_bins=2, calibrator=IdentityCalibrator())
    >>> rounded.fit([0.1, 0.3, 0.7, 0.9], [1, 0, 1, 0]).predict_proba([0.15, 0.95])[:, 1].round(6)
    array([0.2, 0.8])
    """

    _fitted = Fields(
        scaling_=Part(bare=True, optional=True),
        part_=Part(classes=2, optional=True),
        edges_=Numbers("m", low=0, high=1, increasing=True),
        values_=Numbers("m+1", low=0, high=1),
    )

    _later = (*BinaryCalibrator._later, "calibrator")

    n_bins: int | Literal["sqrt", "cbrt"] = 10
    smooth_targets: bool | str = "auto"
    penalty: float | None = 1.0
    calibrator: Calibrator | None = None
    scaling_: PlattCalibrator = field(init=False, repr=False, compare=False)
    part_: Calibrator = field(init=False, repr=False, compare=False)

    def _scaling(self) -> PlattCalibrator:
        return PlattCalibrator(
            smooth_targets=self.smooth_targets,
            penalty=self.penalty,
            input=self.input,
            weight_type=self.weight_type,
        )

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_bins(caller, self.n_bins)
        self._scaling()._check_parameters()
        if self.calibrator is None:
            return
        check_part(self, self.calibrator)
        for name, default in (("smooth_targets", "auto"), ("penalty", 1.0)):
            if getattr(self, name) != default:
                hint = "set the guards of the given map itself."
                got, expected = repr(getattr(self, name)), "unset beside `calibrator`"
                raise invalid(caller, name, expected, got, hint=hint)

    def _relations(self) -> Relations:
        yield from super()._relations()
        if self.calibrator is not None:
            yield "part_", hasattr(self, "part_") and not hasattr(self, "scaling_"), "the only map"
            return
        known = hasattr(self, "scaling_") and not hasattr(self, "part_")
        yield "scaling_", known and type(self.scaling_) is PlattCalibrator, "a PlattCalibrator"
        yield "scaling_", self.scaling_.input == self.input, "of the same `input`"
        yield "scaling_", self.scaling_._is_bounded, f"at most {LARGEST:g} in slope and intercept"

    def _fits_pooled_rows(self, n_columns: int) -> bool:
        part = self.calibrator
        if part is None:
            return super()._fits_pooled_rows(n_columns)
        known = isinstance(part, (BinaryCalibrator, MulticlassCalibrator))
        return known and n_columns <= 2 and part._fits_pooled_rows(n_columns)

    def _fit_checked(self, rows: CheckedRows) -> Notes | None:
        for name in ("scaling_", "part_"):
            self.__dict__.pop(name, None)
        notes: Notes = ()
        if self.calibrator is not None and len(rows.classes) == 2:
            self.part_ = part_of(self, self.calibrator)
            notes = fit_part(self.part_, replace(rows, values=rows.oriented(self.input)))
        return notes + (super()._fit_checked(rows) or ())

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> Notes:
        by_rule = isinstance(self.n_bins, str)
        wanted = root_count(str(self.n_bins), rows.size) if by_rule else int(self.n_bins)
        notes: Notes = ()
        if self.calibrator is None:
            self.scaling_ = self._scaling()
            notes = self.scaling_._fit_map(scores, rows)
        pooled = pool_rows(self._scaled(scores), rows)
        ends = pooled.equal_mass(wanted)
        starts = np.append(0, ends[:-1] + 1)
        self.edges_ = pooled.edges_after(ends)[1:-1]
        # Both sums add in the same order, so that no mean of probabilities is above 1 by rounding.
        positive = np.add.reduceat(pooled.weight * pooled.value, starts)
        self.values_ = positive / np.add.reduceat(pooled.weight, starts)
        return notes

    def _scaled(self, scores: BinaryScores) -> FloatArray:
        """Probabilities of the positive class before they are rounded."""
        if self.calibrator is None:
            return self.scaling_._map(scores)
        return predict_part(self.part_, scores.value)[:, 1]

    def _map(self, scores: BinaryScores) -> FloatArray:
        return steps(self.edges_, self.values_, self._scaled(scores))

    def _formula(self, inputs: Nodes) -> Nodes:
        if self.calibrator is not None:
            return outputs_from_positive(self, self._steps_of_part(positive_value(self, inputs)))
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

    def _steps_of_part(self, score: Node) -> Node:
        """Steps along the score where the given map rises with it, else along its values."""

        def scaled(x: FloatArray) -> FloatArray:
            with np.errstate(over="ignore"):
                return predict_part(self.part_, x)[:, 1]

        if (np.diff(scaled(probe_scores(self.part_))) >= -_ROUNDING).all():
            low, high = (0.0, 1.0) if self.input == "probability" else (-1e308, 1e308)
            return step(score, last_within(scaled, self.edges_, low, high), self.values_)
        return step(
            self.part_._formula(both_columns(score, self.input))[1], self.edges_, self.values_
        )

    def _in_words(self) -> str:
        map_ = self.scaling_ if self.calibrator is None else self.part_
        scaled = map_._in_words().rstrip(".")
        if len(self.values_) == 1:
            return f"Says {share(float(self.values_[0]))} whatever the score."
        return f"{scaled}; then rounds to one of {len(self.values_)} values."
