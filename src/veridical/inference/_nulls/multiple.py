"""Several tests at once: p-values corrected for their number; every class, bin or group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from veridical._core.data.randomness import Draws, check_draws
from veridical._core.data.validation import check_option, float_array
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import drawn_samples, most_draws
from veridical._core.resampling.rows import OutcomeDraws
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, WeightType
from veridical.exceptions import invalid, warn_of
from veridical.inference._draws.monte_carlo import monte_carlo_pvalue
from veridical.inference._draws.sums import null_summaries
from veridical.inference._nulls.null import (
    Measure,
    as_estimator,
    depends_on_fixed_sums,
    null_sample,
    summaries_of_classes,
)
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import RawData, as_multiclass, resolve_lens
from veridical.miscalibration import BinnedError, Estimator
from veridical.results import MultipleTest
from veridical.results.library import answers_in_kind
from veridical.summaries import Summary

_METHODS = ("holm", "benjamini-hochberg", "bonferroni")
Adjustment = Literal["holm", "benjamini-hochberg", "bonferroni"]


def adjust_pvalues(pvalues: ArrayLike, *, method: Adjustment = "holm") -> FloatArray:
    """P-values that account for how many of them there are.

    Parameters
    ----------
    pvalues : array-like of shape (m,)
        P-values of m tests.
    method : {"holm", "benjamini-hochberg", "bonferroni"}
        "holm" (Holm 1979) bounds the probability of any false rejection, whatever the dependence,
        and always rejects at least as much as "bonferroni". "benjamini-hochberg" (1995, doi
        10.1111/j.2517-6161.1995.tb02031.x) bounds the expected share of false ones among the
        rejections, for independent or positively dependent tests.

    Returns
    -------
    array of shape (m,)
        Adjusted p-values, in the order given: reject where they are at most the level.

    Examples
    --------
    >>> adjust_pvalues([0.01, 0.04, 0.03]).round(4).tolist()  # 3 x .01, then 2 x .03, max
    [0.03, 0.06, 0.06]
    >>> adjust_pvalues([0.01, 0.04, 0.03], method="benjamini-hochberg").round(4).tolist()
    [0.03, 0.04, 0.04]
    """
    caller = "adjust_pvalues"
    check_option(caller, "method", method, _METHODS)
    p = float_array(pvalues, caller=caller, param="pvalues").astype(np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        hint = "pass one p-value per test."
        got = f"shape {p.shape}" if p.ndim != 1 else "values outside"
        raise invalid(caller, "pvalues", "a 1-d array of values in [0, 1]", got, hint=hint)
    m = len(p)
    order = np.argsort(p, kind="stable")
    ranked = p[order]
    if method == "bonferroni":
        adjusted = m * ranked
    elif method == "holm":
        adjusted = np.maximum.accumulate((m - np.arange(m)) * ranked)
    else:
        scaled = ranked * m / (1 + np.arange(m))
        adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    result = np.empty(m)
    result[order] = np.minimum(adjusted, 1.0)
    return result


_CALLER = "multiple_test"
_CORRECTIONS = ("max", "holm", "benjamini-hochberg", "bonferroni")


@dataclass(frozen=True)
class Family:
    """Observed statistics of m tests and their joint null sample, (n_resamples, m)."""

    over: str
    names: tuple[Any, ...]
    rows: tuple[int, ...]
    observed: FloatArray
    null: FloatArray
    lens: str


@answers_in_kind
def multiple_test(
    estimator: Measure,
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    over: Literal["classes", "bins", "groups"] | None = None,
    by: Any = None,
    correction: Literal["max", "holm", "benjamini-hochberg", "bonferroni"] = "max",
    lens: Any = None,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> MultipleTest:
    """Consistency tests of every class, bin or group, corrected for how many there are.

    Parameters
    ----------
    estimator : Estimator or callable
        Any calibration error, or a function as in :func:`consistency_test`; over bins a hard-binned
        error, of whose bins each is tested.
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    over : {"classes", "bins", "groups"}, optional
        Default "groups" if `by` is given, else "classes" for three or more classes and "bins" for
        two.
    by : array-like of shape (n,), column name or list of column names, optional
        Group of each row.
    correction : {"max", "holm", "benjamini-hochberg", "bonferroni"}, default "max"
        "max" compares each standardised statistic with the null distribution of the largest one
        (Westfall & Young 1993): like Holm it bounds the probability of any false rejection, but
        uses that the tests share their rows. The others are those of :func:`adjust_pvalues`.
    lens : lens, name or callable, optional
        Of the bins or groups; default as in :func:`consistency_test`.
    n_resamples : int, default 1000
        How many times outcomes are drawn.
    rng : int, Generator or None
        Seed; the same seed gives the same p-values.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

    Returns
    -------
    MultipleTest
        `print` it, or see `names`, `pvalues`, `adjusted` and `rejected(level)`.

    Notes
    -----
    All classes (bins) are read off the same drawn outcomes, so their dependence is kept; groups
    share no rows. A bin's statistic is the size of its gap in null standard deviations. Models
    on the same rows have different null hypotheses, of which at most one can be drawn from: to
    test several models, adjust their p-values with :func:`adjust_pvalues`.

    Examples
    --------
    >>> from veridical.binning import UniformBins
    >>> y, p = [0, 1] * 50 + [0] * 100, [0.5] * 200
    >>> test = multiple_test(BinnedError(UniformBins(1)), y, p, by=["a"] * 100 + ["b"] * 100,
    ...     rng=0)
    >>> test.names, test.statistics, test.rejected()
    (('a', 'b'), (0.0, 0.5), ('b',))
    """
    estimator = as_estimator(estimator, caller=_CALLER)
    check_option(_CALLER, "correction", correction, _CORRECTIONS)
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    raw = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, by=by, groups=groups
    )
    data = raw.weighted(sample_weight, weight_type).check(caller=_CALLER)
    question = over or _default(data.sample, by)
    check_option(_CALLER, "over", question, ("classes", "bins", "groups"))
    if (question == "groups") != (by is not None):
        hint = 'pass `by=` with one key per row, and over="groups" or nothing.'
        got = f"over={over!r} {'without' if by is None else 'with'} `by`"
        raise invalid(_CALLER, "by", "given for groups and for groups only", got, hint=hint)
    warn_of(data.notes, caller=_CALLER)
    return multiple_core(
        estimator,
        data.sample,
        over=question,
        parts=data.parts(caller=_CALLER),
        lens=lens,
        correction=correction,
        draws=draws,
    )


def multiple_core(
    estimator: Estimator,
    sample: Sample,
    *,
    over: str,
    draws: Draws,
    parts: list[tuple[Any, Sample]] | None = None,
    lens: Any = None,
    correction: str = "max",
) -> MultipleTest:
    """The tests of a checked sample; `parts` are the samples of its groups."""
    if over == "classes":
        family = _classes(estimator, sample, draws)
    elif over == "bins":
        family = _bins(estimator, sample, lens, draws)
    else:
        family = _groups(estimator, parts or [], sample, lens, draws)
    return corrected(estimator, family, correction)


def _default(sample: Sample, by: ArrayLike | None) -> str:
    if by is not None:
        return "groups"
    return "bins" if isinstance(sample, BinarySample) else "classes"


def _classes(estimator: Estimator, sample: Sample, draws: Draws) -> Family:
    problem = ClasswiseProblem(as_multiclass(sample))
    each = [estimator.measure(problem.problem(k)) for k in range(problem.n_problems)]
    observed = np.array(each)
    if isinstance(estimator, BinnedError) and depends_on_fixed_sums(estimator):
        null = _class_errors(estimator, problem, draws)
    else:
        title = f"null of {estimator.name} by class"
        null = np.array(
            [
                [estimator.measure(resampled.problem(k)) for k in range(len(observed))]
                for resampled in _redrawn_classes(problem, draws, title)
            ]
        )
    rows = (sample.n,) * len(observed)
    return Family("class", problem.sample.classes, rows, observed, null, "one-vs-rest")


def _redrawn_classes(
    problem: ClasswiseProblem, draws: Draws, title: str
) -> Iterator[ClasswiseProblem]:
    """The same rows with outcomes that were drawn."""
    redraw = redraw_of(problem.sample)
    if redraw is not None:
        draws = most_draws(draws, redraw.n)
        for sample in drawn_samples(redraw, problem.sample, draws, title):
            yield ClasswiseProblem(sample)  # type: ignore[arg-type]
        return
    outcomes = OutcomeDraws(problem.sample)
    for _ in track(draws.n_resamples, title):
        yield ClasswiseProblem(outcomes.resample(draws.rng))  # type: ignore[arg-type]


def _class_errors(estimator: BinnedError, problem: ClasswiseProblem, draws: Draws) -> FloatArray:
    summary = estimator.summarise(problem)
    assert isinstance(summary, Summary)
    title = f"null of {estimator.name} by class"
    drawn = summaries_of_classes(problem, summary, draws, title)
    return np.vstack([estimator.each(some).reshape(-1, len(summary.names)) for _, some in drawn])


def _bins(estimator: Estimator, sample: Sample, lens: Any, draws: Draws) -> Family:
    chosen = resolve_lens(lens, sample, caller=_CALLER)
    problem = chosen.induce(sample)
    if not (isinstance(estimator, BinnedError) and depends_on_fixed_sums(estimator)):
        hint = "use `BinnedError()` with equal-width, equal-mass or given bins."
        expected = "a hard-binned error with bins that outcomes do not move"
        raise invalid(_CALLER, "estimator", expected, estimator.name, hint=hint)
    if not isinstance(problem, BinarySample):
        hint = 'use lens="confidence" or `ClassSpecific(label)`.'
        got = f"the {chosen.name} lens"
        raise invalid(_CALLER, "lens", "one that induces one binary problem", got, hint=hint)
    summary = estimator.summarise(problem)
    assert isinstance(summary, Summary)
    held = summary.occupied[0]
    drawn = null_summaries(problem, summary, draws)
    predicted, weight = summary.mean_p[0, held], summary.sum_w[0, held]
    null = np.abs(drawn.sum_wy[:, held] / weight - predicted)
    spread = np.sqrt(np.mean(null**2, axis=0))
    spread[spread == 0] = 1.0  # outcomes that are certain have no noise
    observed = np.abs(summary.mean_y[0, held] - predicted)
    edges = summary.partitions[0].edges
    at = np.flatnonzero(held)
    names = tuple(f"{edges[b]:.4g} to {edges[b + 1]:.4g}" for b in at)
    rows = tuple(int(c) for c in summary.count[0, held])
    return Family("bin", names, rows, observed / spread, null / spread, chosen.name)


def _groups(
    estimator: Estimator,
    parts: list[tuple[Any, Sample]],
    sample: Sample,
    lens: Any,
    draws: Draws,
) -> Family:
    chosen = resolve_lens(lens, sample, caller=_CALLER, whole=estimator.whole)
    observed, columns = [], []
    for _, part in parts:
        problem = chosen.induce(part)
        observed.append(estimator.measure(problem))
        columns.append(null_sample(estimator, problem, draws))
    rows = tuple(part.n for _, part in parts)
    names = tuple(key for key, _ in parts)
    null = np.column_stack(columns)
    return Family("group", names, rows, np.array(observed), null, chosen.name)


def corrected(estimator: Estimator, family: Family, correction: str) -> MultipleTest:
    """P-values of a family of tests, and what their number makes of them."""
    pairs = zip(family.observed, family.null.T, strict=True)
    pvalues = np.array([monte_carlo_pvalue(float(value), null) for value, null in pairs])
    if correction == "max":
        # The real outcomes are standardised like the drawn ones, all together: for few draws too
        # they are then one of a kind.
        everything = np.vstack([family.null, family.observed])
        mean, spread = everything.mean(axis=0), everything.std(axis=0)
        spread[spread == 0] = 1.0
        largest = ((family.null - mean) / spread).max(axis=1)
        scaled = (family.observed - mean) / spread
        each = np.array([monte_carlo_pvalue(float(value), largest) for value in scaled])
        adjusted = np.maximum(each, pvalues)
    else:
        adjusted = adjust_pvalues(pvalues, method=correction)  # type: ignore[arg-type]
    return MultipleTest(
        over=family.over,
        names=family.names,
        n_samples=family.rows,
        statistics=tuple(family.observed.tolist()),
        pvalues=tuple(pvalues.tolist()),
        adjusted=tuple(adjusted.tolist()),
        correction=correction,
        method=f"consistency test of {estimator.name}",
        definition=estimator.definition,
        lens=family.lens,
        n_resamples=len(family.null),
    )
