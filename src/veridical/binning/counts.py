"""How many bins, and scores sorted once: for maps and experiments."""

from veridical.binning._bins.counts import BinCount, SortedScores

__all__ = ["BinCount", "SortedScores"]
