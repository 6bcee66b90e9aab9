"""Classes and subgroups, those that stand out most first, as members of the joint test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from veridical._core.data.groups import Groups
from veridical.binning import UniformBins
from veridical.curves.display import display_of_sample
from veridical.evaluation.core import Judged, measure_figures
from veridical.evaluation.data import SampleSource, Source
from veridical.lenses import ClassSpecific, Classwise
from veridical.lenses.reading import event_of
from veridical.miscalibration import BinnedError
from veridical.report._content.content import ClassFigures, GroupFigures
from veridical.report._content.request import Options
from veridical.results import Evaluation, JointPart, ReliabilityDisplay
from veridical.summaries import Summary

MOST_GROUPS = 100
MOST_CLASSES = 100  # with a diagram of their own
_MOST_ROWS = 50_000  # of a class against the rest, which is drawn small


def class_figures(source: Source, e: Evaluation, o: Options) -> tuple[ClassFigures, ...]:
    """Every class of three or more against the rest, if they were looked at one by one."""
    joint = e.verdict.joint
    tested = {} if joint is None else {p.label: p for p in joint.parts if p.name == "class"}
    if not source.has_classes or not (tested or isinstance(source, SampleSource)):
        return ()
    estimator = BinnedError(UniformBins(o.n_bins))
    summary = source.binned(estimator, Classwise())
    assert isinstance(summary, Summary)
    errors, means = estimator.each(summary), source.mean_by_class
    drawn: list[ReliabilityDisplay] = []
    if isinstance(source, SampleSource) and len(source.classes) <= MOST_CLASSES:
        drawn = _displays(source, source.classes, o.seed, o.confidence_level)
    entries = [
        ClassFigures(
            label=str(label),
            observed=e.base_rate[k],
            predicted=means[k],
            auc=e.auc_by_class[k],
            error=float(errors[k]),
            pvalue=tested[label].pvalue if label in tested else None,
            adjusted=tested[label].adjusted if label in tested else None,
            display=drawn[k] if drawn else None,
        )
        for k, label in enumerate(source.classes)
    ]
    entries.sort(key=lambda c: (1.0 if c.adjusted is None else c.adjusted, -c.error))
    return tuple(entries)


def _displays(
    source: SampleSource, labels: Sequence[Any], seed: int, confidence_level: float
) -> list[ReliabilityDisplay]:
    """The diagram of each of these classes against the rest, of some of very many rows."""
    part, _ = source.some_rows(_MOST_ROWS, seed)
    return [
        display_of_sample(
            part.through(lens),
            lens=lens.name,
            event=event_of(lens, part.classes, part.named.y),
            confidence_level=confidence_level,
            n_samples=source.n,
        )
        for lens in map(ClassSpecific, labels)
    ]


def group_figures(
    source: Source, judged: Judged, o: Options
) -> tuple[tuple[GroupFigures, ...], str]:
    """Every subgroup, the largest or the worst ones if there are very many."""
    note = ""
    if isinstance(source, SampleSource):
        if source.by is None:
            return (), ""
        source, note = _largest(source, source.by)
    entries = [
        _group(group_text(key), measure_figures(part, o.measured), judged.of_group.get(key))
        for key, part in source.groups()
    ]
    entries.sort(key=lambda g: (1.0 if g.adjusted is None else g.adjusted, -g.error))
    if len(entries) > MOST_GROUPS:
        note = f"the worst {MOST_GROUPS} of {len(entries):,} groups are kept"
    return tuple(entries[:MOST_GROUPS]), note


def _group(label: str, e: Evaluation, member: JointPart | None) -> GroupFigures:
    return GroupFigures(
        label=label,
        n_samples=e.n_samples,
        observed=e.mean_observed,
        predicted=e.mean_predicted,
        auc=e.auc,
        brier=e.scores["brier"],
        error=e.default.value,
        **{name: getattr(e.default, name) for name in ("low", "high", "null_mean", "null_q95")},
        pvalue=None if member is None else member.pvalue,
        adjusted=None if member is None else member.adjusted,
    )


def _largest(source: SampleSource, by: Groups) -> tuple[SampleSource, str]:
    """Rows of the largest groups, as many as can be shown."""
    counts = np.bincount(by.codes, minlength=len(by.keys))
    present = int((counts > 0).sum())
    if present <= MOST_GROUPS:
        return source, ""
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_GROUPS])
    kept = source.take(np.flatnonzero(np.isin(by.codes, largest)))
    return kept, f"the {MOST_GROUPS} largest of {present:,} groups; all were tested"


def group_text(key: Any) -> str:
    """Key of a group as text."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
