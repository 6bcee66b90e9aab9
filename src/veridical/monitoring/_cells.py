"""A fixed grid of predictions, fine in log odds, that batches are counted on."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray, IntArray

FLOOR = 1e-6  # predictions are read as no more certain than this
_STEP = 1 / 32  # width of a cell in log odds
_FARTHEST = float(np.log1p(-FLOOR) - np.log(FLOOR))
_N_HALF = int(np.ceil(_FARTHEST / _STEP))

N_CELLS = 2 * _N_HALF


def clipped(p: FloatArray) -> FloatArray:
    """Predictions in double precision, kept off 0 and 1 by `FLOOR`."""
    return np.clip(p.astype(np.float64, copy=False), FLOOR, 1 - FLOOR)


def cell_of(p: FloatArray) -> IntArray:
    """Cell of each prediction, 0..N_CELLS - 1 in the order of the predictions."""
    odds = np.log(p)
    odds -= np.log1p(-p)
    odds /= _STEP
    odds += _N_HALF
    return np.clip(odds.astype(np.intp), 0, N_CELLS - 1)


def centres() -> FloatArray:
    """Middle of each cell in log odds, as a probability."""
    odds = _STEP * (np.arange(N_CELLS) - _N_HALF + 0.5)
    return 1 / (1 + np.exp(-odds))
