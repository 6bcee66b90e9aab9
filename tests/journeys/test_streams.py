"""Exit codes and messages where streams, terminals and files are not as they should be."""

from __future__ import annotations

import json
import shlex
import shutil

import pytest
from installed import ROOT, Shell

from veridical._core.data.schema import SEAL

GATE = "veridical check forest.csv --require 'ece.high < 0.05'"


@pytest.fixture
def forest(shell: Shell) -> Shell:
    shutil.copy(ROOT / "examples" / "forest.csv", shell.folder)
    return shell


def test_a_gate_keeps_its_exit_code_when_its_reader_leaves(forest: Shell) -> None:
    codes = "for i in $(seq 5); do %s | true; echo ${PIPESTATUS[0]}; done"
    assert forest.run(codes % GATE).split() == ["1"] * 5
    undecided = "veridical check thirty.csv --require 'ece.high < 0.1' | head -c 1 >/dev/null"
    forest.run("head -31 forest.csv > thirty.csv")
    assert forest.run(f"{undecided}; echo ${{PIPESTATUS[0]}}").split() == ["3"]


@pytest.mark.parametrize(
    "ending", [">&-", ">&- 2>&-", "| head -1", "2>&1 | true", "> /dev/full", ">/dev/full 2>&1"]
)
def test_no_traceback_and_the_same_code(forest: Shell, ending: str) -> None:
    done = forest.do(f"set -o pipefail; {GATE} {ending}")
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err


def test_an_ascii_terminal_shows_what_it_can(forest: Shell) -> None:
    forest.run("sed 's/light/größer/' forest.csv > ü.csv")
    ascii_only = "PYTHONIOENCODING=ascii veridical evaluate"
    assert "gr\\xf6\\xdfer" in forest.run(f"{ascii_only} ü.csv --by ink")
    plain = "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"
    done = forest.do(f"{plain} veridical evaluate ü.csv")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "PYTHONUTF8=1" in done.err


def _broken(forest: Shell) -> dict[str, str]:
    """Files of calibrators that cannot be read, and what the message says of each."""
    forest.run("veridical calibrate forest.csv --method platt --folds 0 -o map.json")
    data = json.loads((forest.folder / "map.json").read_text())
    del data[SEAL]
    texts = {
        "absent.json": (json.dumps(data | {"calibrator": "CubistCalibrator"}), "update veridical"),
        "newer.json": (json.dumps(data | {"format": 2}), "update veridical"),
        "empty.json": ("", "an empty file"),
    }
    for name, (text, _) in texts.items():
        (forest.folder / name).write_text(text)
    return {name: says for name, (_, says) in texts.items()}


def test_a_map_that_cannot_be_read_gives_one_line_with_what_to_do(forest: Shell) -> None:
    for name, says in _broken(forest).items():
        for command in (
            f"veridical apply {name} forest.csv -o out.csv",
            f"veridical export {name} --to sql",
            f"veridical decide --map {name} --threshold 0.2",
        ):
            done = forest.do(command)
            assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done
            assert says in done.err
            hint = done.err.partition("Hint: ")[2]
            assert hint
            assert f"veridical {command.split()[1]}" not in hint
        load = f"try:\n    veridical.load({name!r})\nexcept ValueError as error:\n    print(error)"
        assert says in forest.python(f"import veridical\n{load}")
    assert not (forest.folder / "out.csv").exists()


def test_studio_starts_answers_and_stops(forest: Shell) -> None:
    script = """
veridical studio forest.csv --no-browser > address.txt 2>&1 & server=$!
for i in $(seq 100); do grep -q http address.txt && break; sleep 0.2; done
python - <<'END'
import re, urllib.request
address = re.search(r"http://\\S+", open("address.txt").read())[0]
with urllib.request.urlopen(address, timeout=20) as answer:
    print(answer.status, "<title" in answer.read().decode())
END
kill -INT $server; wait $server; echo "ended"
"""
    assert forest.run(script).split() == ["200", "True", "ended"]


def test_words_of_the_shell_are_quoted(forest: Shell) -> None:
    name = "it's a file; echo lost.csv"
    shutil.copy(forest.folder / "forest.csv", forest.folder / name)
    assert "n_samples" in forest.run(f"veridical evaluate {shlex.quote(name)} --format json")
