"""How much two models differ on the same rows, and what each row adds to the difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample, weighted_mean
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, IntArray, WeightType
from veridical.exceptions import invalid, warn_of
from veridical.inference._intervals.bootstrap import has_interval
from veridical.inference._intervals.function import method_for, resampled_interval
from veridical.inference._intervals.mean import (
    IntervalOptions,
    MeanInterval,
    check_interval_options,
    make_units,
    mean_interval,
    normal_interval,
)
from veridical.inference._intervals.squared import squared_difference
from veridical.inference._intervals.support import difference_support, scores_by_row
from veridical.inference._nulls.null import Measure, as_estimator
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import CheckedData, Induced, RawData
from veridical.miscalibration import BinnedError, Estimator, FunctionMeasure
from veridical.miscalibration.core import MeanScore
from veridical.results import Difference
from veridical.results.library import answers_in_kind

_CALLER = "paired_difference"
_ULPS = 4  # by which one value computed in two ways may differ; more is left to the mean
_METHODS = ("auto", "analytic", "percentile", "basic", "bca")


@answers_in_kind
def paired_difference(
    estimator: Measure,
    y_true: Any,
    y_prob: ArrayLike | None = None,
    other: Any = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    method: Literal["auto", "analytic", "percentile", "basic", "bca"] = "auto",
    groups: ArrayLike | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
) -> Difference:
    r"""How much better one model is than another on the same rows, with interval and p-value.

    Parameters
    ----------
    estimator : Estimator or callable
        A mean score, e.g. ``BrierScore()``; ``BinnedError(norm=2)``, whose *squared* debiased
        errors are compared (the reliability part of the Brier score); or a function
        ``(y_true, y_prob) -> float``, see `FunctionMeasure`.
    y_true, y, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    y_prob, other : array-like of shape (n,), (n, 1) or (n, K)
        Predictions of the two models; the difference is the first minus the second.
    prob : str or list of str, optional
        Columns of the first model in a frame or file; `other` then names those of the second.
    lens : lens, name or callable, optional
        Default the binary lens for two classes; for more the confidence, of a score or a function
        the whole prediction.
    method : {"auto", "analytic", "percentile", "basic", "bca"}, default "auto"
        "auto" is "analytic": of mean scores the limits of a bounded variable (see
        :func:`bootstrap_interval`), of squared errors normal ones; of a function "percentile". The
        bootstraps are for mean scores and functions.
    groups : array-like of shape (n,), optional
        Cluster of each row: rows of one cluster may depend on each other.
    n_resamples, rng
        Of a bootstrap.
    confidence_level : float, default 0.95
        Between 0 and 1.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Returns
    -------
    Difference
        With `estimate`, `low`, `high`, `pvalue`, `first` and `second`. Negative means that the
        first model is better.

    Notes
    -----
    Pairing removes what both models share: the standard error is that of the differences of the
    rows' scores (Diebold & Mariano 1995, doi 10.1080/07350015.1995.10524599, for independent
    rows). Two p-values near each other say nothing of the difference; this does.

    For squared calibration errors the row-wise value is the influence
    :math:`2 g_b (y - p) - g_b^2 - \theta` of the row on the error of its model, less what the noise
    of the gaps adds to its variance, which near calibration is half of it; with clusters, more than
    ten classes or sums of an engine it is left in, so intervals are cautious there. Norm 1 is
    refused: its plug-in error is biased by an amount that differs between models and does not
    cancel.

    Examples
    --------
    Two of four rows differ, by 1/4 - 0 each, which is the most they can:

    >>> from veridical.miscalibration import BrierScore
    >>> d = paired_difference(BrierScore(), [0, 1, 0, 1], [0.5, 0.5, 0.0, 1.0], [0, 1, 0, 1])
    >>> d.estimate, round(d.high, 4)  # 1/4 of 0.9324, the exact upper limit of 2 in 4
    (0.125, 0.2331)
    """
    estimator = as_estimator(estimator, caller=_CALLER)
    options = check_interval_options(
        method_for(estimator, method, caller=_CALLER),
        confidence_level,
        n_resamples,
        rng,
        caller=_CALLER,
        methods=_METHODS,
    )

    if other is None:
        hint = "pass the predictions, or the columns, of a second model."
        raise invalid(_CALLER, "other", "predictions to compare with", "None", hint=hint)

    def read(values: ArrayLike | None, columns: ColumnNames | None) -> CheckedData:
        data = RawData(
            y_true, values, y=y, prob=columns, labels=labels, pos_label=pos_label, groups=groups
        )
        return data.weighted(sample_weight, weight_type).check(caller=_CALLER)

    first = read(y_prob, prob)
    second = read(None, other) if y_prob is None else read(other, prob)
    whole = estimator.whole
    pair = (
        first.through(lens, caller=_CALLER, whole=whole),
        second.through(lens, caller=_CALLER, whole=whole),
    )
    if pair[0].sample.classes != pair[1].sample.classes:
        hint = "pass predictions of the same classes in the same form."
        got = f"{len(pair[1].sample.classes)} classes for {len(pair[0].sample.classes)}"
        raise invalid(_CALLER, "other", "of the same classes as `y_prob`", got, hint=hint)
    difference, notes = difference_core(estimator, pair, options)
    warn_of((*first.notes, *notes), caller=_CALLER)
    return difference


# Mean score and scores of the rows of a sample, by its identity: of one score, for several pairs.
KeptScores = dict[int, tuple[float, FloatArray]]


def difference_core(
    estimator: Estimator,
    pair: tuple[Induced, Induced],
    options: IntervalOptions,
    kept: KeptScores | None = None,
) -> tuple[Difference, tuple[str, ...]]:
    """Difference of checked data on the same rows, and what is in doubt about it.

    What is `kept` of one score is not made again for another pair; samples must live as long.
    """
    if _same_predictions(pair):
        pair = (pair[0], pair[0])
    name, sample = estimator.name, pair[0].sample
    groups = sample.clusters
    notes: tuple[str, ...] = ()
    if isinstance(estimator, FunctionMeasure):
        first, second = (estimator.measure(each.problem) for each in pair)
        problems = (pair[0].problem, pair[1].problem)
        found, notes = resampled_interval(
            estimator, problems, options, groups=groups, caller=_CALLER
        )
        found = found.drop_rounding(first, second, least=0.0)
    else:
        found, first, second, name = _by_rows(estimator, pair, options, groups, kept)
        found = found.drop_rounding(first, second)
    difference = Difference(
        **found._asdict(),
        **options.fields,
        estimator=name,
        definition=estimator.definition,
        lens=pair[0].lens.name,
        n_samples=sample.n,
        first=first,
        second=second,
    )
    return difference, notes


def _same_predictions(pair: tuple[Induced, Induced]) -> bool:
    """Whether all predictions of two models agree but for the rounding of their type.

    Such rounding may move a prediction across the edge of a bin or decide a tie of two classes,
    which would be seen in a figure.
    """
    one, two = (each.sample.p for each in pair)
    rounding = _ULPS * max(float(np.finfo(p.dtype).eps) for p in (one, two))
    return one.shape == two.shape and all(
        bool((np.abs(one[block] - two[block]) <= rounding * one[block]).all())
        for block in row_blocks(len(one))
    )


def _by_rows(
    estimator: Estimator,
    pair: tuple[Induced, Induced],
    options: IntervalOptions,
    groups: IntArray | None,
    kept: KeptScores | None,
) -> tuple[MeanInterval, float, float, str]:
    """Interval of the mean difference of rows, both figures, and what they are."""
    name = estimator.name
    if isinstance(estimator, MeanScore):
        (first, by_row), (second, others) = (_mean_and_rows(estimator, each, kept) for each in pair)
        by_row = by_row - others
        support = difference_support(estimator, (pair[0].problem, pair[1].problem), by_row)
    else:
        binned = _debiased(estimator, options.method)
        both = squared_difference(binned, (_binary(pair[0]), _binary(pair[1])))
        limits = normal_interval(both.first - both.second, both.standard_error, options.level)
        return limits, both.first, both.second, f"squared {binned.name}"
    sample = pair[0].sample
    frequency = sample.weight_type == "frequency"
    units = make_units(by_row, sample.weight, by_frequency=frequency, groups=groups)
    if units.count < 2:
        hint = "one alone does not show how much differences vary."
        raise invalid(_CALLER, "y_true", "more than one row or cluster", "one", hint=hint)
    found = mean_interval(units, options, estimate=first - second, support=support)
    return found, first, second, name


def _mean_and_rows(
    estimator: MeanScore, induced: Induced, kept: KeptScores | None
) -> tuple[float, FloatArray]:
    """A mean score, and that of every row."""
    if kept is None:
        return _scored(estimator, induced)
    key = id(induced.sample)
    if key not in kept:
        kept[key] = _scored(estimator, induced)
    return kept[key]


def _scored(estimator: MeanScore, induced: Induced) -> tuple[float, FloatArray]:
    by_row = scores_by_row(estimator, induced.problem, induced.sample, caller=_CALLER)
    if isinstance(induced.problem, ClasswiseProblem):
        return estimator.measure(induced.problem), by_row
    return weighted_mean(by_row, induced.sample.weight), by_row


def _binary(induced: Induced) -> BinarySample | ClasswiseProblem:
    if isinstance(induced.problem, (BinarySample, ClasswiseProblem)):
        return induced.problem
    hint = 'use lens="confidence", lens="classwise" or `ClassSpecific(label)`.'
    raise invalid(_CALLER, "lens", "one that induces binary problems", "vectors", hint=hint)


def _debiased(estimator: Estimator, method: str) -> BinnedError:
    """The error whose square is compared; raise if there is none."""
    if not (
        has_interval(estimator) and isinstance(estimator, BinnedError) and estimator.power == 2
    ):
        hint = "use a mean score such as `BrierScore()`, or `BinnedError(norm=2)`."
        got = f"{estimator.name} ({estimator.definition})"
        expected = "a mean score or a hard-binned error of norm 2"
        raise invalid(_CALLER, "estimator", expected, got, hint=hint)
    if method != "analytic":
        hint = 'use method="analytic": a bootstrap counts the noise of the gaps twice.'
        expected = '"auto" or "analytic" for a calibration error'
        raise invalid(_CALLER, "method", expected, repr(method), hint=hint)
    return replace(estimator, debias=True)
