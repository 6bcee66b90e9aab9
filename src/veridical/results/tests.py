"""What tests of calibration found, one by one and together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veridical._core.data.validation import check_level
from veridical._core.runtime.text import WIDTH, table_lines, wrapped
from veridical._core.typing import FloatArray
from veridical.results._forms.names import find_name
from veridical.results._forms.text import note_lines
from veridical.results.base import (
    CalibrationTest,
    NullLevel,
    Result,
    columns_of,
    format_pvalue,
    say_pvalue,
)
from veridical.results.figures import Coefficient
from veridical.results.inference import SampleSize
from veridical.results.verdict import Verdict


@dataclass(frozen=True, kw_only=True, repr=False)
class ConsistencyTest(CalibrationTest):
    """A test whose null distribution was drawn: outcomes from the predictions themselves.

    Attributes
    ----------
    null_level : NullLevel
        The null sample, with `mean`, `std`, `quantile(q)` and `standardised`.
    alternative : which side of the null distribution counts as evidence
    """

    null_level: NullLevel
    alternative: str = "greater"

    def _text(self) -> str:
        level = self.null_level
        drawn = f"null {level.mean:.4f}, 95 % up to {level.quantile(0.95):.4f}; "
        return super()._text().replace("(", f"({drawn}", 1)


@dataclass(frozen=True, kw_only=True, repr=False)
class EquivalenceTest(CalibrationTest):
    """Outcome of a test of the hypothesis that predictions are miscalibrated by `delta` or more.

    Attributes
    ----------
    statistic : the estimated miscalibration
    pvalue : smallest level at which calibration within `delta` is shown
    delta : the margin, in probability
    lower, upper : confidence limits of the miscalibration, each at 1 - `level`
    level : chance of a false claim of equivalence
    equivalent : whether calibration within `delta` was shown, that is `upper` < `delta`
    base_rate : frequency of the rarer of event and non-event
    rarer : 1 if that is the event, else 0
    share : the margin as a share of the base rate, None if it was given in probability

    Examples
    --------
    >>> test = EquivalenceTest(statistic=0.01, pvalue=0.002, method="equivalence test",
    ...     null="error of 0.05 or more", definition="rmsce", lens="binary", n_samples=5000,
    ...     delta=0.05, lower=0.0, upper=0.035, level=0.05, equivalent=True, base_rate=0.4)
    >>> print(test)
    equivalence test: shown to be calibrated within 0.05 (p = 0.0020), error 0.0100, at most
    0.0350 with 95 % confidence (binary, rmsce, n=5000)
    """

    _number_columns: ClassVar[tuple[str, ...]] = ("share",)

    delta: float
    lower: float
    upper: float
    level: float
    equivalent: bool
    base_rate: float
    rarer: int = 1
    share: float | None = None

    @property
    def says_nothing(self) -> bool:
        """Whether a forecast of 0 (or 1), or of twice the base rate, is within the margin too."""
        return self.delta >= self.base_rate

    @property
    def margin(self) -> str:
        """The margin in words."""
        if self.share is None:
            return f"{self.delta:g}"
        return f"{self.delta:.2g} ({100 * self.share:g} % of the base rate)"

    @property
    def verdict(self) -> str:
        """What was shown, in words."""
        words = "shown" if self.equivalent else "not shown"
        nothing = f", which says nothing here: so is the forecast {1 - self.rarer}"
        within = f"{words} to be calibrated within {self.margin}"
        return within + (nothing if self.says_nothing else "")

    def rejects(self, level: float = 0.05) -> bool:
        """Whether miscalibration of `delta` or more is rejected at this level."""
        return self.pvalue <= check_level("rejects", level, "level")

    def _text(self) -> str:
        return (
            f"{self.method}: {self.verdict} ({say_pvalue(self.pvalue)}), error"
            f" {self.statistic:.4f}, at most {self.upper:.4f} with {100 * (1 - self.level):g} %"
            f" confidence ({self.lens}, {self.definition}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[object]]:
        names = ("delta", "share", "lower", "upper", "level", "equivalent", "says_nothing")
        return super()._columns() | columns_of([self], names)


@dataclass(frozen=True, kw_only=True, repr=False)
class MultipleTest(Result):
    """One test for each class, bin or group, with p-values corrected for their number.

    Attributes
    ----------
    over : "class", "bin" or "group"
    names : what each test is about
    n_samples : rows of each test
    statistics, pvalues : of each test by itself
    adjusted : p-values corrected for how many tests there are
    correction : how
    method, definition, lens, n_resamples : how the tests were made
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name", "method", "definition", "lens")

    over: str
    names: tuple[Any, ...]
    n_samples: tuple[int, ...]
    statistics: tuple[float, ...]
    pvalues: tuple[float, ...]
    adjusted: tuple[float, ...]
    correction: str
    method: str
    definition: str
    lens: str
    n_resamples: int

    def rejected(self, level: float = 0.05) -> tuple[Any, ...]:
        """Names whose calibration is rejected at this level, all tests considered."""
        check_level("rejected", level, "level")
        pairs = zip(self.names, self.adjusted, strict=True)
        return tuple(name for name, pvalue in pairs if pvalue <= level)

    def _text(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """A table, those with the least p-value first."""
        head = f"{self.method}, one for each {self.over} ({self.definition}; {self.lens})"
        lines = wrapped(head, width, indent=0, hanging=2)
        header = (self.over, "rows", "statistic", "p", f"adjusted p ({self.correction})")
        lines += table_lines(header, self.rows(), width=width, words=(self.over,))
        return "\n".join(lines)

    def rows(self) -> list[tuple[str, ...]]:
        """Cells of a table: name, rows, statistic, p-value by itself and adjusted."""
        order = sorted(range(len(self.names)), key=lambda i: (self.adjusted[i], self.pvalues[i]))
        return [
            (
                str(self.names[i]),
                f"{self.n_samples[i]:,}",
                f"{self.statistics[i]:.4f}",
                format_pvalue(self.pvalues[i], self.n_resamples),
                format_pvalue(self.adjusted[i], self.n_resamples),
            )
            for i in order
        ]

    def _columns(self) -> dict[str, list[Any]]:
        m = len(self.names)
        return {
            "name": [str(name) for name in self.names],
            "n_samples": list(self.n_samples),
            "statistic": list(self.statistics),
            "pvalue": list(self.pvalues),
            "adjusted": list(self.adjusted),
            "correction": [self.correction] * m,
            "method": [self.method] * m,
            "definition": [self.definition] * m,
            "lens": [self.lens] * m,
        }


_HEADER = ("test", "statistic", "df", "p", "Holm", "definition")
_LONG = 1e5  # statistics from here on are rounded


@dataclass(frozen=True, kw_only=True, repr=False)
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
    verdict : of the joint test of all of it, which alone decides; `str` gives the words
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
    ...     level=0.05, lens="binary", n_samples=100,
    ...     verdict=Verdict(kind="miscalibrated", text="Miscalibrated.", pvalue=0.02))
    >>> report.rejected, report.pvalue, report.test("spiegelhalter").statistic
    (True, 0.02, 2.5)
    """

    __test__: ClassVar[bool] = False  # the name is not that of a class of unit tests
    _text_columns: ClassVar[tuple[str, ...]] = ("test", "method", "null", "definition", "lens")
    _number_columns: ClassVar[tuple[str, ...]] = ("df", "n_resamples")

    # What the p-values of single tests are, and are not.
    _beneath: ClassVar[str] = (
        "Single tests, looked at one by one, with Holm's correction for their number. They show"
        " where to look and do not decide: the verdict above is that of one joint test."
    )

    names: tuple[str, ...]
    tests: tuple[CalibrationTest, ...]
    adjusted: tuple[float, ...]
    level: float
    lens: str
    n_samples: int
    verdict: Verdict
    slope: Coefficient | None = None
    intercept: Coefficient | None = None
    classes: MultipleTest | None = None
    groups: MultipleTest | None = None
    detectable: SampleSize | None = None
    notes: tuple[str, ...] = ()

    @property
    def pvalue(self) -> float:
        """Of the joint test behind the verdict; of files that lack it the smallest adjusted one."""
        return min(self.adjusted) if self.verdict.pvalue is None else self.verdict.pvalue

    @property
    def rejected(self) -> bool:
        """Whether the verdict speaks against calibration at `level`."""
        return self.verdict.found

    def test(self, name: str) -> CalibrationTest:
        """Return the test of that name; KeyError lists those that were made."""
        return self.tests[self.names.index(find_name(name, self.names, caller="test"))]

    def __getitem__(self, name: str) -> CalibrationTest:
        """One test, by its short name."""
        return self.test(name)

    def _text(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """Headline and verdict, then a line for each test; definitions if there is room."""
        lines = [*wrapped(self._headline(), width, indent=0, hanging=2), ""]
        lines += [*wrapped(str(self.verdict), width), "", *wrapped(self._beneath, width), ""]
        words, below = (_HEADER[0], _HEADER[-1]), _HEADER[-1]
        lines += table_lines(_HEADER, self._rows(), width=width, words=words, below=below)
        for family in self._families():
            lines += ["", *("  " + line for line in family.to_text(width=width - 2).splitlines())]
        return "\n".join([*lines, *note_lines(self.notes, width=width)])

    def _summary(self) -> str:
        found = self.verdict.in_short
        return f"{self._headline()}: {found}" if found else self._headline()

    def _headline(self) -> str:
        several = f"{len(self.tests)} tests" if len(self.tests) > 1 else "One test"
        return (
            f"{several} of calibration on {self.n_samples:,} rows, {self.lens} lens,"
            f" level {self.level:g}"
        )

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return _HEADER, self._rows()

    def _families(self) -> list[MultipleTest]:
        return [family for family in (self.classes, self.groups) if family is not None]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                t.method,
                f"{t.statistic:.4f}" if abs(t.statistic) < _LONG else f"{t.statistic:.4g}",
                "" if t.df is None else f"{t.df:g}",
                format_pvalue(t.pvalue, t.n_resamples),
                format_pvalue(adjusted, t.n_resamples, times=adjusted / (t.pvalue or 1)),
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
            **columns_of(self.tests, of_tests),
            "adjusted": list(self.adjusted),
            **columns_of(self.tests, rest),
        }


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SequentialTest(CalibrationTest):
    """Outcome of a test that may be looked at after every row.

    Attributes
    ----------
    e_value : evidence at the end: on average at most 1 if the predictions are calibrated and the
        number of rows was fixed beforehand (with lag 1 also if the data decided when to stop)
    max_e_value : largest evidence after any row, also the `statistic`; with a lag above 1 it is
        guarded, and may be below `e_value`
    pvalue : 1 / `max_e_value`, at most 1: valid whenever and for whatever reason one stops
    path : log of the evidence after each row
    alarm_at : index of the first row after which the evidence reached 1 / `level`, or None
    level : chance of a false alarm, ever
    direction : what seems wrong, in words, if there was an alarm
    lag, alternative : as asked
    """

    _text_columns: ClassVar[tuple[str, ...]] = (
        *CalibrationTest._text_columns,
        "direction",
        "alternative",
    )
    _number_columns: ClassVar[tuple[str, ...]] = (*CalibrationTest._number_columns, "alarm_at")

    e_value: float
    max_e_value: float
    path: FloatArray
    alarm_at: int | None
    level: float
    direction: str | None
    lag: int
    alternative: str

    def __post_init__(self) -> None:
        self.path.setflags(write=False)

    def _text(self) -> str:
        found = "no alarm"
        if self.alarm_at is not None:
            found = f"alarm at row {self.alarm_at} ({self.direction})"
        return (
            f"{self.method}: {found}, e = {self.e_value:.4g}, largest {self.max_e_value:.4g},"
            f" {say_pvalue(self.pvalue)} at any time (alarm from {1 / self.level:.4g};"
            f" {self.lens}, lag {self.lag}, n={self.n_samples})"
        )

    __eq__ = Result.__eq__  # a test without arrays compares fields
    __hash__ = None  # type: ignore[assignment]

    def _columns(self) -> dict[str, list[object]]:
        names = ("e_value", "max_e_value", "alarm_at", "level", "direction", "lag", "alternative")
        return super()._columns() | columns_of([self], names)
