"""Errors in the words of the command line: options instead of arguments, and what to do."""

from __future__ import annotations

import errno
import re
import shlex
import shutil
import sys

from veridical._core.runtime.text import fitted, printable
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
    "folder": "--output",
    "n_jobs": "--jobs",
    "data": "--data",
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
_COMMANDS = {
    "calibration_tests": "test",
    "check_requirements": "check",
    "equivalence_test": "check",
    "run_experiment": "experiment",
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
    if sys.stderr.isatty():
        print(fitted(line, text_width()), file=sys.stderr)
    else:
        print(printable(line), file=sys.stderr)


def explain(error: VeridicalError | OSError) -> str:
    """Return one line for standard error.

    Examples
    --------
    >>> from veridical.exceptions import invalid
    >>> error = invalid("evaluate", "sample_weight", "numeric", "'x'", hint="see `n_bins=5`.")
    >>> explain(error)
    "veridical: error: evaluate: `--weight` must be numeric; got 'x'. Hint: see --n-bins 5."
    """
    if isinstance(error, InvalidInputError) and error.caller:
        command, about = _command(error.caller), str(error).partition(error.hint)[2].splitlines()
        words = [_sentence(error), "Hint:", _hint(error, command), *filter(None, about)]
        return f"veridical: error: {command}: {' '.join(words)}"
    if isinstance(error, VeridicalError):
        caller, colon, rest = str(error).partition(": ")
        return f"veridical: error: {_command(caller)}{colon}{in_options(rest)}"
    what = error.strerror or str(error)
    where = "" if error.filename is None else f": {error.filename!r}"
    to_do = _TO_DO.get(error.errno or 0)
    return f"veridical: error: {what}{where}." + ("" if to_do is None else f" Hint: {to_do}.")


def _command(caller: str) -> str:
    """The command that calls a function."""
    return "calibrate" if caller.endswith("Calibrator") else _COMMANDS.get(caller, caller)


def _sentence(error: InvalidInputError) -> str:
    option = _OPTIONS.get(error.param, error.param)
    return f"`{option}` must be {in_options(error.expected)}; got {in_options(error.got)}."


def _hint(error: InvalidInputError, command: str) -> str:
    """One action that helps somebody who has options and a file, not arguments and a frame."""
    about_prob = _OPTIONS.get(error.param) == "--prob"
    if about_prob and error.expected == "numeric" and "%'" in error.got:
        return "write 50 % as 0.5."
    logits = "logit" in error.hint and "percentages?" not in error.hint
    if command == "calibrate" and error.expected == "in [0, 1]" and logits:
        return "say --input logit if --prob holds logits."
    if command == "calibrate":
        return in_options(error.hint.replace("divide by 100", "say --scale percent"))
    return in_options(error.hint)


def in_options(text: str) -> str:
    """A text in one line, in which arguments are named as options.

    Examples
    --------
    >>> in_options("pass y='label' or prob=['p_a', 'p b']")
    "pass --y label or --prob 'p_a,p b'"
    >>> in_options("pass pos_label='bad' (`--pos-label bad`)")
    'pass `--pos-label bad`'
    """
    text = _BOTH.sub(r"`\1`", " ".join(text.splitlines()))
    text = _GIVEN.sub(_as_option, text)
    text = _NAMED.sub(lambda found: f"`{_OPTIONS.get(found[1], found[1])}`", text)
    text = text.replace(" of y_prob", " of --prob")
    return text.replace(", or read it yourself and pass the frame", "")


def _as_option(found: re.Match[str]) -> str:
    """``lens='canonical'`` as ``--lens canonical``."""
    name, value = found[1], found[2]
    if name not in _OPTIONS or _OPTIONS[name] == "FILE":
        return found[0]
    if value in _LENSES:
        return f"{_OPTIONS[name]} {_LENSES[value]}"
    if value == "True":
        return _OPTIONS[name]
    bare = ",".join(each.strip().strip("'\"") for each in value.strip("[]").split(", "))
    return f"{_OPTIONS[name]} {shlex.quote(bare)}"
