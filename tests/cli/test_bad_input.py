"""Whatever is wrong: one line on standard error, an exit code, and no half-written file."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import polars as pl
import pytest

from veridical.cli import main

GOOD = "label,p,region,w\n" + "\n".join(
    f"{int(i % 5 > 1)},{0.9 if i % 5 > 1 else 0.3},{'ns'[i % 2]},1" for i in range(200)
)
CLASSES = "kind,p_a,p_b,p_c\n" + "\n".join(f"{'abc'[i % 3]},0.5,0.3,0.2" for i in range(90))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text(GOOD)
    Path("classes.csv").write_text(CLASSES)
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error; anything but SystemExit is a traceback."""
    try:
        code = main(list(arguments))
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def check_refusal(capsys, arguments, message, code=2):
    before = sorted(path.name for path in Path.cwd().iterdir())
    found, out, err = run(capsys, *arguments, "-o", "result.txt")
    assert found == code
    assert out == ""
    assert err.startswith("veridical")
    assert len(err.splitlines()) == 1, err
    assert message in err
    assert "Traceback" not in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "must be an existing file; got 'missing.csv'"),
        (["goood.csv"], "did you mean 'good.csv'?"),
        (["."], "must be a file; got the folder"),
        (["*.parquet"], "a pattern that matches files"),
        (["good.csv", "--y", "lable"], "did you mean 'label'?"),
        (["good.csv", "--prob", "q"], "`--prob` must be a column of the data"),
        (["good.csv", "--prob", "q_*"], "`--prob` must be a pattern that matches columns"),
        (["good.csv", "--prob", "p,p"], "distinct columns"),
        (["good.csv", "--prob", "region"], "`--prob` must be numeric"),
        (["good.csv", "--weight", "weight"], "'label', 'p', 'region', 'w'"),
        (["good.csv", "--weight", "region"], "`--weight` must be numeric"),
        (["good.csv", "--by", "regin"], "'label', 'p', 'region', 'w'"),
        (["good.csv", "--by", "region,nothing"], "'label', 'p', 'region', 'w'"),
        (["good.csv", "--by", ""], "`--by` must be"),
        (["good.csv", "--n-bins", "0"], "a positive integer"),
        (["good.csv", "--n-bins", "-3"], "a positive integer"),
        (["good.csv", "--n-bins", "many"], "a positive integer"),
        (["good.csv", "--n-bins", "1.5"], "a positive integer"),
        (["good.csv", "--n-bins", "²"], "a positive integer"),
        (["good.csv", "--confidence-level", "95"], "`--confidence-level` must be between 0 and 1"),
        (["good.csv", "--confidence-level", "high"], "invalid float value"),
        (["good.csv", "--pos-label", "7"], "`--pos-label` must be one of the classes"),
        (["good.csv", "--labels", "0,1,2"], "`--labels` must be a list of 2 labels"),
        (["good.csv", "--labels", "no,yes"], "`--y` must be among `--labels`"),
        (["good.csv", "--lens", "confidense"], "did you mean 'confidence'?"),
        (["classes.csv", "--y", "kind", "--lens", "binary"], "got 3 classes"),
        (["classes.csv", "--y", "kind", "--lens", "class:d"], "the classes are 'a', 'b', 'c'"),
        (["classes.csv", "--y", "kind", "--lens", "top:3"], "between 1 and 2"),
        (["classes.csv", "--y", "kind", "--lens", "top:x"], "did you mean 'top:K'?"),
        (["classes.csv", "--y", "kind", "--lens", "top:²"], "`--lens` must be one of"),
        (["classes.csv", "--y", "kind", "--lens", "groups:a+b"], "two or more groups"),
        (["classes.csv", "--y", "kind", "--lens", "groups:a|b"], "a partition of the classes"),
        (["classes.csv", "--y", "kind", "--lens", "rank:2"], "`--lens` must be one of"),
        (["classes.csv", "--y", "kind", "--pos-label", "a"], "`--pos-label` must be unset"),
        (["classes.csv", "--prob", "p_a"], "got no column that can hold labels"),
        (["good.csv", "--format", "xml"], "invalid choice: 'xml'"),
        (["good.csv", "--form"], "expected one argument"),
        (["good.csv", "--nonsense"], "unrecognized arguments: --nonsense"),
        ([], "the following arguments are required: FILE"),
        (["https://example.org/a.csv"], "nothing is read from the network"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_arguments_are_refused_in_one_line(capsys, arguments, message):
    check_refusal(capsys, ["evaluate", *arguments], message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "0 bytes"),
        ("label,p\n", "0 rows"),
        ("label,p\n1,0.5\n0,abc\n", "`--prob` must be numeric; got 'abc'"),
        ("label,p\n1,0.5\n0,\n", "`--prob` must be finite; got nan at index 1"),
        ("label,p\n1,0.5\n,0.2\n", "a missing value at index 1"),
        ("label,p\n1,1.5\n0,0.2\n", "`--prob` must be in [0, 1]; got 1.5 at index 0"),
        ("label,p\n1,-2\n0,0.2\n", "--scale logit"),
        ("label,p\nyes,0.5\nyes,0.2\n", "of two or more classes; got only 'yes'"),
        ("label,p\na,0.5\nb,0.2\nc,0.3\n", "of at most 2 classes"),
        ("label,p\n0.5,1\n0.2,0\n", "the arguments look swapped"),
        ("label,p\n1,0.5,7,8\n0,0.1\n", "a readable CSV file"),
        ("label,p_0,p_1,p_2\n1,0.5,0.5,0.5\n2,1,0,0\n", "rows that sum to 1 within 1e-06"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bad_data_are_refused_in_one_line(capsys, content, message):
    Path("bad.csv").write_text(content)
    check_refusal(capsys, ["evaluate", "bad.csv"], message)


COSTS = ["--cost-fp", "1", "--cost-fn", "5"]
COMMANDS = {
    "evaluate": ["evaluate", "bad.csv"],
    "test": ["test", "bad.csv"],
    "check": ["check", "bad.csv", "--require", "ece < 1"],
    "report": ["report", "bad.csv", "-o", "page.md"],
    "calibrate": ["calibrate", "bad.csv", "-o", "map.json"],
    "monitor": ["monitor", "update", "store.sqlite", "bad.csv"],
    "decide": [
        "decide",
        "bad.csv",
        *["--y", "label", "--prob", "p", "--cost-fp", "1", "--cost-fn", "5"],
    ],
}
ROWS = "1,0.9\n0,0.2\n" * 20
# What is in the file, options, and the one message: `option` must be this; got that.
CASES = {
    "missing": ("label,p\n1,0.5\n0,\n", [], "`--prob` must be finite; got nan at index 1"),
    "infinite": ("label,p\n1,0.5\n0,inf\n", [], "`--prob` must be finite; got inf at index 1"),
    "outside": (f"label,p\n{ROWS}1,1.5\n", [], "`--prob` must be in [0, 1]; got 1.5 at index 40"),
    "not summing": (
        "label,p_0,p_1\n1,0.5,0.5\n0,0.5,0.7\n1,0.25,0.75\n",
        ["--prob", "p_0,p_1"],
        "`--prob` must be rows that sum to 1 within",
    ),
    "swapped": ("label,p\n0.5,1\n0.25,0\n", [], "the arguments look swapped"),
    "lengths differ": ("label,p\n1,0.5,7,8\n0,0.1\n", [], "`FILE` must be a readable CSV file"),
    "empty": ("label,p\n", [], "`FILE` must be a file with rows; got 0 rows"),
    "no such label": (f"label,p\n{ROWS}", ["--labels", "2,3"], "`--y` must be among `--labels`"),
    "one class": ("label,p\nyes,0.5\nyes,0.2\n", [], "of two or more classes; got only 'yes'"),
    "negative weight": (
        "label,p,w\n1,0.5,-1\n0,0.2,1\n",
        ["--weight", "w"],
        "`--weight` must be finite and non-negative; got -1",
    ),
    "no weight": (
        "label,p,w\n1,0.5,0\n0,0.2,0\n",
        ["--weight", "w"],
        "`--weight` must be positive somewhere; got all zeros",
    ),
    "unknown option": (f"label,p\n{ROWS}", ["--lens", "confidense"], "did you mean 'confidence'?"),
    "no such column": (
        f"label,p\n{ROWS}",
        ["--prob", "q"],
        "`--prob` must be a column of the data",
    ),
}
# Options that a command does not have.
WITHOUT = {
    "monitor": {"--labels", "--weight", "--lens"},
    "decide": {"--labels", "--lens", "--prob"},
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", CASES)
def test_each_case_has_its_one_message_whatever_the_command(capsys, command, case):
    content, options, message = CASES[case]
    if WITHOUT.get(command, set()).intersection(options):
        pytest.skip("the command has no such option")
    if command == "monitor":
        run(capsys, "monitor", "init", "store.sqlite")
    Path("bad.csv").write_text(content)
    before = sorted(path.name for path in Path.cwd().iterdir())
    code, out, err = run(capsys, *COMMANDS[command], *options)
    assert (code, out) == (2, "")
    assert err.startswith("veridical: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert " Hint: " in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "`CALIBRATOR` must be"),
        ("not json", "`CALIBRATOR` must be"),
        (None, "`CALIBRATOR` must be a file with a saved calibrator"),
    ],
)
def test_what_is_no_fitted_calibrator_is_refused_in_one_line(capsys, content, message):
    if content is not None:
        Path("map.json").write_text(content)
    check_refusal(capsys, ["apply", "map.json", "good.csv"], message)


def test_a_wrong_number_of_columns_is_refused_in_one_line(capsys):
    fit = ["calibrate", "good.csv", "--method", "platt", "--folds", "0", "-o", "map.json"]
    assert run(capsys, *fit)[0] == 0
    asked = ["apply", "map.json", "classes.csv", "--prob", "p_a,p_b,p_c"]
    code, out, err = run(capsys, *asked, "-o", "new.csv")
    assert (code, out) == (2, "")
    assert "`--prob` must be" in err
    assert err.count("\n") == 1
    assert not Path("new.csv").exists()


@pytest.mark.parametrize(
    ("weights", "message"),
    [("-1", "finite and non-negative; got -1"), ("0", "all zeros"), ("x", "must be numeric")],
)
def test_bad_weights_are_refused_in_one_line(capsys, weights, message):
    Path("bad.csv").write_text(f"label,p,w\n1,0.5,{weights}\n0,0.2,0\n")
    check_refusal(capsys, ["evaluate", "bad.csv", "--weight", "w"], message)


def test_a_damaged_file_is_refused_in_one_line(capsys):
    Path("bad.parquet").write_bytes(b"not a table at all")
    check_refusal(capsys, ["evaluate", "bad.parquet"], "a readable Parquet file")
    Path("bad.csv").write_bytes("label,p\n1,0.5\n".encode("utf-16-le"))
    check_refusal(capsys, ["evaluate", "bad.csv"], "UTF-8")


def test_no_command_is_refused_in_one_line(capsys):
    code, out, err = run(capsys)
    assert (code, out) == (2, "")
    assert err == (
        "veridical: error: the following arguments are required: COMMAND (see `veridical --help`)\n"
    )


@pytest.mark.parametrize("target", ["no/such/folder/result.json", "taken"])
def test_an_output_that_cannot_be_written_is_exit_code_one(capsys, target):
    Path("taken").mkdir()
    (Path("taken") / "inside").touch()
    code, out, err = run(capsys, "evaluate", "good.csv", "-o", target)
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("veridical: error: ")
    assert sorted(path.name for path in Path.cwd().iterdir()) == [
        "classes.csv", "good.csv", "taken",
    ]  # fmt: skip


def test_an_existing_output_survives_bad_input(capsys):
    Path("result.json").write_text("precious")
    code, _, _ = run(capsys, "evaluate", "good.csv", "--y", "nothing", "-o", "result.json")
    assert code == 2
    assert Path("result.json").read_text() == "precious"


def test_groups_by_date_can_be_written_as_json(capsys):
    days = [dt.date(2024, 1, 1), dt.date(2024, 2, 1)] * 100
    pl.read_csv("good.csv").with_columns(day=pl.Series(days)).write_parquet("dated.parquet")
    code, out, _ = run(
        capsys, "evaluate", "dated.parquet", "--by", "day", "--n-bins", "2", "--format", "json"
    )
    assert code == 0
    assert "2024-02-01" in json.dumps(json.loads(out)["groups"])
