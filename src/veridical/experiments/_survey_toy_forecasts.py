"""Section 2 of the survey: forecasts of rain (Table 1, Fig. 1 and 2) and thresholds."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.binning import UniformBins
from veridical.curves import reliability_curve
from veridical.decisions import cost_threshold, prior_threshold
from veridical.experiments._page import Page
from veridical.experiments._survey_toy_cells import Cell, check_cells, check_number
from veridical.experiments._survey_toy_data import TABLE_1, rain_rows
from veridical.experiments._survey_toy_panels import bars_panel, square_panel
from veridical.inference import null_level
from veridical.miscalibration import BinnedError, expected_calibration_error
from veridical.plots._panels import Bars, Line, Panel, draw_panels
from veridical.results import ReliabilityCurve

_AXES = ("forecast probability", "share of rains")


def rain_forecasts(page: Page, *, n_resamples: int, rng: np.random.Generator) -> list[Cell]:
    """Check Table 1 and what is read off it; return its cells."""
    y, p = rain_rows()
    page.section("Table 1, Fig. 1 and 2: forecasts of rain")
    cells = _cells()
    check_cells(page, "Table 1", cells)
    page.text(
        "The printed 75 % of the bin from 60 to 69 % cannot be a share of 15 forecasts: 11 of 15 "
        "are 73 %. The figures below use the counts."
    )
    curves = {n_bins: _curve(y, p, n_bins) for n_bins in (10, 5, 2)}
    _check_readings(page, y, curves[10], curves[5])
    page.figure(
        "fig-1", draw_panels(_figure_1(p, curves[10]), columns=3),
        caption="Fig. 1. Left: bars up to the share of rains, and the gap to the diagonal at the "
        "mean forecast of each bin. Middle: the same as points. Right: how many forecasts.",
        alt="Two reliability diagrams of 123 rain forecasts in ten bins, and a histogram",
    )  # fmt: skip
    fewer = [bars_panel(curves[n], f"{n} bins", *_AXES) for n in (5, 2)]
    page.figure(
        "fig-2", draw_panels(fewer, columns=2),
        caption="Fig. 2. Five and two bins: with two, most of the shape is gone.",
        alt="Reliability diagrams of the same forecasts in five and in two bins",
    )  # fmt: skip
    _check_errors(page, y, p, n_resamples, rng)
    return cells


def thresholds(page: Page) -> None:
    """Check the decision thresholds of section 2.1."""
    page.section("Section 2.1: thresholds")
    page.text(
        "Costs and class ratios move the threshold of calibrated probabilities as printed; the "
        "library's `cost_threshold` and `prior_threshold` give the same numbers."
    )
    costs = float(cost_threshold(4.0, 1.0))
    check_number(page, "Section 2.1, threshold if false positives cost four times", "0.8", costs)
    priors = float(prior_threshold(0.5, 0.8))
    name = "Section 2.1, threshold if positives become four times as frequent"
    check_number(page, name, "0.2", priors)
    pairs = [(r, other) for r in (0.25, 1.0, 3.0) for other in (0.5, 1.0, 4.0)]
    apart = max(
        abs(float(prior_threshold(r / (1 + r), s / (1 + s))) - r / (r + s)) for r, s in pairs
    )
    page.claim(
        "Section 2.1, threshold for any class ratios", "r / (r + r')", holds=apart < 1e-12,
        value=apart, reason="largest difference over nine pairs of ratios",
    )  # fmt: skip


def _cells() -> list[Cell]:
    cells = []
    for row in TABLE_1:
        exact = 100 * row.rains / row.forecasts
        reason = (
            f"misprint: {row.rains} of {row.forecasts} are {exact:.1f} %, and no number of rains "
            f"in {row.forecasts} forecasts gives {row.percent} %"
        )
        cells.append(Cell(f"per cent from {100 * row.lower:.0f}", row.percent, exact, reason))
    return cells


def _curve(y: IntArray, p: FloatArray, n_bins: int) -> ReliabilityCurve:
    return reliability_curve(y, p, n_bins=n_bins, interval=None)


def _check_readings(page: Page, y: IntArray, ten: ReliabilityCurve, five: ReliabilityCurve) -> None:
    check_number(page, "Section 2, number of forecasts", "123", float(y.size))
    in_forties = int(np.searchsorted(ten.lower, 0.4 - 1e-9))
    share = 100 * float(ten.observed[in_forties])
    check_number(page, "Section 2, per cent of rain in the bin from 40", "53", share)
    over = ten.lower[ten.gap < 0].round(1).tolist()
    page.claim(
        "Fig. 1, over-estimates", "only two bins, from 20 and from 30 %", holds=over == [0.2, 0.3],
        value=len(over),
    )  # fmt: skip
    off_centre = np.abs(five.predicted - (five.lower + five.upper) / 2)
    page.claim(
        "Fig. 2, means of five bins", "all but the right-most are slightly off-centre",
        holds=bool(off_centre[-1] < 1e-9 and off_centre[:-1].min() > 1e-9),
        value=float(off_centre.max()),
        reason="by up to a quarter of a bin: no forecast is below 10 %",
    )  # fmt: skip
    high = five.gap[five.lower >= 0.4 - 1e-9]
    page.claim(
        "Fig. 2, forecasts from 40 % on", "are about 10 % too low",
        holds=bool(high.min() > 0.05 and high.max() < 0.15), value=float(high.mean()),
        reason=f"percentage points: {', '.join(f'{100 * gap:.1f}' for gap in high)}",
    )  # fmt: skip


def _check_errors(
    page: Page, y: IntArray, p: FloatArray, n_resamples: int, rng: np.random.Generator
) -> None:
    errors = {n: expected_calibration_error(y, p, n_bins=n) for n in (10, 5, 2)}
    for n_bins, error in errors.items():
        page.number(f"Table 1, ECE with {n_bins} bins", error)
    page.claim(
        "Section 4.4, Fig. 1 and 2", "the ECE can differ much with the number of bins",
        holds=errors[10] > 1.5 * errors[2], value=errors[10] / errors[2],
        reason="ten against two bins; five give exactly what ten give, as gaps of merged "
        "bins have one sign",
    )  # fmt: skip
    level = null_level(BinnedError(UniformBins(10)), y, p, n_resamples=n_resamples, rng=rng)
    page.number(
        "Table 1, ECE a calibrated forecaster would show",
        level.mean,
        reason=f"mean of {n_resamples:,} draws; 95 % are up to {level.quantile(0.95):.3f}",
    )
    page.text(
        f"None of this is evidence against the forecaster: on 123 days a calibrated one would "
        f"show an ECE of {level.mean:.3f} on average, more than the {errors[10]:.3f} found."
    )


def _figure_1(p: FloatArray, curve: ReliabilityCurve) -> list[Panel]:
    points = Line(curve.predicted, curve.observed, colour=0, markers=True)
    line = square_panel([points], "points", *_AXES)
    edges = np.linspace(0, 1, 11)
    counts = Panel(
        [Bars(edges, np.histogram(p, edges)[0], colour=0)], title="forecasts",
        x_label=_AXES[0], y_label="number", x_scale="probability",
    )  # fmt: skip
    return [bars_panel(curve, "bars", *_AXES), line, counts]
