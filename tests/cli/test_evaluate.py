"""`veridical evaluate`: forms of output, lenses, files."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical import ClassSpecific, Evaluation, Grouped, TopK, evaluate
from veridical.cli import main
from veridical.cli.shared.data import LabelReader, parse_lens

GUESSED = "veridical: note: guessed --y label, --prob p; pass others if that is wrong\n"


@pytest.fixture
def binary(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(400).round(4)
    frame = pl.DataFrame(
        {
            "label": (rng.random(400) < p).astype(int),
            "p": p,
            "region": rng.choice(["north", "south"], 400),
            "sex": rng.choice(["f", "m"], 400),
            "w": rng.integers(0, 4, 400),
        }
    )
    frame.write_csv(tmp_path / "predictions.csv")
    return tmp_path / "predictions.csv"


@pytest.fixture
def several(tmp_path):
    rng = np.random.default_rng(1)
    p = rng.dirichlet([0.6, 0.8, 1.0], 600)
    y = np.array(["a", "b", "c"])[[rng.choice(3, p=row) for row in p]]
    frame = pl.DataFrame({"kind": y, "p_a": p[:, 0], "p_b": p[:, 1], "p_c": p[:, 2]})
    frame.write_parquet(tmp_path / "several.parquet")
    return tmp_path / "several.parquet"


def in_options(result):
    return f"{result.to_text()}\n".replace(
        "guessed y='label', prob='p'", "guessed --y label, --prob p"
    )


def run(capsys, *arguments):
    code = main(["evaluate", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_text_is_the_evaluation_in_words(binary, capsys):
    code, out, err = run(capsys, binary)
    assert code == 0
    assert out == in_options(evaluate(binary))
    assert "note: guessed --y label, --prob p; pass others if that is wrong" in out
    assert err == ""


def test_json_is_the_evaluation_without_loss(binary, capsys):
    code, out, err = run(capsys, binary, "--format", "json")
    assert code == 0
    assert Evaluation.from_json(out) == evaluate(binary)
    assert err == GUESSED


def test_csv_is_the_table_of_figures(binary, capsys):
    code, out, _ = run(capsys, binary, "--y", "label", "--prob", "p", "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    figures = evaluate(binary, y="label", prob="p").figures()
    assert [row["quantity"] for row in rows] == [figure[0] for figure in figures]
    values = [float(row["value"]) for row in rows]
    assert values == pytest.approx([figure[4] for figure in figures])
    assert {row["group"] for row in rows} == {""}


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_output_goes_to_a_file_and_notes_to_standard_error(binary, capsys, tmp_path, form):
    target = tmp_path / "out"
    code, printed, _ = run(capsys, binary, "--format", form)
    code, out, err = run(capsys, binary, "--format", form, "-o", target)
    assert (code, out) == (0, "")
    assert target.read_text(encoding="utf-8") == printed
    assert err == GUESSED
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_existing_output_is_replaced(binary, capsys, tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")
    assert run(capsys, binary, "--format", "json", "--output", target)[0] == 0
    assert json.loads(target.read_text())["n_samples"] == 400


def test_options_are_those_of_the_function(binary, capsys):
    _, out, _ = run(
        capsys, binary, "--y", "label", "--prob", "p", "--weight", "w", "--by", "region",
        "--n-bins", "6", "--confidence-level", "0.9", "--pos-label", "1", "--format", "json",
    )  # fmt: skip
    expected = evaluate(
        binary, y="label", prob="p", sample_weight="w", by="region", n_bins=6, confidence_level=0.9
    )
    assert Evaluation.from_json(out) == expected


def test_several_columns_may_make_the_groups(binary, capsys):
    _, out, _ = run(
        capsys, binary, "--y", "label", "--prob", "p", "--by", "region,sex", "--n-bins", "4",
        "--format", "csv",
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len({row["group"] for row in rows}) == 1 + 4


@pytest.mark.parametrize("n_bins", ["sqrt", "cbrt", "cv", "9"])
def test_bins_may_be_counted_by_a_rule(binary, capsys, n_bins):
    _, out, _ = run(capsys, binary, "--n-bins", n_bins, "--format", "json")
    expected = evaluate(binary, n_bins=int(n_bins) if n_bins.isdigit() else n_bins)
    assert Evaluation.from_json(out) == expected


@pytest.mark.parametrize(
    ("text", "lens"),
    [
        ("confidence", "confidence"),
        ("classwise", "classwise"),
        ("canonical", "canonical"),
        ("pooled", "pooled"),
        ("class:b", ClassSpecific("b")),
        ("top:2", TopK(2)),
        ("groups:a+b|c", Grouped([["a", "b"], ["c"]])),
    ],
)
def test_lenses_have_a_written_form(several, capsys, text, lens):
    assert parse_lens(text, LabelReader(str(several), "kind")) == lens
    _, out, _ = run(
        capsys, several, "--y", "kind", "--prob", "p_*", "--lens", text, "--n-bins", "5",
        "--format", "json",
    )  # fmt: skip
    expected = evaluate(several, y="kind", prob="p_*", lens=lens, n_bins=5)
    assert Evaluation.from_json(out) == expected


@pytest.mark.parametrize(
    ("cells", "texts", "labels"),
    [
        (["0", "1"], ["1", "-3"], [1, -3]),
        (["0", "1"], ["b"], ["b"]),
        (["a", "1"], ["1"], ["1"]),
        (["true", "false"], ["True", "false"], [True, False]),
    ],
)
def test_labels_on_the_command_line_are_read_as_the_file_holds_them(tmp_path, cells, texts, labels):
    path = tmp_path / "data.csv"
    path.write_text("label,p\n" + "".join(f"{cell},0.5\n" for cell in cells))
    reader = LabelReader(str(path), None)
    assert reader(texts) == labels
    assert parse_lens(f"class:{texts[0]}", reader) == ClassSpecific(labels[0])
    assert parse_lens(None, reader) is None


def test_labels_give_the_order_of_the_columns(several, capsys):
    _, out, _ = run(
        capsys, several, "--y", "kind", "--prob", "p_c,p_a,p_b", "--labels", "c,a,b",
        "--format", "json",
    )  # fmt: skip
    e = Evaluation.from_json(out)
    assert e.classes == ("c", "a", "b")
    assert e.auc == pytest.approx(evaluate(several, y="kind", prob="p_*").auc)


@pytest.mark.parametrize("pos_label", ["true", "True"])
def test_a_boolean_label_can_be_the_positive_class(tmp_path, capsys, pos_label):
    path = tmp_path / "b.csv"
    rows = [f"{str(i % 3 == 0).lower()},{0.7 - 0.4 * (i % 3 != 0)}" for i in range(90)]
    path.write_text("\n".join(["label,p", *rows]))
    code, out, _ = run(capsys, path, "--pos-label", pos_label, "--n-bins", "2")
    assert code == 0
    assert "Evaluation of 90 rows: probability that label = True, binary lens" in out


def test_a_glob_is_one_table(tmp_path, binary, capsys):
    frame = pl.read_csv(binary)
    frame[:150].write_parquet(tmp_path / "part-0.parquet")
    frame[150:].write_parquet(tmp_path / "part-1.parquet")
    _, out, _ = run(capsys, tmp_path / "part-*.parquet", "--format", "json")
    assert Evaluation.from_json(out) == evaluate(binary)


def test_doubts_are_in_the_text_and_not_repeated(tmp_path, capsys):
    path = tmp_path / "few.csv"
    path.write_text("label,p\n" + "\n".join(f"{i % 2},{i / 40}" for i in range(40)))
    code, out, err = run(capsys, path)
    assert code == 0
    assert out.count("rows a bin on average: binned errors") == 1
    assert err == ""


def test_help_and_version_succeed(capsys):
    for arguments in (["--help"], ["evaluate", "--help"], ["--version"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
    assert "veridical evaluate predictions.csv" in capsys.readouterr().out


def test_the_module_runs_as_a_program(binary, tmp_path):
    command = [sys.executable, "-m", "veridical", "evaluate", str(binary), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert (
        done.stderr
        == "veridical: note: guessed --y label, --prob p; pass others if that is wrong\n"
    )
    assert Evaluation.from_json(done.stdout) == evaluate(binary)
    wrong = subprocess.run(
        [*command[:4], "nothing.csv"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert wrong.returncode == 2
    assert wrong.stdout == ""
    assert len(wrong.stderr.splitlines()) == 1
    assert not Path(tmp_path / "nothing.csv").exists()
