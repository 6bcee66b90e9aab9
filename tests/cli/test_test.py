"""`veridical test`: the report in every form, exit codes, refusals in one line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical.cli import main
from veridical.evaluation._battery.tests import calibration_tests
from veridical.results.tests import TestReport

GUESSED = "veridical: note: guessed --y label, --prob p; pass others if that is wrong\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Calibrated and over-confident predictions, and three classes, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.random(600).round(4).clip(0.01, 0.99)
    frame = pl.DataFrame(
        {
            "label": (rng.random(600) < p).astype(int),
            "p": p,
            "region": rng.choice(["north", "south"], 600),
            "sex": rng.choice(["f", "m"], 600),
            "w": rng.integers(0, 4, 600),
        }
    )
    frame.write_csv("good.csv")
    extreme = p**3 / (p**3 + (1 - p) ** 3)
    frame.with_columns(p=pl.Series(extreme)).write_csv("extreme.csv")
    several = rng.dirichlet([2.0, 3.0, 4.0], 600)
    y = np.array(["a", "b", "c"])[[rng.choice(3, p=row) for row in several]]
    columns = {f"p_{label}": several[:, k] for k, label in enumerate("abc")}
    pl.DataFrame({"kind": y, **columns}).write_parquet("several.parquet")
    return tmp_path


def in_options(result):
    return f"{result}\n".replace("guessed y='label', prob='p'", "guessed --y label, --prob p")


def run(capsys, *arguments):
    """Exit code, standard output and standard error; anything but SystemExit is a traceback."""
    try:
        code = main(["test", *map(str, arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_text_is_the_report_in_words(capsys):
    code, out, err = run(capsys, "good.csv")
    assert (code, err) == (0, "")
    assert out == in_options(calibration_tests("good.csv"))
    assert "No miscalibration shown" in out
    assert "note: guessed --y label, --prob p; pass others if that is wrong" in out


def test_json_is_the_report_without_loss(capsys):
    code, out, err = run(capsys, "extreme.csv", "--format", "json")
    assert (code, err) == (0, GUESSED)
    report = TestReport.from_json(out)
    assert report == calibration_tests("extreme.csv")
    assert "Over-confident: too extreme" in report.verdict.text


def test_csv_has_one_row_a_test(capsys):
    _, out, _ = run(capsys, "good.csv", "--tests", "cox,spiegelhalter", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    report = calibration_tests("good.csv", tests=["cox", "spiegelhalter"])
    assert [row["test"] for row in rows] == ["cox", "spiegelhalter"]
    assert [float(row["pvalue"]) for row in rows] == [test.pvalue for test in report.tests]
    assert [float(row["adjusted"]) for row in rows] == list(report.adjusted)


def test_options_are_those_of_the_function(capsys):
    _, out, _ = run(
        capsys, "good.csv", "--y", "label", "--prob", "p", "--weight", "w", "--by", "region,sex",
        "--n-bins", "6", "--level", "0.1", "--pos-label", "1", "--n-resamples", "300",
        "--seed", "5", "--tests", "consistency,t-cal,kernel", "--format", "json",
    )  # fmt: skip
    expected = calibration_tests(
        "good.csv", y="label", prob="p", sample_weight="w", by=["region", "sex"], n_bins=6,
        level=0.1, pos_label=1, n_resamples=300, rng=5, tests=["consistency", "t-cal", "kernel"],
    )  # fmt: skip
    report = TestReport.from_json(out)
    assert report == expected
    assert len(report.groups.names) == 4


def test_labels_and_lenses_are_read_as_the_file_holds_them(capsys):
    options = ["--y", "kind", "--format", "json", "--n-resamples", "200"]
    _, out, _ = run(capsys, "several.parquet", *options)
    report = TestReport.from_json(out)
    assert report.lens == "confidence"
    assert report.classes.names == ("a", "b", "c")
    _, out, _ = run(
        capsys, "several.parquet", *options, "--lens", "class:b", "--prob", "p_c,p_a,p_b",
        "--labels", "c,a,b",
    )  # fmt: skip
    swapped = TestReport.from_json(out)
    _, out, _ = run(capsys, "several.parquet", *options, "--lens", "class:b")
    assert swapped.adjusted == TestReport.from_json(out).adjusted


@pytest.mark.parametrize(("name", "code"), [("good.csv", 0), ("extreme.csv", 3)])
def test_rejection_is_exit_code_three_where_asked_for(capsys, name, code):
    assert run(capsys, name)[0] == 0
    found, out, _ = run(capsys, name, "--fail-if-rejected")
    assert found == code
    assert out == in_options(calibration_tests(name))
    found, _, err = run(capsys, name, "--fail-if-rejected", "-o", "out.txt")
    assert (found, err) == (code, GUESSED)
    assert Path("out.txt").read_text(encoding="utf-8") == out


def test_the_level_decides_what_is_rejected(capsys):
    pvalue = calibration_tests("good.csv", tests="spiegelhalter").pvalue
    above, below = f"{pvalue + 0.01:.4f}", f"{pvalue - 0.01:.4f}"
    options = ["good.csv", "--tests", "spiegelhalter", "--fail-if-rejected", "--level"]
    assert run(capsys, *options, above)[0] == 3
    assert run(capsys, *options, below)[0] == 0


def test_help_tells_the_exit_codes(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "3  calibration is rejected (only with --fail-if-rejected" in out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "3  `test --fail-if-rejected`, `audit --fail-if-found`" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "must be an existing file; got 'missing.csv'"),
        (["good.csv", "--y", "lable"], "did you mean 'label'?"),
        (["good.csv", "--prob", "q"], "`--prob` must be a column of the data"),
        (["good.csv", "--weight", "region"], "`--weight` must be numeric"),
        (["good.csv", "--by", "regin"], "did you mean 'region'?"),
        (["good.csv", "--tests", "coxx"], "did you mean 'cox'?"),
        (["good.csv", "--tests", ""], "`--tests` must be one of 'consistency'"),
        (["good.csv", "--level", "5"], "`--level` must be between 0 and 1"),
        (["good.csv", "--level", "high"], "invalid float value"),
        (["good.csv", "--n-bins", "0"], "a positive integer"),
        (["good.csv", "--n-resamples", "0"], "`--n-resamples` must be a positive integer"),
        (["good.csv", "--seed", "-1"], "`--seed` must be a seed"),
        (["good.csv", "--pos-label", "7"], "test: `--pos-label` must be one of"),
        (["good.csv", "--lens", "top:x"], "test: `--lens` must be one of"),
        (["several.parquet", "--y", "kind", "--lens", "classwise", "--tests", "cox"],
         "'consistency' for the classwise lens"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(capsys, arguments, message):
    before = sorted(path.name for path in Path.cwd().iterdir())
    code, out, err = run(capsys, *arguments, "-o", "result.txt", "--fail-if-rejected")
    assert (code, out) == (2, "")
    assert err.startswith("veridical")
    assert len(err.splitlines()) == 1, err
    assert message in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == before
