"""The chapter's data, its over-confident model and the two recalibrators (section 86.6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators import IsotonicCalibrator, PlattCalibrator
from veridical.experiments._chapter_r import RStream

ROWS = 9000
INTERCEPT, SLOPES = -0.4, np.array([1.6, -1.2])  # of the true log odds
INFLATION = 1.8  # of the fitted log odds
VERSIONS = ("uncalibrated", "Platt", "isotonic")
_SEED = 1301  # of the printed draw
_SLICES = 4001  # of the law of the scores


@dataclass(frozen=True)
class Draw:
    """Features, outcomes and which of the three sets a row belongs to (0, 1 or 2)."""

    x: FloatArray
    y: IntArray
    part: IntArray

    @property
    def test(self) -> IntArray:
        """Outcomes of the test set."""
        return self.y[self.part == 2]


def printed_draw() -> Draw:
    """The draw the chapter prints, with R's random numbers in R's order."""
    stream = RStream(_SEED)
    x = np.column_stack([stream.normal(ROWS), stream.normal(ROWS)])
    y = stream.bernoulli(_sigmoid(INTERCEPT + x @ SLOPES))
    return Draw(x, y, (np.arange(ROWS) % 3)[stream.permutation(ROWS)])


def another_draw(rng: np.random.Generator) -> Draw:
    """A draw of the same law."""
    x = rng.standard_normal((ROWS, 2))
    y = (rng.random(ROWS) < _sigmoid(INTERCEPT + x @ SLOPES)).astype(np.int64)
    return Draw(x, y, rng.permutation(np.arange(ROWS) % 3))


class Study:
    """Models of one draw: fitted on its first part, recalibrated on its second.

    Parameters
    ----------
    draw : Draw
    """

    def __init__(self, draw: Draw) -> None:
        from sklearn.linear_model import LogisticRegression

        self.draw = draw
        first = draw.part == 0
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
        model.fit(draw.x[first], draw.y[first])
        self._intercept, self._slopes = float(model.intercept_[0]), model.coef_[0]

    @cached_property
    def log_odds(self) -> FloatArray:
        """Inflated log odds of all rows."""
        found: FloatArray = INFLATION * (self._intercept + self.draw.x @ self._slopes)
        return found

    @cached_property
    def platt(self) -> PlattCalibrator:
        """Logistic regression on the inflated log odds, without penalty, as R's ``glm``."""
        return self._fitted_platt(self.log_odds)

    @cached_property
    def platt_of_probability(self) -> PlattCalibrator:
        """The same on the inflated probabilities, which the chapter says would do as well."""
        return self._fitted_platt(_sigmoid(self.log_odds))

    @cached_property
    def isotonic(self) -> IsotonicCalibrator:
        """Isotonic regression of the outcomes, without a guard, as R's ``isoreg``."""
        second = self.draw.part == 1
        fitted = IsotonicCalibrator(laplace=0, input="score")
        return fitted.fit(self.log_odds[second], self.draw.y[second])

    def probabilities(self, log_odds: FloatArray) -> dict[str, FloatArray]:
        """Probabilities of the three versions at inflated log odds."""
        return {
            "uncalibrated": _sigmoid(log_odds),
            "Platt": self.platt.predict_proba(log_odds)[:, 1],
            "isotonic": self._steps(log_odds),
        }

    @cached_property
    def test(self) -> dict[str, FloatArray]:
        """Probabilities of the three versions on the test set."""
        return self.probabilities(self.log_odds[self.draw.part == 2])

    def variants(self) -> dict[str, FloatArray]:
        """Probabilities on the test set that the chapter does not print."""
        z = self.log_odds[self.draw.part == 2]
        return {
            "Platt of probabilities": self.platt_of_probability.predict_proba(_sigmoid(z))[:, 1],
            "isotonic, interpolated": self.isotonic.predict_proba(z)[:, 1],
        }

    def truth(self) -> tuple[FloatArray, FloatArray]:
        """Midpoints of equally likely slices of the inflated log odds, and P(Y = 1) there.

        True and fitted log odds are two normal variables, so that given the fitted ones the true
        ones are normal.
        """
        from scipy.special import ndtri

        spread = INFLATION * float(np.linalg.norm(self._slopes))
        unit = ndtri((np.arange(_SLICES) + 0.5) / _SLICES)
        along = INFLATION * float(SLOPES @ self._slopes) / spread
        across = np.sqrt(max(float(SLOPES @ SLOPES) - along**2, 0.0))
        nodes, weights = np.polynomial.hermite_e.hermegauss(21)
        true = INTERCEPT + along * unit[:, None] + across * nodes
        return INFLATION * self._intercept + spread * unit, _sigmoid(true) @ weights / weights.sum()

    def _fitted_platt(self, score: FloatArray) -> PlattCalibrator:
        second = self.draw.part == 1
        fitted = PlattCalibrator(input="score", smooth_targets=False)
        return fitted.fit(score[second], self.draw.y[second])

    def _steps(self, log_odds: FloatArray) -> FloatArray:
        """The isotonic fit read as the chapter does: between two scores, the lower one's value."""
        at = np.searchsorted(self.isotonic.knots_, log_odds, side="right") - 1
        found: FloatArray = self.isotonic.values_[np.maximum(at, 0)]
        return found


def _sigmoid(log_odds: FloatArray) -> FloatArray:
    from scipy.special import expit

    found: FloatArray = expit(log_odds)
    return found
