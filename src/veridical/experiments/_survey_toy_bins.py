"""Section 4 of the survey: errors of the three-class example (Tables 3 to 7, Fig. 8 to 10)."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.curves import reliability_curve
from veridical.experiments._page import Page
from veridical.experiments._survey_toy_cells import Cell, check_cells, check_number
from veridical.experiments._survey_toy_data import TABLES_4_TO_7, Bin, toy_rows
from veridical.experiments._survey_toy_panels import bars_panel, blank_axes
from veridical.lenses import ClassSpecific
from veridical.miscalibration import (
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from veridical.plots import reliability, simplex
from veridical.plots._panels import draw_panels

N_BINS = 5
_LENSES: dict[int, Any] = {
    4: ClassSpecific(1), 5: ClassSpecific(2), 6: ClassSpecific(3), 7: "confidence",
}  # fmt: skip


def toy_errors(page: Page, *, rng: np.random.Generator) -> dict[str, list[Cell]]:
    """Check Tables 4 to 7 and all errors of the text; return the tables' cells."""
    y, p = toy_rows()
    page.section("Tables 3 to 7, Fig. 8 to 10: errors of a three-class example")
    page.text(
        "Five bins of equal width, closed on the right, the first one on both sides. Gaps are "
        "printed as differences of rounded numbers, and errors as averages of such gaps, so "
        "that third decimals are off, and sometimes second ones."
    )
    page.claim(
        "Table 3", "30 rows of probabilities, ten of each class",
        holds=bool(
            np.allclose(p.sum(axis=1), 1) and np.bincount(y).tolist() == [0, 10, 10, 10]
        ),
        value=len(y),
    )  # fmt: skip
    tables = {}
    for number, bins in TABLES_4_TO_7.items():
        tables[f"Table {number}"] = _cells(y, p, number, bins)
        check_cells(page, f"Table {number}", tables[f"Table {number}"])
        listed = _listed(p.max(axis=1) if number == 7 else p[:, number - 4])
        same = [listed[row.number] == row.scores for row in bins]
        page.claim(
            f"Table {number}, listed scores", "are those of Table 3", holds=all(same),
            value=sum(same), reason="number of bins whose lists agree",
        )  # fmt: skip
    _check_errors(page, y, p)
    _draw(page, y, p, rng)
    return tables


def average_of_printed(bins: tuple[Bin, ...]) -> float:
    """Average of the printed gaps, weighted with the rows of the bins.

    Examples
    --------
    >>> round(average_of_printed(TABLES_4_TO_7[4]), 4)
    0.1873
    """
    return sum(row.count * float(row.gap) for row in bins) / sum(row.count for row in bins)


def _cells(y: IntArray, p: FloatArray, number: int, bins: tuple[Bin, ...]) -> list[Cell]:
    curve = reliability_curve(y, p, n_bins=N_BINS, lens=_LENSES[number], interval=None)
    cells = []
    for row, count, mean, frequency, gap in zip(
        bins, curve.count, curve.predicted, curve.observed, curve.gap, strict=True
    ):
        difference = abs(float(row.mean) - float(row.frequency))
        reason = (
            f"the difference of the rounded {row.mean} and {row.frequency}, {difference:.2f}; "
            f"the exact one is {abs(gap):.4f}"
        )
        cells += [
            Cell(f"bin {row.number}, rows", str(row.count), float(count)),
            Cell(f"bin {row.number}, positives", str(row.positives), float(count * frequency)),
            Cell(f"bin {row.number}, mean score", row.mean, float(mean)),
            Cell(f"bin {row.number}, frequency", row.frequency, float(frequency)),
            Cell(f"bin {row.number}, gap", row.gap, abs(float(gap)), reason),
        ]
    return cells


def _listed(scores: FloatArray) -> dict[int, str]:
    """Scores of each bin as the tables list them."""
    listed: dict[int, list[str]] = {}
    for score, count in zip(*np.unique(scores.round(9), return_counts=True), strict=True):
        text = "1/3" if abs(score - 1 / 3) < 1e-6 else f"{score:g}"
        listed.setdefault(max(1, int(np.ceil(N_BINS * score - 1e-9))), []).append(f"{text}*{count}")
    return {number: " ".join(texts) for number, texts in listed.items()}


def _check_errors(page: Page, y: IntArray, p: FloatArray) -> None:
    averaged = {number: average_of_printed(bins) for number, bins in TABLES_4_TO_7.items()}
    for number, name, printed in (
        (4, "class-1-ECE", "0.1873"), (5, "class-2-ECE", "0.147"), (6, "class-3-ECE", "0.2017"),
        (7, "confidence-ECE", "0.2117"),
    ):  # fmt: skip
        error = expected_calibration_error(y, p, n_bins=N_BINS, lens=_LENSES[number])
        why = f"the average of the gaps as rounded in Table {number}, {averaged[number]:.6f}"
        check_number(page, f"Table 3, {name}", printed, error, why)
    mean = sum(averaged[number] for number in (4, 5, 6)) / 3
    check_number(
        page, "Table 3, classwise-ECE", "0.1787",
        classwise_calibration_error(y, p, n_bins=N_BINS),
        f"the mean of the three errors as rounded, {mean:.6f}",
    )  # fmt: skip
    rounded = "the largest gap as rounded in Table 4"
    for name, lens in (("binary-MCE", _LENSES[4]), ("classwise-MCE", "classwise")):
        worst = maximum_calibration_error(y, p, n_bins=N_BINS, lens=lens)
        check_number(page, f"Table 3, {name}", "0.48", worst, rounded)
    by_class = classwise_calibration_error(y, p, n_bins=N_BINS, norm="max", aggregate="mean")
    check_number(page, "Table 3, mean of the classes' MCE", "0.34", by_class)
    largest = classwise_calibration_error(y, p, n_bins=N_BINS, aggregate="max")
    why = f"the average of the gaps as rounded in Table 6, {averaged[6]:.6f}"
    check_number(page, "Table 3, largest class ECE", "0.2017", largest, why)
    confidence = maximum_calibration_error(y, p, n_bins=N_BINS, lens="confidence")
    check_number(page, "Table 3, confidence-MCE", "0.3", confidence)
    curve = reliability_curve(y, p, n_bins=N_BINS, lens="confidence", interval=None)
    at = int(np.abs(curve.gap).argmax())
    page.claim(
        "Section 4.4, confidence-MCE", "is the gap of the largest bin",
        holds=at == int(curve.count.argmax()), value=float(curve.count[at]),
    )  # fmt: skip
    page.claim(
        "Section 4.4, first confidence bin", "is empty", holds=bool(curve.lower[0] > 0),
        value=float(p.max(axis=1).min()), reason="smallest confidence",
    )  # fmt: skip
    iris = np.full((150, 3), 1 / 3)
    always = classwise_calibration_error(np.repeat([0, 1, 2], 50), iris)
    page.claim(
        "Section 4.3, 1/3 for each class of Iris", "has a classwise-ECE of 0",
        holds=always < 1e-12, value=always,
    )  # fmt: skip


def _draw(page: Page, y: IntArray, p: FloatArray, rng: np.random.Generator) -> None:
    one, most = (
        reliability(
            y, p, lens=lens, n_bins=N_BINS, style="bars", gaps=True, interval=None,
            rng=rng, ax=blank_axes((4.6, 5.4)),
        )
        for lens in (ClassSpecific(1), "confidence")
    )  # fmt: skip
    page.figure(
        "fig-8", one.figure, caption="Fig. 8. Class 1 of Table 3: bars up to the frequency, and "
        "the gap of each bin at its mean score (Table 4).",
        alt="Reliability diagram of class 1 in five bins; the fourth has the largest gap",
    )  # fmt: skip
    panels = [
        bars_panel(
            reliability_curve(y, p, n_bins=N_BINS, lens=ClassSpecific(k), interval=None),
            f"class {k}", "predicted probability", "observed frequency",
        )
        for k in (1, 2, 3)
    ]  # fmt: skip
    page.figure(
        "fig-9", draw_panels(panels, columns=3), caption="Fig. 9. Each class against the rest "
        "(Tables 4 to 6). Classes 2 and 3 never get a high probability.",
        alt="Reliability diagrams of classes 1, 2 and 3 in five bins",
    )  # fmt: skip
    page.figure(
        "fig-10", most.figure, caption="Fig. 10. Confidence against accuracy (Table 7): no "
        "confidence is below 1/3.",
        alt="Confidence reliability diagram in five bins; the first one is empty",
    )  # fmt: skip
    whole = simplex(y, p, n_bins=3, ax=blank_axes((4.4, 4.2)))
    page.figure(
        "simplex", whole.figure, caption="Not in the survey, which only says that vectors could "
        "be binned: Table 3 in the triangle, with an arrow from the mean prediction of each cell "
        "to the shares of the classes in it.",
        alt="Triangle of three-class predictions with arrows from predictions to frequencies",
    )  # fmt: skip
