"""Rows to resample, equal ones counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import Array, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Units:
    """Distinct rows in sorted order, so that neither order nor repetition changes a resample.

    Attributes
    ----------
    table : (u, K) probabilities or, for hard votes, indicators of the predicted class
    label : (u,) class index, or None for rows without outcome
    weight : (u,) importance of one such row; 1 for frequencies
    count : (u,) how many such rows there are
    """

    table: FloatArray
    label: IntArray | None
    weight: FloatArray
    count: FloatArray

    @property
    def total(self) -> FloatArray:
        """Weight of all rows of each unit."""
        return self.weight * self.count

    def draw(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Weights (R, u) of bootstrap samples of as many rows."""
        size = float(self.count.sum())
        return rng.multinomial(round(size), self.count / size, n_resamples) * self.weight


def make_units(
    p: FloatArray,
    label: IntArray | None,
    weight: FloatArray | None,
    *,
    frequency: bool,
    hard: bool,
    pool: bool,
) -> Units:
    """Units of predictions, pooled and sorted unless there is nothing to resample."""
    columns: list[Array] = [p.argmax(axis=1)] if hard else [p[:, k] for k in range(p.shape[1])]
    if label is not None:
        columns.append(label)
    ones = np.ones(len(p))
    counted = weight is not None and frequency
    importance = ones if weight is None or frequency else weight
    count = weight if weight is not None and counted else ones
    kept: Array = np.arange(len(p))
    if pool or hard:
        order = np.lexsort([*columns, importance])
        first = _starts([column[order] for column in (*columns, importance)])
        kept, count = order[first], np.add.reduceat(count[order], np.flatnonzero(first))
    table = p[kept].astype(np.float64, copy=False)
    if hard:
        table = np.eye(p.shape[1])[columns[0][kept]]
    return Units(
        table=table,
        label=None if label is None else label[kept],
        weight=importance[kept],
        count=count,
    )


def _starts(columns: list[Array]) -> BoolArray:
    """Mark sorted rows that differ from the one before."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new
