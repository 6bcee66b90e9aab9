"""What a release gate asked and measured, as text, HTML, Markdown and JUnit XML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar
from xml.etree import ElementTree

from veridical._core.runtime.text import WIDTH, table_lines, wrapped
from veridical.results._forms.html import html_headline, html_table, html_text
from veridical.results._forms.text import note_lines
from veridical.results.base import Result, columns_of
from veridical.results.verdict import Verdict

# What XML 1.0 cannot hold even as a reference (section 2.2 of the recommendation).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~&])")
_NOT_IN_CODE = re.compile(r"[\\`|]")
_WORDS = {"met": "met", "not met": "NOT MET", "undecided": "undecided"}


_HEADER = ["", "requirement", "group", "value", "rows", "what it is"]


def _row(check: GateCheck) -> tuple[str, ...]:
    group = "" if check.group is None else check.group
    word, about = _WORDS[check.outcome], _about(check)
    return word, check.requirement, group, check.shown, f"{check.n_samples:,}", about


def _about(check: GateCheck) -> str:
    """What was measured, or why nothing was; and how many rows would decide."""
    return f"{check.reason or check.definition}{check.needed and f'; {check.needed}'}"


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


@dataclass(frozen=True, kw_only=True, repr=False)
class GateFigure(Result):
    """One figure that requirements can name.

    Attributes
    ----------
    name : as requirements spell it, e.g. "ece_equal_mass"
    group : subgroup as text, None for all rows
    value : the figure; None if undefined
    low, high : confidence limits, None if none are known
    centre : where the limits shrink to, if that is not the value; None if it is
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
        *("value", "low", "high", "centre"),
        *("null_mean", "null_q95", "pvalue"),
    )

    name: str
    group: str | None = None
    value: float | None
    low: float | None = None
    high: float | None = None
    centre: float | None = None
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

    def _text(self) -> str:
        value = "undefined" if self.value is None else f"{self.value:.4f}"
        return f"{self.name} {value}" + (
            f" ({self.low:.4f} to {self.high:.4f})" if self.has_limits else ""
        )


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def _text(self) -> str:
        groups = {figure.group for figure in self.figures} - {None}
        within = f", {len(groups)} groups" if groups else ""
        return f"Figures of {self.n_samples:,} rows, {self.lens} lens{within}"


@dataclass(frozen=True, kw_only=True, repr=False)
class GateCheck(Result):
    """One requirement, asked of all rows or of one subgroup.

    Attributes
    ----------
    requirement : as it was written
    group : subgroup as text, None for all rows
    value : what was compared with the limit; None if there is none
    operator, limit : of the requirement; of "calibrated" no operator, and the margin
    outcome : "met", "not met" (the opposite is shown, or an estimate is beyond the limit) or
        "undecided" (neither is shown, or there is no value)
    rows : how many rows would decide, None if that is decided or unknown
    n_samples : rows
    definition : what `value` is, in words
    reason : why there is no value; empty if there is one

    Examples
    --------
    >>> print(GateCheck(requirement="ece.high < 0.05", value=0.031, operator="<", limit=0.05,
    ...     outcome="met", n_samples=2000, definition="upper limit of ece"))
    met  ece.high < 0.05: 0.0310 (n=2,000)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("group", "reason")
    _number_columns: ClassVar[tuple[str, ...]] = ("value", "limit", "rows")

    requirement: str
    group: str | None = None
    value: float | None
    operator: str
    limit: float | None
    outcome: str
    rows: int | None = None
    n_samples: int
    definition: str
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether it is met."""
        return self.outcome == "met"

    @property
    def needed(self) -> str:
        """How many rows would decide, in words; empty if that is not known."""
        return "" if self.rows is None else f"about {self.rows:,} rows would decide"

    @property
    def shown(self) -> str:
        """The value as text, or "none"."""
        if self.value is None:
            return "none"
        small = 0 < abs(self.value) < 1e-4
        return f"{self.value:.2g}" if small else f"{self.value:.4f}"

    def _text(self) -> str:
        where = "" if self.group is None else f" in {self.group}"
        why = "".join(f"; {text}" for text in (self.reason, self.needed) if text)
        word = _WORDS[self.outcome]
        return f"{word}  {self.requirement}{where}: {self.shown} (n={self.n_samples:,}{why})"


@dataclass(frozen=True, kw_only=True, repr=False)
class GateResult(Result):
    """Whether a release meets its requirements; `print` it.

    Attributes
    ----------
    checks : every requirement, for all rows and each subgroup it was asked of
    measured : all figures, which can be kept as the next baseline
    compared : what the baseline was, in words; empty without one
    verdict : what may be said about calibration; None if nothing was judged
    n_samples, lens, confidence_level : of all figures
    notes : statistical doubts, in words

    Examples
    --------
    >>> check = GateCheck(requirement="ece.high < 0.05", value=0.06, operator="<", limit=0.05,
    ...     outcome="undecided", rows=3000, n_samples=2000, definition="upper limit of ece")
    >>> none = GateBaseline(figures=(), classes=("0", "1"), lens="binary", n_samples=2000,
    ...     confidence_level=0.95, version="0")
    >>> result = GateResult(checks=(check,), measured=none, compared="", n_samples=2000,
    ...     lens="binary", confidence_level=0.95)
    >>> result.passed, result.outcome, len(result.failed), len(result.undecided)
    (False, 'undecided', 0, 1)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("group", "reason")
    _number_columns: ClassVar[tuple[str, ...]] = ("value", "limit", "rows")

    checks: tuple[GateCheck, ...]
    measured: GateBaseline
    compared: str
    n_samples: int
    lens: str
    confidence_level: float
    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """Of all together: "not met" if one is not, else "undecided" if one is, else "met"."""
        if self.failed:
            return "not met"
        return "undecided" if self.undecided else "met"

    @property
    def passed(self) -> bool:
        """Whether every requirement is met."""
        return self.outcome == "met"

    @property
    def failed(self) -> tuple[GateCheck, ...]:
        """Requirements that are not met."""
        return tuple(check for check in self.checks if check.outcome == "not met")

    @property
    def undecided(self) -> tuple[GateCheck, ...]:
        """Requirements that are shown neither to be met nor to be broken."""
        return tuple(check for check in self.checks if check.outcome == "undecided")

    def to_junit(self) -> str:
        """JUnit XML: one test case a requirement, for the test report of a build server."""
        suite = ElementTree.Element(
            "testsuite",
            name="veridical check",
            tests=str(len(self.checks)),
            failures=str(len(self.failed) + len(self.undecided)),
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
                    case, "failure", type=check.outcome, message=_NOT_XML.sub("?", str(check))
                )
                failure.text = _NOT_XML.sub("?", _about(check))
        notes = [self._headline(), *self._judged(), *self.notes]
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
        lines += [line for text in self._judged() for line in ("", _plain(text))]
        if self.compared:
            lines += ["", _plain(f"baseline: {self.compared}")]
        if self.notes:
            lines += ["", *(f"- {_plain(note)}" for note in self.notes)]
        return "\n".join(lines)

    def _text(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """Passed, failed or undecided, then every requirement and the verdict."""
        lines = wrapped(self._headline(), width, indent=0, hanging=2)
        if self.checks:
            rows = [(*cells, f"n={n}", what) for *cells, n, what in map(_row, self.checks)]
            what = _HEADER[-1]
            words = ("", "requirement", "group", "rows", what)
            table = table_lines(_HEADER, rows, width=width, words=words, below=what, headed=False)
            lines += ["", *table]
        compared = [f"baseline: {self.compared}"] if self.compared else []
        for text in (*self._judged(), *compared):
            lines += ["", *wrapped(text, width)]
        return "\n".join([*lines, *note_lines(self.notes, width=width)])

    def _judged(self) -> list[str]:
        """The verdict, for it may speak against what was asked through one lens."""
        return [] if self.verdict is None else [self.verdict.text]

    def _repr_html_(self) -> str:
        parts = [html_table(_HEADER, [_row(check) for check in self.checks])]
        parts += [f"<p>{html_text(text)}</p>" for text in self._judged()]
        if self.compared:
            parts.append(f"<p>{html_text(f'baseline: {self.compared}')}</p>")
        return html_headline(self._headline(), *parts, notes=self.notes)

    def _headline(self) -> str:
        """Passed, failed or undecided, of what."""
        count, failed, open_ = len(self.checks), len(self.failed), len(self.undecided)
        what = (
            f"({self.n_samples:,} rows, {self.lens} lens, {100 * self.confidence_level:g} % limits)"
        )
        if not count:
            return f"Nothing was required {what}"
        if failed:
            beside = f", {open_} undecided" if open_ else ""
            return f"Failed: {failed} of {count} not met{beside} {what}"
        if open_:
            return f"Undecided: {open_} of {count} not shown either way {what}"
        return f"Passed: {'the requirement is' if count == 1 else f'all {count} are'} met {what}"

    def _columns(self) -> dict[str, list[Any]]:
        """One row a requirement and group."""
        first = ("requirement", "group", "value", "operator", "limit", "outcome", "rows")
        return columns_of(self.checks, (*first, "n_samples", "definition", "reason"))
