"""Several models on the same rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from veridical._core.data.randomness import check_resamples, check_rng
from veridical._core.data.validation import check_level, kept_rows
from veridical._core.sample import MulticlassSample
from veridical._core.typing import ArrayLike, IntArray, WeightType
from veridical.binning import UniformBins
from veridical.evaluation._battery.pushed import sums_battery
from veridical.evaluation._comparison.pushed import ComparisonRequest, Pairs
from veridical.evaluation._data.source import default_error
from veridical.evaluation._figures.measure import evaluate_sample
from veridical.evaluation._figures.pushed import about_sums, evaluate_pushed, notes_on_models
from veridical.exceptions import InvalidInputError, VeridicalWarning, invalid
from veridical.inference import adjust_pvalues, check_groups
from veridical.inference.core import IntervalOptions, consistency_core, difference_core
from veridical.lenses import Binary, Canonical, Confidence, Induced, induce_problem
from veridical.miscalibration import BinnedError, BrierScore, Estimator, LogScore, ZeroOneLoss
from veridical.results import Comparison, ConsistencyTest, Difference, Evaluation, ModelDifference

_CALLER = "compare"


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
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
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
        Labels; or the frame, query or file of the columns.
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
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    groups : array-like of shape (n,) or column name, optional
        Cluster of each row, for the intervals of the differences.
    confidence_level : float, default 0.95
        Of all intervals.
    n_resamples : int, default 1000
        Draws for null levels and consistency tests.
    rng : int, Generator or None
        Seed of those draws. None is a fixed seed here: the same data give the same comparison.
    engine : {"auto", "memory", "pushdown"}, default "auto"
        As in :func:`evaluate`. Models of two classes, seen through the binary lens and without
        clusters, are compared by sums of their engine (one scan a model and one a pair), with the
        same differences and intervals; anything else reads the rows.

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
    models = _check_models(predictions, reference)
    request = ComparisonRequest(
        predictions=predictions,
        y_true=y_true,
        y=y,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        n_bins=n_bins,
        sample_weight=sample_weight,
        weight_type=weight_type,
        groups=groups,
    )
    options = {
        "n_bins": n_bins,
        "confidence_level": level,
        "n_resamples": count,
        "rng": 0 if rng is None else rng,
    }
    pairs = request.pushed(engine, level)
    compared = _by_rows(request, options) if pairs is None else _by_sums(pairs, options)
    notes = [
        f"{name}: {note}"
        for name, evaluation in zip(models, compared.evaluations, strict=True)
        for note in evaluation.notes
    ]
    notes += _rank_notes(models, compared.tests)
    figures = _figures(n_bins, compared.evaluations, notes)
    differences = _differences(figures, models, reference, compared.differ)
    for note in notes:
        warnings.warn(f"{_CALLER}: {note}.", VeridicalWarning, stacklevel=2)
    return Comparison(
        models=models,
        evaluations=compared.evaluations,
        tests=compared.tests,
        differences=differences,
        lens=compared.lens,
        n_samples=compared.n_samples,
        confidence_level=level,
        notes=(*compared.said, *notes),
    )


@dataclass(frozen=True)
class _Compared:
    """What is known of the models one by one, and how to find what they differ by."""

    evaluations: tuple[Evaluation, ...]
    tests: tuple[ConsistencyTest, ...]
    lens: str
    n_samples: int
    differ: Callable[[Sequence[Estimator], str, str], list[Difference]]
    said: tuple[str, ...] = ()


def _by_rows(request: ComparisonRequest, options: dict[str, Any]) -> _Compared:
    """Compare rows in memory."""
    data = request.arrays()

    def seen(name: str) -> Induced:
        try:
            return induce_problem(
                data.y_true,
                data.predictions[name],
                caller=_CALLER,
                lens=request.lens,
                labels=data.labels,
                pos_label=request.pos_label,
                sample_weight=data.sample_weight,
                weight_type=request.weight_type,
            )
        except InvalidInputError as error:
            msg = f"{error}\nModel: {name!r}."
            raise InvalidInputError(msg) from error

    induced = {name: seen(name) for name in request.predictions}
    _check_alike({name: each.sample.classes for name, each in induced.items()})
    generator = check_rng(options["rng"], caller=_CALLER)
    first = next(iter(induced.values()))
    kept = kept_rows(data.sample_weight, first.sample)
    clusters = check_groups(data.groups, kept, caller=_CALLER)
    evaluations = tuple(
        evaluate_sample(each.sample, each.lens, **options) for each in induced.values()
    )
    tests = tuple(
        consistency_core(
            default_error(each.problem, options["n_bins"]),
            each,
            n_resamples=options["n_resamples"],
            rng=generator,
        )
        for each in induced.values()
    )

    def differ(figures: Sequence[Estimator], a: str, b: str) -> list[Difference]:
        pair, level = (induced[a], induced[b]), options["confidence_level"]
        return [_difference(estimator, pair, clusters, level) for estimator in figures]

    return _Compared(evaluations, tests, first.lens.name, first.sample.n, differ, tuple(data.said))


def _by_sums(pairs: Pairs, options: dict[str, Any]) -> _Compared:
    """Compare what engines made of the rows."""
    n_bins = options["n_bins"]
    evaluations = tuple(
        evaluate_pushed(each, caller=_CALLER, **options) for each in pairs.pushed.values()
    )
    seed = check_rng(options["rng"], caller=_CALLER).integers(2**63, size=len(evaluations))
    tests = []
    for each, own in zip(pairs.pushed.values(), seed.tolist(), strict=True):
        battery = sums_battery(
            each, n_bins=n_bins, level=0.05, n_resamples=options["n_resamples"], seed=own
        )
        test = battery.run("consistency")
        assert isinstance(test, ConsistencyTest)
        tests.append(test)
    first = next(iter(pairs.pushed.values()))
    said = about_sums(first, n_bins=n_bins, caller=_CALLER, of=notes_on_models)
    return _Compared(
        evaluations,
        tuple(tests),
        first.lens.name,
        first.grid.n_samples,
        pairs.differ,
        tuple(said),
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


def _differences(
    figures: Sequence[Estimator],
    models: tuple[str, ...],
    reference: str | None,
    differ: Callable[[Sequence[Estimator], str, str], list[Difference]],
) -> tuple[ModelDifference, ...]:
    """Differences of every figure between every pair, adjusted for the number of pairs."""
    pairs = list(combinations(models, 2))
    if reference is not None:
        pairs = [(name, reference) for name in models if name != reference]
    found = [differ(figures, a, b) for a, b in pairs]
    differences = []
    for of_figure in zip(*found, strict=True):
        adjusted = adjust_pvalues([d.pvalue for d in of_figure])
        for (a, b), difference, pvalue in zip(pairs, of_figure, adjusted, strict=True):
            differences.append(
                ModelDifference(first=a, second=b, difference=difference, adjusted=float(pvalue))
            )
    return tuple(differences)


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
    return difference_core(estimator, pair, IntervalOptions("analytic", level), groups=clusters)


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
