"""The calibration error that speaks for a lens."""

from __future__ import annotations

from typing import Any

from veridical._core.sample import MulticlassSample
from veridical.binning import UniformBins, VarianceSplitBins
from veridical.lenses import Problem
from veridical.miscalibration import BinnedError


def default_error(problem: Problem, n_bins: Any) -> BinnedError:
    """Return the error a verdict is about: ECE, for whole vectors with cells that hold rows."""
    if isinstance(problem, MulticlassSample):
        return BinnedError(VarianceSplitBins(max(20, problem.n // 15)))
    return BinnedError(UniformBins(n_bins))
