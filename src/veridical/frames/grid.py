"""Sums and columns that an engine makes."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.frames._expressions.columns import of_partitions, with_arrays, with_formulas
    from veridical.frames._grid.cells import LOGIT_LIMIT, Grid
    from veridical.frames._grid.gradients import SoftmaxSums
    from veridical.frames._grid.grid import RESOLUTION
    from veridical.frames._grid.paired import PairedSums, paired_sums
    from veridical.frames._grid.reading import measured_key
    from veridical.frames._grid.sample import SAMPLING_WEIGHT
    from veridical.frames._grid.segments import SegmentSums, segment_sums
    from veridical.frames._grid.softmax import SoftmaxMap
    from veridical.frames._grid.temperature import TemperatureSums

__all__ = [
    "LOGIT_LIMIT",
    "RESOLUTION",
    "SAMPLING_WEIGHT",
    "Grid",
    "PairedSums",
    "SegmentSums",
    "SoftmaxMap",
    "SoftmaxSums",
    "TemperatureSums",
    "measured_key",
    "of_partitions",
    "paired_sums",
    "segment_sums",
    "with_arrays",
    "with_formulas",
]

__getattr__, __dir__ = late_names(__name__)
