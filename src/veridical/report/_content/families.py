"""Classes and subgroups, the worst first, with p-values corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.groups import Groups
from veridical._core.data.randomness import Draws
from veridical.binning import UniformBins
from veridical.evaluation.core import evaluate_source
from veridical.evaluation.data import SampleSource, Source, default_error
from veridical.exceptions import InvalidInputError
from veridical.inference.core import multiple_core
from veridical.lenses import Classwise
from veridical.miscalibration import BinnedError
from veridical.report._content.content import ClassFigures, GroupFigures
from veridical.report._content.request import Options
from veridical.results import Evaluation, MultipleTest, TestReport
from veridical.summaries import Summary

_MOST_VALUES = 200_000  # probabilities whose outcomes are drawn again and again
_MOST_TESTED = 200  # classes
MOST_GROUPS = 100


def class_figures(
    source: Source, e: Evaluation, tests: TestReport | None, o: Options
) -> tuple[tuple[ClassFigures, ...], str]:
    """Every class of three or more against the rest, and a note on how they were tested."""
    if not source.has_classes:
        return (), ""
    estimator = BinnedError(UniformBins(o.n_bins))
    if isinstance(source, SampleSource):
        family, note = _class_family(source, estimator, o)
    else:
        family, note = None if tests is None else tests.classes, ""
        if family is None:  # sums answer for single classes beside the confidence only
            return (), ""
    summary = source.binned(estimator, Classwise())
    assert isinstance(summary, Summary)
    errors, means = estimator.each(summary), source.mean_by_class
    entries = [
        ClassFigures(
            label=str(label),
            observed=e.base_rate[k],
            predicted=means[k],
            auc=e.auc_by_class[k],
            error=float(errors[k]),
            pvalue=None if family is None else family.pvalues[k],
            adjusted=None if family is None else family.adjusted[k],
        )
        for k, label in enumerate(source.classes)
    ]
    entries.sort(key=lambda c: (1.0 if c.adjusted is None else c.adjusted, -c.error))
    return tuple(entries), note


def _class_family(
    source: SampleSource, estimator: BinnedError, o: Options
) -> tuple[MultipleTest | None, str]:
    """Tests of every class; a sample of rows stands for very many."""
    n_classes = len(source.classes)
    if n_classes > _MOST_TESTED:
        return None, f"{n_classes:,} classes are too many to test each"
    part, _ = source.some_rows(max(1000, _MOST_VALUES // n_classes), o.seed)
    note = ""
    if part.n < source.n:
        note = f"p-values are from a random sample of {part.n:,} rows (seed {o.seed})"
    rng = np.random.default_rng(o.seed)
    try:
        family = multiple_core(
            estimator, part.sample, over="classes", draws=Draws(o.n_resamples, rng)
        )
    except InvalidInputError as error:
        return None, error.problem
    return family, note


def group_figures(
    source: Source, tests: TestReport | None, o: Options
) -> tuple[tuple[GroupFigures, ...], MultipleTest | None, str]:
    """Every subgroup, the largest or the worst ones if there are very many."""
    note = ""
    if not isinstance(source, SampleSource):
        family = None if tests is None else tests.groups
        parts: Sequence[tuple[Any, Source]] = list(source.groups())
    elif source.by is None:
        family, parts = None, []
    else:
        estimator = default_error(source.problem, o.n_bins)
        source, note = _largest(source, source.by)
        family = multiple_core(
            estimator,
            source.sample,
            over="groups",
            parts=source.samples_by_group(),
            lens=source.lens,
            draws=Draws(o.n_resamples, np.random.default_rng(o.seed)),
        )
        parts = list(source.groups())
    if family is None:
        return (), None, ""
    entries = [
        _group(group_text(key), evaluate_source(part, **o.measuring), family, i)
        for i, (key, part) in enumerate(parts)
    ]
    entries.sort(key=lambda g: (g.adjusted, -g.error))
    if len(entries) > MOST_GROUPS:
        note = f"the worst {MOST_GROUPS} of {len(entries):,} groups are kept"
    named = replace(family, names=tuple(group_text(key) for key in family.names))
    return tuple(entries[:MOST_GROUPS]), named, note


def _group(label: str, e: Evaluation, family: MultipleTest, i: int) -> GroupFigures:
    return GroupFigures(
        label=label,
        n_samples=e.n_samples,
        observed=e.mean_observed,
        predicted=e.mean_predicted,
        auc=e.auc,
        brier=e.scores["brier"],
        error=family.statistics[i],
        **{name: getattr(e.default, name) for name in ("low", "high", "null_mean", "null_q95")},
        pvalue=family.pvalues[i],
        adjusted=family.adjusted[i],
    )


def _largest(source: SampleSource, by: Groups) -> tuple[SampleSource, str]:
    """Rows of the largest groups, as many as can be shown."""
    counts = np.bincount(by.codes, minlength=len(by.keys))
    present = int((counts > 0).sum())
    if present <= MOST_GROUPS:
        return source, ""
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_GROUPS])
    kept = source.take(np.flatnonzero(np.isin(by.codes, largest)))
    return kept, f"the {MOST_GROUPS} largest of {present:,} groups; the others were not tested"


def group_text(key: Any) -> str:
    """Key of a group as text."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
