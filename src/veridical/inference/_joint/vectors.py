"""Sums of residuals of several classes, redrawn together: every row has one outcome for all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.runtime.progress import track
from veridical._core.sample import MulticlassSample
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._joint.draws import NORMAL_FROM
from veridical.inference._joint.layout import Layout, Rows, Sums, outcomes_in, rows_of

_BLOCK = 1 << 18


def drawn_sums(
    sample: MulticlassSample,
    layout: Layout,
    codes: IntArray | None,
    sums: dict[str, Sums],
    draws: Draws,
) -> Iterator[dict[str, FloatArray]]:
    """Residuals by the columns of every block of sums, some draws at a time.

    Up to `MOST_DRAWN` rows every outcome is drawn. Of more rows, outcomes of some that are spread
    evenly say how sums go together: the ranks of their sums are given to draws from the law that
    the sum of all rows has in each column (a copula).
    """
    rows = rows_of(sample, layout, codes, layout.drawn)
    blocks = _row_draws(rows, layout, list(sums), draws)
    if len(layout.drawn) == outcomes_in(sample):
        for drawn in blocks:
            yield {name: values - sums[name].mean for name, values in drawn.items()}
        return
    held: dict[str, list[FloatArray]] = {name: [] for name in sums}
    for drawn in blocks:
        for name, values in drawn.items():
            held[name].append(values)
    yield {name: _with_laws(np.vstack(values), sums[name], draws) for name, values in held.items()}


def _row_draws(
    rows: Rows, layout: Layout, names: list[str], draws: Draws
) -> Iterator[dict[str, FloatArray]]:
    """Weighted outcomes by column, drawn row by row."""
    n, n_classes = rows.p.shape
    reached = np.cumsum(rows.p, axis=1)
    reached /= reached[:, -1:]
    thresholds = np.ascontiguousarray(reached[:, :-1].T)
    keys = {name: layout.keys(rows, name).ravel() for name in names}
    kind = np.uint8 if n_classes <= 256 else np.uint32
    step = max(1, _BLOCK // n)
    at = np.arange(n)
    for index in track(-(-draws.n_resamples // step), "joint null distribution"):
        size = min(step, draws.n_resamples - index * step)
        uniform = draws.rng.random((size, n))
        y = np.zeros((size, n), dtype=kind)
        for threshold in thresholds:
            y += uniform >= threshold
        place = y.astype(np.intp)
        place *= n
        place += at
        weight = None if rows.weight is None else np.broadcast_to(rows.weight, y.shape).ravel()
        drawn: dict[str, FloatArray] = {}
        for name in names:
            width = layout.columns[name] + 1
            column = keys[name][place]
            column += (np.arange(size) * width)[:, None]
            counted = np.bincount(column.ravel(), weights=weight, minlength=size * width)
            drawn[name] = counted.reshape(size, width)[:, :-1].astype(np.float64, copy=False)
        yield drawn


def _with_laws(drawn: FloatArray, sums: Sums, draws: Draws) -> FloatArray:
    """Residuals that are ranked in each column as the drawn sums are, and follow its own law.

    A column of small variance has the law of a binomial number with its mean and variance; others
    are normal.
    """
    n, width = drawn.shape
    rng = draws.rng
    law = rng.standard_normal((n, width)) * np.sqrt(sums.variance)
    for c in np.flatnonzero((sums.variance < NORMAL_FROM) & (sums.variance > 0)):
        mean, variance = float(sums.mean[c]), float(sums.variance[c])
        chance = max(1 - variance / mean, 1e-9)
        number = max(1, round(mean / chance))
        law[:, c] = rng.binomial(number, min(1.0, mean / number), n) - mean
    law.sort(axis=0)
    order = np.argsort(drawn + rng.random((n, width)) * 1e-6, axis=0)  # ties fall at random
    result = np.empty_like(law)
    np.put_along_axis(result, order, law, axis=0)
    return result
