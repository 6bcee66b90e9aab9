"""What a binning is: parameters only; fitted to scores it gives a partition."""

from __future__ import annotations

from abc import ABC, abstractmethod

from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning._partition import IntervalPartition, SimplexPartition


class Binning(ABC):
    """A rule that turns scores into a partition."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name shown beside every figure."""


class IntervalBinning(Binning):
    """A rule for scores in [0, 1]."""

    @abstractmethod
    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins for these scores (some rules look at the outcomes too)."""


class SimplexBinning(Binning):
    """A rule for probability vectors."""

    @abstractmethod
    def fit(self, sample: MulticlassSample) -> SimplexPartition:
        """Return the cells for these predictions."""
