"""Which columns are meant: named, or matched by a glob."""

from __future__ import annotations

import difflib
import re
from fnmatch import fnmatchcase
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


def expand_columns(
    patterns: str | Sequence[str], available: Sequence[str], *, caller: str, param: str
) -> list[str]:
    """Replace globs by the columns they match.

    Parameters
    ----------
    patterns : str or sequence of str
        Column names, or globs such as ``"p_*"``. A name that exists is never read as a glob.
    available : sequence of str
        The columns there are, in file order.
    caller, param : str
        Who asks, and for which argument: they open the error message.

    Returns
    -------
    list of str
        Columns in the order of the patterns. Within a glob: file order, or numerical order if
        what the wildcard stands for is an integer every time. A glob adds only columns that
        were not named before it.

    Examples
    --------
    >>> expand_columns("p_*", ["y", "p_10", "p_2"], caller="evaluate", param="prob")
    ['p_2', 'p_10']
    >>> expand_columns(["p_c", "p_*"], ["p_a", "p_b", "p_c"], caller="evaluate", param="prob")
    ['p_c', 'p_a', 'p_b']
    """
    wanted = [patterns] if isinstance(patterns, str) else [str(pattern) for pattern in patterns]
    if not wanted:
        hint = "name a column, or a glob such as 'p_*'."
        raise invalid(caller, param, "at least one column", "none", hint=hint)
    known = set(available)
    result: list[str] = []
    for pattern in wanted:
        if pattern in known:
            if pattern in result:
                got = f"{pattern!r} more than once"
                raise invalid(caller, param, "distinct columns", got, hint="name each column once.")
            result.append(pattern)
            continue
        matches = _matches(pattern, available)
        if not matches:
            kind = "a column" if matches is None else "a pattern that matches columns"
            raise missing_column(pattern, available, caller=caller, param=param, kind=kind)
        result.extend(name for name in matches if name not in result)
    return result


def _matches(pattern: str, available: Sequence[str]) -> list[str] | None:
    """Columns that match a glob, or None if `pattern` has no wildcard."""
    wildcards = list(re.finditer(r"\*|\?|\[[^]]+\]", pattern))
    if not wildcards:
        return None
    names = [name for name in available if fnmatchcase(name, pattern)]
    before, after = wildcards[0].start(), len(pattern) - wildcards[-1].end()
    return natural_order(names, [name[before : len(name) - after] for name in names])
