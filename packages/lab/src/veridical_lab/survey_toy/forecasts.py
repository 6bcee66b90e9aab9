"""Section 2 of the survey: forecasts of rain (Table 1, Fig. 1 and 2) and thresholds.

Section 2.2 of the survey: under- and over-confidence and their maps (Fig. 3 and 4).

The points of Fig. 3 come from another paper and are not printed, so scores and outcomes of known
laws take their place. Nothing is drawn at random: every score has both outcomes, weighted with
their probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.numeric.roots import root_between
from veridical.binning import UniformBins
from veridical.calibrators import BetaCalibrator, PlattCalibrator
from veridical.curves import reliability_curve
from veridical.decisions import cost_threshold, prior_threshold
from veridical.inference import null_level
from veridical.miscalibration import BinnedError, expected_calibration_error
from veridical.results import ReliabilityCurve
from veridical_lab._frame.page import Page
from veridical_lab._frame.words import WORDS
from veridical_lab.arrays import FloatArray, IntArray
from veridical_lab.plots.panels import Bars, Line, Mark, Panel, Points, draw_panels
from veridical_lab.survey_toy import tables as toy

_AXES = ("forecast probability", "share of rains")


def rain_forecasts(page: Page, *, n_resamples: int, rng: np.random.Generator) -> list[toy.Cell]:
    """Check Table 1 and what is read off it; return its cells."""
    y, p = toy.rain_rows()
    page.section("Table 1, Fig. 1 and 2: forecasts of rain")
    cells = _cells()
    toy.check_cells(page, "Table 1", cells, cause="a misprint of Table 1")
    page.text(
        "The printed 75 % of the bin from 60 to 69 % cannot be a share of 15 forecasts: 11 of 15 "
        "are 73 %. The figures below use the counts."
    )
    curves = {n_bins: _curve(y, p, n_bins) for n_bins in (10, 5, 2)}
    _check_readings(page, y, curves[10], curves[5])
    caption = """Fig. 1. Left: bars up to the share of rains, and the gap to the diagonal at the
        mean forecast of each bin. Middle: the same as points. Right: how many forecasts. | Two
        reliability diagrams of 123 rain forecasts in ten bins, and a histogram"""
    page.figure("fig-1", draw_panels(_figure_1(p, curves[10]), columns=3), caption)
    fewer = [toy.bars_panel(curves[n], f"{n} bins", *_AXES) for n in (5, 2)]
    caption = """Fig. 2. Five and two bins: with two, most of the shape is gone. | Reliability
        diagrams of the same forecasts in five and in two bins"""
    page.figure("fig-2", draw_panels(fewer, columns=2), caption)
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
    toy.check_number(
        page, "Section 2.1, threshold if false positives cost four times", "0.8", costs
    )
    priors = float(prior_threshold(0.5, 0.8))
    name = "Section 2.1, threshold if positives become four times as frequent"
    toy.check_number(page, name, "0.2", priors)
    pairs = [(r, other) for r in (0.25, 1.0, 3.0) for other in (0.5, 1.0, 4.0)]
    apart = max(
        abs(float(prior_threshold(r / (1 + r), s / (1 + s))) - r / (r + s)) for r, s in pairs
    )
    page.check(f"""Section 2.1, threshold for any class ratios | r / (r + r') | {apart} < 1e-12 |
        largest difference over nine pairs of ratios""")


def _cells() -> list[toy.Cell]:
    cells = []
    for row in toy.TABLE_1:
        exact = 100 * row.rains / row.forecasts
        reason = (
            f"misprint: {row.rains} of {row.forecasts} are {exact:.1f} %, and no number of rains "
            f"in {row.forecasts} forecasts gives {row.percent} %"
        )
        cells.append(toy.Cell(f"per cent from {100 * row.lower:.0f}", row.percent, exact, reason))
    return cells


def _curve(y: IntArray, p: FloatArray, n_bins: int) -> ReliabilityCurve:
    return reliability_curve(y, p, n_bins=n_bins, interval=None)


def _check_readings(page: Page, y: IntArray, ten: ReliabilityCurve, five: ReliabilityCurve) -> None:
    toy.check_number(page, "Section 2, number of forecasts", "123", float(y.size))
    in_forties = int(np.searchsorted(ten.lower, 0.4 - 1e-9))
    share = 100 * float(ten.observed[in_forties])
    toy.check_number(page, "Section 2, per cent of rain in the bin from 40", "53", share)
    over = ten.lower[ten.gap < 0].round(1).tolist()
    page.check(f"""Fig. 1, over-estimates | only two bins, from 20 and from 30 % | {len(over)} == 2
        and {over[0]} == 0.2 and {over[-1]} == 0.3""")
    off_centre = np.abs(five.predicted - (five.lower + five.upper) / 2)
    page.check(f"""Fig. 2, means of five bins | all but the right-most are slightly off-centre |
        {off_centre[:-1].min()} > 1e-9 and {off_centre[-1]} < 1e-9 | least distance of the others
        from the centre, and that of the right-most; the largest is {off_centre.max():.3f}, a
        quarter of a bin: no forecast is below 10 %""")
    high = five.gap[five.lower >= 0.4 - 1e-9]
    page.check(f"""Fig. 2, forecasts from 40 % on | are about 10 % too low |
        {np.abs(high - 0.1).max()} as close | largest distance from 0.1; percentage points:
        {", ".join(f"{100 * gap:.1f}" for gap in high)}""")


def _check_errors(
    page: Page, y: IntArray, p: FloatArray, n_resamples: int, rng: np.random.Generator
) -> None:
    errors = {n: expected_calibration_error(y, p, n_bins=n) for n in (10, 5, 2)}
    for n_bins, error in errors.items():
        page.check(f"Table 1, ECE with {n_bins} bins | {error}")
    page.check(f"""Section 4.4, Fig. 1 and 2 | the ECE can differ much with the number of bins |
        {errors[10] / errors[2]} as much | ten against two bins; five give
        exactly what ten give, as gaps of merged bins have one sign""")
    level = null_level(BinnedError(UniformBins(10)), y, p, n_resamples=n_resamples, rng=rng)
    page.check(f"""Table 1, ECE a calibrated forecaster would show | {level.mean} | mean of
        {n_resamples:,} draws; 95 % are up to {level.quantile(0.95):.3f}""")
    page.text(
        f"None of this is evidence against the forecaster: on 123 days a calibrated one would "
        f"show an ECE of {level.mean:.3f} on average, more than the {errors[10]:.3f} found."
    )


def _figure_1(p: FloatArray, curve: ReliabilityCurve) -> list[Panel]:
    points = Line(curve.predicted, curve.observed, colour=0, markers=True)
    line = toy.square_panel([points], "points", *_AXES)
    edges = np.linspace(0, 1, 11)
    bars = Bars(edges, np.histogram(p, edges)[0], colour=0)
    counts = Panel([bars], "forecasts", _AXES[0], "number", "probability x")
    return [toy.bars_panel(curve, "bars", *_AXES), line, counts]


_ROWS = 400
_SHAPE_AXES = ("score", "frequency of positives")


@dataclass(frozen=True)
class Distortion:
    """Scores Beta(shape, shape) of which a share Phi(slope * Phi^-1(score)) is positive.

    A slope above 1 is under-confidence, below 1 over-confidence. The curve belongs to neither
    family fitted here: that of beta calibration is straight on logits, this one on probits.
    """

    shape: float
    slope: float

    @cached_property
    def scores(self) -> FloatArray:
        """Midpoints of equally likely slices of the scores' law."""
        from scipy.stats import beta

        return beta(self.shape, self.shape).ppf((np.arange(_ROWS) + 0.5) / _ROWS)

    @cached_property
    def truth(self) -> FloatArray:
        """Share of positives at each score."""
        from scipy.special import ndtr, ndtri

        return ndtr(self.slope * ndtri(self.scores))

    @property
    def rows(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Outcomes, scores and weights: both outcomes of every score."""
        y = np.repeat([0, 1], _ROWS)
        return y, np.tile(self.scores, 2), np.concatenate([1 - self.truth, self.truth])

    @cached_property
    def logistic(self) -> FloatArray:
        """Best logistic curve of the score itself, as the survey's section 2.2 has it."""
        y, s, weight = self.rows
        fitted = PlattCalibrator(input="score", smooth_targets=False)
        return fitted.fit(s, y, sample_weight=weight).predict_proba(self.scores)[:, 1]

    @cached_property
    def beta_map(self) -> BetaCalibrator:
        """Fitted beta calibration."""
        y, s, weight = self.rows
        return BetaCalibrator(penalty=None).fit(s, y, sample_weight=weight)

    @property
    def beta(self) -> FloatArray:
        """Best beta curve."""
        return self.beta_map.predict_proba(self.scores)[:, 1]

    def error(self, probabilities: FloatArray) -> float:
        """Mean distance to the truth; the calibration error, as all maps here are strict."""
        return float(np.abs(probabilities - self.truth).mean())


UNDER, OVER, CALIBRATED = Distortion(3.0, 2.2), Distortion(0.6, 0.45), Distortion(1.0, 1.0)


def common_shapes(page: Page) -> None:
    """Draw Fig. 3 and 4 and check what section 2.2 says of logistic and beta curves."""
    page.section("Fig. 3 and 4: under- and over-confidence")
    page.text(
        "The survey takes its points from Niculescu-Mizil and Caruana (2005) and prints no "
        "numbers. Here scores follow a beta law and the share of positives is "
        "&Phi;(k &Phi;<sup>-1</sup>(s)), with k = 2.2 for under- and 0.45 for over-confidence."
    )
    page.table(
        {
            "scores": ["under-confident", "over-confident", "calibrated"],
            "before": [case.error(case.scores) for case in (UNDER, OVER, CALIBRATED)],
            "logistic": [case.error(case.logistic) for case in (UNDER, OVER, CALIBRATED)],
            "beta": [case.error(case.beta) for case in (UNDER, OVER, CALIBRATED)],
        },
        caption="Calibration error before and after the best curve of each family",
    )
    _check(page)
    caption = """Fig. 3. Points: ten bins of scores; lines: best logistic and beta curve. |
        Reliability points of under- and over-confident scores with two fitted curves each"""
    fitted = [_fitted(UNDER, "under-confident"), _fitted(OVER, "over-confident")]
    page.figure("fig-3", draw_panels(fitted, columns=2, legend=True), caption)
    caption = """Fig. 4. Points moved to where the fitted logistic curve sends their scores land
        near the diagonal. | Reliability points before and after the logistic calibration map"""
    page.figure("fig-4", draw_panels(_figure_4(), columns=2, legend=True), caption)


def _check(page: Page) -> None:
    before, after = (UNDER.error(p) for p in (UNDER.scores, UNDER.logistic))
    page.check(f"""Fig. 3, logistic curve, under-confidence | is a good fit |
        {1 - after / before} as a good fit | share of the calibration error removed, {before:.3f}
        before""")
    before, after = (OVER.error(p) for p in (OVER.scores, OVER.logistic))
    page.check(f"""
        - Fig. 3, logistic curve, over-confidence | is not a good fit |
          {1 - after / before} < {WORDS["a good fit"].bound} | share of the calibration error
          removed, {before:.3f} before; {OVER.error(OVER.beta):.4f} left with a beta curve
        - Section 2.2, slope from which a logistic curve makes matters worse | {_turning_point()} |
          the survey calls this likely for its over-confident example: true of mild over-confidence
          (slopes between this one and 1), not of strong
        - Section 2.2, logistic curve, calibrated scores | decalibrates them |
          {CALIBRATED.error(CALIBRATED.logistic)} > 0.01 | calibration error
    """)
    fitted = CALIBRATED.beta_map
    apart = max(abs(fitted.a_ - 1), abs(fitted.b_ - 1), abs(fitted.c_))
    page.check(f"""Section 2.2, beta curve, calibrated scores | is the identity, a = b = 1 and c = 0
        | {apart} < 1e-6 | largest distance of a, b and c""")


def _turning_point() -> float:
    """Slope of over-confidence at which the logistic curve neither helps nor harms."""

    def gain(slope: float) -> float:
        case = Distortion(OVER.shape, slope)
        return case.error(case.scores) - case.error(case.logistic)

    return root_between(gain, OVER.slope, 0.99, xtol=1e-4)


def _points(case: Distortion) -> tuple[FloatArray, FloatArray]:
    y, s, weight = case.rows
    curve = reliability_curve(y, s, sample_weight=weight, n_bins=10, interval=None)
    return curve.predicted, curve.observed


def _fitted(case: Distortion, title: str) -> Panel:
    marks: list[Mark] = [
        Points(*_points(case), "frequency in ten bins", colour=0, size=20),
        Line(case.scores, case.logistic, "logistic curve", colour=1, dash=1),
        Line(case.scores, case.beta, "beta curve", colour=2),
    ]
    return toy.square_panel(marks, title, *_SHAPE_AXES)


def _figure_4() -> list[Panel]:
    predicted, observed = _points(UNDER)
    moved = np.interp(predicted, UNDER.scores, UNDER.logistic)
    before: list[Mark] = [
        Points(predicted, observed, "frequency in ten bins", colour=0, size=20),
        Line(UNDER.scores, UNDER.logistic, "calibration map", colour=1, dash=1),
    ]
    after: list[Mark] = [
        Points(predicted, observed, colour=0, size=20),
        *(
            Line([x, to], [y, y], muted=True)
            for x, to, y in zip(predicted, moved, observed, strict=True)
        ),
        Points(moved, observed, "calibrated", colour=1, size=20),
    ]
    axes = ("score, then probability", _SHAPE_AXES[1])
    return [
        toy.square_panel(before, "scores and map", *_SHAPE_AXES),
        toy.square_panel(after, "score replaced by map's value", *axes),
    ]
