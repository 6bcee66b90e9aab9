"""What tests can do without: they skip where it is missing, or fail if VERIDICAL_REQUIRE_ALL=1."""

from __future__ import annotations

import importlib
import os
from typing import Any, NoReturn

import pytest


def lacking(reason: str) -> NoReturn:
    """Skip, or fail."""
    if os.environ.get("VERIDICAL_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason} and VERIDICAL_REQUIRE_ALL=1")
    pytest.skip(reason)


def needed(module: str) -> Any:
    """Import a library, or skip."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        lacking(f"{module.partition('.')[0]} is not installed")
