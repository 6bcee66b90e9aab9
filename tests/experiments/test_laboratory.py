"""Cells are drawn from one seed, run anywhere, and kept."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from veridical_lab._frame import laboratory as _laboratory
from veridical_lab._frame.laboratory import Laboratory

CELLS = [{"size": size, "shift": shift} for size in (3, 5) for shift in (0.0, 1.5)]


def draw(cell, rng):
    return {"values": rng.normal(cell["shift"], size=cell["size"]), "mean": np.float64(1.5)}


def draw_once(cell, rng):
    """Fails where a cell is asked for that was finished before."""
    if cell["size"] == 3:
        message = "asked again"
        raise AssertionError(message)
    return draw(cell, rng)


def fail_late(cell, rng):
    if cell["size"] == 5:
        raise KeyboardInterrupt
    return draw(cell, rng)


def test_results_are_in_order_and_plain():
    results = Laboratory("demo").map("draws", draw, CELLS)
    assert [len(result["values"]) for result in results] == [3, 3, 5, 5]
    assert all(type(result["mean"]) is float for result in results)


def test_each_cell_has_random_numbers_of_its_own():
    results = Laboratory("demo").map("draws", draw, CELLS)
    firsts = [
        result["values"][0] - cell["shift"] for result, cell in zip(results, CELLS, strict=True)
    ]
    assert len(set(firsts)) == 4


def test_order_does_not_change_a_result():
    alone = Laboratory("demo").map("draws", draw, CELLS)
    assert Laboratory("demo").map("draws", draw, CELLS[::-1]) == alone[::-1]


def test_several_processes_find_the_same():
    def work(cell, rng):  # a function within one travels to other processes whole
        return {"value": cell["size"] + rng.random()}

    alone = Laboratory("demo", n_jobs=1).map("draws", work, CELLS)
    assert Laboratory("demo", n_jobs=2).map("draws", work, CELLS) == alone


@pytest.mark.parametrize("other", [{"seed": 1}, {"name": "other"}, {"quick": True}])
def test_seed_name_and_length_of_the_run_change_the_draws(other):
    usual = Laboratory("demo").map("draws", draw, CELLS)
    changed = Laboratory(**{"name": "demo", **other}).map("draws", draw, CELLS)
    assert all(a["values"] != b["values"] for a, b in zip(usual, changed, strict=True))


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    laboratory = Laboratory("demo", store=tmp_path / "cells")
    with pytest.raises(KeyboardInterrupt):
        laboratory.map("draws", fail_late, CELLS)
    assert len(list((tmp_path / "cells").iterdir())) == 2  # those finished, and nothing half
    resumed = laboratory.map("draws", draw_once, CELLS)
    assert resumed == Laboratory("demo").map("draws", draw, CELLS)


def test_cells_of_other_code_are_not_used(tmp_path, monkeypatch):
    laboratory = Laboratory("demo", store=tmp_path)
    first = laboratory.map("draws", draw, CELLS)
    assert laboratory.map("draws", draw_once, CELLS) == first
    monkeypatch.setattr(_laboratory, "_code", lambda: "other")
    with pytest.raises(AssertionError, match="asked again"):
        laboratory.map("draws", draw_once, CELLS)


@pytest.mark.parametrize("place", ["_frame/page.py", "survey_toy/bins.py", "__init__.py"])
def test_an_edit_anywhere_in_the_experiments_is_other_code(tmp_path, monkeypatch, place):
    room = Path(_laboratory.__file__).parents[1]
    copy = tmp_path / room.name
    shutil.copytree(room, copy, ignore=shutil.ignore_patterns("__pycache__", "data"))
    monkeypatch.setattr(_laboratory, "__file__", str(copy / "_frame" / "laboratory.py"))
    fingerprint = _laboratory._code.__wrapped__  # what is kept is that of the real files
    before = fingerprint()
    assert before == fingerprint()
    with (copy / place).open("a", encoding="utf-8") as module:
        module.write("# another word\n")
    assert fingerprint() != before


def test_a_part_has_random_numbers_of_its_own():
    laboratory = Laboratory("demo")
    a, again, b = (laboratory.rng(part).integers(2**60) for part in ("a", "a", "b"))
    assert a == again != b


def test_what_json_does_not_know_is_an_error():
    with pytest.raises(TypeError, match="holds set"):
        Laboratory("demo").map("draws", lambda cell, rng: {"x": {1}}, CELLS[:1])
