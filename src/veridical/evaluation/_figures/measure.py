"""From what is known of the rows to an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import check_seed
from veridical._core.numeric.pava import isotonic_blocks
from veridical._core.sample import weighted_mean
from veridical.binning import Binning, QuantileBins, SweepBins, UniformBins
from veridical.curves.core import curve_from_summary
from veridical.curves.display import display_of_sample
from veridical.decomposition.core import decompose_isotonic
from veridical.evaluation._data.null_levels import NullDraws
from veridical.evaluation._data.source import (
    SampleSource,
    Source,
    default_error,
    default_error_name,
)
from veridical.evaluation._figures.limits import figure_limits
from veridical.evaluation._figures.many_groups import (
    FEW_GROUPS,
    GroupMaker,
    TableOptions,
    rows_of_groups,
)
from veridical.evaluation._verdict.fitted import suspicion
from veridical.evaluation._verdict.judge import Judged, Judging, is_reversed, judge, judge_group
from veridical.evaluation._verdict.words import Figures
from veridical.exceptions import InvalidInputError
from veridical.inference.core import recalibration_line
from veridical.inference.intervals import (
    binned_limits,
    has_interval,
    has_vector_interval,
    unbinned_limits,
)
from veridical.lenses import Canonical, Classwise, Lens
from veridical.lenses.reading import event_of
from veridical.miscalibration import BinnedError, CumulativeError, Estimator, SmoothError
from veridical.miscalibration.core import doubts_of_summary
from veridical.results import (
    EvaluatedGroups,
    Evaluation,
    JointPart,
    MeasuredError,
    ReliabilityCurve,
    ReliabilityDisplay,
)
from veridical.scores import get_rule
from veridical.summaries import Summary, VectorSummary

_NEAR_CHANCE = 0.05
_FEW_ROWS = 20


def doubts_of(source: Source, e: Evaluation) -> list[str]:
    """Return what a careful reader should know before using the figures."""
    notes: list[str] = []
    absent = [repr(label) for label, rate in zip(e.classes, e.base_rate, strict=True) if rate == 0]
    if absent:
        listed = ", ".join(absent[:5]) + (", ..." if len(absent) > 5 else "")
        notes.append(f"{len(absent)} of {len(e.classes)} classes did not occur: {listed}")
    if e.auc is not None and abs(e.auc - 0.5) < _NEAR_CHANCE:
        notes.append(
            f"AUC {e.auc:.3f} is near 0.5: the predictions hardly tell the classes apart, and"
            " calibration cannot help with that"
        )
    elif e.auc is not None and e.auc < 0.5 and not is_reversed(source, e.auc):
        notes.append(
            f"AUC {e.auc:.3f} is below 0.5: is the right class taken as positive? See `pos_label`"
        )
    rows = e.n_samples / max(len(e.curve), 1)
    if rows < _FEW_ROWS:
        notes.append(f"{rows:.1f} rows a bin on average: binned errors are biased upwards")
    if math.isinf(e.scores["log"]):
        notes.append("log score is infinite: something happened that was given probability 0")
    return notes


def evaluate_with_groups(
    source: Source, *, n_bins: Any, confidence_level: float, n_resamples: int, rng: Any
) -> Evaluation:
    """Measure and judge all rows, and every subgroup, whose tests are one family."""
    options = Measuring(n_bins, confidence_level, n_resamples, check_seed(rng, caller="evaluate"))
    every_row, found = judged_evaluation(source, options)
    evaluated = _GroupEvaluation(options, found.of_group)
    if len(source.keys) <= FEW_GROUPS:
        few = tuple((key, evaluated(part, key)) for key, part in source.groups())
        return replace(every_row, groups=few)
    table = rows_of_groups(source, TableOptions(*options))
    keys = tuple(row.key for row in table)
    lazy = EvaluatedGroups(table, GroupMaker(source.copied(), keys, evaluated))
    return replace(every_row, groups=lazy)


@dataclass(frozen=True)
class _GroupEvaluation:
    """Figures of a group and the verdict on it, from its member of the family."""

    options: Measuring
    members: Mapping[Any, JointPart]

    def __call__(self, part: Source, key: Any) -> Evaluation:
        own = measure_figures(part, self.options)
        member = self.members.get(key)
        verdict = judge_group(part, words_from(own), key, member, self.options.judging)
        return replace(own, verdict=verdict)


def evaluate_source(
    source: Source, *, n_bins: Any, confidence_level: float, n_resamples: int, rng: Any
) -> Evaluation:
    """Measure and judge all rows, subgroups considered; these are not measured."""
    seed = check_seed(rng, caller="evaluate")
    options = Measuring(n_bins, confidence_level, n_resamples, seed)
    return judged_evaluation(source, options)[0]


def judged_evaluation(source: Source, options: Measuring) -> tuple[Evaluation, Judged]:
    """Figures of all rows with the verdict on them, and what else was found for it."""
    measured = measure_figures(source, options)
    found = judge(source, words_from(measured), options.judging)
    return replace(measured, verdict=found.verdict), found


def judge_source(
    source: Source, *, n_bins: Any, confidence_level: float, n_resamples: int, rng: Any
) -> Judged:
    """The verdict alone, word for word that of an evaluation with these options."""
    seed = check_seed(rng, caller="evaluate")
    options = Measuring(n_bins, confidence_level, n_resamples, seed)
    return judge(source, figures_of(source, n_bins, confidence_level), options.judging)


class Measuring(NamedTuple):
    """Options of an evaluation."""

    n_bins: Any
    confidence_level: float
    n_resamples: int
    seed: int

    @property
    def judging(self) -> Judging:
        """The same as verdicts take it."""
        level = round(1 - self.confidence_level, 12)
        return Judging(self.n_bins, level, self.n_resamples, self.seed)


def words_from(e: Evaluation) -> Figures:
    """The figures of an evaluation that words are made from."""
    curve = e.curve if e.display is None else _shown(e.curve, e.display)
    return Figures(e.mean_predicted, e.mean_observed, e.slope, curve, e.auc)


def _shown(curve: ReliabilityCurve, display: ReliabilityDisplay) -> ReliabilityCurve:
    """The curve whose gaps are named: of rare events that of the diagram.

    Nearly all rows would be in the first of bins of equal width.
    """
    drawn = display.curve
    return drawn if display.axis == "logit" and drawn.method == "bins" else curve


def figures_of(source: Source, n_bins: Any, level: float) -> Figures:
    """The same of data that nothing was measured of."""
    means = means_and_line(source, level)
    areas = source.areas
    return Figures(
        means["mean_predicted"],
        means["mean_observed"],
        means["slope"],
        _shown(binned_curve(source, UniformBins(n_bins), level), diagram_of(source, level)),
        None if areas[0] is None else areas[0],
    )


def measure_figures(source: Source, options: Measuring) -> Evaluation:
    """Measure everything that fits the lens, from rows or from sums of them; without a verdict."""
    n_bins, confidence_level, n_resamples, seed = options
    problem = source.binary
    scores = problem.pooled
    fit = isotonic_blocks(scores.weight, scores.positive)
    curve = binned_curve(source, UniformBins(n_bins), confidence_level)
    null = NullDraws(n_resamples, np.random.default_rng(seed))
    questions = [*_questions(source, n_bins), *_questions_of_classes(source, n_bins)]
    errors, binning_doubts = measure_errors(source, questions, null, confidence_level)
    areas = source.areas
    known = [area for area in areas if area is not None]
    auc = float(np.mean(known)) if len(known) == len(areas) else None
    evaluation = Evaluation(
        n_samples=source.n,
        sum_weight=source.sum_weight,
        classes=source.classes,
        lens=source.lens.name,
        base_rate=source.base_rate,
        accuracy=1 - source.scores["zero-one"],
        auc=auc,
        auc_by_class=areas,
        scores=source.scores,
        decompositions=tuple(
            replace(
                decompose_isotonic(
                    problem,
                    get_rule(rule, caller="evaluate"),
                    lens=source.binary_lens.name,
                    fit=fit,
                    score=source.score_of_binary(rule),
                ),
                n_samples=source.n,
            )
            for rule in ("brier", "log")
        ),
        errors=errors,
        curve=curve,
        display=diagram_of(source, confidence_level),
        confidence_level=confidence_level,
        default_error=default_error_name(source),
        limits=figure_limits(source, auc, confidence_level),
        **means_and_line(source, confidence_level),
    )
    notes = dict.fromkeys([*doubts_of(source, evaluation), *suspicion(source), *binning_doubts])
    return replace(evaluation, notes=tuple(notes))


def means_and_line(source: Source, level: float) -> dict[str, Any]:
    """Mean prediction and frequency of the binary problem, and its recalibration line."""
    problem = source.binary
    line = recalibration_line(problem, level, source.rows)
    predicted, observed = (weighted_mean(v, problem.weight) for v in (problem.p, problem.y))
    return {
        "mean_predicted": predicted,
        "mean_observed": observed,
        "calibration_in_the_large": observed - predicted,
        "observed_expected": observed / predicted if predicted > 0 else None,
        "slope": line.slope,
        "intercept": line.in_the_large,
    }


def binned_curve(source: Source, binning: Binning, level: float) -> ReliabilityCurve:
    """Reliability curve of the binary problem, with Wilson limits."""
    summary = source.independent(source.summary(binning), each=True)
    assert isinstance(summary, Summary)
    return curve_from_summary(
        summary,
        lens=source.binary_lens.name,
        definition=binning.name,
        interval="wilson",
        confidence_level=level,
        event=event_of(source.binary_lens, source.classes, source.named.y),
    )


def diagram_of(source: Source, level: float) -> ReliabilityDisplay:
    """Reliability diagram of the binary problem, with bins and axes that fit its rows."""
    return display_of_sample(
        source.binary,
        lens=source.binary_lens.name,
        event=event_of(source.binary_lens, source.classes, source.named.y),
        confidence_level=level,
        n_samples=source.n,
    )


class Question(NamedTuple):
    """An error that is to be measured: its name in the result, and through which lens."""

    name: str
    estimator: Estimator
    lens: Lens


def measure_errors(
    source: Source, questions: Sequence[Question], null: NullDraws, level: float
) -> tuple[tuple[MeasuredError, ...], list[str]]:
    """Measure errors with null levels and intervals where there are any; and doubts about bins."""
    measured: list[MeasuredError] = []
    doubts: list[str] = []
    summaries: dict[tuple[Binning, str], Summary | VectorSummary] = {}
    limits: dict[tuple[Binning, str, float], tuple[float, float]] = {}
    by_cells: list[tuple[int, Estimator, Lens]] = []
    for name, estimator, lens in questions:
        beside: dict[str, Any] = {}
        own = source.kind == "binary" and lens is source.lens
        if isinstance(estimator, BinnedError):
            key = (estimator.binning, lens.name)
            if key not in summaries:
                summaries[key] = source.binned(estimator, lens)
                doubts.extend(f"{name}: {doubt}" for doubt in doubts_of_summary(summaries[key]))
            summary = summaries[key]
            try:
                value = estimator.from_summary(summary)
            except InvalidInputError as error:  # too few rows to debias: say so, keep the rest
                doubts.append(f"{name} left out: {error.hint}")
                continue
            beside = null.level(estimator, source.null_of(lens), summary, value)
            if isinstance(summary, VectorSummary):
                known = has_vector_interval(estimator)
            else:
                known = own and has_interval(estimator)
            if known:
                which = (*key, estimator.power)  # debiased or not, the limits are the same
                if which not in limits:
                    effective = source.independent(summary)
                    limits[which] = binned_limits(estimator, effective, level)
                beside["low"], beside["high"] = limits[which]
        else:
            value = estimator.measure(source.binary)
            if own and has_interval(estimator):
                beside["low"], beside["high"] = unbinned_limits(
                    estimator,  # type: ignore[arg-type]
                    source.rows,
                    level,
                )
        if "pvalue" not in beside and own:
            by_cells.append((len(measured), estimator, lens))
        measured.append(
            MeasuredError(
                name=name,
                value=value,
                definition=estimator.definition,
                lens=lens.name,
                n_samples=source.n,
                **beside,
            )
        )
    for index, estimator, lens in by_cells:  # last: other figures draw what they always drew
        level_of_null = null.level_by_cells(estimator, source.null_of(lens))
        measured[index] = replace(measured[index], **level_of_null)
    return tuple(measured), doubts


def _questions(source: Source, n_bins: Any) -> list[Question]:
    """Errors of the problem that the lens induces."""
    uniform: Binning = UniformBins(n_bins)
    estimators: list[tuple[str, Estimator]] = [
        ("ECE", BinnedError(uniform)),
        ("RMSCE", BinnedError(uniform, norm=2)),
        ("MCE", BinnedError(uniform, norm="max")),
    ]
    if source.kind == "vector":
        assert isinstance(source, SampleSource)
        estimators[1:] = [(default_error_name(source), default_error(source.problem, n_bins))]
    elif source.kind == "classwise":
        estimators.append(("ECE worst class", BinnedError(uniform, aggregate="max")))
    else:
        estimators[1:1] = [
            ("ECE equal-mass", BinnedError(QuantileBins(n_bins))),
            ("ECE sweep", BinnedError(SweepBins())),
            ("ECE debiased", BinnedError(uniform, debias=True)),
        ]
        unbinned = (SmoothError(), CumulativeError())
        estimators += [
            ("RMSCE debiased", BinnedError(uniform, norm=2, debias=True)),
            *((estimator.name, estimator) for estimator in unbinned),
        ]
    return [Question(name, estimator, source.lens) for name, estimator in estimators]


def _questions_of_classes(source: Source, n_bins: Any) -> list[Question]:
    """The mean error of the classes and that of whole vectors, where the lens does not ask them.

    Sums of an engine do not tell how the classes of a row go together: they have no vectors.
    """
    if not source.has_classes:
        return []
    questions = []
    if source.kind != "classwise":
        questions.append(Question("classwise ECE", BinnedError(UniformBins(n_bins)), Classwise()))
    if isinstance(source, SampleSource) and not isinstance(source.lens, Canonical):
        error = default_error(source.sample, n_bins)
        questions.append(Question("canonical ECE", error, Canonical()))
    return questions
