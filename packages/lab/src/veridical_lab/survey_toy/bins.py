"""Section 4 of the survey: errors of the three-class example (Tables 3 to 7, Fig. 8 to 10).

And ways to draw a reliability diagram, section 4.1 (Fig. 5 to 7).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical.binning import UniformBins
from veridical.curves import reliability_curve
from veridical.lenses import ClassSpecific
from veridical.lenses.reading import RawData
from veridical.miscalibration import (
    BinnedError,
    classwise_calibration_error,
    expected_calibration_error,
)
from veridical.plots import reliability, simplex
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray, IntArray
from veridical_lab.plots import probability_paper
from veridical_lab.plots.panels import Bars, Line, Mark, Panel, Points, draw_panels
from veridical_lab.survey_toy import tables as toy
from veridical_lab.survey_toy.tables import TABLES_4_TO_7

N_BINS = 5
_BINS = UniformBins(N_BINS)
_LENSES: dict[int, Any] = {**{k + 3: ClassSpecific(k) for k in (1, 2, 3)}, 7: "confidence"}


def toy_errors(page: Page, *, rng: np.random.Generator) -> dict[str, list[toy.Cell]]:
    """Check Tables 4 to 7 and all errors of the text; return the tables' cells."""
    y, p = toy.toy_rows()
    page.section("Tables 3 to 7, Fig. 8 to 10: errors of a three-class example")
    page.text(
        "Five bins of equal width, closed on the right, the first one on both sides. Gaps are "
        "printed as differences of rounded numbers, and errors as averages of such gaps, so "
        "that third decimals are off, and sometimes second ones."
    )
    page.check(f"""Table 3 | 30 rows of probabilities, ten of each class |
        {np.bincount(y)[1:].min()} == 10 and {np.bincount(y)[1:].max()} == 10 and
        {np.abs(p.sum(axis=1) - 1).max()} < 1e-9 | fewest and most rows of a class, and how far a
        row's sum is from 1""")
    tables = {}
    for number, bins in TABLES_4_TO_7.items():
        tables[f"Table {number}"] = _cells(y, p, number, bins)
        table = tables[f"Table {number}"]
        toy.check_cells(page, f"Table {number}", table, cause=toy.ROUNDING)
        listed = _listed(p.max(axis=1) if number == 7 else p[:, number - 4])
        same = [listed[row.number] == row.scores for row in bins]
        page.check(f"""Table {number}, listed scores | are those of Table 3 | {sum(same)} ==
            {len(same)} | number of bins whose lists agree""")
    _check_errors(page, y, p)
    _draw(page, y, p, rng)
    return tables


def average_of_printed(bins: tuple[toy.Bin, ...]) -> float:
    """Average of the printed gaps, weighted with the rows of the bins.

    Examples
    --------
    >>> round(average_of_printed(TABLES_4_TO_7[4]), 4)
    0.1873
    """
    return sum(row.count * float(row.gap) for row in bins) / sum(row.count for row in bins)


def _cells(y: IntArray, p: FloatArray, number: int, bins: tuple[toy.Bin, ...]) -> list[toy.Cell]:
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
            toy.Cell(f"bin {row.number}, rows", str(row.count), float(count)),
            toy.Cell(f"bin {row.number}, positives", str(row.positives), float(count * frequency)),
            toy.Cell(f"bin {row.number}, mean score", row.mean, float(mean)),
            toy.Cell(f"bin {row.number}, frequency", row.frequency, float(frequency)),
            toy.Cell(f"bin {row.number}, gap", row.gap, abs(float(gap)), reason),
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
        (4, "class-1-ECE", "0.1873"),
        (5, "class-2-ECE", "0.147"),
        (6, "class-3-ECE", "0.2017"),
        (7, "confidence-ECE", "0.2117"),
    ):
        error = expected_calibration_error(y, p, n_bins=N_BINS, lens=_LENSES[number])
        why = f"the average of the gaps as rounded in Table {number}, {averaged[number]:.6f}"
        toy.check_number(page, f"Table 3, {name}", printed, error, why, cause=toy.ROUNDING)
    mean = sum(averaged[number] for number in (4, 5, 6)) / 3
    error = classwise_calibration_error(y, p, n_bins=N_BINS)
    why = f"the mean of the three errors as rounded, {mean:.6f}"
    toy.check_number(page, "Table 3, classwise-ECE", "0.1787", error, why, cause=toy.ROUNDING)
    rounded = "the largest gap as rounded in Table 4"
    for name, lens in (("binary-MCE", _LENSES[4]), ("classwise-MCE", "classwise")):
        worst = _measured(BinnedError(_BINS, norm="max"), y, p, lens)
        toy.check_number(page, f"Table 3, {name}", "0.48", worst, rounded, cause=toy.ROUNDING)
    mean_of_worst = BinnedError(_BINS, norm="max", aggregate="mean")
    by_class = _measured(mean_of_worst, y, p, "classwise")
    toy.check_number(page, "Table 3, mean of the classes' MCE", "0.34", by_class)
    largest = classwise_calibration_error(y, p, n_bins=N_BINS, aggregate="max")
    why = f"the average of the gaps as rounded in Table 6, {averaged[6]:.6f}"
    toy.check_number(page, "Table 3, largest class ECE", "0.2017", largest, why, cause=toy.ROUNDING)
    confidence = _measured(BinnedError(_BINS, norm="max"), y, p, "confidence")
    toy.check_number(page, "Table 3, confidence-MCE", "0.3", confidence)
    curve = reliability_curve(y, p, n_bins=N_BINS, lens="confidence", interval=None)
    at = int(np.abs(curve.gap).argmax())
    page.check(f"""
        - Section 4.4, confidence-MCE | is the gap of the largest bin | {curve.count[at]} ==
          {curve.count.max()}
        - Section 4.4, first confidence bin | is empty | {p.max(axis=1).min()} > {1 / N_BINS} |
          smallest confidence
    """)
    iris = np.full((150, 3), 1 / 3)
    always = classwise_calibration_error(np.repeat([0, 1, 2], 50), iris)
    page.check(f"""Section 4.3, 1/3 for each class of Iris | has a classwise-ECE of 0 | {always} <
        1e-12""")


def _measured(error: BinnedError, y: IntArray, p: FloatArray, lens: Any) -> float:
    """A figure without its warning: that a maximum over 30 rows is noise is known here."""
    return error.measure(RawData(y, p).through(lens, caller="run_experiment").problem)


def _draw(page: Page, y: IntArray, p: FloatArray, rng: np.random.Generator) -> None:
    look: dict[str, Any] = {"style": "bars", "gaps": True, "interval": None, "rng": rng}
    one, most = (
        reliability(y, p, lens=lens, n_bins=N_BINS, ax=toy.blank_axes((4.6, 5.4)), **look)
        for lens in (ClassSpecific(1), "confidence")
    )
    caption = """Fig. 8. Class 1 of Table 3: bars up to the frequency, and the gap of each bin at
        its mean score (Table 4). | Reliability diagram of class 1 in five bins; the fourth has the
        largest gap"""
    page.figure("fig-8", one.figure, caption)
    curves = {
        f"class {k}": reliability_curve(y, p, n_bins=N_BINS, lens=ClassSpecific(k), interval=None)
        for k in (1, 2, 3)
    }
    panels = [
        toy.bars_panel(curve, title, "predicted probability", "observed frequency")
        for title, curve in curves.items()
    ]
    caption = """Fig. 9. Each class against the rest (Tables 4 to 6). Classes 2 and 3 never get a
        high probability. | Reliability diagrams of classes 1, 2 and 3 in five bins"""
    page.figure("fig-9", draw_panels(panels, columns=3), caption)
    caption = """Fig. 10. Confidence against accuracy (Table 7): no confidence is below 1/3. |
        Confidence reliability diagram in five bins; the first one is empty"""
    page.figure("fig-10", most.figure, caption)
    triangle = simplex(y, p, n_bins=3, ax=toy.blank_axes((4.4, 4.2)))
    caption = """Not in the survey, which only says that vectors could be binned: Table 3 in the
        triangle, with an arrow from the mean prediction of each cell to the shares of the classes
        in it. | Triangle of three-class predictions with arrows from predictions to frequencies"""
    page.figure("simplex", triangle.figure, caption)


_AXES = ("predicted probability", "frequency of positives")
# Fig. 6: outcomes and scores of the two examples.
_SEEMS_RIGHT = ([0, 0, 0, 1, 0, 1, 1, 1], [0.0] * 4 + [1.0] * 4)
_SEEMS_WRONG = ([0, 1], [0.0, 1.0])


def diagrams(page: Page, *, rng: np.random.Generator) -> None:
    """Draw Fig. 5 to 7 and check the example of Fig. 6."""
    page.section("Fig. 5, 6 and 7: ways to draw a diagram")
    page.text(
        "Fig. 5 shows four diagrams of other papers, whose data the survey does not give; the "
        "same four kinds are drawn of the rain forecasts of Table 1. Fig. 6 is from its data. "
        "Fig. 7 shows what PyCalib draws of data not given; here it is Table 3."
    )
    _draw_kinds(page, rng)
    _check_centres(page)
    caption = """Fig. 6. Points at the centre of their bin (squares) mislead by up to half a bin. |
        Two-bin diagrams with points at bin centres and at mean scores"""
    panels = [
        _centres(_SEEMS_RIGHT, "uncalibrated, seems calibrated"),
        _centres(_SEEMS_WRONG, "calibrated, seems uncalibrated"),
    ]
    page.figure("fig-6", draw_panels(panels, columns=2, legend=True), caption)
    caption = """Fig. 7. Line, line with 95 % limits of the frequencies, one line a class. The
        limits show how little 30 rows say. | Three reliability diagrams of a three-class example
        with 30 rows"""
    page.figure("fig-7", draw_panels(_figure_7(rng), columns=3, legend=True), caption)


def _check_centres(page: Page) -> None:
    wrong, right = (
        expected_calibration_error(*rows, n_bins=2) for rows in (_SEEMS_RIGHT, _SEEMS_WRONG)
    )
    half = "Fig. 6, distance of the centre from the mean score"
    for letter, rows, error in (("a", _SEEMS_RIGHT, wrong), ("b", _SEEMS_WRONG, right)):
        curve = reliability_curve(*rows, n_bins=2, interval=None)
        centre = (curve.lower + curve.upper) / 2
        seen = float(np.abs(curve.observed - centre).max())
        away = float(np.abs(curve.predicted - centre).max())
        toy.check_number(page, f"{half}, {letter} (half a bin)", "0.25", away)
        calibrated = letter == "b"
        claim = f"is {'' if calibrated else 'not '}calibrated and seems {'not ' * calibrated}to be"
        asked = (f"{error} == 0", f"{seen} as large")
        if not calibrated:
            asked = (f"{error} as large", f"{seen} == 0")
        page.check(f"""Fig. 6{letter} | {claim} | {" and ".join(asked)} | ECE, and what it would be
            from the centres""")


def _centres(rows: tuple[list[int], list[float]], title: str) -> Panel:
    curve = reliability_curve(*rows, n_bins=2, interval=None)
    centre = (curve.lower + curve.upper) / 2
    marks: list[Mark] = [
        Bars(np.append(curve.lower, curve.upper[-1]), curve.observed, colour=5, outline=True),
        Line(centre, curve.observed, "at the centre of the bin", colour=1, dash=1, markers=True),
        Points(curve.predicted, curve.observed, "at the mean score", colour=0, size=30),
    ]
    return toy.square_panel(marks, title, "score", _AXES[1])


def _draw_kinds(page: Page, rng: np.random.Generator) -> None:
    """Draw Fig. 5."""
    y, p = toy.rain_rows()
    kinds = ("numbers of forecasts", "confidence", "consistency bars", "probability paper")
    figure = draw_panels([Panel([], kind) for kind in kinds], columns=2, size=(4.2, 4.0))
    counted, half, bars, paper = figure.axes
    plain: dict[str, Any] = {"n_bins": 10, "histogram": None, "annotate": None}
    reliability(y, p, ax=counted, interval=None, counts="text", **plain)
    reliability(y, p, ax=half, lens="confidence", interval=None, **plain)
    reliability(y, p, ax=bars, interval="consistency", rng=rng, **plain)
    probability_paper(y, p, ax=paper, n_bins=10, annotate=None, rng=rng)
    caption = """Fig. 5. Kinds of diagram: with the number of forecasts beside each point (Sanders
        1963); confidence in the likelier outcome, from 0.5 on (Lichtenstein et al. 1977); with what
        a calibrated forecaster would show in 95 % of cases, and the same on probability paper,
        where the middle of these is a straight line (both Bröcker and Smith 2007). | Four kinds of
        reliability diagram of 123 rain forecasts"""
    page.figure("fig-5", figure, caption)


def _figure_7(rng: np.random.Generator) -> list[Panel]:
    y, p = toy.toy_rows()
    first = reliability_curve(
        y, p, lens=ClassSpecific(1), n_bins=5, interval="clopper-pearson", rng=rng
    )
    line = Line(first.predicted, first.observed, colour=0, markers=True)
    limits = Points(
        first.predicted, first.observed, colour=0, low=first.low, high=first.high, size=20
    )
    each = []
    for k in (1, 2, 3):
        curve = reliability_curve(y, p, lens=ClassSpecific(k), n_bins=5, interval=None)
        each.append(Line(curve.predicted, curve.observed, f"class {k}", markers=True))
    return [
        toy.square_panel([line], "class 1", *_AXES),
        toy.square_panel([line, limits], "class 1, 95 % limits", *_AXES),
        toy.square_panel(each, "classes 1 to 3", *_AXES),
    ]
