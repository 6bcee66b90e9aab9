"""The release gate in words, as Markdown, JUnit XML and HTML; names may be hostile."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from veridical.results.gate import GateBaseline, GateCheck, GateResult

HOSTILE = [
    "<script>alert(1)</script>", "a|b", "a\\|b", "`tick`", "@team", "line\nbreak", "]]>&amp;",
    "zero\x00byte \x1b[31m", "\ud800", "*star* _under_", "x" * 500, "[a](http://b)", "",
]  # fmt: skip


def check(group=None, *, passed=True, value=0.04, reason=""):
    return GateCheck(
        requirement="ece.high < 0.05", group=group, value=value, operator="<", limit=0.05,
        passed=passed, n_samples=1234, definition="upper limit; 15 bins", reason=reason,
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
    text = str(result(check(), check("north", passed=False, value=0.06), notes=("a doubt",)))
    assert text.splitlines() == [
        "Failed: 1 of 2 requirements is not met (1,234 rows, binary lens, 95 % limits)",
        "",
        "  pass  ece.high < 0.05         0.0400  n=1,234  upper limit; 15 bins",
        "  FAIL  ece.high < 0.05  north  0.0600  n=1,234  upper limit; 15 bins",
        "",
        "  note: a doubt",
    ]
    assert str(result(check())).startswith("Passed: the requirement is met (")
    assert str(result(check(), check())).startswith("Passed: all 2 requirements are met (")
    assert str(result()).startswith("Nothing was required (")


def test_a_value_that_is_none_has_a_reason():
    text = str(result(check(value=None, passed=False, reason="too few rows")))
    assert "none  n=1,234  too few rows" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_junit_is_xml_whatever_the_names(name):
    found = ElementTree.fromstring(result(check(name, passed=False), notes=(name,)).to_junit())
    suite = found.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    case = suite.find("testcase")
    assert case.get("name").startswith("ece.high < 0.05")
    assert case.find("failure").get("message").startswith("FAIL  ece.high < 0.05")


def test_junit_has_no_failure_where_all_passed():
    found = ElementTree.fromstring(result(check()).to_junit())
    assert found.find("testsuite").get("failures") == "0"
    assert found.find("testsuite/testcase/failure") is None


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_is_one_table_whatever_the_names(name):
    lines = result(check(name, passed=False), notes=(name,)).to_markdown().splitlines()
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
    assert lines[2].startswith("  pass  ece.high < 0.05")
    assert all(line.isprintable() and len(line) <= 80 for line in lines)


@pytest.mark.parametrize("name", HOSTILE)
def test_html_is_escaped(name):
    html = result(check(name), notes=(name,), compared=name)._repr_html_()
    assert "<script" not in html
    assert html.startswith("<div>")


def test_the_table_has_one_row_a_check():
    frame = result(check(), check("north", value=None, passed=False, reason="why")).to_frame()
    assert frame["group"].to_list() == [None, "north"]
    assert frame["value"].to_list() == [0.04, None]
    assert frame["passed"].to_list() == [True, False]
