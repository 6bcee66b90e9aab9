"""The multiple-choice knapsack: its relaxation, and exact search where that settles nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veridical._core.runtime.progress import track
from veridical._core.typing import Array, BoolArray, FloatArray, IntArray

_MOST_FILLS = 5000  # increments looked at to use up what the relaxation leaves of the budget


@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """Solution of the relaxation, rounded down.

    Attributes
    ----------
    base : option of each row before the first increment that does not fit
    residual : what is left of the budget then, in the unit of the costs
    price : value per cost of that increment; 0 if everything useful fits
    filled : like `base`, with further increments taken as long as they fit
    """

    base: IntArray
    residual: float
    price: float
    filled: IntArray


def relax(values: FloatArray, costs: Array, capacity: float) -> Relaxation:
    """Take increments of the concave hulls of all rows in order of value per cost.

    Zemel (1980), The linear multiple choice knapsack problem, doi 10.1287/opre.28.6.1412. Costs
    of an option that is not available are infinite (or, as integers, negative); `capacity` is not
    below the sum of the cheapest options. O(n m^2 + n m log(n m)).
    """
    path, row, step, slope, extra = _hull(values, costs)
    order = np.lexsort((step, -slope))  # within a row earlier steps come first
    row, step, slope, extra = row[order], step[order], slope[order], extra[order]
    n = len(values)
    rows = np.arange(n)
    room = capacity - costs[rows, path[:, 0]].sum()
    spent = np.cumsum(extra)
    fits = int(np.searchsorted(spent, room, side="right"))
    taken = np.bincount(row[:fits], minlength=n)
    residual = room - (spent[fits - 1] if fits else 0)
    base = path[rows, taken]
    price = float(slope[fits]) if fits < len(row) else 0.0
    left = residual
    for i in range(fits, min(fits + _MOST_FILLS, len(row))):
        if extra[i] <= left and step[i] == taken[row[i]]:
            taken[row[i]] += 1
            left = left - extra[i]
    return Relaxation(base=base, residual=float(residual), price=price, filled=path[rows, taken])


def exists(costs: Array) -> BoolArray:
    """Which options there are: costs of the others are infinite or, as integers, negative."""
    return np.isfinite(costs) & (costs >= 0)


def _hull(
    values: FloatArray, costs: Array
) -> tuple[IntArray, IntArray, IntArray, FloatArray, Array]:
    """Options on the concave hull of each row, cheapest first, and the increments between them.

    Returns the path (n, m) of options of each row, and for every increment its row, its step on
    the path, its value per cost and its cost.
    """
    n, m = values.shape
    rows = np.arange(n)
    available = exists(costs)
    cheapest = np.where(available, costs, np.inf).min(axis=1)
    path = np.zeros((n, m), dtype=np.intp)
    path[:, 0] = np.where(costs == cheapest[:, None], values, -np.inf).argmax(axis=1)
    active, last = rows, np.full(n, np.inf)
    parts: list[tuple[Array, Array, Array, Array]] = []
    for step in range(m - 1):
        at = path[active, step]
        more = costs[active] - costs[active, at][:, None]
        better = values[active] - values[active, at][:, None]
        useful = available[active] & (more > 0) & (better > 0)
        slope = np.divide(better, more, out=np.zeros(better.shape), where=useful)
        chosen = slope.argmax(axis=1)
        found = np.flatnonzero(useful.any(axis=1))
        active, chosen = active[found], chosen[found]
        steepness = np.minimum(slope[found, chosen], last[found])  # concave also after rounding
        path[active, step + 1] = chosen
        parts.append((active, np.full(len(active), step), steepness, more[found, chosen]))
        last = steepness
    if not parts:
        empty = np.zeros(0, dtype=np.intp)
        return path, empty, empty, np.zeros(0), empty
    row, steps, slopes, extra = (np.concatenate(part) for part in zip(*parts, strict=True))
    return path, row, steps, slopes, extra


@dataclass(frozen=True, kw_only=True)
class Core:
    """Rows whose option is open, some bundled with equal ones, in the order they are decided.

    Attributes
    ----------
    bundles : row numbers of each bundle, whose rows all take the same option
    extra_cost, extra_value : (r, m) of each option beyond the base option, over the bundle
    loss : (r, m) how much the bound falls if the option is taken; infinite if it is not available
    least : smallest loss of leaving the base, ascending
    unit : greatest common divisor of the extra costs; None for real numbers, 0 if all are 0
    complete : whether every row in doubt is among them
    """

    bundles: list[IntArray]
    extra_cost: Array
    extra_value: FloatArray
    loss: FloatArray
    least: FloatArray
    unit: int | None
    complete: bool

    def unusable(self, room: float) -> float:
        """Part of a budget that no sum of the extra costs can use."""
        if self.unit is None:
            return 0.0
        return room - self.unit * math.floor(room / self.unit) if self.unit else room


@dataclass(frozen=True, kw_only=True)
class Improvement:
    """Outcome of the search.

    Attributes
    ----------
    moves : rows decided in the best allocation found and the option of each, all others at their
        base; None if the known allocation was not improved
    gain : value of that allocation beyond the base
    finished : whether no better one exists
    """

    moves: tuple[IntArray, IntArray] | None
    gain: float
    finished: bool


def find_core(
    values: FloatArray, costs: Array, solved: Relaxation, gap: float, *, limit: int | None = None
) -> Core:
    """Rows with a second option that an allocation better than the known one may take.

    Taking option j in row i lowers the bound by ``loss[i, j]``, so options that lose the `gap`
    or more are out (Pisinger 1995, doi 10.1016/0377-2217(95)00015-I). If costs are
    multiples of a unit, some best allocation leaves the base in fewer than 2 D rows, D the
    largest change of cost in units: in a suitable order the costs so far stay above -D and up to
    D, and if one recurs, what lies between costs nothing and can be undone. Of equal rows no
    more than that are kept. With a `limit`, only as many of the most doubtful bundles.
    """
    rows, base = np.arange(len(values)), solved.base
    worth = np.where(exists(costs), values - solved.price * costs, -np.inf)
    loss = np.maximum(worth[rows, base][:, None] - worth, 0)  # below 0 is rounding
    loss[rows, base] = np.inf
    least = loss.min(axis=1)
    loss[rows, base] = 0
    rows = np.flatnonzero(least < gap)
    rows = rows[np.argsort(least[rows], kind="stable")]
    base, loss, least = base[rows][:, None], loss[rows], least[rows]
    is_open = loss < gap
    extra_cost, extra_value = (
        np.where(is_open, table[rows] - np.take_along_axis(table[rows], base, axis=1), 0)
        for table in (costs, values)
    )
    most, unit = len(rows), None
    if costs.dtype.kind == "i":
        unit = int(np.gcd.reduce(extra_cost, axis=None)) if extra_cost.size else 0
        most = 2 * int(np.abs(extra_cost).max(initial=0)) // unit if unit else 1
    bundles = _bundle(np.hstack([extra_cost, extra_value]), is_open, least, gap, most)
    first = np.array([bundle[0] for bundle in bundles], dtype=np.intp)
    size = np.array([len(bundle) for bundle in bundles], dtype=np.int64)
    order = np.argsort(least[first] * size, kind="stable")
    kept = order[:limit]
    first, size = first[kept], size[kept][:, None]
    return Core(
        bundles=[rows[bundles[i]] for i in kept],
        extra_cost=extra_cost[first] * size,
        extra_value=extra_value[first] * size,
        loss=np.where(is_open[first], loss[first], np.inf) * size,
        least=least[first] * size[:, 0],
        unit=unit,
        complete=len(kept) == len(order),
    )


def _bundle(
    keys: FloatArray, is_open: BoolArray, least: FloatArray, gap: float, most: int
) -> list[IntArray]:
    """Rows alone or, where equal ones have one alternative, in bundles of 1, 2, 4, ... rows.

    Any number of rows up to their count is a sum of such bundles. No more equal rows are kept
    than can leave their base: `most`, and as many as lose less than `gap`. `least` is sorted, and
    equal rows have an equal one.
    """
    twin = np.zeros(len(least), dtype=bool)
    same = least[1:] == least[:-1]
    twin[1:] |= same
    twin[:-1] |= same
    alone = np.flatnonzero(~twin)
    bundles: list[IntArray] = list(alone.reshape(-1, 1))
    twins = np.flatnonzero(twin)
    if not len(twins):
        return bundles
    kind = np.unique(keys[twins], axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(kind, kind="stable")
    for group in np.split(twins[order], np.flatnonzero(np.diff(kind[order])) + 1):
        lost = float(least[group[0]])
        count = int(min(len(group), most, gap / lost + 1 if lost * most > gap else most))
        bundled = int(is_open[group[0]].sum()) == 2
        start, size = 0, 1
        while start < count:
            bundles.append(group[start : min(start + size, count)])
            start += size
            size *= 2 if bundled else 1
    return bundles


def search(
    core: Core, solved: Relaxation, known: float, *, tolerance: float, max_states: int
) -> Improvement:
    """Best allocation worth more than `known` beyond the base, by undominated states.

    A state is a cost and a gain beyond the base after the first bundles have been decided, the
    others at their base; of states of no larger cost and no smaller gain one is kept (Pisinger
    1995). Bundles come in order of `least`, and whenever a better allocation is found, states
    and bundles that can no longer beat it are dropped. `room` is the budget beyond the base.
    """
    price, room = solved.price, solved.residual
    up, down = _reach(core.extra_cost)
    usable = room - core.unusable(room)
    bound = price * usable  # no allocation gains more than this
    cost, gain = np.zeros(1, dtype=core.extra_cost.dtype), np.zeros(1)
    history: list[tuple[IntArray, IntArray]] = []
    best: tuple[int, int, int] | None = None  # stage, parent, option
    total = 0
    for stage in track(len(core.bundles), "allocating"):
        target = bound - known - tolerance  # losses must stay below
        if core.least[stage] >= target:
            break
        options = np.flatnonzero(core.loss[stage] < target)
        moved_cost = (cost + core.extra_cost[stage, options][:, None]).reshape(-1)
        moved_gain = (gain + core.extra_value[stage, options][:, None]).reshape(-1)
        kept = _undominated(moved_cost, moved_gain)
        parent, option = kept % len(cost), options[kept // len(cost)]
        cost, gain = moved_cost[kept], moved_gain[kept]
        last = int(np.searchsorted(cost, room, side="right")) - 1
        if last >= 0 and gain[last] > known + tolerance:
            known = float(gain[last])
            best = (stage, int(parent[last]), int(option[last]))
            target = bound - known - tolerance
        if stage + 1 == len(core.bundles):
            break
        idle = np.maximum(price * (usable - cost - up[stage + 1]), 0)
        promising = price * cost - gain + np.maximum(core.least[stage + 1], idle) < target
        promising &= cost - down[stage + 1] <= room
        if not promising.any():
            break
        cost, gain = cost[promising], gain[promising]
        history.append((parent[promising].astype(np.int32), option[promising].astype(np.int16)))
        total += len(cost)
        if total > max_states:
            return _trace(core, history, best, known, finished=False)
    return _trace(core, history, best, known, finished=True)


def _undominated(cost: Array, gain: FloatArray) -> IntArray:
    """Indices, in order of cost, of states that gain more than every state of no larger cost."""
    order = np.lexsort((-gain, cost))
    ordered = gain[order]
    highest = np.maximum.accumulate(ordered)
    new = np.ones(len(order), dtype=bool)
    new[1:] = ordered[1:] > highest[:-1]
    return order[new]


def _reach(extra_cost: Array) -> tuple[Array, Array]:
    """By how much the rows from each stage on can raise and lower the cost."""
    zero = np.zeros(1, dtype=extra_cost.dtype)
    if not len(extra_cost):
        return zero, zero
    up = np.maximum(extra_cost.max(axis=1), 0)[::-1].cumsum()[::-1]
    down = np.maximum(-extra_cost.min(axis=1), 0)[::-1].cumsum()[::-1]
    return np.append(up, zero), np.append(down, zero)


def _trace(
    core: Core,
    history: list[tuple[IntArray, IntArray]],
    best: tuple[int, int, int] | None,
    gain: float,
    *,
    finished: bool,
) -> Improvement:
    """Options of the best state, read backwards through its parents."""
    if best is None:
        return Improvement(moves=None, gain=gain, finished=finished)
    stage, parent, option = best
    options = np.zeros(stage + 1, dtype=np.intp)
    options[stage] = option
    for earlier in range(stage - 1, -1, -1):
        parents, taken = history[earlier]
        options[earlier] = taken[parent]
        parent = int(parents[parent])
    decided = core.bundles[: stage + 1]
    sizes = [len(bundle) for bundle in decided]
    moves = (np.concatenate(decided), np.repeat(options, sizes))
    return Improvement(moves=moves, gain=gain, finished=finished)
