"""How sure are we? What a figure reads when the model is right, and how uncertain it is."""

from veridical.inference._adjust import adjust_pvalues
from veridical.inference._bootstrap import (
    binned_limits,
    bootstrap_interval,
    check_groups,
    has_interval,
)
from veridical.inference._consistency import consistency_of, consistency_test
from veridical.inference._multiple import multiple_test
from veridical.inference._null import depends_on_fixed_sums, null_level
from veridical.inference._null_sums import null_summaries
from veridical.inference._paired import difference_of, paired_difference

__all__ = [
    "adjust_pvalues",
    "binned_limits",
    "bootstrap_interval",
    "check_groups",
    "consistency_of",
    "consistency_test",
    "depends_on_fixed_sums",
    "difference_of",
    "has_interval",
    "multiple_test",
    "null_level",
    "null_summaries",
    "paired_difference",
]
