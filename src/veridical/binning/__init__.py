"""Binnings: partitions of the unit interval or of the probability simplex."""

from veridical.binning._base import Binning, IntervalBinning, SimplexBinning
from veridical.binning._count import check_count, root_count
from veridical.binning._edges import EdgeBins
from veridical.binning._partition import (
    GridPartition,
    IntervalPartition,
    Partition,
    SimplexPartition,
    TreePartition,
    partition_from_dict,
)
from veridical.binning._quantile import QuantileBins
from veridical.binning._simplex import SimplexBins, VarianceSplitBins
from veridical.binning._sweep import SweepBins
from veridical.binning._uniform import UniformBins

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
