"""Null levels by consistency resampling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.progress import track
from veridical._core.randomness import check_resamples, check_rng
from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import ArrayLike, FloatArray, IntArray, WeightType
from veridical.binning import EdgeBins, QuantileBins, UniformBins
from veridical.exceptions import invalid
from veridical.inference._null_sums import null_summaries
from veridical.lenses import ClasswiseProblem, Induced, Problem, induce_problem
from veridical.miscalibration import BinnedError, Estimator
from veridical.results import NullLevel
from veridical.summaries import Summary


def null_level(
    estimator: Estimator,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    lens: Any = None,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> NullLevel:
    """What an estimator reads on a perfectly calibrated model with these same predictions.

    Parameters
    ----------
    estimator : Estimator
        Any calibration error or mean score, e.g. ``BinnedError()``.
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.
    lens : lens, name or callable, optional
        Default the binary lens for two classes, confidence for more.
    n_resamples : int, default 1000
        How many times outcomes are drawn.
    rng : int, Generator or None
        Seed; the same seed gives the same numbers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Returns
    -------
    NullLevel
        With `mean`, `std`, `quantile(q)` and `standardised`; an estimate above the 95 % quantile
        is one that a calibrated model would seldom show.

    Notes
    -----
    Consistency resampling (Bröcker & Smith 2007; 002 section 4.2) with predictions held fixed:
    outcomes are drawn from the predictions and the estimate is taken anew. For hard-binned errors
    of a binary problem the sums by bin are drawn directly, so the cost hardly depends on the
    number of resamples; other estimators are called once per resample.

    Examples
    --------
    >>> from veridical.binning import UniformBins
    >>> level = null_level(BinnedError(UniformBins(1)), [1, 0], [0.5, 0.5], rng=0)
    >>> level.estimate, sorted(set(level.sample.tolist()))  # no, one or two successes of two
    (0.0, [0.0, 0.5])
    """
    caller = "null_level"
    check_estimator(estimator, caller=caller)
    generator = check_rng(rng, caller=caller)
    count = check_resamples(n_resamples, caller=caller)
    induced = induce_problem(
        y_true,
        y_prob,
        caller=caller,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
    return level_of(estimator, induced, count, generator)


def level_of(
    estimator: Estimator, induced: Induced, n_resamples: int, rng: np.random.Generator
) -> NullLevel:
    """Null level of an estimator on checked data."""
    null = np.sort(null_sample(estimator, induced.problem, n_resamples, rng))
    return NullLevel(
        mean=float(null.mean()),
        std=float(null.std()),
        sample=null,
        estimate=estimator.measure(induced.problem),
        estimator=estimator.name,
        definition=estimator.definition,
        lens=induced.lens.name,
        n_samples=induced.sample.n,
        n_resamples=n_resamples,
    )


def null_sample(
    estimator: Estimator, problem: Problem, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Estimates on outcomes drawn from the predictions."""
    if isinstance(problem, BinarySample) and isinstance(estimator, BinnedError):
        summary = estimator.summarise(problem)
        if isinstance(summary, Summary) and depends_on_fixed_sums(estimator):
            return estimator.each(null_summaries(problem, summary, n_resamples, rng))
    values = np.empty(n_resamples)
    draw = _Redraw(problem)
    for index in track(n_resamples, f"null level of {estimator.name}"):
        values[index] = estimator.measure(draw(rng))
    return values


def check_estimator(estimator: Any, *, caller: str) -> None:
    """Raise unless `estimator` is an estimator object."""
    if not isinstance(estimator, Estimator):
        hint = "pass an estimator object, e.g. `BinnedError()`, not a function or its value."
        raise invalid(caller, "estimator", "an estimator", repr(estimator), hint=hint)


def depends_on_fixed_sums(estimator: BinnedError) -> bool:
    """Whether only the sums of outcomes by bin change when outcomes are redrawn."""
    binning = estimator.binning
    fixed = isinstance(binning, (UniformBins, QuantileBins, EdgeBins))
    by_outcome = getattr(binning, "n", None) == "cv"
    return fixed and not by_outcome and estimator.assignment == "hard" and estimator.region is None


class _Redraw:
    """Draws outcomes from the predictions of a problem, independently of the order of its rows."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
        self._order = _row_order(sample)
        if isinstance(sample, MulticlassSample):
            self._cumulated = np.cumsum(sample.p[self._order], axis=1, dtype=np.float64)
            self._cumulated /= self._cumulated[:, -1:]

    def __call__(self, rng: np.random.Generator) -> Problem:
        problem = self._problem
        if isinstance(problem, ClasswiseProblem):
            return ClasswiseProblem(self._redrawn(problem.sample, rng))
        if isinstance(problem, MulticlassSample):
            return self._redrawn(problem, rng)
        y = np.empty(problem.n, dtype=np.uint8)
        y[self._order] = rng.random(problem.n) < problem.p[self._order]
        return replace(problem, y=y)

    def _redrawn(self, sample: MulticlassSample, rng: np.random.Generator) -> MulticlassSample:
        uniform = rng.random(sample.n)[:, None]
        y = np.empty(sample.n, dtype=np.intp)
        y[self._order] = (uniform >= self._cumulated[:, :-1]).sum(axis=1)
        return replace(sample, y=y, confidence=None, right=None)


def _row_order(sample: BinarySample | MulticlassSample) -> IntArray:
    """Rows in an order that only their predictions and weights decide."""
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    if sample.p.ndim == 1:
        return np.lexsort((weight, sample.p))
    return np.lexsort((weight, *sample.p.T))
