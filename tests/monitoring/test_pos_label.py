"""A monitor that is told its positive class is the plain 0/1 monitor under other names."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import polars as pl
import pytest

from veridical import CalibrationMonitor, InvalidInputError
from veridical.calibrators import BetaCalibrator
from veridical.cli import main


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(5)
    p = rng.beta(2, 5, 900)
    return p, (rng.random(900) < p).astype(int)


def named(y):
    return np.array(["good", "bad"])[y]


def ordered(y):
    return pl.Series("Status", named(y), dtype=pl.Enum(["good", "bad"]))


def watched(monitor, p, y):
    for part in np.split(np.arange(len(p)), 3):
        monitor.update(y[part] if isinstance(y, np.ndarray) else y.gather(part), p[part])
    return monitor


def figures(monitor):
    status = monitor.status().to_dict()
    return [status["e_value"], status["estimates"]]


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ({"pos_label": "bad"}, named),
        ({"pos_label": "bad", "labels": ["good", "bad"]}, named),
        ({}, ordered),
        ({"labels": ["good", "bad"]}, ordered),
    ],
)
def test_figures_and_maps_are_those_of_plain_numbers(stream, told, names):
    p, y = stream
    plain, other = CalibrationMonitor(), CalibrationMonitor(**told)
    watched(plain, p, y)
    watched(other, p, names(y))
    assert other.settings["pos_label"] == "bad"
    assert figures(other) == figures(plain)
    maps = [each.refit("beta") for each in (plain, other)]
    assert maps[0].difference == maps[1].difference
    for monitor in (plain, other):
        monitor.switch(force=True)
    np.testing.assert_array_equal(other.calibrate(p), plain.calibrate(p))
    assert other.current.positive_label == "bad"


def test_maps_of_older_stores_are_about_the_larger_label(stream):
    """They were fitted to 1 - p; what they make of p stays the same."""
    p, y = stream
    from veridical.monitoring._maps.rows import ModelColumns

    old = BetaCalibrator(labels=["bad", "good"]).fit(1 - p, named(y))
    columns = ModelColumns(("bad", "good"), 0)
    expected = old.predict_proba(1 - p)[:, 0]
    np.testing.assert_array_equal(columns.calibrated(old, p), expected)


def test_it_can_be_said_until_the_first_rows(tmp_path, stream):
    p, y = stream
    path = tmp_path / "store.sqlite"
    CalibrationMonitor(path).close()
    CalibrationMonitor(path, pos_label="good").close()
    with CalibrationMonitor(path, pos_label="bad") as monitor:
        monitor.update(named(y), p)
    CalibrationMonitor(path, pos_label="bad").close()
    with pytest.raises(InvalidInputError, match=r"`pos_label` must be 'bad', as in .*; got 'good'"):
        CalibrationMonitor(path, pos_label="good")
    other = tmp_path / "other.sqlite"
    with CalibrationMonitor(other) as monitor:
        monitor.update(named(1 - y), p)  # "good" is the larger label
    CalibrationMonitor(other, pos_label="good").close()
    with pytest.raises(InvalidInputError, match=r"`pos_label` must be 'good', as in"):
        CalibrationMonitor(other, pos_label="bad")


def test_commands(tmp_path, stream, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    p, y = stream
    pl.DataFrame({"Status": named(y), "PD": p}).write_csv("credit.csv")
    pl.DataFrame({"label": y, "p": p}).write_csv("plain.csv")
    columns = ["credit.csv", "--y", "Status", "--prob", "PD"]
    assert main(["monitor", "init", "plain.sqlite"]) == 0
    assert main(["monitor", "update", "plain.sqlite", "plain.csv"]) == 0
    assert main(["monitor", "init", "a.sqlite", "--pos-label", "bad"]) == 0
    assert main(["monitor", "update", "a.sqlite", *columns]) == 0
    assert main(["monitor", "init", "b.sqlite"]) == 0
    assert main(["monitor", "update", "b.sqlite", *columns, "--pos-label", "bad"]) == 0
    capsys.readouterr()
    found = []
    for store in ("plain.sqlite", "a.sqlite", "b.sqlite"):
        assert main(["monitor", "status", store, "--format", "json"]) == 0
        status = json.loads(capsys.readouterr().out)
        found.append([status["e_value"], status["estimates"]])
    assert found[0] == found[1] == found[2]
    assert main(["monitor", "update", "a.sqlite", *columns, "--pos-label", "good"]) == 2
    said = capsys.readouterr().err
    assert "`--pos-label` must be 'bad', as in 'a.sqlite'; got 'good'" in said
    assert main(["monitor", "update", "plain.sqlite", "plain.csv", "--pos-label", "1"]) == 0
    assert main(["monitor", "update", "plain.sqlite", "plain.csv", "--pos-label", "0"]) == 2


def test_stores_of_before_there_was_a_choice_still_open(tmp_path, stream):
    p, y = stream
    path = tmp_path / "store.sqlite"
    with CalibrationMonitor(path) as monitor:
        monitor.update(y, p)
        before = figures(monitor)
    connection = sqlite3.connect(path)
    kept = json.loads(
        connection.execute("SELECT value FROM settings WHERE name = 'monitor'").fetchone()[0]
    )
    assert kept["pos_label"] is None
    connection.close()
    with CalibrationMonitor(path) as monitor:
        assert figures(monitor) == before
