"""From data to what requirements are asked of, and to what it is compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from veridical._core.progress import track
from veridical._core.sample import Sample
from veridical._core.validation import check_sample, kept_rows
from veridical.evaluation._gate_baseline import figures_of_evaluation
from veridical.evaluation._gate_subject import CALLER, Options, Subject
from veridical.evaluation._inputs import Inputs, gather_inputs
from veridical.evaluation._measure import evaluate_sample
from veridical.exceptions import invalid
from veridical.lenses import resolve_lens
from veridical.results import Evaluation
from veridical.results._gate import GateBaseline


def old_inputs(y_true: Any, y_prob: Any, y: str | None, old: Any, inputs: Inputs) -> Inputs:
    """The same rows with the predictions of the other model."""
    if y_prob is not None:
        return replace(inputs, y_prob=old)
    names = [old] if isinstance(old, str) else list(old)
    found = gather_inputs(
        y_true, None, y=y, prob=names, sample_weight=None, by=None, labels=inputs.labels,
        caller=CALLER,
    )  # fmt: skip
    return replace(inputs, y_prob=found.y_prob)


def subjects_of_rows(
    inputs: Inputs,
    before: Inputs | None,
    old: GateBaseline | None,
    lens: Any,
    pos_label: Any,
    options: Options,
    n_resamples: int,
) -> list[Subject]:
    """All rows, then each group."""

    def checked(given: Inputs) -> Sample:
        return check_sample(
            given.y_true, given.y_prob, caller=CALLER, labels=given.labels, pos_label=pos_label,
            sample_weight=given.sample_weight,
        )  # fmt: skip

    sample = checked(inputs)
    earlier = None if before is None else checked(before)
    if earlier is not None and earlier.classes != sample.classes:
        hint = "name predictions of the same classes, in the same order."
        got = f"{len(earlier.classes)} classes for {len(sample.classes)}"
        raise invalid(CALLER, "against_prob", "of the same classes", got, hint=hint)
    chosen = resolve_lens(lens, sample, caller=CALLER)
    options = replace(options, lens=chosen)

    def measured(part: Sample) -> Evaluation:
        return evaluate_sample(
            part, chosen, n_bins=options.n_bins, confidence_level=options.confidence_level,
            n_resamples=n_resamples, rng=options.seed,
        )  # fmt: skip

    def subject(group: str | None, part: Sample, other: Sample | None) -> Subject:
        known = None if old is None else old.of(group)
        if other is not None:
            known = {f.name: f for f in figures_of_evaluation(measured(other)).figures}
        return Subject(group, measured(part), options, sample=part, old_sample=other, old=known)

    subjects = [subject(None, sample, earlier)]
    if inputs.by is not None:
        kept = kept_rows(inputs.sample_weight, sample)
        parts = list(inputs.by.of(sample, kept, CALLER))
        others = [None] * len(parts)
        if earlier is not None:
            others = [part for _, part in inputs.by.of(earlier, kept, CALLER)]  # type: ignore[misc]
        for index in track(len(parts), "measuring groups"):
            key, part = parts[index]
            subjects.append(subject(str(key), part, others[index]))
    return subjects


def subjects_of_evaluation(evaluation: Evaluation, old: GateBaseline | None) -> list[Subject]:
    options = Options(None, None, evaluation.confidence_level, 1, 0)
    parts = [(None, evaluation), *((str(key), part) for key, part in evaluation.groups)]
    return [
        Subject(group, part, options, old=None if old is None else old.of(group))
        for group, part in parts
    ]


def check_same(evaluation: Evaluation, old: GateBaseline | None) -> None:
    """Raise where a baseline is about something else."""
    if old is None:
        return
    hint = "make the baseline anew with --save-baseline."
    if old.classes != tuple(map(str, evaluation.classes)):
        got = f"classes {', '.join(old.classes[:6])}"
        expected = f"of classes {', '.join(map(str, evaluation.classes[:6]))}"
        raise invalid(CALLER, "against", expected, got, hint=hint)
    if old.confidence_level != evaluation.confidence_level:
        got = f"limits at {old.confidence_level:g}"
        expected = f"with limits at {evaluation.confidence_level:g}"
        raise invalid(CALLER, "against", expected, got, hint=hint)
