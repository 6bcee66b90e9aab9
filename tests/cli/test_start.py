"""The command line starts at once: what was not chosen is not imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from veridical.cli.main import build_parser

LIBRARIES = {"matplotlib", "narwhals", "numpy", "polars", "rich", "scipy", "sklearn", "typing"}
ITSELF = {
    "veridical", "veridical._core", "veridical._core.version", "veridical.cli",
    "veridical.cli.main", "veridical.cli.shared", "veridical.cli.shared.parser",
    "veridical.exceptions",
}  # fmt: skip


# What fills lines and shows escape sequences imports nothing.
TEXTS = {"veridical.cli.shared.help", "veridical._core.runtime", "veridical._core.runtime.text"}


def _loaded_after(*words):
    """Modules that a fresh interpreter holds at the end of a command."""
    code = (
        "import sys\nfrom veridical.cli import main\n"
        f"try:\n    main({list(words)})\nexcept SystemExit:\n    pass\n"
        "print('LOADED', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.partition("LOADED ")[2].split())


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["no-such-command"]])
def test_nothing_is_imported_to_say_what_there_is(words):
    loaded = _loaded_after(*words)
    own = {name for name in loaded if name.startswith("veridical")}
    assert own - TEXTS == ITSELF
    assert not loaded & LIBRARIES


def test_a_command_imports_no_other_command():
    loaded = {name for name in _loaded_after("studio", "--help") if ".commands." in name}
    assert loaded == {"veridical.cli.commands.studio"}


def test_the_whole_parser_has_the_arguments_of_every_command():
    commands = build_parser()._subparsers._group_actions[0].choices
    assert len(commands) >= 13
    for name, command in commands.items():
        assert command.description, name
        assert len(command._actions) > 1, name
