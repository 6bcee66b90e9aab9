"""Null levels by consistency resampling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from veridical._core.data.randomness import Draws, check_draws
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import Redraw, drawn_samples, most_draws
from veridical._core.resampling.rows import OutcomeDraws, counts_rows
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, WeightType
from veridical.binning import EdgeBins, QuantileBins, SimplexBinning, UniformBins
from veridical.exceptions import invalid, warn_of
from veridical.inference._draws.sums import (
    ClassCells,
    null_summaries,
    null_vector_sums,
    resamples_at_once,
)
from veridical.inference._nulls.cells import cell_null
from veridical.lenses import ClasswiseProblem, Problem
from veridical.lenses.reading import Induced, RawData
from veridical.miscalibration import BinnedError, Estimator, FunctionMeasure
from veridical.miscalibration.core import CellEstimator
from veridical.results import NullLevel
from veridical.results.library import answers_in_kind
from veridical.summaries import Summary, VectorSummary

Measure = Estimator | Callable[..., float]


@answers_in_kind
def null_level(
    estimator: Measure,
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> NullLevel:
    """What an estimator reads on a perfectly calibrated model with these same predictions.

    Parameters
    ----------
    estimator : Estimator or callable
        Any calibration error or mean score, e.g. ``BinnedError()``; or a function
        ``(y_true, y_prob) -> float``, see `FunctionMeasure`.
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Default the binary lens for two classes; for more the confidence, of a score or a function
        the whole prediction.
    n_resamples : int, default 1000
        How many times outcomes are drawn.
    rng : int, Generator or None
        Seed; the same seed gives the same numbers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

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
    number of resamples; for those of several classes outcomes are drawn, but rows are not binned
    again; other estimators are called once per resample. A row of integer weight w with
    `weight_type="frequency"` is w rows with outcomes of their own; any other weighted row has one.

    Examples
    --------
    >>> from veridical.binning import UniformBins
    >>> level = null_level(BinnedError(UniformBins(1)), [1, 0], [0.5, 0.5], rng=0)
    >>> level.estimate, sorted(set(level.sample.tolist()))  # no, one or two successes of two
    (0.0, [0.0, 0.5])
    """
    caller = "null_level"
    estimator = as_estimator(estimator, caller=caller)
    draws = check_draws(n_resamples, rng, caller=caller)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(
        lens, caller=caller, whole=estimator.whole
    )
    warn_of(induced.notes, caller=caller)
    null = null_sample(estimator, induced.problem, draws)
    return level_from(estimator, induced, null)


def level_from(estimator: Estimator, induced: Induced, null: FloatArray) -> NullLevel:
    """Null level of an estimator from its null sample."""
    null = np.sort(null)
    return NullLevel(
        mean=float(null.mean()),
        std=float(null.std()),
        sample=null,
        estimate=estimator.measure(induced.problem),
        estimator=estimator.name,
        definition=estimator.definition,
        lens=induced.lens.name,
        n_samples=induced.sample.n,
        n_resamples=len(null),
    )


def null_sample(
    estimator: Estimator,
    problem: Problem,
    draws: Draws,
    *,
    probabilities: FloatArray | None = None,
    fixed_bins: bool = False,
) -> FloatArray:
    """Estimates on outcomes drawn from the predictions, or from other `probabilities`.

    With `fixed_bins` the bins of a binned error stay as the real outcomes made them; else bins
    that depend on the outcomes are made anew.
    """
    binned = (
        estimator
        if isinstance(estimator, BinnedError) and (fixed_bins or depends_on_fixed_sums(estimator))
        else None
    )
    sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
    redraw = redraw_of(sample, probabilities)
    if redraw is not None:
        draws = most_draws(draws, redraw.n)
        if binned is None:
            return _of_redrawn(estimator, problem, redraw, draws)
    if binned is not None:
        return _from_sums(binned, problem, draws, probabilities)
    plain = probabilities is None and counts_rows(sample)
    if plain and isinstance(estimator, CellEstimator) and isinstance(problem, BinarySample):
        return cell_null(estimator, problem, draws)
    outcomes = OutcomeDraws(sample, probabilities)
    values = np.empty(draws.n_resamples)
    for index in track(draws.n_resamples, f"null level of {estimator.name}"):
        values[index] = estimator.measure(as_problem(outcomes.resample(draws.rng), problem))
    return values


def _of_redrawn(estimator: Estimator, problem: Problem, redraw: Redraw, draws: Draws) -> FloatArray:
    """Estimates on rows whose outcomes, and the weights these have, were drawn."""
    sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
    drawn = drawn_samples(redraw, sample, draws, f"null level of {estimator.name}")
    return np.array([estimator.measure(as_problem(each, problem)) for each in drawn])


def as_estimator(estimator: Any, *, caller: str) -> Estimator:
    """Return an estimator object, which a function becomes; raise for anything else."""
    if isinstance(estimator, Estimator):
        return estimator
    if callable(estimator) and not isinstance(estimator, type):
        return FunctionMeasure(estimator)
    hint = "pass an estimator object, e.g. `BinnedError()`, or a function of labels and scores."
    raise invalid(caller, "estimator", "an estimator or a function", repr(estimator), hint=hint)


def depends_on_fixed_sums(estimator: BinnedError) -> bool:
    """Whether only the sums of outcomes by bin change when outcomes are redrawn."""
    binning = estimator.binning
    fixed = isinstance(binning, (UniformBins, QuantileBins, EdgeBins, SimplexBinning))
    by_outcome = getattr(binning, "n", None) == "cv"
    return fixed and not by_outcome and estimator.assignment == "hard" and estimator.region is None


def as_problem(sample: Sample, problem: Problem) -> Problem:
    """Return the question of `problem` about other rows."""
    if isinstance(problem, ClasswiseProblem) and isinstance(sample, MulticlassSample):
        return ClasswiseProblem(sample)
    return sample


def _from_sums(
    estimator: BinnedError, problem: Problem, draws: Draws, probabilities: FloatArray | None
) -> FloatArray:
    summary, title = estimator.summarise(problem), f"null level of {estimator.name}"
    values = np.empty(draws.n_resamples)
    if isinstance(problem, MulticlassSample):
        assert isinstance(summary, VectorSummary)
        steps, first = track(draws.n_resamples, title), 0
        for sums in null_vector_sums(problem, summary, draws, probabilities):
            values[first : first + len(sums)] = estimator.each_vector(summary, sums)
            for _ in sums:
                next(steps)
            first += len(sums)
        return values
    assert isinstance(summary, Summary)
    if isinstance(problem, BinarySample):
        return estimator.each(null_summaries(problem, summary, draws, probabilities))
    for at, drawn in summaries_of_classes(problem, summary, draws, title, probabilities):
        values[at] = estimator.each(drawn, n_problems=len(summary.names))
    return values


def summaries_of_classes(
    problem: ClasswiseProblem,
    summary: Summary,
    draws: Draws,
    title: str,
    probabilities: FloatArray | None = None,
) -> Iterator[tuple[slice, Summary]]:
    """Summaries of drawn outcomes of all classes, some at a time, and which draws they are."""
    if redraw_of(problem.sample, probabilities) is not None:
        drawn = null_summaries(problem, summary, draws, probabilities)
        yield slice(0, len(drawn.names) // len(summary.names)), drawn
        return
    cells = ClassCells(problem.sample, summary, probabilities)
    step = min(resamples_at_once(summary), 50)  # often enough for a progress bar
    for block in track(-(-draws.n_resamples // step), title):
        at = slice(block * step, min((block + 1) * step, draws.n_resamples))
        some = Draws(at.stop - at.start, draws.rng)
        yield at, null_summaries(problem, summary, some, cells=cells)
