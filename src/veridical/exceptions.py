"""Errors and warnings, and the one builder of their messages."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable

__all__ = [
    "InvalidInputError",
    "MissingDependencyError",
    "UnknownNameError",
    "VeridicalError",
    "VeridicalWarning",
]


class VeridicalError(Exception):
    """Base class of every error this library raises on purpose.

    Attributes
    ----------
    hint : one action that helps, "" if none is known
    """

    hint: str = ""

    @property
    def problem(self) -> str:
        """The message without the hint."""
        return str(self).partition("\nHint: ")[0]


class InvalidInputError(VeridicalError, ValueError):
    """The data or an option cannot be used; the message says what, where and what to do.

    Attributes
    ----------
    caller : the function that was called
    param : the argument that cannot be used
    expected, got : what it must be, and what it is
    hint : one action that helps
    """

    caller: str = ""
    param: str = ""
    expected: str = ""
    got: str = ""


class UnknownNameError(InvalidInputError, KeyError):
    """A result has nothing of that name; the message lists what it has and the nearest one."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError would show the text quoted


class MissingDependencyError(VeridicalError, ImportError):
    """An optional dependency is not installed; the message holds the install command."""


class VeridicalWarning(UserWarning):
    """A statistical doubt: the number is right, but may not mean what it seems to."""


_LONGEST = 400  # letters of what was got, expected or advised; labels may have thousands


def invalid(
    caller: str,
    param: str,
    expected: str,
    got: str,
    *,
    hint: str,
    kind: type[InvalidInputError] = InvalidInputError,
) -> InvalidInputError:
    """Build the error ``caller: `param` must be X; got Y.`` with one line of advice.

    Examples
    --------
    >>> print(invalid("brier_score", "y_prob", "in [0, 1]", "3.1 at index 1 (1 of 2 values)",
    ...               hint="pass probabilities, not logits."))
    brier_score: `y_prob` must be in [0, 1]; got 3.1 at index 1 (1 of 2 values).
    Hint: pass probabilities, not logits.

    What the message is made of is kept beside it, so that nobody has to read it again.

    >>> invalid("brier_score", "y_prob", "in [0, 1]", "3.1", hint="pass probabilities.").param
    'y_prob'
    """
    got, expected, hint = (
        text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..." for text in (got, expected, hint)
    )
    error = kind(f"{caller}: `{param}` must be {expected}; got {got}.\nHint: {hint}")
    error.caller, error.param, error.expected, error.got = caller, param, expected, got
    error.hint = hint
    return error


def unknown_option(
    caller: str,
    param: str,
    value: object,
    valid: Iterable[str],
    *,
    kind: type[InvalidInputError] = InvalidInputError,
) -> InvalidInputError:
    """Build the error for an option that does not exist, naming the nearest one that does.

    Examples
    --------
    >>> print(unknown_option("decompose", "method", "isotonik", ["bins", "isotonic", "unique"]))
    decompose: `method` must be one of 'bins', 'isotonic', 'unique'; got 'isotonik'.
    Hint: did you mean 'isotonic'?
    """
    import difflib

    options = list(valid)
    lower = {option.lower(): option for option in reversed(options)}
    near = difflib.get_close_matches(str(value).lower(), lower, n=1, cutoff=0.4)
    hint = "there is none."
    if options:
        hint = f"did you mean {lower[near[0]]!r}?" if near else f"choose {options[0]!r} if unsure."
    listed = ", ".join(repr(option) for option in options)
    return invalid(caller, param, f"one of {listed}", repr(value), hint=hint, kind=kind)


def warn_of(notes: Iterable[str], *, caller: str = "") -> None:
    """Warn of doubts and of what was assumed, at the line of the user outside this library.

    Without a `caller`, notes are whole sentences that name who has them, as those of maps do.
    """
    for note in notes:
        text = f"{caller}: {note}." if caller else note
        level, frame = 1, sys._getframe()
        while frame is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
            level, frame = level + 1, frame.f_back  # type: ignore[assignment]
        warnings.warn(text, VeridicalWarning, stacklevel=level)


_OWN = __name__.partition(".")[0] + "."
