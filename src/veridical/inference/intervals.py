"""Intervals of checked data: of means, of scores by row and of figures of bins."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.inference._intervals.areas import area_limits
    from veridical.inference._intervals.bootstrap import (
        binned_limits,
        has_interval,
        has_vector_interval,
        unbinned_limits,
    )
    from veridical.inference._intervals.bounded import Support, mean_limits
    from veridical.inference._intervals.gain import Gains, gain_core, gain_interval
    from veridical.inference._intervals.mean import (
        IntervalOptions,
        MeanInterval,
        check_interval_options,
        make_units,
        mean_interval,
        normal_interval,
        standard_error,
    )
    from veridical.inference._intervals.parts import part_limits
    from veridical.inference._intervals.roots import gap_limits, ratio_limits
    from veridical.inference._intervals.rows import Rows, rows_of
    from veridical.inference._intervals.support import masses_of_many, score_support, scores_by_row

__all__ = [
    "Gains",
    "IntervalOptions",
    "MeanInterval",
    "Rows",
    "Support",
    "area_limits",
    "binned_limits",
    "check_interval_options",
    "gain_core",
    "gain_interval",
    "gap_limits",
    "has_interval",
    "has_vector_interval",
    "make_units",
    "masses_of_many",
    "mean_interval",
    "mean_limits",
    "normal_interval",
    "part_limits",
    "ratio_limits",
    "rows_of",
    "score_support",
    "scores_by_row",
    "standard_error",
    "unbinned_limits",
]

__getattr__, __dir__ = late_names(__name__)
