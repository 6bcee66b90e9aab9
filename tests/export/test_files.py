"""Saved calibrators come back to the last bit, and other files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export import maps

from veridical import __version__
from veridical.calibrators import GroupedCalibrator, NotFittedError, PlattCalibrator
from veridical.exceptions import InvalidInputError
from veridical.export import load, save
from veridical.selection import AutoCalibrator


@pytest.mark.parametrize("name", maps.ALL)
def test_predictions_come_back_to_the_last_bit(name: str, tmp_path: Path) -> None:
    calibrator = maps.fitted(name)
    save(calibrator, tmp_path / "map.json")
    scores, again = maps.hard_scores(calibrator), load(tmp_path / "map.json")
    assert type(again) is type(calibrator)
    np.testing.assert_array_equal(again.predict_proba(scores), calibrator.predict_proba(scores))


def test_automatic_choice_with_its_evidence(tmp_path: Path) -> None:
    p, y = maps.binary_rows()
    auto = AutoCalibrator(candidates=maps.CANDIDATES).fit(p, y)
    save(auto, str(tmp_path / "map.json"))
    again: Any = load(str(tmp_path / "map.json"))
    assert again.evidence_ == auto.evidence_
    np.testing.assert_array_equal(again.predict_proba(p), auto.predict_proba(p))


def test_automatic_choices_of_before_there_was_compact_are_read(tmp_path: Path) -> None:
    p, y = maps.binary_rows()
    auto = AutoCalibrator(candidates=maps.CANDIDATES, compact=False).fit(p, y)
    data = auto.to_dict()  # without a hash, as earlier versions wrote it
    del data["parameters"]["compact"]
    (tmp_path / "map.json").write_text(json.dumps(data))
    again = load(tmp_path / "map.json")
    np.testing.assert_array_equal(again.predict_proba(p), auto.predict_proba(p))


def test_the_file_is_plain_json_of_the_documented_layout(tmp_path: Path) -> None:
    save(maps.fitted("platt"), tmp_path / "map.json")
    data = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert set(data) == {"veridical", "format", "calibrator", "parameters", "fitted", "sha256"}
    assert data["veridical"] == __version__
    assert data["format"] == 1
    assert data["calibrator"] == "PlattCalibrator"
    assert [path.name for path in tmp_path.iterdir()] == ["map.json"]  # nothing left beside it


def test_command_line_reads_what_is_saved(tmp_path: Path) -> None:
    from veridical.cli.shared.files import read_calibrator

    calibrator, scores = maps.fitted("platt"), [0.1, 0.7]
    save(calibrator, tmp_path / "saved.json")
    saved = read_calibrator(str(tmp_path / "saved.json"), caller="test")
    np.testing.assert_array_equal(
        saved.calibrator.predict_proba(scores), calibrator.predict_proba(scores)
    )
    np.testing.assert_array_equal(
        saved.predict(np.array(scores)), calibrator.predict_proba(scores)[:, [1]]
    )


def _text(change: dict[str, Any]) -> str:
    return json.dumps({**maps.fitted("platt").to_dict(), **change})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty file"),
        ("name,age\n1,2\n", "no JSON"),
        ("\xff\xfe", "no JSON"),
        ("[1, 2]", "a saved calibrator"),
        ("{}", "a saved calibrator"),
        ("[" * 100_000, "path"),
        (_text({"format": 99}), "(?s)known format; got 99.*update veridical"),
        (_text({"calibrator": "Trojan"}), "that this version knows; got 'Trojan'"),
        (_text({"calibrator": ["PlattCalibrator"]}), "that this version knows"),
        (_text({"fitted": {}}), "not fitted"),
        (_text({"fitted": {"__class__": 1}}), "foreign"),
        (_text({"parameters": {"shell": 1}}), "foreign"),
        (_text({"fitted": [1]}), "saved calibrator|foreign"),
        ('{"format": 1, ' + _text({})[1:], "a name stands twice"),
    ],
)
def test_other_files_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidInputError, match=said) as caught:
        load(path)
    assert "map.json" in str(caught.value)


def test_a_file_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    save(maps.fitted("isotonic"), tmp_path / "map.json")
    whole = (tmp_path / "map.json").read_bytes().rstrip()
    for end in np.linspace(0, len(whole) - 1, 40).astype(int).tolist():
        (tmp_path / "map.json").write_bytes(whole[:end])
        with pytest.raises(InvalidInputError, match="a saved calibrator"):
            load(tmp_path / "map.json")


def test_what_cannot_be_saved_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError, match="fit"):
        save(PlattCalibrator(), tmp_path / "map.json")
    with pytest.raises(InvalidInputError, match="dict"):
        save({}, tmp_path / "map.json")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        save(maps.fitted("platt"), tmp_path / "none" / "map.json")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.json")


def test_groups_that_no_file_holds_are_said_to_be_so(tmp_path: Path) -> None:
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")[np.arange(40) % 2]
    p = np.linspace(0.1, 0.9, 40)
    map = GroupedCalibrator(PlattCalibrator()).fit(p, np.arange(40) // 3 % 2, by=days)
    with pytest.raises(InvalidInputError, match="fit it to such labels and groups"):
        save(map, tmp_path / "map.json")
