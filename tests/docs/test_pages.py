"""Code on pages runs, and prints what the pages say it prints."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path

import pytest
from docs.blocks import ROOT, Block, Page, blocks_of, modules_of

# The gallery is run by test_gallery.py, which also looks at what is drawn.
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if path.name != "gallery.md" and "_site" not in path.parts
)


def _missing(block: Block) -> str | None:
    """What a block needs and this machine lacks."""
    for module in sorted(modules_of(block)):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
        if module == "pyspark" and shutil.which("java") is None:
            return "Java, which Spark needs, is not installed"
    return None


@pytest.mark.parametrize("page", PAGES)
def test_code_runs_and_prints_what_the_page_says(
    page: str, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run = Page(programs)
    for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
        if (lacking := _missing(block)) is not None:
            reason = f"{lacking}: {page} from line {block.line} on was not run"
            if os.environ.get("VERIDICAL_REQUIRE_ALL") == "1":
                pytest.fail(reason)
            pytest.skip(reason)
        wrong = run.run(block)
        if wrong is not None:
            pytest.fail(f"{page}:{block.line}: {wrong}", pytrace=False)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_lists_look_the_same_on_the_site_as_elsewhere(page: str) -> None:
    """The site's Markdown wants an empty line before a list and four spaces before one within."""
    wrong, before, in_code = [], "", False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        item = None if in_code else re.match(r"( *)(?:[-*+]|\d+\.) ", line)
        if item is not None:
            begins = not before.startswith((" ", "#", "-", "*", "+")) and not before[:1].isdigit()
            if len(item[1]) % 4 or (before and begins):
                wrong.append(f"{page}:{number}: {line}")
        before = line
    assert wrong == []
