"""`veridical calibrate`: the saved map, the comparison on held-out rows, refusals in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import brier_score_loss, log_loss

import veridical.selection  # noqa: F401 - makes AutoCalibrator known
from veridical.calibrators import (
    BetaCalibrator,
    Calibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from veridical.cli import main
from veridical.results import Comparison, Evaluation, Evidence
from veridical.selection import AutoCalibrator

N = 400


def make_files():
    """Over-confident predictions of two classes, of three, and scores."""
    rng = np.random.default_rng(0)
    q = rng.beta(1.5, 1.5, N)
    fraud = rng.random(N) < q
    p = q**2 / (q**2 + (1 - q) ** 2)
    frame = pl.DataFrame(
        {
            "id": [f"{i:04d}" for i in range(N)],
            "label": fraud.astype(int),
            "kind": np.where(fraud, "fraud", "ok"),
            "p": p,
            "s": np.log(q / (1 - q)) * 3 + 5,
            "w": rng.integers(0, 3, N),
        }
    )
    frame.write_csv("two.csv")
    frame.write_parquet("two.parquet")
    several = rng.dirichlet([2.0, 2.0, 2.0], N)
    y = np.array(["ant", "bee", "cat"])[[rng.choice(3, p=row) for row in several]]
    sharp = several**2 / (several**2).sum(axis=1, keepdims=True)
    columns = {f"p_{name}": sharp[:, k] for k, name in ((2, "cat"), (0, "ant"), (1, "bee"))}
    logits = {f"z_{name}": np.log(sharp[:, k]) for k, name in enumerate(["ant", "bee", "cat"])}
    pl.DataFrame({"animal": y, **columns, **logits}).write_parquet("three.parquet")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_files()
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error; anything but SystemExit is a traceback."""
    try:
        code = main(["calibrate", *map(str, arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def saved(path="c.json"):
    return Calibrator.from_dict(json.loads(Path(path).read_text()))


def test_a_named_method_is_fitted_to_all_rows(capsys):
    code, out, err = run(
        capsys, "two.csv", "--y", "label", "--prob", "p", "--method", "platt", "-o", "c.json"
    )
    assert (code, err) == (0, "")
    frame = pl.read_csv("two.csv")
    expected = PlattCalibrator().fit(frame["p"].to_numpy(), frame["label"].to_numpy())
    grid = np.linspace(0, 1, 11)
    np.testing.assert_allclose(
        saved().predict_proba(grid), expected.predict_proba(grid), rtol=0, atol=1e-12
    )
    assert saved().feature_names_in_.tolist() == ["p"]
    assert "after - before" in out
    assert "platt fitted to 400 rows, saved in c.json" in out
    assert "Evidence" not in out


def test_auto_prints_its_evidence_and_saves_it(capsys):
    code, out, _ = run(
        capsys, "two.parquet", "--prob", "p", "--y", "label", "--format", "json", "-o", "c.json",
        "--folds", "2", "--strategy", "select",
    )  # fmt: skip
    assert code == 0
    result = json.loads(out)
    evidence = Evidence.from_dict(result["evidence"])
    assert evidence.strategy == "select"
    frame = pl.read_csv("two.csv")
    p, y = frame["p"].to_numpy(), frame["label"].to_numpy()
    # The first entry is the model itself: its scores are those of all rows.
    assert evidence.candidate("identity").log_loss == pytest.approx(log_loss(y, p))
    auto = saved()
    assert isinstance(auto, AutoCalibrator)
    assert auto.strategy == "select"
    held = Comparison.from_dict(result["held_out"])
    assert held.models == ("before", "after")
    # The difference of log loss has one interval, that of the evidence.
    figures = [d.difference.estimator for d in held.differences]
    assert ("log" in figures) == (evidence.candidates[-1].low is None)
    assert {"brier", "zero-one"} < set(figures)
    _, text, _ = run(
        capsys, "two.parquet", "--prob", "p", "--y", "label", "-o", "c.json", "--folds", "0"
    )
    assert text.startswith("Evidence from 400 rows")
    assert "after - before" not in text


def test_before_is_the_model_and_after_is_held_out(capsys):
    options = ["--y", "label", "--prob", "p", "--format", "json", "-o", "c.json", "--method"]
    frame = pl.read_csv("two.csv")
    p, y = frame["p"].to_numpy(), frame["label"].to_numpy()
    _, out, _ = run(capsys, "two.csv", *options, "isotonic")
    held = Comparison.from_dict(json.loads(out)["held_out"])
    assert held.evaluation("before").scores["brier"] == pytest.approx(brier_score_loss(y, p))
    seen = brier_score_loss(y, saved().predict_proba(p)[:, 1])
    after = held.evaluation("after").scores["brier"]
    # An isotonic map flatters itself on its own rows: on others its score is worse.
    assert after > seen + 0.005
    difference = held.difference("after", "before", "brier")
    # Of the map that is saved: a ninth of the hindsight comes back with five folds.
    expected = after - (after - seen) / 9
    assert difference.first == pytest.approx(expected)
    assert difference.estimate == pytest.approx(expected - brier_score_loss(y, p))
    assert difference.low < difference.estimate < difference.high


def test_the_identity_changes_nothing_on_held_out_rows(capsys):
    _, out, _ = run(
        capsys, "three.parquet", "--y", "animal", "--prob", "p_*", "--method", "identity",
        "--format", "json", "-o", "c.json", "--folds", "3",
    )  # fmt: skip
    held = Comparison.from_dict(json.loads(out)["held_out"])
    for figure in ("brier", "log", "zero-one"):
        assert held.difference("after", "before", figure).estimate == 0
    assert held.evaluation("after").classes == ("cat", "ant", "bee")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_column_may_be_about_the_smaller_label(capsys, form):
    code, out, _ = run(
        capsys, f"two.{form}", "--y", "kind", "--prob", "p", "--pos-label", "fraud",
        "--method", "beta", "-o", "c.json", "--folds", "0",
    )  # fmt: skip
    assert code == 0
    frame = pl.read_csv("two.csv")
    p, y = frame["p"].to_numpy(), frame["label"].to_numpy()
    # The same rows, told by numbers in which fraud is the larger label.
    expected = BetaCalibrator().fit(p, y)
    grid = np.linspace(0.01, 0.99, 9)
    assert saved().classes_.tolist() == ["fraud", "ok"]
    given = saved().predict_proba(grid)
    np.testing.assert_array_equal(given[:, ::-1], expected.predict_proba(grid))
    assert json.loads(Path("c.json").read_text())["parameters"]["pos_label"] == "fraud"
    assert saved().outcome_name_ == "kind"
    assert "beta fitted to 400 rows" in out


def test_weights_are_those_of_the_function(capsys):
    run(
        capsys, "two.csv", "--y", "label", "--prob", "p", "--weight", "w", "--method", "platt",
        "-o", "c.json", "--folds", "2", "--n-bins", "5",
    )  # fmt: skip
    frame = pl.read_csv("two.csv")
    expected = PlattCalibrator().fit(
        frame["p"].to_numpy(), frame["label"].to_numpy(), frame["w"].to_numpy()
    )
    grid = np.linspace(0, 1, 11)
    np.testing.assert_allclose(
        saved().predict_proba(grid), expected.predict_proba(grid), rtol=0, atol=1e-12
    )


def test_logits_of_three_classes(capsys):
    code, out, _ = run(
        capsys, "three.parquet", "--y", "animal", "--prob", "z_*", "--input", "logit",
        "--method", "temperature", "--format", "json", "-o", "c.json",
    )  # fmt: skip
    assert code == 0
    frame = pl.read_parquet("three.parquet")
    z, y = frame[["z_ant", "z_bee", "z_cat"]].to_numpy(), frame["animal"].to_numpy()
    expected = TemperatureCalibrator(input="logit").fit(z, y)
    np.testing.assert_allclose(
        saved().predict_proba(z), expected.predict_proba(z), rtol=0, atol=1e-12
    )
    held = Comparison.from_dict(json.loads(out)["held_out"])
    # Log probabilities are logits: "before" is their exponential.
    assert held.evaluation("before").scores["log"] == pytest.approx(log_loss(y, np.exp(z)))


def test_scores_have_no_before(capsys):
    code, out, _ = run(
        capsys, "two.csv", "--y", "label", "--prob", "s", "--input", "score",
        "--method", "isotonic", "--format", "json", "-o", "c.json",
    )  # fmt: skip
    assert code == 0
    assert Evaluation.from_dict(json.loads(out)["held_out"]).n_samples == N
    frame = pl.read_csv("two.csv")
    s, y = frame["s"].to_numpy(), frame["label"].to_numpy()
    expected = IsotonicCalibrator(input="score").fit(s, y)
    np.testing.assert_allclose(
        saved().predict_proba(s), expected.predict_proba(s), rtol=0, atol=1e-12
    )


def test_a_guess_and_the_lack_of_rows_are_said(capsys):
    Path("few.csv").write_text("label,p\n0,0.2\n1,0.7\n1,0.9\n")
    code, out, err = run(capsys, "few.csv", "--method", "platt", "-o", "c.json")
    assert (code, err) == (0, "")
    assert "note: guessed --y label, --prob p; pass others if that is wrong" in out
    assert "note: no comparison on held-out rows" in out
    _, out, err = run(
        capsys, "few.csv", "--method", "platt", "-o", "c.json", "--format", "json"
    )  # fmt: skip
    assert json.loads(out)["held_out"] is None
    assert "veridical: note: guessed --y label, --prob p; pass others if that is wrong\n" in err


def test_help_names_the_methods(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for name in ("auto", "isotonic", "venn-abers", "structured-matrix"):
        assert name in out
    assert "METHODS" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "must be an existing file; got 'missing.csv'"),
        (["two.csv", "--y", "lable"], "did you mean 'label'?"),
        (["two.csv", "--prob", "q"], "`--prob` must be a column of the data"),
        (["two.csv", "--prob", "w"], "`--prob` must be in [0, 1]"),
        (["two.csv", "--prob", "p", "--weight", "id2"], "`--weight` must be a column"),
        (["two.csv", "--method", "isotonik"], "did you mean 'isotonic'?"),
        (["two.csv", "--strategy", "best"], "invalid choice: 'best'"),
        (["two.csv", "--method", "beta", "--strategy", "pool"], "`--strategy` must be left out"),
        (["two.csv", "--method", "beta", "--max-seconds", "1"], "`--max-seconds` must be left out"),
        (["two.csv", "--max-seconds", "-1"], "`--max-seconds` must be a positive number"),
        (["two.csv", "--input", "odds"], "invalid choice: 'odds'"),
        (["two.csv", "--folds", "1"], "`--folds` must be 0, or 2 or more"),
        (["two.csv", "--pos-label", "7"], "`--pos-label` must be one of the classes"),
        (["two.csv", "--method", "platt", "--lens", "confidense"], "did you mean 'confidence'?"),
        (["three.parquet", "--y", "animal", "--prob", "p_*", "--pos-label", "ant"],
         "`--pos-label` must be unset for K > 2"),
        (["three.parquet", "--y", "animal", "--prob", "p_ant"], "of at most 2 classes"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line_and_writes_nothing(capsys, arguments, message):
    before = sorted(path.name for path in Path.cwd().iterdir())
    code, out, err = run(capsys, *arguments, "-o", "c.json")
    assert (code, out) == (2, "")
    assert err.startswith("veridical")
    assert len(err.splitlines()) == 1, err
    assert message in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


def test_outputs_that_must_not_or_cannot_be_written(capsys):
    before = Path("two.csv").read_bytes()
    code, _, err = run(capsys, "two.csv")
    assert code == 2
    assert "required: -o/--output" in err
    code, _, err = run(capsys, "two.csv", "--method", "platt", "-o", "two.csv")
    assert code == 2
    assert "another file than the input" in err
    code, _, err = run(capsys, "two.csv", "--method", "platt", "-o", "no/c.json")
    assert code == 1
    assert len(err.splitlines()) == 1
    assert Path("two.csv").read_bytes() == before


TAKEN = "'p' is taken for the probability of 'ok', the larger label; --pos-label says otherwise"
LOWER = "'p' is lower where 'ok' happened; if it is about 'fraud', say --pos-label fraud"


def test_it_is_said_which_text_label_one_column_is_taken_for(capsys):
    options = ["two.csv", "--y", "kind", "--prob", "p", "--method", "platt", "-o", "c.json",
               "--folds", "0", "--weight", "w"]  # fmt: skip
    code, _, err = run(capsys, *options)
    assert code == 2
    assert "must be the probability of 'ok'; got 'p', which ranks it backwards (AUC 0." in err
    assert "pass --pos-label fraud; if all is as it should be, pass --allow-reversed." in err
    assert not Path("c.json").exists()
    anyway = [*options, "--allow-reversed"]
    code, out, err = run(capsys, *anyway)
    assert code == 0
    assert err == f"veridical: note: {TAKEN}\nveridical: note: {LOWER}\n"
    assert "note" not in out
    _, out, err = run(capsys, *anyway, "--format", "json")
    assert json.loads(out)["notes"] == [TAKEN, LOWER]
    assert err == f"veridical: note: {TAKEN}\nveridical: note: {LOWER}\n"
    _, _, err = run(capsys, *options, "--pos-label", "fraud")
    assert err == ""
    frame = pl.read_csv("two.csv").with_columns(p=1 - pl.col("p"))
    frame.write_csv("turned.csv")
    _, _, err = run(capsys, "turned.csv", *options[1:])
    assert err == f"veridical: note: {TAKEN}\n"
    _, _, err = run(capsys, "turned.csv", *options[1:], "--pos-label", "fraud")
    assert err == "veridical: note: 'p' is lower where 'fraud' happened\n"


def test_numbers_are_noted_only_where_they_point_the_wrong_way(capsys):
    options = ["--y", "label", "--input", "score", "--method", "platt", "-o", "c.json",
               "--folds", "0"]  # fmt: skip
    assert run(capsys, "two.csv", "--prob", "s", *options)[2] == ""
    pl.read_csv("two.csv").with_columns(s=-pl.col("s")).write_csv("turned.csv")
    _, _, err = run(capsys, "turned.csv", "--prob", "s", *options)
    assert err == (
        "veridical: note: 's' is lower where 1 happened; if it is about 0, say --pos-label 0\n"
    )


def test_a_map_of_converted_predictions_says_what_it_takes(capsys):
    frame = pl.read_csv("two.csv").with_columns(pl.col("p") * 100)
    frame.write_csv("percent.csv")
    options = ["--y", "label", "--prob", "p", "--method", "platt", "-o", "c.json"]
    _, out, _ = run(capsys, "percent.csv", "--scale", "percent", *options)
    assert "the map takes probabilities" in out
    assert "--scale percent" in out
    _, out, _ = run(capsys, "two.csv", *options)
    assert "the map takes probabilities" not in out
