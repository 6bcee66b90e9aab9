"""Which option each row gets under a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import IntArray
from veridical.results._base import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class Allocation(Result):
    """One option for every row, and how good that is at most.

    Attributes
    ----------
    choice : option of each row, an index into the columns of the values
    total_value, total_cost : sums over the chosen options
    budget : what the total cost may not exceed
    upper_bound : no allocation within the budget is worth more; if options could be split between
        two, exactly this much could be had (the bound of the linear relaxation)
    shadow_price : what one more unit of budget would be worth in that relaxation
    optimal : whether it is proved that no allocation is worth more than this one
    gap : by how much a better one could exceed `total_value`; 0 if `optimal`
    n_core : rows whose option the bound alone did not settle

    Examples
    --------
    >>> print(Allocation(choice=np.array([1, 0]), total_value=3.0, total_cost=2.0, budget=2.0,
    ...     upper_bound=3.0, shadow_price=1.0, optimal=True, gap=0.0, n_core=0))
    2 rows: value 3, cost 2 of 2; proved optimal (relaxation 3, one more unit is worth 1)
    """

    choice: IntArray
    total_value: float
    total_cost: float
    budget: float
    upper_bound: float
    shadow_price: float
    optimal: bool
    gap: float
    n_core: int

    def __post_init__(self) -> None:
        # Indices, also after a journey through JSON.
        object.__setattr__(self, "choice", np.asarray(self.choice).astype(np.intp))

    def counts(self, n_options: int) -> tuple[int, ...]:
        """How many rows get each of `n_options` options."""
        return tuple(np.bincount(self.choice, minlength=n_options).tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Allocation) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        proof = "proved optimal" if self.optimal else f"within {self.gap:.6g} of the optimum"
        return (
            f"{len(self.choice):,} rows: value {self.total_value:.6g}, cost {self.total_cost:.6g}"
            f" of {self.budget:.6g}; {proof} (relaxation {self.upper_bound:.6g}, one more unit is"
            f" worth {self.shadow_price:.6g})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        """One row for each row allocated."""
        return {"row": list(range(len(self.choice))), "choice": self.choice.tolist()}
