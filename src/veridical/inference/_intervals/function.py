"""Intervals of figures that are known only by calling them: rows drawn with replacement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from veridical._core.numeric.order import value_order
from veridical._core.resampling.rows import counts_rows, repeated_rows, take_repeated
from veridical._core.runtime.progress import track
from veridical._core.sample import Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.inference._intervals.mean import IntervalOptions, MeanInterval
from veridical.lenses import ClasswiseProblem, Problem
from veridical.miscalibration import Estimator, FunctionMeasure

# A bias of less than a quarter of the standard error hardly moves the coverage of an interval
# (Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 10.3).
_NO_MATTER = 0.25


def method_for(estimator: Estimator, method: str, *, caller: str) -> str:
    """What "auto" is for this estimator; of a function only resamples can be had."""
    if not isinstance(estimator, FunctionMeasure):
        return method
    if method in ("analytic", "bca"):
        hint = "nothing is known about a function but what it returns: leave `method` out."
        expected = '"auto", "percentile" or "basic" for a function'
        raise invalid(caller, "method", expected, repr(method), hint=hint)
    return "percentile" if method == "auto" else method


def resampled_interval(
    estimator: Estimator,
    problems: tuple[Problem, ...],
    options: IntervalOptions,
    *,
    groups: IntArray | None = None,
    strata: IntArray | None = None,
    caller: str,
) -> tuple[MeanInterval, tuple[str, ...]]:
    """Interval of a figure, or of the first minus the second of two on the same rows.

    Rows (or clusters, or the rows of each stratum) are drawn with replacement and measured anew. A
    row of a whole frequency is so many rows. The p-value is twice the smaller share of resamples on
    either side of zero, the real rows counted as one of them. Notes say if resamples are biased.
    """
    assert options.n_resamples is not None
    assert options.rng is not None
    estimate = _difference([estimator.measure(problem) for problem in problems])
    sample = _sample_of(problems[0])
    rows = repeated_rows(sample)
    if rows is not None:
        problems = tuple(_take(problem, rows, alone=True) for problem in problems)
        groups = None if groups is None else groups[rows]
        strata = None if strata is None else strata[rows]
        sample = _sample_of(problems[0])
    counted = sample.weight is not None and counts_rows(sample)  # too many rows to write out
    draw = _count_draws(sample, strata) if counted else _row_draws(sample, groups, strata, caller)
    values = np.empty(options.n_resamples)
    for index in track(options.n_resamples, f"bootstrap of {estimator.name}"):
        drawn = draw(options.rng)
        taken = [_weighted(p, drawn) if counted else _take(p, drawn) for p in problems]
        values[index] = _difference([estimator.measure(problem) for problem in taken])
    tails = [(1 - options.level) / 2, (1 + options.level) / 2]
    low, high = (float(limit) for limit in np.quantile(values, tails))
    if options.method == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    below, above = int((values <= 0).sum()), int((values >= 0).sum())
    pvalue = min(1.0, 2 * (1 + min(below, above)) / (1 + len(values)))
    return MeanInterval(estimate, low, high, pvalue), _doubts(estimate, values)


def _difference(values: list[float]) -> float:
    return values[0] if len(values) == 1 else values[0] - values[1]


def _doubts(estimate: float, values: FloatArray) -> tuple[str, ...]:
    bias, spread = float(values.mean()) - estimate, float(values.std())
    if abs(bias) <= (_NO_MATTER + 2 / math.sqrt(len(values))) * spread:  # beyond its own noise
        return ()
    side = "larger" if bias > 0 else "smaller"
    return (
        f"resamples read {abs(bias):.3g} {side} than the rows themselves (standard error"
        f" {spread:.3g}), as errors do that noise makes {side}: these limits may not hold",
    )


def _sample_of(problem: Problem) -> Sample:
    return problem.sample if isinstance(problem, ClasswiseProblem) else problem


def _take(problem: Problem, rows: IntArray, *, alone: bool = False) -> Problem:
    """Some rows of a problem; `alone`, each counts once."""
    if isinstance(problem, ClasswiseProblem):
        several = problem.sample
        return ClasswiseProblem(take_repeated(several, rows) if alone else several.take(rows))
    return take_repeated(problem, rows) if alone else problem.take(rows)


def _weighted(problem: Problem, counts: IntArray) -> Problem:
    """The rows of a problem that were drawn, each with the number of its copies as its weight."""
    rows = np.flatnonzero(counts)
    taken, weight = _take(problem, rows), counts[rows].astype(np.float64)
    if isinstance(taken, ClasswiseProblem):
        return ClasswiseProblem(replace(taken.sample, weight=weight))
    return replace(taken, weight=weight)


def _count_draws(
    sample: Sample, strata: IntArray | None
) -> Callable[[np.random.Generator], IntArray]:
    """A function that draws how often each row of a whole frequency is in a resample."""
    assert sample.weight is not None
    weight = sample.weight
    keys = np.zeros(sample.n, dtype=np.intp) if strata is None else strata
    order = value_order(sample.p, sample.y, weight)
    order = order[np.argsort(keys[order], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)

    def counts(rng: np.random.Generator) -> IntArray:
        drawn: IntArray = np.zeros(sample.n, dtype=np.int64)
        for part in parts:
            size = weight[part].sum()
            drawn[part] = rng.multinomial(round(float(size)), weight[part] / size)
        return drawn

    return counts


def _row_draws(
    sample: Sample, groups: IntArray | None, strata: IntArray | None, caller: str
) -> Callable[[np.random.Generator], IntArray]:
    """A function that draws rows with replacement; their order in the sample does not matter."""
    if groups is not None and len(groups) != sample.n:
        hint, got = "use a lens that keeps the rows.", f"{sample.n} rows from {len(groups)}"
        raise invalid(caller, "lens", "one row for one row", got, hint=hint)
    order = value_order(sample.p, sample.y, sample.weight)
    keys = np.zeros(sample.n, dtype=np.intp) if strata is None else strata
    keys = keys if groups is None else groups
    order = order[np.argsort(keys[order], kind="stable")]
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    parts = np.split(order, starts[1:])

    def clusters(rng: np.random.Generator) -> IntArray:
        return np.concatenate([parts[i] for i in rng.integers(len(parts), size=len(parts))])

    def rows(rng: np.random.Generator) -> IntArray:
        return np.concatenate([part[rng.integers(len(part), size=len(part))] for part in parts])

    return rows if groups is None else clusters
