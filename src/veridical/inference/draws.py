"""Outcomes drawn as if predictions were right, and what figures read on them."""

from veridical.inference._draws.monte_carlo import monte_carlo_pvalue
from veridical.inference._draws.sums import null_summaries
from veridical.inference._draws.trials import Trials
from veridical.inference._nulls.cells import CellDraws, knows_cells
from veridical.inference._nulls.null import depends_on_fixed_sums, null_sample

__all__ = [
    "CellDraws",
    "Trials",
    "depends_on_fixed_sums",
    "knows_cells",
    "monte_carlo_pvalue",
    "null_sample",
    "null_summaries",
]
