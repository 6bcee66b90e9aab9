"""Rows that were given several times: copies of one observation are no new evidence.

Equal predictions are not copies as such. Scores are rounded, trees have leaves, and many rows may
say 0.3 each with an outcome of its own. What copies share is the outcome as well, every time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.calibrator import Notes
from veridical.calibrators._base.folds import row_masses
from veridical.calibrators._base.rows import CheckedRows

_DIFFERENT_ROWS = 20  # all of them occur an even number of times by chance: less than 1e-6
_NEIGHBOURS = 10  # on either side
_EXPECTED = 15.0  # mixed cells: with so many due, a fifth of them has a chance of 2e-4
_MIXED_SHARE = 0.2


def without_copies(rows: CheckedRows) -> tuple[CheckedRows, Notes]:
    """Rows of which copies count once, and a sentence if there were any.

    - If every (prediction, outcome, weight) occurs a multiple of g >= 2 times, and there are twenty
      of them or more, each g of them are one row: independent rows hardly ever do that, however
      many of them are tied. The result is that of the rows given once.
    - Else, if rows of equal predictions agree in their outcome where those of neighbouring
      predictions do not, they are kept together by folds and counted as one. The rule: of cells
      of equal predictions, at most a fifth as many have mixed outcomes as independent ones would
      give, with rates of the outcomes taken from the ten cells below, or above if fewer are due by
      those; fifteen must be due.

    Rows with `groups` are returned as they are: who knows what belongs together has said so.

    Examples
    --------
    >>> import numpy as np
    >>> p, y = np.arange(1, 31) / 32, np.tile([0, 1, 1], 10)
    >>> rows = CheckedRows(np.repeat(p, 4), np.repeat(y, 4), None, "importance", (0, 1))
    >>> once, notes = without_copies(rows)
    >>> len(once.y), notes[0]
    (30, 'all rows occur a multiple of 4 times: copies count once...')
    """
    if rows.groups is not None:
        alone = len(np.unique(rows.groups)) == len(rows.groups)
        return (replace(rows, groups=None) if alone else rows), ()
    mass = row_masses(rows)
    if mass.sum() < 2 * _DIFFERENT_ROWS:
        return rows, ()
    cell = _cells(rows)
    if cell is None:
        if mass.max() == 1:
            return rows, ()
        cell = np.arange(len(rows.y))
    times = _repeated(rows, cell, mass)
    if times > 1:
        note = (
            f"all rows occur a multiple of {times} times: copies count once; if they are "
            "observations of their own, pass `groups=` with a name for each"
        )
        return _once(rows, cell, mass, times), (note,)
    if not _agree_as_copies(rows, cell, mass):
        return rows, ()
    note = (
        f"rows of equal predictions agree in their outcomes as copies do: {mass.sum():,.0f} rows "
        f"count as {int(cell.max()) + 1:,}; if they are observations of their own, pass `groups=` "
        "with a name for each"
    )
    return replace(rows, groups=cell), (note,)


def warnings_of(notes: Notes, rows: CheckedRows, caller: str) -> Notes:
    """Sentences to warn of: not of weights that were said to be numbers of repetitions."""
    if rows.weight is not None and rows.weight_type == "frequency":
        return ()
    return tuple(f"{caller}: {note}." for note in notes)


def _cells(rows: CheckedRows) -> IntArray | None:
    """Number of the different prediction of each row, features included; None if all differ."""
    columns: FloatArray = rows.values.reshape(len(rows.values), -1)
    if rows.codes is not None:
        columns = np.column_stack([columns, rows.codes])
    found, code = np.unique(columns[:, 0], return_inverse=True)
    if len(found) == len(columns):
        return None
    code = code.reshape(-1)
    for column in columns.T[1:]:
        _, own = np.unique(column, return_inverse=True)
        pairs = code * (int(own.max()) + 1) + own.reshape(-1)
        found, code = np.unique(pairs, return_inverse=True)
        code = code.reshape(-1)
        if len(found) == len(columns):
            return None
    return code


def _kinds(rows: CheckedRows, cell: IntArray, mass: FloatArray) -> IntArray:
    """Number of the (prediction, outcome, weight) of each row; frequencies are no part of it."""
    kind = cell * len(rows.classes) + rows.y
    if rows.weight is not None and mass is not rows.weight:
        _, own = np.unique(rows.weight, return_inverse=True)
        kind = kind * (int(own.max()) + 1) + own.reshape(-1)
    return np.asarray(np.unique(kind, return_inverse=True)[1].reshape(-1))


def _repeated(rows: CheckedRows, cell: IntArray, mass: FloatArray) -> int:
    """How often the whole sample was given; 1 if once."""
    counts = np.bincount(_kinds(rows, cell, mass), mass)
    if len(counts) < _DIFFERENT_ROWS:
        return 1
    return int(np.gcd.reduce(counts.astype(np.int64)))


def _once(rows: CheckedRows, cell: IntArray, mass: FloatArray, times: int) -> CheckedRows:
    """One row in place of so many equal ones."""
    kind = _kinds(rows, cell, mass)
    order = np.argsort(kind, kind="stable")
    if mass is rows.weight:  # frequencies: one row a kind
        first = order[np.flatnonzero(np.diff(kind[order], prepend=-1))]
        return replace(rows.take(first), weight=np.bincount(kind, mass) / times)
    return rows.take(np.sort(order[::times]))


def _agree_as_copies(rows: CheckedRows, cell: IntArray, mass: FloatArray) -> bool:
    """Whether outcomes of equal predictions agree far more than those of similar ones."""
    n_cells, n_classes = int(cell.max()) + 1, len(rows.classes)
    if n_cells < _DIFFERENT_ROWS:
        return False
    counts = np.bincount(cell * n_classes + rows.y, mass, n_cells * n_classes)
    counts = counts.reshape(n_cells, n_classes)
    total = counts.sum(axis=1)
    several = total > 1
    if several.sum() < _EXPECTED:
        return False
    mixed = float(((counts > 0).sum(axis=1) > 1).sum())
    # At a step of honest scores the two sides disagree with each other, not among themselves: of
    # either side no more than `_NEIGHBOURS` cells see both.
    sides = (_rates_nearby(rows.values, cell, counts / total[:, None], side) for side in (-1, 1))
    mixing = [1 - (rates[several] ** total[several, None]).sum(axis=1) for rates in sides]
    due = min(float(np.nansum(one)) for one in mixing)
    return due >= _EXPECTED and mixed <= _MIXED_SHARE * due


def _rates_nearby(values: FloatArray, cell: IntArray, rates: FloatArray, side: int) -> FloatArray:
    """Rates of classes in the cells whose predictions of a class are next to a cell's own, (C, K).

    Those below it, or above it; every cell counts as one. NaN where there are none.
    """
    columns = values.reshape(len(values), -1)
    n_cells, n_classes = rates.shape
    first = np.empty(n_cells, dtype=np.intp)
    first[cell] = np.arange(len(cell))
    found = np.empty(rates.shape)
    for k in range(n_classes):
        order = np.argsort(columns[first, min(k, columns.shape[1] - 1)], kind="stable")
        sums = np.append(0.0, np.cumsum(rates[order, k]))
        places = np.arange(n_cells)
        ends = (
            (places - _NEIGHBOURS, places) if side < 0 else (places + 1, places + _NEIGHBOURS + 1)
        )
        low, high = (np.clip(end, 0, n_cells) for end in ends)
        near = high - low
        mean = (sums[high] - sums[low]) / np.maximum(near, 1)
        found[order, k] = np.where(near > 0, mean, np.nan)
    return found / np.maximum(found.sum(axis=1, keepdims=True), 1e-12)
