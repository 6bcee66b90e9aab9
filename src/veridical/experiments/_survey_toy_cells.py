"""Printed tables, cell by cell, beside exact values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veridical.experiments._page import Page

_SLACK = 1e-9  # for exact values that lie halfway, such as 0.725 printed as 0.72


@dataclass(frozen=True)
class Cell:
    """One printed cell: where it is, its text, the exact value, and why they may differ.

    Examples
    --------
    >>> Cell("bin 4, mean", "0.72", 0.725).right, Cell("bin 3, gap", "0.24", 7 / 30).right
    (True, False)
    """

    where: str
    printed: str
    exact: float
    reason: str = ""

    @property
    def right(self) -> bool:
        """Whether the text is the exact value rounded to as many decimals."""
        return abs(float(self.printed) - self.exact) <= half_unit(self.printed)


def half_unit(printed: str) -> float:
    """Half a unit of the last decimal that is printed.

    Examples
    --------
    >>> half_unit("25.3")
    0.050000001
    """
    decimals = len(printed.partition(".")[2])
    return float(0.5 * 10.0**-decimals + _SLACK)


def check_number(page: Page, name: str, printed: str, exact: float, reason: str = "") -> None:
    """Check a number of the text, which is right if it is the exact value rounded."""
    page.number(
        name, exact, printed=float(printed), tolerance=half_unit(printed),
        reason="" if abs(float(printed) - exact) <= half_unit(printed) else reason,
    )  # fmt: skip


def check_cells(page: Page, table: str, cells: Sequence[Cell]) -> None:
    """Check all cells of a table: one fact for the whole, and one for each that is wrong."""
    wrong = [cell for cell in cells if not cell.right]
    page.claim(
        f"{table}, all cells", f"{len(cells)} cells are exact values, rounded", holds=not wrong,
        value=len(cells) - len(wrong),
        reason=f"{len(wrong)} of {len(cells)} are not: see the next lines" if wrong else "",
    )  # fmt: skip
    for cell in wrong:
        check_number(page, f"{table}, {cell.where}", cell.printed, cell.exact, cell.reason)


def list_cells(page: Page, slug: str, tables: Mapping[str, Sequence[Cell]]) -> None:
    """Link to all cells of some tables, as a file."""
    rows = [(table, cell) for table, cells in tables.items() for cell in cells]
    page.data(
        slug,
        {
            "table": [table for table, _ in rows],
            "cell": [cell.where for _, cell in rows],
            "printed": [cell.printed for _, cell in rows],
            "exact": [f"{cell.exact:.6f}" for _, cell in rows],
            "right": [cell.right for _, cell in rows],
        },
        caption="every printed cell beside its exact value",
    )
