"""Equal-mass bins of many scores without sorting them all."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.binning._sorted import SortedScores


def selected_edges(value: FloatArray, n_bins: int) -> FloatArray:
    """Inner edges of `QuantileBins(n_bins)` on unweighted scores, by selection. Time O(n n_bins).

    A bin ends at the order statistic that reaches its share; the next distinct score is the least
    one above it, found among those up to the next end.
    """
    n = len(value)
    reached = np.ceil(np.arange(1, n_bins) / n_bins * n * (1 - 1e-12)).astype(np.intp)
    ranks = np.unique(np.append(reached, n) - 1)
    parted = np.partition(value, ranks)
    pairs: list[float] = []
    for rank, next_rank in zip(ranks[:-1].tolist(), ranks[1:].tolist(), strict=True):
        above = parted[rank + 1 : next_rank + 1]
        above = above[above > parted[rank]]
        if above.size:  # else the next bin ends at the same score: the two are one
            pairs += [float(parted[rank]), float(above.min())]
    both = SortedScores(np.asarray(pairs), np.empty(0), np.empty(0))
    return both.edges_after(np.arange(0, len(pairs) + 1, 2))[1:-1]
