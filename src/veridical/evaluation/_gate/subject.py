"""What requirements are asked of: all rows, or those of one subgroup."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from veridical._core.data.validation import is_integer
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample
from veridical.evaluation._battery.pushed import battery_of
from veridical.evaluation._data.source import SampleSource, Source
from veridical.evaluation._figures.measure import evaluate_source
from veridical.evaluation._gate.figures import (
    Change,
    figures_of,
    figures_of_evaluation,
    paired_change,
    unpaired_change,
)
from veridical.evaluation._gate.language import FUNCTIONS, Quantity
from veridical.exceptions import InvalidInputError, invalid
from veridical.inference.core import check_delta, equivalence_core, equivalence_error, required_core
from veridical.inference.tests import TESTS
from veridical.lenses.reading import Induced
from veridical.results import Evaluation, GateBaseline, GateFigure, SampleSize

CALLER = "check_requirements"
_TWO_LIMITS = {"low": "lower limit", "high": "upper limit"}
_FEWEST = 0.5  # how much a name must look like another to be taken for it


@dataclass(frozen=True)
class Options:
    """What is the same for all rows and every group."""

    n_bins: Any
    confidence_level: float
    n_resamples: int
    seed: int


class Read(NamedTuple):
    """A number that a requirement speaks of, what it is, and doubts about it."""

    value: float | None
    definition: str
    doubts: tuple[str, ...] = ()


class Subject:
    """Figures, tests and differences of one set of rows."""

    def __init__(
        self,
        group: str | None,
        evaluation: Evaluation,
        options: Options,
        *,
        source: Source | None = None,
        earlier: SampleSource | None = None,
        old: dict[str, GateFigure] | None = None,
    ) -> None:
        self.group, self.evaluation, self.n = group, evaluation, evaluation.n_samples
        self._options, self._source, self._earlier, self._old = options, source, earlier, old

    @cached_property
    def figures(self) -> dict[str, GateFigure]:
        """Every figure by name."""
        rows = self._source.sample if isinstance(self._source, SampleSource) else None
        return figures_of(self.evaluation, group=self.group, sample=rows)

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

    def rows_for(self, margin: float) -> SampleSize | None:
        """Rows with which equivalence is shown for a calibrated model, None if not known."""
        source, n_bins = self._source, self._options.n_bins
        if not (isinstance(source, SampleSource) and is_integer(n_bins)):
            return None
        problem = source.problem
        if not isinstance(problem, BinarySample) or problem.weight is not None:
            return None
        try:
            return required_core(margin, problem.p, goal="equivalence", n_bins=int(n_bins))
        except InvalidInputError:  # predictions of which there is no saying
            return None

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
            estimate = "undefined" if figure.value is None else f"{figure.value:.4f}"
            definition = f"{limit} of the {level}, estimate {estimate}; {definition}"
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
        if self._earlier is not None and isinstance(self._source, SampleSource):
            change: Change = paired_change(
                name,
                (self._source, self._earlier),
                options.n_bins,
                options.confidence_level,
                caller=CALLER,
            )
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
        source = self._known_source(quantity)
        caller = "equivalence_test"
        test = equivalence_core(
            _induced(source),
            delta=check_delta(float(quantity.argument or 0), caller=caller),
            estimator=equivalence_error(self._options.n_bins),
        )
        value = {"pvalue": test.pvalue, "high": test.upper, "value": test.statistic}
        what = {
            "pvalue": f"p-value of an error of {test.delta:g} or more",
            "high": f"upper limit at {100 * (1 - test.level):g} %",
            "value": "estimate, debiased",
        }
        definition = f"{what[quantity.field]}; {test.lens}: {test.definition}"
        doubts = tuple(f"{caller}: {note}" for note in test.notes)
        return Read(value[quantity.field], definition, doubts)

    def _test(self, quantity: Quantity) -> Read:
        source, options = self._known_source(quantity), self._options
        name = quantity.name.replace("_", "-")
        test = battery_of(
            source,
            n_bins=options.n_bins,
            level=1 - options.confidence_level,
            n_resamples=options.n_resamples,
            seed=options.seed,
        ).run(name)
        value = test.pvalue if quantity.field == "pvalue" else test.statistic
        definition = f"{test.method}, {test.null}; {test.lens}: {test.definition}"
        return Read(value, definition, tuple(TESTS[name].doubts(test)))

    def _known_source(self, quantity: Quantity) -> Source:
        if self._source is None:
            hint = "pass the outcomes and predictions themselves."
            got = f"'{quantity}' of an evaluation, which has no rows"
            raise invalid(CALLER, "requirements", "of figures", got, hint=hint)
        return self._source


def _induced(source: Source) -> Induced:
    """Rows as tests take them; of sums, those that stand for all."""
    if isinstance(source, SampleSource):
        return source.induced
    return Induced(source.binary, source.binary_lens, source.binary)


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


def subjects_of(
    source: Source,
    earlier: SampleSource | None,
    old: GateBaseline | None,
    options: Options,
    n_resamples: int,
) -> list[Subject]:
    """All rows, then each group; `earlier` are the same rows with the other predictions."""
    if earlier is not None and earlier.classes != source.classes:
        hint = "name predictions of the same classes, in the same order."
        got = f"{len(earlier.classes)} classes for {len(source.classes)}"
        raise invalid(CALLER, "against_prob", "of the same classes", got, hint=hint)

    def measured(part: Source) -> Evaluation:
        return evaluate_source(
            part,
            n_bins=options.n_bins,
            confidence_level=options.confidence_level,
            n_resamples=n_resamples,
            rng=options.seed,
        )

    def subject(group: str | None, part: Source, other: SampleSource | None) -> Subject:
        known = None if old is None else old.of(group)
        if other is not None:
            known = {f.name: f for f in figures_of_evaluation(measured(other)).figures}
        return Subject(group, measured(part), options, source=part, earlier=other, old=known)

    subjects = [subject(None, source, earlier)]
    parts = list(source.groups())
    others: list[SampleSource | None] = [None] * len(parts)
    if earlier is not None:
        others = [part for _, part in earlier.groups()]
    for index in track(len(parts), "measuring groups"):
        key, part = parts[index]
        subjects.append(subject(str(key), part, others[index]))
    return subjects


def subjects_of_evaluation(evaluation: Evaluation, old: GateBaseline | None) -> list[Subject]:
    """All rows, then each group, of which only figures are known."""
    options = Options(None, evaluation.confidence_level, 1, 0)
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
