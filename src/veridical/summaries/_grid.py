"""The table of sufficient statistics: what one scan leaves of any number of rows."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import Binning, IntervalBinning
from veridical.exceptions import invalid
from veridical.frames._grid_table import GridTable
from veridical.frames._summary_file import read_arrays, write_arrays
from veridical.summaries._grid_cells import Cells, cells_of, same_weight
from veridical.summaries._grid_dict import ENTRIES, head_of, table_from
from veridical.summaries._grid_merge import merge_tables, one_group
from veridical.summaries._grid_text import grid_html, grid_text
from veridical.summaries._summary import Summary
from veridical.summaries._sums import stack

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
    >>> from veridical.evaluation._pushed_table import grid_summary
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
        if problem != "classwise":
            return self.cells(problem, group).summary(binning)
        parts = [self.cells(k, group).summary(binning) for k in range(len(self.classes))]
        names = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")
        sums = stack(
            [{n: getattr(s, n)[0] for n in names} | {"brier": s.scores["brier"][0]} for s in parts]
        )
        brier = sums.pop("brier")
        return Summary(
            partitions=tuple(part.partitions[0] for part in parts),
            names=tuple(part.names[0] for part in parts),
            scores={"brier": brier},
            **sums,  # type: ignore[arg-type]
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form, lossless; `from_dict` reads it back."""
        return head_of(self.table) | {
            "entries": {name: getattr(self.table, name).tolist() for name in ENTRIES}
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GridSummary:
        """Read back what `to_dict` wrote."""
        return cls(table_from(data, data.get("entries") if isinstance(data, Mapping) else None))

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> GridSummary:
        """Read back what `to_json` wrote."""
        return cls.from_dict(json.loads(text))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write one row an entry, with what else there is as text in the first row."""
        arrays = {name: getattr(self.table, name) for name in ENTRIES}
        about = json.dumps(head_of(self.table), allow_nan=False, ensure_ascii=False)
        write_arrays(path, arrays, about=about)

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> GridSummary:
        """Read back what `to_parquet` wrote."""
        arrays, about = read_arrays(path, caller="from_parquet")
        try:
            head = json.loads(about)
        except ValueError:
            head = None  # what is no summary is refused below
        return cls(table_from(head, arrays))

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
