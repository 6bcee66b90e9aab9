"""The calibration error that estimators are after, and what a very fine binning reads instead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical.miscalibration.core import powered_gaps
from veridical.simulation.core import GROUPS, GapBins, cross_fitted_error
from veridical_lab.arrays import FloatArray

N_FINE = 2000  # bins of the source's reference
N_ROWS = 2_000_000  # rows of the source's reference
_KNOTS = 256
_MERGED = (1, 2, 4, 8)  # knots to a bin: fine structure needs few, noise many


def scores_and_truths(
    p: FloatArray, posterior: FloatArray, lens: str
) -> tuple[FloatArray, FloatArray]:
    """Scores and true probabilities of the problems of a lens, (n, 1) or (n, K) each."""
    if lens == "classwise":
        return p, posterior
    top = p.argmax(axis=1)[:, None]
    return np.take_along_axis(p, top, axis=1), np.take_along_axis(posterior, top, axis=1)


@dataclass(frozen=True)
class GapSums:
    r"""Sums of truth less score along the score, of rows that come block by block.

    Outcomes are replaced by their probabilities, so that what noise is left comes from rows of
    equal score whose probabilities differ. A row counts in the two nearest of 256 bins around
    quantiles of the score.

    Attributes
    ----------
    bins : GapBins
    gaps : array of shape (20, J, 256), by group of rows, problem and bin
    mass : array of shape (J, 256), rows
    rows : list of the numbers of rows added

    Examples
    --------
    Scores say 0.1 more than is true, whatever the row:

    >>> score = np.linspace(0.2, 0.8, 2000)[:, None]
    >>> round(GapSums.of(score, score - 0.1).error()[0], 9)
    0.1
    """

    bins: GapBins
    gaps: FloatArray
    mass: FloatArray
    rows: list[int]

    @classmethod
    def of(cls, score: FloatArray, truth: FloatArray) -> GapSums:
        """Place the bins by a first block, and add it."""
        bins = GapBins.by_quantiles(score, _KNOTS)
        shape = (score.shape[1], _KNOTS)
        found = cls(bins, np.zeros((GROUPS, *shape)), np.zeros(shape), [])
        found.add(score, truth)
        return found

    def add(self, score: FloatArray, truth: FloatArray) -> None:
        """Add a block of rows."""
        gap = truth - score
        for group in range(GROUPS):
            self.gaps[group] += self.bins.sums(score[group::GROUPS], gap[group::GROUPS])
        self.mass[:] += self.bins.sums(score, np.ones_like(score))
        self.rows.append(len(score))

    def error(self) -> tuple[float, float]:
        r"""Mean over problems of :math:`E|E[truth - score \mid score]|`, and its half width.

        The sign of a bin is taken from other rows than those it multiplies, so that noise does
        not add up. The figure is then too small on average if anything, whatever the bins, by
        noise in the signs or by structure within them: so the widths that give most are taken.
        """
        return max(cross_fitted_error(self._shares(merged)) for merged in _MERGED)

    def curve(self, score: FloatArray) -> FloatArray:
        """E[truth - score | score] at the scores of each problem, a broken line."""
        best = max(_MERGED, key=lambda merged: cross_fitted_error(self._shares(merged))[0])
        lines = []
        for j, knots in enumerate(self.bins.knots):
            mass = self.mass[j, : len(knots)]
            total = np.maximum(_merge(mass, best), 1e-12)
            place = _merge(mass * knots, best) / total
            gap = _merge(self.gaps[:, j, : len(knots)].sum(axis=0), best) / total
            lines.append(np.interp(score[:, j], place, gap))
        return np.column_stack(lines)

    def _shares(self, merged: int) -> FloatArray:
        return _merge(self.gaps, merged) * (GROUPS / sum(self.rows))


def _merge(values: FloatArray, merged: int) -> FloatArray:
    """Sums of so many neighbours along the last axis."""
    return np.add.reduceat(values, np.arange(0, values.shape[-1], merged), axis=-1)


def expected_fine_error(
    curve: FloatArray,
    score: FloatArray,
    truth: FloatArray,
    *,
    n_bins: int = N_FINE,
    n_rows: int = N_ROWS,
) -> float:
    r"""Mean over problems of what a binned error reads on average with `n_rows` labelled rows.

    .. math:: \sum_b m_b \, E|g_b + \sigma_b Z|, \qquad
       \sigma_b^2 = \frac{\mathrm{var}(Y - S \mid b)}{n_{rows}\, m_b}

    for equal-width bins of mass m_b on [0, 1] with gaps g_b: the mean of a bin is nearly normal,
    its absolute value folded.

    Parameters
    ----------
    curve : array of shape (n, J), E[truth - score | score] of some rows
    score, truth : arrays of shape (n, J)
    n_bins, n_rows : of the binned error

    Examples
    --------
    Calibrated, scores spread evenly, 1,000 rows a bin: a normal of spread 0.4 / sqrt(1000) or so,
    and its mean absolute value is 0.0099.

    >>> score = (np.arange(20_000)[:, None] + 0.5) / 20_000
    >>> round(expected_fine_error(np.zeros_like(score), score, score), 4)
    0.0099
    """
    # var(Y | x) = truth (1 - truth), and what truths differ among rows of equal score
    spread = truth * (1 - truth) + (truth - score - curve) ** 2
    each = [
        _expected(score[:, j], curve[:, j], spread[:, j], n_bins, n_rows)
        for j in range(score.shape[1])
    ]
    return float(np.mean(each))


def _expected(
    score: FloatArray, curve: FloatArray, spread: FloatArray, n_bins: int, n_rows: int
) -> float:
    cell = np.minimum((score * n_bins).astype(np.intp), n_bins - 1)
    count = np.bincount(cell, minlength=n_bins)[None, :]
    held = np.maximum(count, 1)
    gap = np.abs(np.bincount(cell, curve, minlength=n_bins) / held)
    variance = np.bincount(cell, spread, minlength=n_bins) / held
    share = count / len(score)
    debiased = powered_gaps(gap, share, np.maximum(share * n_rows, 1.0), 1.0, variance)
    plain = float((share * gap).sum())
    return 2 * plain - float(debiased[0])  # debiasing subtracts what noise adds
