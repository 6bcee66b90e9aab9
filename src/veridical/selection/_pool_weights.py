"""Weights of a linear pool that have the least log loss on held-out rows."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray

_ENOUGH = 1e-7  # change of a weight
_MOST_STEPS = 2000


def pool_weights(given: FloatArray, weight: FloatArray, pseudo_rows: float) -> FloatArray:
    """Maximise sum_i w_i log(given_i . v) + (a / M) sum_m log v_m over the simplex.

    `given` (n, M) holds what each of M maps gave to the outcome, `weight` sums to the sample size
    and a is `pseudo_rows`: as if that many more rows had been best foretold by a map drawn at
    random, which keeps weights off zero where rows are few. The objective is concave. Solved by
    expectation-maximisation (Dempster, Laird & Rubin 1977, section 4.3), which never leaves the
    simplex and never gets worse. O(n M) a step.

    Examples
    --------
    Two maps, each right about its half of four rows: alike by symmetry.

    >>> import numpy as np
    >>> given = np.array([[0.9, 0.5], [0.9, 0.5], [0.5, 0.9], [0.5, 0.9]])
    >>> pool_weights(given, np.ones(4), 5.0).round(6).tolist()
    [0.5, 0.5]
    """
    n_maps = given.shape[1]
    # a common factor of a row changes nothing, and keeps tiny probabilities from underflowing
    scaled = given / given.max(axis=1, keepdims=True)
    total = float(weight.sum()) + pseudo_rows
    found = np.full(n_maps, 1 / n_maps)
    for _ in range(_MOST_STEPS):
        pull = (weight / (scaled @ found)) @ scaled
        moved = (found * pull + pseudo_rows / n_maps) / total
        change = float(np.abs(moved - found).max())
        found = moved
        if change < _ENOUGH:
            break
    return np.asarray(found / found.sum())
