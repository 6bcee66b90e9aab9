"""Rules the source keeps: small files, no global randomness, no silenced warnings, no pickle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import veridical

ROOT = Path(veridical.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
IDS = [str(path.relative_to(ROOT)) for path in MODULES]
ALLOWED_RANDOM = {"BitGenerator", "Generator", "MT19937", "PCG64", "SeedSequence", "default_rng"}


def _tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def _dotted(node):
    """`a.b.c` of nested attributes, or an empty string."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *names[::-1]]) if isinstance(node, ast.Name) else ""


def test_there_is_source_to_check():
    assert len(MODULES) > 30


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_no_module_is_longer_than_500_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_no_module_uses_global_randomness(path):
    for node in ast.walk(_tree(path)):
        parts = _dotted(node).split(".")
        if len(parts) >= 3 and parts[0] in ("np", "numpy") and parts[1] == "random":
            assert parts[2] in ALLOWED_RANDOM, f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_no_module_imports_pickle_or_the_global_generator(path):
    forbidden = {"pickle", "random", "shelve", "joblib", "dill", "cloudpickle"}
    for node in ast.walk(_tree(path)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        assert not {name.split(".")[0] for name in names} & forbidden


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_no_module_ignores_warnings_or_changes_global_error_handling(path):
    for node in ast.walk(_tree(path)):
        called = _dotted(node.func) if isinstance(node, ast.Call) else ""
        assert called not in {"np.seterr", "np.seterrcall"}
        if called in {"warnings.filterwarnings", "warnings.simplefilter"}:
            action = node.args[0]
            assert isinstance(action, ast.Constant)
            assert action.value == "always", f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(_tree(path))
