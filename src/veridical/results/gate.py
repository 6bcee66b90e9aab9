"""What a release gate asked and measured, as text, HTML, Markdown and JUnit XML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar
from xml.etree import ElementTree

from veridical._core.runtime.text import WIDTH, table_lines, wrapped
from veridical.results.base import Result, columns_of
from veridical.results.text import html_block, html_table, note_lines

# What XML 1.0 cannot hold even as a reference (section 2.2 of the recommendation).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~&])")
_NOT_IN_CODE = re.compile(r"[\\`|]")


_HEADER = ["", "requirement", "group", "value", "rows", "what it is"]


def _all(count: int) -> str:
    return "the requirement is" if count == 1 else f"all {count} requirements are"


def _row(check: GateCheck) -> tuple[str, ...]:
    word = "pass" if check.passed else "FAIL"
    group = "" if check.group is None else check.group
    return word, check.requirement, group, check.shown, f"{check.n_samples:,}", _reason(check)


def _reason(check: GateCheck) -> str:
    return check.reason or check.definition


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    line = _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
    return line.replace("@", "@\u200b")  # a label is nobody to be notified


def _code(text: str) -> str:
    """Text in which GitHub sees no markup, no names of people and no addresses."""
    line = " ".join(text.split())
    if not _NOT_IN_CODE.search(line):
        return f"`{line}`"
    entities = re.sub(r"[^\w\s.]|_", lambda found: f"&#{ord(found[0])};", line)
    return f"<code>{entities}</code>"


@dataclass(frozen=True, kw_only=True)
class GateFigure(Result):
    """One figure that requirements can name.

    Attributes
    ----------
    name : as requirements spell it, e.g. "ece_equal_mass"
    group : subgroup as text, None for all rows
    value : the figure; None if undefined
    low, high : confidence limits, None if none are known
    null_mean, null_q95, pvalue : as in `MeasuredError`; None if not drawn
    unbiased : whether the value estimates what the limits are about without bias, as a mean score
        does; a plug-in calibration error is biased upwards
    definition, lens, n_samples : what was measured

    Examples
    --------
    >>> figure = GateFigure(name="ece", value=0.03, low=0.01, high=0.04,
    ...     definition="15 equal-width bins", lens="binary", n_samples=2000)
    >>> print(figure)
    ece 0.0300 (0.0100 to 0.0400)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("group",)
    _number_columns: ClassVar[tuple[str, ...]] = (
        *("value", "low", "high"),
        *("null_mean", "null_q95", "pvalue"),
    )

    name: str
    group: str | None = None
    value: float | None
    low: float | None = None
    high: float | None = None
    null_mean: float | None = None
    null_q95: float | None = None
    pvalue: float | None = None
    unbiased: bool = False
    definition: str
    lens: str
    n_samples: int

    @property
    def has_limits(self) -> bool:
        """Whether `low` and `high` are known."""
        return self.low is not None and self.high is not None

    def __str__(self) -> str:
        value = "undefined" if self.value is None else f"{self.value:.4f}"
        return f"{self.name} {value}" + (
            f" ({self.low:.4f} to {self.high:.4f})" if self.has_limits else ""
        )


@dataclass(frozen=True, kw_only=True)
class GateBaseline(Result):
    """Figures of a release, kept to compare the next one with.

    Attributes
    ----------
    figures : every figure of all rows, then of each subgroup
    classes : labels as text, in column order
    lens, n_samples : of the figures
    confidence_level : of their limits
    version : of the library that measured them
    """

    figures: tuple[GateFigure, ...]
    classes: tuple[str, ...]
    lens: str
    n_samples: int
    confidence_level: float
    version: str

    def of(self, group: str | None = None) -> dict[str, GateFigure]:
        """Figures of one subgroup by name, or of all rows; empty if there is no such group."""
        return {figure.name: figure for figure in self.figures if figure.group == group}

    def _columns(self) -> dict[str, list[Any]]:
        """One row a figure."""
        names = ("group", "name", "value", "low", "high", "definition", "lens", "n_samples")
        return columns_of(self.figures, names)

    _text_columns = ("group",)
    _number_columns = ("value", "low", "high")

    def __str__(self) -> str:
        groups = {figure.group for figure in self.figures} - {None}
        within = f", {len(groups)} groups" if groups else ""
        return f"Figures of {self.n_samples:,} rows, {self.lens} lens{within}"


@dataclass(frozen=True, kw_only=True)
class GateCheck(Result):
    """One requirement, asked of all rows or of one subgroup.

    Attributes
    ----------
    requirement : as it was written
    group : subgroup as text, None for all rows
    value : what was compared with the limit; None if there is none
    operator, limit : of the requirement
    passed : whether `value operator limit` holds; False where there is no value
    n_samples : rows
    definition : what `value` is, in words
    reason : why there is no value; empty if there is one

    Examples
    --------
    >>> print(GateCheck(requirement="ece.high < 0.05", value=0.031, operator="<", limit=0.05,
    ...     passed=True, n_samples=2000, definition="upper limit of ece"))
    pass  ece.high < 0.05: 0.0310 (n=2,000)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("group", "reason")
    _number_columns: ClassVar[tuple[str, ...]] = ("value",)

    requirement: str
    group: str | None = None
    value: float | None
    operator: str
    limit: float
    passed: bool
    n_samples: int
    definition: str
    reason: str = ""

    @property
    def shown(self) -> str:
        """The value as text, or "none"."""
        if self.value is None:
            return "none"
        small = 0 < abs(self.value) < 1e-4
        return f"{self.value:.2g}" if small else f"{self.value:.4f}"

    def __str__(self) -> str:
        where = "" if self.group is None else f" in {self.group}"
        why = f"; {self.reason}" if self.reason else ""
        word = "pass" if self.passed else "FAIL"
        return f"{word}  {self.requirement}{where}: {self.shown} (n={self.n_samples:,}{why})"


@dataclass(frozen=True, kw_only=True)
class GateResult(Result):
    """Whether a release meets its requirements; `print` it.

    Attributes
    ----------
    checks : every requirement, for all rows and each subgroup it was asked of
    measured : all figures, which can be kept as the next baseline
    compared : what the baseline was, in words; empty without one
    n_samples, lens, confidence_level : of all figures
    notes : statistical doubts, in words

    Examples
    --------
    >>> check = GateCheck(requirement="ece.high < 0.05", value=0.06, operator="<", limit=0.05,
    ...     passed=False, n_samples=2000, definition="upper limit of ece")
    >>> none = GateBaseline(figures=(), classes=("0", "1"), lens="binary", n_samples=2000,
    ...     confidence_level=0.95, version="0")
    >>> result = GateResult(checks=(check,), measured=none, compared="", n_samples=2000,
    ...     lens="binary", confidence_level=0.95)
    >>> result.passed, len(result.failed)
    (False, 1)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("group", "reason")
    _number_columns: ClassVar[tuple[str, ...]] = ("value",)

    checks: tuple[GateCheck, ...]
    measured: GateBaseline
    compared: str
    n_samples: int
    lens: str
    confidence_level: float
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every requirement is met."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> tuple[GateCheck, ...]:
        """Requirements that are not met."""
        return tuple(check for check in self.checks if not check.passed)

    def to_junit(self) -> str:
        """JUnit XML: one test case a requirement, for the test report of a build server."""
        suite = ElementTree.Element(
            "testsuite",
            name="veridical check",
            tests=str(len(self.checks)),
            failures=str(len(self.failed)),
            errors="0",
            skipped="0",
        )
        for check in self.checks:
            name = (
                check.requirement if check.group is None else f"{check.requirement} [{check.group}]"
            )
            case = ElementTree.SubElement(
                suite, "testcase", classname="veridical.check", name=_NOT_XML.sub("?", name)
            )
            if not check.passed:
                failure = ElementTree.SubElement(
                    case, "failure", type="requirement", message=_NOT_XML.sub("?", str(check))
                )
                failure.text = _NOT_XML.sub("?", _reason(check))
        notes = [self._headline(), *self.notes]
        ElementTree.SubElement(suite, "system-out").text = _NOT_XML.sub("?", "\n".join(notes))
        suites = ElementTree.Element("testsuites")
        suites.append(suite)
        ElementTree.indent(suites)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, "unicode")

    def to_markdown(self) -> str:
        """Markdown with one table, for a pull request."""
        table = [_HEADER, ["---"] * len(_HEADER)]
        for check in self.checks:
            word, requirement, group, *rest = _row(check)
            code = [_code(text) if text else "" for text in (requirement, group)]
            table.append([word, *code, *map(_plain, rest)])
        lines = [
            f"**{_plain(self._headline())}**",
            "",
            *(f"| {' | '.join(row)} |" for row in table),
        ]
        if self.compared:
            lines += ["", _plain(f"baseline: {self.compared}")]
        if self.notes:
            lines += ["", *(f"- {_plain(note)}" for note in self.notes)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """Passed or failed, then a line for each requirement."""
        lines = wrapped(self._headline(), width, indent=0, hanging=2)
        if self.checks:
            rows = [(*cells, f"n={n}", what) for *cells, n, what in map(_row, self.checks)]
            what = _HEADER[-1]
            words = ("", "requirement", "group", "rows", what)
            table = table_lines(_HEADER, rows, width=width, words=words, below=what, headed=False)
            lines += ["", *table]
        if self.compared:
            lines += ["", *wrapped(f"baseline: {self.compared}", width)]
        return "\n".join([*lines, *note_lines(self.notes, width=width)])

    def _repr_html_(self) -> str:
        parts = [html_table(_HEADER, [_row(check) for check in self.checks])]
        if self.compared:
            parts.append(f"<p>{escape(f'baseline: {self.compared}')}</p>")
        return html_block(self._headline(), *parts, notes=self.notes)

    def _headline(self) -> str:
        """One line: passed or failed, of what."""
        count, failed = len(self.checks), len(self.failed)
        what = f"{self.n_samples:,} rows, {self.lens} lens, {100 * self.confidence_level:g} %"
        if not count:
            return f"Nothing was required ({what} limits)"
        if failed:
            verb = "is" if failed == 1 else "are"
            which = "the requirement" if count == 1 else f"{failed} of {count} requirements"
            return f"Failed: {which} {verb} not met ({what} limits)"
        return f"Passed: {_all(count)} met ({what} limits)"

    def _columns(self) -> dict[str, list[Any]]:
        """One row a requirement and group."""
        names = ("requirement", "group", "value", "operator", "limit", "passed", "n_samples")
        return columns_of(self.checks, (*names, "definition", "reason"))
