"""Names of a module that are imported when they are asked for."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from veridical._core.runtime.moved import moved_error


def late_names(name: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a module whose imports are for type checkers.

    The module (a room, or a door of one) has its imports under ``if TYPE_CHECKING:``. They are read
    from its source when the first name is asked for, so that names stand once and tools that read
    source see imports; what holds a name is imported when that name is asked for. A process so
    loads what it uses.

    Examples
    --------
    >>> find, listed = late_names("veridical.scores")
    >>> find("BrierRule").__name__
    'BrierRule'
    >>> "LogRule" in listed()
    True
    """
    homes: dict[str, str] = {}

    def find(wanted: str) -> Any:
        module = sys.modules[name]
        if not homes:
            homes.update(_homes(module))
        if wanted not in homes:
            moved = moved_error(f"{name}.{wanted}")
            if moved is not None:
                raise moved
            msg = f"module {name!r} has no attribute {wanted!r}"
            raise AttributeError(msg)
        value = getattr(import_module(homes[wanted]), wanted)
        setattr(module, wanted, value)
        return value

    def listed() -> list[str]:
        module = sys.modules[name]
        return sorted({*vars(module), *_homes(module)})

    return find, listed


def _homes(module: ModuleType) -> dict[str, str]:
    """Where the names live that a module imports for type checkers."""
    spec: Any = module.__spec__
    tree = ast.parse(spec.loader.get_data(spec.origin))
    guarded = (each for each in tree.body if isinstance(each, ast.If))
    lines = (line for each in guarded for line in each.body if isinstance(line, ast.ImportFrom))
    return {each.name: str(line.module) for line in lines for each in line.names}
