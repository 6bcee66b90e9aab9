"""Section 3 of the survey: proper scores and what they are made of (Table 2)."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.decomposition import decompose
from veridical.experiments._page import Page
from veridical.experiments._survey_toy_cells import Cell, check_cells, check_number
from veridical.experiments._survey_toy_data import TABLE_2, decomposed_rows
from veridical.results import Decomposition
from veridical.scores import brier_score, log_loss

# What sections 3 and 3.1 print for each rule: score, calibration, refinement, epistemic and
# irreducible loss.
_PRINTED = {
    "Brier score": ("0.71", "0.19", "0.52", "0.26", "0.45"),
    "log-loss": ("1.12", "0.29", "0.83", "0.48", "0.64"),
}
_PARTS = ("", ", calibration loss", ", refinement loss", ", epistemic loss", ", irreducible loss")


def proper_scores(page: Page) -> list[Cell]:
    """Check Table 2 and the decompositions in the text around it; return its cells."""
    page.section("Table 2: what proper scores are made of")
    y, s, q = decomposed_rows()
    calibrated = np.array([_shares(y, s, row) for row in s])
    cells = _cells(s, q, calibrated)
    check_cells(page, "Table 2", cells)
    found: dict[str, Decomposition] = {}
    for name, rule in (("Brier score", "brier"), ("log-loss", "log")):
        parts = decompose(
            y, s, rule="brier" if rule == "brier" else "log", method="unique", posterior=q
        )
        found[name] = parts
        values = (
            parts.score, parts.miscalibration, _held(parts.refinement), _held(parts.epistemic),
            _held(parts.irreducible),
        )  # fmt: skip
        for part, printed, value in zip(_PARTS, _PRINTED[name], values, strict=True):
            reason = _rounded_reason(y, s) if part == ", calibration loss" else ""
            check_number(page, f"Table 2, {name}{part}", printed, value, reason)
        grouping = _held(parts.grouping)
        page.number(
            f"Table 2, {name}, grouping loss", grouping,
            reason="refinement less irreducible loss: what scores hide by giving two kinds of "
            "rows one probability; the survey names it in section 5 without a number",
        )  # fmt: skip
    page.table(
        {
            "part": ["score", "= calibration", "+ refinement", "= epistemic", "+ irreducible",
                     "grouping"],
            **{name: _column(parts) for name, parts in found.items()},
        },
        caption="Table 2, exact parts", digits=6,
    )  # fmt: skip
    _check_text(page)
    return cells


def _cells(s: FloatArray, q: FloatArray, calibrated: FloatArray) -> list[Cell]:
    cells = []
    row = 0
    for _, classes, *columns in TABLE_2:
        for _ in classes:
            exact = {"Q": q[row], "S": s[row], "C": calibrated[row]}
            for (name, values), printed in zip(exact.items(), columns, strict=True):
                cells += [
                    Cell(f"row {row + 1}, {name}{k + 1}", text, float(values[k]))
                    for k, text in enumerate(printed)
                ]
            row += 1
    return cells


def _shares(y: np.ndarray, s: FloatArray, row: FloatArray) -> FloatArray:
    """Share of each class among the rows of equal scores."""
    same = (s == row).all(axis=1)
    shares: FloatArray = np.array([(y[same] == k).mean() for k in (1, 2, 3)])
    return shares


def _rounded_reason(y: np.ndarray, s: FloatArray) -> str:
    """Redo the calibration loss from column C as it is printed, 0.17 for 1/6 and 0.33 for 1/3."""
    printed = np.array([[float(text) for text in row[4]] for row in TABLE_2 for _ in row[1]])
    rounded = float(((s - printed) ** 2).sum(axis=1).mean())
    return f"computed from column C as printed, 0.17 for 1/6: then it is {rounded:.4f}"


def _column(parts: Decomposition) -> list[float]:
    return [
        parts.score, parts.miscalibration, _held(parts.refinement), _held(parts.epistemic),
        _held(parts.irreducible), _held(parts.grouping),
    ]  # fmt: skip


def _held(value: float | None) -> float:
    assert value is not None  # a posterior was given
    return float(value)


def _check_text(page: Page) -> None:
    worst = brier_score([1], [[0.0, 1.0, 0.0]], labels=[1, 2, 3])
    check_number(page, "Section 3, largest Brier score", "2", worst)
    pair = [log_loss([1], [row], labels=[1, 2, 3]) for row in ([0.8, 0.2, 0.0], [0.8, 0.1, 0.1])]
    page.claim(
        "Section 3, log-loss of (0.8, 0.2, 0) and (0.8, 0.1, 0.1)", "-ln 0.8 for both",
        holds=bool(np.allclose(pair, -np.log(0.8))), value=pair[0],
    )  # fmt: skip
    grid = np.linspace(0.005, 0.995, 199)
    expected = -(0.8 * np.log(grid) + 0.2 * np.log(1 - grid))
    page.claim(
        "Section 3, expected log-loss under (0.8, 0.2, 0)", "is least at (0.8, 0.2, 0)",
        holds=bool(abs(grid[int(expected.argmin())] - 0.8) < 1e-9),
        value=float(grid[int(expected.argmin())]), reason="first probability of the least loss",
    )  # fmt: skip
