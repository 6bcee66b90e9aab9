"""The chapter's data, its over-confident model and the two recalibrators (section 86.6).

Random numbers as R draws them, so that a draw printed from R can be made again.

R's defaults since version 3.6: Mersenne Twister, normal numbers by inversion, permutations by
rejection (``RNGkind()``: "Mersenne-Twister", "Inversion", "Rejection").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from veridical.calibrators import IsotonicCalibrator, PlattCalibrator
from veridical_lab.arrays import FloatArray, IntArray

_WORDS = 624
_SCRAMBLE = 50  # rounds R turns a seed before it uses it
_TO_UNIT = 2.3283064365386963e-10  # 2^-32, as R writes it
_SMALLEST = 0.5 * 2.328306437080797e-10  # R keeps numbers this far away from 0 and 1
_NORMAL_STEPS = 134_217_728  # 2^27: the first of two numbers gives 27 bits, the second the rest


class RStream:
    """Stream of R's random numbers after ``set.seed(seed)``.

    Examples
    --------
    In R, ``set.seed(42); rnorm(3)`` and ``set.seed(42); sample(10)`` give

    >>> RStream(42).normal(3).round(7)
    array([ 1.3709584, -0.5646982,  0.3631284])
    >>> 1 + RStream(42).permutation(10)
    array([ 1,  5, 10,  8,  2,  4,  6,  9,  7,  3])
    """

    def __init__(self, seed: int) -> None:
        for _ in range(_SCRAMBLE):
            seed = _congruential(seed)
        words = []
        for _ in range(_WORDS + 1):
            seed = _congruential(seed)
            words.append(seed)
        self._bits = np.random.MT19937()
        # The first word is R's place for the position, which it sets to the end.
        key = {"key": np.array(words[1:], dtype=np.uint32), "pos": _WORDS}
        self._bits.state = cast("Any", {"bit_generator": "MT19937", "state": key})

    def uniform(self, size: int) -> FloatArray:
        """``runif(size)``."""
        drawn = self._bits.random_raw(size) * _TO_UNIT
        return np.clip(drawn, _SMALLEST, 1 - _SMALLEST)

    def normal(self, size: int) -> FloatArray:
        """``rnorm(size)``."""
        from scipy.special import ndtri

        coarse, fine = self.uniform(2 * size).reshape(size, 2).T
        return ndtri((np.floor(_NORMAL_STEPS * coarse) + fine) / _NORMAL_STEPS)

    def bernoulli(self, p: FloatArray) -> IntArray:
        """``rbinom(length(p), 1, p)``: R draws the rarer outcome by inversion."""
        rarer = self.uniform(len(p)) >= 1 - np.minimum(p, 1 - p)
        return np.where(p > 0.5, ~rarer, rarer).astype(np.int64)

    def permutation(self, size: int) -> IntArray:
        """``sample(size)``, counted from 0."""
        left, found = list(range(size)), []
        for count in range(size, 0, -1):
            at = self._below(count)
            found.append(left[at])
            left[at] = left[count - 1]
        return np.array(found)

    def _below(self, count: int) -> int:
        """Whole number below `count`: as many bits as it needs, until they are below it."""
        bits = math.ceil(math.log2(count))
        while True:
            drawn = 0
            for _ in range(0, bits + 1, 16):
                drawn = 65_536 * drawn + int(65_536 * self.uniform(1)[0])
            drawn &= (1 << bits) - 1
            if drawn < count:
                return drawn


def _congruential(word: int) -> int:
    return (69_069 * word + 1) % 2**32


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


class ChapterStudy:
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
        return INFLATION * (self._intercept + self.draw.x @ self._slopes)

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
        return self.isotonic.values_[np.maximum(at, 0)]


def _sigmoid(log_odds: FloatArray) -> FloatArray:
    from scipy.special import expit

    return expit(log_odds)
