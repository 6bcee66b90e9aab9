"""The first screen: which model is best, what to do next, and only what is shown."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from veridical.cli import main
from veridical.report import Report, make_report
from veridical.report._page.blocks import Cards, Columns, Commands, Table
from veridical.report._sections.first import Ranking


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def _first(report: Report, kind: type) -> list:
    """Blocks of a kind on the first screen."""
    found = []
    blocks = list(report.sections[0].blocks)
    while blocks:
        block = blocks.pop(0)
        if isinstance(block, Columns):
            blocks = [each for part in block.parts for each in part] + blocks
        elif isinstance(block, kind):
            found.append(block)
    return found


@pytest.fixture(scope="module")
def models() -> Report:
    """One model knows all there is to know, a copy of it nearly so, one half of it."""
    rng = np.random.default_rng(4)
    seen, hidden = rng.normal(size=(2, 1500))
    z = 1.5 * seen + hidden
    y = (rng.random(1500) < _sigmoid(z)).astype(int)
    close = _sigmoid(z + 0.02 * rng.normal(size=1500))
    return make_report({"half": _sigmoid(1.2 * seen), "copy": close, "all": _sigmoid(z)}, y)


def test_models_are_ranked_and_those_that_are_alike_are_said_to_be(models):
    table = _first(models, Table)[0]
    scores = [float(row[1]) for row in table.rows]
    assert scores == sorted(scores)
    ranks = {row[0]: row[2] for row in table.rows}
    assert table.rows[2][0] == "half"
    assert ranks["half"] == "worse"
    assert sorted([ranks["all"], ranks["copy"]]) == ["lowest", "not told apart"]
    best, other = (row[0] for row in table.rows[:2])
    ranking = Ranking(models.comparison)
    assert (
        ranking.sentence == f"{best} has the lowest log loss; {other} cannot be told apart from it."
    )
    # the difference that is shown is that of the mean scores
    shown = float(table.rows[2][3].split(" ")[0])
    assert shown == pytest.approx(scores[2] - scores[0], abs=1.01e-4)


def test_one_is_best_only_where_that_is_shown():
    rng = np.random.default_rng(1)
    z = rng.normal(0, 2, 400)
    y = (rng.random(400) < _sigmoid(z)).astype(int)
    two = make_report({"good": _sigmoid(z), "blind": np.full(400, y.mean())}, y)
    assert Ranking(two.comparison).sentence.startswith("good is best: its log loss is lower")
    same = make_report({"a": _sigmoid(z), "b": _sigmoid(1.02 * z)}, y)
    assert "cannot be told apart by log loss" in Ranking(same.comparison).sentence


def _file(path: Path) -> Path:
    """Over-confident predictions of 'bad', in a file with blanks in its name and columns."""
    rng = np.random.default_rng(3)
    z = rng.normal(0, 2, 400)
    y = np.where(rng.random(400) < _sigmoid(0.5 * z), "bad", "good")
    lines = [f"{a},{b:.4f}" for a, b in zip(y, _sigmoid(z), strict=True)]
    path.write_text("\n".join(["Status,P of bad", *lines]) + "\n")
    return path


def test_the_commands_can_be_run_as_they_stand(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _file(tmp_path / "my rows.csv")
    report = make_report("my rows.csv", y="Status", prob="P of bad", pos_label="bad")
    commands = [line for _, text in _first(report, Commands)[0].items for line in text.splitlines()]
    assert [line.split(" ")[1] for line in commands] == ["calibrate", "export", "check"]
    codes = [main(shlex.split(line)[1:]) for line in commands]
    assert codes == [0, 0, 1]  # the gate does not let it pass
    assert "P of bad" in capsys.readouterr().out


def test_reversed_predictions_are_not_to_be_mended(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = _file(tmp_path / "rows.csv").read_text()
    (tmp_path / "rows.csv").write_text(rows.replace("P of bad", "score"))
    report = make_report("rows.csv", y="Status", prob="score", pos_label="good")
    ((_, text),) = _first(report, Commands)[0].items
    assert text == (
        "veridical report rows.csv --y Status --prob score --pos-label bad -o report.html"
    )


def test_a_saving_that_may_be_chance_is_not_claimed():
    rng = np.random.default_rng(0)
    z = rng.normal(size=60)
    y = (rng.random(60) < _sigmoid(z)).astype(int)
    report = make_report(y, _sigmoid(z))
    saved = _first(report, Cards)[0].items[0]
    found = report.models[0].recalibration
    assert found.left_alone or found.low <= 0 <= found.high
    assert saved.value in ("none", "not shown")


def test_few_rows_a_bin_are_said_at_once():
    rng = np.random.default_rng(2)
    p = rng.uniform(size=40)
    report = make_report((rng.random(40) < p).astype(int), p)
    first = report.html[: report.html.index('id="sure"')]
    assert "bins of the ECE have fewer than 20 rows" in first


def test_two_brier_scores_name_what_they_are_of():
    rng = np.random.default_rng(6)
    p = rng.dirichlet([1, 1, 1], 60)
    y = (rng.random(60)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    text = make_report(y, p).markdown
    whole = np.mean(((p - np.eye(3)[y]) ** 2).sum(axis=1))
    confidence = np.mean((p.max(axis=1) - (p.argmax(axis=1) == y)) ** 2)
    assert f"| Brier score, whole prediction | {whole:.4f}" in text
    assert f"| Brier score (confidence lens) | {confidence:.4f}" in text
