"""Optional dependencies: imported when needed, named with their install command when absent."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from typing import Any

from veridical.exceptions import MissingDependencyError


@cache
def is_installed(module: str) -> bool:
    """Whether `module` can be imported, without importing it."""
    return importlib.util.find_spec(module) is not None


def require(module: str, *, extra: str | None, purpose: str) -> Any:
    """Import `module` or say how to get it: which extra of this package, or the package itself."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise  # something inside an installed package is broken: do not hide it
        wanted = module if extra is None else f'"veridical[{extra}]"'
        hint = f"pip install {wanted}."
        missing = MissingDependencyError(f"{purpose} needs {module}.\nHint: {hint}")
        missing.hint = hint
        raise missing from error
