"""How many bins: a number, a rule of thumb, or cross-validation over scores sorted once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from veridical._core.data.validation import is_integer
from veridical._core.sample import BinarySample, PooledScores, cumulated
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid

# A cumulated weight that misses its target by rounding still reaches it.
_REACHES = 1 - 1e-12


@dataclass(frozen=True)
class SortedScores(PooledScores):
    """Distinct scores in order; weights are scaled to sum to the effective sample size.

    Attributes
    ----------
    value, weight, positive : as in `PooledScores`
    same : PooledScores, optional
        The same scores, whose sums are kept.
    """

    same: PooledScores | None = None

    @cached_property
    def cum_w(self) -> FloatArray:
        """Weight up to and including each score, from zero."""
        return cumulated(self.weight) if self.same is None else self.same.cum_w

    @cached_property
    def cum_wy(self) -> FloatArray:
        """Weighted outcomes up to and including each score, from zero."""
        return cumulated(self.positive) if self.same is None else self.same.cum_wy

    @cached_property
    def cum_wr(self) -> FloatArray:
        """Cumulated weighted residuals r = y - p."""
        return cumulated(self.positive - self.weight * self.value)

    @cached_property
    def cum_wr2(self) -> FloatArray:
        """Cumulated weighted squared residuals."""
        p = self.value.astype(np.float64, copy=False)
        missed = self.weight - self.positive
        return cumulated(self.positive * (1 - p) ** 2 + missed * p * p)

    def equal_mass(self, n_bins: int) -> IntArray:
        """Index of the last distinct score of each bin of (nearly) equal mass.

        Bin k ends at the smallest score whose cumulated share reaches k / n_bins, so equal scores
        stay together and no bin is empty; fewer bins come out when scores repeat.
        """
        total = self.cum_w[-1]
        targets = np.arange(1, n_bins + 1) / n_bins * total * _REACHES
        last = np.searchsorted(self.cum_w[1:], targets)
        return np.unique(np.minimum(last, len(self.value) - 1))

    def edges_after(self, last: IntArray) -> FloatArray:
        """Edges in [0, 1] that put a boundary after each of the given distinct scores.

        Halfway to the next score, in the type of the scores, so that comparison is exact.
        """
        below, above = self.value[last[:-1]], self.value[last[:-1] + 1]
        middle = below + (above - below) / 2
        middle = np.where(middle < above, middle, below)  # neighbours in floating point
        return np.concatenate([[0.0], middle.astype(np.float64), [1.0]])


def sort_scores(sample: BinarySample) -> SortedScores:
    """Scale the weights of the sample's distinct scores to its effective size."""
    pooled = sample.pooled
    if sample.weight is None:
        return SortedScores(pooled.value, pooled.weight, pooled.positive, pooled)
    scale = sample.size / pooled.weight.sum()
    return SortedScores(pooled.value, pooled.weight * scale, pooled.positive * scale)


BinCount = int | Literal["sqrt", "cbrt", "cv"]

_MOST_BINS = 10_000_000  # more would fill the memory with empty bins
_MOST_CANDIDATES = 100
_CLOSE_ENOUGH = 1e-3  # relative loss within which fewer bins are preferred


def check_count(n_bins: object, *, caller: str) -> BinCount:
    """Return a valid bin count or rule."""
    if isinstance(n_bins, str):
        if n_bins in ("sqrt", "cbrt", "cv"):
            return n_bins  # type: ignore[return-value]
    elif is_integer(n_bins) and 1 <= n_bins <= _MOST_BINS:  # type: ignore[operator]
        return int(n_bins)  # type: ignore[call-overload]
    hint = "15 is the usual choice; for other bins use `BinnedError(binning=...)`."
    expected = 'a positive integer, "sqrt", "cbrt" or "cv"'
    if is_integer(n_bins) and n_bins > _MOST_BINS:  # type: ignore[operator]
        expected = f"at most {_MOST_BINS}"
    raise invalid(caller, "n_bins", expected, repr(n_bins), hint=hint)


def resolve_count(
    n_bins: BinCount,
    sample: BinarySample,
    boundaries: Callable[[SortedScores, int], IntArray],
) -> int:
    """Return the number of bins; `boundaries` cuts sorted scores for the cross-validated rule.

    ``"sqrt"`` is the floor of the square root of the sample size (001 section 4.5), ``"cbrt"`` of
    its cube root, both with the effective size of weighted data.
    """
    if not isinstance(n_bins, str):
        return int(n_bins)
    if n_bins == "cv":
        return _cross_validated(sort_scores(sample), boundaries)
    return root_count(n_bins, sample.size)


def root_count(rule: str, size: float) -> int:
    """Floor of the square or cube root of the sample size, at least one."""
    root = np.sqrt if rule == "sqrt" else np.cbrt
    return max(1, int(root(size) + 1e-9))


def _cross_validated(
    scores: SortedScores, boundaries: Callable[[SortedScores, int], IntArray]
) -> int:
    """Bins whose implied calibration map predicts best (Kängsepp, Valk & Kull 2022).

    Binned ECE is the mean distance from p of the map p + (mean y - mean p of the bin), fitted on
    the test data (arXiv 2203.08958, section 3). Its squared error is cross-validated, leaving out
    one unit of weight at a time, which has a closed form and does not depend on row order (the
    paper uses ten random folds); of the counts within 0.1 % of the best the smallest is taken.
    """
    size = scores.cum_w[-1]
    most = int(min(_MOST_CANDIDATES, max(1, size // 2)))
    losses = np.array([_leave_one_out(scores, boundaries(scores, b)) for b in range(1, most + 1)])
    return int(np.argmax(losses <= losses.min() * (1 + _CLOSE_ENOUGH))) + 1


def _leave_one_out(scores: SortedScores, last: IntArray) -> float:
    """Sum over rows of (r_i - mean of the others' r in the bin)^2 = sum of (W/(W-1))^2 SS."""
    cuts = np.concatenate([[0], last + 1])
    w, wr, wr2 = (np.diff(c[cuts]) for c in (scores.cum_w, scores.cum_wr, scores.cum_wr2))
    occupied = w > 0
    w, wr, wr2 = w[occupied], wr[occupied], wr2[occupied]
    spread = np.maximum(wr2 - wr * wr / w, 0.0)
    alone = w <= 1 + 1e-9  # nothing left to learn from: the map leaves the prediction as it is
    inflated = (w / np.where(alone, 2.0, w - 1)) ** 2 * spread
    return float(np.where(alone, wr2, inflated).sum())
