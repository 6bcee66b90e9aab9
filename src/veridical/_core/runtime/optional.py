"""Optional dependencies: imported when needed, named with their install command when absent."""

from __future__ import annotations

import importlib
import importlib.util
import re
from functools import cache
from importlib import metadata
from typing import Any

from veridical.exceptions import MissingDependencyError


@cache
def is_installed(module: str) -> bool:
    """Whether `module` can be imported, without importing it."""
    return importlib.util.find_spec(module) is not None


def require(module: str, *, extra: str | None, purpose: str) -> Any:
    """Import `module` or say how to get it: what an extra of this package holds, or itself."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise  # something inside an installed package is broken: do not hide it
        hint = f"{install_command(extra, module)}."
        missing = MissingDependencyError(f"{purpose} needs {module}.\nHint: {hint}")
        missing.hint = hint
        raise missing from error


def install_command(extra: str | None, otherwise: str = "") -> str:
    """Return the command that installs what an extra of this package holds.

    It names these packages, not the extra: that works for a checkout of the source as well, whose
    name no index knows. `otherwise` is installed where there is no such extra.

    Examples
    --------
    >>> install_command("onnx")
    'pip install "onnx>=1.16"'
    >>> install_command(None, "pyarrow")
    'pip install pyarrow'
    """
    wanted = packages_of_extra(extra) if extra is not None else []
    return "pip install " + " ".join([f'"{each}"' for each in wanted] or [otherwise])


_OF_EXTRA = re.compile(r"""(?P<what>[^;]+);.*extra == ['"](?P<extra>[^'"]+)['"]""")


def packages_of_extra(extra: str) -> list[str]:
    """What an extra installs, as its requirements say it; those of extras inside it included."""
    try:
        required = metadata.requires("veridical") or []
    except metadata.PackageNotFoundError:  # imported from a folder that was not installed
        return []
    found: list[str] = []
    for each in required:
        match = _OF_EXTRA.match(each)
        if match is None or match["extra"] != extra:
            continue
        inside = re.fullmatch(r"veridical\[(.+)\]", match["what"].strip())
        if inside is None:
            found.append(match["what"].strip())
        else:
            found += [one for name in inside[1].split(",") for one in packages_of_extra(name)]
    return list(dict.fromkeys(found))
