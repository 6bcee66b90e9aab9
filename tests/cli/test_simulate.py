"""`veridical simulate`: closed forms, hand-made predictions, refusals in one line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical.cli import main

# 60 rows say 0.1 where 12 of 60 are ill, 40 say 0.7 where 30 of 40 are.
ILL = [1] * 12 + [0] * 48 + [1] * 30 + [0] * 10
SAID = [0.1] * 60 + [0.7] * 40
COSTS = '{"treat": {"ill": 0, "well": 1}, "wait": {"ill": 5, "well": 0}}'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state = np.where(ILL, "ill", "well")
    other = 1 - np.array(SAID)
    pl.DataFrame({"label": ILL, "p": SAID}).write_csv("numbers.csv")
    pl.DataFrame({"state": state, "p": SAID, "p_ill": SAID, "p_well": other}).write_csv("texts.csv")
    Path("costs.json").write_text(COSTS)
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error; anything but SystemExit is a traceback."""
    try:
        code = main(["simulate", *map(str, arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def found(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def decisions(capsys, *arguments):
    small = ["--n-samples", 2000, "--n-repeats", 5]
    return found(capsys, "decisions", *arguments, *small)


PAIR = ["--cost-fp", 1, "--cost-fn", 5]
POINT = ["--accuracy", 0.75, "--ece", 0]


@pytest.mark.parametrize(("direction", "sign"), [("over", 1), ("under", -1)])
def test_data_have_the_accuracy_and_error_asked_for(capsys, direction, sign):
    result = found(
        capsys, "data", "--classes", 3, "--accuracy", 0.85, "--ece", 0.05, "--rows", 5000,
        "--direction", direction, "--truth", "-o", "fake.parquet",
    )  # fmt: skip
    assert result["n_samples"] == 5000
    assert result["accuracy"]["value"] == pytest.approx(0.85, abs=1e-6)
    assert result["ece"]["value"] == pytest.approx(0.05, abs=1e-6)
    table = pl.read_parquet("fake.parquet")
    names = [f"{kind}_{k}" for kind in ("p", "true") for k in range(3)]
    assert table.columns == ["label", *names]
    said, truth = (table.select(names[i : i + 3]).to_numpy() for i in (0, 3))
    assert len(said) == 5000
    assert said.sum(axis=1) == pytest.approx(np.ones(5000))
    right = (said.argmax(axis=1) == table["label"].to_numpy()).mean()
    assert right == pytest.approx(0.85, abs=4 * np.sqrt(0.85 * 0.15 / 5000))
    # Confidence is above, or below, the truth on every row, by the ECE on average.
    gap = sign * (said.max(axis=1) - truth[np.arange(5000), said.argmax(axis=1)])
    assert gap.min() > -1e-12
    assert gap.mean() == pytest.approx(0.05, abs=4 * gap.std() / np.sqrt(5000))


def test_data_can_be_drawn_again_and_read(capsys):
    texts = []
    for seed in (1, 1, 2):
        code, out, _ = run(
            capsys, "data", "--accuracy", 0.8, "--ece", 0, "--rows", 30, "--seed", seed,
            "-o", "fake.csv",
        )  # fmt: skip
        assert code == 0
        texts.append(Path("fake.csv").read_text())
    assert texts[0] == texts[1] != texts[2]
    assert texts[0].splitlines()[0] == "label,p_0,p_1"
    assert "30 rows of a fake classifier of 2 classes, calibrated, written to fake.csv" in out
    assert "accuracy 0.800000" in out
    assert "ECE 0.000000" in out
    assert main(["evaluate", "fake.csv", "--n-resamples", "0"]) == 0
    assert "Evaluation of 30 rows" in capsys.readouterr().out


def test_a_value_in_closed_form(capsys):
    # Truths of accuracy 3/4 are uniform; alarm above 1/6 costs the integrals of 5 p up to there
    # and of 1 - p beyond: 5/72 + 25/72. Its square has the mean 25/648 + 125/648, so the standard
    # error of 10,000 rows is 0.0024. Without a model: alarm always, at 1/2.
    result = decisions(capsys, *PAIR, *POINT, "--saving", 0.1)
    (row,) = result["table"]["grid"]
    assert row["value"] == pytest.approx(-30 / 72, abs=4 * 0.0024)
    assert row["low"] < row["value"] < row["high"]
    assert row["baseline"] == pytest.approx(-0.5)
    assert result["sentences"][0].startswith("To save 10 % of the cost of deciding without a model")
    assert result["requirements"]["rows"][0]["max_ece"] == 0
    # It saves 1/6: more is not possible.
    _, out, _ = run(capsys, "decisions", *PAIR, *POINT, "--saving", 0.2, "--n-samples", 2000)
    assert "columns: ECE" in out
    assert "at accuracy 0.75 is not possible" in " ".join(out.split())


def test_equal_costs_are_the_error_rate_for_three_classes(capsys):
    Path("costs.csv").write_text("class,a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n")
    options = ["--costs", "costs.csv", "--accuracy", 0.7, "--ece", 0, 0.1, 0.4]
    calibrated, over, impossible = decisions(capsys, *options)["table"]["grid"]
    for row in (calibrated, over):
        # 10,000 rows of 1 - max p, which is within [0, 2/3].
        assert row["value"] == pytest.approx(-0.3, abs=4 * np.sqrt(0.3 * (2 / 3 - 0.3) / 10_000))
        assert row["baseline"] == pytest.approx(-2 / 3)
    assert calibrated["value"] == over["value"]
    assert impossible["value"] is None
    assert "max c <= 1 (Lemma 1 i" in impossible["reason"]


@pytest.mark.parametrize(
    ("shares", "baseline"),
    # Treat all at the share of the well, or wait at five times that of the ill.
    [((0.1, 0.9), -0.5), ((0.9, 0.1), -0.1)],
)
def test_shares_are_in_the_order_of_the_costs(capsys, shares, baseline):
    options = ["--costs", "costs.json", "--class-shares", *shares, "--accuracy", 0.95, "--ece", 0]
    (row,) = decisions(capsys, *options)["table"]["grid"]
    assert row["baseline"] == pytest.approx(baseline)


@pytest.mark.parametrize(
    "options",
    [
        ["--file", "numbers.csv", *PAIR],
        ["--file", "numbers.csv", "--y", "label", "--prob", "p", *PAIR],
        ["--file", "texts.csv", "--y", "state", "--prob", "p", "--pos-label", "ill", *PAIR],
        ["--file", "texts.csv", "--y", "state", "--prob", "p", "--pos-label", "ill",
         "--costs", "costs.json"],
    ],
)  # fmt: skip
def test_predictions_from_a_file_by_hand(capsys, options):
    result = decisions(capsys, *options, *POINT)
    table = result["table"]
    (model,) = table["models"]
    assert model["name"] == options[1]
    # 0.1 is below 1/6: 12 misses at 5, then 10 false alarms; without a model 58 false alarms.
    assert model["value"] == pytest.approx(-0.7)
    assert model["baseline"] == pytest.approx(-0.58)
    assert model["accuracy"] == pytest.approx(0.78)
    assert model["ece"] == pytest.approx(0.6 * 0.1 + 0.4 * 0.05)
    assert table["class_shares"] == pytest.approx([0.58, 0.42])
    guessed = (
        ["guessed y='label', prob='p'; pass others if that is wrong"]
        if "--y" not in options
        else []
    )
    assert result["notes"] == guessed


def test_costs_meet_the_columns_of_their_classes(capsys):
    options = ["--file", "texts.csv", "--y", "state", "--prob", "p_*", "--costs", "costs.json"]
    (model,) = decisions(capsys, *options, *POINT)["table"]["models"]
    assert (model["value"], model["baseline"]) == pytest.approx((-0.7, -0.58))


def test_savings_on_the_model_of_the_file(capsys):
    options = ["--file", "numbers.csv", *PAIR, *POINT, "--saving", 0.1, "--relative-to", "file"]
    result = decisions(capsys, *options)
    assert result["requirements"]["rows"][0]["target"] == pytest.approx(-0.63)
    assert "save 10 % of the cost of 'numbers.csv'" in result["sentences"][0]
    _, out, _ = run(capsys, "decisions", *options, "--n-samples", 2000)
    assert "numbers.csv: accuracy 0.78" in out
    assert "note: guessed --y label" in out


def test_a_figure(capsys):
    grid = ["--accuracy", 0.7, 0.8, "--ece", 0, 0.1]
    result = decisions(capsys, *PAIR, *grid, "--saving", 0.1, "--plot", "map.png")
    assert result["plot"] == "map.png"
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")
    assert not list(Path.cwd().glob(".map*"))


def test_a_figure_without_matplotlib(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "veridical.plots", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(capsys, "decisions", *PAIR, "--plot", "map.png")
    assert (code, out) == (2, "")
    assert 'pip install "matplotlib>=3.8"' in err


def test_the_reference_players_alone(capsys):
    # Calibrated reports are the truth: to trust them is to be informed.
    game = ["game", "--auto", "--seed", 3, "--n-rounds", 3]
    result = found(capsys, *game, "--level", "calibrated")
    assert result["seed"] == 3
    assert "you" not in result
    assert result["trusting"]["expected"] == pytest.approx(result["informed"]["expected"])
    assert not any("Your" in sentence for sentence in result["sentences"])
    worse = found(capsys, *game, "--level", "very-over-confident")
    assert worse["informed"]["expected"] == pytest.approx(result["informed"]["expected"])
    assert worse["trusting"]["expected"] < worse["informed"]["expected"]
    code, out, _ = run(capsys, *game, "--level", "very over-confident")
    assert code == 0
    assert "3 rounds of 10 patients" in " ".join(out.split())
    assert "  trusting: expected" in out
    assert "Your" not in out


def test_a_game_by_typing(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1:A\nquit\n"))
    code, out, err = run(capsys, "game", "--seed", 5, "--n-patients", 4, "--n-rounds", 2)
    assert (code, err) == (0, "")
    assert "Round 1 of 2, budget 6." in out
    assert "1 of 4 patients treated for 1 of 6" in out
    assert "1 round of 4 patients" in out
    assert out.endswith("For the same patients: --seed 5\n")


DATA = ["data", "--accuracy", "0.8", "--ece"]
DECIDE = ["decisions", *map(str, PAIR)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: WHAT"),
        (["date"], "invalid choice: 'date'"),
        (["data", "--accuracy", "0.8", "-o", "x.csv"], "required: --ece"),
        ([*DATA, "0.1"], "required: -o/--output"),
        ([*DATA, "0.3", "-o", "x.csv"], "`--ece` must be below 1 - accuracy = 0.2; got 0.3"),
        ([*DATA, "0.4", "--direction", "under", "-o", "x.csv"],
         "below accuracy - 1 / n_classes = 0.3"),
        (["data", "--accuracy", "0.2", "--ece", "0", "-o", "x.csv"], "`--accuracy` must be"),
        ([*DATA, "0.1", "--classes", "1", "-o", "x.csv"], "`--classes` must be"),
        ([*DATA, "0.1", "--rows", "0", "-o", "x.csv"], "`--rows` must be a positive integer"),
        ([*DATA, "0.1", "--rows", "1" + "0" * 15, "-o", "x.csv"], "few enough for memory"),
        ([*DATA, "0.1", "--rows", "1" + "0" * 30, "-o", "x.csv"], "few enough for memory"),
        ([*DATA, "0.1", "-o", "x.xlsx"], "`--output` must be a file ending in .csv"),
        ([*DATA, "0.1", "--seed", "-1", "-o", "x.csv"], "`--seed` must be"),
        (["decisions"], "`--costs` must be given; got none"),
        (["decisions", "--cost-fn", "5"], "got one of --cost-fp and --cost-fn"),
        ([*DECIDE, "--costs", "costs.json"], "given in one way; got both"),
        (["decisions", "--cost-fp", "1", "--cost-fn", "nan"], "`--costs` must be finite"),
        (["decisions", "--costs", "none.json"], "a readable file of costs"),
        (["decisions", "--costs", "one.json"], "of two classes or more"),
        (["decisions", "--costs", "half.json"], "a cost for each of the labels"),
        ([*DECIDE, "--prob", "p"], "`--prob` must be unset without --file"),
        ([*DECIDE, "--relative-to", "file"], "`--relative-to` must be unset without --file"),
        ([*DECIDE, "--file", "none.csv"], "`--file` must be an existing file"),
        ([*DECIDE, "--file", "texts.csv", "--prob", "q"], "`--prob` must be a column of the data"),
        ([*DECIDE, "--file", "numbers.csv", "--pos-label", "ill"], "one of the classes"),
        ([*DECIDE, "--file", "only.csv"], "with rows of every class; got no row of 1"),
        (["decisions", "--file", "numbers.csv", "--costs", "costs.json"],
         "a cost for each of the labels [0, 1]"),
        ([*DECIDE, "--class-shares", "1"], "2 positive numbers that sum to 1"),
        ([*DECIDE, "--accuracy", "0.4"], "`--accuracy` must be strictly between"),
        ([*DECIDE, "--n-samples", "0"], "`--n-samples` must be"),
        ([*DECIDE, "--plot", "map.bmp"], "a file ending in .png, .svg, .pdf"),
        (["game", "--auto", "--level", "calibratd"], "did you mean 'calibrated'?"),
        (["game", "--auto", "--n-rounds", "0"], "`--n-rounds` must be a positive integer"),
        (["game", "--json"], "`--format` must be 'text' in a game to play"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line_and_writes_nothing(capsys, arguments, message):
    Path("one.json").write_text('{"treat": {"ill": 1}}')
    Path("half.json").write_text('{"treat": {"ill": 1, "well": 2}, "wait": {"ill": 0}}')
    Path("only.csv").write_text("label,p\n" + "0,0.2\n" * 20)
    before = sorted(path.name for path in Path.cwd().iterdir())
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("veridical")
    assert len(err.splitlines()) == 1, err
    assert message in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


@pytest.mark.parametrize(
    "arguments", [[*DATA, "0", "-o", "no/x.csv"], [*DECIDE, "--plot", "no/x.png"]]
)
def test_a_folder_that_is_not_there(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (1, "")
    assert "No such folder to write to" in err
