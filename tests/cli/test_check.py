"""`veridical check`: exit codes, forms of output, baselines; files whole or not at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from veridical import evaluate
from veridical.cli import main
from veridical.evaluation._gate.gate import check_requirements, doubt_of
from veridical.evaluation._gate.language import read_rule
from veridical.results.gate import GateBaseline, GateResult


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.random(1500).round(4)
    frame = pl.DataFrame(
        {
            "label": (rng.random(1500) < p).astype(int),
            "p": p,
            "p_old": (p**1.5).round(4),
            "region": rng.choice(["north", "south"], 1500),
        }
    )
    frame.write_csv("good.csv")
    return tmp_path


def run(capsys, *arguments):
    try:
        code = main(["check", *map(str, arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = ("good.csv", "--y", "label", "--prob", "p")
EASY, HARD = ("--require", "ece.high < 0.4"), ("--require", "accuracy.low > 0.99")
OPEN = ("--require", "ece.high < 0.001")


def test_exit_codes_say_whether_requirements_are_met(capsys):
    code, out, err = run(capsys, *COLUMNS, *EASY)
    assert (code, err) == (0, "")
    assert out.startswith("Passed: the requirement is met (1,500 rows")
    code, out, err = run(capsys, *COLUMNS, *EASY, *HARD)
    assert (code, err) == (1, "")
    assert "Failed: 1 of 2 not met" in out
    assert "  NOT MET  accuracy.low > 0.99" in out
    code, out, err = run(capsys, *COLUMNS, *EASY, *OPEN)
    assert (code, err) == (3, "")
    assert out.startswith("Undecided: 1 of 2 not shown either way")
    assert "rows would decide" in out
    code, out, _ = run(capsys, *COLUMNS, *EASY, *OPEN, *HARD)
    assert code == 1  # what is broken outranks what is open
    assert out.startswith("Failed: 1 of 3 not met, 1 undecided")
    assert "No miscalibration shown: probability that label = 1" in out
    assert max(map(len, out.splitlines())) <= 80


def test_json_is_the_result_without_loss(capsys):
    options = ("--require", "equivalence(0.1).pvalue < 0.05", "--by", "region", "--format", "json")
    code, out, _ = run(capsys, *COLUMNS, *options)
    expected = check_requirements(
        "good.csv", y="label", prob="p", by=["region"],
        requirements=["equivalence(0.1).pvalue < 0.05"],
    )  # fmt: skip
    assert GateResult.from_json(out) == expected
    assert code == {"met": 0, "not met": 1, "undecided": 3}[expected.outcome]


def test_every_form_is_written_beside_the_text(capsys):
    code, out, _ = run(
        capsys, *COLUMNS, *EASY, *HARD, "--junit", "gate.xml", "--markdown", "gate.md",
        "--format", "csv", "-o", "gate.csv",
    )  # fmt: skip
    assert (code, out) == (1, "")
    suite = ElementTree.parse("gate.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert Path("gate.md").read_text().startswith("**Failed: 1 of 2 not met")
    assert pl.read_csv("gate.csv")["outcome"].to_list() == ["met", "not met"]


def test_a_requirement_that_proves_nothing_is_noted(capsys):
    code, out, _ = run(capsys, *COLUMNS, "--require", "cox().pvalue > 0.001")
    assert code == 0
    assert "note: 'cox().pvalue > 0.001' asks that a test does not reject" in out
    _, _, err = run(capsys, *COLUMNS, "--require", "cox().pvalue > 0.001", "--format", "json")
    assert "veridical: note: 'cox().pvalue > 0.001' asks that a test does not reject" in err


def test_a_baseline_is_kept_and_compared_with(capsys):
    code, out, _ = run(capsys, *COLUMNS, "--save-baseline", "base.json")
    assert code == 0
    assert out.startswith("Nothing was required")
    kept = GateBaseline.from_json(Path("base.json").read_text())
    assert kept.of()["ece"].value == evaluate("good.csv", y="label", prob="p").error("ECE").value
    same = ("--require", "log - baseline.log <= 0", "--against", "base.json")
    code, out, _ = run(capsys, *COLUMNS, *same)
    assert code == 0
    assert "baseline: 1,500 rows, taken as independent of these" in out
    worse = ("good.csv", "--y", "label", "--prob", "p_old", "--against", "base.json")
    assert run(capsys, *worse, "--require", "difference(log).high < 0")[0] == 1


def test_a_release_that_fails_does_not_become_the_baseline(capsys):
    code, _, err = run(capsys, *COLUMNS, *HARD, "--save-baseline", "base.json")
    assert code == 1
    assert err == (
        "veridical: baseline base.json not written, as not all requirements are met\n"
    )  # fmt: skip
    assert not Path("base.json").exists()
    assert run(capsys, *COLUMNS, *OPEN, "--save-baseline", "base.json")[0] == 3
    assert not Path("base.json").exists()
    code, _, err = run(capsys, *COLUMNS, *EASY, "--save-baseline", "base.json")
    assert (code, err) == (0, "veridical: baseline base.json written\n")
    assert Path("base.json").exists()


def test_predictions_for_the_same_rows_are_paired(capsys):
    code, out, _ = run(
        capsys, *COLUMNS, "--against-column", "p_old",
        "--require", "difference(log).high < 0", "--require", "difference(brier).pvalue < 0.05",
    )  # fmt: skip
    assert code == 0
    assert "new minus old on the same rows" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "`--require` must be given at least once; got no requirement. Hint: e.g. --require"),
        (["--require", "ecee.high < 1"], "check: `--require` must be of figures"),
        (["--require", "ece.hgh < 1"], "Hint: did you mean 'high'?"),
        (["--require", "ece"], "a comparison after 'ece.value'"),
        (["--require", "mean_observed.high < 1"], "figures with limits: accuracy"),
        (["--require", "difference(log).high < 1"], "`--against` must be given"),
        (["--require", "groups: ece < 1"], "`--by` must be given"),
        ([*EASY, "--against", "none.json"], "`--against` must be a readable JSON file"),
        ([*EASY, "--against", "good.csv"], "no JSON"),
        ([*EASY, "--against-column", "p_odl"], "did you mean 'p_old'?"),
        ([*EASY, "--junit", "good.csv"], "another file than the input"),
        ([*EASY, "--junit", "a.xml", "--markdown", "./a.xml"], "one file for one form"),
        ([*EASY, "--by", "regin"], "columns: 'label', 'p', 'p_old', 'region'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_arguments_are_refused_in_one_line(capsys, arguments, message):
    code, out, err = run(capsys, *COLUMNS, *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("veridical: error: check: ")
    assert message in err
    assert [path.name for path in Path.cwd().iterdir()] == ["good.csv"]


@pytest.mark.parametrize("option", ["--junit", "--markdown", "--save-baseline", "-o"])
def test_a_folder_that_is_missing_is_told_before_anything_is_written(capsys, option):
    others = [each for each in ("--junit", "--markdown") if each != option]
    named = [word for each in others for word in (each, f"ok{each}")]
    code, _, err = run(capsys, *COLUMNS, *EASY, *named, option, "no/where")
    assert code == 1
    assert "No such folder to write to: 'no'" in err or "No such folder to write to: '/" in err
    assert "Hint: create the folder first" in err
    assert [path.name for path in Path.cwd().iterdir()] == ["good.csv"]


def test_group_names_cannot_break_the_outputs(capsys):
    frame = pl.read_csv("good.csv").with_columns(
        region=pl.Series(["a|b<i>", "=1+1,\n@x"] * 750)
    )  # fmt: skip
    frame.write_parquet("odd.parquet")
    code, _, _ = run(
        capsys, "odd.parquet", "--y", "label", "--prob", "p", "--by", "region", *EASY,
        "--junit", "g.xml", "--markdown", "g.md", "--format", "json", "-o", "g.json",
    )  # fmt: skip
    assert code == 0
    cases = ElementTree.parse("g.xml").getroot().findall("testsuite/testcase")
    assert len(cases) == 3
    table = [line for line in Path("g.md").read_text().splitlines() if line.startswith("|")]
    assert len(table) == 5
    groups = {check["group"] for check in json.loads(Path("g.json").read_text())["checks"]}
    assert groups == {None, "a|b<i>", "=1+1,\n@x"}


def test_every_requirement_in_the_docs_is_readable(capsys):
    page = (DOCS / "release-gate.md").read_text(encoding="utf-8")
    texts = re.findall(r"--require '([^']+)'", page)
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    texts += re.findall(r"--require '([^']+)'", capsys.readouterr().out)
    assert len(texts) > 10
    for text in texts:
        assert doubt_of(read_rule(text, caller="check")) is None, text
