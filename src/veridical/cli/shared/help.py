"""Texts of help, reflowed to the width of the terminal."""

from __future__ import annotations

import re
import textwrap

_COMMAND = "veridical "
_BEFORE_OPTIONS = re.compile(r" (?=-{1,2}[a-z]|> )")
_TERM = re.compile(r" +\S+(?: \S+)* {2,}(?=\S)")


def fill_help(text: str, width: int) -> str:
    r"""Fit a text to a width: paragraphs are filled, terms keep their column, commands their form.

    A line that is indented further than the one before goes on with it.

    Examples
    --------
    >>> print(fill_help("exit codes:\n  0  done\n  1  not all of it\n     was done", 40))
    exit codes:
      0  done
      1  not all of it was done
    >>> print(fill_help("examples:\n  veridical evaluate predictions.csv --y label", 39))
    examples:
      veridical evaluate predictions.csv \
          --y label
    """
    filled: list[str] = []
    for block in _blocks(text.splitlines()):
        filled += _filled(block, width)
    return "\n".join(filled)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _blocks(lines: list[str]) -> list[list[str]]:
    """Lines that belong together: a paragraph, or a term with what follows it further in."""
    blocks: list[list[str]] = []
    for line in lines:
        before = blocks[-1] if blocks else []
        if not line.strip() or not before or not before[0].strip():
            goes_on = False
        elif _indent(line) == 0:
            goes_on = _indent(before[0]) == 0 and not before[-1].endswith(":")
        else:
            goes_on = _indent(line) > _indent(before[0]) > 0
        if goes_on:
            before.append(line)
        else:
            blocks.append([line])
    return blocks


def _filled(block: list[str], width: int) -> list[str]:
    first, *rest = block
    bare = first.strip()
    if bare.startswith(_COMMAND):
        return block if max(map(len, block)) <= width else _command(first, rest, width)
    hanging = _indent(rest[0]) if rest and _indent(first) else _indent(first)
    term = _TERM.match(first)
    if term is not None and not rest:
        hanging = len(term[0])
    joined = " ".join([first.rstrip(), *(line.strip() for line in rest)])
    lines = textwrap.wrap(
        joined,
        width,
        subsequent_indent=" " * hanging,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return lines or [""]


def _command(first: str, rest: list[str], width: int) -> list[str]:
    """A command in several lines, each of which the next one continues."""
    indent = _indent(first)
    words = " ".join(line.strip().removesuffix("\\").strip() for line in (first, *rest))
    lines: list[str] = []
    for part in _BEFORE_OPTIONS.split(words):
        if lines and len(lines[-1]) + len(part) + len("  \\") <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(" " * (indent + 4 if lines else indent) + part)
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def first_example(text: str, width: int) -> str:
    """The first command of a text, with the lines that go on with it."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.strip().startswith(_COMMAND)), None)
    if start is None:
        return ""
    end = start + 1
    while lines[end - 1].endswith("\\"):
        end += 1
    return "\n".join(_command(lines[start].strip(), lines[start + 1 : end], width))
