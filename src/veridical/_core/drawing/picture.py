"""A picture: marks and measured words on a ground of a fixed size, written as SVG text.

Every word is escaped; nothing of a picture has an id, so that any number of them can be on a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Literal

import numpy as np

from veridical._core.drawing.look import picture_style
from veridical._core.drawing.scales import Scale
from veridical._core.drawing.words import LINE, SIZE, cut, widest, width_of, wrap
from veridical._core.typing import BoolArray, FloatArray, IntArray

Anchor = Literal["start", "middle", "end"]
Box = tuple[float, float, float, float]  # left, top, right, bottom


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@dataclass
class Picture:
    """Marks in the order they are drawn.

    Attributes
    ----------
    width, height : pixels at which words have their size
    title, description : what it is and what it shows, for those who do not see it
    tips : whether marks say their numbers where they are pointed at
    """

    width: float
    height: float
    title: str
    description: str = ""
    tips: bool = True
    _parts: list[str] = field(default_factory=list)
    _boxes: list[Box] = field(default_factory=list)

    def add(self, name: str, css: str = "", *, tip: str = "", **attributes: object) -> None:
        """Append one element; `tip` is said where it is pointed at."""
        if not self.tips:
            tip = ""
            if css == "touch":
                return
        values = "".join(
            f' {key.replace("_", "-")}="{escape(_n(v) if isinstance(v, float) else str(v))}"'
            for key, v in attributes.items()
        )
        shown = f' class="{css}"' if css else ""
        inside = f"<title>{escape(tip)}</title></{name}>" if tip else ""
        self._parts.append(f"<{name}{shown}{values}{'>' if tip else '/>'}{inside}")

    @contextmanager
    def group(self, css: str) -> Iterator[None]:
        """Elements of one class."""
        self._parts.append(f'<g class="{css}">')
        yield
        self._parts.append("</g>")

    def text(
        self, x: float, y: float, words: str, css: str = "", *, anchor: Anchor = "start"
    ) -> None:
        """Write words whose line begins, has its middle or ends at x, and stands on y."""
        self._boxes.append(_box(x, y, words, anchor))
        where = "" if anchor == "start" else f' text-anchor="{anchor}"'
        shown = f' class="{css}"' if css else ""
        self._parts.append(f'<text{shown} x="{_n(x)}" y="{_n(y)}"{where}>{escape(words)}</text>')

    def text_where_free(
        self, places: Iterable[tuple[float, float, Anchor]], words: str, css: str = ""
    ) -> bool:
        """Write words at the first place where no others are; say whether there was one."""
        for x, y, anchor in places:
            box = _box(x, y, words, anchor)
            inside = box[0] >= 0 and box[2] <= self.width and box[1] >= 0 and box[3] <= self.height
            if inside and not any(_overlap(box, other) for other in self._boxes):
                self.text(x, y, words, css, anchor=anchor)
                return True
        return False

    def lines(self, x: float, y: float, lines: Sequence[str], css: str = "") -> None:
        """Write lines of words below each other, the first one on y."""
        for i, line in enumerate(lines):
            self.text(x, y + i * LINE, line, css)

    def to_svg(self, *, styled: bool = True, css: str = "") -> str:
        """Return the picture; without its style where the page has `picture_style` already."""
        # A title of its own would be said wherever nothing else is pointed at, on a page.
        named = f"<title>{escape(self.title)}</title>" if styled else ""
        label = "" if styled else f' aria-label="{escape(self.title)}"'
        style = f"<style>{picture_style()}</style>" if styled else ""
        told = f"<desc>{escape(self.description)}</desc>" if self.description else ""
        width, height = _n(self.width), _n(self.height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="vd{f" {css}" if css else ""}"'
            f' role="img"{label} width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
            f"{named}{told}{style}{''.join(self._parts)}</svg>"
        )


def _pieces(known: BoolArray) -> Iterator[IntArray]:
    """Indices of each run of known points."""
    for piece in np.split(np.arange(len(known)), np.flatnonzero(np.diff(known)) + 1):
        if len(piece) and known[piece[0]]:
            yield piece


def _path(across: FloatArray, down: FloatArray) -> str:
    """Corners of a path, without those that cannot be seen: on the way, or where one is already."""
    corners: list[tuple[float, float]] = []
    for a, b in zip(np.round(across, 1).tolist(), np.round(down, 1).tolist(), strict=True):
        if corners and corners[-1] == (a, b):
            continue
        if len(corners) > 1:
            (c, d), (e, f) = corners[-2:]
            if a == e == c or b == f == d:
                corners.pop()
        corners.append((a, b))
    return "L".join(f"{_n(a)} {_n(b)}" for a, b in corners)


def _box(x: float, y: float, words: str, anchor: Anchor) -> Box:
    wide = width_of(words)
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    return (left, y - SIZE, left + wide, y + 4)


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] + 4 and b[0] < a[2] + 4 and a[1] < b[3] and b[1] < a[3]


@dataclass
class Panel:
    """A part of a picture with a scale across and one upwards.

    Attributes
    ----------
    picture : what it is part of
    left, top, width, height : pixels of the inside of its axes
    x, y : scales
    """

    picture: Picture
    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale

    def across(self, values: object) -> FloatArray:
        """Pixels from the left of the picture."""
        return self.left + self.width * np.clip(self.x.place(values), -1e3, 1e3)

    def down(self, values: object) -> FloatArray:
        """Pixels from the top of the picture."""
        return self.top + self.height * (1 - np.clip(self.y.place(values), -1e3, 1e3))

    @contextmanager
    def clipped(self) -> Iterator[None]:
        """Marks of which only what lies inside the axes is seen."""
        edges = (self.left - 1, self.top - 1, self.width + 2, self.height + 2)  # lines on an axis
        x, y, w, h = (_n(v) for v in edges)
        view = f'viewBox="{x} {y} {w} {h}"'
        self.picture._parts.append(f'<svg x="{x}" y="{y}" width="{w}" height="{h}" {view}>')
        yield
        self.picture._parts.append("</svg>")

    def line(self, x: object, y: object, css: str = "line", *, tip: str = "") -> None:
        """Draw a line through points; it breaks where one is not a number."""
        across, down = self.across(x), self.down(y)
        known = np.isfinite(across) & np.isfinite(down)
        path = "".join(f"M{_path(across[at], down[at])}" for at in _pieces(known))
        if path:
            self.picture.add("path", css, tip=tip, d=path)

    def band(self, x: object, low: object, high: object, css: str = "band") -> None:
        """Fill between two lines; it breaks where a limit is not a number."""
        across, lower, upper = self.across(x), self.down(low), self.down(high)
        known = np.isfinite(lower) & np.isfinite(upper) & np.isfinite(across)
        for at in _pieces(known):
            there, back = _path(across[at], upper[at]), _path(across[at][::-1], lower[at][::-1])
            self.picture.add("path", css, d=f"M{there}L{back}Z")

    def bar(
        self, low: float, high: float, bottom: float, top: float, css: str = "bar", *, tip: str = ""
    ) -> None:
        """Fill a rectangle."""
        a, b = (float(v) for v in self.across([low, high]))
        c, d = (float(v) for v in self.down([top, bottom]))
        gap = 0.5 if b - a > 3 else 0.0
        self.picture.add(
            "rect",
            css,
            tip=tip,
            x=a + gap,
            y=c,
            width=max(b - a - 2 * gap, 0.3),
            height=max(d - c, 0.0),
        )

    def whisker(self, x: float, low: float, high: float, css: str = "whisker") -> None:
        """Draw limits of a point as a line upwards, no further than the axes."""
        a = float(self.across(x))
        b, c = (float(v) for v in np.clip(self.down([low, high]), self.top, self.top + self.height))
        self.picture.add("path", css, d=f"M{_n(a)} {_n(b)}V{_n(c)}")

    def dot(
        self, x: float, y: float, radius: float, shape: int = 0, *, tip: str = "", css: str = "dot"
    ) -> None:
        """Draw a point and a larger place to point at; beyond the axes it is put on their edge."""
        a = float(np.clip(self.across(x), self.left, self.left + self.width))
        b = float(np.clip(self.down(y), self.top, self.top + self.height))
        symbol(self.picture, a, b, radius, shape, css=css)
        if tip:
            self.picture.add("circle", "touch", tip=tip, cx=a, cy=b, r=max(radius + 4.0, 12.0))

    def axis_below(self, title: str = "", *, labels: bool = True, most: int = 8) -> float:
        """Draw the axis across and return the pixel below its words."""
        bottom = self.top + self.height
        edge = self.left + self.width
        self.picture.add("path", "axis", d=f"M{_n(self.left)} {_n(bottom)}H{_n(edge)}")
        if not labels:
            return bottom
        beyond = (self.left, self.picture.width - edge)
        for value, words in self.x.ticks(self.width, most=most, beyond=beyond):
            at = float(self.across(value))
            self.picture.add("path", "axis", d=f"M{_n(at)} {_n(bottom)}v4")
            # The number at an end stays within the picture.
            half = width_of(words) / 2
            at = min(max(at, half), self.picture.width - half)
            self.picture.text(at, bottom + LINE + 3, words, anchor="middle")
        below = bottom + LINE + 8
        if title:
            lines = wrap(title, self.picture.width - self.left)
            self.picture.lines(self.left, below + LINE - 2, lines, "muted")
            below += LINE * len(lines)
        return below

    def axis_left(
        self, title: str = "", *, most: int = 7, grid: bool = True, labels: bool = True
    ) -> None:
        """Draw the numbers of the axis upwards, lines across at them, and its title above."""
        for value, words in self.y.ticks(self.height, across=False, most=most):
            at = float(self.down(value))
            if grid:
                self.picture.add("path", "grid", d=f"M{_n(self.left)} {_n(at)}h{_n(self.width)}")
            if labels:
                self.picture.text(self.left - 9, at + 4.5, words, anchor="end")
        if title:
            lines = wrap(title, self.picture.width - 4)
            self.picture.lines(0, self.top - 14 - LINE * (len(lines) - 1), lines, "muted")


def symbol(
    picture: Picture, x: float, y: float, radius: float, shape: int, *, css: str = "dot"
) -> None:
    """Draw a mark that tells series apart without colour: circle, square, diamond, triangle."""
    r = radius
    kind = shape % 4
    if kind == 0:
        picture.add("circle", css, cx=x, cy=y, r=r)
    elif kind == 1:
        picture.add("rect", css, x=x - 0.9 * r, y=y - 0.9 * r, width=1.8 * r, height=1.8 * r)
    else:
        corners = [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)]
        if kind == 3:
            corners = [(0, -1.2), (1.15, 0.9), (-1.15, 0.9)]
        path = "L".join(f"{_n(x + a * r)} {_n(y + b * r)}" for a, b in corners)
        picture.add("path", css, d=f"M{path}Z")


def room_left(scale: Scale, height: float, *, most: int = 7) -> float:
    """Pixels the numbers of an axis upwards need."""
    return widest([words for _, words in scale.ticks(height, across=False, most=most)]) + 11


def key_rows(names: Sequence[str], width: float) -> list[list[tuple[int, str, float]]]:
    """Rows of a key: index, words and pixel of each name, as many a row as fit."""
    rows: list[list[tuple[int, str, float]]] = [[]]
    at = 0.0
    for i, name in enumerate(names):
        words = cut(name, width - 40)
        need = 26 + width_of(words) + 18
        if rows[-1] and at + need > width:
            rows.append([])
            at = 0.0
        rows[-1].append((i, words, at))
        at += need
    return rows


def draw_key(
    picture: Picture,
    names: Sequence[str],
    classes: Sequence[str],
    top: float,
    *,
    lines: bool = True,
    dots: bool = False,
) -> float:
    """Draw names beside the look of their series, above a plot; return the pixel below."""
    rows = key_rows(names, picture.width)
    for row in rows:
        top += LINE + 2
        for i, words, at in row:
            with picture.group(classes[i]):
                y = top - 4.5
                if lines:
                    picture.add("path", "line", d=f"M{_n(at)} {_n(y)}h20")
                if dots:
                    symbol(picture, at + 10, y, 4.5, i)
                if not (lines or dots):
                    picture.add("rect", "full", x=at + 6, y=y - 6, width=12.0, height=12.0)
            picture.text(at + 26, top, words)
    return top + 6


def key_height(names: Sequence[str], width: float) -> float:
    """Pixels of a key."""
    return (LINE + 2) * len(key_rows(names, width)) + 6


NARROW = 340  # pixels of the picture of a phone


def responsive(draw: Callable[[float], Picture], *, wide: Literal[460, 640] = 640) -> str:
    """Markup for a page with `picture_style`: the wide picture, or the narrow one on a phone.

    Words keep their size, as neither picture is shrunk by more than a sixteenth.
    """
    first = draw(wide).to_svg(styled=False, css="wide")
    second = draw(NARROW).to_svg(styled=False, css="narrow")
    return f'<div class="vd-fit fit{wide}">{first}{second}</div>'
