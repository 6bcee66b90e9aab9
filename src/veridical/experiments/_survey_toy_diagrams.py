"""Section 4.1 of the survey: ways to draw a reliability diagram (Fig. 5 to 7)."""

from __future__ import annotations

import numpy as np

from veridical.curves import reliability_curve
from veridical.experiments._page import Page
from veridical.experiments._survey_toy_cells import check_number
from veridical.experiments._survey_toy_data import rain_rows, toy_rows
from veridical.experiments._survey_toy_panels import square_panel
from veridical.lenses import ClassSpecific
from veridical.miscalibration import expected_calibration_error
from veridical.plots import probability_paper, reliability
from veridical.plots._panels import Bars, Line, Mark, Panel, Points, draw_panels

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
    page.figure(
        "fig-6", draw_panels([_centres(_SEEMS_RIGHT, "uncalibrated, seems calibrated"),
                              _centres(_SEEMS_WRONG, "calibrated, seems uncalibrated")],
                             columns=2, legend=True),
        caption="Fig. 6. Points at the centre of their bin (squares) mislead by up to half a bin.",
        alt="Two-bin diagrams with points at bin centres and at mean scores",
    )  # fmt: skip
    page.figure(
        "fig-7",
        draw_panels(_figure_7(rng), columns=3, legend=True),
        caption="Fig. 7. Line, line with 95 % limits of the frequencies, one line a class. The "
        "limits show how little 30 rows say.",
        alt="Three reliability diagrams of a three-class example with 30 rows",
    )


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
        check_number(page, f"{half}, {letter} (half a bin)", "0.25", away)
        calibrated = letter == "b"
        page.claim(
            f"Fig. 6{letter}", "is calibrated and seems not to be" if calibrated else
            "is not calibrated and seems to be", value=error,
            holds=(error == 0 and seen > 0.2) if calibrated else (error > 0.2 and seen == 0),
            reason=f"ECE; from the centres it would be {seen:.2f}",
        )  # fmt: skip


def _centres(rows: tuple[list[int], list[float]], title: str) -> Panel:
    curve = reliability_curve(*rows, n_bins=2, interval=None)
    centre = (curve.lower + curve.upper) / 2
    marks: list[Mark] = [
        Bars(np.append(curve.lower, curve.upper[-1]), curve.observed, colour=5, outline=True),
        Line(centre, curve.observed, "at the centre of the bin", colour=1, dash=1, markers=True),
        Points(curve.predicted, curve.observed, "at the mean score", colour=0, size=30),
    ]
    return square_panel(marks, title, "score", _AXES[1])


def _draw_kinds(page: Page, rng: np.random.Generator) -> None:
    """Draw Fig. 5."""
    y, p = rain_rows()
    kinds = ("numbers of forecasts", "confidence", "consistency bars", "probability paper")
    figure = draw_panels([Panel([], title=kind) for kind in kinds], columns=2, size=(4.2, 4.0))
    counted, half, bars, paper = figure.axes
    reliability(
        y, p, ax=counted, n_bins=10, interval=None, counts="text", histogram=None, annotate=None
    )
    reliability(
        y, p, ax=half, lens="confidence", n_bins=10, interval=None, histogram=None, annotate=None
    )
    reliability(
        y, p, ax=bars, n_bins=10, interval="consistency", histogram=None, annotate=None, rng=rng
    )
    probability_paper(y, p, ax=paper, n_bins=10, annotate=None, rng=rng)
    page.figure(
        "fig-5", figure,
        caption="Fig. 5. Kinds of diagram: with the number of forecasts beside each point "
        "(Sanders 1963); confidence in the likelier outcome, from 0.5 on (Lichtenstein et al. "
        "1977); with what a calibrated forecaster would show in 95 % of cases, and the same on "
        "probability paper, where the middle of these is a straight line (both Bröcker and Smith "
        "2007).",
        alt="Four kinds of reliability diagram of 123 rain forecasts",
    )  # fmt: skip


def _figure_7(rng: np.random.Generator) -> list[Panel]:
    y, p = toy_rows()
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
        square_panel([line], "class 1", *_AXES),
        square_panel([line, limits], "class 1, 95 % limits", *_AXES),
        square_panel(each, "classes 1 to 3", *_AXES),
    ]
