"""The release gate in words, as Markdown, JUnit XML and HTML; names may be hostile."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from veridical.results import Verdict
from veridical.results.gate import GateBaseline, GateCheck, GateResult

HOSTILE = [
    "<script>alert(1)</script>", "a|b", "a\\|b", "`tick`", "@team", "line\nbreak", "]]>&amp;",
    "zero\x00byte \x1b[31m", "\ud800", "*star* _under_", "x" * 500, "[a](http://b)", "",
]  # fmt: skip


def check(group=None, *, outcome="met", value=0.04, reason="", rows=None):
    return GateCheck(
        requirement="ece.high < 0.05", group=group, value=value, operator="<", limit=0.05,
        outcome=outcome, rows=rows, n_samples=1234, definition="upper limit; 15 bins",
        reason=reason,
    )  # fmt: skip


def result(*checks, notes=(), compared=""):
    measured = GateBaseline(
        figures=(), classes=("0", "1"), lens="binary", n_samples=1234, confidence_level=0.95,
        version="0",
    )  # fmt: skip
    return GateResult(
        checks=checks, measured=measured, compared=compared, n_samples=1234, lens="binary",
        confidence_level=0.95, notes=notes,
    )  # fmt: skip


def test_the_text_says_figure_value_limit_and_rows():
    text = str(result(check(), check("north", outcome="not met", value=0.06), notes=("a doubt",)))
    assert text.splitlines() == [
        "Failed: 1 of 2 not met (1,234 rows, binary lens, 95 % limits)",
        "",
        "  met      ece.high < 0.05         0.0400  n=1,234  upper limit; 15 bins",
        "  NOT MET  ece.high < 0.05  north  0.0600  n=1,234  upper limit; 15 bins",
        "",
        "  note: a doubt",
    ]
    assert str(result(check())).startswith("Passed: the requirement is met (")
    assert str(result(check(), check())).startswith("Passed: all 2 are met (")
    assert str(result()).startswith("Nothing was required (")


def test_a_value_that_is_none_has_a_reason():
    text = str(result(check(value=None, outcome="undecided", reason="too few rows")))
    assert "none  n=1,234  too few rows" in text


def test_what_is_undecided_says_how_many_rows_would_decide():
    open_ = check(outcome="undecided", value=0.07, rows=5300)
    text = str(result(check(), open_))
    assert text.startswith("Undecided: 1 of 2 not shown either way (1,234 rows")
    assert "about 5,300 rows would decide" in text
    failed = result(check(), open_, check(outcome="not met"))
    assert str(failed).startswith("Failed: 1 of 3 not met, 1 undecided (")
    assert (failed.outcome, result(open_).outcome, result().outcome) == (
        "not met", "undecided", "met",
    )  # fmt: skip
    junit = ElementTree.fromstring(failed.to_junit()).find("testsuite")
    assert junit.get("failures") == "2"
    assert [f.get("type") for f in junit.iter("failure")] == ["undecided", "not met"]


def test_the_verdict_stands_beneath_in_every_form():
    verdict = Verdict(kind="not shown", headline="None shown.", text="None shown. Few rows.")
    found = replace(result(check()), verdict=verdict)
    for text in (str(found), found.to_markdown(), found.to_junit(), found._repr_html_()):
        assert "None shown. Few rows." in text
    assert GateResult.from_json(found.to_json()) == found


@pytest.mark.parametrize("name", HOSTILE)
def test_junit_is_xml_whatever_the_names(name):
    found = ElementTree.fromstring(result(check(name, outcome="not met"), notes=(name,)).to_junit())
    suite = found.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    case = suite.find("testcase")
    assert case.get("name").startswith("ece.high < 0.05")
    assert case.find("failure").get("message").startswith("NOT MET  ece.high < 0.05")


def test_junit_has_no_failure_where_all_passed():
    found = ElementTree.fromstring(result(check()).to_junit())
    assert found.find("testsuite").get("failures") == "0"
    assert found.find("testsuite/testcase/failure") is None


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_is_one_table_whatever_the_names(name):
    lines = result(check(name, outcome="not met"), notes=(name,)).to_markdown().splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 3
    for line in table:
        # As GitHub splits cells: a backslash takes the next character with it.
        assert len(re.findall(r"(?:\\.|[^|\\])*\|", line)) == 7, line
    outside = re.sub(r"`[^`]*`|<code>[^<]*</code>", "", "\n".join(lines)).replace("\\<", "")
    assert "<" not in outside
    assert not re.search(r"@\w", outside)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_text_cannot_steer_a_terminal(name):
    lines = str(result(check(name))).splitlines()
    assert lines[2].startswith("  met  ece.high < 0.05")
    assert all(line.isprintable() and len(line) <= 80 for line in lines)


@pytest.mark.parametrize("name", HOSTILE)
def test_html_is_escaped(name):
    html = result(check(name), notes=(name,), compared=name)._repr_html_()
    assert "<script" not in html
    assert html.startswith('<div class="veridical">')
    assert not {"\x00", "\x1b"} & set(html)


def test_the_table_has_one_row_a_check():
    frame = result(
        check(), check("north", value=None, outcome="undecided", reason="why")
    ).to_frame()
    assert frame["group"].to_list() == [None, "north"]
    assert frame["value"].to_list() == [0.04, None]
    assert frame["outcome"].to_list() == ["met", "undecided"]
