"""Several tests of calibration, and what they say together."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

from veridical.results._base import Result
from veridical.results._cox import Coefficient
from veridical.results._multiple import MultipleTest
from veridical.results._sample_size import SampleSize
from veridical.results._test import CalibrationTest, format_pvalue
from veridical.results._text import html_table

_WIDEST = 64  # characters of a definition in the text
_LONG = 1e5  # statistics from here on are rounded


@dataclass(frozen=True, kw_only=True)
class TestReport(Result):
    """Everything `calibration_tests` found.

    Attributes
    ----------
    names : short name of each test
    tests : outcome of each test, with what every test has: `statistic`, `pvalue`, `definition`
    adjusted : p-values corrected for the number of tests (Holm)
    level : level that `rejected` and `verdict` are about
    lens : name of the lens
    n_samples : rows (of positive weight)
    verdict : one paragraph in words
    slope, intercept : of the recalibration line of a binary problem: Cox's slope (below 1: too
        extreme) and the intercept with slope 1 (below 0: predictions too high), with intervals
        of confidence 1 - level; None if there is no such line
    classes, groups : a test for each class or subgroup, corrected for their number; None if
        there was none
    detectable : the error that would have been found with 80 % power, if none was found; None
        if something was, or nothing is known
    notes : statistical doubts in words, and tests that were left out

    Examples
    --------
    >>> test = CalibrationTest(statistic=2.5, pvalue=0.0124, method="Spiegelhalter's test",
    ...     null="standard normal", definition="z", lens="binary", n_samples=100)
    >>> report = TestReport(names=("spiegelhalter",), tests=(test,), adjusted=(0.0124,),
    ...     level=0.05, lens="binary", n_samples=100, verdict="Miscalibrated.")
    >>> report.rejected, report.test("spiegelhalter").statistic
    (True, 2.5)
    """

    __test__: ClassVar[bool] = False  # the name is not that of a class of unit tests
    _text_columns: ClassVar[tuple[str, ...]] = ("test", "method", "null", "definition", "lens")
    _number_columns: ClassVar[tuple[str, ...]] = ("df", "n_resamples")

    names: tuple[str, ...]
    tests: tuple[CalibrationTest, ...]
    adjusted: tuple[float, ...]
    level: float
    lens: str
    n_samples: int
    verdict: str
    slope: Coefficient | None = None
    intercept: Coefficient | None = None
    classes: MultipleTest | None = None
    groups: MultipleTest | None = None
    detectable: SampleSize | None = None
    notes: tuple[str, ...] = ()

    @property
    def pvalue(self) -> float:
        """Smallest adjusted p-value: of the hypothesis that no test should reject."""
        return min(self.adjusted)

    @property
    def rejected(self) -> bool:
        """Whether calibration is rejected at `level`, all tests considered."""
        return self.pvalue <= self.level

    def test(self, name: str) -> CalibrationTest:
        """Return the test of that name; KeyError lists those that were made."""
        if name not in self.names:
            msg = f"{name!r} was not tested; there is {list(self.names)}"
            raise KeyError(msg)
        return self.tests[self.names.index(name)]

    def __str__(self) -> str:
        header = f"  {'test':<35}{'statistic':>11}{'df':>5}{'p':>10}{'Holm':>10}  definition"
        lines = [self._headline(), "", *_indented(self.verdict), "", header]
        for method, statistic, df, pvalue, adjusted, definition in self._rows():
            shown = textwrap.shorten(definition, _WIDEST, placeholder=" ...")
            lines.append(
                f"  {method[:34]:<35}{statistic:>11}{df:>5}{pvalue:>10}{adjusted:>10}  {shown}"
            )
        for family in self._families():
            lines += ["", *("  " + line for line in str(family).splitlines())]
        if self.notes:
            lines += ["", *(f"  note: {note}" for note in self.notes)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header = ["test", "statistic", "df", "p", "Holm", "definition"]
        parts = [
            f"<p><strong>{escape(self._headline())}</strong></p><p>{escape(self.verdict)}</p>",
            html_table(header, self._rows()),
        ]
        for family in self._families():
            columns = zip(family.names, family.n_samples, family.statistics, family.pvalues,
                          family.adjusted, strict=True)  # fmt: skip
            rows = [
                (str(name), f"{n:,}", f"{value:.4f}", format_pvalue(p), format_pvalue(adjusted))
                for name, n, value, p, adjusted in columns
            ]
            titles = [family.over, "rows", family.definition, "p", family.correction]
            parts.append(html_table(titles, rows))
        if self.notes:
            parts.append("<ul>" + "".join(f"<li>{escape(n)}</li>" for n in self.notes) + "</ul>")
        return "<div>" + "".join(parts) + "</div>"

    def _headline(self) -> str:
        several = f"{len(self.tests)} tests" if len(self.tests) > 1 else "One test"
        return (
            f"{several} of calibration on {self.n_samples:,} rows, {self.lens} lens,"
            f" level {self.level:g}"
        )

    def _families(self) -> list[MultipleTest]:
        return [family for family in (self.classes, self.groups) if family is not None]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                t.method,
                f"{t.statistic:.4f}" if abs(t.statistic) < _LONG else f"{t.statistic:.4g}",
                "" if t.df is None else f"{t.df:g}",
                format_pvalue(t.pvalue),
                format_pvalue(adjusted),
                f"{t.lens}: {t.definition}",
            )
            for t, adjusted in zip(self.tests, self.adjusted, strict=True)
        ]

    def _columns(self) -> dict[str, list[Any]]:
        """One row a test."""
        of_tests = ("method", "statistic", "df", "pvalue")
        rest = ("null", "definition", "lens", "n_samples", "n_resamples")
        return {
            "test": list(self.names),
            **{name: [getattr(t, name) for t in self.tests] for name in of_tests},
            "adjusted": list(self.adjusted),
            **{name: [getattr(t, name) for t in self.tests] for name in rest},
        }


def _indented(text: str) -> list[str]:
    return textwrap.wrap(
        text, 98, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
