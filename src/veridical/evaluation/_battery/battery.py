"""The tests of calibration by name, and which of them are quick enough to be made unasked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from veridical._core.data.validation import check_option
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import ArrayLike
from veridical.evaluation._data.source import default_error
from veridical.exceptions import InvalidInputError, VeridicalWarning, invalid
from veridical.frames.inputs import Inputs
from veridical.inference import (
    consistency_test,
    cox_test,
    hosmer_lemeshow_test,
    kernel_test,
    multiple_test,
    pearson_test,
    spiegelhalter_test,
    t_cal_test,
)
from veridical.lenses import Canonical, Classwise, ClasswiseProblem, Confidence, Induced
from veridical.results import CalibrationTest, MultipleTest

UNASKED = ("consistency", "spiegelhalter", "hosmer-lemeshow", "cox", "t-cal")
NAMES = (*UNASKED, "kernel", "pearson")
_TITLES = {
    "consistency": "the consistency test",
    "spiegelhalter": "Spiegelhalter's test",
    "hosmer-lemeshow": "the Hosmer-Lemeshow test",
    "cox": "Cox's test",
    "t-cal": "T-Cal",
    "classwise": "the consistency test of the classes",
}
# Probabilities times draws that take a second or two: outcomes redrawn and summed by bins of every
# width, by class, and by groups of whole vectors.
_MOST_BY_SCALE, _MOST_BY_CLASS, _MOST_BY_VECTOR = 1e7, 1e8, 3e7
# Cox's test of K classes: probabilities times K, in one fit and in those of all draws. It draws
# where outcomes vary less than this and probabilities are not too many.
_MOST_FITTED, _MOST_REFITTED = 3e6, 5e6
_VARIES_ENOUGH, _MOST_REDRAWN = 30.0, 20_000


@dataclass(frozen=True)
class Battery:
    """Tests of one sample through one lens, every one from the same seed."""

    inputs: Inputs
    pos_label: Any
    induced: Induced
    n_bins: Any
    level: float
    n_resamples: int
    seed: int

    def run(self, name: str) -> CalibrationTest:
        """Make one test; "classwise" is the consistency test of all classes."""
        if name == "classwise":
            sample, lens = self.induced.sample, Classwise()
            through_it = Induced(sample, lens, lens.induce(sample))
            return replace(self, induced=through_it).run("consistency")
        y_true, y_prob = self.inputs.y_true, self.inputs.y_prob
        options = self._options(name)
        if name == "consistency":
            error = default_error(self.induced.problem, self.n_bins)
            return consistency_test(error, y_true, y_prob, **options)
        if name == "cox":
            return cox_test(y_true, y_prob, confidence_level=1 - self.level, **options)
        return _BY_NAME[name](y_true, y_prob, **options)

    def family(self, by: ArrayLike | None = None) -> MultipleTest:
        """Test every group of rows, or every class."""
        problem = self.induced.problem
        if by is None:
            problem = Classwise().induce(self.induced.sample)
        return multiple_test(
            default_error(problem, self.n_bins),
            self.inputs.y_true,
            self.inputs.y_prob,
            over="classes" if by is None else "groups",
            by=by,
            **self._options("consistency"),
        )

    def groups(self) -> MultipleTest | None:
        """Test every group of rows, if there are groups."""
        by = self.inputs.by
        if by is None:
            return None
        family = self.family(by.codes)
        return replace(family, names=tuple(by.keys[code] for code in family.names))

    @property
    def n_samples(self) -> int:
        """Number of rows tested."""
        return self.induced.sample.n

    def takes_long(self, name: str) -> bool:
        """Whether a test takes much more than a second."""
        problem = self.induced.problem
        several = not isinstance(problem, BinarySample)
        sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
        drawn = sample.p.size * self.n_resamples
        if name == "classwise":
            return self.induced.sample.p.size * self.n_resamples > _MOST_BY_CLASS
        if name == "t-cal":
            return drawn > _MOST_BY_SCALE
        if name == "consistency":
            return several and drawn > _MOST_BY_CLASS
        if name == "hosmer-lemeshow":
            return several and drawn > _MOST_BY_VECTOR
        return name == "cox" and _cox_takes_long(sample, self.n_resamples)

    def can(self, name: str) -> bool:
        """Whether what is known of the rows is enough for a test."""
        return True

    @property
    def asks_of_classes(self) -> bool:
        """Whether the classes are a question beside that of the lens."""
        whole = isinstance(self.induced.lens, (Canonical, Classwise, Confidence))
        return whole and isinstance(self.induced.sample, MulticlassSample)

    def _options(self, name: str) -> dict[str, Any]:
        return {
            "lens": self.induced.lens,
            "labels": self.inputs.labels,
            "pos_label": self.pos_label,
            "sample_weight": self.inputs.sample_weight,
            "n_resamples": self.n_resamples,
            "rng": self.seed,
        }


def _cox_takes_long(sample: Sample, n_resamples: int) -> bool:
    binary = isinstance(sample, BinarySample)
    p = sample.p.astype(np.float64, copy=False)
    variance = sample.size * np.average(p * (1 - p), axis=0, weights=sample.weight)
    values = p.size * (1 if binary else len(sample.classes))
    if variance.min() < _VARIES_ENOUGH and p.size <= _MOST_REDRAWN:
        return values * n_resamples > _MOST_REFITTED
    return not binary and values > _MOST_FITTED


_BY_NAME: dict[str, Callable[..., CalibrationTest]] = {
    "spiegelhalter": spiegelhalter_test,
    "hosmer-lemeshow": hosmer_lemeshow_test,
    "t-cal": t_cal_test,
    "kernel": kernel_test,
    "pearson": pearson_test,
}


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


def run_tests(
    battery: Battery, asked: tuple[str, ...] | None
) -> tuple[dict[str, CalibrationTest], list[str]]:
    """Make the tests asked for, or those that fit and are quick; with notes on what is left out."""
    if asked is not None:
        return {name: battery.run(name) for name in asked}, []
    if isinstance(battery.induced.problem, ClasswiseProblem):  # there is no other test
        return {"consistency": battery.run("consistency")}, []
    fit: tuple[str, ...] = UNASKED
    if isinstance(battery.induced.lens, Confidence) and battery.asks_of_classes:
        fit = (*UNASKED, "classwise")
    made, notes = {}, []
    for name in fit:
        if not battery.can(name):
            notes.append(f"{_TITLES[name]} was left out: it needs the rows, engine='memory'")
            continue
        if battery.takes_long(name):
            ask = "by that lens" if name == "classwise" else f"by name, {name!r}"
            notes.append(f"{_TITLES[name]} was left out, as it would take long; ask for it {ask}")
            continue
        try:
            made[name] = battery.run(name)
        except InvalidInputError as error:
            why = str(error).splitlines()[0].rstrip(".")
            notes.append(f"{_TITLES[name]} was left out: {why}")
    return made, notes


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


@contextmanager
def doubts_into(notes: list[str]) -> Iterator[None]:
    """Collect the statistical doubts of the functions called; other warnings pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VeridicalWarning)
        yield
    for w in caught:
        if issubclass(w.category, VeridicalWarning):
            text = str(w.message).rstrip(".")
            if text not in notes:
                notes.append(text)
        else:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno, source=w.source)
