"""Which columns are meant: named, matched by a glob, or guessed where names leave no doubt."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
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


_OUTCOMES = frozenset({"y", "y_true", "label", "labels", "target", "outcome", "truth", "class"})
# "score" is not here: a score may be a logit.
_PROBABILITIES = frozenset({"p", "prob", "proba", "probability", "y_prob", "y_proba"})
_FAMILIES = ("p_", "prob_", "proba_", "probability_")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnGuess:
    """The columns to use, and a sentence about those that were guessed.

    Parameters
    ----------
    y : str
        Column of outcomes.
    prob : tuple of str
        Columns of probabilities: one (positive class), or one per class.
    said : str
        What was guessed, to be shown to the user; empty if nothing was.
    """

    y: str
    prob: tuple[str, ...]
    said: str


def guess_columns(
    available: Sequence[str],
    *,
    y: str | None = None,
    prob: str | Sequence[str] | None = None,
    caller: str,
) -> ColumnGuess:
    """Find the outcome and the probabilities among columns, by name and only if unambiguous.

    Parameters
    ----------
    available : sequence of str
        The columns there are.
    y : str, optional
        The outcome, if the user named it.
    prob : str or sequence of str, optional
        The probabilities, if the user named them; globs are expanded.
    caller : str
        Who asks: it opens the error message.

    Returns
    -------
    ColumnGuess
        With `said` such as "guessed y = 'label', prob = 'p'".

    Notes
    -----
    Outcome: y, y_true, label, labels, target, outcome, truth, class. Probability: p, prob, proba,
    probability, y_prob, y_proba, or two or more columns that start with ``p_``, ``prob_``,
    ``proba_`` or ``probability_``. Case and spaces around a name do not matter.

    Examples
    --------
    >>> guess_columns(["id", "label", "p"], caller="evaluate").said
    "guessed y = 'label', prob = 'p'"
    >>> guess_columns(["kind", "p_cat", "p_dog"], y="kind", caller="evaluate").prob
    ('p_cat', 'p_dog')
    """
    said: list[str] = []
    if y is not None and y not in available:
        raise missing_column(y, available, caller=caller, param="y")
    given = None
    if prob is not None:
        given = tuple(expand_columns(prob, available, caller=caller, param="prob"))
    if y is None:
        outcomes = [name for name in _outcomes(available) if name not in (given or ())]
        if len(outcomes) != 1:
            raise _undecided(outcomes, available, caller=caller, param="y")
        y = outcomes[0]
        said.append(f"y = {y!r}")
    if given is None:
        candidates = _probabilities([name for name in available if name != y])
        if len(candidates) != 1:
            found = [name for candidate in candidates for name in candidate]
            raise _undecided(found, available, caller=caller, param="prob")
        given = candidates[0]
        said.append(f"prob = {listed(given)}")
    return ColumnGuess(y=y, prob=given, said=f"guessed {', '.join(said)}" if said else "")


def _outcomes(available: Sequence[str]) -> list[str]:
    return [name for name in available if name.strip().lower() in _OUTCOMES]


def _probabilities(available: Sequence[str]) -> list[tuple[str, ...]]:
    """Each single column and each family that could be the probabilities."""
    found: list[tuple[str, ...]] = [
        (name,) for name in available if name.strip().lower() in _PROBABILITIES
    ]
    for prefix in _FAMILIES:
        family = [name for name in available if name.strip().lower().startswith(prefix)]
        if len(family) >= 2:
            ends = [name.strip()[len(prefix) :] for name in family]
            found.append(tuple(natural_order(family, ends)))
    return found


def _undecided(
    found: Sequence[str], available: Sequence[str], *, caller: str, param: str
) -> InvalidInputError:
    what = "the outcome" if param == "y" else "the probabilities"
    example = "y='label'" if param == "y" else "prob='p' or prob='p_*'"
    if found:
        got = f"several candidates: {listed(found)} (columns: {listed(available)})"
    else:
        got = f"none that is known by name (columns: {listed(available)})"
    hint = f"say which column holds {what}, e.g. {example}."
    return invalid(caller, param, "given when the names leave a doubt", got, hint=hint)
