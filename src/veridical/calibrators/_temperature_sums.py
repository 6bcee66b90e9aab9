"""What a temperature is fitted to, where the rows stay in an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical.calibrators._fit_frame import Columns
from veridical.calibrators._scales import smallest_share

if TYPE_CHECKING:
    from veridical.calibrators._calibrator import Calibrator
    from veridical.frames._temperature_sums import TemperatureSums


@dataclass(frozen=True)
class EngineSums:
    """Rows of an engine, known by sums.

    Attributes
    ----------
    gaps : the loss and its derivatives, each by one query
    floor : what probabilities are raised to before logarithms
    classes : labels in column order
    n_rows, size : number of rows, and the sample size that counts
    """

    gaps: TemperatureSums
    floor: float
    classes: tuple[Any, ...]
    n_rows: int
    size: float


def sums_of_columns(calibrator: Calibrator, columns: Columns) -> EngineSums:
    """Check the columns in the engine, find their classes, and get ready to sum."""
    from veridical.frames._grid import grid_table
    from veridical.frames._temperature_sums import TemperatureSums

    caller = columns.caller
    table = grid_table(
        columns.source,
        y=columns.y,
        prob=columns.prob,
        sample_weight=columns.weight,
        labels=calibrator.labels,
        problems=["confidence"],
        n_bins=1,
        resolution=64,  # the coarsest: only the check, the labels and the totals are wanted
        scores=False,
        caller=caller,
    )
    gaps = TemperatureSums(
        columns.source,
        y=columns.y,
        prob=columns.prob,
        sample_weight=columns.weight,
        classes=table.classes,
        caller=caller,
    )
    floor = smallest_share(np.array([gaps.least, gaps.least_positive]))
    gaps.raise_to(floor)
    total, squares = float(table.total_w[0]), float(table.total_w2[0])
    size = total if calibrator.weight_type == "frequency" else total * total / squares
    return EngineSums(gaps, floor, table.classes, int(table.rows[0]), size)
