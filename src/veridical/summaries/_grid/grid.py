"""The table of sufficient statistics: what one scan leaves of any number of rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from veridical._core.data.labels import find_label
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import Binning, IntervalBinning
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.files import read_arrays, write_arrays
from veridical.frames.tables import GridTable
from veridical.lenses import Binary, ClassSpecific, Confidence, Lens
from veridical.summaries._bins.summary import Summary
from veridical.summaries._grid.cells import (
    INDICES,
    SUMS,
    Cells,
    cells_of,
    same_weight,
    summary_of_cells,
)
from veridical.summaries._grid.saved import (
    BY_CLASS,
    BY_GROUP,
    ENTRIES,
    dict_of,
    from_text,
    table_from,
    text_of,
)

_MOST_NAMED = 8


def grid_text(table: GridTable) -> str:
    """Return a few lines that say what the table is about."""
    rows = _rows(table)
    width = max(len(name) for name, _ in rows)
    lines = [_headline(table), *(f"  {name:<{width}}  {text}" for name, text in rows)]
    return "\n".join(lines)


def grid_html(table: GridTable) -> str:
    """Return the same as a small table."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in _rows(table)
    )
    return f"<div><p><strong>{escape(_headline(table))}</strong></p><table>{body}</table></div>"


def _headline(table: GridTable) -> str:
    rows = int(table.rows.sum())
    return f"Table of sufficient statistics of {rows:,} row{'s' if rows != 1 else ''}"


def _rows(table: GridTable) -> list[tuple[str, str]]:
    shares = table.class_weight.sum(axis=0)
    shares = shares / shares.sum()
    classes = [f"{c!r} {s:.4f}" for c, s in zip(table.classes, shares, strict=True)]
    problems = [f"class {table.classes[p]!r}" if isinstance(p, int) else p for p in table.problems]
    rows = [
        ("classes", _listed(classes)),
        ("problems", _listed(problems)),
        ("bins", f"{table.n_bins} of equal width, exact"),
        ("cells", f"{len(table.cell):,} entries, no cell wider than 1/{table.resolution:,}"),
    ]
    if table.groups != (None,):
        rows.append(("groups", _listed([repr(key) for key in table.groups])))
    return rows


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


_ALIKE = ("classes", "positive", "problems", "n_bins", "resolution")


def merge_tables(first: GridTable, second: GridTable) -> GridTable:
    """Sums of the rows of both; raise if they were not made alike."""
    for name in _ALIKE:
        one, two = getattr(first, name), getattr(second, name)
        if one != two:
            got = f"{name} {two!r}, where the other has {one!r}"
            raise _not_alike(got)
    if set(first.scores) != set(second.scores):
        raise _not_alike("other scores")
    if (first.groups == (None,)) != (second.groups == (None,)):
        raise _not_alike("one with groups and one without")
    tables = (first, second)
    groups = _united(first.groups, second.groups)
    places = [np.array([groups.index(key) for key in table.groups]) for table in tables]

    def by_group(values: Sequence[FloatArray]) -> FloatArray:
        total = np.zeros((len(groups), *values[0].shape[1:]))
        for place, part in zip(places, values, strict=True):
            total[place] += part
        return total

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(table, name) for table in tables]) for name in ENTRIES
    }
    columns["group"] = np.concatenate(
        [place[table.group] for place, table in zip(places, tables, strict=True)]
    )
    columns |= {
        name: by_group([getattr(table, name) for table in tables])
        for name in (*BY_GROUP, *BY_CLASS)
    }
    scores = {rule: by_group([t.scores[rule] for t in tables]) for rule in first.scores}
    return _added_up(replace(first, groups=groups, scores=scores, **columns))


def one_group(table: GridTable, index: int) -> GridTable:
    """Return the table of one group, without groups."""
    rows = table.group == index
    entries: dict[str, Any] = {name: getattr(table, name)[rows] for name in ENTRIES}
    entries["group"] = np.zeros(int(rows.sum()), dtype=table.group.dtype)
    for name in (*BY_GROUP, *BY_CLASS):
        entries[name] = getattr(table, name)[index : index + 1]
    scores = {rule: sums[index : index + 1] for rule, sums in table.scores.items()}
    return replace(table, groups=(None,), scores=scores, **entries)


def _added_up(table: GridTable) -> GridTable:
    """Return the table with one entry for each combination, in order."""
    keys = tuple(getattr(table, name) for name in reversed(INDICES))
    order = np.lexsort(keys)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        ordered = key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    place = np.cumsum(new) - 1
    entries: dict[str, Any] = {name: getattr(table, name)[order][new] for name in INDICES}
    entries |= {name: _sums(getattr(table, name)[order], place) for name in SUMS}
    return replace(table, **entries)


def _sums(values: FloatArray, place: IntArray) -> FloatArray:
    return np.bincount(place, weights=values).astype(np.float64, copy=False)


def _united(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    """Keys of both, sorted; keys of several kinds by kind."""
    keys = list(dict.fromkeys([*first, *second]))
    try:
        return tuple(sorted(keys))
    except TypeError:
        return tuple(sorted(keys, key=lambda key: (type(key).__name__, repr(key))))


def _not_alike(got: str) -> InvalidInputError:
    hint = "make both with the same labels, `pos_label`, `lens`, `n_bins` and `by`."
    return invalid("merge", "other", "a summary made alike", got, hint=hint)


Problem = str | int | None


@dataclass(frozen=True, eq=False)
class GridSummary:
    """Sums of rows by bin and by cell of a fine grid, from which everything else follows.

    Made by :func:`grid_summary` from arrays, frames or files, by the engine that holds them. Its
    size is bounded whatever the number of rows, it can be saved, and summaries of parts (days,
    shards) merge into that of the whole.

    Parameters
    ----------
    table : GridTable
        The sums, one entry for each group, problem, bin, cell and outcome that occurred.

    Notes
    -----
    A problem is "binary", "confidence" or the index of a class; a group is a key of `groups`. What
    depends on the equal-width bins (and on bins made of them) is exact. Everything else is that of
    rows moved to the mean of their cell, by less than 1 / `resolution`.

    Examples
    --------
    >>> from veridical.evaluation import grid_summary
    >>> first = grid_summary([0, 1], [0.25, 0.75], n_bins=2)
    >>> both = first.merge(grid_summary([1, 1], [0.25, 0.5], n_bins=2))
    >>> both.n_samples
    4
    >>> y, p, count = both.arrays()
    >>> y.tolist(), p.tolist(), count.tolist()
    ([0, 1, 1, 1], [0.25, 0.25, 0.5, 0.75], [1.0, 1.0, 1.0, 1.0])
    """

    table: GridTable

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels in column order."""
        return self.table.classes

    @property
    def problems(self) -> tuple[str | int, ...]:
        """The problems there are sums of; an integer is the index of a class."""
        return self.table.problems

    @property
    def groups(self) -> tuple[Any, ...]:
        """Keys of the groups, in order; empty if rows were not grouped."""
        return () if self.table.groups == (None,) else self.table.groups

    @property
    def n_samples(self) -> int:
        """Number of rows (of positive weight)."""
        return int(self.table.rows.sum())

    @property
    def sum_weight(self) -> float:
        """Sum of weights, the number of rows without weights."""
        return float(self.table.total_w.sum())

    @property
    def n_bins(self) -> int:
        """Number of equal-width bins whose sums are exact."""
        return self.table.n_bins

    @property
    def resolution(self) -> int:
        """How many times the width of a cell fits into [0, 1], at least."""
        return self.table.resolution

    @property
    def weighted(self) -> bool:
        """Whether rows weigh differently."""
        t = self.table
        return same_weight(t.rows.sum(), t.total_w.sum(), t.total_w2.sum()) is None

    def group(self, key: Any) -> GridSummary:
        """Return the summary of one group by itself; KeyError lists the groups."""
        return GridSummary(one_group(self.table, self._group_index(key)))

    def merge(self, other: Any) -> GridSummary:
        """Return the summary of the rows of both; groups are united.

        Exact for counts, and for sums up to the rounding of an addition.
        """
        if not isinstance(other, GridSummary):
            hint = "merge two summaries that `grid_summary` made."
            raise invalid("merge", "other", "a GridSummary", type(other).__name__, hint=hint)
        return GridSummary(merge_tables(self.table, other.table))

    def __add__(self, other: Any) -> GridSummary:
        return self.merge(other)

    def cells(self, problem: Problem = None, group: Any = None) -> Cells:
        """Sums by cell of one problem (default the first), of one group or of all rows."""
        index = None if group is None else self._group_index(group)
        return cells_of(self.table, self._problem_index(problem), index)

    def sample(self, problem: Problem = None, group: Any = None) -> BinarySample:
        """Rows that stand for all: one for each cell and outcome, with its frequency."""
        return self.cells(problem, group).sample

    def arrays(
        self, problem: Problem = None, group: Any = None
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Outcomes, predictions and frequencies, for any function that takes weights.

        Pass the last as ``sample_weight`` with ``weight_type="frequency"``. Of weighted rows the
        frequencies sum to their effective number, and are no whole numbers.
        """
        sample = self.sample(problem, group)
        assert sample.weight is not None
        return sample.y, sample.p, sample.weight

    def summary(self, binning: Binning, problem: Problem = None, group: Any = None) -> Summary:
        """Sums by the bins of one problem; "classwise" takes every class.

        Exact for ``UniformBins(n_bins)`` and equal-width bins whose number divides `n_bins`; for
        any others, rows count where the mean of their cell lies.
        """
        if not isinstance(binning, IntervalBinning):
            hint = "use UniformBins or QuantileBins."
            raise invalid("summary", "binning", "bins of an interval", binning.name, hint=hint)
        wanted = range(len(self.classes)) if problem == "classwise" else [problem]
        return summary_of_cells([self.cells(each, group) for each in wanted], binning)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form, lossless; `from_dict` reads it back."""
        return dict_of(self.table)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GridSummary:
        """Read back what `to_dict` wrote."""
        return cls(table_from(data))

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text, with a hash by which damage is known."""
        return text_of(self.table, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> GridSummary:
        """Read back what `to_json` wrote."""
        return cls(from_text(text))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write one row an entry, with what else there is as text in the first row."""
        arrays = {name: getattr(self.table, name) for name in ENTRIES}
        write_arrays(path, arrays, about=text_of(self.table, entries=False))

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> GridSummary:
        """Read back what `to_parquet` wrote."""
        arrays, about = read_arrays(path, caller="from_parquet")
        return cls(from_text(about, arrays))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GridSummary) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return grid_text(self.table)

    def __repr__(self) -> str:
        return f"<GridSummary of {self.n_samples:,} rows>"

    def _repr_html_(self) -> str:
        return grid_html(self.table)

    def _group_index(self, key: Any) -> int:
        if key not in self.groups:
            msg = f"{key!r} is not a group; there is {list(self.groups)}"
            raise KeyError(msg)
        return self.groups.index(key)

    def _problem_index(self, problem: Problem) -> int:
        if problem is None:
            return 0
        if problem not in self.problems:
            hint = f"the problems are {', '.join(map(repr, self.problems))}."
            raise invalid("GridSummary", "problem", "one there is", repr(problem), hint=hint)
        return self.problems.index(problem)


def problem_of(lens: Lens, grid: GridSummary, *, caller: str) -> str | int:
    """Return the problem of a table that a lens asks for; raise if there is none."""
    problem = find_problem(lens, grid)
    if problem is None:
        hint = 'read the rows with engine="memory", or use "confidence" or "classwise".'
        expected = "a lens that sums by cell can answer"
        raise invalid(caller, "lens", expected, f"the {lens.name} lens", hint=hint)
    if problem not in grid.problems:
        hint = f"make the summary with a lens that needs it; it holds {list(grid.problems)}."
        raise invalid(caller, "lens", "one the summary was made for", lens.name, hint=hint)
    return problem


def find_problem(lens: Lens, grid: GridSummary) -> str | int | None:
    """What a lens asks for by the name a table has for it; None if sums cannot hold it."""
    table = grid.table
    if isinstance(lens, Binary) and len(table.classes) == 2:
        return "binary"
    if isinstance(lens, Confidence):
        return "confidence"
    if isinstance(lens, ClassSpecific):
        place = find_label(lens.label, table.classes, caller="ClassSpecific", param="label")
        return "binary" if "binary" in table.problems and place == table.positive else place
    return None
