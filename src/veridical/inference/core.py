"""Tests, intervals and judgements of checked data, for rooms above."""

from veridical.inference._design.equivalence import check_delta, equivalence_core, equivalence_error
from veridical.inference._design.sample_size import detectable_core, required_core
from veridical.inference._draws.trials import Trials
from veridical.inference._intervals.bootstrap import scores_by_row
from veridical.inference._intervals.mean import (
    IntervalOptions,
    MeanInterval,
    check_interval_options,
    make_units,
    mean_interval,
    normal_limits,
    standard_error,
)
from veridical.inference._intervals.paired import difference_core
from veridical.inference._nulls.consistency import consistency_core, judged
from veridical.inference._nulls.multiple import Family, corrected, multiple_core
from veridical.inference._nulls.null import check_estimator
from veridical.inference._sequential.process import ONSET_ROWS, Bets

__all__ = [
    "ONSET_ROWS",
    "Bets",
    "Family",
    "IntervalOptions",
    "MeanInterval",
    "Trials",
    "check_delta",
    "check_estimator",
    "check_interval_options",
    "consistency_core",
    "corrected",
    "detectable_core",
    "difference_core",
    "equivalence_core",
    "equivalence_error",
    "judged",
    "make_units",
    "mean_interval",
    "multiple_core",
    "normal_limits",
    "required_core",
    "scores_by_row",
    "standard_error",
]
