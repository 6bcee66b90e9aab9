"""Sums by bin of outcomes drawn from the predictions, without touching the estimator's rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import Redraw, class_residuals, most_draws
from veridical._core.resampling.rows import OutcomeDraws, counts_rows
from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import FloatArray
from veridical.inference._draws.trials import Trials
from veridical.lenses import ClasswiseProblem
from veridical.summaries import Summary, VectorSummary

# From this variance of a bin's count on, its distribution is normal to well below the noise of
# any number of resamples one would draw (relative error of the mean absolute deviation < 1e-3).
NORMAL_FROM = 400.0
_BLOCK_DRAWS = 1 << 22
_BLOCK_SUMS = 1 << 20


def null_summaries(
    problem: BinarySample | ClasswiseProblem,
    summary: Summary,
    draws: Draws,
    probabilities: FloatArray | None = None,
    cells: ClassCells | None = None,
    outcomes: Trials | None = None,
) -> Summary:
    """Return a summary whose problems are resamples: same predictions, outcomes drawn from them.

    Counts of unweighted bins of a binary problem are independent Poisson-binomials: drawn exactly,
    or from a normal distribution where their variance exceeds 400. A row of a whole frequency f has
    f outcomes of its own on every path; see :class:`OutcomeDraws` for several classes. Other
    weighted rows have one outcome. The problems of one resample follow each other. Where rows are
    weighted by their outcome, or belong together, residuals are drawn (see :class:`Redraw`).
    `probabilities` are what to draw from, if not the predictions; `cells` spares several calls for
    the same classes finding them again; `outcomes` are what a binary problem draws, if its rows are
    not what happened one by one.
    """
    n_problems = len(summary.names)
    sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
    redraw = redraw_of(sample, probabilities) if outcomes is None else None
    if redraw is not None:
        draws = most_draws(draws, redraw.n)
    shape = (draws.n_resamples, *summary.sum_w.shape)
    if redraw is not None:
        residual = residuals_of(redraw, sample.p[redraw.rows], summary, draws)
        sum_wy: FloatArray = summary.sum_wp.reshape(1, -1) + residual
    elif isinstance(problem, ClasswiseProblem):
        cells = cells or ClassCells(problem.sample, summary, probabilities)
        sum_wy = cells.sums(draws)
    else:
        sum_wy = _binary_sums(problem, summary, draws, probabilities, outcomes)
    same: dict[str, Any] = {
        name: np.broadcast_to(getattr(summary, name), shape).reshape(-1, shape[2])
        for name in ("count", "sum_w", "sum_w2", "sum_wp", "sum_wpq")
    }
    return replace(
        summary,
        partitions=summary.partitions * draws.n_resamples,
        names=summary.names * draws.n_resamples,
        sum_wy=sum_wy.reshape(draws.n_resamples * n_problems, -1),
        scores={},
        **same,
    )


def residuals_of(redraw: Redraw, scores: FloatArray, summary: Summary, draws: Draws) -> FloatArray:
    """Weighted residuals by problem and bin, (n_resamples, problems x bins); scores as given."""
    n_bins = summary.sum_w.shape[1]
    if scores.ndim == 1:
        bins = summary.partitions[0].assign(scores)
        return redraw.sums(redraw.residuals, bins, n_bins, draws, "null level")
    columns = [np.ascontiguousarray(column) for column in scores.T]
    pairs = enumerate(zip(summary.partitions, columns, strict=True))
    keys = np.stack([partition.assign(column) + k * n_bins for k, (partition, column) in pairs])
    blocks = class_residuals(redraw, [keys], summary.sum_w.size, draws, "null level")
    return np.vstack(list(blocks))


def resamples_at_once(summary: Summary) -> int:
    """How many resamples of a summary fit a bounded block of memory."""
    return max(1, _BLOCK_SUMS // summary.sum_w.size)


def null_vector_sums(
    sample: MulticlassSample,
    summary: VectorSummary,
    draws: Draws,
    probabilities: FloatArray | None = None,
) -> Iterator[FloatArray]:
    """Yield `sum_wy` of resamples of the outcomes of whole vectors, (R, C, K), some at a time."""
    n_classes = len(sample.classes)
    shape = (-1, *summary.sum_wy.shape)
    redraw = redraw_of(sample, probabilities)
    if redraw is not None:
        cell = summary.partition.assign(sample.p)[redraw.rows] * n_classes
        keys = cell[None, :] + np.arange(n_classes)[:, None]
        draws = most_draws(draws, redraw.n)
        for residual in class_residuals(redraw, [keys], summary.sum_wy.size, draws, "null level"):
            yield summary.sum_wp + residual.reshape(shape)
        return
    outcomes = OutcomeDraws(sample, probabilities)
    base = summary.partition.assign(sample.p)[outcomes.order] * n_classes
    cells = base[None, :] + np.arange(n_classes)[:, None]
    step = max(1, min(_BLOCK_SUMS // summary.sum_wy.size, 50))  # often enough for a progress bar
    for first in range(0, draws.n_resamples, step):
        some = Draws(min(step, draws.n_resamples - first), draws.rng)
        yield outcomes.cell_sums(cells, summary.sum_wy.size, some).reshape(shape)


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
        self._cells = np.empty((len(summary.names), len(self._draws.order)), dtype=np.intp)
        for k, partition in enumerate(summary.partitions):
            column = np.ascontiguousarray(sample.p[:, k])[self._draws.order]
            self._cells[k] = partition.assign(column) + k * n_bins
        self._n_cells = summary.sum_w.size

    def sums(self, draws: Draws) -> FloatArray:
        """Weighted outcomes by class and bin, (n_resamples, K B)."""
        return self._draws.cell_sums(self._cells, self._n_cells, draws)


def _binary_sums(
    sample: BinarySample,
    summary: Summary,
    draws: Draws,
    probabilities: FloatArray | None,
    trials: Trials | None,
) -> FloatArray:
    if trials is not None:
        return _drawn_sums(trials, summary, trials.variance(summary), draws)
    unit, count = 1.0, None
    if sample.weight is not None and counts_rows(sample):
        count = sample.weight
    elif sample.weight is not None:
        unit = float(sample.weight[0])
    p = sample.p if probabilities is None else probabilities
    drawn = Trials(p, count, unit, score=sample.p)
    if probabilities is None:
        return _drawn_sums(drawn, summary, unit * summary.sum_wpq[0], draws)
    mean = drawn.by_bin(summary, p if count is None else p * count)
    expected = replace(summary, sum_wp=unit * mean[None, :])
    return _drawn_sums(drawn, expected, drawn.variance(summary), draws)


def _drawn_sums(trials: Trials, summary: Summary, variance: FloatArray, draws: Draws) -> FloatArray:
    """Weighted outcomes by bin, (n_resamples, B); each has the mean `sum_wp` and this variance."""
    mean = summary.sum_wp[0]
    normal = variance >= NORMAL_FROM * trials.largest_weight(summary) ** 2
    normal &= summary.occupied[0]
    sums = np.tile(mean, (draws.n_resamples, 1))
    sums[:, normal] += np.sqrt(variance[normal]) * draws.rng.standard_normal(
        (draws.n_resamples, int(normal.sum()))
    )
    if not isinstance(trials.weight, np.ndarray):  # whole numbers of it, between none and all
        most = np.rint(summary.sum_w[0, normal] / trials.weight)
        counts = np.rint(sums[:, normal] / trials.weight)
        sums[:, normal] = trials.weight * np.clip(counts, 0, most)
    exact = np.flatnonzero(~normal & summary.occupied[0])
    if exact.size:
        bins = trials.bins(summary)
        order = np.argsort(bins, kind="stable")
        starts = np.searchsorted(bins[order], np.arange(len(mean) + 1))
        for b in exact:
            held = trials.take(order[starts[b] : starts[b + 1]])
            sums[:, b] = held.draw_sum(float(mean[b]), *draws)
    return sums
