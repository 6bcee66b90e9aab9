"""Section 2.2 of the survey: under- and over-confidence and their maps (Fig. 3 and 4).

The points of Fig. 3 come from another paper and are not printed, so scores and outcomes of known
laws take their place. Nothing is drawn at random: every score has both outcomes, weighted with
their probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.typing import FloatArray
from veridical.calibrators import BetaCalibrator, PlattCalibrator
from veridical.curves import reliability_curve
from veridical.experiments._page import Page
from veridical.experiments._survey_toy_panels import square_panel
from veridical.plots._panels import Line, Mark, Panel, Points, draw_panels

_ROWS = 400
_AXES = ("score", "frequency of positives")


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

        found: FloatArray = beta(self.shape, self.shape).ppf((np.arange(_ROWS) + 0.5) / _ROWS)
        return found

    @cached_property
    def truth(self) -> FloatArray:
        """Share of positives at each score."""
        from scipy.special import ndtr, ndtri

        found: FloatArray = ndtr(self.slope * ndtri(self.scores))
        return found

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
        found: FloatArray = fitted.fit(s, y, sample_weight=weight).predict_proba(self.scores)[:, 1]
        return found

    @cached_property
    def beta_map(self) -> BetaCalibrator:
        """Fitted beta calibration."""
        y, s, weight = self.rows
        return BetaCalibrator(penalty=None).fit(s, y, sample_weight=weight)

    @property
    def beta(self) -> FloatArray:
        """Best beta curve."""
        found: FloatArray = self.beta_map.predict_proba(self.scores)[:, 1]
        return found

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
    page.figure(
        "fig-3", draw_panels([_fitted(UNDER, "under-confident"), _fitted(OVER, "over-confident")],
                             columns=2, legend=True),
        caption="Fig. 3. Points: ten bins of scores; lines: best logistic and beta curve.",
        alt="Reliability points of under- and over-confident scores with two fitted curves each",
    )  # fmt: skip
    page.figure(
        "fig-4",
        draw_panels(_figure_4(), columns=2, legend=True),
        caption="Fig. 4. Points moved to where the fitted logistic curve sends their scores "
        "land near the diagonal.",
        alt="Reliability points before and after the logistic calibration map",
    )


def _check(page: Page) -> None:
    before, after = (UNDER.error(p) for p in (UNDER.scores, UNDER.logistic))
    page.claim(
        "Fig. 3, logistic curve, under-confidence", "is a good fit", holds=after < before / 5,
        value=after, reason=f"calibration error {before:.3f} before",
    )  # fmt: skip
    before, after = (OVER.error(p) for p in (OVER.scores, OVER.logistic))
    page.claim(
        "Fig. 3, logistic curve, over-confidence", "is not a good fit", holds=after > before / 5,
        value=after, reason=f"calibration error {before:.3f} before, {OVER.error(OVER.beta):.4f} "
        "with a beta curve",
    )  # fmt: skip
    page.number(
        "Section 2.2, slope from which a logistic curve makes matters worse",
        _turning_point(),
        reason="the survey calls this likely for its over-confident example: true of mild "
        "over-confidence (slopes between this one and 1), not of strong",
    )
    page.claim(
        "Section 2.2, logistic curve, calibrated scores", "decalibrates them",
        holds=CALIBRATED.error(CALIBRATED.logistic) > 0.01,
        value=CALIBRATED.error(CALIBRATED.logistic),
    )  # fmt: skip
    fitted = CALIBRATED.beta_map
    apart = max(abs(fitted.a_ - 1), abs(fitted.b_ - 1), abs(fitted.c_))
    page.claim(
        "Section 2.2, beta curve, calibrated scores", "is the identity, a = b = 1 and c = 0",
        holds=apart < 1e-6, value=apart, reason="largest distance of a, b and c",
    )  # fmt: skip


def _turning_point() -> float:
    """Slope of over-confidence at which the logistic curve neither helps nor harms."""
    from scipy.optimize import brentq

    def gain(slope: float) -> float:
        case = Distortion(OVER.shape, slope)
        return case.error(case.scores) - case.error(case.logistic)

    return float(brentq(gain, OVER.slope, 0.99, xtol=1e-4))


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
    return square_panel(marks, title, *_AXES)


def _figure_4() -> list[Panel]:
    predicted, observed = _points(UNDER)
    moved = np.interp(predicted, UNDER.scores, UNDER.logistic)
    before: list[Mark] = [
        Points(predicted, observed, "frequency in ten bins", colour=0, size=20),
        Line(UNDER.scores, UNDER.logistic, "calibration map", colour=1, dash=1),
    ]
    after: list[Mark] = [
        Points(predicted, observed, colour=0, size=20),
        *(Line([x, to], [y, y], muted=True) for x, to, y in zip(predicted, moved, observed,
                                                                 strict=True)),
        Points(moved, observed, "calibrated", colour=1, size=20),
    ]  # fmt: skip
    return [
        square_panel(before, "scores and map", *_AXES),
        square_panel(after, "score replaced by map's value", "score, then probability", _AXES[1]),
    ]
