"""Limits of a mean that hold at every look, at once."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray

# Bets on the sum of deviations, from the small ones that suit long series to bold ones.
_BETS = np.geomspace(1e-4, 0.95, 48)
_HALVINGS = 45


def radius(squared: ArrayLike, level: FloatArray | float) -> FloatArray:
    r"""How far a sum of deviations y - p may be from the sum of its conditional means, ever.

    Parameters
    ----------
    squared : array
        :math:`V_t`, sums of (y - p)^2.
    level : array or float
        Chance, one-sided, of ever being farther off in that direction.

    Notes
    -----
    Given p, y - p lies in an interval of length 1 that holds 0, so for every :math:`\lambda` in
    [0, 1) the process :math:`\exp(\lambda \sum (y_i - r_i) - \psi(\lambda) V_t)` with
    :math:`\psi(\lambda) = -\log(1 - \lambda) - \lambda` and r the true conditional probability is
    a supermartingale (Howard, Ramdas, McAuliffe & Sekhon 2021, Annals of Statistics 49, 1055-1080,
    Theorem 4; Fan, Grama & Liu 2015). A mixture over fixed :math:`\lambda` is one too, and by
    Ville's inequality stays below 1 / level; the radius is where it meets that bound. Nothing is
    assumed of how r changes.

    Examples
    --------
    >>> radius([0.0], 0.05).item() > math.log(20)  # no variance seen, and yet not sure
    True
    """
    seen = np.asarray(squared, dtype=np.float64)
    target = -np.log(np.broadcast_to(np.asarray(level, dtype=np.float64), seen.shape))
    cost = -np.log1p(-_BETS) - _BETS
    offset = -np.multiply.outer(seen, cost) - math.log(len(_BETS))
    # Any single bet meets the bound later than the mixture: the least of them is above the root.
    high = ((target[..., None] - offset) / _BETS).min(axis=-1)
    low = np.zeros_like(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        logs = _BETS * middle[..., None] + offset - target[..., None]
        reached = np.exp(np.minimum(logs, 1.0)).sum(axis=-1) >= 1
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


def window_levels(n: int, level: float) -> FloatArray:
    """Level of the window that begins at each of `n` moments; all of them sum to less than `level`.

    Windows that began at any moment then have limits that hold together, at every look: the k-th
    has :math:`level / ((k + 1) (k + 2))`.
    """
    k = np.arange(n, dtype=np.float64)
    return level / ((k + 1) * (k + 2))
