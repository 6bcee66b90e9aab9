"""`veridical doctor`: what is installed, told without importing it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from veridical import __version__
from veridical.cli import main
from veridical.cli.commands import doctor as _doctor

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def run(capsys, *arguments):
    code = main(["doctor", *arguments])
    return code, capsys.readouterr().out


def test_versions_are_those_installed(capsys):
    code, out = run(capsys, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["veridical"] == __version__
    assert found["python"] == sys.version.split()[0]
    assert found["packages"]["numpy"] == np.__version__
    assert Path(found["folder"], "cli", "commands", "doctor.py").exists()


def test_what_is_missing_comes_with_its_command(capsys, monkeypatch):
    def version(package):
        if package in ("matplotlib", "scipy", "psycopg"):
            raise metadata.PackageNotFoundError(package)
        return "1.0"

    monkeypatch.setattr(_doctor.metadata, "version", version)
    monkeypatch.setattr(_doctor.shutil, "which", lambda *_, **__: None)
    code, out = run(capsys)
    assert code == 0
    lines = out.splitlines()
    assert any(
        "missing" in line and "plots" in line and "matplotlib (missing)" in line for line in lines
    )
    assert any("found" in line and "onnx" in line and "onnx 1.0" in line for line in lines)
    assert any("missing" in line and "java" in line and "JDK" in line for line in lines)
    start = lines.index("to install what is missing:") + 1
    commands = [line.split(" -m ")[1] for line in lines[start:]]
    assert commands == [
        "pip install scipy", 'pip install "matplotlib>=3.8"',
        'pip install "psycopg[binary]>=3.2"', 'pip install "ibis-framework[postgres]"',
    ]  # fmt: skip


def test_nothing_is_to_be_installed_where_all_is_found(capsys, monkeypatch):
    monkeypatch.setattr(_doctor.metadata, "version", lambda _: "1.0")
    _, out = run(capsys)
    assert "to install" not in out


def test_extras_are_those_of_the_package():
    if not PROJECT.exists():
        pytest.skip("needs the source tree")
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    wanted = {name for name in extras if name not in ("all", "test", "docs", "fast")}
    assert set(_doctor.EXTRAS) == wanted

    def packages(name):
        for text in extras[name]:
            package = text.split(">")[0].split("=")[0]
            if package.startswith("veridical["):
                yield from packages(package[10:-1])
            else:
                yield package.split("[")[0]
                if package.startswith("dask["):
                    yield "distributed"

    for name, (_, expected) in _doctor.EXTRAS.items():
        assert sorted(expected) == sorted(packages(name)), name


def test_java_that_fails_is_no_java(monkeypatch, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert _doctor.java_version() is None
    java.write_text("#!/bin/sh\necho 'openjdk version \"21\"' >&2\n")
    assert _doctor.java_version() == 'openjdk version "21"'


def test_heavy_libraries_are_not_imported():
    code = (
        "import sys; from veridical.cli import main; main(['doctor']);"
        "heavy = {'matplotlib', 'numba', 'torch', 'pyspark', 'dask', 'polars', 'duckdb', 'onnx'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1] == "[]"
