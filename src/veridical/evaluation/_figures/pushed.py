"""Which data are summed up by their engine, and the tables of sums that come of it.

How exact figures are that come from sums, in words and numbers.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from veridical._core.data.validation import check_option, check_sample, is_integer, kept_rows
from veridical._core.typing import ArrayLike
from veridical.evaluation._data.sums import Sums
from veridical.evaluation._figures.measure import evaluate_source
from veridical.exceptions import invalid
from veridical.frames import grid_table, is_lazy
from veridical.frames.files import is_large_file
from veridical.frames.grid import RESOLUTION
from veridical.frames.inputs import Columns, gather_inputs, name_columns
from veridical.lenses import Binary, ClassSpecific, Classwise, Confidence, Lens, named_lens
from veridical.results import Evaluation
from veridical.summaries import GridSummary
from veridical.summaries.core import table_of_sample

ENGINES = ("auto", "memory", "pushdown")
_BINS = 15  # of a table for a number of bins that is not known before the rows are


@dataclass(frozen=True)
class Pushed:
    """A table of sums, the lens it is seen through, and what was guessed."""

    grid: GridSummary
    lens: Lens
    said: str | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """Data as the user gave them, and the name of the function they were given to."""

    y_true: Any
    y_prob: ArrayLike | None
    y: str | None
    prob: str | list[str] | tuple[str, ...] | None
    lens: Any
    labels: ArrayLike | None
    pos_label: Any
    n_bins: Any
    sample_weight: Any
    by: Any
    caller: str
    resolution: int = RESOLUTION

    def pushed(self, engine: str, *, needs_rows: str | None = None) -> Pushed | None:
        """Return sums if they are what is to be used, None if the rows are to be read.

        `needs_rows` names an argument that sums cannot serve.
        """
        check_option(self.caller, "engine", engine, ENGINES)
        if isinstance(self.y_true, GridSummary):
            return self._given(engine, needs_rows)
        if engine == "memory":
            return None
        if engine == "auto":
            fits = needs_rows is None and self._is_summable()
            return self._by_engine() if fits and self._in_engine() else None
        if needs_rows is not None:
            hint = 'use engine="memory".'
            raise invalid(self.caller, "engine", '"auto" or "memory" here', needs_rows, hint=hint)
        return self.summed(engine)

    def summed(self, engine: str) -> Pushed:
        """Return sums, whoever makes them."""
        check_option(self.caller, "engine", engine, ENGINES)
        if not self._is_summable():
            hint = 'use "binary", "confidence", "classwise" or `ClassSpecific(label)`.'
            got = f"the {getattr(self.lens, 'name', self.lens)} lens"
            raise invalid(self.caller, "lens", "one that sums answer", got, hint=hint)
        forced = engine == "pushdown" and self.y_prob is None and self._names_only()
        if forced or (engine == "auto" and self._in_engine()):
            return self._by_engine()
        return self._in_memory()

    def _in_engine(self) -> bool:
        """Whether the rows are where they are better left."""
        if self.y_prob is not None or not self._names_only():
            return False
        return is_lazy(self.y_true) or _is_large(self.y_true)

    def _names_only(self) -> bool:
        """Whether weights and groups, if any, are columns of the frame."""
        return all(v is None or _is_name(v) for v in (self.sample_weight, self.by))

    def _given(self, engine: str, needs_rows: str | None) -> Pushed:
        beside = {
            "y_prob": self.y_prob,
            "y": self.y,
            "prob": self.prob,
            "labels": self.labels,
            "pos_label": self.pos_label,
            "sample_weight": self.sample_weight,
            "by": self.by,
        }
        for name, value in beside.items():
            if value is not None:
                hint = "these were decided when the summary was made."
                raise invalid(self.caller, name, "unset for a summary", "a value", hint=hint)
        if needs_rows is not None or engine == "memory":
            got = needs_rows or 'engine="memory"'
            hint = "pass the data themselves."
            raise invalid(self.caller, "y_true", "rows here", f"a summary with {got}", hint=hint)
        grid = self.y_true
        return Pushed(grid, self._lens(len(grid.classes)))

    def _is_summable(self) -> bool:
        """Whether sums by cell answer what the lens asks."""
        if self.lens is None:
            return True
        lens = named_lens(self.lens, caller=self.caller)
        return isinstance(lens, (Binary, Confidence, ClassSpecific, Classwise))

    def _lens(self, n_classes: int) -> Lens:
        if self.lens is None:
            return Binary() if n_classes == 2 else Confidence()
        return named_lens(self.lens, caller=self.caller)

    def _by_engine(self) -> Pushed:
        names: Columns = name_columns(
            self.y_true,
            y=self.y,
            prob=self.prob,
            sample_weight=self.sample_weight,
            by=self.by,
            caller=self.caller,
        )
        lens = self._lens(max(2, len(names.prob)))
        table = grid_table(
            self.y_true,
            y=names.y,
            prob=names.prob,
            problems=problems_for(max(2, len(names.prob)), lens),
            n_bins=table_bins(self.n_bins),
            resolution=self.resolution,
            labels=self.labels,
            pos_label=self.pos_label,
            sample_weight=names.sample_weight,
            by=names.by,
            caller=self.caller,
        )
        if not math.isfinite(table.total_w2.sum()):
            hint = "divide the weights by their mean: only their ratios matter."
            got = "weights whose squares overflow"
            raise invalid(self.caller, "sample_weight", "of moderate size", got, hint=hint)
        return Pushed(GridSummary(table), lens, names.said)

    def _in_memory(self) -> Pushed:
        inputs = gather_inputs(
            self.y_true,
            self.y_prob,
            y=self.y,
            prob=self.prob,
            sample_weight=self.sample_weight,
            by=self.by,
            labels=self.labels,
            caller=self.caller,
        )
        sample = check_sample(
            inputs.y_true,
            inputs.y_prob,
            caller=self.caller,
            labels=inputs.labels,
            pos_label=self.pos_label,
            sample_weight=inputs.sample_weight,
        )
        lens = self._lens(len(sample.classes))
        groups = None
        if inputs.by is not None:
            kept = kept_rows(inputs.sample_weight, sample)
            groups = list(inputs.by.of(sample, kept, self.caller))
        table = table_of_sample(
            sample,
            problems_for(len(sample.classes), lens),
            n_bins=table_bins(self.n_bins),
            resolution=self.resolution,
            groups=groups,
        )
        return Pushed(GridSummary(table), lens, inputs.said)


def problems_for(n_classes: int, lens: Lens) -> Sequence[str | int]:
    """Return what a table must hold for an evaluation through a lens."""
    if n_classes > 2:
        return ("confidence", *range(n_classes))
    if isinstance(lens, Binary):
        return ("binary",)
    return (
        ("binary", "confidence") if isinstance(lens, Confidence) else ("binary", "confidence", 0, 1)
    )


def table_bins(n_bins: Any) -> int:
    """Bins of a table from which so many are wanted."""
    return int(n_bins) if is_integer(n_bins) else _BINS


def evaluate_pushed(pushed: Pushed, *, n_bins: Any, caller: str, **options: Any) -> Evaluation:
    """Evaluation from sums, of all rows and of every group."""

    def measured(grid: GridSummary) -> Evaluation:
        return evaluate_source(Sums(grid, pushed.lens, caller), n_bins=n_bins, **options)

    groups = tuple((key, measured(pushed.grid.group(key))) for key in pushed.grid.groups)
    return replace(measured(pushed.grid), groups=groups)


def about_sums(
    pushed: Pushed, *, n_bins: Any, caller: str, of: Callable[[Sums, Any], list[str]]
) -> list[str]:
    """Notes on what was guessed, and on where figures or tests come from."""
    said = [] if pushed.said is None else [pushed.said]
    return [*said, *of(Sums(pushed.grid, pushed.lens, caller), n_bins)]


def _is_name(value: Any) -> bool:
    """Whether weights or groups are columns of the frame."""
    if isinstance(value, str):
        return True
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)


def _is_large(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike)) and is_large_file(value)


def notes_on_sums(source: Sums, n_bins: Any) -> list[str]:
    """What a reader should know of figures that no row was kept for; no doubts about the data."""
    grid = source.grid
    notes = [
        f"made from sums by {grid.n_bins} bins and by cells no wider than 1/{grid.resolution:,}:"
        f" counts, scores and what these bins decide are exact; {_limits(source)}"
    ]
    notes += _other_bins(grid, n_bins) + _weights(source)
    if source.kind == "classwise" or source.has_classes:
        notes.append(
            "classwise errors have no null level here: sums do not tell how the classes of a row"
            " go together"
        )
    return notes


def notes_on_models(source: Sums, n_bins: Any) -> list[str]:
    """The same for a comparison of models."""
    grid = source.grid
    notes = [
        f"made from sums by {grid.n_bins} bins and by cells no wider than 1/{grid.resolution:,}:"
        " scores, differences and what these bins decide are exact, AUC, KS and smECE are of rows"
        " moved within their cell"
    ]
    return notes + _other_bins(grid, n_bins) + _weights(source)


def notes_on_tests(source: Sums, n_bins: Any) -> list[str]:
    """The same for tests."""
    grid = source.grid
    notes = [
        f"made from sums by {grid.n_bins} bins and by cells no wider than 1/{grid.resolution:,}:"
        " consistency tests are those of the rows, other tests see rows at the mean of their cell"
    ]
    return notes + _other_bins(grid, n_bins) + _weights(source)


def _limits(source: Sums) -> str:
    cells = source.cells
    if cells.largest_share == 0:
        return "so is the rest, as predictions within a cell are equal"
    problems = ["binary"] if len(source.classes) == 2 else range(len(source.classes))
    ties = [source.grid.cells(problem).tied_pairs / 2 for problem in problems]
    return (
        f"AUC is right to within {sum(ties) / len(ties):.1e}, KS is at most"
        f" {cells.largest_excess:.1e} too small, other figures are of rows moved within their cell"
    )


def _other_bins(grid: GridSummary, n_bins: Any) -> list[str]:
    if is_integer(n_bins) and grid.n_bins % int(n_bins) == 0:
        return []
    return [
        f"{n_bins if is_integer(n_bins) else repr(n_bins)} bins are not made of the {grid.n_bins}"
        " of the summary: rows count in the bin of the mean of their cell"
    ]


def _weights(source: Sums) -> list[str]:
    if not source.grid.weighted:
        return []
    return [
        "weights enter what is not binned by their effective number,"
        f" {source.cells.size:,.0f} of {source.n:,} rows"
    ]
