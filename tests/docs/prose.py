"""Figures in the sentences of Markdown pages: numbers with a unit or a percent sign.

A figure in a sentence goes out of date without a test that fails. Blocks that run, parts that a
script writes between markers, and numbers inserted from a table are therefore left out here; what
remains was typed by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
_WORD = (
    r"(?:(?i:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty)"
    r"|(?i:(?:a|one) (?:hundred|thousand)|half an?))"
)
_RANGE = r"(?: to |\u2013|-| and | or )"
# Units whose number may also be a word: "about ten seconds".
_TIME_OR_SIZE = (
    r"(?:milli|micro)?seconds?|minutes?|hours?|(?:kilo|mega|giga)?bytes?|characters"
    r"|per ?cent|percentage points?"
)
_UNIT = (
    rf"%|{_TIME_OR_SIZE}|s|ms|µs|us|h|[kKMG]i?B|M rows"
    r"|lines|times|\u00d7|x(?! ?\d)|nats?|points|draws"
)
_FIGURE = re.compile(
    rf"(?<![\w.,-]){_NUMBER}(?:{_RANGE}{_NUMBER})?\s?(?:{_UNIT})(?![\w-])"
    rf"|(?<![\w-]){_WORD}(?:{_RANGE}{_WORD})?\s(?:{_TIME_OR_SIZE}"
    r"|times(?= (?:as|the|more|less|faster|slower|larger|smaller)\b))(?![\w-])"
)
# Levels that a reader chooses or that define a word; none of them was measured.
_SETTINGS = re.compile(
    r"(?<![\d.,])(?:"
    r"(?:80|90|95|97\.5|99|99\.9)\s?%\s"
    r"(?:CI|confidence|power|intervals?|limits?|quantiles?|bands?)"
    r"|(?:1|2\.5|5|10)\s?%\slevel"
    r"|1\s?%\sof\slog\sloss"
    r")\b"
    r"|\blevel\sof\s(?:1|2\.5|5|10)\s?%"
)
_LEFT_OUT = (
    re.compile(r"^(?P<indent> *)```[^\n]*\n.*?^(?P=indent)```[ ]*$", re.DOTALL | re.MULTILINE),
    re.compile(r"<!-- figure: [^>]*-->[^<]*<!-- /figure -->"),
    re.compile(r"`[^`]*`"),
    re.compile(r"\]\([^)\s]*\)"),
    _SETTINGS,
    re.compile(r"<!--.*?-->", re.DOTALL),
)


@dataclass(frozen=True)
class Figure:
    """A figure typed by hand, and its line."""

    line: int
    text: str


def typed_figures(page: str, written: tuple[str, ...] = ()) -> list[Figure]:
    """Figures of a page outside blocks, code, settings and the parts `written` by a script."""
    for name in written:
        start, end = re.escape(f"<!-- {name}"), re.escape(name)
        part = rf"{start}(?:: begin|: start)? -->\n.*?<!-- (?:end of {end}|{end}: end) -->"
        page = re.sub(part, _blank, page, flags=re.DOTALL)
    for pattern in _LEFT_OUT:
        page = pattern.sub(_blank, page)
    return [
        Figure(page.count("\n", 0, match.start()) + 1, " ".join(match[0].split()))
        for match in _FIGURE.finditer(page)
    ]


def _blank(match: re.Match[str]) -> str:
    """Put a sign for each character that is left out, so that lines keep their numbers."""
    return re.sub(r"[^\n]", "_", match[0])
