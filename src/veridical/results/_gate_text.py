"""The forms of a release gate: plain text, HTML, Markdown and JUnit XML; everything escaped."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from veridical.results._text import html_table

if TYPE_CHECKING:
    from veridical.results._gate import GateCheck, GateResult

# What XML 1.0 cannot hold even as a reference (section 2.2 of the recommendation).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~&])")
_NOT_IN_CODE = re.compile(r"[\\`|]")
_MOST_SHOWN = 60  # characters of a requirement or group in plain text


def gate_text(result: GateResult) -> str:
    """Return a headline, one line a requirement, and notes."""
    lines = [headline(result), ""] if result.checks else [headline(result)]
    rows = [_cells(check) for check in result.checks]
    spans = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
    for check, (requirement, group, value) in zip(result.checks, rows, strict=True):
        word = "pass" if check.passed else "FAIL"
        within = f"  {group:<{spans[1]}}" if spans[1] else ""
        lines.append(
            f"  {word}  {requirement:<{spans[0]}}{within}  {value:>{spans[2]}}"
            f"  n={check.n_samples:,}  {_said(check)}"
        )
    if result.compared:
        lines += ["", f"  baseline: {result.compared}"]
    if result.notes:
        lines += ["", *(f"  note: {note}" for note in result.notes)]
    return "\n".join(lines)


def gate_html(result: GateResult) -> str:
    """Return a plain table without scripts or outside resources."""
    parts = [
        f"<p><strong>{escape(headline(result))}</strong></p>",
        html_table(_HEADER, [_row(check) for check in result.checks]),
    ]
    if result.compared:
        parts.append(f"<p>{escape(f'baseline: {result.compared}')}</p>")
    if result.notes:
        parts.append(
            "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in result.notes) + "</ul>"
        )
    return "<div>" + "".join(parts) + "</div>"


def gate_markdown(result: GateResult) -> str:
    """Return GitHub Markdown."""
    table = [_HEADER, ["---"] * len(_HEADER)]
    for check in result.checks:
        word, requirement, group, *rest = _row(check)
        code = [_code(text) if text else "" for text in (requirement, group)]
        table.append([word, *code, *map(_plain, rest)])
    lines = [f"**{_plain(headline(result))}**", "", *(f"| {' | '.join(row)} |" for row in table)]
    if result.compared:
        lines += ["", _plain(f"baseline: {result.compared}")]
    if result.notes:
        lines += ["", *(f"- {_plain(note)}" for note in result.notes)]
    return "\n".join(lines)


def gate_junit(result: GateResult) -> str:
    """Return JUnit XML, one test case a requirement and group."""
    suite = ElementTree.Element(
        "testsuite",
        name="veridical check",
        tests=str(len(result.checks)),
        failures=str(len(result.failed)),
        errors="0",
        skipped="0",
    )
    for check in result.checks:
        name = check.requirement if check.group is None else f"{check.requirement} [{check.group}]"
        case = ElementTree.SubElement(
            suite, "testcase", classname="veridical.check", name=_NOT_XML.sub("?", name)
        )
        if not check.passed:
            failure = ElementTree.SubElement(
                case, "failure", type="requirement", message=_NOT_XML.sub("?", str(check))
            )
            failure.text = _NOT_XML.sub("?", _said(check))
    notes = [headline(result), *result.notes]
    ElementTree.SubElement(suite, "system-out").text = _NOT_XML.sub("?", "\n".join(notes))
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(whole, "unicode")


def headline(result: GateResult) -> str:
    """Return one line: passed or failed, of what."""
    count, failed = len(result.checks), len(result.failed)
    what = f"{result.n_samples:,} rows, {result.lens} lens, {100 * result.confidence_level:g} %"
    if not count:
        return f"Nothing was required ({what} limits)"
    if failed:
        verb = "is" if failed == 1 else "are"
        whole = "the requirement" if count == 1 else f"{failed} of {count} requirements"
        return f"Failed: {whole} {verb} not met ({what} limits)"
    return f"Passed: {_all(count)} met ({what} limits)"


_HEADER = ["", "requirement", "group", "value", "rows", "what it is"]


def _all(count: int) -> str:
    return "the requirement is" if count == 1 else f"all {count} requirements are"


def _row(check: GateCheck) -> tuple[str, ...]:
    word = "pass" if check.passed else "FAIL"
    group = "" if check.group is None else check.group
    return word, check.requirement, group, check.shown, f"{check.n_samples:,}", _said(check)


def _said(check: GateCheck) -> str:
    return check.reason or check.definition


def _cells(check: GateCheck) -> tuple[str, str, str]:
    group = "" if check.group is None else _one_line(check.group)
    return _one_line(check.requirement), group, check.shown


def _one_line(text: str) -> str:
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return line if len(line) <= _MOST_SHOWN else f"{line[: _MOST_SHOWN - 3]}..."


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
