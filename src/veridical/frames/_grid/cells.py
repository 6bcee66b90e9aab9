"""Bins, exactly, and the fine cells within them, as expressions of any engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

LOGIT_LIMIT = 36  # beyond, 1 - p is no longer told from 1
_LOGIT_SHARE = 64
_TINY = 2.2250738585072014e-308  # the smallest normal number


@dataclass(frozen=True)
class Grid:
    """Equal-width bins, and cells no wider than 1/resolution in p and 64/resolution in log-odds.

    Parameters
    ----------
    n_bins : int
        Number of bins.
    resolution : int
        M in g(p) = M p + (M / 64) logit(p), whose whole part is the cell.
    single : bool
        Whether probabilities are Float32, so that edges are rounded to it.
    """

    n_bins: int
    resolution: int
    single: bool

    @property
    def n_cells(self) -> int:
        """Number of cells: the middle included."""
        # Rounded, 1 - exp(-36) has log-odds a little above 36: room for one more.
        return self.resolution + 2 * self.lowest + self._logit_share + 4

    @property
    def lowest(self) -> int:
        """What has to be added to `cell_of` to count from 0."""
        return LOGIT_LIMIT * self._logit_share

    @property
    def _logit_share(self) -> int:
        return max(1, self.resolution // _LOGIT_SHARE)

    def bin_of(self, p: nw.Expr) -> nw.Expr:
        """Number of the bin, from 1, as Float64: that of `UniformBins`, to the last bit.

        p B may be rounded across an edge; so a little is added, which makes it the right bin or
        the next one, and the edge between them, k/B, which IEEE division rounds correctly, has the
        last word.
        """
        import narwhals.stable.v2 as nw

        raised = self.n_bins * (1 + (2.0**-22 if self.single else 2.0**-51))
        first = (p * raised).ceil().cast(nw.Float64)
        # A column, not a constant: polars multiplies by the reciprocal of a constant, which is
        # not correctly rounded.
        divisor = p * 0.0 + float(self.n_bins)
        below = _one_if(p <= self._edge(first - 1, divisor))
        return (first - below).clip(1.0, float(self.n_bins))

    def _edge(self, number: nw.Expr, divisor: nw.Expr) -> nw.Expr:
        import narwhals.stable.v2 as nw

        edge = number / divisor
        return edge.cast(nw.Float32).cast(nw.Float64) if self.single else edge

    def cell_of(self, p: nw.Expr, logit: nw.Expr) -> nw.Expr:
        """Number of the cell, from -`lowest`, as Float64; 1/2 has a cell of its own."""
        cell = (p * float(self.resolution) + logit * float(self._logit_share)).ceil()
        return cell + _one_if(p >= 0.5) + _one_if(p > 0.5)

    @property
    def middle(self) -> int:
        """The cell of exactly 1/2, from 0."""
        return self.resolution // 2 + self.lowest + 1


def log_odds(p: nw.Expr) -> nw.Expr:
    """Logarithm of p / (1 - p), between the limits."""
    inner = p.clip(math.exp(-LOGIT_LIMIT), 1 - math.exp(-LOGIT_LIMIT))
    return (inner / (1 - inner)).log()


def within_limits(logit: nw.Expr) -> nw.Expr:
    """Log-odds, which may be infinite, between the limits."""
    return logit.clip(-float(LOGIT_LIMIT), float(LOGIT_LIMIT))


def log_or_infinite(p: nw.Expr) -> nw.Expr:
    """Natural logarithm, minus infinity at zero, where engines warn, raise or answer NULL."""
    import narwhals.stable.v2 as nw

    return nw.when(p > 0).then(p.clip(_TINY, 1.0).log()).otherwise(nw.lit(-math.inf))


def _one_if(condition: nw.Expr) -> nw.Expr:
    import narwhals.stable.v2 as nw

    return condition.cast(nw.Float64)
