"""How exact figures are that come from sums, in words and numbers."""

from __future__ import annotations

from typing import Any

from veridical._core.validation import is_integer
from veridical.evaluation._pushed_sums import Sums
from veridical.summaries._grid import GridSummary


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
