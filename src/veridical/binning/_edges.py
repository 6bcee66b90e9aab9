"""Bins with edges the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import to_numpy
from veridical._core.sample import BinarySample
from veridical._core.validation import check_option
from veridical.binning._base import IntervalBinning
from veridical.binning._partition import Closed, IntervalPartition
from veridical.exceptions import invalid


@dataclass(frozen=True)
class EdgeBins(IntervalBinning):
    """Bins between given edges; 0 and 1 are added where missing.

    Parameters
    ----------
    edges : array-like
        Increasing numbers in [0, 1].
    closed : {"right", "left"}, default "right"
        Which end of a bin belongs to it.

    Examples
    --------
    >>> sample = BinarySample(y=np.array([0, 1]), p=np.array([0.05, 0.9]))
    >>> EdgeBins([0.1, 0.5]).fit(sample).edges.tolist()
    [0.0, 0.1, 0.5, 1.0]
    """

    edges: Any
    closed: Closed = "right"

    def __post_init__(self) -> None:
        check_option("EdgeBins", "closed", self.closed, ("right", "left"))
        edges = to_numpy(self.edges, caller="EdgeBins", param="edges")
        number = edges.ndim == 1 and edges.dtype.kind in "fiu"
        inside = number and bool(np.all((edges >= 0) & (edges <= 1)))
        if not (inside and bool(np.all(np.diff(edges) > 0))):
            hint = "e.g. `EdgeBins([0.1, 0.5, 0.9])`."
            got = repr(self.edges)
            raise invalid("EdgeBins", "edges", "increasing numbers in [0, 1]", got, hint=hint)
        inner = [float(edge) for edge in edges if 0 < edge < 1]
        object.__setattr__(self, "edges", (0.0, *inner, 1.0))

    @property
    def name(self) -> str:
        """Short name."""
        return f"{len(self.edges) - 1} given bins"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins; the scores do not matter."""
        del sample
        return IntervalPartition(np.asarray(self.edges), self.closed)
