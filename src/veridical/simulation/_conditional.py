"""E|E[d | z]| where (z, d) can be drawn: the form of every calibration error under a lens.

For the confidence lens z = max c and d = p_argmax(c) - z; for class k z = c_k and d = p_k - c_k.
The outcome is replaced by its probability, so what is left of the noise is the spread of the truth
among rows that report the same z, which is none where z tells the truth.

Within a bin of z in which the gap E[d | z] keeps its sign, E|E[d | z]| is |E[d]| exactly: narrow
bins lose only where the gap changes sign. Noise adds where it is close to zero. Taking the sign of
a bin from other draws than those it is multiplied with gives a figure that is never too large on
average, the plain one is never too small but for the bins; the truth is between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray, IntArray

_STUDENT = 2.093  # 97.5 % quantile with 19 degrees of freedom
_PILOT = 50_000  # rows that place the bins
GROUPS = 20  # of draws: one more than these degrees of freedom


@dataclass(frozen=True)
class GapBins:
    """Overlapping bins of z for each of J questions: rows are shared linearly by two bins.

    Sharing keeps the sums of a regular grid of nodes from jumping as nodes cross an edge.

    Attributes
    ----------
    knots : list of arrays
        Centres of the bins for each question, increasing; a value of z with much mass is one.
    n_bins : int
        Bins of each question, some possibly empty.
    """

    knots: list[FloatArray]
    n_bins: int

    @classmethod
    def by_quantiles(cls, z: FloatArray, n_bins: int) -> GapBins:
        """Bins that hold about as many rows of `z`, of shape (n, J), each."""
        some = z[:: len(z) // _PILOT | 1]  # an odd step is no multiple of the rows of a grid
        levels = np.linspace(0, 1, n_bins)
        knots = np.quantile(some, levels, axis=0, method="lower")  # values that do occur
        return cls([np.unique(knots[:, j]) for j in range(z.shape[1])], n_bins)

    def sums(self, z: FloatArray, d: FloatArray, weight: FloatArray | None = None) -> FloatArray:
        """Sum of d in each bin, of shape (J, n_bins)."""
        if weight is not None:
            d = d * weight[:, None]
        total = np.zeros((len(self.knots), self.n_bins + 1))
        for j, knots in enumerate(self.knots):
            lower, share = _between(z[:, j], knots)
            upper_part = d[:, j] * share
            total[j] += np.bincount(lower, d[:, j] - upper_part, self.n_bins + 1)
            total[j] += np.bincount(lower + 1, upper_part, self.n_bins + 1)
        return total[:, :-1]


def _between(z: FloatArray, knots: FloatArray) -> tuple[IntArray, FloatArray]:
    """Knot at or below each value, and how far on it is towards the next one, from 0 to 1.

    A quotient of differences, not a slope: knots may be closer than a slope can express.
    """
    if len(knots) == 1:
        return np.zeros(len(z), dtype=np.intp), np.zeros(len(z))
    lower = np.clip(np.searchsorted(knots, z, side="right") - 1, 0, len(knots) - 2)
    share = (z - knots[lower]) / (knots[lower + 1] - knots[lower])
    return lower, np.clip(share, 0.0, 1.0)


def plain_error(sums: FloatArray) -> float:
    """Mean over questions of the summed absolute gaps; `sums` are already shares of the whole."""
    return float(np.abs(sums).sum(axis=1).mean())


def halved(sums: FloatArray) -> list[FloatArray]:
    """Sums of pairs of neighbouring bins, in both ways to pair them."""
    n = sums.shape[-1]
    starts = (np.arange(0, n, 2), np.concatenate([[0], np.arange(1, n, 2)]))
    return [np.add.reduceat(sums, start, axis=-1) for start in starts]


def cross_fitted_error(sums: FloatArray) -> tuple[float, float]:
    """Error and its half width from sums of shape (GROUPS, J, n_bins), as shares of each group.

    The half width is that of a 95 % interval over groups, plus the distance to the plain figure
    and to the figure with half as many bins: noise in the signs, and bins that are too wide.
    """
    value, spread = _cross_fit(sums)
    width = max(abs(value - _cross_fit(pairs)[0]) for pairs in halved(sums))
    bias = abs(plain_error(sums.mean(axis=0)) - value)
    return value, spread + bias + width


def _cross_fit(sums: FloatArray) -> tuple[float, float]:
    others = np.sign(sums.sum(axis=0) - sums)
    return mean_of_groups((others * sums).sum(axis=2).mean(axis=1))


def mean_of_groups(values: FloatArray) -> tuple[float, float]:
    """Mean of independent group means and the half width of its 95 % interval."""
    return float(values.mean()), _STUDENT * float(values.std(ddof=1)) / len(values) ** 0.5


def grouped_error(z: FloatArray, d: FloatArray, weight: FloatArray) -> float:
    """Exact error of finitely many rows: those that report the same z are pooled."""
    total = 0.0
    for j in range(z.shape[1]):
        _, group = np.unique(z[:, j], return_inverse=True)
        total += float(np.abs(np.bincount(group, weights=weight * d[:, j])).sum())
    return total / z.shape[1]
