"""Optional dependencies: named with their install command when absent."""

from __future__ import annotations

import json
import sys
from importlib import metadata

import pytest

from veridical import MissingDependencyError
from veridical._core.runtime.optional import (
    install_command,
    is_installed,
    packages_of_extra,
    require,
)


def test_an_installed_module_is_returned():
    assert require("json", extra="none", purpose="Reading") is json


def test_an_absent_module_names_a_command_that_a_checkout_of_the_source_can_use():
    with pytest.raises(MissingDependencyError) as caught:
        require("not_a_module_of_anybody", extra="onnx", purpose="Compiling")
    assert str(caught.value) == (
        "Compiling needs not_a_module_of_anybody.\n"
        'Hint: pip install "onnx>=1.16".'
    )  # fmt: skip
    assert isinstance(caught.value, ImportError)


def test_an_extra_that_holds_another_names_the_packages_of_both(monkeypatch):
    lines = [
        "numpy>=1.26",
        "web>=2; extra == 'studio'",
        "veridical[charts]; extra == 'studio'",
        'ink>=1; python_version > "3" and extra == "charts"',
    ]
    monkeypatch.setattr(metadata, "requires", lambda _: lines)
    assert packages_of_extra("studio") == ["web>=2", "ink>=1"]
    assert install_command("studio") == 'pip install "web>=2" "ink>=1"'
    assert install_command("unknown", "alone") == "pip install alone"


def test_without_metadata_the_module_itself_is_named(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", absent)
    assert install_command("spark", "pyspark") == "pip install pyspark"


def test_a_broken_module_is_not_hidden(tmp_path, monkeypatch):
    (tmp_path / "broken_module.py").write_text("import something_it_needs")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="something_it_needs") as caught:
        require("broken_module", extra="onnx", purpose="Compiling")
    assert not isinstance(caught.value, MissingDependencyError)


def test_whether_a_module_is_installed_is_found_without_importing_it(tmp_path, monkeypatch):
    (tmp_path / "heavy_module.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert is_installed("heavy_module")
    assert "heavy_module" not in sys.modules
    assert not is_installed("another_module_of_nobody")
