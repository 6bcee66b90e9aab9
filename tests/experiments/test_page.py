"""Verdicts are computed, differences have reasons, and pages are written whole."""

from __future__ import annotations

import pytest

from veridical_lab._frame.facts import ExperimentResult
from veridical_lab._frame.page import Page, markdown_table


@pytest.fixture
def page():
    return Page("demo")


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.178519, "differs"), (0.1787, "reproduced"), (0.17875, "reproduced")]
)
def test_a_number_is_judged_by_its_distance(page, value, verdict):
    page.check(f"ECE | {value} = 0.1787 ± 1e-4 | rounded entries")
    assert page.facts[0].verdict == verdict


def test_a_number_the_source_lacks_is_added(page):
    page.check("null level | 0.02")
    assert page.facts[0].verdict == "added"


def test_a_claim_is_judged_by_what_was_found(page):
    page.check("kept | isotonic keeps accuracy | 0.01 == 0 | ties")
    assert page.facts[0].verdict == "differs"
    assert "isotonic keeps accuracy" in str(page.facts[0])


@pytest.mark.parametrize(
    ("judged", "verdict"),
    [("0.3 > 0.2", "reproduced"), ("0.3 <= 0.2", "differs"), ("-1.5e-07 == 0", "differs")],
)
def test_a_claim_may_be_a_comparison(page, judged, verdict):
    page.check(f"kept | isotonic keeps accuracy | {judged} | ties")
    assert page.facts[0].verdict == verdict
    assert page.facts[0].value == float(judged.split()[0])


@pytest.mark.parametrize(
    ("judged", "verdict"),
    [
        ("0.3 ~ 0.04 > 0.2", "reproduced"),  # 2.5 standard errors
        ("0.3 ~ 0.06 > 0.2", "undecided"),  # 1.7
        ("0.3 ~ 0.04 < 0.2", "differs"),
        ("0.3 ~ 0.06 < 0.2", "undecided"),
        ("0.25 ~ 0.01 = 0.2 ± 0.1", "reproduced"),
        ("0.25 ~ 0.04 = 0.2 ± 0.1", "undecided"),
        ("0.45 ~ 0.04 = 0.2 ± 0.1", "differs"),
        ("0.3 > 0.2 and 0.1 ~ 0.2 < 0.2", "undecided"),  # the worst decides
        ("0.3 > 0.2 and 0.1 > 0.2", "differs"),
        ("0.3 ~ 0 >= 0.3 and 1 == 1", "reproduced"),
    ],
)
def test_what_standard_errors_do_not_decide_is_undecided(page, judged, verdict):
    page.check(f"kept | isotonic keeps accuracy | {judged} | ties")
    assert page.facts[0].verdict == verdict


@pytest.mark.parametrize(
    ("judged", "verdict"),
    [
        ("0.6 ~ 0.01 as well", "reproduced"),
        ("0.6 ~ 0.1 as well", "undecided"),
        ("0.4 as well", "differs"),
        ("0.4 as fairly well", "reproduced"),
        ("0.1 as improves and 0.1 as minor", "reproduced"),
        ("0.53 as improves and 0.53 as minor", "differs"),  # more than a minor improvement
    ],
)
def test_words_are_judged_by_the_table(page, judged, verdict):
    page.check(f"kept | as told | {judged} | so")
    fact = page.facts[0]
    assert fact.verdict == verdict
    assert all(check.word in judged for check in fact.checks)


def test_an_unknown_word_is_no_number(page):
    with pytest.raises(ValueError, match="is not: name"):
        page.check("kept | as told | 0.3 as splendidly | so")


def test_one_cause_counts_once_and_programs_are_not_the_source(page):
    page.check("- a | 1 = 2 | r\n- b | 1 = 2 | r", cause="rounding")
    page.check("- c | 1 = 1\n- d | 1 ~ 1 > 0")
    page.check("e | 1 = 2 | its sampler", origin="a package")
    known = {"name": "demo", "title": "t", "source": "s", "seed": 0, "version": "0"}
    result = ExperimentResult(facts=tuple(page.facts), conclusion="So.", quick=False, **known)
    told = "Reproduced 1, differs 1, undecided 1. Of a package: differs 1. So."
    assert result.verdict == told
    assert result.counts()["a package"] == {"reproduced": 0, "differs": 1, "undecided": 0}
    assert ExperimentResult.from_json(result.to_json()) == result
    quick = ExperimentResult(facts=(), conclusion="So.", quick=True, **known)
    assert quick.verdict.startswith("Quick run, whose verdicts change with the seed.")


def test_facts_may_be_listed(page):
    page.check(r"""
        - ECE | 0.25 = 0.25 ± 0.01 | of
          two lines
        - kept | P(Y \| C) stays | 1 == 1
    """)
    assert [fact.name for fact in page.facts] == ["ECE", "kept"]
    assert page.facts[0].reason == "of two lines"
    assert page.facts[1].claim == "P(Y | C) stays"


@pytest.mark.parametrize("text", ["ECE | of ten bins", "ECE | 1 | rounded | and more"])
def test_a_fact_that_cannot_be_read_is_refused(page, text):
    with pytest.raises(ValueError, match="is not: name"):
        page.check(text)


def test_a_difference_needs_its_reason(page):
    with pytest.raises(ValueError, match="say why"):
        page.check("ECE | 1.0 = 2.0")


def test_names_of_facts_are_unique(page):
    page.check("ECE | 1.0")
    with pytest.raises(ValueError, match="two facts"):
        page.check("ECE | 1.0")


def test_the_page_holds_facts_text_tables_pictures_and_data(page, tmp_path):
    pytest.importorskip("matplotlib")
    from veridical_lab.plots.panels import Line, Panel, draw_panels

    page.check("ECE | 0.25 = 0.25")
    page.section("Table 1")
    page.text("Two\n   lines.")
    page.check("gap | 0.5 = 0.4 | rounded")
    page.table({"bin": ["(0, 0.5]", "a|b"], "gap": [0.25, None]}, caption="Gaps")
    page.data("long", {"x": [1, 2], "y": ["a", "b"]}, caption="all rows")
    page.figure("line", draw_panels([Panel([Line([0, 1], [0, 1])])]), "up | a line")
    path = page.write(tmp_path, ["# Title"])
    text = path.read_text(encoding="utf-8")
    row = "| gap | 0.4 | 0.5 |  | **differs**: rounded |"
    table = f"| what | printed | found | asked | verdict |\n|---|---|---|---|---|\n{row}"
    assert text.startswith(f"# Title\n\n## What differs\n\n{table}\n\n**Checked**\n\n")
    assert f"*up*\n\n**Checked**\n\n{table}\n\n## How claims are judged\n" in text
    assert text.endswith("| sharp | one number divided by another | > 2 |\n")
    assert (
        "| ECE | 0.25 | 0.25 |  | **reproduced** |\n\n## Table 1\n\nTwo lines.\n\n**Gaps**" in text
    )
    assert "| a\\|b |  |" in text
    assert "![a line](demo/line.png)" in text
    assert (tmp_path / "demo" / "line.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "demo" / "long.csv").read_text() == "x,y\n1,a\n2,b\n"
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()].count("demo.md") == 1
    assert not list(tmp_path.rglob(".*"))  # no temporary file is left


def test_columns_of_a_table_have_one_length():
    with pytest.raises(ValueError, match="shorter"):
        markdown_table({"a": [1, 2], "b": [1]}, digits=2)
