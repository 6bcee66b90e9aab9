"""How sure are we? What a figure reads when the model is right, and how uncertain it is."""

from veridical.inference._cox.binary import recalibration_line
from veridical.inference._cox.cox import cox_test
from veridical.inference._design.equivalence import equivalence_test
from veridical.inference._design.sample_size import detectable_error, required_sample_size
from veridical.inference._draws.monte_carlo import monte_carlo_pvalue
from veridical.inference._draws.sums import null_summaries
from veridical.inference._goodness.hosmer_lemeshow import hosmer_lemeshow_test
from veridical.inference._goodness.pearson import pearson_test
from veridical.inference._goodness.spiegelhalter import spiegelhalter_test
from veridical.inference._intervals.bootstrap import (
    binned_limits,
    bootstrap_interval,
    check_groups,
    has_interval,
)
from veridical.inference._intervals.paired import paired_difference
from veridical.inference._intervals.ranks import mean_ranks
from veridical.inference._kernel.t_cal import t_cal_test
from veridical.inference._kernel.test import kernel_test
from veridical.inference._nulls.consistency import consistency_test
from veridical.inference._nulls.multiple import adjust_pvalues, multiple_test
from veridical.inference._nulls.null import depends_on_fixed_sums, null_level, null_sample
from veridical.inference._sequential.process import EProcess
from veridical.inference._sequential.test import sequential_test

__all__ = [
    "EProcess",
    "adjust_pvalues",
    "binned_limits",
    "bootstrap_interval",
    "check_groups",
    "consistency_test",
    "cox_test",
    "depends_on_fixed_sums",
    "detectable_error",
    "equivalence_test",
    "has_interval",
    "hosmer_lemeshow_test",
    "kernel_test",
    "mean_ranks",
    "monte_carlo_pvalue",
    "multiple_test",
    "null_level",
    "null_sample",
    "null_summaries",
    "paired_difference",
    "pearson_test",
    "recalibration_line",
    "required_sample_size",
    "sequential_test",
    "spiegelhalter_test",
    "t_cal_test",
]
