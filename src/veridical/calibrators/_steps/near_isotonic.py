"""Near-isotonic regression, averaged over all degrees of monotonicity."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.calibrators._base.scales import BinaryScores
from veridical.calibrators._steps.pieces import mix, pool_rows
from veridical.calibrators._steps.thresholds import StepCalibrator

_SAME = 1e-12  # relative difference of penalties that are one up to rounding


@dataclass(frozen=True)
class NearIsotonicPath:
    r"""Minimisers of :math:`\frac12 \sum_i w_i (y_i - b_i)^2 + \lambda \sum_i (b_i - b_{i+1})_+`.

    Tibshirani, Hoefling & Tibshirani (2011), Technometrics 53, 54-61, doi 10.1198/TECH.2010.10111:
    as the penalty grows, neighbouring groups meet and never part again. Of a group with weight N
    and weighted outcomes S

    .. math:: b = (S + \lambda ([\text{left neighbour above}] - [\text{right neighbour below}])) / N

    and neighbours keep their order until they meet.

    Attributes
    ----------
    weight, positive : arrays of shape (m,)
        Runs of equal frequency at penalty 0.
    falls : array of shape (m - 1,)
        Whether the frequency falls from a run to the next.
    penalty : array of shape (j,)
        Penalty of each merge, non-decreasing.
    boundary : array of shape (j,)
        Run after which the boundary goes.
    """

    weight: FloatArray
    positive: FloatArray
    falls: BoolArray
    penalty: FloatArray
    boundary: IntArray

    @cached_property
    def merged_at(self) -> IntArray:
        """Number of the merge that removes each boundary; past the last if none does."""
        number = np.full(len(self.falls), len(self.boundary), dtype=np.intp)
        number[self.boundary] = np.arange(len(self.boundary))
        return number

    @property
    def models(self) -> IntArray:
        """Numbers of merges after which the penalty is about to grow: one for each distinct fit."""
        after = np.append(self.penalty, np.inf)
        before = np.append(0.0, self.penalty)
        return np.flatnonzero(after > before * (1 + _SAME))

    def last_runs(self, merges: int) -> IntArray:
        """Last run of each group after so many merges."""
        return np.append(np.flatnonzero(self.merged_at >= merges), len(self.weight) - 1)

    def groups(self, last: IntArray) -> tuple[FloatArray, FloatArray]:
        """Weight and weighted outcomes of the groups that end with these runs."""
        first = np.append(0, last[:-1] + 1)
        return np.add.reduceat(self.weight, first), np.add.reduceat(self.positive, first)

    def values(self, merges: int) -> FloatArray:
        """Fitted value of each group after so many merges."""
        last = self.last_runs(merges)
        weight, positive = self.groups(last)
        pull = np.zeros(len(last) + 1)
        pull[1:-1] = self.falls[last[:-1]]
        penalty = self.penalty[merges - 1] if merges else 0.0
        return np.clip((positive + penalty * (pull[:-1] - pull[1:])) / weight, 0.0, 1.0)


def near_isotonic_path(weight: FloatArray, positive: FloatArray) -> NearIsotonicPath:
    """Follow the path over frequencies in the order of their scores. Time O(m log m)."""
    frequency = positive / weight
    first = np.flatnonzero(np.concatenate([[True], frequency[1:] != frequency[:-1]]))
    weight, positive = np.add.reduceat(weight, first), np.add.reduceat(positive, first)
    falls = frequency[first[1:]] < frequency[first[:-1]]
    penalty, boundary = _merge(weight.tolist(), positive.tolist(), falls.tolist())
    # Rounding may put a merge before one that caused it.
    return NearIsotonicPath(
        weight,
        positive,
        falls,
        np.maximum.accumulate(np.asarray(penalty, dtype=np.float64)),
        np.asarray(boundary, dtype=np.intp),
    )


def _merge(
    weight: list[float], positive: list[float], falls: list[bool]
) -> tuple[list[float], list[int]]:
    """Penalties and boundaries of the merges, in order. The lists are used up.

    A group is known by its last run, so that `falls[g]` stays the sign of the step after it.
    """
    m = len(weight)
    before, after = list(range(-1, m - 1)), list(range(1, m + 1))
    falls = [*falls, False]  # nothing below the last group; index -1 means the same of the first
    meeting = [-1.0] * m  # penalty at which a group meets the next; -1 for never

    def meet(a: int) -> float:
        """Penalty at which group a meets the next one, or -1."""
        b = after[a]
        drop = positive[a] * weight[b] - positive[b] * weight[a]
        rate = (falls[before[a]] - falls[a]) * weight[b] - (falls[a] - falls[b]) * weight[a]
        closing = rate < 0 if falls[a] else rate > 0
        return -drop / rate if closing else -1.0

    for a in range(m - 1):
        meeting[a] = meet(a)
    heap = [(time, a) for a, time in enumerate(meeting) if time >= 0]
    heapq.heapify(heap)
    penalties: list[float] = []
    boundaries: list[int] = []
    while heap:
        time, a = heapq.heappop(heap)
        if meeting[a] != time:
            continue  # one of the two has changed since
        b, left = after[a], before[a]
        penalties.append(time)
        boundaries.append(a)
        weight[b] += weight[a]
        positive[b] += positive[a]
        meeting[a] = -1.0
        before[b] = left
        if left >= 0:
            after[left] = b
        for g in (left, b):
            if g >= 0 and after[g] < m:
                meeting[g] = meet(g)
                if meeting[g] >= 0:
                    heapq.heappush(heap, (meeting[g], g))
    return penalties, boundaries


# Models less probable than the best by this factor, e^-40, are left out.
_NEGLIGIBLE = 80.0  # on the scale of BIC


class NearIsotonicCalibrator(StepCalibrator):
    r"""Ensemble of near-isotonic maps (ENIR): monotone where the data do not insist otherwise.

    Isotonic regression supposes that the model ranks rightly. A near-isotonic fit pays a price
    for every fall instead; all such fits, from the frequencies themselves to the isotonic map, are
    averaged with weights exp(-BIC / 2) [1]_. Ranks, and the AUC, may change.

    Parameters
    ----------
    laplace : float, default 1
        Imagined rows of each class, which keep the map off 0 and 1; 0 turns the guard off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; only their order matters.
    labels : array-like, optional
        Classes in column order.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    edges_ : array of shape (k - 1,)
        Scores between which the map is constant, halfway between neighbouring scores.
    values_ : array of shape (k,)
        Probabilities.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Equal scores are pooled first. The path of fits is piecewise linear in the penalty
    (:math:`\lambda` times the sum of falls); a model is taken at every penalty at which groups of
    scores merge, and at zero, with

    .. math:: \mathrm{BIC} = -2 \sum_i w_i \log P_i + d \log n

    where :math:`P_i` is the fitted probability of what happened, d the number of groups and n the
    (effective) sample size. Models less probable than the best by a factor of e^-40 are left out.
    The guard turns the average g into (n g + a) / (n + 2 a), with a = `laplace`.

    Time O(n log n), the merges in a Python loop: about half a second for 1e5 rows.

    References
    ----------
    .. [1] Naeini & Cooper (2016), ICDM, 360-369, doi 10.1109/ICDM.2016.0047, arXiv 1511.05191.
    .. [2] Tibshirani, Hoefling & Tibshirani (2011), Technometrics 53, 54-61,
       doi 10.1198/TECH.2010.10111.

    Examples
    --------
    Frequencies 1/4 and 3/4 rise, so there is one fit only.

    >>> p, y = [0.3] * 4 + [0.6] * 4, [0, 0, 0, 1, 0, 1, 1, 1]
    >>> map = NearIsotonicCalibrator(laplace=0).fit(p, y)
    >>> map.predict_proba([0.4, 0.5])[:, 1].tolist()
    [0.25, 0.75]
    """

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> None:
        pooled = pool_rows(scores.value, rows)
        frequency = pooled.positive / pooled.weight
        path = near_isotonic_path(pooled.weight, pooled.positive)
        last, values = average_by_bic(path, rows.size)
        ends = np.append(np.flatnonzero(frequency[1:] != frequency[:-1]), len(frequency) - 1)
        self.edges_ = pooled.edges_after(ends[last])[1:-1]
        self.values_ = mix(values, rows.size, self.laplace)


def average_by_bic(path: NearIsotonicPath, size: float) -> tuple[IntArray, FloatArray]:
    """Last run of each group of the average, and its values.

    A group's likelihood is at most that at its own frequency, which bounds BIC from below for all
    models at once; only models that this does not rule out are looked at, the isotonic one first.
    """
    price = math.log(size) if size > 1 else 0.0
    models = path.models[::-1]
    bound = price * (len(path.weight) - models) - 2 * _best_likelihoods(path)[models]
    best, found = math.inf, []
    for merges, least in zip(models.tolist(), bound.tolist(), strict=True):
        if least > best + _NEGLIGIBLE:
            continue
        weight, positive = path.groups(path.last_runs(merges))
        likelihood = _log_likelihood(weight, positive, path.values(merges))
        bic = price * len(weight) - 2 * likelihood
        best = min(best, bic)
        found.append((bic, merges))
    found = [(bic, merges) for bic, merges in found if bic <= best + _NEGLIGIBLE]
    finest = path.last_runs(min(merges for _, merges in found))
    total, average = 0.0, np.zeros(len(finest))
    for bic, merges in found:
        share = math.exp((best - bic) / 2)
        group = np.searchsorted(path.last_runs(merges), finest)
        average += share * path.values(merges)[group]
        total += share
    return finest, average / total


def _best_likelihoods(path: NearIsotonicPath) -> FloatArray:
    """Log likelihood of the groups at their own frequencies after 0, 1, ... merges."""
    from scipy.special import xlogy

    def likelihood(weight: FloatArray, positive: FloatArray) -> FloatArray:
        missed = weight - positive
        own = xlogy(positive, positive / weight) + xlogy(missed, missed / weight)
        return np.asarray(own)

    first, last = _merged_ranges(path)
    cum_w, cum_k = (np.append(0.0, np.cumsum(part)) for part in (path.weight, path.positive))

    def between(low: IntArray, high: IntArray) -> FloatArray:
        weight = cum_w[high] - cum_w[low]
        return likelihood(weight, np.clip(cum_k[high] - cum_k[low], 0.0, weight))

    middle = path.boundary + 1
    change = between(first, last) - between(first, middle) - between(middle, last)
    start = float(likelihood(path.weight, path.positive).sum())
    return start + np.append(0.0, np.cumsum(change))


def _merged_ranges(path: NearIsotonicPath) -> tuple[IntArray, IntArray]:
    """First run, and the run after the last, of the group each merge makes."""
    low, high = list(range(len(path.weight) + 1)), list(range(len(path.weight) + 1))
    first, last = [], []
    # low[e] is where the group that ends before run e begins; high[b] where one that begins ends.
    for run in range(1, len(low)):
        low[run], high[run - 1] = run - 1, run
    for boundary in path.boundary.tolist():
        start, end = low[boundary + 1], high[boundary + 1]
        low[end], high[start] = start, end
        first.append(start)
        last.append(end)
    return np.asarray(first, dtype=np.intp), np.asarray(last, dtype=np.intp)


def _log_likelihood(weight: FloatArray, positive: FloatArray, value: FloatArray) -> float:
    from scipy.special import xlog1py, xlogy

    return float((xlogy(positive, value) + xlog1py(weight - positive, -value)).sum())
