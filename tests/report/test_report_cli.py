"""``veridical report``."""

from __future__ import annotations

import hashlib
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
    assert wrote[0].startswith("veridical: wrote r.html (")
    assert wrote[0].endswith(" kB)")  # no runtime is carried along
    assert wrote[1].startswith("veridical: wrote r.json (")
    assert "<title>Spring</title>" in (tmp_path / "r.html").read_text()
    numbers = json.loads((tmp_path / "r.json").read_text())
    assert [g["n_samples"] for g in numbers["models"][0]["groups"]] in ([12, 6], [6, 12])
    assert numbers["settings"]["seed"] == 0


def test_models_are_named_with_their_columns(run, tmp_path, capsys):
    assert run("--y", "label", "--model", "a=p", "--model", "b=p_b", "-o", "r.md") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == ["a", "b"]
    page = (tmp_path / "r.md").read_text()
    assert "## Which model is better?" in page
    assert "veridical check d.csv --y label --prob p" in page  # of one of the models


def test_who_made_it_for_what_stands_beside_the_title_and_in_the_numbers(run, tmp_path):
    told = {"author": "A. <Doe>", "period": "2026 Q3", "purpose": "Release 4"}
    options = [word for name, text in told.items() for word in (f"--{name}", text)]
    assert run("--y", "label", "--prob", "p", *options, "-o", "r.html", "--json", "r.json") == 0
    page = (tmp_path / "r.html").read_text()
    header = page[page.index("<header>") : page.index("</header>")]
    assert "<dt>Author</dt><dd>A. &lt;Doe&gt;</dd>" in header
    assert "2026 Q3" in header
    assert "Release 4" in header
    numbers = json.loads((tmp_path / "r.json").read_text())
    assert {name: numbers[name] for name in told} == told
    digest = hashlib.sha256((tmp_path / "d.csv").read_bytes()).hexdigest()
    assert numbers["settings"]["fingerprint"] == f"SHA-256 of the file: {digest}"
    assert digest in page


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
