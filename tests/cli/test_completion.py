"""`veridical completion`: what the shell offers is what the parser takes."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest

from veridical.cli import main
from veridical.cli.commands.completion import walk
from veridical.cli.main import build_parser

BASH = shutil.which("bash")


def script(capsys, shell):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.fixture
def complete(capsys, tmp_path):
    """What bash offers for the last of some words."""
    if BASH is None:
        pytest.skip("needs bash")
    path = tmp_path / "veridical.bash"
    path.write_text(script(capsys, "bash"))

    def complete(*words):
        typed = " ".join(map(shlex.quote, ("veridical", *words)))
        code = (
            f"source {shlex.quote(str(path))}; COMP_WORDS=({typed}); COMP_CWORD={len(words)};"
            ' _veridical; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            [BASH, "--norc", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert done.stderr == ""
        return [line for line in done.stdout.splitlines() if line]

    complete.folder = tmp_path
    return complete


def test_commands_are_completed(complete):
    assert "evaluate" in complete("")
    assert complete("ev") == ["evaluate"]
    assert complete("simulate", "de") == ["decisions"]
    assert complete("completion", "") == ["bash", "zsh", "fish"]


def test_options_are_those_of_the_command(complete):
    assert complete("evaluate", "predictions.csv", "--n-") == ["--n-bins", "--n-resamples"]
    assert "--require" in complete("check", "--")
    assert "--require" not in complete("evaluate", "--")
    assert "--cost-fp" in complete("simulate", "decisions", "--cost")


def test_values_of_an_option_are_completed(complete):
    assert complete("evaluate", "a.csv", "--format", "") == ["text", "json", "csv"]
    assert complete("evaluate", "a.csv", "--format", "j") == ["json"]


def test_files_are_completed_with_their_spaces(complete):
    for name in ("one file.csv", "other.csv"):
        (complete.folder / name).touch()
    assert complete("evaluate", "o") == ["one file.csv", "other.csv"]
    assert complete("evaluate", "other.csv", "-o", "one") == ["one file.csv"]


def test_every_command_and_option_is_in_every_script(capsys):
    commands = list(walk(build_parser()))
    assert {"evaluate", "check", "simulate", "doctor"} <= set(commands[0].subcommands)
    for shell in ("bash", "zsh", "fish"):
        text = script(capsys, shell)
        for command in commands:
            for name in command.subcommands:
                assert name in text
            for option in command.options:
                for name in option.names:
                    fish = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                    assert (fish if shell == "fish" else name) in text


def test_help_with_quotes_is_quoted_for_fish(capsys):
    lines = script(capsys, "fish").splitlines()
    assert all(len(shlex.split(line.replace("\\'", ""), comments=True)) > 3 for line in lines[1:])


def test_bash_reads_the_script_of_zsh(capsys, tmp_path):
    if BASH is None:
        pytest.skip("needs bash")
    path = tmp_path / "script"
    for shell in ("bash", "zsh"):
        path.write_text(script(capsys, shell))
        subprocess.run([BASH, "-n", str(path)], check=True)


def test_an_unknown_shell_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["completion", "tcsh"])
    assert stopped.value.code == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
