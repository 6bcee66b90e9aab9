"""Squared kernel calibration errors of data sets that a calibrated model could have given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.numeric import gram
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import Redraw
from veridical._core.resampling.rows import counts_rows
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, MulticlassSample, Sample, one_hot
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.inference._draws.trials import Trials

_BLOCK = 1 << 21  # numbers held by a block of resamples


@dataclass(frozen=True)
class ObservedTrials:
    """Outcomes that can be drawn anew, and those that were observed.

    Attributes
    ----------
    trials : rows as independent trials, with a count and a weight each
    counts : observed successes (m,), or rows of each class (m, K), of an entry
    redraw : how outcomes are drawn, if not from the predictions row by row; entries are its rows
    """

    trials: Trials
    counts: FloatArray
    redraw: Redraw | None = None

    @property
    def said(self) -> str:
        """Where outcomes are drawn from, in words."""
        words = "draws of outcomes from the predictions"
        return words if self.redraw is None else f"draws: {self.redraw.said}"

    @property
    def p(self) -> FloatArray:
        """Probabilities, (m,) of success or (m, K) of each class."""
        return self.trials.p

    @property
    def count(self) -> FloatArray:
        """Rows each entry stands for."""
        assert self.trials.count is not None
        return self.trials.count.astype(np.float64, copy=False)

    @property
    def weight(self) -> FloatArray:
        """Weight of each of these rows."""
        assert isinstance(self.trials.weight, np.ndarray)
        return self.trials.weight

    @property
    def mass(self) -> FloatArray:
        """Total weight of each entry."""
        return self.trials.mass

    @property
    def expected_mass(self) -> FloatArray:
        """The same before outcomes are known, where weights are those of outcomes."""
        return self.mass if self.redraw is None else self.redraw.expected_weight

    @property
    def expected_square(self) -> FloatArray:
        """Factor of p (1 - p) in the variance of each entry: the sum of w^2, or of w_0 w_1."""
        if self.redraw is None:
            return self.mass * self.weight
        variance, p = self.redraw.variance.sum(axis=1), self.redraw.p
        plain = (p * (1 - p)).sum(axis=1)
        return np.divide(variance, plain, out=np.zeros_like(plain), where=plain > 0)

    @property
    def width(self) -> int:
        """Numbers a count consists of: one, or one a class."""
        return 1 if self.p.ndim == 1 else self.p.shape[1]

    @property
    def impossible(self) -> int:
        """Rows whose outcome was given the probability zero."""
        count = self.counts[self.p == 0].sum()
        if self.p.ndim == 1:
            count += (self.count - self.counts)[self.p == 1].sum()
        return int(count)

    def observed(self) -> tuple[FloatArray, FloatArray]:
        """Sums of weighted residuals and of their squared lengths, as one resample."""
        return self.residuals(self.counts.reshape(len(self.p), self.width, 1))

    def drawn(
        self, draws: Draws, what: str, numbers: int = _BLOCK
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Blocks of about so many numbers: which resamples, and what `observed` gives for each."""
        if self.redraw is not None:
            yield from self._redrawn(self.redraw, draws, what)
            return
        size = max(1, min(draws.n_resamples, numbers // self.p.size))
        for block in track(-(-draws.n_resamples // size), what):
            which = slice(block * size, min((block + 1) * size, draws.n_resamples))
            counts = self.trials.draw_counts(which.stop - which.start, draws.rng)
            yield (which, *self.residuals(counts))

    def _redrawn(
        self, redraw: Redraw, draws: Draws, what: str
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """The same where rows are weighted by outcome or belong together."""
        done, at = 0, np.arange(redraw.n)
        first = 1 if self.width == 1 else 0
        for y in redraw.outcomes(draws, what):
            weight = redraw.weight[at, y]
            happened = redraw.answers(y)[:, :, None] == np.arange(first, redraw.p.shape[1])
            charge = weight[:, :, None] * (happened - redraw.p[:, first:])
            square = np.square(charge).sum(axis=2)
            yield slice(done, done + len(y)), charge.transpose(1, 2, 0), square.T
            done += len(y)

    def residuals(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Per entry and resample: sum of w e, (n, width, R), and of w^2 |e|^2, (n, R).

        e is the outcome (0 or 1, or an indicator vector) minus the prediction.
        """
        p, weight = self.p.reshape(len(self.p), -1, 1), self.weight[:, None, None]
        lengths = weight**2 * (1 - 2 * p)
        if self.width == 1:
            square = counts[:, 0] * lengths[:, 0]
        else:
            square = np.einsum("nkr,nk->nr", counts, lengths[..., 0])
        square += (self.mass * self.weight)[:, None] * np.square(p).sum(axis=1)
        charge = counts - self.count[:, None, None] * p
        if (self.weight != 1).any():
            charge *= weight
        return charge, square


def observed_trials(sample: Sample, *, caller: str) -> ObservedTrials:
    """Rows as trials: equal scores of rows of equal weight are one entry, frequencies copies."""
    weight, kind = sample.weight, sample.weight_type
    if weight is not None and kind == "frequency" and (weight != np.rint(weight)).any():
        hint = 'outcomes are drawn for every row: round the weights, or use "importance".'
        raise invalid(caller, "sample_weight", "whole numbers as frequencies", "others", hint=hint)
    redraw = redraw_of(sample)
    if redraw is not None:
        rows = sample.take(redraw.rows)
        each = np.ones(redraw.n)
        p = redraw.p[:, 1] if isinstance(rows, BinarySample) else redraw.p
        counts = rows.y.astype(np.float64) if isinstance(rows, BinarySample) else one_hot(rows)
        own = each if rows.weight is None or counts_rows(sample) else rows.weight
        return ObservedTrials(Trials(p, each, own), counts, redraw)
    same = 1.0
    if weight is not None and kind == "importance" and (weight == weight[0]).all():
        same, weight = float(weight[0]), None
    if isinstance(sample, MulticlassSample):
        return _vector_trials(sample, weight, same)
    if weight is None or kind == "frequency":
        pooled = sample.pooled
        p = pooled.value.astype(np.float64)
        copies, positive = np.rint(pooled.weight / same), np.rint(pooled.positive / same)
        return ObservedTrials(Trials(p, copies, np.full(len(p), same)), positive)
    p = sample.p.astype(np.float64)
    order = np.lexsort((sample.y, weight, p))
    trials = Trials(p[order], np.ones(sample.n), weight[order])
    return ObservedTrials(trials, sample.y[order].astype(np.float64))


def _vector_trials(
    sample: MulticlassSample, weight: FloatArray | None, same: float
) -> ObservedTrials:
    p = sample.p.astype(np.float64)
    ones = np.ones(sample.n)
    each = ones if weight is None else weight
    order = np.lexsort((sample.y, each, *p.T[::-1]))
    counts, p, each = one_hot(sample)[order], p[order], each[order]
    if weight is not None and sample.weight_type == "frequency":
        return ObservedTrials(Trials(p, each, ones), counts * each[:, None])
    return ObservedTrials(Trials(p, ones, same * each), counts)


def doubts_of(trials: ObservedTrials) -> tuple[str, ...]:
    """What the user should know of these data whatever the p-value."""
    if not trials.impossible:
        return ()
    return (
        f"{trials.impossible} outcomes were given the probability zero, which alone refutes"
        " calibration",
    )


_NULL_BLOCK = 1 << 21  # numbers held by a block of resamples
_VECTOR_BLOCK = 1 << 23  # more where every block needs all kernel values anew


@dataclass(frozen=True)
class Similarity:
    """A kernel and its bandwidth, no longer to be chosen."""

    kernel: gram.Kernel
    bandwidth: float


def similarity_of(sample: Sample, kernel: gram.Kernel, bandwidth: float | str) -> Similarity:
    """Kernel with the bandwidth asked for; the median distance looks at predictions only."""
    if not isinstance(kernel, str):
        return Similarity(kernel, 1.0)
    if isinstance(bandwidth, str):
        points, _, mass = gram.pooled_residuals(sample)
        return Similarity(kernel, gram.median_distance(points, mass, kernel))
    return Similarity(kernel, float(bandwidth))


def consistency_null(
    trials: ObservedTrials, similarity: Similarity, draws: Draws
) -> tuple[float, FloatArray]:
    """Unbiased SKCE of the outcomes, and of outcomes drawn from the predictions.

    O(n R) for scalars (for the Gaussian O(n R / bandwidth)), O(n^2 K R) for vectors.
    """
    starts = _distinct(trials.p)
    points = trials.p[starts]
    scale = 2.0 if trials.p.ndim == 1 else 1.0
    mass = trials.mass
    pairs = float(mass.sum()) ** 2 - float(mass @ trials.weight)
    own = gram.self_values(trials.p, similarity.kernel)

    def estimate(charge: FloatArray, square: FloatArray) -> FloatArray:
        columns = charge.reshape(len(charge), -1)
        if len(starts) < len(columns):
            columns = np.add.reduceat(columns, starts, axis=0)
        sums = _pair_sums(points, columns, similarity)
        return scale * (sums.reshape(charge.shape[1:]).sum(axis=0) - own @ square) / pairs

    null = np.empty(draws.n_resamples)
    numbers = _NULL_BLOCK if trials.width == 1 else _VECTOR_BLOCK
    for which, charge, square in trials.drawn(draws, "kernel test", numbers):
        null[which] = estimate(charge, square)
    return float(estimate(*trials.observed())[0]), null


def _distinct(p: FloatArray) -> IntArray:
    """Where a new prediction starts, among predictions in lexicographic order."""
    changed = p[1:] != p[:-1]
    if p.ndim == 2:
        changed = changed.any(axis=1)
    return np.flatnonzero(np.concatenate([[True], changed]))


def bootstrap_null(
    sample: Sample, similarity: Similarity, draws: Draws
) -> tuple[float, FloatArray]:
    """Unbiased SKCE, and its bootstrap as a degenerate U-statistic with multinomial weights.

    With numbers c_i of times each of n rows is drawn,

        U* = sum_{i != j} (c_i - 1) (c_j - 1) h_ij / (n (n - 1))

    (Hušková & Janssen 1993, Annals of Statistics 21, 1811-1823, doi 10.1214/aos/1176349399).
    O(n R) for scalars, O(n^2 (K + R)) for vectors.
    """
    rows = np.lexsort((sample.y, *np.atleast_2d(sample.p.T)[::-1]))
    if sample.weight is not None:  # frequencies
        rows = np.repeat(rows, sample.weight[rows].astype(np.intp))
    points, residual = sample.p[rows].astype(np.float64), gram.residuals(sample)[rows]
    n, starts = len(rows), _distinct(points)
    own = np.square(residual).reshape(n, -1).sum(axis=1)
    own *= gram.self_values(points, similarity.kernel)
    scale = (2.0 if isinstance(sample, BinarySample) else 1.0) / (n * (n - 1))

    def between(factor: FloatArray) -> FloatArray:
        """Sum over i != j of f_i f_j h_ij, for every column f."""
        if residual.ndim == 1:
            columns = np.add.reduceat(factor * residual[:, None], starts, axis=0)
            sums = _pair_sums(points[starts], columns, similarity)
        else:
            sums = _pair_sums(points, factor, similarity, residual)
        return scale * (sums - own @ np.square(factor))

    observed = float(between(np.ones((n, 1)))[0])
    null, even = np.empty(draws.n_resamples), np.full(n, 1 / n)
    step = max(1, min(draws.n_resamples, _NULL_BLOCK // n))
    for block in track(-(-draws.n_resamples // step), "kernel test"):
        which = slice(block * step, min((block + 1) * step, draws.n_resamples))
        counts = draws.rng.multinomial(n, even, which.stop - which.start)
        null[which] = between(np.subtract(counts.T, 1.0, order="C"))
    return observed, null


def _pair_sums(
    points: FloatArray, columns: FloatArray, by: Similarity, factor: FloatArray | None = None
) -> FloatArray:
    return gram.pair_sums(points, columns, by.kernel, by.bandwidth, factor)
