"""The same findings from sums that an engine made of any number of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, weighted_mean
from veridical.evaluation import calibration_tests
from veridical.evaluation.core import doubts_into
from veridical.evaluation.data import Pushed, about_sums, evaluate_pushed, notes_on_sums, problem_of
from veridical.exceptions import InvalidInputError
from veridical.lenses import Binary, Classwise, Confidence
from veridical.report._content.content import (
    ClassFigures,
    DataNote,
    GroupFigures,
    ModelFindings,
    Recalibration,
    Variant,
)
from veridical.report._content.curves import MOST_CLASSES, curve_variants, short
from veridical.report._content.data import notes_on_figures
from veridical.report._content.families import MOST_GROUPS, group_text
from veridical.report._content.gather import (
    Options,
    Step,
    decision_figures,
    equivalence_of,
    pvalue_of,
)
from veridical.report._content.headline import headline_of
from veridical.report._content.recalibration import nothing_tried, recalibrate
from veridical.report._content.rows import Rows
from veridical.results import Evaluation, MultipleTest, TestReport
from veridical.summaries import GridSummary

_CALLER = "make_report"
_DRAWN = 20_000  # rows drawn from sums where a calibrator is fitted


def findings_of_sums(pushed: Pushed, options: Options, step: Step) -> ModelFindings:
    """Everything about one model that its sums can answer."""
    with doubts_into([]):  # every result holds its own
        return _findings(pushed, options, step)


def _findings(pushed: Pushed, o: Options, step: Step) -> ModelFindings:
    step("scores and errors")
    evaluation = evaluate_pushed(
        pushed, n_bins=o.n_bins, caller=_CALLER, confidence_level=o.level,
        n_resamples=o.n_resamples, rng=o.seed,
    )  # fmt: skip
    step("tests")
    tests = _tests(pushed, o)
    whole = isinstance(pushed.lens, Classwise)
    shown_lens = Confidence() if whole else pushed.lens
    grid = pushed.grid
    shown = _rows(grid, problem_of(shown_lens, grid, caller=_CALLER))
    equivalence = tuple(
        replace(test, lens=shown_lens.name, n_samples=grid.n_samples)
        for test in equivalence_of(shown, o)
    )
    step("reliability curves")
    variants = _variants(grid, o)
    step("classes and groups")
    classes = _classes(grid, evaluation, tests)
    groups, group_note = _groups(evaluation, tests)
    step("decisions")
    label, decided = _decided(grid, evaluation)
    decisions, costs = (
        replace(curve, n_samples=grid.n_samples) for curve in decision_figures(decided, Binary(), o)
    )
    step("recalibration")
    said = about_sums(pushed, n_bins=o.n_bins, caller=_CALLER, of=notes_on_sums)
    return ModelFindings(
        name="",
        headline=headline_of(evaluation, _sample(shown), pvalue_of(evaluation, tests)),
        evaluation=replace(evaluation, groups=()),
        tests=tests,
        equivalence=equivalence,
        recalibration=_recalibration(grid, o),
        variants=variants,
        classes=classes,
        class_note="",
        groups=groups,
        group_test=None if tests is None else _named(tests.groups),
        group_note=group_note,
        decision_class=label,
        decisions=decisions,
        costs=costs,
        data=_data(evaluation, tests, said),
    )


def _tests(pushed: Pushed, o: Options) -> TestReport | None:
    try:
        return calibration_tests(
            pushed.grid, lens=pushed.lens, n_bins=o.n_bins, level=1 - o.level,
            n_resamples=o.n_resamples, rng=o.seed,
        )  # fmt: skip
    except InvalidInputError:
        return None


def _rows(grid: GridSummary, problem: str | int) -> Rows:
    """Rows that stand for all of one binary problem, with their frequencies."""
    sample = replace(grid.sample(problem), classes=(0, 1))
    return Rows(
        name="",
        y_true=sample.y,
        y_prob=sample.p,
        sample_weight=sample.weight,
        labels=[0, 1],
        pos_label=1,
        weight_type="frequency",
        by=None,
        sample=sample,
        lens=Binary(),
    )


def _sample(rows: Rows) -> BinarySample:
    assert isinstance(rows.sample, BinarySample)
    return rows.sample


def _variants(grid: GridSummary, o: Options) -> tuple[Variant, ...]:
    """Curves by lens; counts are numbers of rows, not of cells."""
    found = []
    for lens, label, problem in _problems(grid):
        rows = _rows(grid, problem)
        for variant in curve_variants(rows, n_bins=o.n_bins, level=o.level, seed=o.seed):
            if variant.lens != "positive class":
                continue
            name = "confidence" if lens == "confidence" else variant.curve.lens
            curve = replace(
                variant.curve, lens=name, count=variant.curve.weight, n_samples=grid.n_samples
            )
            found.append(replace(variant, lens=lens, label=label, curve=curve))
    return tuple(found)


def _problems(grid: GridSummary) -> list[tuple[str, str, str | int]]:
    if len(grid.classes) == 2:
        known = {"binary": ("positive class", short(grid.classes[1]), "binary")}
        if "confidence" in grid.problems:
            known["confidence"] = ("confidence", "most probable", "confidence")
        return list(known.values())
    found: list[tuple[str, str, str | int]] = [("confidence", "most probable", "confidence")]
    if len(grid.classes) <= MOST_CLASSES:
        found += [
            ("one class against the rest", f"{short(label)}", k)
            for k, label in enumerate(grid.classes)
        ]
    return found


def _classes(
    grid: GridSummary, e: Evaluation, tests: TestReport | None
) -> tuple[ClassFigures, ...]:
    family = None if tests is None else tests.classes
    if len(grid.classes) < 3 or family is None:
        return ()
    entries = []
    for k, label in enumerate(grid.classes):
        sample = grid.sample(k)
        entries.append(
            ClassFigures(
                label=str(label),
                observed=e.base_rate[k],
                predicted=weighted_mean(sample.p, sample.weight),
                auc=e.auc_by_class[k],
                error=family.statistics[k],
                pvalue=family.pvalues[k],
                adjusted=family.adjusted[k],
            )
        )
    return tuple(sorted(entries, key=lambda c: (c.adjusted, -c.error)))


def _groups(e: Evaluation, tests: TestReport | None) -> tuple[tuple[GroupFigures, ...], str]:
    family = None if tests is None else tests.groups
    if family is None:
        return (), ""
    entries = []
    for i, (key, group) in enumerate(e.groups):
        error = group.default
        entries.append(
            GroupFigures(
                label=group_text(key),
                n_samples=group.n_samples,
                observed=group.mean_observed,
                predicted=group.mean_predicted,
                auc=group.auc,
                brier=group.scores["brier"],
                error=error.value,
                low=error.low,
                high=error.high,
                null_mean=error.null_mean,
                null_q95=error.null_q95,
                pvalue=family.pvalues[i],
                adjusted=family.adjusted[i],
            )
        )
    entries.sort(key=lambda g: (g.adjusted, -g.error))
    note = ""
    if len(entries) > MOST_GROUPS:
        note = f"the worst {MOST_GROUPS} of {len(entries):,} groups are kept"
    return tuple(entries[:MOST_GROUPS]), note


def _named(family: MultipleTest | None) -> MultipleTest | None:
    if family is None:
        return None
    return replace(family, names=tuple(group_text(name) for name in family.names))


def _decided(grid: GridSummary, e: Evaluation) -> tuple[str, Rows]:
    if len(grid.classes) == 2:
        return str(grid.classes[1]), _rows(grid, "binary")
    k = int(np.argmax(e.base_rate))
    return str(grid.classes[k]), _rows(grid, k)


def _recalibration(grid: GridSummary, o: Options) -> Recalibration:
    if len(grid.classes) > 2:
        why = "calibrators of several classes need whole rows, and these were summed up"
        return nothing_tried(f"{why}; read a sample of them to see it")
    sample = grid.sample("binary")
    assert sample.weight is not None
    n = min(_DRAWN, grid.n_samples)
    rng = np.random.default_rng(o.seed)
    counts = rng.multinomial(n, sample.weight / sample.weight.sum())
    rows = _rows(grid, "binary")
    drawn = replace(
        rows,
        sample_weight=None,
        weight_type="importance",
        sample=replace(_sample(rows), weight=None, weight_type="importance"),
    ).take(np.repeat(np.arange(len(counts)), counts))
    bins: Any = "sqrt" if o.n_bins == "cv" else o.n_bins
    found = recalibrate(drawn, n_bins=bins, seed=o.seed)
    note = f"measured on {n:,} rows drawn from the sums of {grid.n_samples:,} (seed {o.seed})"
    return found if found.comparison is None else replace(found, note=note)


def _data(e: Evaluation, tests: TestReport | None, said: list[str]) -> tuple[DataNote, ...]:
    source = [DataNote(topic="sums", finding=note, matters="note") for note in said]
    return (*notes_on_figures(e, tests, known=said), *source)
