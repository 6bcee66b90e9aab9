"""Intervals of scores, calibration errors and gains of recalibration."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import ArrayLike, ColumnNames, WeightType
from veridical.exceptions import InvalidInputError, invalid, warn_of
from veridical.inference._intervals.binned import l1_limits, l2_limits, l2_vector_limits
from veridical.inference._intervals.function import method_for, resampled_interval
from veridical.inference._intervals.gain import recalibration_limits
from veridical.inference._intervals.gaps import variation_limits
from veridical.inference._intervals.loess import loess_limits
from veridical.inference._intervals.mean import (
    IntervalOptions,
    check_interval_options,
    make_units,
    mean_interval,
)
from veridical.inference._intervals.rows import Rows, rows_of
from veridical.inference._intervals.support import score_support, scores_by_row
from veridical.inference._intervals.unbinned import cumulated_limits, largest_limits, smooth_limits
from veridical.inference._nulls.null import Measure, as_estimator, depends_on_fixed_sums
from veridical.lenses import ClasswiseProblem, Problem
from veridical.lenses.reading import Induced, RawData
from veridical.miscalibration import (
    BinnedError,
    CumulativeError,
    Estimator,
    FunctionMeasure,
    LoessError,
    RecalibrationError,
    SmoothError,
)
from veridical.miscalibration.core import MeanScore
from veridical.results import Interval
from veridical.results.library import answers_in_kind
from veridical.summaries import Summary, VectorSummary
from veridical.summaries.core import independent_sums

UnbinnedError = CumulativeError | LoessError | SmoothError
_CALLER = "bootstrap_interval"
_FEW_ROWS = 20
_METHODS = ("auto", "percentile", "basic", "bca", "analytic")


@answers_in_kind
def bootstrap_interval(
    estimator: Measure,
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    method: Literal["auto", "percentile", "basic", "bca", "analytic"] = "auto",
    groups: ArrayLike | None = None,
    stratify: bool = False,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
) -> Interval:
    r"""Confidence interval of a mean score, of a calibration error or of any function.

    Parameters
    ----------
    estimator : Estimator or callable
        A mean score, e.g. ``BrierScore()``; a hard-binned error of norm 1, 2 or max (whole vectors:
        total variation, or norm 2 with ``distance="l2"``); KS, Kuiper, smECE or a `LoessError`; a
        `RecalibrationError`; or a function ``(y_true, y_prob) -> float``, see `FunctionMeasure`.
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Default the binary lens for two classes; for more the confidence, of a score or a function
        the whole prediction.
    method : {"auto", "analytic", "percentile", "basic", "bca"}, default "auto"
        "auto" is "analytic", of a function "percentile". The bootstraps are for mean scores and
        functions only (see Notes).
    groups : array-like of shape (n,), optional
        Cluster of each row (patient, user, day), or the column that holds it: rows of one cluster
        may depend on each other, clusters do not. Sizes of bins are divided by the design effect.
    stratify : bool, default False
        Treat the number of rows of each class as fixed. Mean scores and functions only, without
        `groups`.
    n_resamples : int, default 1000
        How many resamples a bootstrap draws.
    confidence_level : float, default 0.95
        Between 0 and 1.
    rng : int, Generator or None
        Seed of a bootstrap; the same seed gives the same numbers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Returns
    -------
    Interval
        With `estimate`, `low`, `high` and `confidence_level`.

    Notes
    -----
    **Mean scores.** The analytic interval is that of a mean of a bounded variable [4]_: one more
    row at the largest score these predictions allow, and the quantile of the mean under the
    weights of a Bayesian bootstrap, by a saddlepoint approximation instead of draws (the lower
    limit likewise with the smallest). For zero-one losses this is the exact interval of Clopper
    and Pearson, with importance weights at the effective number of rows. It holds from a handful
    of rows on and never shrinks to a point because nothing happened: for Beta(0.2, 8) predictions
    (2 % events), each limit of the Brier, log and spherical score missed in at most 2.5 % of
    samples of 30 to 1,000 rows, where normal limits missed in up to 64 %. With many rows it is the
    normal interval with the linearised variance of a ratio over rows, or over clusters c if
    `groups` are given:

    .. math:: \hat V = \frac{1}{W^2} \sum_c \Big(\sum_{i \in c} w_i (s_i - \bar s)\Big)^2

    with frequency weights :math:`\sum_i w_i (s_i - \bar s)^2 / W^2`; stratified, deviations are
    from the mean of the stratum. The log score is unbounded, and no upper limit of its mean holds
    for every distribution: it is supposed to stay below the largest score seen and below 99 in
    100 of the surprises (outcomes other than the most probable) that predictions twice too
    confident would meet, which are as frequent as the root of their probability.
    Bootstraps draw rows (or clusters) with replacement; BCa takes its acceleration from the
    jackknife. Limits are cut at the best score.

    **Calibration errors.** Resampling rows adds noise to gaps that already hold noise, so near
    calibration bootstraps lie above the truth; they are refused. (Of percentile intervals at 95 %
    for the ECE, 500 uniform predictions and 15 bins, none covered a binned error of 0 or 0.03,
    and 45 % one of 0.07.) What is given instead is an interval *for the binned error of the
    population*; the true error is at least as large (002 Theorem 2) and may lie above it. It
    inverts tests of equal tails, with :math:`r_b (1 - r_b) / n_b` the variance of an observed
    frequency:

    - norm 2: :math:`\sum_b (W_b / W)\,(\bar y_b - \bar p_b)^2` is a weighted sum of non-central
      chi-squares; its variance has a part of order 1/n squared, all there is at calibration, and
      a part of order 1/n that leads elsewhere [1]_. It is taken as a shifted chi-square with the
      same mean, variance and third cumulant.
    - norm 1: the upper limit is the largest of the upper limits of mean(s (y - p)) over all
      choices of a sign s for each bin; the true signs are one of them, so it needs no assumption
      on how the gaps are spread, and holds with few rows as well. The lower one takes the reading
      as a sum of folded normals whose spread is sparse (small gaps are noise). Total variation of
      whole vectors: likewise with a set of classes for each cell; the lower limit is the reading
      less its noise.
    - whole vectors, norm 2 and the Euclidean distance: as for norm 2, with the multinomial
      covariance of an outcome in the place of r (1 - r).

    - KS, Kuiper, smECE, ICI, Emax and the largest gap of bins (norm "max"): the upper limit is the
      largest of those of all bets that the error is the largest of, as for norm 1; the lower one is
      the reading less as much noise as there may be. E50 and E90 are those of the limits of the
      gaps of the curve, made to hold together. All err on the safe side, by far those of the
      largest gap, and of E50, E90 and Emax below some hundred rows. Curves are those of the
      population, smoothed with the same span. Where rows count as fewer the lower limit of the
      largest gap of bins is 0.

    Those of norm 2 add the noise of the shares of the bins, and their upper limit is never below
    what the median reading of a calibrated model would give [2]_, so it does not vanish by luck.
    The interval does not depend on `debias`; without it the estimate is biased upwards and, with
    many bins, may lie above the interval. `docs/evidence/gate_limits.csv` has the errors of all
    limits for 30 to 1,000 rows, `docs/evidence/intervals.csv` those of errors without bins. Limits
    are about bins that hold rows. Of norm 2 with few rows a bin and rare outcomes in bins of equal
    mass the upper limit is too small; below 20 rows a bin there is a warning.

    **Gains of recalibration** (`RecalibrationError`) have limits of the gain, on new rows, of the
    map fitted to all rows, from rows that maps were not fitted to.

    **Functions** are called once for each resample of the rows, with a progress bar if that takes
    long. The bootstrap suits figures that are smooth in the distribution of the rows (means, ratios
    of them, areas under curves). Where resamples are biased by more than a quarter of the standard
    error [3]_, as those of calibration errors are, a warning says that the limits may not hold.

    Time O(n) analytically, O(n_resamples n) for a bootstrap.

    References
    ----------
    .. [1] Sun, Chaudhari, Barnett & Dobriban (2024), arXiv 2408.08998, show both rates for the
       debiased estimate; the interval here is another one.
    .. [2] Cowan, Cranmer, Gross & Vitells (2011), Power-constrained limits, arXiv 1105.3166.
    .. [3] Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapters 13-14.
    .. [4] Gaffke (2005), Math. Methods Statist. 14, 451-467; Learned-Miller & Thomas (2019), A new
       confidence interval for the mean of a bounded random variable, arXiv 1905.06208.

    Examples
    --------
    >>> from veridical.miscalibration import BrierScore
    >>> interval = bootstrap_interval(BrierScore(), [0] * 30, [0.5] * 30)
    >>> interval.low, interval.high  # all scores are 1/4, whatever happens
    (0.25, 0.25)
    >>> from veridical import ZeroOneLoss
    >>> interval = bootstrap_interval(ZeroOneLoss(), [1] * 30, [0.9] * 30)
    >>> interval.low, round(interval.high, 4)  # no error in 30 rows: 1 - 0.025 ** (1 / 30)
    (0.0, 0.1157)
    """
    estimator = as_estimator(estimator, caller=_CALLER)
    wanted = method_for(estimator, method, caller=_CALLER)
    options = check_interval_options(
        wanted, confidence_level, n_resamples, rng, caller=_CALLER, methods=_METHODS
    )
    raw = RawData(y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups)
    induced = raw.weighted(sample_weight, weight_type).through(
        lens, caller=_CALLER, whole=estimator.whole
    )
    interval, notes = interval_core(estimator, induced, options, stratify=stratify)
    warn_of((*induced.notes, *notes), caller=_CALLER)
    return interval


def interval_core(
    estimator: Estimator,
    induced: Induced,
    options: IntervalOptions,
    *,
    stratify: bool = False,
) -> tuple[Interval, tuple[str, ...]]:
    """The interval of checked data, which holds no notes: they come beside it."""
    sample, problem = induced.sample, induced.problem
    groups = sample.clusters
    notes: tuple[str, ...] = ()
    strata = np.unique(sample.y, return_inverse=True)[1] if stratify else None
    by_rows = isinstance(estimator, (MeanScore, FunctionMeasure))
    if by_rows and stratify and groups is not None:
        hint = "leave one of them out: a cluster may hold rows of several classes."
        raise invalid(_CALLER, "stratify", "False with `groups`", "True", hint=hint)
    if isinstance(estimator, FunctionMeasure):
        found, notes = resampled_interval(
            estimator, (problem,), options, groups=groups, strata=strata, caller=_CALLER
        )
        low, high = found.low, found.high
    elif isinstance(estimator, RecalibrationError):
        low, high = recalibration_limits(estimator, induced, options, caller=_CALLER)
    elif isinstance(estimator, MeanScore):
        scores = scores_by_row(estimator, problem, sample, caller=_CALLER)
        frequency = sample.weight_type == "frequency"
        units = make_units(
            scores, sample.weight, by_frequency=frequency, groups=groups, strata=strata
        )
        if units.count < 2:
            what = "row" if groups is None else "cluster"
            hint = "one alone does not show how much scores vary."
            param = "y_true" if groups is None else "groups"
            raise invalid(_CALLER, param, f"more than one {what}", f"one {what}", hint=hint)
        support = score_support(estimator, problem, scores)
        found = mean_interval(units, options, support=support)
        low, high = max(found.low, min(0.0, float(scores.min()))), found.high
    else:
        error = _check_error(estimator, problem, options.method, stratify=stratify)
        low, high, notes = _error_limits(error, problem, options.level)
    interval = Interval(
        estimate=estimator.measure(problem),
        low=low,
        high=high,
        **options.fields,
        estimator=estimator.name,
        definition=estimator.definition,
        lens=induced.lens.name,
        n_samples=sample.n,
    )
    return interval, notes


def _check_error(
    estimator: Estimator,
    problem: Problem,
    method: str,
    *,
    stratify: bool,
) -> BinnedError | UnbinnedError:
    """Return the error, or raise unless an interval is known for it."""
    if method != "analytic":
        hint = (
            f"a bootstrap of {estimator.name} counts its noise twice and seldom covers it near"
            ' calibration; use method="analytic" with `BinnedError()`, or `null_level`.'
        )
        expected = '"auto" or "analytic" for a calibration error'
        raise invalid(_CALLER, "method", expected, repr(method), hint=hint)
    got = f"{estimator.name} ({estimator.definition})"
    if isinstance(problem, MulticlassSample):
        if not has_vector_interval(estimator):
            expected = "for whole vectors a hard-binned error of norm 1, or 2 with distance l2"
            raise _no_interval("estimator", expected, got)
    elif not has_interval(estimator):
        raise _no_interval(
            "estimator",
            "a mean score, a hard-binned error of norm 1, 2 or max, or an error without bins",
            got,
        )
    if stratify:
        hint = "the interval of a calibration error supposes that outcomes were drawn."
        raise invalid(_CALLER, "stratify", "unset for a calibration error", "a value", hint=hint)
    assert isinstance(estimator, (BinnedError, CumulativeError, LoessError, SmoothError))
    return estimator


def has_interval(estimator: Estimator) -> bool:
    """Whether an interval is known for this calibration error of a binary problem."""
    if isinstance(estimator, (CumulativeError, LoessError)):
        return True
    if isinstance(estimator, SmoothError):
        return estimator.bandwidth == "fixed-point"
    if not (isinstance(estimator, BinnedError) and depends_on_fixed_sums(estimator)):
        return False
    by_rows = estimator.average == "rows"
    return estimator.power in (1, 2, math.inf) and estimator.distance is None and by_rows


def has_vector_interval(estimator: Estimator) -> bool:
    """Whether an interval is known for this calibration error of whole vectors."""
    if not (isinstance(estimator, BinnedError) and depends_on_fixed_sums(estimator)):
        return False
    if estimator.power == 1:
        return estimator.distance in (None, "tv")
    by_default = estimator.debias and estimator.distance is None
    euclidean = by_default or estimator.distance == "l2"
    return estimator.power == 2 and euclidean and estimator.average == "rows"


def _error_limits(
    estimator: BinnedError | UnbinnedError, problem: Problem, level: float
) -> tuple[float, float, tuple[str, ...]]:
    """Both limits, and what is in doubt about them."""
    if isinstance(problem, ClasswiseProblem):
        raise _no_interval("lens", "one that induces a single problem", "several problems")
    if not isinstance(estimator, BinnedError):
        assert isinstance(problem, BinarySample)
        return *unbinned_limits(estimator, rows_of(problem), level), ()
    summary = estimator.summarise(problem)
    count = summary.count if isinstance(summary, VectorSummary) else summary.count[summary.occupied]
    rows = problem.size / len(count)
    notes: tuple[str, ...] = ()
    if rows < _FEW_ROWS and estimator.power == 2:
        notes = (f"{rows:.3g} rows a bin on average: limits of rare outcomes may be too small",)
    return *binned_limits(estimator, independent_sums(summary, problem), level), notes


def binned_limits(
    estimator: BinnedError, summary: Summary | VectorSummary, level: float
) -> tuple[float, float]:
    """Limits of a binned error from the sums alone; it must have an interval (see above)."""
    if isinstance(summary, VectorSummary):
        return (variation_limits if estimator.power == 1 else l2_vector_limits)(summary, level)
    if math.isinf(estimator.power):
        return largest_limits(summary, level)
    return (l1_limits if estimator.power == 1 else l2_limits)(summary, level)


def unbinned_limits(estimator: UnbinnedError, rows: Rows, level: float) -> tuple[float, float]:
    """Limits of an error without bins; it must have an interval (see above)."""
    if isinstance(estimator, CumulativeError):
        return cumulated_limits(rows, level, between_any=estimator.statistic == "kuiper")
    if isinstance(estimator, LoessError):
        return loess_limits(estimator, rows, level)
    return smooth_limits(rows, level)


def _no_interval(param: str, expected: str, got: str) -> InvalidInputError:
    hint = (
        "use `BinnedError()` with the binary, confidence or canonical lens, or"
        " `ClassSpecific(label)`; `null_level` takes any estimator and lens."
    )
    return invalid(_CALLER, param, expected, got, hint=hint)
