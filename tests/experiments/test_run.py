"""Experiments are run by name, refuse what they cannot use, and are all in the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
from veridical.cli import main
from veridical.exceptions import InvalidInputError
from veridical_lab import list_experiments, run_experiment
from veridical_lab._frame.facts import ExperimentResult

PAGES = Path(__file__).parents[2] / "docs" / "experiments"
NAMES = [experiment.name for experiment in list_experiments()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "survey"}, "`name` must be one of"),
        ({"name": "chapter", "data": ["x.npz"]}, "`data` must be left out for chapter"),
        ({"name": "fake", "data": ["no-such-file.npz"]}, "`data` must be files that exist"),
        ({"name": "chapter", "rng": -1}, "`rng` must be a whole number"),
        ({"name": "chapter", "n_jobs": 0}, "`n_jobs` must be a whole number"),
    ],
)
def test_what_cannot_be_run_is_said(options, message):
    with pytest.raises(InvalidInputError, match=message):
        run_experiment(**options)


def test_the_command_lists_what_there_is(capsys):
    assert main(["experiment", "--list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in NAMES)
    assert len(NAMES) == 8


def test_the_command_writes_a_page_and_goes_on_where_it_stopped(tmp_path, capsys):
    command = ["experiment", "chapter", "--quick", "--jobs", "1", "-o", str(tmp_path / "pages")]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "Page: " in first
    pages = tmp_path / "pages"
    found = ExperimentResult.from_json((pages / "chapter.json").read_text(encoding="utf-8"))
    assert found.verdict in (pages / "chapter.md").read_text(encoding="utf-8")
    assert "[chapter](chapter.md)" in (pages / "index.md").read_text(encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in (pages / ".cells").rglob("*.json")}
    assert main(command) == 0
    assert capsys.readouterr().out == first
    assert {path: path.stat().st_mtime_ns for path in before} == before  # none was made again


def test_without_a_name_the_command_says_how_to_see_them(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["experiment"])
    assert "--list" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_the_full_run_is_in_the_docs(name):
    result = ExperimentResult.from_json((PAGES / f"{name}.json").read_text(encoding="utf-8"))
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert not result.quick
    assert result.verdict in text
    assert f"[{name}]({name}.md)" in (PAGES / "index.md").read_text(encoding="utf-8")
    for image in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
        assert (PAGES / image).stat().st_size < 200_000, image
