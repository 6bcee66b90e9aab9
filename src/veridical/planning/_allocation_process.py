"""A decision process under a common budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical._core.validation import float_array
from veridical.decisions._allocation import allocate
from veridical.exceptions import invalid
from veridical.planning._processes import DecisionProcess, check_columns, check_finite, read_only

_CALLER = "AllocationProcess"


@dataclass(frozen=True, eq=False)
class AllocationProcess(DecisionProcess):
    """Gives every row one option so that the expected benefit is largest within a budget.

    Parameters
    ----------
    benefits : array-like of shape (K, A)
        What each option (columns) is worth if each class (rows) is the true one.
    action_costs : array-like of shape (A,)
        What each option takes from the budget; let one cost nothing if rows may be left alone.
    budget : float
        Mean cost a row that may be spent, so that it means the same for any number of rows.

    Notes
    -----
    The options are those of :func:`allocate` on ``y_prob @ benefits``; the value is the benefit
    that came, without what was spent. Rows compete: with two classes, two options and a budget
    for some of the rows only their order counts, which an increasing map of the probabilities
    leaves as it is. With more of either, distances count too, and miscalibration may cost much.

    Examples
    --------
    Three rows, and budget for one treatment, which helps the ill by 10:

    >>> import numpy as np
    >>> process = AllocationProcess([[0, 0], [0, 10]], [0, 1], budget=1 / 3)
    >>> process.payoffs(np.array([[0.8, 0.2], [0.1, 0.9], [0.4, 0.6]])).tolist()
    [[0.0, 0.0], [0.0, 10.0], [0.0, 0.0]]
    """

    benefits: ArrayLike
    action_costs: ArrayLike
    budget: float
    coupled = True

    def __post_init__(self) -> None:
        table = float_array(self.benefits, caller=_CALLER, param="benefits").astype(np.float64)
        if table.ndim != 2 or len(table) < 2 or not np.isfinite(table).all():
            hint = "one row for each class, one column for each option."
            got = f"shape {table.shape}"
            raise invalid(_CALLER, "benefits", "finite, of shape (K, A)", got, hint=hint)
        price = float_array(self.action_costs, caller=_CALLER, param="action_costs")
        price = price.astype(np.float64)
        if price.shape != table.shape[1:] or not (price >= 0).all():
            hint = "give one cost of zero or more for each column of `benefits`."
            expected = f"{table.shape[1]} numbers of zero or more"
            raise invalid(_CALLER, "action_costs", expected, f"{self.action_costs!r}", hint=hint)
        check_finite(_CALLER, "budget", self.budget)
        if self.budget < price.min():
            hint = "raise the budget, or add an option of cost 0."
            expected = f"at least {price.min():.6g}, the cost of the cheapest option"
            raise invalid(_CALLER, "budget", expected, f"{self.budget:.6g}", hint=hint)
        object.__setattr__(self, "benefits", read_only(table))
        object.__setattr__(self, "action_costs", read_only(price))

    @property
    def definition(self) -> str:
        """Size and budget in words."""
        n_classes, n_options = np.shape(self.benefits)
        return (
            f"largest benefit of {n_classes} classes x {n_options} options"
            f" within {self.budget:g} a row"
        )

    def payoffs(self, y_prob: FloatArray) -> FloatArray:
        """Benefit of the option of each row under each class."""
        benefits = np.asarray(self.benefits)
        check_columns(_CALLER, "benefits", len(benefits), y_prob)
        expected = np.asarray(y_prob, dtype=np.float64) @ benefits
        choice = allocate(expected, self.action_costs, self.budget * len(y_prob)).choice
        return np.asarray(benefits.T[choice])
