"""Counts how large the project is, for the budgets of `budget.toml`.

python tests/counting.py          # print the counts of every room
python tests/counting.py --lower  # write smaller counts into budget.toml, never larger ones
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGET = ROOT / "budget.toml"
CORE = ROOT / "src" / "veridical"
# Parts of the repository outside the wheel: a line each, so that nothing is only moved there.
OTHERS = {
    "tests": ["tests"],
    "evidence and benchmarks": ["evidence", "benchmarks"],
    "lab": ["packages/lab"],
}
# Classes that say what kind of problem, summary or source a function was given.
PROBLEM_KINDS = {
    "BinarySample", "MulticlassSample", "ClasswiseProblem", "Summary", "VectorSummary",
    "SampleSource", "SumsSource", "GridSummary",
}  # fmt: skip
LONG_FUNCTION, COMPLEX_FUNCTION = 50, 15  # lines, and independent ways through a function
_BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension,
    ast.match_case, ast.Assert,
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, *_FUNCTIONS)


def count_file(text: str) -> Counter[str]:
    """Counts of one source file."""
    tree, lines = ast.parse(text), text.splitlines()
    counts: Counter[str] = Counter(files=1)
    not_code: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            counts["statements"] += 1
        if isinstance(node, _FUNCTIONS):
            counts.update(_count_function(node))
        elif isinstance(node, ast.ClassDef):
            counts["classes"] += 1
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            not_code |= _lines_of(node)
        elif _asks_for_a_kind(node):
            counts["checks of problem kinds"] += 1
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            not_code |= _lines_of(node.body[0])
    counts["lines"] = len(lines)
    counts["lines of code"] = sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in not_code
        for number, line in enumerate(lines, 1)
    )
    return counts


def _count_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Counter[str]:
    given = node.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return Counter(
        {
            "functions": 1,
            "parameters": len(parameters),
            "long functions": _length(node) > LONG_FUNCTION,
            "complex functions": _complexity(node) > COMPLEX_FUNCTION,
        }
    )


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement on, without the docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return len(set().union(*map(_lines_of, body))) if body else 0


def _complexity(node: ast.AST) -> int:
    """McCabe's number: one more than the branches; `and` and `or` count as branches."""
    ways = 1
    for part in ast.walk(node):
        ways += isinstance(part, _BRANCHES)
        ways += len(part.values) - 1 if isinstance(part, ast.BoolOp) else 0
    return ways


def _asks_for_a_kind(node: ast.AST) -> bool:
    """Whether a part of a program tells problem kinds apart: `isinstance`, or `kind ==`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id != "isinstance":
            return False
        names = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
        return bool(names & PROBLEM_KINDS)
    if isinstance(node, ast.Compare) and isinstance(node.left, (ast.Name, ast.Attribute)):
        name = node.left.id if isinstance(node.left, ast.Name) else node.left.attr
        kinds = [value for value in node.comparators if isinstance(value, ast.Constant)]
        values = {"binary", "several", "vector", "classwise", "multiclass"}
        return name == "kind" and any(value.value in values for value in kinds)
    return False


def _lines_of(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _sources(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.py")):
        if not {"out", "build", "__pycache__"} & set(path.relative_to(ROOT).parts):
            yield path


def count_rooms() -> dict[str, Counter[str]]:
    """Counts of each room of the core; files directly in the package are the room "top"."""
    rooms: dict[str, Counter[str]] = {}
    for path in _sources(CORE):
        parts = path.relative_to(CORE).parts
        room = parts[0] if len(parts) > 1 else "top"
        rooms.setdefault(room, Counter()).update(count_file(path.read_text(encoding="utf-8")))
    return rooms


def count_whole() -> dict[str, int]:
    """Counts that belong to no room."""
    import veridical
    from veridical.cli.main import build_parser

    commands = [build_parser()]
    options = 0
    while commands:
        for action in commands.pop()._actions:
            options += bool(action.option_strings) and action.dest not in ("help", "version")
            if isinstance(action.choices, dict):
                commands += action.choices.values()
    outside = {
        name: sum(
            len(path.read_text(encoding="utf-8").splitlines())
            for folder in folders
            for path in _sources(ROOT / folder)
        )
        for name, folders in OTHERS.items()
    }
    return {
        "options": options,
        "names in veridical.__all__": len(veridical.__all__),
        **{f"lines in {name}": lines for name, lines in outside.items()},
    }


def all_counts() -> dict[str, dict[str, int]]:
    """Every count by table of `budget.toml`: the whole, then the rooms."""
    rooms = count_rooms()
    whole = sum(rooms.values(), Counter())
    return {"whole": {**count_whole(), **whole}} | {
        room: dict(rooms[room]) for room in sorted(rooms)
    }


def read_budget() -> dict[str, dict[str, int]]:
    """Budgets of the committed file."""
    return tomllib.loads(BUDGET.read_text(encoding="utf-8"))


def lowered(budget: dict[str, dict[str, int]]) -> str:
    """Text of `budget.toml` with every budget that can be smaller; what is gone is left out."""
    text = [
        "# How large the project may be. Budgets only go down: `python tests/counting.py --lower`.",
        "# An issue that grants lines raises them by hand, in a commit that names the issue.",
    ]
    for table, counts in all_counts().items():
        text += ["", f"[{table}]"]
        for name, count in counts.items():
            if count or name in budget.get(table, {}):
                key = name if name.isidentifier() else f'"{name}"'
                text.append(f"{key} = {min(count, budget.get(table, {}).get(name, count))}")
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    if "--lower" in sys.argv[1:]:
        BUDGET.write_text(lowered(read_budget() if BUDGET.exists() else {}), encoding="utf-8")
    else:
        for room, numbers in all_counts().items():
            print(room, numbers)
