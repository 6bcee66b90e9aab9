"""The best option for every row under one budget."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.validation import float_array, is_number
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray
from veridical.decisions._allocation.knapsack import Relaxation, exists, find_core, relax, search
from veridical.exceptions import invalid
from veridical.results import Allocation

_CALLER = "allocate"
_DECIMALS = 6  # costs with at most so many decimals are counted in whole units
_FIRST_ROWS = 300  # rows searched first, for a good allocation without proof
_MOST_STATES = 20_000_000
_ROUNDING = 1e-12  # values are told apart, and the budget kept, to this share of their size


def allocate(
    values: ArrayLike, costs: ArrayLike, budget: float, *, max_states: int = _MOST_STATES
) -> Allocation:
    r"""Give every row exactly one option, for the largest total value within a budget.

    Parameters
    ----------
    values : array-like of shape (n, m)
        What each of m options is worth for each row, e.g. ``y_prob @ benefit`` with the benefit of
        every option in every class.
    costs : array-like of shape (m,) or (n, m)
        What each option costs, the same for all rows or not; infinite where it is not available.
        Let one option cost nothing if a row may be left alone.
    budget : float
        The total cost may not exceed it.
    max_states : int, default 20,000,000
        States the search may keep, 6 bytes each, before it returns the best allocation found,
        with `optimal` false and the `gap` that remains.

    Returns
    -------
    Allocation
        With `choice`, `total_value`, `total_cost`, `upper_bound`, `shadow_price` and `optimal`.

    Notes
    -----
    The multiple-choice knapsack problem:

    .. math:: \max_{j_1, \dots, j_n} \sum_i v_{i j_i}
       \quad \text{subject to} \quad \sum_i c_{i j_i} \le B

    Its linear relaxation is solved greedily [1]_. Where the price of budget is :math:`\lambda`,
    an allocation that takes option j in row i is worth at most the bound less

    .. math:: \max_{j'} (v_{ij'} - \lambda c_{ij'}) - (v_{ij} - \lambda c_{ij}) ,

    which with many rows settles almost all of them at once. The rest are decided by dynamic
    programming over undominated pairs of cost and value, most doubtful rows first, until no state
    can beat the best allocation known [2]_. This is exact for costs of any kind. In the worst case
    there are as many states as subsets of rows, or with costs in whole units at most as many as
    units in the budget for each row: the problem is NP-hard. Where values vary from row to row the
    search ends after a few dozen rows; 10,000 rows with 5 options take well under a second.

    Costs with at most six decimals are added without rounding error. Values are added in double
    precision: allocations whose totals differ by less than 1e-12 of the ranges of all rows together
    count as equal; costs that are no such decimals keep the budget to 1e-12 of it.

    Values are taken as known. If they come from predictions, the total is what the predictions
    promise: miscalibrated ones spend the budget on the wrong rows, and choosing the largest of
    noisy values makes the promise too high.

    References
    ----------
    .. [1] Zemel (1980), The linear multiple choice knapsack problem, Operations Research 28,
       doi 10.1287/opre.28.6.1412.
    .. [2] Pisinger (1995), A minimal algorithm for the multiple-choice knapsack problem, European
       Journal of Operational Research 83, doi 10.1016/0377-2217(95)00015-I.

    Examples
    --------
    Three rows, nothing or one of two treatments. The dear one pays most per row; but for the
    same money two rows can have the cheap one:

    >>> found = allocate([[0, 5, 8], [0, 4, 5], [0, 1, 2]], [0, 1, 2], budget=2)
    >>> found.choice.tolist(), found.total_value, found.optimal
    ([1, 1, 0], 9.0, True)
    """
    worth, price_list = _check_tables(values, costs)
    if not is_number(budget):
        hint = "pass the largest total cost allowed, in the unit of `costs`."
        raise invalid(_CALLER, "budget", "a finite number", repr(budget), hint=hint)
    hint = "20,000,000 states take about 120 MB."
    most = check_integer(_CALLER, "max_states", max_states, hint=hint)
    return allocate_rows(worth, price_list, float(budget), max_states=most)


def allocate_rows(
    worth: FloatArray, price_list: FloatArray, budget: float, *, max_states: int = _MOST_STATES
) -> Allocation:
    """Best options of checked rows, both tables of shape (n, m)."""
    cost, capacity, scale = _count_units(price_list, budget)
    if np.where(exists(cost), cost, np.inf).min(axis=1).sum() > capacity:
        hint = "raise the budget, or add an option of cost 0 for rows that are left alone."
        least = math.fsum(price_list.min(axis=1).tolist())
        expected = f"at least {least:.6g}, the sum of the cheapest options"
        raise invalid(_CALLER, "budget", expected, f"{budget:.6g}", hint=hint)
    relative = worth - worth.max(axis=1, keepdims=True)  # what all options share is no matter
    solved = relax(relative, cost, capacity)
    choice, gap, n_core = _best_choice(relative, cost, solved, max_states)
    rows = np.arange(len(worth))
    total = _total(worth, choice)
    return Allocation(
        choice=choice,
        total_value=total,
        total_cost=math.fsum(price_list[rows, choice].tolist()),
        budget=budget,
        upper_bound=max(_total(worth, solved.base) + solved.price * solved.residual, total),
        shadow_price=solved.price * scale,
        optimal=gap == 0,
        gap=gap,
        n_core=n_core,
    )


def _best_choice(
    worth: FloatArray, cost: Array, solved: Relaxation, max_states: int
) -> tuple[IntArray, float, int]:
    """Best option of each row, by how much a better choice could exceed it, and the open rows."""
    tolerance = _ROUNDING * float(np.abs(worth).max(axis=1).sum())
    choice, gap, n_core = solved.filled, 0.0, 0
    known = _total(worth, choice) - _total(worth, solved.base)
    for limit in (_FIRST_ROWS, None):  # few rows find a good choice; then fewer are in doubt
        gap = solved.price * solved.residual - known
        if gap <= tolerance:
            return choice, 0.0, n_core
        core = find_core(worth, cost, solved, gap - tolerance, limit=limit)
        n_core = sum(len(bundle) for bundle in core.bundles)
        outcome = search(
            core,
            price=solved.price,
            room=solved.residual,
            known=known,
            tolerance=tolerance,
            max_states=max_states,
        )
        known = outcome.gain
        if outcome.moves is not None:
            choice = solved.base.copy()
            choice[outcome.moves[0]] = outcome.moves[1]
        gap = solved.price * (solved.residual - core.unusable(solved.residual)) - known
        if outcome.finished and core.complete:
            return choice, 0.0, n_core
    return choice, max(gap, tolerance), n_core


def _total(table: FloatArray, choice: IntArray) -> float:
    return math.fsum(table[np.arange(len(choice)), choice].tolist())


def _check_tables(values: ArrayLike, costs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Values and costs as float64 of shape (n, m)."""
    worth = float_array(values, caller=_CALLER, param="values").astype(np.float64, copy=False)
    if worth.ndim != 2 or worth.size == 0:
        hint = "pass one row per case and one column per option."
        raise invalid(_CALLER, "values", "of shape (n, m)", f"shape {worth.shape}", hint=hint)
    if not np.isfinite(worth).all():
        hint = "an option that is not available is one of infinite cost."
        raise invalid(_CALLER, "values", "finite", _first(~np.isfinite(worth), worth), hint=hint)
    price_list = float_array(costs, caller=_CALLER, param="costs").astype(np.float64, copy=False)
    if price_list.shape not in (worth.shape, worth.shape[1:]):
        hint = "pass one cost per option, or one per row and option."
        expected = f"of shape {worth.shape[1:]} or {worth.shape}"
        raise invalid(_CALLER, "costs", expected, f"shape {price_list.shape}", hint=hint)
    price_list = np.broadcast_to(price_list, worth.shape)
    bad = ~(price_list >= 0)
    if bad.any():
        hint = "count an option that earns money in `values`, or add a constant to all its row."
        raise invalid(_CALLER, "costs", "zero or more", _first(bad, price_list), hint=hint)
    none = np.isinf(price_list.min(axis=1))
    if none.any():
        hint = "every row takes exactly one option; give it one of cost 0."
        got = f"no option at all in row {int(none.argmax())} ({int(none.sum())} of {len(none)})"
        raise invalid(_CALLER, "costs", "finite for some option of every row", got, hint=hint)
    return worth, price_list


def _first(bad: Array, table: FloatArray) -> str:
    row, column = (int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
    return f"{table[row, column]:.6g} at index ({row}, {column}) ({int(bad.sum())} of {bad.size})"


def _count_units(price_list: FloatArray, budget: float) -> tuple[Array, float, float]:
    """Costs in a decimal unit in which they are whole, if there is one; budget; units in 1.

    Integers have -1 for an option that does not exist. Real budgets get some slack for rounding.
    """
    finite = np.isfinite(price_list)
    distinct = np.unique(price_list[finite])
    for decimals in range(_DECIMALS + 1):
        scale = 10.0**decimals
        rounded = np.rint(distinct * scale)
        if rounded[-1] * len(price_list) >= 2**53:
            break
        if _close(distinct * scale, rounded).all():
            units = np.where(finite, np.rint(np.where(finite, price_list, 0) * scale), -1)
            exact = budget * scale
            capacity = float(np.rint(exact))
            if not _close(exact, capacity):
                capacity = exact
            return units.astype(np.int64), capacity, scale
    return price_list, budget + _ROUNDING * max(abs(budget), float(distinct[-1])), 1.0


def _close(number: Array | float, integer: Array | float) -> Array:
    """Whether `number` is that integer up to rounding."""
    return np.abs(np.subtract(number, integer)) <= 1e-12 * np.maximum(np.abs(integer), 1)
