"""Versions of what figures are computed with."""

from __future__ import annotations

import platform
from importlib import metadata

_PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "narwhals")


def versions() -> dict[str, str]:
    """Version of this library, of Python and of the packages below it."""
    from veridical._core.version import __version__

    found = {"veridical": __version__, "Python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}
