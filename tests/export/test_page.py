"""The page on exports: its examples run, and its file is one that is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import veridical.export
from veridical.calibrators import Calibrator, HistogramCalibrator
from veridical.export import load
from veridical.export._tensors.onnx import to_onnx
from veridical.export._tensors.torch import to_torch

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def _run(
    blocks: list[str],
    folder: Path,
    patch: pytest.MonkeyPatch,
    space: dict[str, Any] | None = None,
) -> None:
    patch.chdir(folder)
    patch.setattr(veridical.export, "to_onnx", to_onnx, raising=False)
    patch.setattr(veridical.export, "to_torch", to_torch, raising=False)
    space = {} if space is None else space
    for block in blocks:
        exec(block, space)


def test_examples_run(
    need: Callable[[str], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    need("onnxruntime")
    need("onnx")
    blocks = [block for block in _blocks("python") if "torch" not in block]
    assert len(blocks) == 13
    space: dict[str, Any] = {}
    for block in blocks:
        _run([block], tmp_path, monkeypatch, space)
        printed = [f"# {line}" for line in capsys.readouterr().out.splitlines()]
        assert "\n".join(printed) in block
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.json", "map.onnx"]


def test_example_of_torch_runs(
    need: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("torch")
    blocks = [block for block in _blocks("python") if "torch" in block]
    assert len(blocks) == 1
    _run(blocks, tmp_path, monkeypatch)


def test_the_file_that_is_shown_is_the_one_that_is_written(tmp_path: Path) -> None:
    (text,) = _blocks("json")
    shown = json.loads(text)
    assert isinstance(shown.pop("veridical"), str)
    assert isinstance(shown.pop("sha256"), str)
    map = HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1])
    written = map.to_dict()
    print_of = written["fitted"]["fingerprint_"]["fingerprint"]
    print_of["salt"] = print_of["digests"] = "..."
    assert shown == written


def test_entries_at_the_top_may_be_added_and_others_not(tmp_path: Path) -> None:
    map = HistogramCalibrator(n_bins=1).fit([0.2, 0.6], [0, 1])
    data = map.to_dict()
    file = tmp_path / "map.json"
    file.write_text(json.dumps({**data, "written_by": "someone"}), encoding="utf-8")
    assert load(file).predict_proba([0.4]).tolist() == [[0.5, 0.5]]
    data["fitted"]["foreign_thing"] = 1
    with pytest.raises(ValueError, match="foreign"):
        Calibrator.from_dict(data)
