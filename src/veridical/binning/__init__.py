"""Binnings: partitions of the unit interval or of the probability simplex."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.binning._bins.counts import check_count, root_count
    from veridical.binning._bins.line import EdgeBins, QuantileBins, SweepBins, UniformBins
    from veridical.binning._bins.partition import (
        Binning,
        GridPartition,
        IntervalBinning,
        IntervalPartition,
        Partition,
        SimplexBinning,
        SimplexPartition,
        TreePartition,
        partition_from_dict,
    )
    from veridical.binning._bins.simplex import SimplexBins, VarianceSplitBins

__all__ = [
    "Binning",
    "EdgeBins",
    "GridPartition",
    "IntervalBinning",
    "IntervalPartition",
    "Partition",
    "QuantileBins",
    "SimplexBinning",
    "SimplexBins",
    "SimplexPartition",
    "SweepBins",
    "TreePartition",
    "UniformBins",
    "VarianceSplitBins",
    "check_count",
    "partition_from_dict",
    "root_count",
]

__getattr__, __dir__ = late_names(__name__)
