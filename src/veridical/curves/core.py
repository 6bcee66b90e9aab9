"""Curves of checked data, their bands and levels, for tests, maps and plots."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.curves._curve.bands import simultaneous_band
    from veridical.curves._curve.options import check_curve_options
    from veridical.curves._curve.points import curve_from_summary, levels_of_curve, levels_of_rows
    from veridical.curves._curve.reliability import curve_core, curve_of_summary
    from veridical.curves._curve.smooth import CELLS, check_bandwidth

__all__ = [
    "CELLS",
    "check_bandwidth",
    "check_curve_options",
    "curve_core",
    "curve_from_summary",
    "curve_of_summary",
    "levels_of_curve",
    "levels_of_rows",
    "simultaneous_band",
]

__getattr__, __dir__ = late_names(__name__)
