"""How wide words are, so that nothing overlaps before a browser has drawn it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

SIZE = 13  # pixels of all words of a picture
LINE = 17  # from one line of words to the next

# Advance widths in hundredths of the size: for each letter the wider of DejaVu Sans 2.37 and
# Liberation Sans 2.1 (as wide as Arial), so that words fit in whichever font a browser has.
_WIDTHS = {
    27: "'",
    28: "ijl",
    29: "I",
    32: " ,.",
    34: "/:;\\|",
    35: "f",
    36: "-",
    39: "()[]t",
    40: "!",
    41: "r",
    46: '"',
    50: "*J`",
    52: "sz",
    55: "c",
    56: "?L_",
    58: "k",
    59: "vxy",
    61: "FTao",
    62: "e",
    63: "bdghnpqu",
    64: "$0123456789{}",
    67: "EKPSY",
    68: "AV",
    69: "BXZ",
    72: "CR",
    73: "U",
    75: "HN",
    77: "D",
    78: "&G",
    79: "OQ",
    82: "w",
    84: "#+<=>^~\N{MINUS SIGN}",
    86: "M",
    95: "%",
    97: "m",
    99: "W",
    102: "@…",
}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_OTHER, _WIDE = 70, 105  # letters beyond ASCII, and those of East Asia


def width_of(words: str, size: float = SIZE) -> float:
    """Pixels that words take at most.

    Examples
    --------
    >>> width_of("0.5", 100)  # 64 + 32 + 64
    160.0
    """
    return sum(_letter(letter) for letter in words) * size / 100


def _letter(letter: str) -> int:
    if (known := _WIDTH.get(letter)) is not None:
        return known
    if unicodedata.combining(letter):
        return 0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER


BOLD = 1.15  # how much wider strong words are, at most


def cut(words: str, room: float, size: float = SIZE) -> str:
    """Words that fit into so many pixels, with an ellipsis where letters were left out.

    Examples
    --------
    >>> short = cut("probability", 60)
    >>> short.startswith("prob"), short[-1], width_of(short) <= 60
    (True, '…', True)
    """
    words = " ".join(words.split())
    if width_of(words, size) <= room:
        return words
    room -= width_of("…", size)
    while words and width_of(words, size) > room:
        words = words[:-1]
    return words.rstrip() + "…"


def wrap(words: str, room: float, size: float = SIZE, *, most: int = 3) -> list[str]:
    """Lines of words that fit into so many pixels, at most so many of them.

    Examples
    --------
    >>> wrap("observed share of bad loans", 100)
    ['observed', 'share of bad', 'loans']
    """
    lines: list[str] = []
    line = ""
    for word in words.split():
        longer = f"{line} {word}".strip()
        if line and width_of(longer, size) > room:
            lines.append(line)
            line = word
        else:
            line = longer
    lines.append(line)
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [cut(each, room, size) for each in lines]


def number_text(value: float) -> str:
    """A number on an axis: as short as it can be said.

    Examples
    --------
    >>> [number_text(v) for v in (0, 0.5, 0.004, 0.9999, 1e-7, 1500, 25000, 2e6)]
    ['0', '0.5', '0.004', '0.9999', '1e-7', '1,500', '25k', '2M']
    """
    size = abs(value)
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= max(unit, 1e4):
            return f"{value / unit:.6g}{name}".replace("-", "\N{MINUS SIGN}")
    if 0 < size < 1e-5:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    if size >= 1e3:
        return f"{value:,.6g}".replace("-", "\N{MINUS SIGN}")
    text = f"{value:.10f}".rstrip("0").rstrip(".")
    return text.replace("-", "\N{MINUS SIGN}") if text != "-0" else "0"


def widest(words: Sequence[str]) -> float:
    """Pixels of the widest of several words; 0 of none."""
    return max((width_of(each) for each in words), default=0.0)


def count_text(count: float) -> str:
    """A number of rows, whole or not.

    Examples
    --------
    >>> count_text(1200.0), count_text(3.25)
    ('1,200', '3.2')
    """
    return f"{round(float(count), 1):,.10g}"


def gap_text(gap: float) -> str:
    r"""A difference of probabilities with its sign, and none where it rounds to nothing.

    Examples
    --------
    >>> gap_text(0.125), gap_text(-0.001)
    ('+0.12', '0.00')
    >>> gap_text(-0.5) == "\N{MINUS SIGN}0.50"
    True
    """
    text = f"{gap:+z.2f}"
    return text[1:] if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")
