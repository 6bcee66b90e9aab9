"""What several tests say together, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from veridical._core.sample import BinarySample, weighted_mean
from veridical.evaluation._direction import words_of_level, words_of_slope
from veridical.inference import recalibration_line
from veridical.lenses import Confidence, Induced
from veridical.results import (
    CalibrationTest,
    Coefficient,
    ConsistencyTest,
    CoxTest,
    MultipleTest,
    SampleSize,
)
from veridical.results._test import format_pvalue

_MOST_NAMED = 5


class Findings:
    """The tests made, and the words for them."""

    def __init__(
        self,
        tests: Mapping[str, CalibrationTest],
        adjusted: Sequence[float],
        level: float,
        induced: Induced,
    ) -> None:
        self._tests, self._adjusted, self._level = tests, adjusted, level
        self._induced = induced
        self.slope, self.intercept = self._line()

    @property
    def rejected(self) -> bool:
        """Whether any test rejects, all considered."""
        return min(self._adjusted) <= self._level

    def paragraph(self, families: Sequence[MultipleTest], detectable: SampleSize | None) -> str:
        """Return the verdict: rejected or not, which way, where; else what could be found."""
        if self.rejected:
            said = [self._rejection(), *self._error(), *self._direction()]
        else:
            said = [self._no_rejection(), self._power(detectable)]
        said += [self._of_family(family) for family in families if len(family.names) > 1]
        return " ".join(said)

    def _line(self) -> tuple[Coefficient | None, Coefficient | None]:
        """Slope and level as Cox's test has them, or as it would have."""
        cox, problem = self._tests.get("cox"), self._induced.problem
        if isinstance(cox, CoxTest):
            return cox.slope, cox.in_the_large
        if isinstance(problem, BinarySample) and self.rejected:
            line = recalibration_line(problem, 1 - self._level)
            return line.slope, line.in_the_large
        return None, None

    def _smallest(self) -> str:
        pairs = zip(self._adjusted, self._tests.values(), strict=True)
        pvalue, test = min(pairs, key=lambda pair: (pair[0], pair[1].pvalue))
        smallest = "smallest adjusted p" if len(self._adjusted) > 1 else "p"
        return f"{smallest} = {format_pvalue(pvalue)}, {test.method}"

    def _scope(self) -> str:
        correction = " after Holm's correction" if len(self._adjusted) > 1 else ""
        return f"calibration at level {self._level:g}{correction} ({self._smallest()})"

    def _rejection(self) -> str:
        count, all_tests = sum(p <= self._level for p in self._adjusted), len(self._adjusted)
        who = f"{count} of {all_tests} tests reject" + ("s" if count == 1 else "")
        if all_tests == 1:
            who = "the test rejects"
        return f"Miscalibrated: {who} {self._scope()}."

    def _no_rejection(self) -> str:
        count = len(self._adjusted)
        who = f"none of {count} tests rejects" if count > 1 else "the test does not reject"
        return f"No miscalibration found: {who} {self._scope()}."

    def _error(self) -> list[str]:
        test = self._tests.get("consistency")
        if not isinstance(test, ConsistencyTest):
            return []
        null = test.null_level
        return [
            f"{null.estimator} is {test.statistic:.4f}, where a calibrated model with these"
            f" predictions would read {null.mean:.4f} on average and up to"
            f" {null.quantile(0.95):.4f} in 95 % of samples."
        ]

    def _power(self, detectable: SampleSize | None) -> str:
        start = "That is not evidence of calibration"
        if detectable is None:
            return f"{start}: smaller errors than these rows can show may be there."
        return (
            f"{start}: with {detectable.n:,} rows an error of {detectable.delta:.4f} or more"
            " (root-mean-square gap, the same in all bins) would have been found with"
            f" {100 * detectable.power:g} % power, a smaller one may well be there."
        )

    def _direction(self) -> list[str]:
        """Say which way level and slope are wrong, where that is beyond chance."""
        said: list[str] = []
        problem, cox = self._induced.problem, self._tests.get("cox")
        of_confidence = isinstance(self._induced.lens, Confidence)
        if isinstance(problem, BinarySample):
            means = [weighted_mean(values, problem.weight) for values in (problem.p, problem.y)]
            said += words_of_level(self.intercept, *means, of_confidence=of_confidence)
        said += words_of_slope(self.slope, of_confidence=of_confidence)
        levels = cox.intercept_test if isinstance(cox, CoxTest) else None
        if levels is not None and self.intercept is None and levels.rejects(self._level):
            said.append("The shares of the classes are not those predicted.")
        if not said and self.slope is not None:
            said.append("Neither level nor slope is off over all: see the reliability curve.")
        return said

    def _of_family(self, family: MultipleTest) -> str:
        count, out = len(family.names), family.rejected(self._level)
        what = f"{count} {family.over}{'es' if family.over == 'class' else 's'}"
        if len(out) == count:
            return f"Every one of {what} stands out after correction for their number."
        if not out:
            return f"None of {what} stands out after correction for their number."
        shown = ", ".join(map(repr, out[:_MOST_NAMED]))
        if len(out) > _MOST_NAMED:
            shown += f" and {len(out) - _MOST_NAMED} more"
        verb = "stands" if len(out) == 1 else "stand"
        return f"Of {what}, {len(out)} {verb} out after correction for their number: {shown}."
