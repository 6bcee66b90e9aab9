"""What a batch says, counted: all that evidence, estimates and change points are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.monitoring._cells import N_CELLS, cell_of, clipped


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of the rows of one batch, for S streams of rows.

    A stream is the whole sample, a class or a group; rows may be in several.

    Attributes
    ----------
    counts : shape (S, N_CELLS, 2)
        Rows by cell of the prediction and outcome.
    sum_p : shape (S, N_CELLS)
        Sums of the predictions.
    log_likelihood : shape (S,)
        Sum of the log probability given to what happened.
    squared : shape (S,)
        Sum of (y - p)^2.
    """

    counts: FloatArray
    sum_p: FloatArray
    log_likelihood: FloatArray
    squared: FloatArray

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.counts + other.counts,
            self.sum_p + other.sum_p,
            self.log_likelihood + other.log_likelihood,
            self.squared + other.squared,
        )

    @property
    def rows(self) -> FloatArray:
        """Rows of each stream."""
        return self.counts.sum(axis=(1, 2))

    @property
    def deviation(self) -> FloatArray:
        """Sum of y - p of each stream."""
        return self.counts[:, :, 1].sum(axis=1) - self.sum_p.sum(axis=1)


def tally(y: IntArray, p: FloatArray, stream: IntArray | None = None, n_streams: int = 1) -> Tally:
    """Count outcomes 0/1 and predictions by cell, in O(n).

    Parameters
    ----------
    y, p : arrays of shape (n,)
    stream : integers below `n_streams`, shape (n,), optional
        Which stream a row belongs to; default all to the only one.
    """
    p = clipped(p)
    y = y.astype(np.intp, copy=False)
    cell = cell_of(p)
    size = n_streams * N_CELLS
    if stream is not None:
        cell += stream * N_CELLS
    happened = np.where(y == 1, p, 1 - p)
    missed = 1 - happened

    def by_stream(values: FloatArray) -> FloatArray:
        if stream is None:
            return np.array([values.sum()])
        return _sums(stream, values, n_streams)

    return Tally(
        np.bincount(2 * cell + y, minlength=2 * size)
        .reshape(n_streams, N_CELLS, 2)
        .astype(np.float64),
        _sums(cell, p, size).reshape(n_streams, N_CELLS),
        by_stream(np.log(happened)),
        by_stream(missed * missed),
    )


def _sums(place: IntArray, values: FloatArray, size: int) -> FloatArray:
    return np.bincount(place, weights=values, minlength=size).astype(np.float64, copy=False)
