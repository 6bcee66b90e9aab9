"""The public names as type checkers see them: those on top, and where every one lives."""

from __future__ import annotations

import ast
from pathlib import Path

import veridical

STUB = Path(veridical.__file__).with_suffix(".pyi")
_STATEMENTS = ast.parse(STUB.read_text(encoding="utf-8")).body
_IMPORTS = {
    alias.asname or alias.name: str(statement.module)
    for statement in _STATEMENTS
    if isinstance(statement, ast.ImportFrom)
    for alias in statement.names
}
ON_TOP = next(
    ast.literal_eval(statement.value)
    for statement in _STATEMENTS
    if isinstance(statement, ast.Assign)
)
ROOMS = {name for name, module in _IMPORTS.items() if module == "veridical"}
HOMES = {
    name: module.removeprefix("veridical.")
    for name, module in _IMPORTS.items()
    if name not in ROOMS and name != "__version__"
}
NAMES = sorted(HOMES)  # on top or not
