"""What one scan leaves: sums for each occupied cell, put together from the entries returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.groups import group_rows
from veridical._core.typing import FloatArray, IntArray
from veridical.frames._grid.cells import Grid
from veridical.frames._grid.events import event_number
from veridical.frames._grid.kernel import NEGATIVE, POSITIVE, TOP
from veridical.frames._grid.rows import EngineRows
from veridical.frames._grid.scan import Sums

if TYPE_CHECKING:
    from veridical._core.typing import BoolArray


@dataclass(frozen=True, kw_only=True)
class GridTable:
    """Sums over rows that share a group, a problem, a bin, a cell and an outcome.

    One entry stands for each such combination that occurs; entries are sorted by group, problem,
    bin, cell and outcome. Rows of weight zero are not in it. Without weights every row weighs 1.

    Parameters
    ----------
    classes : tuple
        Labels in the order of the probability columns; for a single column sorted, or as given.
    positive : int
        Index into `classes` of the class a binary problem, and a single column, is about.
    problems : tuple of {"binary", "confidence"} or int
        The induced problems; an integer is the class of a classwise problem.
    groups : tuple
        Keys in the order of the in-memory path; tuples if several columns make the groups;
        ``(None,)`` without groups.
    group, problem : ndarray of shape (m,)
        Indices into `groups` and `problems`.
    bin : ndarray of shape (m,)
        Index of the equal-width bin, from 0 to ``n_bins - 1``: exactly that of ``UniformBins``.
    cell : ndarray of shape (m,)
        Index of the fine cell, from 0; it increases with the probability. A cell may be cut by
        the edge of a bin, so (bin, cell) and not the cell alone is the unit. 1/2 has a cell of
        its own.
    outcome : ndarray of shape (m,)
        1 where the event of the problem happened (positive class, top class right, this class).
    count, sum_w, sum_w2, sum_wp, sum_wp2, sum_w2pq : ndarray of shape (m,)
        Number of rows, and sums of w, w^2, wp, wp^2 and w^2 p(1 - p), p being the probability of
        the problem's event.
    rows, total_w, total_w2 : ndarray of shape (n_groups,)
        Rows, and sums of w and w^2.
    class_weight, class_count : ndarray of shape (n_groups, n_classes)
        Weight and number of rows of each class.
    scores : mapping of str to ndarray of shape (n_groups,)
        Weighted sums of the scores "brier", "log", "spherical" and "zero-one" of whole
        predictions; empty if they were not asked for.
    n_bins : int
        Number of equal-width bins.
    resolution : int
        M: a cell is no wider than 1/M in probability, and than 64/M in log-odds up to 36.
    notes : tuple of str
        What was done to values when they were read, or accepted of them.
    """

    classes: tuple[Any, ...]
    positive: int
    problems: tuple[str | int, ...]
    groups: tuple[Any, ...]
    group: IntArray
    problem: IntArray
    bin: IntArray
    cell: IntArray
    outcome: IntArray
    count: FloatArray
    sum_w: FloatArray
    sum_w2: FloatArray
    sum_wp: FloatArray
    sum_wp2: FloatArray
    sum_w2pq: FloatArray
    rows: FloatArray
    total_w: FloatArray
    total_w2: FloatArray
    class_weight: FloatArray
    class_count: FloatArray
    scores: Mapping[str, FloatArray]
    n_bins: int
    resolution: int
    notes: tuple[str, ...] = ()


_RULES = ("brier", "log", "spherical", "zero-one")


def assemble(
    rows: EngineRows,
    sums: Sums,
    grid: Grid,
    problems: Sequence[str | int],
    classes: tuple[Any, ...],
    positive: int,
    *,
    codes: IntArray | None,
    scores: bool,
    caller: str,
) -> GridTable:
    """Name problems, groups and outcomes, and add up entries that are one.

    Parameters
    ----------
    codes : ndarray or None
        Class of each entry, for a single column, whose label was a key; None for several columns.
    """
    group, keys = _groups(rows, sums, caller)
    counts = sums.state == 0
    columns: list[dict[str, Any]] = []
    for index, problem in enumerate(problems):
        at, outcome = _entries(sums, problem, len(classes), positive, codes)
        at &= counts
        columns.append(
            {
                "group": group[at],
                "problem": np.full(int(at.sum()), index),
                "bin": sums.bin[at] - 1,
                "cell": sums.cell[at],
                "outcome": outcome[at].astype(np.intp),
                "count": sums.count[at],
                "sum_w": sums.w[at],
                "sum_w2": sums.w2[at],
                "sum_wp": sums.wq[at],
                "sum_wp2": sums.wq[at] - sums.wqq[at],
                "sum_w2pq": sums.w2qq[at],
            }
        )
    joined = {name: np.concatenate([one[name] for one in columns]) for name in columns[0]}
    each_row, code = _each_row(sums, codes)
    each_row &= counts
    shape = (len(keys), len(classes))

    def by_class(values: FloatArray) -> FloatArray:
        total = np.zeros(shape)
        np.add.at(total, (group[each_row], code[each_row]), values[each_row])
        return total

    def by_group(values: FloatArray) -> FloatArray:
        total = np.bincount(group[counts], values[counts], minlength=len(keys))
        return total.astype(np.float64, copy=False)

    once = each_row.astype(np.float64)
    return GridTable(
        classes=classes,
        positive=positive,
        problems=tuple(problems),
        groups=keys,
        **_added(joined),
        rows=by_group(sums.count * once),
        total_w=by_group(sums.w * once),
        total_w2=by_group(sums.w2 * once),
        class_weight=by_class(sums.w),
        class_count=by_class(sums.count),
        scores={
            rule: by_group(values)
            for rule, values in _score_sums(sums, grid, positive, codes, scores=scores).items()
        },
        n_bins=grid.n_bins,
        resolution=grid.resolution,
        notes=rows.notes,
    )


def _entries(
    sums: Sums, problem: str | int, k: int, positive: int, codes: IntArray | None
) -> tuple[BoolArray, IntArray | BoolArray]:
    """Which entries belong to a problem, and in which its event happened."""
    if codes is None:
        return sums.number == event_number(problem, k, positive), sums.outcome
    if problem == "confidence":
        # HIT: below, at or above one half. A tie goes to the first column.
        first = 0 if positive == 0 else 2
        top_is_positive = sums.outcome >= (1 if first == 0 else 2)
        return sums.number == TOP, top_is_positive == (codes == positive)
    event = positive if problem == "binary" else int(problem)
    return sums.number == (POSITIVE if event == positive else NEGATIVE), codes == event


def _each_row(sums: Sums, codes: IntArray | None) -> tuple[BoolArray, IntArray]:
    """Entries that hold every row once, and their classes."""
    if codes is not None:
        return sums.number == POSITIVE, codes
    return sums.code >= 0, sums.code


def _groups(rows: EngineRows, sums: Sums, caller: str) -> tuple[IntArray, tuple[Any, ...]]:
    """Group of each entry, and the keys of those groups in which a row counts."""
    columns = [sums.keys[name] for name in rows.by_names]
    if not columns:
        return np.zeros(len(sums.state), dtype=np.intp), (None,)
    groups = group_rows(columns, caller=caller)
    present = np.unique(groups.codes[sums.state == 0])
    place = np.searchsorted(present, groups.codes)  # of groups that do not count: anything
    return place.clip(max=len(present) - 1), tuple(groups.keys[i] for i in present)


def _score_sums(
    sums: Sums, grid: Grid, positive: int, codes: IntArray | None, *, scores: bool
) -> dict[str, FloatArray]:
    if not scores:
        return {}
    if codes is None:
        return {rule: sums.scores[rule] for rule in _RULES}
    yes, main = codes == positive, sums.number == POSITIVE
    above = sums.cell > grid.middle if positive == 1 else sums.cell >= grid.middle
    w, wp, wpq = (np.where(main, one, 0.0) for one in (sums.w, sums.wq, sums.wqq))
    each = sums.scores
    return {
        # (1 - p)^2 = 1 - p - p(1 - p), and p^2 = p - p(1 - p)
        "brier": np.where(yes, w - wp - wpq, wp - wpq),
        "log": 0.0 - np.where(yes, each["log p"], each["log q"]),
        "spherical": w - np.where(yes, each["sphere p"], each["sphere q"]),
        "zero-one": np.where(above != yes, w, 0.0),
    }


def _added(columns: dict[str, Any]) -> dict[str, Any]:
    """Sort entries, and add up those that agree in everything but the class of their rows."""
    names = ("group", "problem", "bin", "cell", "outcome")
    order = np.lexsort([columns[name] for name in reversed(names)])
    ids = {name: columns[name][order] for name in names}
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for one in ids.values():
        new[1:] |= one[1:] != one[:-1]
    starts = np.flatnonzero(new)
    summed = {
        name: np.add.reduceat(values[order], starts)
        for name, values in columns.items()
        if name not in names
    }
    return {name: one[starts] for name, one in ids.items()} | summed
