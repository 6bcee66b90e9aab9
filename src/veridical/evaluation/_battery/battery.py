"""The tests of one sample: which fit it, which are quick enough to be made unasked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.data.validation import check_option
from veridical._core.sample import MulticlassSample
from veridical.evaluation._data.source import SampleSource, Source, default_error
from veridical.exceptions import InvalidInputError, invalid
from veridical.inference.core import multiple_core
from veridical.inference.tests import TEST_OF_CLASSES, TESTS, KnownTest
from veridical.lenses import Canonical, Classwise, ClasswiseProblem, Confidence
from veridical.lenses.reading import Induced
from veridical.results import CalibrationTest, MultipleTest

NAMES = tuple(TESTS)


@dataclass(frozen=True, kw_only=True)
class Battery:
    """Tests of one sample through one lens, every one from the same seed.

    Attributes
    ----------
    source : the rows, seen through the lens
    n_bins : bins of the consistency tests
    level : at which calibration is rejected
    n_resamples, seed : of whatever is drawn
    """

    source: Source
    n_bins: Any
    level: float
    n_resamples: int
    seed: int

    @property
    def induced(self) -> Induced:
        """The sample and what the lens shows of it."""
        return self._rows.induced

    @property
    def _rows(self) -> SampleSource:
        assert isinstance(self.source, SampleSource)
        return self.source

    def run(self, name: str) -> CalibrationTest:
        """Make one test, whose notes are its doubts."""
        return self._make(TESTS[name], self.induced)

    def of_classes(self) -> CalibrationTest:
        """Make the consistency test of all classes."""
        return self._make(TEST_OF_CLASSES, self._classwise)

    def family(self) -> MultipleTest:
        """Test every class."""
        return self._multiple("classes", self._classwise)

    def groups(self) -> MultipleTest | None:
        """Test every group of rows, if there are groups."""
        return None if self._rows.by is None else self._multiple("groups", self.induced)

    @property
    def n_samples(self) -> int:
        """Number of rows tested."""
        return self.induced.sample.n

    def takes_long(self, test: KnownTest) -> bool:
        """Whether a test takes much more than a second."""
        through = self._classwise if test is TEST_OF_CLASSES else self.induced
        return test.takes_long(through, self.n_resamples)

    def can(self, test: KnownTest) -> bool:
        """Whether what is known of the rows is enough for a test."""
        return True

    @property
    def asks_of_classes(self) -> bool:
        """Whether the classes are a question beside that of the lens."""
        of_all_classes = isinstance(self.induced.lens, (Canonical, Classwise, Confidence))
        return of_all_classes and isinstance(self.induced.sample, MulticlassSample)

    @property
    def _classwise(self) -> Induced:
        lens = Classwise()
        return Induced(self.induced.sample, lens, lens.induce(self.induced.sample))

    @property
    def _drawing(self) -> dict[str, Any]:
        return {"draws": Draws(self.n_resamples, np.random.default_rng(self.seed))}

    def _make(self, test: KnownTest, induced: Induced, **options: Any) -> CalibrationTest:
        own = {
            "estimator": default_error(induced.problem, self.n_bins),
            "confidence_level": 1 - self.level,
        }
        options |= {name: own[name] for name in test.takes}
        return test.core(induced=induced, **self._drawing, **options)

    def _multiple(self, over: str, induced: Induced) -> MultipleTest:
        return multiple_core(
            default_error(induced.problem, self.n_bins),
            induced.sample,
            over=over,
            parts=self._rows.samples_by_group(),
            lens=induced.lens,
            **self._drawing,
        )


def check_names(tests: Any, induced: Induced, *, caller: str) -> tuple[str, ...] | None:
    """Return the tests asked for, each once, or None for those that fit."""
    if tests is None:
        return None
    names = [tests] if isinstance(tests, str) else tests
    if not isinstance(names, Sequence) or not len(names):
        hint = f"the tests are {', '.join(map(repr, NAMES))}."
        raise invalid(caller, "tests", "a name or a list of names", repr(tests), hint=hint)
    for name in names:
        check_option(caller, "tests", name, NAMES)
    if isinstance(induced.problem, ClasswiseProblem) and set(names) != {"consistency"}:
        hint = "test one class at a time with `lens=ClassSpecific(label)`, or lens='canonical'."
        got = ", ".join(map(repr, names))
        raise invalid(caller, "tests", "'consistency' for the classwise lens", got, hint=hint)
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class TestsMade:
    """Tests by name, what was left out and why, and doubts about those made."""

    tests: dict[str, CalibrationTest]
    left_out: list[str]
    doubts: list[str]


def run_tests(battery: Battery, asked: tuple[str, ...] | None) -> TestsMade:
    """Make the tests asked for, or those that fit and are quick."""
    made = TestsMade({}, [], [])
    named = asked
    if named is None and isinstance(battery.induced.problem, ClasswiseProblem):
        named = ("consistency",)  # there is no other test
    if named is not None:
        for name in named:
            _keep(made, TESTS[name], battery.run(name))
        return made
    fit = [test for test in TESTS.values() if test.unasked]
    if isinstance(battery.induced.lens, Confidence) and battery.asks_of_classes:
        fit.append(TEST_OF_CLASSES)
    for test in fit:
        of_classes = test is TEST_OF_CLASSES
        if not battery.can(test):
            why = "it needs the rows, engine='memory'"
            made.left_out.append(f"{test.title} was left out: {why}")
            continue
        if battery.takes_long(test):
            ask = "by that lens" if of_classes else f"by name, {test.name!r}"
            why = f"as it would take long; ask for it {ask}"
            made.left_out.append(f"{test.title} was left out, {why}")
            continue
        try:
            _keep(made, test, battery.of_classes() if of_classes else battery.run(test.name))
        except InvalidInputError as error:
            made.left_out.append(f"{test.title} was left out: {error.problem.rstrip('.')}")
    return made


def _keep(made: TestsMade, known: KnownTest, test: CalibrationTest) -> None:
    made.tests[known.name] = test
    made.doubts.extend(note for note in known.doubts(test) if note not in made.doubts)


def group_test(family: MultipleTest) -> CalibrationTest:
    """The family as one test, whose p-value is that of its worst group after correction."""
    worst = min(range(len(family.names)), key=lambda i: (family.adjusted[i], family.pvalues[i]))
    return CalibrationTest(
        statistic=family.statistics[worst],
        pvalue=family.adjusted[worst],
        method=f"{family.method}, by group",
        null=f"{family.n_resamples:,} draws of outcomes from the predictions",
        definition=f"worst of {len(family.names)} ({family.names[worst]}), {family.definition}",
        lens=family.lens,
        n_samples=family.n_samples[worst],
        n_resamples=family.n_resamples,
    )


def common_part(test: CalibrationTest) -> CalibrationTest:
    """What every test has, without null samples and coefficients."""
    kept = {field.name: getattr(test, field.name) for field in fields(CalibrationTest)}
    return CalibrationTest(**kept)
