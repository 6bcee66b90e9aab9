"""What requirements are asked of: all rows, or those of one subgroup."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from veridical._core.data.validation import is_integer
from veridical._core.runtime.progress import track
from veridical._core.runtime.text import two_digits_up
from veridical._core.sample import BinarySample
from veridical.decisions.core import answer_risk
from veridical.evaluation._battery.pushed import battery_of
from veridical.evaluation._data.source import SampleSource, Source
from veridical.evaluation._figures.measure import Measuring, measure_figures, words_from
from veridical.evaluation._figures.segments import segments_of
from veridical.evaluation._gate.figures import (
    Change,
    figures_of,
    figures_of_evaluation,
    paired_change,
    unpaired_change,
)
from veridical.evaluation._gate.language import FUNCTIONS, SEGMENTS, Quantity
from veridical.evaluation._verdict.judge import judge, judge_group
from veridical.exceptions import InvalidInputError, invalid
from veridical.inference.core import (
    DEFAULT_MARGIN,
    Plan,
    check_margin,
    equivalence_core,
    equivalence_error,
    required_core,
)
from veridical.inference.tests import TESTS
from veridical.lenses.reading import Induced, event_of
from veridical.results import EquivalenceTest, Evaluation, GateBaseline, GateFigure, Verdict
from veridical.results.base import say_pvalue

CALLER = "check_requirements"
_TWO_LIMITS = ("low", "high")
_MOST_ROWS = 1e12
_FEWEST = 0.5  # how much a name must look like another to be taken for it


@dataclass(frozen=True)
class Options:
    """What is the same for all rows and every group."""

    n_bins: Any
    confidence_level: float
    n_resamples: int
    seed: int


class Read(NamedTuple):
    """A number that a requirement speaks of, what it is, and doubts about it.

    `low`, `high` and `centre` are the limits of what is asked about and where they shrink to, if
    the requirement asks for evidence; `outcome` is given where it does not follow from them.
    """

    value: float | None
    definition: str
    doubts: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    centre: float | None = None
    limit: float | None = None
    outcome: str | None = None
    rows: int | None = None


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

    def search(self, min_rows: int) -> None:
        """Search all segments of the rows, if they have features."""
        assert self._source is not None
        found = segments_of(
            self._source,
            confidence_level=self._options.confidence_level,
            n_resamples=self._options.n_resamples,
            seed=self._options.seed,
            min_rows=min_rows,
            caller=CALLER,
        )
        self.__dict__.pop("figures", None)
        self.evaluation = replace(self.evaluation, segments=found)

    @cached_property
    def figures(self) -> dict[str, GateFigure]:
        """Every figure by name."""
        return figures_of(self.evaluation, group=self.group)

    @property
    def verdict(self) -> Verdict:
        """What may be said about calibration."""
        return self.evaluation.verdict

    def about(self, lens: str) -> str:
        """What a figure seen through a lens is about: the class, or the name of the lens."""
        source = self._source
        if source is not None and lens == source.binary_lens.name:
            event = event_of(source.binary_lens, source.classes, source.named.y)
            return f"probability that {event} ({lens})"
        if source is None and lens == self.evaluation.lens and self.verdict.about:
            return f"{self.verdict.about} ({lens})"
        return lens

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
        if quantity.name == "calibrated":
            return self._calibrated(quantity)
        if quantity.name == "difference":
            return self._difference(quantity)
        if quantity.name == "risk":
            return self._risk(quantity)
        if quantity.name == SEGMENTS:
            return self._segments(quantity)
        if quantity.is_function:
            return self._test(quantity)
        return self._figure(quantity)

    def limits_known(self, name: str) -> bool:
        """Whether a figure has confidence limits."""
        return name in self.figures and self.figures[name].has_limits

    def _rows_for(self, margin: float) -> int | None:
        """Rows with which equivalence is shown for a calibrated model, None if not known."""
        source, n_bins = self._source, self._options.n_bins
        if not (isinstance(source, SampleSource) and is_integer(n_bins)):
            return None
        problem = source.problem
        if not isinstance(problem, BinarySample) or problem.weight is not None:
            return None
        try:
            return required_core(margin, problem.p, Plan(goal="equivalence", n_bins=int(n_bins))).n
        except InvalidInputError:  # predictions of which there is no saying
            return None

    def _segments(self, quantity: Quantity) -> Read:
        """The largest gap of any segment; more rows make more segments, so none are foretold."""
        if SEGMENTS not in self.figures:
            hint = 'pass `features`, or a frame and by="auto".'
            got = f"'{quantity}' without features"
            raise invalid(CALLER, "requirements", "of what was searched", got, hint=hint)
        figure = self.figures[SEGMENTS]
        value = getattr(figure, quantity.field)
        definition = f"{self.about(figure.lens)}: {figure.definition}"
        return Read(value, definition, low=figure.low, high=figure.high)

    def _figure(self, quantity: Quantity) -> Read:
        figure = _named(quantity.name, self.figures)
        value = getattr(figure, quantity.field)
        if value is None and quantity.field in _TWO_LIMITS:
            known = [name for name, each in self.figures.items() if each.has_limits]
            hint, got = f"figures with limits: {', '.join(known)}.", f"'{quantity}'"
            raise invalid(CALLER, "requirements", "of figures with limits", got, hint=hint)
        if value is None and quantity.field != "value":
            known = [name for name, each in self.figures.items() if each.pvalue is not None]
            hint = f"figures with a null level: {', '.join(known) or 'none (n_resamples=0?)'}."
            got = f"'{quantity}'"
            raise invalid(CALLER, "requirements", "of figures with a null level", got, hint=hint)
        definition = f"{self.about(figure.lens)}: {figure.definition}"
        if quantity.field not in _TWO_LIMITS:
            return Read(value, definition)
        centre = figure.value if figure.centre is None else figure.centre
        return Read(
            value,
            f"{definition}; estimate {_limits_of(figure)}",
            low=figure.low,
            high=figure.high,
            centre=centre,
        )

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
        return Read(
            getattr(change, quantity.field),
            change.definition,
            low=change.low,
            high=change.high,
            centre=change.value,
        )

    def _tested(self, quantity: Quantity, level: float) -> EquivalenceTest:
        """Whether calibration within the margin of a requirement is shown at this level."""
        source = self._known_source(quantity)
        margin = DEFAULT_MARGIN if quantity.argument is None else quantity.argument
        return equivalence_core(
            _drawn(source) if quantity.name == "calibrated" else _induced(source),
            delta=check_margin(margin, caller=CALLER),
            estimator=equivalence_error(self._options.n_bins),
            level=level,
        )

    def _calibrated(self, quantity: Quantity) -> Read:
        """Nothing found by the joint test, and an error above the margin excluded."""
        test = self._tested(quantity, round((1 - self._options.confidence_level) / 2, 12))
        verdict = self.verdict
        if verdict.found:
            outcome = "not met"
        elif verdict.kind != "not shown" or not test.equivalent or test.says_nothing:
            outcome = "undecided"
        else:
            outcome = "met"
        joint = ""
        if verdict.pvalue is not None:
            draws = None if verdict.joint is None else verdict.joint.n_resamples
            joint = f"joint test {say_pvalue(verdict.pvalue, draws)}; "
        definition = (
            f"{verdict.about}: {joint}{test.lens}: {test.definition} at most {test.upper:.4f},"
            f" margin {test.margin}"
        )
        return Read(
            test.upper,
            definition,
            doubts=self._doubts_of(test),
            limit=test.delta,
            outcome=outcome,
            rows=self._rows_to_show(test) if outcome == "undecided" else None,
        )

    def _rows_to_show(self, test: EquivalenceTest) -> int | None:
        """Rows that would show equivalence, or the lack of it."""
        if test.statistic < test.delta:
            needed = self._rows_for(test.delta)
            if needed is not None and needed > self.n:
                return needed
        return rows_to_decide(test.delta, test.statistic, test.lower, test.upper, self.n)

    def _doubts_of(self, test: EquivalenceTest) -> tuple[str, ...]:
        doubts = [f"equivalence_test: {note}" for note in test.notes]
        if test.says_nothing:
            doubts.append(
                f"a margin of {test.delta:.4g} says nothing here: the forecast {1 - test.rarer} is"
                f" within it too (base rate {test.base_rate:.4g}); give it as a share of the base"
                f" rate, e.g. {DEFAULT_MARGIN}"
            )
        return tuple(doubts)

    def _equivalence(self, quantity: Quantity) -> Read:
        test = self._tested(quantity, 0.05)
        value = {"pvalue": test.pvalue, "high": test.upper, "value": test.statistic}
        what = {
            "pvalue": f"p-value of an error of {test.delta:.4g} or more",
            "high": f"upper limit at {100 * (1 - test.level):g} %",
            "value": "estimate, debiased",
        }
        definition = f"{what[quantity.field]}; {self.about(test.lens)}: {test.definition}"
        beside: dict[str, Any] = {"low": test.lower, "high": test.upper, "centre": test.statistic}
        if quantity.field == "pvalue":
            violated = test.lower >= test.delta
            beside = {"outcome": "not met" if violated else "undecided"}
            beside["rows"] = None if violated else self._rows_to_show(test)
        return Read(value[quantity.field], definition, self._doubts_of(test), **beside)

    def _risk(self, quantity: Quantity) -> Read:
        """Share of wrong answers among the rows whose most probable class is given so much."""
        source, threshold = self._known_source(quantity), quantity.argument
        assert isinstance(threshold, float)
        if not isinstance(source, SampleSource):
            hint = 'pass the rows, or `engine="memory"`.'
            got = f"'{quantity}' of sums of rows"
            raise invalid(CALLER, "requirements", "of figures that sums hold", got, hint=hint)
        found = answer_risk(source.sample, threshold, self._options.confidence_level)
        what = f"wrong answers where the most probable class has {threshold:g} or more"
        if found is None:
            return Read(None, f"{what}: no such row", outcome="undecided")
        value = {"value": found.mean.estimate, "low": found.mean.low, "high": found.mean.high}
        definition = f"{what}, {found.share:.1%} of the rows"
        low, high, centre = found.mean.low, found.mean.high, found.mean.estimate
        limits = f"; estimate {centre:.4f} ({low:.4f} to {high:.4f})"
        return Read(value[quantity.field], definition + limits, low=low, high=high, centre=centre)

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
        definition = f"{test.method}, {test.null}; {self.about(test.lens)}: {test.definition}"
        return Read(value, definition, tuple(TESTS[name].doubts(test)))

    def _known_source(self, quantity: Quantity) -> Source:
        if self._source is None:
            hint = "pass the outcomes and predictions themselves."
            got = f"'{quantity}' of an evaluation, which has no rows"
            raise invalid(CALLER, "requirements", "of figures", got, hint=hint)
        return self._source


def rows_to_decide(
    limit: float, centre: float | None, low: float | None, high: float | None, n: int
) -> int | None:
    """Rows with which limits that shrink as one over the root of n would lie on one side.

    None if that is not known, or if the estimate is where the limit is.

    Examples
    --------
    Limits 0.04 from the estimate must come within 0.02 of it: four times as many rows.

    >>> rows_to_decide(0.05, 0.03, 0.0, 0.07, 400)
    1600
    """
    if centre is None or low is None or high is None or centre == limit:
        return None
    far = high - centre if centre < limit else centre - low
    ratio = far / abs(limit - centre)
    if not (math.isfinite(ratio) and ratio > 0):
        return None
    count = n * ratio**2
    if not count < _MOST_ROWS:
        return None
    return max(n + 1, two_digits_up(count))


def _limits_of(figure: GateFigure) -> str:
    value = "undefined" if figure.value is None else f"{figure.value:.4f}"
    return f"{value} ({figure.low:.4f} to {figure.high:.4f})"


def _induced(source: Source) -> Induced:
    """Rows as tests take them; of sums, those that stand for all."""
    return source.induced if isinstance(source, SampleSource) else _drawn(source)


def _drawn(source: Source) -> Induced:
    """The binary problem that curves are drawn of: of several problems the confidence."""
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
        asked = Measuring(options.n_bins, options.confidence_level, n_resamples, options.seed)
        return measure_figures(part, asked)

    def subject(
        group: str | None, own: Evaluation, part: Source, other: SampleSource | None
    ) -> Subject:
        known = None if old is None else old.of(group)
        if other is not None:
            known = {f.name: f for f in figures_of_evaluation(measured(other)).figures}
        return Subject(group, own, options, source=part, earlier=other, old=known)

    every_row = measured(source)
    asked = Measuring(
        options.n_bins, options.confidence_level, options.n_resamples, options.seed
    ).judging
    judged = judge(source, words_from(every_row), asked)
    subjects = [subject(None, replace(every_row, verdict=judged.verdict), source, earlier)]
    parts = list(source.groups())
    others: list[SampleSource | None] = [None] * len(parts)
    if earlier is not None:
        others = [part for _, part in earlier.groups()]
    for index in track(len(parts), "measuring groups"):
        key, part = parts[index]
        own = measured(part)
        verdict = judge_group(part, words_from(own), key, judged.of_group.get(key), asked)
        subjects.append(subject(str(key), replace(own, verdict=verdict), part, others[index]))
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
