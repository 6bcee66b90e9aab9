"""Column and file names: the nearest one, a short list of them, their natural order."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from veridical.exceptions import InvalidInputError, invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHOWN = 12


def nearest(name: str, options: Iterable[str]) -> str | None:
    """Return the option that looks most like `name`, whatever the case, or None."""
    by_lower: dict[str, str] = {}
    for option in options:
        by_lower.setdefault(option.lower(), option)
    found = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.5)
    return by_lower[found[0]] if found else None


def listed(names: Sequence[str]) -> str:
    """Write names with quotes and commas; of many, the first ones and how many there are."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    if len(names) > _SHOWN:
        return f"{shown}, ... ({len(names)} in all)"
    return shown or "none"


def missing_column(
    name: str, available: Sequence[str], *, caller: str, param: str, kind: str = "a column"
) -> InvalidInputError:
    """Build the error for a column that is not there."""
    near = nearest(re.sub(r"[*?\[\]]", "", name), available)
    hint = f"did you mean {near!r}?" if near else "name one of the columns there are."
    got = f"{name!r} (columns: {listed(available)})"
    return invalid(caller, param, f"{kind} of the data", got, hint=hint)


def natural_order(names: Sequence[str], varying: Sequence[str]) -> list[str]:
    """Sort `names` by their varying parts if these are all integers, else leave the order."""
    if all(re.fullmatch(r"-?\d+", part) for part in varying):
        # Sorting is stable: equal numbers (1 and 01) stay in the order given.
        pairs = sorted(zip(varying, names, strict=True), key=lambda pair: int(pair[0]))
        return [name for _, name in pairs]
    return list(names)
