"""Rules the source keeps: small files, no global randomness, no silenced warnings, no pickle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import veridical
import veridical_lab

ROOTS = [Path(package.__file__).parent for package in (veridical, veridical_lab)]
ALLOWED_RANDOM = {"BitGenerator", "Generator", "MT19937", "PCG64", "SeedSequence", "default_rng"}
FORBIDDEN_IMPORTS = {"pickle", "random", "shelve", "joblib", "dill", "cloudpickle"}


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """Text of every module, by its path."""
    paths = [(root, path) for root in ROOTS for path in sorted(root.rglob("*.py"))]
    assert len(paths) > 30
    return {
        str(path.relative_to(root.parent)): path.read_text(encoding="utf-8") for root, path in paths
    }


@pytest.fixture(scope="module")
def trees(modules: dict[str, str]) -> dict[str, ast.Module]:
    """The same, parsed."""
    return {path: ast.parse(text) for path, text in modules.items()}


@pytest.fixture(scope="module")
def nodes(trees: dict[str, ast.Module]) -> list[tuple[str, ast.AST]]:
    """Names with dots, calls and imports, each with the place to look at."""
    return [
        (f"{path}:{node.lineno}", node)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Call | ast.Import | ast.ImportFrom)
    ]


def _dotted(node: ast.AST) -> str:
    """`a.b.c` of nested attributes, or an empty string."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *names[::-1]]) if isinstance(node, ast.Name) else ""


def test_no_module_is_longer_than_500_lines(modules):
    assert [path for path, text in modules.items() if len(text.splitlines()) > 500] == []


def test_no_module_uses_global_randomness(nodes):
    found = []
    for place, node in nodes:
        parts = _dotted(node).split(".")
        if len(parts) >= 3 and parts[0] in ("np", "numpy") and parts[1] == "random":
            found += [] if parts[2] in ALLOWED_RANDOM else [f"{place}: {'.'.join(parts)}"]
    assert found == []


def test_no_module_imports_pickle_or_the_global_generator(nodes):
    found = []
    for place, node in nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        if {name.split(".")[0] for name in names} & FORBIDDEN_IMPORTS:
            found.append(f"{place}: {names}")
    assert found == []


def test_no_module_ignores_warnings_or_changes_global_error_handling(nodes):
    found = []
    for place, node in nodes:
        called = _dotted(node.func) if isinstance(node, ast.Call) else ""
        if called in {"np.seterr", "np.seterrcall"}:
            found.append(f"{place}: {called}")
        if called in {"warnings.filterwarnings", "warnings.simplefilter"}:
            action = node.args[0]
            if not (isinstance(action, ast.Constant) and action.value == "always"):
                found.append(f"{place}: {ast.unparse(node)}")
    assert found == []


def test_every_module_says_what_it_is(trees):
    assert [path for path, tree in trees.items() if not ast.get_docstring(tree)] == []
