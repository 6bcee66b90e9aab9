"""Tables 1 to 8 of the survey, as printed, and their check cell by cell; diagrams drawn often.

Texts keep the number of decimals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from veridical.results import ReliabilityCurve
from veridical_lab._frame.page import Page, by_column
from veridical_lab.arrays import FloatArray, IntArray
from veridical_lab.plots.panels import Bars, Mark, Panel, Points, draw_panels


@dataclass(frozen=True)
class Forecasts:
    """A row of Table 1: forecasts of rain in a bin of ten per cent."""

    lower: float
    forecasts: int
    rains: int
    percent: str


# Table 1 (Hallenbeck 1920); the bin from 0 to 9 % is empty.
TABLE_1 = (
    Forecasts(0.9, 1, 1, "100"),
    Forecasts(0.8, 1, 1, "100"),
    Forecasts(0.7, 7, 6, "86"),
    Forecasts(0.6, 15, 11, "75"),
    Forecasts(0.5, 13, 8, "62"),
    Forecasts(0.4, 15, 8, "53"),
    Forecasts(0.3, 18, 6, "33"),
    Forecasts(0.2, 31, 7, "23"),
    Forecasts(0.1, 22, 4, "18"),
)

# Table 2: features, classes of the rows that share them, and columns Q, S and C.
_Texts = tuple[str, ...]
TABLE_2: tuple[tuple[tuple[int, int, int], tuple[int, ...], _Texts, _Texts, _Texts], ...] = tuple(
    (features, classes, tuple(q.split()), tuple(s.split()), tuple(c.split()))
    for features, classes, q, s, c in (
        ((3, 1, 3), (1, 1, 1, 2), "0.75 0.25 0.0", "0.9 0.1 0.0", "0.75 0.25 0.0"),
        ((2, 2, 2), (1, 2), "0.50 0.50 0.0", "0.6 0.2 0.2", "0.17 0.50 0.33"),
        ((0, 2, 2), (2, 2, 3, 3), "0.0 0.50 0.50", "0.6 0.2 0.2", "0.17 0.50 0.33"),
    )
)

# Table 3: probabilities of classes 1, 2 and 3 in tenths (10/3 for a third), by class.
_TABLE_3 = {
    1: "10,0,0 9,1,0 8,1,1 7,1,2 6,3,1 4,1,5 10/3,10/3,10/3 10/3,10/3,10/3 2,4,4 1,5,4",
    2: "8,2,0 7,0,3 5,2,3 4,4,2 4,2,4 3,4,3 2,3,5 1,6,3 1,3,6 0,2,8",
    3: "8,2,0 8,1,1 8,0,2 6,0,4 3,0,7 2,6,2 2,4,4 0,4,6 0,3,7 0,3,7",
}


@dataclass(frozen=True)
class Bin:
    """A row of Tables 4 to 7.

    Attributes
    ----------
    number, count : of the bin, and of its rows
    mean, frequency, gap : of scores and positives, as printed
    positives : rows labelled 1
    scores : listed scores, "0.1*3" for three rows of 0.1
    """

    number: int
    count: int
    mean: str
    frequency: str
    gap: str
    positives: int
    scores: str


# Tables 4 to 6 are of classes 1 to 3, Table 7 of the confidence; empty bins are left out.
TABLES_4_TO_7 = {
    4: (
        Bin(1, 11, "0.10", "0.18", "0.08", 2, "0*4 0.1*3 0.2*4"),
        Bin(2, 7, "0.35", "0.43", "0.08", 3, "0.3*2 1/3*2 0.4*3"),
        Bin(3, 3, "0.57", "0.33", "0.24", 1, "0.5*1 0.6*2"),
        Bin(4, 7, "0.77", "0.29", "0.48", 2, "0.7*2 0.8*5"),
        Bin(5, 2, "0.95", "1.00", "0.05", 2, "0.9*1 1*1"),
    ),
    5: (
        Bin(1, 15, "0.10", "0.33", "0.23", 5, "0*5 0.1*5 0.2*5"),
        Bin(2, 12, "0.35", "0.33", "0.02", 4, "0.3*5 1/3*2 0.4*5"),
        Bin(3, 3, "0.57", "0.33", "0.24", 1, "0.5*1 0.6*2"),
    ),
    6: (
        Bin(1, 11, "0.10", "0.36", "0.26", 4, "0*4 0.1*3 0.2*4"),
        Bin(2, 11, "0.35", "0.18", "0.17", 2, "0.3*4 1/3*2 0.4*5"),
        Bin(3, 4, "0.55", "0.25", "0.3", 1, "0.5*2 0.6*2"),
        Bin(4, 4, "0.72", "0.75", "0.03", 3, "0.7*3 0.8*1"),
    ),
    7: (
        Bin(2, 7, "0.38", "0.43", "0.05", 3, "1/3*2 0.4*5"),
        Bin(3, 10, "0.56", "0.30", "0.26", 3, "0.5*4 0.6*6"),
        Bin(4, 11, "0.75", "0.45", "0.3", 5, "0.7*5 0.8*6"),
        Bin(5, 2, "0.95", "1.00", "0.05", 2, "0.9*1 1*1"),
    ),
}

# Table 8: observed and expected counts of classes 1 to 3 in five bins, and the bins' upper edges.
TABLE_8_EDGES = ("0.2", "0.56", "0.7", "0.9", "1.0")
TABLE_8_OBSERVED = ((3, 1, 3), (2, 2, 1), (3, 3, 1), (2, 3, 2), (0, 1, 3))
TABLE_8_EXPECTED = (
    ("5.9", "0.7", "0.4"),
    ("3.1", "0.6", "1.3"),
    ("2.47", "1.77", "2.77"),
    ("1.1", "3.1", "2.8"),
    ("0.0", "1.2", "2.8"),
)

# Footnote 2: predictions shared by ten rows, and how many of these belong to each class.
FOOTNOTE_2 = (
    ((0.3, 0.3, 0.4), (4, 2, 4)),
    ((0.4, 0.3, 0.3), (3, 4, 3)),
    ((0.4, 0.6, 0.0), (5, 5, 0)),
    ((0.3, 0.6, 0.1), (2, 7, 1)),
)


def rain_rows() -> tuple[IntArray, FloatArray]:
    """Outcomes and forecasts of Table 1; forecasts are at the centre of their bin, as in Fig. 2."""
    centres = np.round([row.lower + 0.05 for row in TABLE_1], 2)
    y = np.concatenate([np.arange(row.forecasts) < row.rains for row in TABLE_1])
    return y.astype(np.int64), np.repeat(centres, [row.forecasts for row in TABLE_1])


def decomposed_rows() -> tuple[IntArray, FloatArray, FloatArray]:
    """Classes, scores S and posteriors Q of Table 2, from the formulas in its caption."""
    y, s, q = [], [], []
    for (x1, x2, x3), classes, *_ in TABLE_2:
        for label in classes:
            y.append(label)
            s.append((0.3 * x3, 0.1 * x2, 1 - 0.3 * x3 - 0.1 * x2))
            q.append((0.25 * x1, 0.25 * x2, 1 - 0.25 * x1 - 0.25 * x2))
    return np.array(y), np.round(s, 12), np.round(q, 12)


def toy_rows() -> tuple[IntArray, FloatArray]:
    """Classes and predictions of Table 3."""
    rows = [(label, row) for label, rows in _TABLE_3.items() for row in rows.split()]
    p = [[Fraction(tenths) / 10 for tenths in row.split(",")] for _, row in rows]
    return np.array([label for label, _ in rows]), np.array(p, dtype=np.float64)


def footnote_rows() -> tuple[IntArray, FloatArray]:
    """Classes and predictions of footnote 2."""
    y = np.concatenate([np.repeat([1, 2, 3], counts) for _, counts in FOOTNOTE_2])
    return y, np.repeat([p for p, _ in FOOTNOTE_2], 10, axis=0)


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


ROUNDING = "figures computed from rounded ones"


def check_number(
    page: Page, name: str, printed: str, exact: float, reason: str = "", *, cause: str = ""
) -> None:
    """Check a number of the text, which is right if it is the exact value rounded."""
    why = "" if abs(float(printed) - exact) <= half_unit(printed) else reason
    page.check(f"{name} | {exact} = {float(printed)} ± {half_unit(printed)} | {why}", cause=cause)


def check_cells(page: Page, table: str, cells: Sequence[Cell], *, cause: str) -> None:
    """Check all cells of a table: one fact for the whole, and one for each that is wrong."""
    wrong = [cell for cell in cells if not cell.right]
    why = f"{len(wrong)} of {len(cells)} are not: see the next lines" if wrong else ""
    page.check(
        f"""{table}, all cells | {len(cells)} cells are exact values, rounded |
        {len(cells) - len(wrong)} == {len(cells)} | {why}""",
        cause=cause,
    )
    for cell in wrong:
        name = f"{table}, {cell.where}"
        check_number(page, name, cell.printed, cell.exact, cell.reason, cause=cause)


def list_cells(page: Page, slug: str, tables: Mapping[str, Sequence[Cell]]) -> None:
    """Link to all cells of some tables, as a file."""
    rows = [
        (table, cell.where, cell.printed, f"{cell.exact:.6f}", cell.right)
        for table, cells in tables.items()
        for cell in cells
    ]
    columns = by_column(("table", "cell", "printed", "exact", "right"), rows)
    page.data(slug, columns, caption="every printed cell beside its exact value")


def square_panel(marks: Sequence[Mark], title: str, x_label: str, y_label: str) -> Panel:
    """Two probabilities and the diagonal."""
    return Panel(marks, title, x_label, y_label, "square")


def bars_panel(curve: ReliabilityCurve, title: str, x_label: str, y_label: str) -> Panel:
    """Bars up to the observed frequency, and the gap of each bin at its mean prediction."""
    edges = np.append(curve.lower, curve.upper[-1])
    ends = (curve.predicted, curve.observed)
    limits = (np.minimum(*ends), np.maximum(*ends))
    gaps = Points(*ends, "gap at the mean prediction", 1, *limits)
    return square_panel([Bars(edges, curve.observed, colour=0), gaps], title, x_label, y_label)


def blank_axes(size: tuple[float, float]) -> Any:
    """Matplotlib axes of a figure of their own, for a plot that draws on axes it is given."""
    return draw_panels([Panel([])], columns=1, size=size).axes[0]
