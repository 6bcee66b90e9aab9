"""README and quick start from top to bottom, in a process that has only the installed wheel.

Shell blocks of all other pages run from the wheel as well, by tests/docs/test_pages.py.
"""

from __future__ import annotations

import pytest
from installed import ROOT, Shell

_RUN = """
import os, sys, warnings
from pathlib import Path
sys.path.append({tests!r})
os.environ["MPLBACKEND"] = "Agg"
from docs.blocks import Page, blocks_of
import veridical
page, run, ran = Path({page!r}), Page(Path({programs!r})), 0
for block in blocks_of(page.read_text(encoding="utf-8")):
    wrong = run.run(block)
    assert wrong is None, f"{{page.name}}:{{block.line}}: {{wrong}}"
    ran += bool(block.kind)
print(veridical.__file__, ran, sep="\\n")
"""


@pytest.mark.parametrize("page", ["README.md", "docs/quick-start.md"])
def test_a_page_from_top_to_bottom(shell: Shell, page: str) -> None:
    (shell.folder / "examples").symlink_to(ROOT / "examples")
    path, programs = str(ROOT / page), str(shell.programs)
    code = _RUN.format(tests=str(ROOT / "tests"), page=path, programs=programs)
    where, ran = shell.python(code).splitlines()[-2:]
    assert str(ROOT) not in where
    assert int(ran) >= 3
    if page == "README.md":
        assert "<html" in (shell.folder / "report.html").read_text(encoding="utf-8")
