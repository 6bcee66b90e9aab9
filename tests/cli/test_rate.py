"""`veridical rate`, files of JSON Lines, and log probabilities."""

from __future__ import annotations

import io
import json

import numpy as np
import polars as pl
import pytest

from veridical import RateEstimate, VeridicalWarning, estimate_rate, evaluate
from veridical.cli import main


@pytest.fixture
def judged(tmp_path):
    """A file as a judge writes it: a label in few lines, none in the first 300."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(1, 2, 1500)
    score = 1 / (1 + np.exp(-log_odds))
    good = rng.random(1500) < score
    path = tmp_path / "judged [1].jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for row in range(1500):
            judge = float(score[row])
            line = {"prompt": f"q{row // 3}", "judge": judge, "log": float(np.log(judge))}
            if row >= 300 and row % 8 == 0:
                line |= {"label": "good" if good[row] else "bad", "chance": 0.125}
            stream.write(json.dumps(line) + "\n")
    return path


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_command_says_what_the_function_says(judged, capsys):
    code, out, _ = run(
        capsys, "rate", judged, "--y", "label", "--prob", "judge", "--format", "json"
    )
    expected = estimate_rate(judged, y="label", prob="judge")
    assert code == 0
    assert RateEstimate.from_json(out) == expected
    assert expected.n_labelled == 150
    assert expected.classes == ("good",)
    code, out, _ = run(capsys, "rate", judged, "--y", "label", "--prob", "judge")
    assert out.startswith(f"Rate of 'good': {expected.estimate:.4f}, 95 % interval")
    assert "random sample" in out


def test_options_reach_the_function(judged, capsys):
    asked = ("--groups", "prompt", "--label-prob", "chance", "--confidence-level", 0.9)
    asked += ("--method", "normal", "--raw", "--pos-label", "bad", "--format", "json")
    code, out, _ = run(capsys, "rate", judged, "--y", "label", "--prob", "judge", *asked)
    expected = estimate_rate(
        judged, y="label", prob="judge", groups="prompt", label_prob="chance",
        confidence_level=0.9, method="normal", calibrator=None, pos_label="bad",
    )  # fmt: skip
    assert code == 0
    assert RateEstimate.from_json(out) == expected


def test_log_probabilities_are_read(judged, capsys):
    asked = ("--y", "label", "--prob", "log", "--scale", "logprob", "--format", "json")
    code, out, _ = run(capsys, "rate", judged, *asked)
    plain = estimate_rate(judged, y="label", prob="judge")
    assert code == 0
    assert RateEstimate.from_json(out).estimate == pytest.approx(plain.estimate)
    code, _, err = run(capsys, "rate", judged, "--y", "label", "--prob", "judge", *asked[4:])
    assert code == 2
    assert "at most 0" in err
    assert "--scale logit" in err


def test_every_command_reads_json_lines_and_log_probabilities(judged, capsys):
    asked = ("--y", "label", "--missing", "drop", "--n-resamples", 10, "--format", "json")
    code, out, _ = run(capsys, "evaluate", judged, "--prob", "log", "--scale", "logprob", *asked)
    assert code == 0
    with pytest.warns(VeridicalWarning, match="rows a bin"):
        expected = evaluate(judged, y="label", prob="judge", missing="drop", n_resamples=10)
    scores = json.loads(out)["scores"]
    assert scores["log"] == pytest.approx(expected.scores["log"])
    asked = {"missing": "drop", "scale": "logprob", "engine": "pushdown", "n_resamples": 10}
    with pytest.warns(VeridicalWarning, match="rows a bin"):
        pushed = evaluate(judged, y="label", prob="log", **asked)
    assert pushed.scores["log"] == pytest.approx(expected.scores["log"])


def test_json_lines_come_by_standard_input(judged, capsys, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(judged.read_bytes()))
    monkeypatch.setattr("sys.stdin", stream)
    code, out, _ = run(capsys, "rate", "-", "--y", "label", "--prob", "judge", "--format", "csv")
    assert code == 0
    expected = estimate_rate(judged, y="label", prob="judge")
    assert float(pl.read_csv(io.StringIO(out))["estimate"][0]) == pytest.approx(expected.estimate)


def test_broken_json_lines_are_an_error_of_one_line(tmp_path, capsys):
    path = tmp_path / "broken.jsonl"
    path.write_text('{"label": 1, "judge": 0.5}\n{"label": 1, "jud', encoding="utf-8")
    code, _, err = run(capsys, "rate", path, "--y", "label", "--prob", "judge")
    assert code == 2
    assert "JSON Lines" in err


def test_refusals_name_options(judged, capsys):
    code, _, err = run(
        capsys, "rate", judged, "--y", "label", "--prob", "judge", "--strata", "prompt"
    )
    assert code == 2
    assert "`--strata`" in err
    code, _, err = run(capsys, "rate", judged, "--y", "label", "--prob", "nothing")
    assert code == 2
    assert "`--prob`" in err
