r"""What a fitted map gains on new rows: estimate and limits from rows it was not fitted to.

Cross-validation estimates the gain of maps fitted to a share (k - 1) / k of the rows, and its rows
do not vary independently: every one of them helps to fit the maps that the others are judged by.
Write g for the mean held-out gain, h for the mean gain of the map fitted to all rows on these same
rows, and :math:`o = h - g` for its optimism. A map of p parameters loses p / 2m by being fitted to
m rows, and seems to gain as much on its own rows (Akaike 1974, doi 10.1109/TAC.1974.1100705;
Efron 1986, doi 10.1080/01621459.1986.10478291), in units of the log score, so with :math:`m = n
(k - 1) / k`

.. math:: h \approx G + \frac p n, \quad g \approx G - \frac{p}{2 n (k - 1)}, \quad
    G \approx g + \frac{o}{2 k - 1}

where G is the gain of the map that is shipped (the correction of Burman 1989, doi
10.1093/biomet/76.3.503, without its k predictions of all rows).

Near calibration the map moves little, so held-out gains of rows vary little, and the variance of
their mean is far too small: what varies there is how far the map moved. With the score vector S of
the p parameters, :math:`n g \approx |S|^2 / 2 - p` and :math:`n G = -|S|^2 / 2`: the error of the
estimate is :math:`|S|^2 - p`, of variance 2 p, of the order of :math:`n o \approx p`. So the square
of the optimism is added to the variance. No multiple of the variance of rows would do (Nadeau &
Bengio 2003, doi 10.1023/A:1024068626366), since it vanishes with the map's move; nested
cross-validation (Bates, Hastie & Tibshirani 2024, doi 10.1080/01621459.2023.2197686) takes hundreds
of fits. `evidence/gains.py` measures the limits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray
from veridical.inference._intervals.bootstrap import scores_by_row
from veridical.inference._intervals.bounded import Support, upper_limit
from veridical.inference._intervals.mean import (
    IntervalOptions,
    MeanInterval,
    Units,
    make_units,
    mean_interval,
    normal_interval,
    standard_error,
)
from veridical.inference._intervals.support import difference_support
from veridical.lenses.reading import Induced
from veridical.miscalibration.core import MeanScore
from veridical.results import Difference

_SURELY = 8.0  # standard deviations: smaller p-values are all the same


class Gains(NamedTuple):
    """Gains of rows: held out, and of a map fitted to all of them.

    Attributes
    ----------
    held_out : (n,) array
        Of maps fitted to other folds.
    own : (n,) array
        Of the map fitted to all rows.
    n_folds : of the partition
    weight : (n,) array, optional
    by_frequency : whether a weight is a number of repetitions
    """

    held_out: FloatArray
    own: FloatArray
    n_folds: int
    weight: FloatArray | None = None
    by_frequency: bool = False

    @property
    def units(self) -> Units:
        """The held-out gains as what varies independently, given the maps."""
        return make_units(self.held_out, self.weight, by_frequency=self.by_frequency)

    @property
    def optimism(self) -> float:
        """How much more a map seems to gain on its own rows than on others; never negative."""
        return max(float(np.average(self.own - self.held_out, weights=self.weight)), 0.0)

    @property
    def estimate(self) -> float:
        """Gain of the map that is fitted to all rows."""
        return corrected_gain(self.units.estimate, self.optimism, self.n_folds)


def corrected_gain(held_out: float, optimism: float, n_folds: int) -> float:
    """Gain of a map fitted to all rows, from that of maps fitted to all folds but one.

    Examples
    --------
    One parameter and 100 rows: optimism (1 + 1 / 8) / 100 with five folds, and a held-out gain of
    -1.25 / 200 becomes -1 / 200.

    >>> round(corrected_gain(-1.25 / 200, 1.125 / 100, 5), 6)
    -0.005
    """
    return held_out + optimism / (2 * n_folds - 1)


def gain_interval(
    gains: Gains, options: IntervalOptions, *, support: Support | None = None
) -> MeanInterval:
    """Interval of the gain, on new rows, of the map fitted to all rows; p-value of its being zero.

    With the `support` of a row the rows' part of an analytic interval is that of a bounded
    variable. The p-value is the smallest level at which the analytic limits leave out zero.
    """
    from scipy.special import ndtri

    units, optimism, estimate = gains.units, gains.optimism, gains.estimate
    found = mean_interval(units, options, support=support)
    fitting = float(ndtri((1 + options.level) / 2)) * optimism
    below = math.hypot(max(units.estimate - found.low, 0.0), fitting)
    above = math.hypot(max(found.high - units.estimate, 0.0), fitting)
    pvalue = _pvalue(units, optimism, estimate, support)
    return MeanInterval(estimate, estimate - below, estimate + above, pvalue)


def _pvalue(units: Units, optimism: float, estimate: float, support: Support | None) -> float:
    if estimate == 0:
        return 1.0
    if support is None:
        spread = math.hypot(standard_error(units), optimism)
        return normal_interval(estimate, spread, 0.95).pvalue
    from scipy.optimize import brentq
    from scipy.special import ndtr

    masses, end = units.masses.pooled(), support.lowest
    if estimate > 0:
        masses, end = masses.mirrored(), -end
    else:
        end = support.highest

    def too_wide(z: float) -> float:
        limit = upper_limit(masses, end, float(ndtr(-z))).value
        return math.hypot(limit - masses.mean, z * optimism) - abs(estimate)

    if too_wide(0.0) >= 0:  # one row more at the end of the support does away with the gain
        return 1.0
    if too_wide(_SURELY) <= 0:
        return float(2 * ndtr(-_SURELY))
    return float(2 * ndtr(-brentq(too_wide, 0.0, _SURELY, xtol=1e-6)))


def gain_core(
    estimator: MeanScore,
    before: Induced,
    after: Induced,
    own: Induced,
    n_folds: int,
    options: IntervalOptions,
) -> Difference:
    """Score after minus score before, on new rows, of the map that is fitted to all rows.

    `after` are predictions of maps fitted to other folds and `own` those of the map fitted to all
    rows, of the same rows in the same order. Negative means that the map helps.
    """
    one, two, three = (
        scores_by_row(estimator, each.problem, each.sample, caller="gain")
        for each in (before, after, own)
    )
    sample = before.sample
    frequency = sample.weight_type == "frequency"
    gains = Gains(one - two, one - three, n_folds, sample.weight, by_frequency=frequency)
    support = difference_support(estimator, (before.problem, after.problem), gains.held_out)
    found = gain_interval(gains, options, support=support)
    second = estimator.measure(before.problem)
    return Difference(
        estimate=-found.estimate,
        low=-found.high,
        high=-found.low,
        pvalue=found.pvalue,
        **options.fields,
        estimator=estimator.name,
        definition=f"{estimator.definition}, of the map fitted to all rows",
        lens=before.lens.name,
        n_samples=sample.n,
        first=second - found.estimate,
        second=second,
    )
