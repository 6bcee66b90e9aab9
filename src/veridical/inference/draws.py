"""Outcomes drawn as if predictions were right, and what figures read on them."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.inference._draws.monte_carlo import monte_carlo_pvalue, null_pvalues
    from veridical.inference._draws.problems import are_drawn_exactly, null_l1_errors
    from veridical.inference._draws.sums import null_summaries
    from veridical.inference._draws.trials import Trials
    from veridical.inference._intervals.gaps_rows import l1_limits_of_problems
    from veridical.inference._nulls.cells import CellDraws, knows_cells
    from veridical.inference._nulls.null import depends_on_fixed_sums, null_sample

__all__ = [
    "CellDraws",
    "Trials",
    "are_drawn_exactly",
    "depends_on_fixed_sums",
    "knows_cells",
    "l1_limits_of_problems",
    "monte_carlo_pvalue",
    "null_l1_errors",
    "null_pvalues",
    "null_sample",
    "null_summaries",
]

__getattr__, __dir__ = late_names(__name__)
