"""Everything a report shows of one model, section by section, from rows or from sums of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning import SimplexBins
from veridical.curves.core import check_curve_options, curve_core
from veridical.decisions.core import decision_curve_of
from veridical.evaluation.core import (
    Judged,
    compare_models,
    judged_evaluation,
    run_battery,
    segments_of,
)
from veridical.evaluation.data import RowModels, SampleSource, Source, SumsSource, notes_on_sums
from veridical.exceptions import InvalidInputError
from veridical.inference.core import equivalence_core, equivalence_error
from veridical.lenses import Binary, ClassSpecific, Confidence, Lens
from veridical.lenses.reading import Induced, event_of
from veridical.report._charts.catalogue import slider_thresholds
from veridical.report._content.content import ModelFindings, Recalibration, Variant, short
from veridical.report._content.data import data_notes
from veridical.report._content.families import class_figures, group_figures
from veridical.report._content.recalibration import nothing_tried, recalibrate
from veridical.report._content.request import CALLER, Options
from veridical.results import (
    Comparison,
    DecisionCurve,
    EquivalenceTest,
    Evaluation,
    ReliabilityCurve,
    SegmentAudit,
    TestReport,
)
from veridical.summaries import summarise

Step = Callable[[str], None]

# Cost of a miss for each false alarm: 1 to 20, ..., 20 to 1.
COST_RATIOS = (1 / 20, 1 / 10, 1 / 5, 1 / 2, 1.0, 2.0, 5.0, 10.0, 20.0)
_SIMPLEX_BINS = 6  # on each side of the triangle: 36 cells
_MOST_CLASSES = 10  # with a curve of their own
_MOST_WITH_LIMITS = 100_000  # rows of an isotonic curve: beyond, its limits take long and are tiny
_MOST_ROWS = 200_000  # from which curves of single classes come from a sample of rows


def findings_of(name: str, source: Source, o: Options, guessed: str, step: Step) -> ModelFindings:
    """Everything about one model that its data can answer; doubts are in the results."""
    step("scores and errors")
    evaluation, judged = judged_evaluation(source, o.measured)
    step("tests")
    tests = _tests(source, judged, o)
    equivalence = _equivalence(source, o)
    step("reliability curves")
    variants = _variants(source, o)
    step("classes and groups")
    # Bins chosen by cross-validation follow the outcomes: choosing them in every draw takes long.
    drawn = replace(o, n_bins="sqrt") if o.n_bins == "cv" else o
    classes = class_figures(source, evaluation, drawn)
    groups, group_note = group_figures(source, judged, drawn)
    step("segments")
    evaluation = replace(evaluation, segments=_segments(source, o))
    step("decisions")
    label, lens = _decided(source, evaluation)
    decisions, costs = _decision_figures(source, lens, o)
    step("recalibration")
    return ModelFindings(
        name=name,
        evaluation=evaluation,
        tests=tests,
        equivalence=equivalence,
        recalibration=_recalibration(source, evaluation, drawn),
        variants=variants,
        classes=classes,
        groups=groups,
        group_note=group_note,
        decision_class=label,
        decisions=decisions,
        costs=costs,
        simplex=_simplex(source),
        data=data_notes(source, evaluation, tests, guessed, o),
    )


def _segments(source: Source, o: Options) -> SegmentAudit | None:
    """What a search over all segments finds, if there are features."""
    return segments_of(
        source,
        confidence_level=o.confidence_level,
        n_resamples=o.n_resamples,
        seed=o.seed,
        caller=CALLER,
    )


def comparison_of(sources: Mapping[str, Source], o: Options) -> Comparison | None:
    """Paired differences of every pair of models."""
    models = {name: each for name, each in sources.items() if isinstance(each, SampleSource)}
    if len(models) < 2:
        return None
    return compare_models(RowModels(models), reference=None, **o.measuring)


def _recalibration(source: Source, e: Evaluation, o: Options) -> Recalibration:
    """What a calibrator does; nothing is tried on predictions that rank backwards."""
    if e.verdict.kind == "reversed":
        return nothing_tried("the predictions rank backwards")
    return recalibrate(source, o)


def _tests(source: Source, judged: Judged, o: Options) -> TestReport | None:
    if isinstance(source, SampleSource):
        source = replace(source, by=None)  # groups of rows are tested by themselves
    try:
        report, _ = run_battery(
            source,
            n_bins=o.n_bins,
            level=o.level,
            n_resamples=o.n_resamples,
            seed=o.seed,
            judged=judged,
        )
    except InvalidInputError:  # sums do not tell enough for the classwise lens
        return None
    about = notes_on_sums(source, o.n_bins, "tests")
    return replace(report, notes=(*about, *report.notes))


def _equivalence(source: Source, o: Options) -> tuple[EquivalenceTest, ...]:
    """Whether calibration within each margin is shown."""
    induced = Induced(source.binary, source.binary_lens, source.binary)
    try:
        estimator = equivalence_error(o.n_bins)
        found = [
            equivalence_core(induced, delta=margin, estimator=estimator, level=o.level)
            for margin in o.margins
        ]
    except InvalidInputError:  # bins that follow the outcomes, or of one row
        return ()
    return tuple(replace(test, n_samples=source.n) for test in found)


def _variants(source: Source, o: Options) -> tuple[Variant, ...]:
    """Curves of the first lens by every method, of the others by the usual bins.

    Counts are numbers of rows.
    """
    found = []
    for index, (words, lens) in enumerate(_lenses(source)):
        part = source
        if index > 0 and isinstance(source, SampleSource):
            part, _ = source.some_rows(_MOST_ROWS, o.seed)
        problem = part.through(lens)
        if problem is None:  # sums that were made without it
            continue
        methods = list(_methods(problem, o.n_bins))
        for method, bins, options in methods if index == 0 else methods[:1]:
            try:
                checked = check_curve_options(
                    CALLER, method=method, confidence_level=o.confidence_level, **options
                )
                curve = curve_core(problem, lens.name, checked, caller=CALLER)
            except InvalidInputError:  # a smooth curve of one value, a band of importance weights
                continue
            curve = replace(curve, event=event_of(lens, source.classes, source.named.y))
            if isinstance(part, SumsSource):
                curve = replace(curve, count=curve.weight, n_samples=part.n)
            found.append(Variant(**words, method=method, bins=bins, curve=_thinned(curve)))
    return tuple(found)


def _thinned(curve: ReliabilityCurve, most: int = 200) -> ReliabilityCurve:
    """The same curve with fewer points, where it has more than can be told apart on a page.

    Every k-th point is kept, the last one too; bins are never left out.
    """
    n = len(curve)
    if curve.method == "bins" or n <= most:
        return curve
    step = -(-n // most)
    at = np.unique(np.append(np.arange(0, n, step), n - 1))
    arrays = ("lower", "upper", "count", "weight", "predicted", "observed", "gap", "low", "high")
    fewer: dict[str, Any] = {}
    for name in arrays:
        values = getattr(curve, name)
        fewer[name] = None if values is None else values[at]
    return replace(curve, **fewer)


def _lenses(source: Source) -> Iterator[tuple[dict[str, str], Lens]]:
    if not source.has_classes:
        positive = short(source.classes[1])
        yield {"lens": "positive class", "label": positive}, Binary()
        yield {"lens": "confidence", "label": "most probable"}, Confidence()
        return
    yield {"lens": "confidence", "label": "most probable"}, Confidence()
    if len(source.classes) <= _MOST_CLASSES:
        taken: dict[str, int] = {}
        for label in source.classes:
            name = short(label)
            taken[name] = taken.get(name, 0) + 1
            name += f" ({taken[name]})" if taken[name] > 1 else ""
            yield {"lens": "one class against the rest", "label": name}, ClassSpecific(label)


def _methods(problem: BinarySample, n_bins: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield "bins", f"{n_bins} of equal width", {"n_bins": n_bins}
    for other in (10, 30):
        if other != n_bins:
            yield "bins", f"{other} of equal width", {"n_bins": other}
    yield "bins", "15 of equal mass", {"strategy": "quantile"}
    counted = problem.weight is None or problem.weight_type == "frequency"
    limits = counted and problem.size <= _MOST_WITH_LIMITS
    yield "isotonic", "none", {"interval": "pointwise" if limits else None}
    yield "smooth", "none", {}


def _decided(source: Source, e: Evaluation) -> tuple[str, Lens]:
    """The class decisions are about: the positive one, or the commonest of several."""
    if not source.has_classes:
        return str(source.classes[1]), Binary()
    label = e.classes[int(np.argmax(e.base_rate))]
    return str(label), ClassSpecific(label)


def _decision_figures(
    source: Source, lens: Lens, o: Options
) -> tuple[DecisionCurve, DecisionCurve]:
    """Net benefit at the thresholds of the slider, and at those of usual costs."""
    problem = source.through(lens)
    assert isinstance(problem, BinarySample)  # every table of sums holds it
    usual = 1 / (1 + np.array(COST_RATIOS))
    slider, table = (
        replace(
            decision_curve_of(problem, np.unique(at), level=o.confidence_level), n_samples=source.n
        )
        for at in (slider_thresholds(), usual)
    )
    return slider, table


def _simplex(source: Source) -> dict[str, Any] | None:
    """Cells of the triangle of three classes, which needs whole rows."""
    if not isinstance(source, SampleSource) or len(source.classes) != 3:
        return None
    assert isinstance(source.sample, MulticlassSample)
    return summarise(source.sample, SimplexBins(_SIMPLEX_BINS)).to_dict()
