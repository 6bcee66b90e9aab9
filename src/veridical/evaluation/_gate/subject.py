"""What requirements are asked of: all rows, or those of one subgroup.

From data to what requirements are asked of, and to what it is compared with.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from veridical._core.data.validation import check_sample, is_integer, kept_rows
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample, Sample
from veridical.evaluation._battery.battery import Battery
from veridical.evaluation._figures.measure import evaluate_sample
from veridical.evaluation._gate.figures import (
    Change,
    figures_of,
    figures_of_evaluation,
    paired_change,
    unpaired_change,
)
from veridical.evaluation._gate.language import FUNCTIONS, Quantity
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.inputs import Inputs, gather_inputs
from veridical.inference.core import check_delta, equivalence_core, equivalence_error, required_core
from veridical.inference.tests import TESTS
from veridical.lenses import Induced, Lens, resolve_lens
from veridical.results import Evaluation, GateBaseline, GateFigure

CALLER = "check_requirements"
_TWO_LIMITS = {"low": "lower limit", "high": "upper limit"}
_FEWEST = 0.5  # how much a name must look like another to be taken for it


@dataclass(frozen=True)
class Options:
    """What is the same for all rows and every group."""

    lens: Lens | None  # None where there is an evaluation only
    n_bins: Any
    confidence_level: float
    n_resamples: int
    seed: int


class Read(NamedTuple):
    """A number that a requirement speaks of, and what it is."""

    value: float | None
    definition: str


class Subject:
    """Figures, tests and differences of one set of rows."""

    def __init__(
        self,
        group: str | None,
        evaluation: Evaluation,
        options: Options,
        *,
        sample: Sample | None = None,
        old_sample: Sample | None = None,
        old: dict[str, GateFigure] | None = None,
        doubts: list[str] | None = None,
    ) -> None:
        self.doubts = [] if doubts is None else doubts  # of all subjects, as they are read
        self.group, self.evaluation, self.n = group, evaluation, evaluation.n_samples
        self._options, self._sample, self._old_sample, self._old = options, sample, old_sample, old

    @cached_property
    def figures(self) -> dict[str, GateFigure]:
        """Every figure by name."""
        return figures_of(self.evaluation, group=self.group, sample=self._sample)

    @property
    def rows_a_bin(self) -> float:
        """Rows in a bin of the reliability curve, on average."""
        return self.n / max(len(self.evaluation.curve), 1)

    def read(self, quantity: Quantity, minus: Quantity | None = None) -> Read:
        """Return the number a requirement speaks of."""
        if minus is not None:
            new, old = self._figure(quantity), self._baseline(minus)
            both = new.value is not None and old.value is not None
            value = new.value - old.value if both else None  # type: ignore[operator]
            return Read(value, f"{quantity} less {minus} of the baseline; {new.definition}")
        if quantity.name == "equivalence":
            return self._equivalence(quantity)
        if quantity.name == "difference":
            return self._difference(quantity)
        if quantity.is_function:
            return self._test(quantity)
        return self._figure(quantity)

    def limits_known(self, name: str) -> bool:
        """Whether a figure has confidence limits."""
        return name in self.figures and self.figures[name].has_limits

    def rows_for(self, margin: float) -> int | None:
        """Rows with which equivalence is shown for a calibrated model, None if not known."""
        if self._sample is None or self._options.lens is None:
            return None
        problem = self._options.lens.induce(self._sample)
        n_bins = self._options.n_bins
        if not (isinstance(problem, BinarySample) and is_integer(n_bins)):
            return None
        if problem.weight is not None:
            return None
        try:
            size = required_core(margin, problem.p, goal="equivalence", n_bins=int(n_bins))
        except InvalidInputError:  # predictions of which there is no saying
            return None
        self.doubts += [f"required_sample_size: {note}" for note in size.notes]
        return size.n

    def _figure(self, quantity: Quantity) -> Read:
        figure = _named(quantity.name, self.figures)
        value = getattr(figure, quantity.field)
        if value is None and quantity.field in _TWO_LIMITS:
            known = [name for name, each in self.figures.items() if each.has_limits]
            if not known and self.n < 2:
                return Read(None, "limits of one row")
            hint, got = f"figures with limits: {', '.join(known)}.", f"'{quantity}'"
            raise invalid(CALLER, "requirements", "of figures with limits", got, hint=hint)
        if value is None and quantity.field != "value":
            known = [name for name, each in self.figures.items() if each.pvalue is not None]
            hint = f"figures with a null level: {', '.join(known) or 'none (n_resamples=0?)'}."
            got = f"'{quantity}'"
            raise invalid(CALLER, "requirements", "of figures with a null level", got, hint=hint)
        definition = f"{figure.lens}: {figure.definition}"
        limit = _TWO_LIMITS.get(quantity.field)
        if limit is not None:
            level = f"{100 * self.evaluation.confidence_level:g} % interval"
            shown = "undefined" if figure.value is None else f"{figure.value:.4f}"
            definition = f"{limit} of the {level}, estimate {shown}; {definition}"
        return Read(value, definition)

    def _baseline(self, quantity: Quantity) -> Read:
        old = self._known_baseline()
        figure = _named(quantity.name, old)
        new = _named(quantity.name, self.figures)
        _check_alike(new, figure)
        value = getattr(figure, quantity.field)
        if value is None and quantity.field != "value":
            hint = "write the baseline with --save-baseline, or compare the value."
            got = f"no '{quantity}' in the baseline"
            raise invalid(CALLER, "requirements", "of what the baseline holds", got, hint=hint)
        return Read(value, figure.definition)

    def _known_baseline(self) -> dict[str, GateFigure]:
        if self._old is None:
            hint = "name a file of figures, or predictions for the same rows as `against_prob`."
            raise invalid(CALLER, "against", "given", "no baseline", hint=hint)
        return self._old

    def _difference(self, quantity: Quantity) -> Read:
        old, name = self._known_baseline(), str(quantity.argument)
        options = self._options
        if self._old_sample is not None and self._sample is not None and options.lens is not None:
            change: Change = paired_change(
                name, (self._sample, self._old_sample), options.lens, options.n_bins,
                options.confidence_level, caller=CALLER,
            )  # fmt: skip
        else:
            new, before = _named(name, self.figures), _named(name, old)
            _check_alike(new, before)
            if quantity.field == "pvalue":
                hint = "compare on the same rows with --against-column, or require a limit."
                got = "'pvalue' of a baseline without rows"
                raise invalid(CALLER, "requirements", "'value', 'low' or 'high'", got, hint=hint)
            change = unpaired_change(new, before, caller=CALLER)
        return Read(getattr(change, quantity.field), change.definition)

    def _equivalence(self, quantity: Quantity) -> Read:
        caller, induced = "equivalence_test", self._induced(quantity)
        test = equivalence_core(
            induced,
            delta=check_delta(float(quantity.argument or 0), caller=caller),
            estimator=equivalence_error(self._options.n_bins),
        )
        self.doubts += [f"{caller}: {note}" for note in test.notes]
        value = {"pvalue": test.pvalue, "high": test.upper, "value": test.statistic}
        what = {"pvalue": f"p-value of an error of {test.delta:g} or more",
                "high": f"upper limit at {100 * (1 - test.level):g} %",
                "value": "estimate, debiased"}  # fmt: skip
        definition = f"{what[quantity.field]}; {test.lens}: {test.definition}"
        return Read(value[quantity.field], definition)

    def _test(self, quantity: Quantity) -> Read:
        name, options = quantity.name.replace("_", "-"), self._options
        battery = Battery(
            induced=self._induced(quantity),
            n_bins=options.n_bins,
            level=1 - options.confidence_level,
            n_resamples=options.n_resamples,
            seed=options.seed,
        )
        test = battery.run(name)
        self.doubts += TESTS[name].doubts(test)
        value = test.pvalue if quantity.field == "pvalue" else test.statistic
        return Read(value, f"{test.method}, {test.null}; {test.lens}: {test.definition}")

    def _induced(self, quantity: Quantity) -> Induced:
        """The rows as the lens shows them."""
        sample, lens = self._sample, self._options.lens
        if sample is None or lens is None:
            hint = "pass the outcomes and predictions themselves."
            got = f"'{quantity}' of an evaluation, which has no rows"
            raise invalid(CALLER, "requirements", "of figures", got, hint=hint)
        return Induced(sample, lens, lens.induce(sample))


def _named(name: str, figures: dict[str, GateFigure]) -> GateFigure:
    if name in figures:
        return figures[name]
    if not figures:
        hint = "leave such groups out, or make the baseline anew."
        raise invalid(
            CALLER, "against", "a baseline with the same groups", "no such group", hint=hint
        )
    near = difflib.get_close_matches(name, [*figures, *FUNCTIONS], n=1, cutoff=_FEWEST)
    known = f"figures: {', '.join(figures)}; functions: {', '.join(FUNCTIONS)}."
    hint = f"did you mean {near[0]!r}?" if near else known
    raise invalid(CALLER, "requirements", "of figures that were measured", repr(name), hint=hint)


def _check_alike(new: GateFigure, old: GateFigure) -> None:
    if (new.definition, new.lens) != (old.definition, old.lens):
        got = f"{new.name!r} of {new.lens}: {new.definition} and of {old.lens}: {old.definition}"
        hint = "measure both with the same lens and bins."
        raise invalid(CALLER, "against", "figures of the same definition", got, hint=hint)


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
        return Subject(
            group,
            measured(part),
            options,
            sample=part,
            old_sample=other,
            old=known,
            doubts=doubts,
        )

    doubts: list[str] = []
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
