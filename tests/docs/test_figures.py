"""Figures in prose: inserted ones agree with their tables, typed ones only become fewer."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from docs.blocks import ROOT
from docs.prose import typed_figures

sys.path.insert(0, str(ROOT / "evidence"))

import prose_figures

COMMITTED = tomllib.loads(Path(__file__).with_name("figures.toml").read_text(encoding="utf-8"))
# `veridical experiment` writes these pages whole, with the numbers of the file of the same name.
EXPERIMENTS = {"docs/experiments/index.md"} | {
    path.with_suffix(".md").relative_to(ROOT).as_posix()
    for path in (ROOT / "docs" / "experiments").glob("*.json")
}
PAGES = [
    page
    for path in prose_figures.pages()
    if (page := path.relative_to(ROOT).as_posix()) not in EXPERIMENTS
]


@pytest.mark.parametrize("page", PAGES)
def test_typed_figures_only_become_fewer(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = typed_figures(text, tuple(COMMITTED["written"]))
    most = COMMITTED["typed"].get(page, 0)
    listed = "\n".join(f"{page}:{figure.line}: {figure.text}" for figure in found)
    assert len(found) <= most, (
        f"{len(found)} figures are typed into sentences, {most} are allowed. Remove the new one,"
        f" print it by a block that runs, or insert it (evidence/prose_figures.py):\n{listed}"
    )
    assert len(found) == most, (
        f"set {page} to {len(found)} in tests/docs/figures.toml (it was {most})"
    )


def test_first_pages_have_none() -> None:
    assert [page for page in COMMITTED["none"] if page not in PAGES] == []
    assert [page for page in COMMITTED["none"] if page in COMMITTED["typed"]] == []
    assert [page for page in COMMITTED["typed"] if page not in PAGES] == []


def test_pages_that_a_report_names_have_none() -> None:
    code = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "src/veridical/report").rglob("*.py")
    )
    named = {f"docs/{name}.md" for name in re.findall(r"([\w-]+(?:/[\w-]+)*)\.(?:md|html)\b", code)}
    assert sorted(named & set(PAGES) - set(COMMITTED["none"])) == []


@pytest.mark.parametrize(("part", "script"), COMMITTED["written"].items())
def test_parts_that_are_left_out_have_a_script_or_a_test(part: str, script: str) -> None:
    assert part.split(", ")[0] in (ROOT / script).read_text(encoding="utf-8")
    texts = ((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    assert any(f"<!-- {part}" in text for text in texts)


@pytest.mark.parametrize("page", PAGES)
def test_inserted_figures_are_those_of_the_tables(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text == prose_figures.with_figures(text), "run `make prose-figures`"
    comments = text.count("<!-- figure:"), text.count("<!-- /figure")
    assert comments == (len(prose_figures.FIGURE.findall(text)),) * 2, "a figure is not closed"
    broken = [line for line in text.splitlines() if line.lstrip().startswith("<!-- figure:")]
    assert broken == [], "a comment at the beginning of a line ends the paragraph"


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("It takes 1.7 s and 490 MB.", ["1.7 s", "490 MB"]),
        ("cut by 64% (95% CI 52\u201377%)", ["64%", "52\u201377%"]),
        ("in 3 to 8 %\nof samples", ["3 to 8 %"]),
        ("ten seconds, two times as fast, two times", ["ten seconds", "two times"]),
        ("370,000\ncharacters, .5 ms, 2\u00d7", ["370,000 characters", ".5 ms", "2\u00d7"]),
        ("at the 5% level with 80% power; a 95% confidence interval; 1% of log loss", []),
        ("a 5% level of harm, 15% of log loss, 12% power", ["15%", "12%"]),
        ("`0.5 s` and ![10 rows](img/5%.png), 1,797 rows, 15 bins, three times out of four", []),
        ("<!-- figure: a.csv column=b format=.1% -->5.1%<!-- /figure --> of rows", []),
        ("<!-- own: begin -->\n5 s\n<!-- own: end --><!-- a -->\n6 s\n<!-- end of a -->", ["6 s"]),
        ("```\n5 s\n```\n6 s", ["6 s"]),
    ],
)  # fmt: skip
def test_what_counts_as_a_figure(text: str, figures: list[str]) -> None:
    assert [figure.text for figure in typed_figures(text, ("own",))] == figures


def test_a_figure_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = "law,rows,share\none class,100,0.051\none class,200,0.2\nother,100,0.4\n"
    (tmp_path / "shares.csv").write_text(table, encoding="utf-8")
    monkeypatch.setattr(prose_figures, "TABLES", tmp_path)
    opening = '<!-- figure: shares.csv law="one class" rows=100 column=share\nformat=.1% -->'
    page = f"in {opening}7%<!-- /figure --> of samples"
    assert prose_figures.with_figures(page) == f"in {opening}5.1%<!-- /figure --> of samples"
    assert prose_figures.figure("shares.csv rows=100 column=share take=max format=.0%") == "40%"
    for rows in ("rows=100", "rows=300", "rows=300 take=max"):
        with pytest.raises(ValueError, match="one is needed"):
            prose_figures.figure(f"shares.csv {rows} column=share format=.0%")
