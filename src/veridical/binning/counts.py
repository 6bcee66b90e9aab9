"""How many bins, and scores sorted once: for calibrators and the lab."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.binning._bins.counts import BinCount, SortedScores

__all__ = ["BinCount", "SortedScores"]

__getattr__, __dir__ = late_names(__name__)
