"""How sure are we? What a figure reads when the model is right, and how uncertain it is."""

from veridical.inference._bootstrap import binned_limits, bootstrap_interval, has_interval
from veridical.inference._consistency import consistency_test
from veridical.inference._null import depends_on_fixed_sums, null_level
from veridical.inference._null_sums import null_summaries

__all__ = [
    "binned_limits",
    "bootstrap_interval",
    "consistency_test",
    "depends_on_fixed_sums",
    "has_interval",
    "null_level",
    "null_summaries",
]
