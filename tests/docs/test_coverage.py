"""The page of what is here of the five documents: names, pages, facts and numbers exist."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("matplotlib")
import veridical

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "experiments" / "coverage.md"
STATES = ("here", "partly", "not here")
# How many there are of each numbered kind, counted in the documents.
NUMBERED = {
    "000": {"Fig.": 21, "Table": 8, "Def.": 6, "Eq.": 21, "Alg.": 1},
    "001": {"Fig.": 2, "Def.": 6, "Eq.": 2},
    "002": {"Fig.": 18, "Table": 5, "Eq.": 7, "Example": 5, "Thm.": 2, "Prop.": 1},
    "003": {"Fig.": 3, "Eq.": 5, "Lemma": 1},
    "004": {},
}
CHAPTER = {"Table 86.1", "Table 86.2", "Fig. 86.1", *(f"Section 86.{i}" for i in range(1, 10))}
CHAPTER |= {"Section 86.4.1", "Section 86.4.2", "Section 86.5.1", "Section 86.5.2"}
CHAPTER |= {"Section 86.5.3"}
CHAPTER -= {"Section 86.4", "Section 86.5"}  # nothing but their parts


class Row(NamedTuple):
    """One row of the page."""

    document: str
    items: tuple[str, ...]
    state: str
    answer: str

    @property
    def code(self) -> list[str]:
        return re.findall(r"`([^`]+)`", self.answer)

    @property
    def words(self) -> str:
        return re.sub(r"`[^`]+`", "", self.answer)

    @property
    def links(self) -> list[str]:
        return re.findall(r"\]\(([^)]+)\)", self.words)


def read(text: str) -> list[Row]:
    """Rows of all tables, each with the document whose heading is above it."""
    rows, document = [], ""
    for line in text.splitlines():
        if found := re.match(r"## (\d{3}): ", line):
            document = found[1]
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("|") and len(cells) == 4 and cells[2] != "state":
            rows.append(Row(document, tuple(cells[0].split(", ")), cells[2], cells[3]))
    return rows


TEXT = PAGE.read_text(encoding="utf-8")
ROWS = read(TEXT)
BY_DOCUMENT = [
    pytest.param([row for row in ROWS if row.document == document], id=document)
    for document in NUMBERED
]


def test_every_line_of_a_table_is_a_row():
    lines = [line for line in TEXT.splitlines() if line.startswith("|")]
    heads = [line for line in lines if line.startswith(("| where", "|---"))]
    assert len(ROWS) == len(lines) - len(heads) > 100


@pytest.mark.parametrize("document", NUMBERED)
def test_every_numbered_item_of_a_document_has_one_row(document):
    expected = {f"{kind} {i + 1}" for kind, n in NUMBERED[document].items() for i in range(n)}
    expected |= CHAPTER if document == "004" else set()
    items = Counter(item for row in ROWS if row.document == document for item in row.items)
    several = {"Section", "Footnote"}
    numbered = {item for item in items if document == "004" or item.split()[0] not in several}
    assert numbered == expected
    assert [item for item in numbered if items[item] > 1 and item.split()[0] not in several] == []


def test_the_counts_in_the_introduction_are_those_of_the_rows():
    count = Counter(row.state for row in ROWS)
    assert set(count) == set(STATES)
    told = f"Of {len(ROWS)} rows {count['here']} are here, {count['partly']} partly"
    assert told in " ".join(TEXT.split())


@pytest.mark.parametrize("rows", BY_DOCUMENT)
def test_a_row_says_where_it_is_or_why_not(rows):
    for row in rows:
        check_state(row)


def check_state(row: Row) -> None:
    said = len(re.findall(r"[A-Za-z]{2,}", re.sub(r"\([^)]*\)", "", row.words)))
    if row.state == "here":
        assert row.code or row.links
    elif row.state == "partly":
        assert row.code or row.links
        assert said >= 4
    else:
        assert row.state == "not here"
        assert said >= 1


@pytest.mark.parametrize("rows", BY_DOCUMENT)
def test_names_exist_with_the_parameters_shown(rows):
    for row in rows:
        check_names(row)


def check_names(row: Row) -> None:
    for text in row.code:
        tree = ast.parse(text, mode="eval").body
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        if not calls:
            find(tree)
        for call in calls:
            function = find(call.func)
            inspect.signature(function).bind_partial(
                *call.args, **{keyword.arg: None for keyword in call.keywords}
            )
            for keyword in call.keywords:
                if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
                    assert f'"{keyword.value.value}"' in options_of(function), text


def find(node: ast.expr) -> Any:
    """The object that a dotted name stands for, from the package down."""
    first, *rest = ast.unparse(node).split(".")
    found: Any = veridical
    if first == "veridical_lab":
        found, first, *rest = importlib.import_module(f"{first}.{rest[0]}"), *rest[1:]
    for name in (first, *rest):
        found = getattr(found, name)
    return found


def options_of(function: Any) -> str:
    """Docstring, and that of the function whose options it takes over."""
    return (function.__doc__ or "") + (veridical.reliability_curve.__doc__ or "")


@pytest.mark.parametrize("rows", BY_DOCUMENT)
def test_pages_anchors_and_facts_exist(rows):
    for row in rows:
        check_pages(row)


def check_pages(row: Row) -> None:
    for target in row.links:
        path, _, anchor = target.partition("#")
        file = (PAGE.parent / path).resolve()
        assert file.is_file(), target
        assert not anchor or anchor in anchors(file), target
    for name, quoted in re.findall(r"\]\(([\w-]+)\.md\)((?: \"[^\"]+\")+)", row.words):
        for fact in re.findall(r'"([^"]+)"', quoted):
            assert fact in facts(name), f"{name}: {fact}"
    # Words in quotation marks are facts, and nothing else.
    in_facts = re.sub(r"\]\([\w-]+\.md\)(?: \"[^\"]+\")+", "", row.words)
    assert '"' not in in_facts


@cache
def anchors(file: Path) -> set[str]:
    text = file.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings]
    return set(re.findall(r'<a id="([^"]+)">', text)) | {re.sub(r"[-\s]+", "-", p) for p in plain}


class Facts(NamedTuple):
    """What an experiment checks, by name."""

    names: tuple[str, ...]

    def __contains__(self, beginning: object) -> bool:
        return any(name.startswith(str(beginning)) for name in self.names)


@cache
def facts(experiment: str) -> Facts:
    """Names of facts and headings of a full run."""
    content = json.loads((PAGE.parent / f"{experiment}.json").read_text(encoding="utf-8"))
    text = (PAGE.parent / f"{experiment}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    return Facts((*(fact["name"] for fact in content["facts"]), *headings))


def test_the_reader_of_the_page_finds_what_is_wrong():
    """The checks above can fail: of made-up rows they do."""
    (row,) = read("## 000: x\n| Eq. 1 | w | here | `BinnedError(colour=1)`; [s](survey-toy.md) |")
    with pytest.raises(TypeError, match="colour"):
        check_names(row)
    with pytest.raises(AttributeError):
        check_names(row._replace(answer="`ImaginaryError`"))
    with pytest.raises(AssertionError):
        check_names(row._replace(answer='`BinnedError(norm="x")`'))
    for answer in ("[s](none.md)", "[g](../gallery.md#none)", '[s](survey-toy.md) "Table 99"'):
        with pytest.raises(AssertionError):
            check_pages(row._replace(answer=answer))
    with pytest.raises(AssertionError):
        check_state(row._replace(answer="nowhere"))
