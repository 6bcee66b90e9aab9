"""Many rows as few that lead to the same decisions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray, WeightType

_FEW = 20_000
_CELLS = 1000


class DecisionRows(NamedTuple):
    """Outcomes, predictions and weights, and what the weights mean."""

    y: IntArray
    p: FloatArray
    weight: FloatArray | None
    weight_type: WeightType

    def options(self) -> dict[str, Any]:
        """What functions on decisions take beside outcomes and predictions."""
        return {
            "labels": [0, 1],
            "sample_weight": self.weight,
            "weight_type": self.weight_type,
        }


def decision_rows(rows: BinarySample, p: FloatArray, threshold: float) -> DecisionRows:
    """Rows with predictions `p`; of very many, those of an outcome in a cell are counted as one.

    Cells end at the threshold and at every thousandth, so every row stays on its side of the
    thresholds that are drawn: costs and benefits are the same, and their intervals as good as.
    Weighted rows stay as they are.
    """
    if rows.n <= _FEW or rows.weight is not None:
        return DecisionRows(rows.y, p, rows.weight, rows.weight_type)
    edges = np.union1d(np.arange(_CELLS + 1) / _CELLS, [threshold])
    cell = 2 * np.searchsorted(edges, p, side="right") + rows.y
    count = np.bincount(cell).astype(np.float64)
    held = np.flatnonzero(count)
    mean = np.bincount(cell, weights=p)[held] / count[held]
    return DecisionRows(held % 2, mean, count[held], "frequency")
