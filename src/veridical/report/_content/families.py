"""Classes and subgroups, the worst first, with p-values corrected for their number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.groups import Groups
from veridical._core.sample import MulticlassSample, Sample
from veridical._core.typing import FloatArray
from veridical.binning import UniformBins
from veridical.evaluation.core import evaluate_sample
from veridical.evaluation.data import auc_by_class, default_error
from veridical.exceptions import InvalidInputError
from veridical.inference import multiple_test
from veridical.lenses import Classwise
from veridical.miscalibration import BinnedError
from veridical.report._content.content import ClassFigures, GroupFigures
from veridical.report._content.rows import Rows
from veridical.results import MultipleTest
from veridical.summaries import Summary

_MOST_VALUES = 200_000  # probabilities whose outcomes are drawn again and again
_MOST_TESTED = 200  # classes
MOST_GROUPS = 100


def class_figures(
    rows: Rows, *, n_bins: Any, n_resamples: int, seed: int
) -> tuple[tuple[ClassFigures, ...], str]:
    """Every class of three or more against the rest, and a note on how they were tested."""
    sample = rows.sample
    if not isinstance(sample, MulticlassSample):
        return (), ""
    estimator = BinnedError(UniformBins(n_bins))
    errors = _class_errors(estimator, sample)
    test, note = _tested(rows, estimator, n_resamples, seed)
    observed = np.bincount(sample.y, weights=sample.weight, minlength=rows.n_classes)
    observed = observed / observed.sum()
    predicted = np.average(sample.p, axis=0, weights=sample.weight)
    areas = auc_by_class(sample)
    entries = [
        ClassFigures(
            label=str(label),
            observed=float(observed[k]),
            predicted=float(predicted[k]),
            auc=areas[k],
            error=float(errors[k]),
            pvalue=None if test is None else test.pvalues[k],
            adjusted=None if test is None else test.adjusted[k],
        )
        for k, label in enumerate(sample.classes)
    ]
    entries.sort(key=lambda c: (1.0 if c.adjusted is None else c.adjusted, -c.error))
    return tuple(entries), note


def _class_errors(estimator: BinnedError, sample: MulticlassSample) -> FloatArray:
    summary = estimator.summarise(Classwise().induce(sample))
    assert isinstance(summary, Summary)
    return estimator.each(summary)


def _tested(
    rows: Rows, estimator: BinnedError, n_resamples: int, seed: int
) -> tuple[MultipleTest | None, str]:
    if not n_resamples or rows.n_classes > _MOST_TESTED:
        return None, f"{rows.n_classes:,} classes are too many to test each"
    part = rows.at_most(max(1000, _MOST_VALUES // rows.n_classes), seed)
    note = ""
    if part.n < rows.n:
        note = f"p-values are from a random sample of {part.n:,} rows (seed {seed})"
    try:
        test = multiple_test(
            estimator, part.y_true, part.y_prob, over="classes", n_resamples=n_resamples,
            rng=seed, weight_type=rows.weight_type, **part.border,
        )  # fmt: skip
    except InvalidInputError as error:
        return None, str(error).splitlines()[0]
    return test, note


def group_figures(
    rows: Rows, *, n_bins: Any, level: float, n_resamples: int, seed: int
) -> tuple[tuple[GroupFigures, ...], MultipleTest | None, str]:
    """Every subgroup, the largest ones if there are very many."""
    if rows.by is None:
        return (), None, ""
    kept, note = _largest(rows, rows.by)
    assert kept.by is not None
    keys, codes = kept.by.keys, kept.by.codes
    problem = rows.lens.induce(rows.sample)
    test = multiple_test(
        default_error(problem, n_bins), kept.y_true, kept.y_prob, over="groups", by=codes,
        lens=rows.lens, n_resamples=n_resamples or 1000, rng=seed, weight_type=rows.weight_type,
        **kept.border,
    )  # fmt: skip
    options = {"n_bins": n_bins, "confidence_level": level, "n_resamples": n_resamples, "rng": seed}
    entries = []
    everything = np.ones(kept.n, dtype=bool)
    parts = kept.by.of(kept.sample, everything, "make_report")
    for i, (_, part) in enumerate(parts):
        key = keys[int(test.names[i])]
        entries.append(_group(key, part, test, i, rows, options))
    entries.sort(key=lambda g: (g.adjusted, -g.error))
    named = replace(test, names=tuple(group_text(keys[int(code)]) for code in test.names))
    return tuple(entries), named, note


def _group(
    key: Any, part: Sample, test: MultipleTest, i: int, rows: Rows, o: dict[str, Any]
) -> GroupFigures:
    e = evaluate_sample(part, rows.lens, **o)
    error = e.default
    return GroupFigures(
        label=group_text(key),
        n_samples=part.n,
        observed=e.mean_observed,
        predicted=e.mean_predicted,
        auc=e.auc,
        brier=e.scores["brier"],
        error=test.statistics[i],
        low=error.low,
        high=error.high,
        null_mean=error.null_mean,
        null_q95=error.null_q95,
        pvalue=test.pvalues[i],
        adjusted=test.adjusted[i],
    )


def _largest(rows: Rows, by: Groups) -> tuple[Rows, str]:
    """Rows of the largest groups, as many as can be shown."""
    counts = np.bincount(by.codes, minlength=len(by.keys))
    present = int((counts > 0).sum())
    if present <= MOST_GROUPS:
        return rows, ""
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_GROUPS])
    kept = rows.take(np.flatnonzero(np.isin(by.codes, largest)))
    return kept, f"the {MOST_GROUPS} largest of {present:,} groups; the others were not tested"


def group_text(key: Any) -> str:
    """Key of a group as text."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
