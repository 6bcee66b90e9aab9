"""Errors in the words of the command line, and what friction there was."""

from __future__ import annotations

import errno
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical import Comparison, Evaluation, evaluate
from veridical.cli import main
from veridical.cli.shared.messages import explain
from veridical.cli.shared.output import without_draws
from veridical.exceptions import invalid


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    p = rng.random(300).round(4)
    y = (rng.random(300) < p).astype(int)
    frame = pl.DataFrame({"label": y, "p": p})
    frame.write_csv("good.csv")
    frame.write_parquet("good.parquet")
    named = frame.with_columns(label=pl.Series(np.array(["no", "yes"])[y]))
    named.write_csv("named.csv")
    logit = np.log(p.clip(0.01, 0.99) / (1 - p.clip(0.01, 0.99)))
    frame.with_columns(p=pl.Series(logit)).write_csv("logits.csv")
    frame.with_columns(p=pl.Series(p * 100)).write_csv("percent.csv")
    frame.with_columns(p=pl.Series([f"{x:.0%}" for x in p])).write_csv("signs.csv")
    Path("cut.parquet").write_bytes(Path("good.parquet").read_bytes()[:-200])
    Path("odd.csv").write_text("kind,x\na,5.5\nb,2.2\n")


def run(capsys, *arguments):
    try:
        code = main(list(arguments))
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_what_an_error_is_about_stays_at_its_end():
    error = invalid("compare", "y_prob", "numeric", "'x'", hint="pass numbers.")
    named = type(error)(f"{error}\nModel: 'b'.")
    vars(named).update(vars(error))
    said = "veridical: error: compare: `--prob` must be numeric; got 'x'. Hint: pass numbers."
    assert explain(error) == said
    assert explain(named) == f"{said} Model: 'b'."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "non.csv"], "evaluate: `FILE` must be an existing file; got 'non.csv'"),
        (["test", "non.csv"], "test: `FILE` must be an existing file"),
        (["calibrate", "non.csv", "-o", "c"], "`FILE` must be an existing file"),
        (["evaluate", "cut.parquet"], "`FILE` must be a readable Parquet file; got 'cut.parquet',"
         " whose end is missing. Hint: copy or write the file again"),
        (["evaluate", "odd.csv"], "`--y` must be given where the data leave a doubt"),
        (["evaluate", "odd.csv"], "e.g. --y label."),
        (["evaluate", "odd.csv", "--y", "kind"], "e.g. --prob p or --prob 'p_*'."),
        (["evaluate", "good.csv", "--weight", "w"], "`--weight` must be a column of the data"),
        (["evaluate", "good.csv", "--prob", "label,p"], "`--y` must be given"),
        (["evaluate", "logits.csv"], "`--prob` must be in [0, 1]; got "),
        (["evaluate", "logits.csv"], "pass probabilities, or --scale logit for logits."),
        (["evaluate", "percent.csv"], "pass --scale percent; logits? pass --scale logit."),
        (["calibrate", "percent.csv", "-o", "c.json"],
         "Hint: percentages? say --scale percent; logits? say --input logit."),
        (["calibrate", "logits.csv", "-o", "c.json"], "Hint: say --input logit if --prob holds"),
        (["calibrate", "logits.csv", "--method", "platt", "-o", "c.json"],
         "calibrate: `--prob` must be in [0, 1]; got "),
        (["test", "good.csv", "--tests", "coks"], "test: `--tests` must be one of"),
        (["test", "named.csv", "--lens", "classwise", "--tests", "cox"], "--lens class:LABEL"),
        (["evaluate", "named.csv", "--labels", "yes"], "`--labels` must be a list of 2 labels"),
        (["evaluate", "named.csv", "--labels", "yes,no"], "`--pos-label` must be given for one"
         " column and labels that end in 'no'"),
        (["evaluate", "named.csv", "--labels", "yes,no"], "--pos-label no or --pos-label yes."),
    ],
)  # fmt: skip
def test_errors_speak_of_files_and_options(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err
    for word in ("`y_true`", "`y_prob`", "`sample_weight`", "`source`", "pass the frame"):
        assert word not in err


def test_labels_in_descending_order_need_the_class_the_column_is_about(capsys):
    code, out, _ = run(
        capsys, "evaluate", "named.csv", "--labels", "yes,no", "--pos-label", "yes",
        "--format", "json", "--n-resamples", "0",
    )  # fmt: skip
    assert code == 0
    assert Evaluation.from_json(out).classes[1] == "yes"


@pytest.mark.parametrize(
    ("number", "hint"),
    [(errno.ENOENT, "create the folder first"), (errno.EACCES, "you may not write there"),
     (errno.ENOSPC, "the disk is full"), (errno.EISDIR, "name a file in it")],
)  # fmt: skip
def test_an_output_that_cannot_be_written_comes_with_a_hint(number, hint):
    said = explain(OSError(number, "Reason", "out.json"))
    assert said.startswith(f"veridical: error: Reason: 'out.json'. Hint: {hint}")


def test_what_has_no_hint_is_said_as_it_is():
    assert explain(OSError("odd")) == "veridical: error: odd."
    error = invalid("decide", "other", "x", "a=b and `word`", hint="none.")
    assert explain(error) == (
        "veridical: error: decide: `other` must be x; got a=b and `word`. Hint: none."
    )


@pytest.mark.parametrize("name", ["good.csv", "good.parquet"])
def test_a_dash_is_standard_input(capsys, monkeypatch, name):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(name).read_bytes())))
    code, out, _ = run(capsys, "evaluate", "-", "--format", "json")
    assert code == 0
    assert Evaluation.from_json(out) == evaluate(name)


def test_an_empty_standard_input_is_refused(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    code, _, err = run(capsys, "evaluate", "-")
    assert code == 2
    assert "0 bytes in" in err
    assert "standard-input.csv" in err


def test_null_draws_of_a_calibration_are_printed_as_quantiles(capsys):
    code, out, _ = run(
        capsys, "calibrate", "good.csv", "--method", "platt", "--format", "json", "-o", "c.json",
        "--folds", "2",
    )  # fmt: skip
    assert code == 0
    for test in Comparison.from_dict(json.loads(out)["held_out"]).tests:
        assert len(test.null_level.sample) == 21
        assert test.null_level.n_resamples == 1000
        assert test.null_level.quantile(0.95) == pytest.approx(test.null_level.sample[19])


def test_quantiles_stand_for_draws_only_where_there_are_some():
    data = {"a": [{"sample": [1.0, 2.0]}], "b": {"n_resamples": 3, "sample": [0.0, 5.0, 10.0]}}
    found = without_draws(data)
    assert found["a"] == data["a"]
    assert found["b"]["sample"] == pytest.approx(np.arange(21) / 2)
