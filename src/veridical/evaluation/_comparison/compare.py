"""Several models on the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from veridical._core.data.labels import check_text
from veridical._core.data.randomness import Draws, check_resamples, check_seed
from veridical._core.data.reading import Missing, Reading, Scale
from veridical._core.data.validation import check_level
from veridical._core.typing import ArrayLike, WeightType
from veridical.binning import UniformBins
from veridical.evaluation._comparison.models import RowModels, read_models
from veridical.evaluation._comparison.pushed import SumModels
from veridical.evaluation._data.read import DataRequest
from veridical.evaluation._data.sums import notes_on_origin
from veridical.evaluation._figures.measure import evaluate_source
from veridical.exceptions import invalid, warn_of
from veridical.inference import adjust_pvalues
from veridical.inference.core import as_estimator
from veridical.lenses.reading import RawData
from veridical.miscalibration import BinnedError, BrierScore, Estimator, LogScore, ZeroOneLoss
from veridical.results import Comparison, ConsistencyTest, Difference, ModelDifference
from veridical.results.library import answers_in_kind

_CALLER = "compare"


@answers_in_kind
def compare(
    predictions: Mapping[str, Any],
    y_true: Any,
    *,
    y: str | None = None,
    reference: str | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    n_bins: Any = 15,
    measures: Sequence[Any] = (),
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
    scale: Scale = "probability",
    missing: Missing = "error",
    normalize: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    engine: Literal["auto", "memory", "pushdown"] = "auto",
) -> Comparison:
    """Compare models by their predictions for the same rows.

    Parameters
    ----------
    predictions : mapping of str to array-like, column name or list of column names
        Predictions of each model, of shape (n,), (n, 1) or (n, K); or the columns of a frame that
        hold them.
    y_true : array-like, frame or path
        Labels; or the frame, query or file of the columns. Summaries are not taken: sums of one
        model do not say how its rows go with those of another.
    y : str, optional
        Column of the labels; guessed when unambiguous.
    labels, pos_label, sample_weight
        As in :func:`evaluate`; weights of a frame by the name of their column.
    reference : str, optional
        Compare every other model with this one; default every pair.
    lens : lens, name or callable, optional
        Of the calibration errors; default the binary lens for two classes, confidence for more.
    n_bins : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins.
    measures : sequence of callables and estimators, optional
        What else to compare: functions ``(y_true, y_prob) -> float`` (see `FunctionMeasure`;
        percentile intervals by bootstrap), mean scores, or `BinnedError(norm=2)`.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    groups : array-like of shape (n,) or column name, optional
        Cluster of each row, for the intervals of the differences.
    scale, missing, normalize
        How values are read, as in :func:`evaluate`. A row that lacks the prediction of any model is
        dropped for all of them.
    confidence_level : float, default 0.95
        Of all intervals.
    n_resamples : int, default 1000
        Draws for null levels and consistency tests.
    rng : int, Generator or None
        Seed of those draws. None is a fixed seed here: the same data give the same comparison.
    engine : {"auto", "memory", "pushdown"}, default "auto"
        As in :func:`evaluate`. Models of two classes, seen through the binary lens and without
        clusters, are compared by sums of their engine (one scan a model and one a pair), with the
        same differences; limits of scores are then normal ones, which take many rows to hold.
        Anything else reads the rows.

    Returns
    -------
    Comparison
        `print` it. Holds each model's `Evaluation`, its consistency test (is its calibration
        error more than a calibrated model would show?) and the paired differences of the Brier,
        log and zero-one scores and of the squared calibration error (the reliability part of the
        Brier score, debiased), with intervals, p-values and p-values adjusted for the number of
        pairs (Holm).

    Notes
    -----
    Raw calibration errors of different models do not compare: each has a null level of its own.
    Where the larger error is within what a calibrated model would show and the smaller one is
    not, a warning says so (002 section 4.3).

    Examples
    --------
    >>> y = [0, 0, 1, 1] * 25
    >>> models = {"sharp": [0.0, 0.2, 0.8, 1.0] * 25, "dull": [0.4, 0.4, 0.6, 0.6] * 25}
    >>> c = compare(models, y, n_bins=2)
    >>> d = c.difference("sharp", "dull", "brier")  # 0.02 - 0.16
    >>> round(d.estimate, 4), d.pvalue < 0.001
    (-0.14, True)
    """
    level = check_level(_CALLER, confidence_level)
    count = check_resamples(n_resamples, caller=_CALLER)
    _check_models(predictions, reference)
    own = _check_measures(measures)
    if own and engine != "memory":
        if engine == "pushdown":
            hint = 'use engine="memory".'
            got = '"pushdown" with `measures`'
            raise invalid(_CALLER, "engine", '"auto" or "memory" here', got, hint=hint)
        engine = "memory"
    reading = Reading(scale, missing, normalize).checked(caller=_CALLER)
    data = RawData(y_true, y=y, labels=labels, pos_label=pos_label, groups=groups, reading=reading)
    data = data.weighted(sample_weight, weight_type)
    request = DataRequest(data, lens=lens, n_bins=n_bins, caller=_CALLER)
    models = read_models(predictions, request, engine=engine)
    found = compare_models(
        models,
        reference=reference,
        n_bins=n_bins,
        confidence_level=level,
        n_resamples=count,
        rng=0 if rng is None else rng,
        measures=own,
    )
    warn_of(found.notes, caller=_CALLER)
    first = next(iter(models.sources.values()))
    return replace(found, notes=(*notes_on_origin(first, n_bins, "models"), *found.notes))


def compare_models(
    models: RowModels | SumModels,
    *,
    reference: str | None,
    n_bins: Any,
    confidence_level: float,
    n_resamples: int,
    rng: Any,
    measures: Sequence[Estimator] = (),
) -> Comparison:
    """Compare models that were read; doubts are in the notes."""
    names, sources = tuple(models.sources), list(models.sources.values())
    _check_alike({name: source.classes for name, source in models.sources.items()})
    seed = check_seed(rng, caller=_CALLER)  # draws of all models start alike
    options = {
        "n_bins": n_bins,
        "confidence_level": confidence_level,
        "n_resamples": n_resamples,
        "rng": seed,
    }
    evaluations = tuple(evaluate_source(source, **options) for source in sources)
    tests = models.tests(n_bins, n_resamples, seed)
    notes = [
        f"{name}: {note}"
        for name, evaluation in zip(names, evaluations, strict=True)
        for note in evaluation.notes
    ]
    notes += _rank_notes(names, tests)
    figures = _figures(n_bins, evaluations, notes)
    pairs = list(combinations(names, 2))
    if reference is not None:
        pairs = [(name, reference) for name in names if name != reference]
    found = models.differences(figures, pairs, confidence_level)
    if measures:
        assert isinstance(models, RowModels)
        draws = Draws(n_resamples, np.random.default_rng(seed))
        for pair, differences in zip(pairs, found, strict=True):
            more, doubts = models.measured(measures, *pair, confidence_level, draws)
            differences += more
            notes += doubts
    return Comparison(
        models=names,
        evaluations=evaluations,
        tests=tests,
        differences=_adjusted(pairs, found),
        lens=sources[0].lens.name,
        n_samples=sources[0].n,
        confidence_level=confidence_level,
        notes=tuple(notes),
    )


def _check_models(predictions: Any, reference: str | None) -> None:
    if not isinstance(predictions, Mapping) or len(predictions) < 2:
        hint = 'pass `{"name": y_prob, ...}` with two models or more, then `y_true`.'
        got = type(predictions).__name__
        if isinstance(predictions, Mapping):
            got = f"{len(predictions)} of them"
        raise invalid(_CALLER, "predictions", "a mapping of models", got, hint=hint)
    if not all(isinstance(name, str) for name in predictions):
        hint = "name each model by a string."
        raise invalid(_CALLER, "predictions", "named by strings", "other keys", hint=hint)
    check_text(predictions, caller=_CALLER, param="predictions")
    if reference is not None and reference not in predictions:
        hint = f"the models are {', '.join(map(repr, predictions))}."
        raise invalid(_CALLER, "reference", "one of the models", repr(reference), hint=hint)


def _check_measures(measures: Any) -> list[Estimator]:
    if callable(measures) or isinstance(measures, (str, Mapping)):
        hint = "pass a list: `measures=[...]`."
        raise invalid(_CALLER, "measures", "a list", type(measures).__name__, hint=hint)
    found = [as_estimator(measure, caller=_CALLER) for measure in measures]
    names = [measure.name for measure in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        hint = 'name them: `FunctionMeasure(function, name="...")`.'
        raise invalid(_CALLER, "measures", "of different names", f"{twice!r} twice", hint=hint)
    return found


def _check_alike(classes: Mapping[str, tuple[Any, ...]]) -> None:
    first = next(iter(classes))
    for name, found in classes.items():
        if found != classes[first]:
            hint = "pass predictions of the same classes, in the same order, for every model."
            got = f"{len(found)} classes of {name!r} for {len(classes[first])} of {first!r}"
            raise invalid(_CALLER, "predictions", "of the same classes", got, hint=hint)


def _figures(n_bins: Any, evaluations: Any, notes: list[str]) -> list[Estimator]:
    figures: list[Estimator] = [BrierScore(), LogScore(), ZeroOneLoss()]
    if any(math.isinf(evaluation.scores["log"]) for evaluation in evaluations):
        notes.append("an infinite log score has no difference: left out")
        figures.pop(1)
    # A number of bins chosen by cross-validation follows the outcomes, and has no interval.
    binning = UniformBins("sqrt" if n_bins == "cv" else n_bins)
    return [*figures, BinnedError(binning, norm=2)]


def _adjusted(
    pairs: Sequence[tuple[str, str]], found: Sequence[Sequence[Difference]]
) -> tuple[ModelDifference, ...]:
    """Differences of every figure between every pair, adjusted for the number of pairs."""
    differences = []
    for of_figure in zip(*found, strict=True):
        adjusted = adjust_pvalues([d.pvalue for d in of_figure])
        for (a, b), difference, pvalue in zip(pairs, of_figure, adjusted, strict=True):
            differences.append(
                ModelDifference(first=a, second=b, difference=difference, adjusted=float(pvalue))
            )
    return tuple(differences)


def _rank_notes(models: tuple[str, ...], tests: tuple[ConsistencyTest, ...]) -> list[str]:
    """Say where the larger error is noise and the smaller one is not (002 section 4.3)."""
    notes = []
    for (a, one), (b, two) in combinations(zip(models, tests, strict=True), 2):
        for (large, more), (small, less) in (((a, one), (b, two)), ((b, two), (a, one))):
            if more.statistic > less.statistic and more.pvalue > 0.05 >= less.pvalue:
                notes.append(
                    f"{more.null_level.estimator} of {large!r} ({more.statistic:.4f}) is larger"
                    f" than that of {small!r} ({less.statistic:.4f}), but only the latter is more"
                    " than a calibrated model would show"
                )
    return notes
