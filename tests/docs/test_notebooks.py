"""The notebooks run from top to bottom, and what is kept of their output is clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NAMES = ["methods", "results", "tour"]


def _code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _kinds(notebook):
    """Kinds of output of each code cell: text, table, picture; text may come in several pieces."""
    return [
        {" ".join(sorted(out.get("data", {"text/plain": ""}))) for out in cell.outputs}
        for cell in _code_cells(notebook)
    ]


def test_these_are_all_the_notebooks():
    assert [path.stem for path in sorted(FOLDER.glob("*.ipynb"))] == NAMES


@pytest.mark.filterwarnings("default")  # those of the kernel's machinery; cells have their own
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_the_same_kinds_of_things(name):
    kept = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    fresh = nbformat.from_dict({**kept, "cells": [{**cell} for cell in kept.cells]})
    for cell in _code_cells(fresh):
        cell["outputs"] = []
    nbclient.NotebookClient(fresh, timeout=300, kernel_name="python3").execute()
    assert _kinds(fresh) == _kinds(kept)
    streams = [out for cell in _code_cells(fresh) for out in cell.outputs if "name" in out]
    assert [out.text for out in streams if out.name == "stderr"] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_has_no_warnings_errors_or_paths(name):
    path = FOLDER / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in _code_cells(notebook):
        assert cell.execution_count, "run the notebook from top to bottom before keeping it"
        for out in cell.outputs:
            assert out.output_type != "error"
            assert out.get("name") != "stderr"
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(?:tmp|root|home)/", text)
    assert path.stat().st_size < 300_000
