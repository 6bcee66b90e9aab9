"""Errors in the words of the command line: options instead of arguments, and what to do."""

from __future__ import annotations

import errno
import re
import shlex
import shutil
import sys
from collections.abc import Mapping

from veridical._core.runtime.text import fitted, printable, without_password
from veridical.exceptions import InvalidInputError, VeridicalError

_OPTIONS = {
    "source": "FILE",
    "y": "--y",
    "y_true": "--y",
    "prob": "--prob",
    "y_prob": "--prob",
    "sample_weight": "--weight",
    "rng": "--seed",
    "requirements": "--require",
    "against_prob": "--against-column",
    "output": "--output",
    "columns": "--column",
    "folder": "--output",
    "n_jobs": "--jobs",
    "n_classes": "--classes",
    **{
        name: "--" + name.replace("_", "-")
        for name in (
            "labels",
            "pos_label",
            "lens",
            "n_bins",
            "by",
            "by_bins",
            "scale",
            "missing",
            "confidence_level",
            "n_resamples",
            "level",
            "tests",
            "against",
            "method",
            "strategy",
            "max_seconds",
            "folds",
            "input",
            "prefix",
            "costs",
            "require",
            "normalize",
        )
    },
}
_NAMED = re.compile(r"`(\w+)`")
_GIVEN = re.compile(r"`?\b(\w+)=('[^']*'|\"[^\"]*\"|\[[^]]*\]|[\w.]+)(\(\w*\))?`?")
# An argument that is followed by the option of the same meaning.
_BOTH = re.compile(r"\w+=(?:'[^']*'|\"[^\"]*\"|[^\s(]+) \(`(--[^`]+)`\)")
_LENSES = {"ClassSpecific": "class:LABEL", "TopK": "top:K", "Grouped": "'groups:A+B|C'"}
_TO_DO = {
    errno.ENOENT: "create the folder first, or write somewhere else",
    errno.ENOTDIR: "a part of the path is a file; write somewhere else",
    errno.EISDIR: "name a file in it",
    errno.EACCES: "you may not write there; write somewhere else",
    errno.EPERM: "you may not write there; write somewhere else",
    errno.EROFS: "nothing can be written there; write somewhere else",
    errno.ENOSPC: "the disk is full; make room, or write somewhere else",
}


_WIDEST = 120  # longer lines are hard to read
_NARROWEST = 60


def text_width() -> int:
    """Characters of a line: what the terminal, or COLUMNS, has; 80 where there is neither."""
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))


def say(line: str) -> None:
    """Say something on standard error: in one line, or on a terminal in lines that fit it."""
    line = without_password(line)
    if sys.stderr.isatty():
        print(fitted(line, text_width()), file=sys.stderr)
    else:
        print(printable(line), file=sys.stderr)


def explain(
    error: VeridicalError | OSError, command: str = "", own: Mapping[str, str] | None = None
) -> str:
    """Return one line for standard error.

    Parameters
    ----------
    error : what went wrong
    command : in words; default: the name of the function that refused
    own : options of the command by the argument that each stands for

    Examples
    --------
    >>> from veridical.exceptions import invalid
    >>> error = invalid("evaluate", "sample_weight", "numeric", "'x'", hint="see `n_bins=5`.")
    >>> explain(error)
    "veridical: error: evaluate: `--weight` must be numeric; got 'x'. Hint: see --n-bins 5."
    """
    if isinstance(error, InvalidInputError) and error.caller:
        command = command or error.caller
        about = str(error).partition(error.hint)[2].splitlines()
        words = [_sentence(error, own), "Hint:", _hint(error, command, own), *filter(None, about)]
        return f"veridical: error: {command}: {' '.join(words)}"
    if isinstance(error, VeridicalError):
        caller, colon, rest = str(error).partition(": ")
        return f"veridical: error: {command or caller}{colon}{in_options(rest, own)}"
    what = error.strerror or str(error)
    where = "" if error.filename is None else f": {error.filename!r}"
    to_do = _TO_DO.get(error.errno or 0)
    return f"veridical: error: {what}{where}." + ("" if to_do is None else f" Hint: {to_do}.")


def _sentence(error: InvalidInputError, own: Mapping[str, str] | None) -> str:
    option = (_OPTIONS | dict(own or {})).get(error.param, error.param)
    expected, got = in_options(error.expected, own), in_options(error.got, own)
    return f"`{option}` must be {expected}; got {got}."


def _hint(error: InvalidInputError, command: str, own: Mapping[str, str] | None) -> str:
    """One action that helps somebody who has options and a file, not arguments and a frame."""
    about_prob = _OPTIONS.get(error.param) == "--prob"
    if about_prob and error.expected == "numeric" and "%'" in error.got:
        return "write 50 % as 0.5."
    logits = "logit" in error.hint and "percentages?" not in error.hint
    if command == "calibrate" and error.expected == "in [0, 1]" and logits:
        return "say --input logit if --prob holds logits."
    if command == "calibrate":
        return in_options(error.hint.replace("divide by 100", "say --scale percent"), own)
    return in_options(error.hint, own)


def in_options(text: str, own: Mapping[str, str] | None = None) -> str:
    """A text in one line, in which arguments are named as options: all know, and `own` ones.

    Examples
    --------
    >>> in_options("pass y='label' or prob=['p_a', 'p b']")
    "pass --y label or --prob 'p_a,p b'"
    >>> in_options("pass pos_label='bad' (`--pos-label bad`)")
    'pass `--pos-label bad`'
    """
    options = _OPTIONS | dict(own or {})
    text = _BOTH.sub(r"`\1`", " ".join(text.splitlines()))
    text = _GIVEN.sub(lambda found: _as_option(found, options), text)
    text = _NAMED.sub(lambda found: f"`{options.get(found[1], found[1])}`", text)
    text = text.replace(" of y_prob", " of --prob")
    return text.replace(", or read it yourself and pass the frame", "")


def _as_option(found: re.Match[str], options: Mapping[str, str]) -> str:
    """``lens='canonical'`` as ``--lens canonical``."""
    name, value = found[1], found[2]
    if not options.get(name, "").startswith("--"):
        return found[0]
    if value in _LENSES:
        return f"{options[name]} {_LENSES[value]}"
    if value == "True":
        return options[name]
    bare = ",".join(each.strip().strip("'\"") for each in value.strip("[]").split(", "))
    return f"{options[name]} {shlex.quote(bare)}"
