"""Evidence that a model is calibrated to within a margin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from veridical._core.data.validation import check_level, check_option, is_number
from veridical._core.numeric.pava import isotonic_fit
from veridical._core.numeric.roots import root_between
from veridical._core.resampling.hypothesis import independent_rows
from veridical._core.sample import BinarySample, weighted_mean
from veridical._core.typing import ArrayLike, ColumnNames, WeightType
from veridical.binning import QuantileBins, UniformBins
from veridical.curves.core import simultaneous_band
from veridical.exceptions import invalid
from veridical.inference._draws.monte_carlo import announced
from veridical.inference._intervals.bootstrap import binned_limits, has_interval
from veridical.lenses.reading import Induced, RawData
from veridical.miscalibration import BinnedError
from veridical.results import EquivalenceTest
from veridical.results.library import answers_in_kind
from veridical.summaries import Summary
from veridical.summaries.core import independent_sums

_CALLER = "equivalence_test"
_SMALLEST = 1e-12  # p-values below are given as this
_ROWS_A_BIN = 30  # with fewer the limit of a binned error is too small for rare outcomes


DEFAULT_MARGIN = "10%"
_DEFAULT_ERROR = BinnedError(UniformBins(15), norm=2, debias=True)


class Margin(NamedTuple):
    """A margin in probability, or a share of the base rate of the rarer outcome."""

    size: float
    relative: bool

    def within(self, base_rate: float) -> float:
        """The margin in probability."""
        return self.size * base_rate if self.relative else self.size

    def __str__(self) -> str:
        return f"{100 * self.size:g}%" if self.relative else f"{self.size:g}"


class _Finding(NamedTuple):
    """Estimate of the miscalibration, its limits at each level, and what it is."""

    estimate: float
    lower: Callable[[float], float]
    upper: Callable[[float], float]
    largest: float  # level up to which `upper` is defined
    definition: str
    null: str
    notes: tuple[str, ...] = ()


@answers_in_kind
def equivalence_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    delta: float | str = DEFAULT_MARGIN,
    method: Literal["error", "band"] = "error",
    n_bins: Any = 15,
    strategy: Literal["uniform", "quantile"] = "uniform",
    norm: Literal[1, 2] = 2,
    level: float = 0.05,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> EquivalenceTest:
    r"""Test whether a model is calibrated to within `delta`.

    A test of calibration that does not reject says nothing: perhaps there were few rows. Here the
    hypothesis is miscalibration of `delta` or more, so that rejecting it is evidence *for*
    calibration within `delta`.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    delta : float or str, default "10%"
        Margin: the largest miscalibration that would not matter. A number between 0 and 1 is one
        of probability; text such as "10%" is a share of the base rate (the frequency of the rarer
        of event and non-event), so that it means the same where events are rare.
    method : {"error", "band"}, default "error"
        What is shown to be below `delta`: a binned error, or the largest gap of the curve.
    n_bins : int, "sqrt" or "cbrt", default 15
        Number of bins, for "error".
    strategy : {"uniform", "quantile"}
        Bins of equal width or of equal mass, for "error".
    norm : {1, 2}, default 2
        Mean absolute or root-mean-square gap, for "error".
    level : float, default 0.05
        Chance of a false claim if the miscalibration is `delta`.
    lens : lens, name or callable, optional
        One that induces a single binary problem; default the binary lens for two classes,
        confidence for more.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters; "band" takes "frequency" only.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other, for "error": sizes of bins are divided by
        the design effect.

    Returns
    -------
    EquivalenceTest
        With `equivalent`, `upper`, `pvalue` and `verdict`, and `says_nothing` (see Notes).

    Notes
    -----
    Equivalence is claimed where the upper confidence limit at 1 - `level` is below `delta`; the
    p-value is the smallest level at which it is. (Two one-sided tests, Schuirmann 1987.)

    A margin as large as the base rate says nothing: the forecast that is always 0 is off by the
    base rate, and so is a constant of twice the base rate, and both would be shown to be
    calibrated within it. Such a margin is marked by `says_nothing` and in words. (The constant
    forecast of the base rate is calibrated, and passes with right.)

    **error**. The limit is the upper one of the analytic interval of `bootstrap_interval`, used
    at level 1 - 2 `level`, for the *binned* error of the population. Resampling rows would count
    the noise of the gaps twice and does not hold its level near calibration. The true error is at
    least the binned one (002 Theorem 2): gaps that cancel within a bin are not seen, so choose
    bins narrower than the gaps feared. The limit is an approximation: with uniform predictions,
    15 bins, true errors of `delta` = 0.03, 0.05 and 0.1 spread evenly, in a wave or over three
    bins, and n = 500 to 10,000 (norm 1: to 2,000), false claims at level 0.05 were at most 7 %
    (600 repetitions, standard error 0.9 %). Rare outcomes need more rows: for Beta(0.5, 5)
    predictions in 15 equal-mass bins and log odds 1 too low, false claims were 9 % (norm 2) and
    16 % (norm 1) with 10 rows a bin, 5 and 6 % with 30; below 30 on average there is a warning.
    A margin too small for n is never claimed, however well the sample looks: the limit is at
    least what the median sample of a calibrated model gives. p-values above one half are given
    as 1. `statistic` is debiased.

    **band**. The largest gap :math:`\max_x |r(x) - x|` over the scores that occur is below
    `delta` if the simultaneous band at 1 - `level` is [1]_. That holds for every n if the curve r
    does not decrease, and needs many rows: the band covers all of the curve at once.
    `statistic` is the largest gap of the isotonic fit.

    p-values are given down to 1e-12. Time O(n), or O(n log n) for "band".

    References
    ----------
    .. [1] Dimitriadis, Dümbgen, Henzi, Puke & Ziegel (2022), Honest calibration assessment for
       binary outcome predictions, arXiv 2203.04065.

    Examples
    --------
    >>> y, p = [0, 1] * 500, [0.5] * 1000  # one bin, standard error 0.016
    >>> equivalence_test(y, p, delta=0.05).verdict
    'shown to be calibrated within 0.05'
    >>> equivalence_test(y[:100], p[:100], delta=0.05).verdict  # standard error 0.05
    'not shown to be calibrated within 0.05'
    >>> equivalence_test([0] * 1992 + [1] * 8, [0.004] * 2000, delta=0.01).verdict
    'shown to be calibrated within 0.01, which says nothing here: so is the forecast 0'
    """
    check_option(_CALLER, "method", method, ("error", "band"))
    margin = check_margin(delta, caller=_CALLER)
    level = check_level(_CALLER, level, "level")
    estimator = equivalence_error(n_bins, strategy, norm)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER)
    test = equivalence_core(induced, delta=margin, method=method, estimator=estimator, level=level)
    return announced(test, induced, caller=_CALLER)


def equivalence_core(
    induced: Induced,
    *,
    delta: Margin,
    method: str = "error",
    estimator: BinnedError = _DEFAULT_ERROR,
    level: float = 0.05,
) -> EquivalenceTest:
    """The test of checked data; `estimator` is what "error" shows to be small."""
    problem = induced.problem
    if not isinstance(problem, BinarySample):
        hint = "use the binary or confidence lens, or `ClassSpecific(label)`."
        expected = "one that induces a single binary problem"
        raise invalid(_CALLER, "lens", expected, induced.lens.name, hint=hint)
    found = _band(problem) if method == "band" else _error(estimator, problem)
    # Beyond its largest level a limit is not defined; the one there is cautious.
    lower, upper = (limit(min(level, found.largest)) for limit in (found.lower, found.upper))
    rate = weighted_mean(problem.y, problem.weight)
    # Of what did not happen half a row is the base rate: a margin must be something.
    base_rate = max(min(rate, 1 - rate), 0.5 / problem.size)
    margin = delta.within(base_rate)
    return EquivalenceTest(
        statistic=found.estimate,
        pvalue=_smallest_level(found, margin),
        method="equivalence test",
        null=f"miscalibration of {margin:.4g} or more, by {found.null}",
        definition=found.definition,
        lens=induced.lens.name,
        n_samples=induced.sample.n,
        notes=found.notes,
        delta=margin,
        lower=lower,
        upper=upper,
        level=level,
        equivalent=upper < margin,
        base_rate=base_rate,
        rarer=int(rate <= 0.5),
        share=delta.size if delta.relative else None,
    )


def check_margin(delta: Any, *, caller: str) -> Margin:
    """Read a margin: a number between 0 and 1, or text such as "10%" of the base rate."""
    if not isinstance(delta, str):
        return Margin(check_delta(delta, caller=caller), relative=False)
    try:
        share = float(delta.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not (delta.strip().endswith("%") and 0 < share < 1):
        hint = 'write e.g. delta="10%", or a number of probability such as 0.03.'
        expected = "a number, or a share of the base rate between 0% and 100%"
        raise invalid(caller, "delta", expected, repr(delta), hint=hint)
    return Margin(share, relative=True)


def check_delta(delta: Any, *, caller: str) -> float:
    """Return a margin strictly between 0 and 1."""
    if not (is_number(delta) and 0 < delta < 1):
        hint = "pass the miscalibration that would matter, for instance 0.05."
        raise invalid(caller, "delta", "between 0 and 1", repr(delta), hint=hint)
    return float(delta)


def equivalence_error(n_bins: Any, strategy: str = "uniform", norm: Any = 2) -> BinnedError:
    """The binned error that is shown to be small; raise if no limit of it is known."""
    check_option(_CALLER, "strategy", strategy, ("uniform", "quantile"))
    binning = UniformBins(n_bins) if strategy == "uniform" else QuantileBins(n_bins)
    if norm not in (1, 2):
        hint = "1 is the mean absolute gap, 2 the root-mean-square gap."
        raise invalid(_CALLER, "norm", "1 or 2", repr(norm), hint=hint)
    estimator = BinnedError(binning, norm=norm, debias=True)
    if not has_interval(estimator):
        hint = 'bins chosen by their outcomes have no known limit; pass a number or "sqrt".'
        raise invalid(_CALLER, "n_bins", "free of the outcomes", repr(n_bins), hint=hint)
    return estimator


def _error(estimator: BinnedError, problem: BinarySample) -> _Finding:
    summary = independent_sums(estimator.summarise(problem), problem)
    assert isinstance(summary, Summary)
    rows = independent_rows(problem) / int(summary.occupied.sum())
    notes: tuple[str, ...] = ()
    if rows < _ROWS_A_BIN:
        notes = (
            f"{rows:.3g} rows a bin on average, fewer than {_ROWS_A_BIN}: equivalence may be"
            " claimed too often; use fewer bins",
        )
    return _Finding(
        estimate=estimator.measure(problem),
        lower=lambda level: binned_limits(estimator, summary, 1 - 2 * level)[0],
        upper=lambda level: binned_limits(estimator, summary, 1 - 2 * level)[1],
        largest=0.5,
        definition=f"{estimator.name}, {estimator.definition}",
        null="the upper limit of the binned error",
        notes=notes,
    )


def _band(problem: BinarySample) -> _Finding:
    if problem.clusters is not None:
        hint = 'use method="error" with groups.'
        got = "rows that depend on each other"
        raise invalid(_CALLER, "groups", 'unset for method="band"', got, hint=hint)
    if problem.weight is not None and problem.weight_type == "importance":
        expected = 'left out, or counts with weight_type="frequency", for method="band"'
        hint = 'use method="error" with importance weights.'
        raise invalid(_CALLER, "sample_weight", expected, "importance weights", hint=hint)
    scores = problem.pooled
    value = scores.value.astype(np.float64, copy=False)
    fitted = isotonic_fit(scores).fitted

    def upper(level: float) -> float:
        low, high = simultaneous_band(scores, 1 - level)
        # If the truth decreases somewhere the band may be empty: it is widened to hold the fit.
        low, high = np.minimum(low, fitted), np.maximum(high, fitted)
        return float(max((high - value).max(), (value - low).max()))

    def lower(level: float) -> float:
        low, high = simultaneous_band(scores, 1 - level)
        return max(0.0, float(np.maximum(low - value, value - high).max()))

    return _Finding(
        estimate=float(np.abs(fitted - value).max()),
        lower=lower,
        upper=upper,
        largest=1 - 1e-9,
        definition="largest gap of the isotonic curve",
        null="the simultaneous band of a non-decreasing curve",
    )


def _smallest_level(found: _Finding, delta: float) -> float:
    """Smallest level at which the upper limit is below `delta`; 1 if there is none."""
    if found.upper(found.largest) >= delta:
        return 1.0
    if found.upper(_SMALLEST) < delta:
        return _SMALLEST
    ends = math.log(_SMALLEST), math.log(found.largest)
    root = root_between(lambda log: found.upper(math.exp(log)) - delta, *ends, xtol=1e-7)
    return math.exp(root)
