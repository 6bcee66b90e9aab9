"""Intervals of scores and calibration errors."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.sample import MulticlassSample, Sample
from veridical._core.typing import (
    ArrayLike,
    BoolArray,
    ColumnNames,
    FloatArray,
    IntArray,
    WeightType,
)
from veridical.exceptions import InvalidInputError, invalid, warn_of
from veridical.inference._intervals.binned import l1_limits, l2_limits, l2_vector_limits
from veridical.inference._intervals.function import method_for, resampled_interval
from veridical.inference._intervals.mean import (
    IntervalOptions,
    check_interval_options,
    make_units,
    mean_interval,
)
from veridical.inference._nulls.null import Measure, as_estimator, depends_on_fixed_sums
from veridical.lenses import ClasswiseProblem, Problem
from veridical.lenses.reading import Induced, RawData
from veridical.miscalibration import BinnedError, Estimator, FunctionMeasure
from veridical.miscalibration.core import MeanScore
from veridical.results import Interval
from veridical.summaries import Summary, VectorSummary

_CALLER = "bootstrap_interval"
_FEW_ROWS = 20
_METHODS = ("auto", "percentile", "basic", "bca", "analytic")


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
    r"""Confidence interval of a mean score, of a binned calibration error or of any function.

    Parameters
    ----------
    estimator : Estimator or callable
        A mean score, e.g. ``BrierScore()``; a hard-binned error of norm 1 or 2 (whole vectors:
        norm 2 with ``distance="l2"``); or a function ``(y_true, y_prob) -> float``, see
        `FunctionMeasure`.
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Default the binary lens for two classes; for more the confidence, of a score or a function
        the whole prediction.
    method : {"auto", "analytic", "percentile", "basic", "bca"}, default "auto"
        "auto" is "analytic", of a function "percentile". The bootstraps are for mean scores and
        functions only (see Notes).
    groups : array-like of shape (n,), optional
        Cluster of each row (patient, user, day): rows of one cluster may depend on each other,
        clusters do not. Mean scores and functions only.
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
    **Mean scores.** The analytic interval is normal, with the linearised variance of a ratio
    over rows, or over clusters c if `groups` are given:

    .. math:: \hat V = \frac{1}{W^2} \sum_c \Big(\sum_{i \in c} w_i (s_i - \bar s)\Big)^2

    with frequency weights :math:`\sum_i w_i (s_i - \bar s)^2 / W^2`; stratified, deviations are
    from the mean of the stratum. There is no correction for few rows or clusters: with fewer than
    about 40 clusters intervals are too short. Bootstraps draw rows (or clusters) with
    replacement; BCa takes its acceleration from the jackknife. Limits are cut at the best score.

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
    - norm 1: a sum of folded normals, matched likewise. What it reads depends not only on the
      error but on how the gaps are spread over the bins, so the upper limit supposes the spread
      that reads least (every gap as many standard errors), the lower one a sparse spread (small
      gaps are noise). The interval is therefore cautious.

    - whole vectors, norm 2 and the Euclidean distance: as for norm 2, with the multinomial
      covariance of an outcome in the place of r (1 - r).

    All add the noise of the shares of the bins. The upper limit is never below what the median
    reading of a calibrated model would give [2]_, so it does not vanish by luck; the lower limit
    is 0 unless calibration is rejected at half of 1 - `confidence_level`. The interval does not
    depend on `debias`; without it the estimate is biased upwards and, with many bins, may lie
    above the interval. With uniform predictions, 15 bins and errors of 0 to 0.07, 94 to 99.6 % of
    the intervals at 95 % covered for n = 500 and 2,000. With few rows a bin and rare outcomes the
    upper limit is too small (for Beta(0.5, 5) predictions in 15 equal-mass bins, log odds off by
    1, that of norm 1 at 90 % was exceeded in 16 % of samples instead of 5 % with 10 rows a bin,
    in 6 % with 30); below 20 rows a bin there is a warning.

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

    Examples
    --------
    >>> from veridical.miscalibration import BrierScore
    >>> interval = bootstrap_interval(BrierScore(), [0, 1, 0, 1], [0.5, 0.5, 0.0, 1.0])
    >>> interval.estimate, round(interval.high, 4)  # scores 1/4, 1/4, 0, 0: 1/8 + 1.96 / 16
    (0.125, 0.2475)
    """
    estimator = as_estimator(estimator, caller=_CALLER)
    method = method_for(estimator, method, caller=_CALLER)
    options = check_interval_options(
        method, confidence_level, n_resamples, rng, caller=_CALLER, methods=_METHODS
    )
    raw = RawData(y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label)
    data = raw.weighted(sample_weight, weight_type).check(caller=_CALLER)
    induced = data.through(lens, caller=_CALLER, whole=estimator.whole)
    clusters = None if groups is None else check_groups(groups, data.kept, caller=_CALLER)
    interval, notes = interval_core(estimator, induced, options, groups=clusters, stratify=stratify)
    warn_of((*induced.notes, *notes), caller=_CALLER)
    return interval


def interval_core(
    estimator: Estimator,
    induced: Induced,
    options: IntervalOptions,
    *,
    groups: IntArray | None = None,
    stratify: bool = False,
) -> tuple[Interval, tuple[str, ...]]:
    """The interval of checked data, which holds no notes: they come beside it.

    `groups` are clusters of the rows of the sample, numbered from 0.
    """
    sample, problem = induced.sample, induced.problem
    notes: tuple[str, ...] = ()
    strata = np.unique(sample.y, return_inverse=True)[1] if stratify else None
    by_rows = isinstance(estimator, (MeanScore, FunctionMeasure))
    if by_rows and stratify and groups is not None:
        hint = "leave one of them out: a cluster may hold rows of several classes."
        raise invalid(_CALLER, "stratify", "False with `groups`", "True", hint=hint)
    if isinstance(estimator, FunctionMeasure):
        drawn = {"groups": groups, "strata": strata, "caller": _CALLER}
        found, notes = resampled_interval(estimator, (problem,), options, **drawn)
        low, high = found.low, found.high
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
        found = mean_interval(units, options)
        low, high = max(found.low, min(0.0, float(scores.min()))), found.high
    else:
        _check_binned(estimator, problem, options.method, groups, stratify=stratify)
        low, high, rows = _binned_limits(estimator, problem, options.level)
        if rows < _FEW_ROWS:
            notes = (f"{rows:.3g} rows a bin on average: limits of rare outcomes may be too small",)
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


def scores_by_row(
    estimator: MeanScore, problem: Problem, sample: Sample, *, caller: str
) -> FloatArray:
    """Score of each row, in a classwise problem its mean over the classes."""
    if isinstance(problem, ClasswiseProblem):
        each = (estimator.per_row(problem.problem(k)) for k in range(problem.n_problems))
        scores = sum(each, start=np.zeros(sample.n)) / problem.n_problems
    else:
        scores = estimator.per_row(problem).astype(np.float64, copy=False)
    if len(scores) != sample.n:
        hint = "use a lens that keeps the rows."
        got = f"{len(scores)} rows from {sample.n}"
        raise invalid(caller, "lens", "one row for one row", got, hint=hint)
    if not np.isfinite(scores).all():
        number = int((~np.isfinite(scores)).sum())
        hint = "a mean that is infinite has no interval; clip the predictions away from 0 and 1."
        got = f"{number} of {len(scores)} infinite {estimator.name} scores"
        raise invalid(caller, "y_prob", "such that all scores are finite", got, hint=hint)
    return scores


def check_groups(groups: ArrayLike | None, kept: BoolArray, *, caller: str) -> IntArray | None:
    """Return the cluster of each kept row, numbered from 0."""
    if groups is None:
        return None
    keys = to_numpy(groups, caller=caller, param="groups")
    if keys.shape != kept.shape:
        hint = "pass one cluster per row."
        raise invalid(caller, "groups", f"of shape {kept.shape}", f"{keys.shape}", hint=hint)
    missing = missing_values(keys)
    if missing.any():
        hint = "give rows that belong to no cluster a name of their own."
        got = f"a missing key at index {missing.argmax()} ({missing.sum()} of {len(keys)})"
        raise invalid(caller, "groups", "free of missing values", got, hint=hint)
    try:
        return np.unique(keys[kept], return_inverse=True)[1].reshape(-1)
    except TypeError as error:
        hint = "use keys of one kind, for instance all strings."
        raise invalid(caller, "groups", "keys of one kind", "a mixture", hint=hint) from error


def _check_binned(
    estimator: Estimator,
    problem: Problem,
    method: str,
    groups: ArrayLike | None,
    *,
    stratify: bool,
) -> None:
    """Raise unless an interval is known for this error."""
    if method != "analytic":
        hint = (
            f"a bootstrap of {estimator.name} counts its noise twice and seldom covers it near"
            ' calibration; use method="analytic" with `BinnedError()`, or `null_level`.'
        )
        expected = '"auto" or "analytic" for a calibration error'
        raise invalid(_CALLER, "method", expected, repr(method), hint=hint)
    got = f"{estimator.name} ({estimator.definition})"
    if isinstance(problem, MulticlassSample):
        if not _is_euclidean(estimator):
            expected = 'a hard-binned error of norm 2 and distance="l2" for whole vectors'
            raise _no_interval("estimator", expected, got)
    elif not has_interval(estimator):
        raise _no_interval("estimator", "a mean score or a hard-binned error of norm 1 or 2", got)
    for param, given in (("groups", groups is not None), ("stratify", stratify)):
        if given:
            hint = "the interval of a calibration error supposes independent rows."
            raise invalid(_CALLER, param, "unset for a calibration error", "a value", hint=hint)


def has_interval(estimator: Estimator) -> bool:
    """Whether an interval is known for this calibration error of a binary problem."""
    if not (isinstance(estimator, BinnedError) and depends_on_fixed_sums(estimator)):
        return False
    by_rows = estimator.average == "rows"
    return estimator.power in (1, 2) and estimator.distance is None and by_rows


def _is_euclidean(estimator: Estimator) -> bool:
    """Whether an interval is known for this calibration error of whole vectors."""
    if not (isinstance(estimator, BinnedError) and depends_on_fixed_sums(estimator)):
        return False
    by_default = estimator.debias and estimator.distance is None
    euclidean = by_default or estimator.distance == "l2"
    return estimator.power == 2 and euclidean and estimator.average == "rows"


def _binned_limits(
    estimator: Estimator, problem: Problem, level: float
) -> tuple[float, float, float]:
    """Both limits, and the mean number of rows of a bin."""
    assert isinstance(estimator, BinnedError)
    if isinstance(problem, ClasswiseProblem):
        raise _no_interval("lens", "one that induces a single problem", "several problems")
    summary = estimator.summarise(problem)
    if isinstance(summary, VectorSummary):
        return *l2_vector_limits(summary, level), problem.size / len(summary.count)
    rows = problem.size / int(summary.occupied.sum())
    return *binned_limits(estimator, summary, level), rows


def binned_limits(estimator: BinnedError, summary: Summary, level: float) -> tuple[float, float]:
    """Limits of a binned error from the sums alone; the error must be `has_interval`."""
    return (l1_limits if estimator.power == 1 else l2_limits)(summary, level)


def _no_interval(param: str, expected: str, got: str) -> InvalidInputError:
    hint = (
        "use `BinnedError()` with the binary or confidence lens or `ClassSpecific(label)`; for"
        ' vectors `BinnedError(norm=2, distance="l2")`; `null_level` takes any estimator and lens.'
    )
    return invalid(_CALLER, param, expected, got, hint=hint)
