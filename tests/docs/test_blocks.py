"""The runner of pages sees what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.blocks import Page, blocks_of, modules_of


def page(*parts: str) -> str:
    return "\n".join(part.replace("~", "```") for part in parts) + "\n"


def complaints(text: str, programs: Path) -> list[str]:
    run = Page(programs)
    return [wrong for block in blocks_of(text) if (wrong := run.run(block)) is not None]


@pytest.mark.parametrize(
    "text",
    [
        page("~python", "print(1)", "~", "~", "1", "~"),
        page("~python", "print(1)", "~", "", "~text", "1", "~"),
        page("~python", "x = 2", "~", "words", "~python", "print(x)", "~", "~", "2", "~"),
        page("~python", "print('a 0.1234 b')", "~", "~", "a 0.1... b", "~"),
        page("~python", "print('one\\ntwo\\nthree')", "~", "~", "one", "...three", "~"),
        page("~python", "print(True)", "# True", "~"),
        page("~sh", "# a comment", 'echo "a" \\', "  b | cat", "~", "~", "a b", "~"),
        page("~sh", 'pip install "veridical[plots,report]"', "~"),
        page("~sh", "veridical --version", "~", "~", "veridical ...", "~"),
        page("~sql", "CREATE TABLE t (a INT)", "~", "~sql", "SELECT a FROM t", "~"),
        page("~yaml", "a: [1]", "~", "~json", "{}", "~", "~toml", "a = 1", "~"),
        page("words", "~", "shown, not run", "~"),
        page("- an item", "  ~python", "  print(1)", "  ~", "  ~", "  1", "  ~"),
    ],
)
def test_pages_that_are_right(
    text: str, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert complaints(text, programs) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (page("~python", "print(1)", "~", "~", "2", "~"), "the page says"),
        (page("~python", "print(1)", "~", "~", "1", "1", "~"), "the page says"),
        (page("~python", "print('  1')", "~", "~", "1", "~"), "the page says"),
        (page("~python", "pass", "~", "~", "1", "~"), "the page says"),
        (page("~python", "print(1)", "~", "words", "~", "1", "~"), "does not show"),
        (page("~python", "1 / 0", "~"), "ZeroDivisionError"),
        (page("~sh", "echo a", "~", "~", "b", "~"), "the page says"),
        (page("~sh", "veridical evaluate absent.csv", "~"), "exit code 2"),
        (page("~sh", "no-such-command-here", "~"), "exit code 127"),
        (page("~sh", 'pip install "veridical[absent]"', "~"), "no such extra: absent"),
        (page("~sql", "SELECT nothing FROM nowhere", "~"), "nowhere"),
        (page("~yaml", "a: [", "~"), "ParserError"),
        (page("~json", "{,}", "~"), "JSONDecodeError"),
        (page("~toml", "a = ", "~"), "TOMLDecodeError"),
        (page("~ruby", "1", "~"), "no block may be of kind 'ruby'"),
    ],
)
def test_pages_that_are_wrong(
    text: str, complaint: str, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (found,) = complaints(text, programs)
    assert complaint in found


def test_what_a_block_needs() -> None:
    text = page("~python", "import a.b, c", "from d.e import f", "~", "~sql", "SELECT 1", "~")
    assert [modules_of(block) for block in blocks_of(text)] == [{"a", "c", "d"}, {"duckdb"}]
