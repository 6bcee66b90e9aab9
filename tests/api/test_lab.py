"""Two distributions: the library says where names of the lab are, and works without it."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import veridical
from veridical._core.runtime.moved import _NEW_NAMES
from veridical.exceptions import MissingDependencyError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("old", _NEW_NAMES)
def test_an_old_name_says_in_one_line_where_it_is_and_how_to_install_it(old):
    module, _, name = old.rpartition(".")
    with pytest.raises(MissingDependencyError) as caught:
        getattr(importlib.import_module(module), name)
    message = str(caught.value)
    assert message.startswith(f"{old} is {_NEW_NAMES[old]} now, in the distribution veridical-lab")
    assert "pip install ./packages/lab" in message
    assert "\n" not in message
    with pytest.raises(MissingDependencyError, match=_NEW_NAMES[old]):
        exec(f"from {module} import {name}")


@pytest.mark.parametrize("new", sorted(set(_NEW_NAMES.values()) - {"veridical_lab"}))
def test_a_new_name_exists_and_is_documented(new):
    module, _, name = new.rpartition(".")
    found = importlib.import_module(module)
    assert name in found.__all__
    assert len((getattr(found, name).__doc__ or "").split()) >= 5


def test_the_old_module_cannot_be_imported():
    with pytest.raises(
        MissingDependencyError, match=r"veridical\.experiments is veridical_lab now"
    ):
        importlib.import_module("veridical.experiments")


def _without_the_lab(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that cannot import the lab."""
    code = f"""
import sys
sys.modules["veridical_lab"] = None
from veridical.cli import main
sys.exit(main({list(words)!r}))
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [("--list",), ("survey-toy", "--quick")])
def test_without_the_lab_the_command_says_how_to_install_it(words):
    done = _without_the_lab("experiment", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "needs the distribution veridical-lab" in line
    assert "pip install ./packages/lab" in line


def test_without_the_lab_the_command_has_its_help():
    done = _without_the_lab("experiment", "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("veridical experiment --list")
    assert "pip install ./packages/lab" in done.stdout


def test_both_distributions_have_one_version():
    text = (ROOT / "packages" / "lab" / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["version"] == veridical.__version__


def test_the_test_command_installs_both():
    command = 'pip install -e ".[test]" -e packages/lab && python -m pytest\n'
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
