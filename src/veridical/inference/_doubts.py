"""Doubts become warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from veridical.exceptions import VeridicalWarning


def warn_of(notes: Iterable[str], *, caller: str) -> None:
    """Warn the user of the public function `caller`, which calls this directly."""
    for note in notes:
        warnings.warn(f"{caller}: {note}.", VeridicalWarning, stacklevel=3)
