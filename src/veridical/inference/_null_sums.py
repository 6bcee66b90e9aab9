"""Sums by bin of outcomes drawn from the predictions, without touching the estimator's rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core import poisson_binomial
from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import FloatArray
from veridical.inference._class_draws import OutcomeDraws
from veridical.lenses import ClasswiseProblem
from veridical.summaries import Summary, VectorSummary

# From this variance of a bin's count on, its distribution is normal to well below the noise of
# any number of resamples one would draw (relative error of the mean absolute deviation < 1e-3).
_NORMAL_FROM = 400.0
_BLOCK_DRAWS = 1 << 22
_BLOCK_SUMS = 1 << 20


def null_summaries(
    problem: BinarySample | ClasswiseProblem,
    summary: Summary,
    n_resamples: int,
    rng: np.random.Generator,
    probabilities: FloatArray | None = None,
    cells: ClassCells | None = None,
) -> Summary:
    """Return a summary whose problems are resamples: same predictions, outcomes drawn from them.

    Counts of unweighted bins of a binary problem are independent Poisson-binomials: drawn exactly,
    or from a normal distribution where their variance exceeds 400. Outcomes of weighted rows and
    of several classes are drawn row by row; the problems of one resample follow each other.
    `probabilities` are what to draw from, if not the predictions; `cells` spares several calls for
    the same classes finding them again.
    """
    n_problems = len(summary.names)
    shape = (n_resamples, *summary.sum_w.shape)
    if isinstance(problem, ClasswiseProblem):
        cells = cells or ClassCells(problem.sample, summary, probabilities)
        sum_wy = cells.sums(n_resamples, rng)
    else:
        sum_wy = _binary_sums(problem, summary, n_resamples, rng, probabilities)
    same: dict[str, Any] = {
        name: np.broadcast_to(getattr(summary, name), shape).reshape(-1, shape[2])
        for name in ("count", "sum_w", "sum_w2", "sum_wp", "sum_wpq")
    }
    return replace(
        summary,
        partitions=summary.partitions * n_resamples,
        names=summary.names * n_resamples,
        sum_wy=sum_wy.reshape(n_resamples * n_problems, -1),
        scores={},
        **same,
    )


def resamples_at_once(summary: Summary) -> int:
    """How many resamples of a summary fit a bounded block of memory."""
    return max(1, _BLOCK_SUMS // summary.sum_w.size)


def null_vector_summaries(
    sample: MulticlassSample,
    summary: VectorSummary,
    n_resamples: int,
    rng: np.random.Generator,
    probabilities: FloatArray | None = None,
) -> Iterator[VectorSummary]:
    """Yield a summary for each resample of the outcomes of whole vectors."""
    n_classes = len(sample.classes)
    draws = OutcomeDraws(sample, probabilities)
    base = summary.partition.assign(sample.p)[draws.order] * n_classes
    cells = base[None, :] + np.arange(n_classes)[:, None]
    weight = None if sample.weight is None else sample.weight[draws.order]
    for _ in range(n_resamples):
        sums = draws.cell_sums(cells, summary.sum_wy.size, weight, rng)
        yield replace(summary, sum_wy=sums.reshape(summary.sum_wy.shape))


class ClassCells:
    """Where rows of several classes count, found once for any number of draws.

    Parameters
    ----------
    sample : whose predictions
    summary : whose bins, one problem a class
    probabilities : what to draw from, if not the predictions
    """

    def __init__(
        self, sample: MulticlassSample, summary: Summary, probabilities: FloatArray | None = None
    ) -> None:
        self._draws = OutcomeDraws(sample, probabilities)
        n_bins = summary.sum_w.shape[1]
        self._cells = np.empty((len(summary.names), sample.n), dtype=np.intp)
        for k, partition in enumerate(summary.partitions):
            column = np.ascontiguousarray(sample.p[:, k])[self._draws.order]
            self._cells[k] = partition.assign(column) + k * n_bins
        weight = sample.weight
        self._weight = None if weight is None else weight[self._draws.order]
        self._n_cells = summary.sum_w.size

    def sums(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Weighted outcomes by class and bin, (n_resamples, K B)."""
        sums = np.empty((n_resamples, self._n_cells))
        for r in range(n_resamples):
            sums[r] = self._draws.cell_sums(self._cells, self._n_cells, self._weight, rng)
        return sums


def _binary_sums(
    sample: BinarySample,
    summary: Summary,
    n_resamples: int,
    rng: np.random.Generator,
    probabilities: FloatArray | None,
) -> FloatArray:
    same_weight = 1.0 if sample.weight is None else float(sample.weight[0])
    if sample.weight is not None and not (sample.weight == same_weight).all():
        return _weighted_sums(sample, summary, n_resamples, rng, probabilities)
    mean, variance = summary.sum_wp[0] / same_weight, summary.sum_wpq[0] / same_weight
    if probabilities is not None:
        bins, n_bins = summary.partitions[0].assign(sample.p), len(mean)
        mean = np.bincount(bins, weights=probabilities, minlength=n_bins)
        variance = mean - np.bincount(bins, weights=probabilities**2, minlength=n_bins)
    p = sample.p if probabilities is None else probabilities
    return same_weight * _counts(sample, summary, mean, variance, p, n_resamples, rng)


def _counts(
    sample: BinarySample,
    summary: Summary,
    mean: FloatArray,
    variance: FloatArray,
    p: FloatArray,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Counts of successes by bin; each has this mean and variance."""
    sums = np.zeros((n_resamples, len(mean)))
    normal = variance >= _NORMAL_FROM
    sums[:, normal] = mean[normal] + np.sqrt(variance[normal]) * rng.standard_normal(
        (n_resamples, int(normal.sum()))
    )
    # A count is a whole number between none and all.
    sums[:, normal] = np.clip(np.rint(sums[:, normal]), 0, summary.count[0, normal])
    exact = np.flatnonzero(~normal & summary.occupied[0])
    if exact.size:
        bins = summary.partitions[0].assign(sample.p)
        order = np.argsort(bins, kind="stable")
        starts = np.searchsorted(bins[order], np.arange(len(mean) + 1))
        for b in exact:
            rows = order[starts[b] : starts[b + 1]]
            sorted_p = np.sort(p[rows]).astype(np.float64)  # row order must not matter
            sums[:, b] = poisson_binomial.draw(sorted_p, n_resamples, rng)
    return sums


def _weighted_sums(
    sample: BinarySample,
    summary: Summary,
    n_resamples: int,
    rng: np.random.Generator,
    probabilities: FloatArray | None,
) -> FloatArray:
    assert sample.weight is not None
    # Sorted by bin, then by score and weight, so that row order does not matter.
    bins = summary.partitions[0].assign(sample.p)
    order = np.lexsort((sample.weight, sample.p, bins))
    w, bins = sample.weight[order], bins[order]
    p = (sample.p if probabilities is None else probabilities)[order]
    held, starts = np.unique(bins, return_index=True)
    sums = np.zeros((n_resamples, summary.sum_w.shape[1]))
    step = max(1, _BLOCK_DRAWS // len(p))
    for first in range(0, n_resamples, step):
        size = min(step, n_resamples - first)
        happened = rng.random((size, len(p))) < p
        sums[first : first + size, held] = np.add.reduceat(happened * w, starts, axis=1)
    return sums
