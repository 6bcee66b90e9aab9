"""Binned calibration errors: distances in each bin, and how they become one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from veridical._core.data.validation import check_option
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray
from veridical.binning import Binning, UniformBins
from veridical.exceptions import invalid, unknown_option
from veridical.lenses import ClasswiseProblem, Problem
from veridical.miscalibration._errors.base import NormedEstimator
from veridical.summaries import Assignment, Summary, VectorSummary, summarise


def powered_gaps(
    gap: FloatArray,
    share: FloatArray,
    size: FloatArray,
    power: float,
    variance: FloatArray | None,
) -> FloatArray:
    """Error to the power p of each problem (rows of (M, B) arrays); the maximum for p = inf.

    With the variance of a single outcome in each bin the result is debiased and may be negative.
    """
    if math.isinf(power):
        return np.where(share > 0, gap, 0.0).max(axis=1)
    if variance is None:
        return (share * gap**power).sum(axis=1)
    if power == 1:
        return (share * (gap - _folded_excess(gap, variance, size))).sum(axis=1)
    informed = size > 1 + 1e-9
    kept = np.where(informed, share, 0.0)
    total = kept.sum(axis=1)
    if not (total > 0).all():
        hint = "use fewer bins, because the bias of a bin of one row cannot be estimated."
        raise invalid("BinnedError", "y_prob", "two rows in some bin", "one row a bin", hint=hint)
    correction = variance / np.where(informed, size - 1, 1.0)
    return (kept * (gap**2 - correction)).sum(axis=1) / total


def roots(powered: FloatArray, power: float) -> FloatArray:
    """Roots of p-th powers, cut at zero."""
    positive = np.maximum(powered, 0.0)
    return positive if math.isinf(power) or power == 1 else positive ** (1 / power)


def aggregate_classes(powered: FloatArray, power: float, how: str) -> FloatArray:
    """One number over the problems (last axis): p-norm of the mean, plain mean, or maximum."""
    if how == "norm":
        combined = powered.max(axis=-1) if math.isinf(power) else powered.mean(axis=-1)
        return roots(combined, power)
    each = roots(powered, power)
    return each.mean(axis=-1) if how == "mean" else each.max(axis=-1)


def _folded_excess(gap: FloatArray, variance: FloatArray, size: FloatArray) -> FloatArray:
    """E|g + s Z| - |g| for standard normal Z (a folded normal), s^2 = variance / size."""
    from scipy.special import ndtr

    spread = np.sqrt(variance / np.where(size > 0, size, 1.0))
    ratio = np.divide(gap, spread, out=np.full(gap.shape, np.inf), where=spread > 0)
    density = math.sqrt(2 / math.pi) * np.exp(-(np.minimum(ratio, 40.0) ** 2) / 2)
    return spread * density - 2 * gap * ndtr(-ratio)


Distance = Callable[[FloatArray, FloatArray], FloatArray]


def total_variation(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Half the sum of absolute differences; in [0, 1]."""
    return np.abs(observed - predicted).sum(axis=-1) / 2


def manhattan(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Sum of absolute differences; in [0, 2]."""
    return np.abs(observed - predicted).sum(axis=-1)


def euclidean(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Root of the sum of squared differences."""
    return np.sqrt(squared_euclidean(observed, predicted))


def squared_euclidean(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Sum of squared differences."""
    return ((observed - predicted) ** 2).sum(axis=-1)


def realised_class(observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Absolute difference at the class that occurs, on average (ECE^mul of 001 Definition 3)."""
    return (observed * np.abs(observed - predicted)).sum(axis=-1)


NAMED: dict[str, Distance] = {
    "tv": total_variation,
    "l1": manhattan,
    "l2": euclidean,
    "sqeuclidean": squared_euclidean,
    "realised": realised_class,
}


def check_distance(distance: Any, *, caller: str) -> None:
    """Raise unless `distance` is None, a known name or a callable."""
    if distance is None or callable(distance):
        return
    if not isinstance(distance, str) or distance not in NAMED:
        raise unknown_option(caller, "distance", distance, NAMED)


def apply_distance(distance: Any, observed: FloatArray, predicted: FloatArray) -> FloatArray:
    """Distances between rows of two (C, K) arrays; a callable's answer is checked."""
    function = NAMED[distance] if isinstance(distance, str) else distance
    result = np.asarray(function(observed, predicted), dtype=np.float64)
    if result.shape != observed.shape[:1] or not (result >= 0).all():
        hint = "return one non-negative number per row, e.g. `np.abs(a - b).max(axis=-1)`."
        got = f"shape {result.shape}"
        expected = "a function of two (cells, classes) arrays that gives a distance per cell"
        raise invalid("BinnedError", "distance", expected, got, hint=hint)
    return result


_FEW_ROWS = 10  # below which the gap of a bin says next to nothing
_FEW_CELLS = 20  # up to which cells are looked at one by one
Region = Sequence[float] | Callable[[FloatArray], Any]


@dataclass(frozen=True)
class BinnedError(NormedEstimator):
    r"""Distance between observed frequency and mean prediction, over bins.

    Parameters
    ----------
    binning : Binning, default UniformBins(15)
        How predictions are grouped.
    assignment : {"hard", "linear", "linear-inverted"}, default "hard"
        One bin a row, or shared between the two nearest bin centres (001 Definition 5). The
        formula printed there swaps the two weights; "linear-inverted" reproduces it.
    norm : float >= 1 or "max", default 1
        1 is ECE, 2 the root-mean-square error, "max" the MCE.
    debias : bool, default False
        Subtract the part that comes from estimating frequencies with few rows; norms 1 and 2.
    distance : {"tv", "l1", "l2", "sqeuclidean", "realised"} or callable, optional
        Between observed and predicted vectors of a bin; a callable takes two (bins, classes)
        arrays. Default the absolute gap for a binary problem and total variation for a vector
        (they agree for two classes). "realised" is the multiclass ECE of 001 Definition 3, an
        expectation over the class that occurs.
    region : (low, high) or callable, optional
        Only predictions in the closed interval (or where the callable is true), as in 002 eq. 5.
    average : {"rows", "bins"}, default "rows"
        What gaps are averaged over: "bins" gives every bin that holds rows the same weight, a bin
        of three rows that of one of three hundred. With `QuantileBins` and a classwise lens this is
        the adaptive calibration error (ACE) of [2]_, with `UniformBins` the average one of netcal.
    aggregate : {"norm", "mean", "max"}, default "norm"
        Over classes, with a classwise lens: (mean_k e_k^p)^(1/p), which for "max" is the largest
        class error (survey Definition 5); their plain mean; or their maximum.

    Notes
    -----
    .. math:: \left(\sum_b \frac{W_b}{W} \, |\bar y_b - \bar p_b|^p\right)^{1/p}

    Lower is better; in [0, 1] for the default distances; 0 for equal means in every bin. The
    plug-in estimate is biased upwards, the more so the fewer rows a bin holds (a perfectly
    calibrated model with 200 uniform predictions and 15 bins reads 0.086), and for fixed bins its
    limit is at most the true error (002 Theorem 2). Debiasing, with n_b rows in bin b:

    - norm 2 subtracts :math:`\bar y_b (1 - \bar y_b) / (n_b - 1)` from each squared gap
      (Kumar, Liang & Ma 2019, arXiv 1909.10155, Definition 5.1; Bröcker 2012); the mean is cut at
      zero before the root. Bins of one row carry no information on the error and are left out.
    - norm 1 subtracts the mean excess of :math:`|g_b + \sigma_b Z|` over :math:`|g_b|`, a folded
      normal with :math:`\sigma_b^2 = \bar y_b (1 - \bar y_b) / n_b`; cut at zero.

    Empty bins do not count. Time O(n), memory O(bins), beyond what the binning itself needs.

    References
    ----------
    .. [1] Survey Definitions 1-6. 002 eq. 5-6. Guo et al. (2017), arXiv 1706.04599.
    .. [2] Nixon, Dusenberry, Zhang, Jerfel & Tran (2019), Measuring calibration in deep learning,
       arXiv 1904.01685, section 3.

    Examples
    --------
    >>> BinnedError(UniformBins(2))([0, 1, 1, 1], [0.25, 0.25, 0.75, 1.0])  # (.25 + .125) / 2
    0.1875
    >>> y, p = [0, 1, 1, 1], [0.25, 0.75, 0.75, 1.0]
    >>> round(BinnedError(UniformBins(2), average="bins")(y, p), 6)  # (.25 + .5 / 3) / 2
    0.208333
    """

    binning: Any = field(default_factory=UniformBins)
    assignment: Assignment = "hard"
    norm: Any = 1
    debias: bool = False
    distance: Any = None
    region: Region | None = None
    aggregate: Literal["norm", "mean", "max"] = "norm"
    average: Literal["rows", "bins"] = "rows"

    def __post_init__(self) -> None:
        caller = "BinnedError"
        check_option(caller, "assignment", self.assignment, ("hard", "linear", "linear-inverted"))
        check_option(caller, "aggregate", self.aggregate, ("norm", "mean", "max"))
        check_option(caller, "average", self.average, ("rows", "bins"))
        check_distance(self.distance, caller=caller)
        if not isinstance(self.binning, Binning):
            hint = "e.g. `BinnedError(binning=QuantileBins(15))`."
            raise invalid(caller, "binning", "a binning", repr(self.binning), hint=hint)
        self._check_norm('1 is ECE, 2 the root-mean-square error, "max" the MCE.')
        if self.debias and (self.power not in (1, 2) or self.assignment != "hard"):
            hint = "debiasing is known for norms 1 and 2 with hard assignment."
            got = f"norm {self.norm!r} with assignment {self.assignment!r}"
            raise invalid(caller, "debias", "False here", got, hint=hint)
        if self.debias and self.distance not in (None, "l2" if self.power == 2 else "tv"):
            hint = 'leave `distance` out, or use "l2" with norm 2.'
            raise invalid(caller, "debias", "False here", f"distance {self.distance!r}", hint=hint)
        if self.region is not None and not callable(self.region):
            pair = isinstance(self.region, (tuple, list)) and len(self.region) == 2
            if not (pair and 0 <= self.region[0] <= self.region[1] <= 1):
                hint = "e.g. `region=(0.5, 1.0)`."
                got = repr(self.region)
                raise invalid(caller, "region", "(low, high) within [0, 1]", got, hint=hint)

    @property
    def name(self) -> str:
        """Short name."""
        known = {1.0: "ECE", 2.0: "RMSCE", math.inf: "MCE"}
        if self.average == "bins":
            known[1.0] = "ACE"
        name = known.get(self.power, f"L{self.power:g} error")
        return f"{name} debiased" if self.debias else name

    @property
    def definition(self) -> str:
        """Binning, assignment, distance, region and aggregation in words."""
        parts = [self.binning.name]
        if self.assignment != "hard":
            parts.append(f"{self.assignment} assignment")
        if self.distance is not None:
            named = isinstance(self.distance, str)
            parts.append(f"distance {self.distance if named else 'given'}")
        if self.region is not None:
            given = callable(self.region)
            parts.append("a given region" if given else f"predictions in {self.region}")
        if self.average == "bins" and not math.isinf(self.power):
            parts.append("every bin alike")
        if self.aggregate != "norm":
            parts.append(f"{self.aggregate} over classes")
        return ", ".join(parts)

    def measure(self, problem: Problem) -> float:
        """Bin the problem and measure it."""
        return self.measure_with_doubts(problem)[0]

    def measure_with_doubts(self, problem: Problem) -> tuple[float, list[str]]:
        """Also say if bins are fewer than asked for, or hold hardly a row each."""
        if self.region is None:
            summary = self.summarise(problem)
            return self.from_summary(summary), self._doubts(summary)
        if isinstance(problem, ClasswiseProblem):
            parts = [
                self.summarise(self._inside(problem.problem(k))) for k in range(problem.n_problems)
            ]
            powered = np.concatenate(
                [self.powered(part) for part in parts if isinstance(part, Summary)]
            )
            return float(aggregate_classes(powered, self.power, self.aggregate)), []
        summary = self.summarise(self._inside(problem))
        return self.from_summary(summary), self._doubts(summary)

    def _doubts(self, summary: Summary | VectorSummary) -> list[str]:
        """Those about the bins, and of a maximum that it is that of a few rows."""
        found = doubts_of_summary(summary)
        if math.isinf(self.power) and not found:
            rows = self._rows_of_largest(summary)
            if rows < _FEW_ROWS:
                what = "cell" if isinstance(summary, VectorSummary) else "bin"
                found.append(
                    f"the largest gap is that of a {what} of {rows:.3g} rows: the figure is mostly"
                    " noise"
                )
        return found

    def _rows_of_largest(self, summary: Summary | VectorSummary) -> float:
        """Effective number of rows behind the largest gap."""
        if isinstance(summary, VectorSummary):
            gap = apply_distance(self.distance or "tv", summary.mean_y, summary.mean_p)
            return float(summary.size[gap.argmax()])
        gap = np.where(summary.occupied, self._gaps(summary), -1.0)
        return float(summary.size.reshape(-1)[gap.argmax()])

    def summarise(self, problem: Problem) -> Summary | VectorSummary:
        """Sufficient statistics this error is a function of (before any `region`)."""
        return summarise(problem, self.binning, assignment=self.assignment)

    def from_summary(self, summary: Summary | VectorSummary) -> float:
        """Return the error of binned data, wherever they were binned."""
        if isinstance(summary, VectorSummary):
            return self._vector_error(summary)
        return float(aggregate_classes(self.powered(summary), self.power, self.aggregate))

    def each(self, summary: Summary, *, n_problems: int = 1) -> FloatArray:
        """Errors of the problems of a summary, one by one or by so many that belong together."""
        powered = self.powered(summary).reshape(-1, n_problems)
        return aggregate_classes(powered, self.power, self.aggregate)

    def powered(self, summary: Summary) -> FloatArray:
        """Error to the power of the norm, by problem; debiased ones may be negative."""
        gap, variance = self._gaps(summary), None
        if self.debias:  # of one outcome; the Euclidean distance of two classes counts it twice
            mean_y = np.where(summary.occupied, summary.mean_y, 0.0)
            single = np.maximum(mean_y * (1 - mean_y), 0.0)  # a mean may exceed one by rounding
            variance = single * (2 if self.distance == "l2" else 1)
        share = self._share(summary.share)
        return powered_gaps(gap, share, summary.size, self.power, variance)

    def _gaps(self, summary: Summary) -> FloatArray:
        """Distance of each bin, (M, B); nil where empty."""
        held = summary.occupied
        mean_y, mean_p = np.where(held, summary.mean_y, 0.0), np.where(held, summary.mean_p, 0.0)
        if self.distance is None:
            return np.abs(mean_y - mean_p)
        flat_y, flat_p = mean_y[held], mean_p[held]
        gap = np.zeros(held.shape)
        observed = np.column_stack([1 - flat_y, flat_y])
        predicted = np.column_stack([1 - flat_p, flat_p])
        gap[held] = apply_distance(self.distance, observed, predicted)
        return gap

    def _share(self, share: FloatArray) -> FloatArray:
        """What each bin of (M, B) counts."""
        if self.average == "rows":
            return share
        held = share > 0
        return held / held.sum(axis=1, keepdims=True)

    def each_vector(self, summary: VectorSummary, sum_wy: FloatArray) -> FloatArray:
        """Errors of cells with other sums of outcomes, (R, C, K), one for each of R."""
        if self.distance is not None and not isinstance(self.distance, str):  # takes one at a time
            return np.array([self._vector_error(replace(summary, sum_wy=one)) for one in sum_wy])
        return self._vector_errors(summary, sum_wy)

    def _vector_error(self, summary: VectorSummary) -> float:
        return float(self._vector_errors(summary, summary.sum_wy[None])[0])

    def _vector_errors(self, summary: VectorSummary, sum_wy: FloatArray) -> FloatArray:
        named = self.distance or ("l2" if self.debias and self.power == 2 else "tv")
        mean_y = sum_wy / summary.sum_w[:, None]
        flat = mean_y.reshape(-1, mean_y.shape[2])
        predicted = np.broadcast_to(summary.mean_p, mean_y.shape).reshape(flat.shape)
        gap = apply_distance(named, flat, predicted).reshape(mean_y.shape[:2])
        variance = None
        if self.debias:
            if self.power != 2:
                hint = "use norm=2, whose bias is known for vectors."
                raise invalid("BinnedError", "debias", "False here", "norm 1", hint=hint)
            variance = (mean_y * (1 - mean_y)).sum(axis=2)
        share = self._share(summary.share[None, :])
        powered = powered_gaps(gap, share, summary.size[None, :], self.power, variance)
        return roots(powered, self.power)

    def _inside(self, sample: Sample) -> Sample:
        if callable(self.region):
            mask = np.asarray(self.region(sample.p))
            if mask.dtype != bool or mask.shape != (sample.n,):
                hint = "return one True or False per row, e.g. `lambda p: p > 0.5`."
                got = f"{mask.dtype} of shape {mask.shape}"
                raise invalid("BinnedError", "region", "a mask of rows", got, hint=hint)
        else:
            if not isinstance(sample, BinarySample):
                hint = "pass a function of the (n, K) matrix that returns a mask."
                got = repr(self.region)
                raise invalid("BinnedError", "region", "callable for vectors", got, hint=hint)
            low, high = self.region  # type: ignore[misc]
            mask = (sample.p >= low) & (sample.p <= high)
        if not mask.any():
            hint = "choose a region that holds predictions."
            raise invalid("BinnedError", "region", "non-empty", "no rows", hint=hint)
        return sample.take(np.flatnonzero(mask))


def doubts_of_summary(summary: Summary | VectorSummary) -> list[str]:
    """Say if bins are fewer than asked for, or hold hardly a row each."""
    found: list[str] = []
    by_weight = summary.weight_type == "frequency"
    n_rows = float((summary.sum_w if by_weight else summary.count).sum())
    n_bins = float(len(summary.count))
    if isinstance(summary, Summary):
        n_bins = float(summary.occupied.sum())
        found = sorted({p.doubt for p in summary.partitions if p.doubt is not None})
    if n_rows < 2 * n_bins:
        found.append(f"{n_rows / n_bins:.1f} rows a bin on average: the figure is mostly noise")
    elif isinstance(summary, VectorSummary) and n_bins > _FEW_CELLS:
        alone = float(summary.share[summary.size < _FEW_ROWS].sum())
        if alone > 0.5:
            found.append(
                f"{alone:.0%} of the rows are in cells of fewer than {_FEW_ROWS}: the figure is"
                " mostly noise"
            )
    return found
