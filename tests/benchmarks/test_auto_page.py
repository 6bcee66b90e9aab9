"""The page on calibrators says what the tables of the evidence say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pd = pytest.importorskip("pandas")

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "benchmarks" / "league" / "auto_page.py"
PAGE, FOLDER = ROOT / "docs" / "which-calibrator.md", ROOT / "docs" / "evidence"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    if not SOURCE.exists() or not PAGE.exists():
        pytest.skip("benchmarks or pages are not part of this copy")
    spec = importlib.util.spec_from_file_location("auto_page", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_page_is_that_of_the_tables(module):
    text = PAGE.read_text("utf-8")
    assert module.written(text, FOLDER) == text


def test_harm_is_counted_by_hand(module):
    """Two cells of 100 rows with 20 and 10 fits: (0.1 * 20 + 0.4 * 10) / 30 = 20 % are harmed."""
    frame = pd.DataFrame(
        {
            "data": ["a", "b"],
            "model": ["m", "m"],
            "n_classes": [2, 3],
            "n": [100, 100],
            "draws": [20, 10],
            "mean": [-0.01, 0.007],
            "error": [0.001, 0.002],
            "worst": [0.011, 0.02],
            "harmed": [0.1, 0.4],
        }
    )
    row = module.harm(frame).splitlines()[-1]
    assert row == (
        "| 100 | 2 | 30 | -0.0015 | +0.0070 (0.0020), `b`, m | 1 of 2 above 0.006 | 20.00% "
        "| +0.0200 |"
    )


def test_groups_where_it_is_not_first_are_named(module):
    frame = pd.DataFrame(
        {
            "group": ["all", "rare", "all", "rare"],
            "metric": ["log_loss", "log_loss", "brier", "brier"],
            "first": [True, False, True, True],
            "best_rival": ["x", "y", "x", "y"],
            "its_rate": [0.5, 0.75, 0.5, 0.5],
        }
    )
    assert module.places(frame) == (
        "In log loss it is first in 1 of 2 groups, not in: rare (y 75.0%). "
        "In Brier score it is first in every group."
    )
