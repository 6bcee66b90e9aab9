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


def require(module: str, *, extra: str, purpose: str) -> Any:
    """Import `module` or say which extra of this package brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise  # something inside an installed package is broken: do not hide it
        msg = f'{purpose} needs {module}.\nHint: pip install "veridical[{extra}]".'
        raise MissingDependencyError(msg) from error
