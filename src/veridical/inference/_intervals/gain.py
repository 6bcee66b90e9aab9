"""What a fitted map gains on new rows: limits from rows it was not fitted to.

The estimate, and what is added to the variance of rows, are those of `_core.numeric.optimism`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veridical._core.numeric.optimism import corrected_gain, fit_error
from veridical._core.numeric.roots import root_between
from veridical._core.sample import BinarySample, MulticlassSample, effective_size
from veridical._core.typing import FloatArray, WeightType
from veridical.exceptions import invalid
from veridical.inference._intervals.bounded import Support, chance_below
from veridical.inference._intervals.mean import (
    IntervalOptions,
    MeanInterval,
    Units,
    make_units,
    mean_interval,
    normal_interval,
    standard_error,
)
from veridical.inference._intervals.support import difference_support, scores_by_row
from veridical.lenses.reading import Induced
from veridical.miscalibration import (
    BrierScore,
    LogScore,
    RecalibrationError,
    SphericalScore,
    ZeroOneLoss,
)
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
    smooth : whether the score varies no more than it curves: log and Brier do, costs do not
    """

    held_out: FloatArray
    own: FloatArray
    n_folds: int
    weight: FloatArray | None = None
    by_frequency: bool = False
    smooth: bool = False

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

    @property
    def fit_error(self) -> float:
        """Standard error for how far the map moved."""
        kind: WeightType = "frequency" if self.by_frequency else "importance"
        size = effective_size(self.weight, len(self.held_out), kind)
        return fit_error(self.optimism, size) if self.smooth else self.optimism


def gain_interval(
    gains: Gains, options: IntervalOptions, *, support: Support | None = None
) -> MeanInterval:
    """Interval of the gain, on new rows, of the map fitted to all rows; p-value of its being zero.

    With the `support` of a row the rows' part of an analytic interval is that of a bounded
    variable. The p-value is the smallest level at which the analytic limits leave out zero.
    """
    from scipy.special import ndtri

    units, estimate, error = gains.units, gains.estimate, gains.fit_error
    found = mean_interval(units, options, support=support)
    fitting = float(ndtri((1 + options.level) / 2)) * error
    below = math.hypot(max(units.estimate - found.low, 0.0), fitting)
    above = math.hypot(max(found.high - units.estimate, 0.0), fitting)
    pvalue = _pvalue(units, error, estimate, support)
    return MeanInterval(estimate, estimate - below, estimate + above, pvalue)


def _pvalue(units: Units, error: float, estimate: float, support: Support | None) -> float:
    if estimate == 0:
        return 1.0
    if support is None:
        spread = math.hypot(standard_error(units), error)
        return normal_interval(estimate, spread, 0.95).pvalue
    from scipy.special import ndtr

    masses, end = units.masses(0.95).pooled(), support.highest
    if estimate > 0:
        masses, end = masses.mirrored(), -support.lowest
    middle, most = masses.mean, min(_SURELY, abs(estimate) / error if error > 0 else _SURELY)

    def excess(z: float) -> float:
        """Whether the rows' limit of z deviations is nearer than the fit's part leaves room for."""
        room = math.sqrt(max(estimate**2 - (z * error) ** 2, 0.0))
        return chance_below(masses, end, middle + room) - float(ndtr(z))

    if excess(0.0) <= 0:  # one row more at the end of the support does away with the gain
        return 1.0
    if excess(most) >= 0:
        return float(2 * ndtr(-most))
    return float(2 * ndtr(-root_between(excess, 0.0, most, xtol=1e-9)))


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
    smooth = not isinstance(estimator, ZeroOneLoss)
    gains = Gains(one - two, one - three, n_folds, sample.weight, frequency, smooth)
    support = difference_support(estimator, (before.problem, after.problem), gains.held_out)
    found = gain_interval(gains, options, support=support)
    second = estimator.measure(before.problem)
    found = found.drop_rounding(second, second)
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


_SCORES = (BrierScore(), LogScore(), SphericalScore(), ZeroOneLoss())


def recalibration_limits(
    estimator: RecalibrationError, induced: Induced, options: IntervalOptions, *, caller: str
) -> tuple[float, float]:
    """Limits of what recalibration gains on new rows."""
    problem = induced.problem
    if options.method != "analytic":
        hint = "resampled rows would be on both sides of a fold."
        raise invalid(
            caller, "method", '"auto" or "analytic" for a gain', repr(options.method), hint=hint
        )
    if not isinstance(problem, (BinarySample, MulticlassSample)):
        hint = "use the binary, confidence or canonical lens."
        raise invalid(
            caller, "lens", "one that induces a single problem", "several problems", hint=hint
        )
    if problem.clusters is not None:
        hint = "maps are fitted to rows that are supposed to be independent."
        raise invalid(caller, "groups", f"unset for {estimator.name}", "a value", hint=hint)
    found = estimator.recalibrated(problem)
    before, after, own = (
        Induced(each, induced.lens, each) for each in (found.before, found.after, found.own)
    )
    score = next(score for score in _SCORES if score.name == estimator.rule)
    gain = gain_core(score, before, after, own, estimator.cv, options)
    return -gain.high, -gain.low
