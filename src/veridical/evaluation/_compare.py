"""Several models on the same rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from veridical._core.randomness import check_resamples, check_rng
from veridical._core.sample import MulticlassSample
from veridical._core.typing import ArrayLike, IntArray, WeightType
from veridical._core.validation import check_level, kept_rows
from veridical.binning import UniformBins
from veridical.evaluation._default import default_error
from veridical.evaluation._measure import evaluate_sample
from veridical.exceptions import InvalidInputError, VeridicalWarning, invalid
from veridical.inference import (
    adjust_pvalues,
    check_groups,
    consistency_of,
    difference_of,
)
from veridical.lenses import Binary, Canonical, Confidence, Induced, induce_problem
from veridical.miscalibration import BinnedError, BrierScore, Estimator, LogScore, ZeroOneLoss
from veridical.results import Comparison, ConsistencyTest, Difference, ModelDifference

_CALLER = "compare"


def compare(
    predictions: Mapping[str, ArrayLike],
    y_true: ArrayLike,
    *,
    reference: str | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    n_bins: Any = 15,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
) -> Comparison:
    """Compare models by their predictions for the same rows.

    Parameters
    ----------
    predictions : mapping of str to array-like
        Predictions of each model, of shape (n,), (n, 1) or (n, K).
    y_true, labels, pos_label, sample_weight
        As in :func:`brier_score`.
    reference : str, optional
        Compare every other model with this one; default every pair.
    lens : lens, name or callable, optional
        Of the calibration errors; default the binary lens for two classes, confidence for more.
    n_bins : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    groups : array-like of shape (n,), optional
        Cluster of each row, for the intervals of the differences.
    confidence_level : float, default 0.95
        Of all intervals.
    n_resamples : int, default 1000
        Draws for null levels and consistency tests.
    rng : int, Generator or None
        Seed of those draws. None is a fixed seed here: the same data give the same comparison.

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
    seed = 0 if rng is None else rng
    models = _check_models(predictions, reference)

    def seen(name: str) -> Induced:
        try:
            return induce_problem(
                y_true,
                predictions[name],
                caller=_CALLER,
                lens=lens,
                labels=labels,
                pos_label=pos_label,
                sample_weight=sample_weight,
                weight_type=weight_type,
            )
        except InvalidInputError as error:
            msg = f"{error}\nModel: {name!r}."
            raise InvalidInputError(msg) from error

    induced = {name: seen(name) for name in models}
    _check_alike(induced)
    generator = check_rng(seed, caller=_CALLER)
    first = induced[models[0]]
    clusters = check_groups(groups, kept_rows(sample_weight, first.sample), caller=_CALLER)
    evaluations = tuple(
        evaluate_sample(
            each.sample,
            each.lens,
            n_bins=n_bins,
            confidence_level=level,
            n_resamples=count,
            rng=seed,
        )
        for each in induced.values()
    )
    tests = tuple(
        consistency_of(default_error(each.problem, n_bins), each, count, generator)
        for each in induced.values()
    )
    notes = [
        f"{name}: {note}"
        for name, evaluation in zip(models, evaluations, strict=True)
        for note in evaluation.notes
    ]
    notes += _rank_notes(models, tests)
    figures = _figures(n_bins, evaluations, notes)
    differences = tuple(
        difference
        for estimator in figures
        for difference in _differences(estimator, induced, reference, clusters, level)
    )
    for note in notes:
        warnings.warn(f"{_CALLER}: {note}.", VeridicalWarning, stacklevel=2)
    return Comparison(
        models=models,
        evaluations=evaluations,
        tests=tests,
        differences=differences,
        lens=first.lens.name,
        n_samples=first.sample.n,
        confidence_level=level,
        notes=tuple(notes),
    )


def _check_models(predictions: Any, reference: str | None) -> tuple[str, ...]:
    if not isinstance(predictions, Mapping) or len(predictions) < 2:
        hint = 'pass `{"name": y_prob, ...}` with two models or more, then `y_true`.'
        got = type(predictions).__name__
        if isinstance(predictions, Mapping):
            got = f"{len(predictions)} of them"
        raise invalid(_CALLER, "predictions", "a mapping of models", got, hint=hint)
    if not all(isinstance(name, str) for name in predictions):
        hint = "name each model by a string."
        raise invalid(_CALLER, "predictions", "named by strings", "other keys", hint=hint)
    if reference is not None and reference not in predictions:
        hint = f"the models are {', '.join(map(repr, predictions))}."
        raise invalid(_CALLER, "reference", "one of the models", repr(reference), hint=hint)
    return tuple(predictions)


def _check_alike(induced: Mapping[str, Induced]) -> None:
    classes = {name: each.sample.classes for name, each in induced.items()}
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


def _differences(
    estimator: Estimator,
    induced: Mapping[str, Induced],
    reference: str | None,
    clusters: IntArray | None,
    level: float,
) -> Iterator[ModelDifference]:
    pairs = list(combinations(induced, 2))
    if reference is not None:
        pairs = [(name, reference) for name in induced if name != reference]
    found = [_difference(estimator, (induced[a], induced[b]), clusters, level) for a, b in pairs]
    adjusted = adjust_pvalues([d.pvalue for d in found])
    for (a, b), difference, pvalue in zip(pairs, found, adjusted, strict=True):
        yield ModelDifference(first=a, second=b, difference=difference, adjusted=float(pvalue))


def _difference(
    estimator: Estimator,
    pair: tuple[Induced, Induced],
    clusters: IntArray | None,
    level: float,
) -> Difference:
    if isinstance(estimator, BinnedError):
        pair = (_through_binary(pair[0]), _through_binary(pair[1]))
    else:  # scores are those of the whole prediction, whatever the lens
        pair = (_whole(pair[0]), _whole(pair[1]))
    return difference_of(estimator, pair, clusters, "analytic", level, 1, np.random.default_rng(0))


def _through_binary(seen: Induced) -> Induced:
    """The lens's own problem, or the confidence where it induces whole vectors."""
    if not isinstance(seen.problem, MulticlassSample):
        return seen
    confidence = Confidence()
    return Induced(seen.sample, confidence, confidence.induce(seen.sample))


def _whole(seen: Induced) -> Induced:
    chosen = Binary() if len(seen.sample.classes) == 2 else Canonical()
    return Induced(seen.sample, chosen, chosen.induce(seen.sample))


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
