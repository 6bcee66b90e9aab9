"""Compute everything a report shows of one model, section by section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import FloatArray
from veridical.binning import SimplexBins
from veridical.decisions import decision_curve
from veridical.evaluation import calibration_tests, compare
from veridical.evaluation.core import doubts_into, evaluate_sample
from veridical.exceptions import InvalidInputError
from veridical.inference import equivalence_test
from veridical.lenses import Binary, ClassSpecific, Confidence, Lens
from veridical.report._charts.catalogue import slider_thresholds
from veridical.report._content.content import ModelFindings
from veridical.report._content.curves import curve_variants
from veridical.report._content.data import data_notes
from veridical.report._content.families import class_figures, group_figures
from veridical.report._content.headline import headline_of
from veridical.report._content.recalibration import recalibrate
from veridical.report._content.rows import Rows
from veridical.results import Comparison, DecisionCurve, EquivalenceTest, Evaluation, TestReport
from veridical.summaries import summarise

Step = Callable[[str], None]

# Cost of a miss for each false alarm: 1 to 20, ..., 20 to 1.
COST_RATIOS = (1 / 20, 1 / 10, 1 / 5, 1 / 2, 1.0, 2.0, 5.0, 10.0, 20.0)
_SIMPLEX_BINS = 8  # on each side of the triangle


@dataclass(frozen=True)
class Options:
    """What figures depend on beside the rows."""

    n_bins: Any
    level: float
    n_resamples: int
    seed: int
    margins: tuple[float, ...]


def findings_of(rows: Rows, options: Options, said: str, step: Step) -> ModelFindings:
    """Everything about one model; doubts are in the results, not on the screen."""
    with doubts_into([]):  # every result holds its own
        return _findings(rows, options, said, step)


def _findings(rows: Rows, o: Options, said: str, step: Step) -> ModelFindings:
    step("scores and errors")
    evaluation = evaluate_sample(
        rows.sample, rows.lens, n_bins=o.n_bins, confidence_level=o.level,
        n_resamples=o.n_resamples, rng=o.seed,
    )  # fmt: skip
    problem = rows.lens.induce(rows.sample)
    shown = problem if isinstance(problem, BinarySample) else Confidence().induce(rows.sample)
    step("tests")
    tests = _tests(rows, o)
    equivalence = equivalence_of(rows, o)
    step("reliability curves")
    variants = curve_variants(rows, n_bins=o.n_bins, level=o.level, seed=o.seed)
    step("classes and groups")
    # Bins chosen by cross-validation follow the outcomes: choosing them in every draw takes long.
    bins = "sqrt" if o.n_bins == "cv" else o.n_bins
    classes, class_note = class_figures(rows, n_bins=bins, n_resamples=o.n_resamples, seed=o.seed)
    groups, group_test, group_note = group_figures(
        rows, n_bins=bins, level=o.level, n_resamples=o.n_resamples, seed=o.seed
    )
    step("decisions")
    label, lens = _decided(rows, evaluation)
    decisions, costs = decision_figures(rows, lens, o)
    step("recalibration")
    recalibration = recalibrate(rows, n_bins=bins, seed=o.seed)
    return ModelFindings(
        name=rows.name,
        headline=headline_of(evaluation, shown, pvalue_of(evaluation, tests)),
        evaluation=evaluation,
        tests=tests,
        equivalence=equivalence,
        recalibration=recalibration,
        variants=variants,
        classes=classes,
        class_note=class_note,
        groups=groups,
        group_test=group_test,
        group_note=group_note,
        decision_class=label,
        decisions=decisions,
        costs=costs,
        simplex=_simplex(rows),
        data=data_notes(rows, evaluation, tests, said, o.seed),
    )


def pvalue_of(e: Evaluation, tests: TestReport | None) -> float | None:
    """Of the error that speaks for the lens; bins that follow the outcomes are tested apart."""
    if e.default.pvalue is None and tests is not None and "consistency" in tests.names:
        return tests.test("consistency").pvalue
    return e.default.pvalue


def comparison_of(models: list[Rows], options: Options) -> Comparison | None:
    """Paired differences of every pair of models."""
    if len(models) < 2:
        return None
    first = models[0]
    with doubts_into([]):  # every result holds its own
        return compare(
            {rows.name: rows.y_prob for rows in models},
            first.y_true,
            lens=first.lens,
            n_bins=options.n_bins,
            confidence_level=options.level,
            n_resamples=options.n_resamples or 1000,
            rng=options.seed,
            weight_type=first.weight_type,
            **first.border,
        )


def _tests(rows: Rows, o: Options) -> TestReport | None:
    try:
        return calibration_tests(
            rows.y_true, rows.y_prob, lens=rows.lens, n_bins=o.n_bins, level=1 - o.level,
            n_resamples=o.n_resamples or 1000, rng=o.seed, **rows.border,
        )  # fmt: skip
    except InvalidInputError:
        return None


def equivalence_of(rows: Rows, o: Options) -> tuple[EquivalenceTest, ...]:
    """Whether calibration within each margin is shown."""
    problem = rows.lens.induce(rows.sample)
    lens = rows.lens if isinstance(problem, BinarySample) else Confidence()
    found = []
    for margin in o.margins:
        try:
            test = equivalence_test(
                rows.y_true, rows.y_prob, delta=margin, n_bins=o.n_bins, level=1 - o.level,
                lens=lens, weight_type=rows.weight_type, **rows.border,
            )  # fmt: skip
        except InvalidInputError:  # bins that follow the outcomes, or of one row
            return ()
        found.append(test)
    return tuple(found)


def _decided(rows: Rows, e: Evaluation) -> tuple[str, Lens]:
    """The class decisions are about: the positive one, or the commonest of several."""
    if isinstance(rows.sample, BinarySample):
        return str(rows.sample.classes[1]), Binary()
    label = e.classes[int(np.argmax(e.base_rate))]
    return str(label), ClassSpecific(label)


def decision_figures(rows: Rows, lens: Lens, o: Options) -> tuple[DecisionCurve, DecisionCurve]:
    """Net benefit at the thresholds of the slider, and at those of usual costs."""
    usual = 1 / (1 + np.array(COST_RATIOS))
    return (
        _decision_curve(rows, lens, o, slider_thresholds()),
        _decision_curve(rows, lens, o, usual),
    )


def _decision_curve(rows: Rows, lens: Lens, o: Options, thresholds: FloatArray) -> DecisionCurve:
    return decision_curve(
        rows.y_true, rows.y_prob, thresholds=thresholds, confidence_level=o.level, lens=lens,
        weight_type=rows.weight_type, **rows.border,
    )  # fmt: skip


def _simplex(rows: Rows) -> dict[str, Any] | None:
    if not isinstance(rows.sample, MulticlassSample) or rows.n_classes != 3:
        return None
    return summarise(rows.sample, SimplexBins(_SIMPLEX_BINS)).to_dict()
