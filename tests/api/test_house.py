"""The house: rooms are entered by their doors, folders stay small, names stand for one thing."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import Counter, defaultdict
from pathlib import Path

import counting

import veridical
import veridical_lab

ROOT = Path(veridical.__file__).parent
LAB = Path(veridical_lab.__file__).parent
ROOMS = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()} - {"_core"}
# Plain modules that other rooms may import; everything else inside a room is its own business.
_DOORS_OF = {
    "binning": ["counts"],
    "calibrators": ["core", "formulas", "judging"],
    "curves": ["core", "display", "shapes"],
    "decisions": ["core"],
    "decomposition": ["core"],
    "evaluation": ["core", "data"],
    "export": ["core"],
    "frames": ["files", "grid", "inputs", "tables"],
    "inference": ["core", "draws", "intervals", "tests"],
    "lenses": ["reading"],
    "miscalibration": ["core"],
    "monitoring": ["core"],
    "plots": ["drawing"],
    "report": ["charts"],
    "results": ["base", "display", "library", "pictures"],
    "selection": ["core"],
    "simulation": ["core"],
    "summaries": ["core"],
}
DOORS = {f"{room}.{door}" for room, doors in _DOORS_OF.items() for door in doors}
MOST_MODULES, MOST_NAMES = 22, 25
# Modules of `_core` that the lab uses because no room offers what they hold. The list only shrinks.
CORE_OF_THE_LAB = {
    "_core.data.options",
    "_core.data.randomness",
    "_core.data.validation",
    "_core.numeric.roots",
    "_core.numeric.triangle",
    "_core.runtime.files",
    "_core.runtime.progress",
    "_core.runtime.threads",
    "_core.sample",
}


def _imports(path):
    """Modules and names of the library that a file imports, at any depth of it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("veridical."):
            module = node.module.removeprefix("veridical.")
            doors = [each for each in node.names if f"{module}.{each.name}" in DOORS]
            for door in doors:
                yield f"{module}.{door.name}", _attributes(tree, door.asname or door.name)
            names = [each.name for each in node.names if each not in doors]
            if names:
                yield module, names
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("veridical."):
                    yield alias.name.removeprefix("veridical."), []


def _attributes(tree, name):
    """What is asked of a module that was imported under a name."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return [
        node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == name
    ]


def _across():
    """Imports of one room from another: file, module, names."""
    return list(_imports_across())


def _imports_across():
    for folder in (ROOT, LAB):
        for path in sorted(folder.rglob("*.py")):
            here = path.relative_to(folder).parts[0] if folder is ROOT else "the lab"
            for module, names in _imports(path):
                room = module.split(".")[0]
                if room in ROOMS and room != here:
                    yield path.relative_to(folder.parent), module, names


def test_other_rooms_are_entered_by_their_doors():
    wrong = []
    for path, module, names in _across():
        inside = "." in module and module not in DOORS
        private = any(part.startswith("_") for part in (*module.split("."), *names))
        if inside or private:
            wrong.append(f"{path}: {module} {names}")
    assert not wrong


def test_the_lab_uses_little_of_the_core_without_a_door():
    used = {module for path in LAB.rglob("*.py") for module, _ in _imports(path)}
    assert {module for module in used if module.startswith("_core")} == CORE_OF_THE_LAB


def test_the_library_names_the_lab_only_where_it_says_how_to_install_it():
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if "veridical_lab" in path.read_text(encoding="utf-8")
    }
    assert naming == {"_core/runtime/moved.py", "cli/commands/experiment.py"}


def test_what_a_door_holds_is_used_by_another_room():
    used = defaultdict(set)
    for _, module, names in _across():
        used[module].update(names)
    assert used.keys() >= DOORS
    for door in DOORS - {"results.base"}:  # it holds public records
        offered = set(importlib.import_module(f"veridical.{door}").__all__)
        assert len(offered) <= MOST_NAMES, door
        assert offered == used[door], door


def test_what_a_room_exports_is_not_taken_from_its_doors():
    for door in DOORS - {"calibrators.formulas", "results.base"}:
        room = importlib.import_module(f"veridical.{door.split('.')[0]}")
        offered = set(importlib.import_module(f"veridical.{door}").__all__)
        assert not offered & set(room.__all__), door


def test_the_name_of_a_public_class_stands_for_one_thing():
    classes = defaultdict(set)
    for room in sorted(ROOMS):
        module = importlib.import_module(f"veridical.{room}")
        for name in module.__all__:
            if inspect.isclass(getattr(module, name)):
                classes[name].add(getattr(module, name))
    assert not {name: found for name, found in classes.items() if len(found) > 1}


def test_no_folder_is_a_drawer():
    paths = [*ROOT.rglob("*.py"), *LAB.rglob("*.py")]
    sizes = Counter(path.parent for path in paths if path.name != "__init__.py")
    assert not {str(folder) for folder in sizes if sizes[folder] > MOST_MODULES}


def test_underscores_are_on_folders_not_on_files():
    files = {path.name for folder in (ROOT, LAB) for path in folder.rglob("_*.py")}
    assert files <= {"__init__.py", "__main__.py"}


def test_a_quick_run_enters_every_room():
    tests = Path(__file__).parents[1]
    listed = (tests / "quick.txt").read_text(encoding="utf-8").split()
    assert all((tests.parent / place).exists() for place in listed)
    tested = {path.name for path in tests.iterdir() if path.name in ROOMS | {"_core"}}
    assert tested <= {Path(place).parts[1] for place in listed}


def test_nothing_grows_beyond_its_budget():
    """Budgets only go down; see budget.toml."""
    budget = counting.read_budget()
    above = [
        f"{table}: {count} {name}, budget {budget.get(table, {}).get(name, 0)}"
        for table, counts in counting.all_counts().items()
        for name, count in counts.items()
        if count > budget.get(table, {}).get(name, 0)
    ]
    assert above == []


def test_how_code_is_counted():
    text = '''
"""Docstring."""
import os


def long(a, *, b=1):
    """Docstring."""
    # A comment.
    if a and b or a:
        return isinstance(a, (BinarySample, int))
    return [kind == "vector" for kind in b if kind]
'''
    expected = {
        "files": 1, "lines": 11, "lines of code": 4, "statements": 7, "functions": 1,
        "parameters": 2, "checks of problem kinds": 2, "long functions": 0, "complex functions": 0,
    }  # fmt: skip
    assert dict(counting.count_file(text)) == expected
    branches = "\n".join(f"    if a == {i}:\n        pass" for i in range(15))
    filled = counting.count_file(f"def f(a):\n{branches}\n" + "    a = 1\n" * 21)
    assert (filled["complex functions"], filled["long functions"]) == (1, 1)
