"""What commands print fits the terminal: 80 columns, or 120 where there are so many."""

from __future__ import annotations

import argparse
import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from veridical._core.runtime.text import cells
from veridical.cli import main
from veridical.cli.commands import report
from veridical.cli.main import build_parser
from veridical.cli.shared import output

LONG = "did the customer who had been offered the new contract sign it within thirty days"
ONE_WORD = "p_of_a_model_whose_name_somebody_made_by_joining_everything_that_was_known_about_it"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files with long names, ten classes, many groups, wide characters and escape sequences."""
    place = tmp_path_factory.mktemp("screens")
    rng = np.random.default_rng(5)
    n = 300
    x = rng.normal(size=n)
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-x))).astype(int)
    p = 1 / (1 + np.exp(-1.7 * x))
    region = np.array(["north", "south"])[rng.integers(0, 2, n)]
    plain = {"diagnosis": np.where(y, "malignant", "benign"), "risk": p.round(4), "region": region}
    pl.DataFrame(plain).write_csv(place / "plain.csv")
    words = np.where(y, "yes, after having been asked a second time by telephone", "no, never")
    many = [f"branch office number {i} of the region of the north" for i in rng.integers(0, 12, n)]
    pl.DataFrame({LONG: words, ONE_WORD: p, "office": many}).write_csv(place / "long.csv")
    vector = rng.dirichlet(np.full(10, 0.5), n)
    label = np.array([rng.choice(10, p=row) for row in vector])
    columns = {"label": label} | {f"p{k}": vector[:, k] for k in range(10)}
    pl.DataFrame(columns | {"\u6f22\u5b57 \u7fa4": region}).write_csv(place / "ten.csv")
    odd = {"label": np.where(y, "a\x1b[31mb\u202e", "a\nb"), "p\x1b]0;x\x07": p, "by\x9b": region}
    pl.DataFrame(odd).write_parquet(place / "odd.parquet")
    return place


GATE = ["--require", "ece.high < 0.05", "--require", "equivalence(0.03).pvalue < 0.05"]
QUICK = ["--n-resamples", "20"]
FIT = ["--method", "platt", "--folds", "2", "-o", "map.json"]
APPLY = ["apply", "map.json"]
SIMULATE = ["simulate", "decisions", "--accuracy", "0.7", "0.8", "--ece", "0", "0.05", "0.1"]
COSTS = ["--cost-fp", "1", "--cost-fn", "5"]
STORE = ["monitor", "init", "s.sqlite"]
# Commands, in the order in which they need each other's files.
SCREENS = {
    "evaluate": [["evaluate", "plain.csv", "--by", "region", *QUICK]],
    "evaluate long names": [["evaluate", "long.csv", "--by", "office", *QUICK]],
    "evaluate ten classes": [["evaluate", "ten.csv", "--by", "\u6f22\u5b57 \u7fa4", *QUICK]],
    "test": [["test", "plain.csv", "--by", "region", *QUICK]],
    "test long names": [["test", "long.csv", "--by", "office", *QUICK]],
    "test ten classes": [["test", "ten.csv", *QUICK]],
    "check": [["check", "plain.csv", "--by", "region", *GATE, *QUICK]],
    "check long names": [["check", "long.csv", "--by", "office", *GATE, *QUICK]],
    "calibrate": [
        ["calibrate", "plain.csv", *FIT],
        ["apply", "map.json", "plain.csv", "-o", "a.csv"],
    ],
    "calibrate long names": [["calibrate", "long.csv", *FIT]],
    "calibrate by evidence": [["calibrate", "plain.csv", "--folds", "0", "-o", "auto.json"]],
    "decide": [["decide", "plain.csv", "--y", "diagnosis", "--prob", "risk", *COSTS]],
    "simulate": [[*SIMULATE, *COSTS, "--n-samples", "200", "--n-repeats", "2"]],
    "monitor": [
        STORE,
        ["monitor", "update", "s.sqlite", "long.csv", "--by", "office"],
        ["monitor", "status", "s.sqlite"],
        ["monitor", "refit", "s.sqlite"],
        ["monitor", "trial", "s.sqlite"],
        ["monitor", "versions", "s.sqlite"],
    ],
    "doctor": [["doctor"]],
    "experiments": [["experiment", "--list"]],
}


def screen(capsys, monkeypatch, folder, tmp_path, name, columns):
    """Lines that the commands of a screen print, when the terminal is so wide."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(tmp_path)
    for path in folder.iterdir():
        target = Path(path.name)
        if not target.exists():
            target.symlink_to(path)
    lines = []
    for command in SCREENS[name]:
        assert main(command) in (0, 1, 3), capsys.readouterr().err
        lines += capsys.readouterr().out.splitlines()
    return lines


@pytest.mark.parametrize("name", SCREENS)
def test_no_line_is_wider_than_80(capsys, monkeypatch, folder, tmp_path, name):
    lines = screen(capsys, monkeypatch, folder, tmp_path, name, 80)
    assert lines
    assert [line for line in lines if cells(line) > 80] == []
    assert all(line.isprintable() for line in lines)
    assert not any(line.endswith(("...", "\u2026")) for line in lines)


@pytest.mark.parametrize("name", ["evaluate", "test", "check", "test ten classes"])
def test_120_columns_are_used_where_there_are(capsys, monkeypatch, folder, tmp_path, name):
    lines = screen(capsys, monkeypatch, folder, tmp_path, name, 120)
    assert 100 < max(map(cells, lines)) <= 120


@pytest.mark.parametrize("name", ["test", "check", "test long names"])
def test_no_word_is_lost_or_broken(capsys, monkeypatch, folder, tmp_path, name):
    """A narrow screen holds the words of a wide one, in whatever order."""

    def words(columns):
        lines = screen(capsys, monkeypatch, folder, tmp_path, name, columns)
        return {word for line in lines for word in line.split() if len(word) < 60}

    headers = {"definition"}
    assert words(120) - words(80) <= headers


@pytest.mark.parametrize("command", [["evaluate"], ["test"], ["check", *GATE]])
def test_names_cannot_steer_the_terminal(capsys, monkeypatch, folder, command):
    monkeypatch.chdir(folder)
    first, *rest = command
    asked = [first, "odd.parquet", "--by", "by\x9b", *rest, *QUICK]
    assert main(asked) in (0, 1)
    captured = capsys.readouterr()
    assert all(line.isprintable() for line in captured.out.splitlines())
    assert "\\x1b" in captured.out
    main([first, "odd.parquet", "--prob", "none\x1b[31m", *rest])
    said = capsys.readouterr().err
    assert said.removesuffix("\n").isprintable()
    with pytest.raises(SystemExit):
        main([first, "odd.parquet", "--nothing\x1b[31m"])
    assert capsys.readouterr().err.removesuffix("\n").isprintable()


def test_the_headline_of_a_report_fits(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_text("x")
    made = SimpleNamespace(headline=f"Reversed: pass pos_label='a' (`--pos-label a`). {LONG * 3}")
    report._tell(made, ["page.html"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Reversed: pass `--pos-label a`. did the customer")


def _commands(parser):
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for nested in action.choices.values():
                yield from _commands(nested)


@pytest.mark.parametrize("columns", [80, 120])
def test_help_begins_with_an_example_and_fits(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for parser in _commands(build_parser()):
        lines = parser.format_help().splitlines()
        assert lines[0].startswith(parser.prog), parser.prog
        assert [line for line in lines if len(line) > columns] == []


def test_an_example_of_help_is_understood():
    """The first line of help, when typed, has no usage error."""
    for parser in _commands(build_parser()):
        words = parser.format_help().split("\n\n")[0].replace("\\\n", " ").split(" > ")[0]
        command = [word.strip("'") for word in words.split()[1:] if word]
        if "--require" in command:  # holds spaces
            command = [*command[: command.index("--require")], "--require", "ece < 1"]
        build_parser().parse_args(command)


def test_an_interruption_is_one_line(capsys, monkeypatch, folder):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr("veridical.cli.commands.evaluate.evaluate", interrupted)
    assert main(["evaluate", "plain.csv"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "veridical: interrupted; nothing half-done was written\n"


def test_errors_on_a_terminal_fit_it(monkeypatch, folder):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["evaluate", "ten.csv", "--y", "nothing like it"]) == 2
    said = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", sys.stderr.getvalue())  # of the spinner
    lines = said.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 80


def test_a_file_name_is_no_markup(capsys):
    with output.busy("reading [red]x\x1b[31m"):
        pass
    assert "\x1b[31m" not in capsys.readouterr().err
