"""Percentages and blanks on the command line: every command that reads rows reads them alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import veridical as v
from veridical.cli import main
from veridical.export import load

N = 120
RNG = np.random.default_rng(8)
P = RNG.beta(2, 2, N).round(3)
BAD = RNG.random(N) < P
LEFT = np.setdiff1d(np.arange(N), [0, 1, 2])
READ = ["--y", "status", "--prob", "risk", "--pos-label", "bad", "--scale", "percent"]
READ += ["--missing", "drop"]
DROPPED = "3 of 120 rows dropped: 1 without 'status', 2 without 'risk'"
COMMANDS = {
    "evaluate": ["--n-resamples", "20", "--by", "age"],
    "test": ["--n-resamples", "20", "--tests", "spiegelhalter"],
    "check": ["--n-resamples", "20", "--require", "brier.high < 1"],
    "calibrate": ["--method", "platt", "--folds", "0", "-o", "map.json"],
    "decide": ["--cost-fp", "1", "--cost-fn", "1"],
    "monitor update store.db": [],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status = np.where(BAD, "bad", "good").tolist()
    risk = [f"{100 * p:.1f}" for p in P]
    status[0] = risk[1] = risk[2] = ""
    ages = RNG.normal(40, 9, N).round(1)
    lines = [f"{s},{r},{a}" for s, r, a in zip(status, risk, ages, strict=True)]
    Path("rows.csv").write_text("\n".join(["status,risk,age", *lines]) + "\n\n")


def run(capsys, *arguments):
    try:
        code = main([*arguments])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, " ".join(captured.out.split()), captured.err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_drops_and_converts(command, capsys):
    run(capsys, "monitor", "init", "store.db")
    code, out, err = run(capsys, *command.split(), "rows.csv", *READ, *COMMANDS[command])
    assert code == 0, err
    assert DROPPED in out + " ".join(err.split())
    if command == "evaluate":
        assert f"{np.mean((P - BAD)[LEFT] ** 2):.4f}" in out  # the Brier score
        assert out.count("(3") + out.count("(4") >= 2  # groups between quartiles of the age
    if command == "calibrate":
        expected = v.PlattCalibrator().fit(P[LEFT], BAD[LEFT]).predict_proba([0.3])[0, 1]
        fitted = load("map.json")
        q = fitted.predict_proba([0.3])[0, fitted.classes_.tolist().index("bad")]
        assert q == pytest.approx(expected, abs=1e-9)


def test_without_the_options_they_are_named(capsys):
    asked = ["rows.csv", "--y", "status", "--prob", "risk", "--pos-label", "bad"]
    assert "--missing drop" in run(capsys, "evaluate", *asked)[2]
    assert "--scale percent" in run(capsys, "evaluate", *asked, "--missing", "drop")[2]
