"""Code on pages runs, and prints what the pages say it prints."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
_BLOCKS = re.compile(r"```python\n(.*?)```\n(?:```\n(.*?)```)?", flags=re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/engines.md"])
def test_code_prints_what_the_page_says(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = _BLOCKS.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    space: dict[str, Any] = {}
    for code, expected in blocks:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # doubts are not what the page is about
            exec(code, space)
        assert capsys.readouterr().out == expected
