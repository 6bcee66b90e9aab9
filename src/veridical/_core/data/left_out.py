"""Something that was not found out, and why: a value where a figure might have been."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftOut:
    """A result that there is none of.

    Examples
    --------
    >>> str(LeftOut("time was up"))
    'left out: time was up'
    """

    reason: str

    def __str__(self) -> str:
        return f"left out: {self.reason}"
