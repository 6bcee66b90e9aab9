"""``veridical report``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from veridical.cli.shared.parser import Parser
from veridical.exceptions import InvalidInputError


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in a folder that holds a file of eighteen rows."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    lines = ["label,p,p_b,region"]
    for i in range(18):
        a, b = rng.uniform(0, 1, 2).round(2)
        lines.append(f"{i % 2},{a},{b},{'ns'[i % 3 > 0]}")
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")

    def call(*arguments: str) -> int:
        parsed = Parser(module="report").parse_args(["d.csv", *arguments])
        return int(parsed.run(parsed))

    return call


def test_it_writes_the_page_and_the_numbers_and_says_so_in_a_line_each(run, tmp_path, capsys):
    options = ["--y", "label", "--prob", "p", "--by", "region", "--title", "Spring"]
    assert run(*options, "-o", "r.html", "--json", "r.json") == 0
    out, err = capsys.readouterr()
    assert out.startswith("No miscalibration shown: probability that label = 1 (p = ")
    wrote = [line for line in err.splitlines() if "wrote" in line]
    assert wrote[0].startswith("veridical: wrote r.html (1.")
    assert wrote[0].endswith(" MB)")
    assert wrote[1].startswith("veridical: wrote r.json (")
    assert "<title>Spring</title>" in (tmp_path / "r.html").read_text()
    numbers = json.loads((tmp_path / "r.json").read_text())
    assert [g["n_samples"] for g in numbers["models"][0]["groups"]] in ([12, 6], [6, 12])
    assert numbers["settings"]["seed"] == 0


def test_models_are_named_with_their_columns(run, tmp_path, capsys):
    assert run("--y", "label", "--model", "a=p", "--model", "b=p_b", "-o", "r.md") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == ["a", "b"]
    assert "## Models side by side" in (tmp_path / "r.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "r.docx"], r"ends in \.html, \.md or \.json"),
        (["-o", "d.csv"], "d.csv"),
        (["--json", "r.txt"], r"ends in \.json"),
        (["--model", "a"], "NAME=COLUMN"),
        (["--model", "a=p", "--model", "a=p_b"], "named once"),
        (["--model", "a=p", "--prob", "p"], "left out with --model"),
        (["--prob", "nothing"], "nothing"),
    ],
    ids=["suffix", "input", "json", "no column", "twice", "both", "no such column"],
)
def test_bad_arguments_write_nothing(run, tmp_path, arguments, message):
    before = (tmp_path / "d.csv").read_text()
    with pytest.raises(InvalidInputError, match=message):
        run("--y", "label", *arguments)
    assert [f.name for f in tmp_path.iterdir()] == ["d.csv"]
    assert (tmp_path / "d.csv").read_text() == before
