"""Reliability diagrams: one or several models, before and after with the map, class by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from veridical._core.drawing.look import series_class
from veridical._core.drawing.picture import Anchor, Panel, Picture, draw_key, key_height, room_left
from veridical._core.drawing.scales import Scale
from veridical._core.drawing.words import BOLD, LINE, SIZE, count_text, cut, wrap
from veridical._core.typing import FloatArray
from veridical.results.curves import ReliabilityDisplay

_SIDE = 420  # pixels of a square at most
_HISTOGRAM = 58
_SMALL = 128  # of one of many
_RIGHT = 12
_BETWEEN = 36  # a diagram and its histogram


def reliability(
    displays: ReliabilityDisplay | Mapping[str, ReliabilityDisplay],
    *,
    width: float = 460,
    classes: Sequence[str] | None = None,
    histogram: bool = True,
    title: str = "Reliability diagram",
    description: str = "",
) -> Picture:
    """Observed share against prediction, with limits, the diagonal and a histogram.

    Parameters
    ----------
    displays : ReliabilityDisplay or mapping of name to ReliabilityDisplay
        One diagram, or several on the axes of the first (see `curves.display.shared_axes`).
    width : float, default 460
        Pixels.
    classes : sequence of str, optional
        Look of each: "before", "after", or "s0" to "s6"; default blue, or one hue a model.
    histogram : bool, default True
        Draw how predictions are spread below.
    title, description : str
        For those who do not see it.
    """
    every = _named(displays)
    looks = _looks(every, classes)
    first = next(iter(every.values()))
    scale = _scale(first)
    names = list(every)
    key = key_height(names, width) if len(every) > 1 else 0.0
    head = LINE * len(wrap(first.happens, width - 4)) + 12
    rows = _rows(every)
    left = max(room_left(scale, 300), room_left(rows, _HISTOGRAM, most=3), 34.0)
    side = min(width - left - _RIGHT, _SIDE)
    foot = LINE * (1 + len(wrap(first.says, width - left))) + 14
    below = _HISTOGRAM + _BETWEEN if histogram else 0
    picture = Picture(width, key + head + side + below + foot, title, description)
    if len(every) > 1:
        draw_key(picture, names, looks, 0.0, dots=any(each.binned for each in every.values()))
    panel = Panel(picture, left, key + head, side, side, scale, scale)
    panel.axis_left(first.happens)
    _curves(panel, every, looks)
    if histogram:
        panel.axis_below(labels=False)
        _histogram(picture, panel, every, looks).axis_below(first.says)
    else:
        panel.axis_below(first.says)
    return picture


def before_after(
    before: ReliabilityDisplay,
    after: ReliabilityDisplay,
    *,
    map_x: FloatArray | None = None,
    map_y: FloatArray | None = None,
    width: float = 640,
    title: str = "Before and after recalibration",
    description: str = "",
) -> Picture:
    """Diagrams before and after in one panel, and beside it the map from one to the other.

    Parameters
    ----------
    before, after : ReliabilityDisplay
        On one axis (see `curves.display.shared_axes`).
    map_x, map_y : arrays, optional
        Predictions, and what the map makes of them.
    width : float, default 640
        Pixels; panels stand below each other where it is less than 520.
    """
    scale = _scale(before)
    mapped = map_x is not None and map_y is not None
    beside = mapped and width >= 520
    left = max(room_left(scale, 260), 34.0)
    part = (width - 28) / 2 if beside else width
    side = min(part - left - _RIGHT, 340.0)
    names, looks = ["before", "after"], ["before", "after"]
    room = part - 4
    heads = [wrap(before.happens, room), wrap("probability after the map", room)]
    head = LINE * max(len(each) for each in heads) + 12
    feet = [wrap(before.says, part - left), wrap("probability before the map", part - left)]
    foot = LINE * (1 + max(len(each) for each in feet)) + 16
    key = key_height(names, width)
    one = head + side + foot
    picture = Picture(width, key + one * (2 if mapped and not beside else 1), title, description)
    draw_key(picture, names, looks, 0.0, dots=True)
    panel = _small_panel(picture, (0.0, key), (left, head, side), scale, heads[0], feet[0])
    _curves(panel, {"before": before, "after": after}, looks)
    panel.axis_below()
    if mapped:
        corner = (part + 28, key) if beside else (0.0, key + one)
        panel = _small_panel(picture, corner, (left, head, side), scale, heads[1], feet[1])
        _diagonal(panel)
        with panel.clipped(), picture.group("after"):
            panel.line(map_x, map_y)
        panel.axis_below()
    return picture


def classwise(
    displays: Mapping[str, ReliabilityDisplay],
    *,
    width: float = 640,
    title: str = "Reliability by class",
    description: str = "",
) -> Picture:
    """Small diagrams beside each other, one a class or group, each on its own axes.

    Parameters
    ----------
    displays : mapping of name to ReliabilityDisplay
        In the order to be shown.
    width : float, default 640
        Pixels; as many diagrams a row as fit.
    """
    every = _named(displays)
    left = max(max(room_left(_scale(each), _SMALL, most=4) for each in every.values()), 30.0)
    gap, head, foot = 14.0, LINE + 8, LINE + 16
    columns = max(1, int((width + gap) // (_SMALL + left + gap)))
    side = min((width - gap * (columns - 1)) / columns - left, 190.0)
    rows = -(-len(every) // columns)
    high = head + side + foot + 8
    first = next(iter(every.values()))
    words = [*wrap(f"across: {_general(first.says)}; upwards: {_general(first.happens)}", width)]
    top = LINE * len(words) + 6
    picture = Picture(width, top + rows * high, title, description)
    picture.lines(0, LINE - 4, words, "muted")
    for i, (name, each) in enumerate(every.items()):
        at = (left + gap + side) * (i % columns), top + high * (i // columns)
        scale = _scale(each)
        panel = Panel(picture, at[0] + left, at[1] + head, side, side, scale, scale)
        picture.text(at[0], at[1] + LINE - 3, cut(name, left + side, SIZE * BOLD), "strong")
        panel.axis_left(most=4)
        _curves(panel, {name: each}, ["after"], hints=False, small=True)
        panel.axis_below(most=4)
    return picture


def small_reliability(display: ReliabilityDisplay, name: str) -> Picture:
    """One of many small diagrams, 162 pixels wide, with its name; they flow on a page."""
    scale = _scale(display)
    left, head = max(room_left(scale, 110, most=3), 30.0), LINE + 10.0
    side = 156 - left
    title = f"Reliability of {name}"
    picture = Picture(left + side + 6, head + side + LINE + 12, title, tips=False)
    panel = Panel(picture, left, head, side, side, scale, scale)
    picture.text(0, LINE - 3, cut(name, left + side, SIZE * BOLD), "strong")
    panel.axis_left(most=3)
    _curves(panel, {name: display}, ["after"], hints=False, small=True)
    panel.axis_below(most=3)
    return picture


def _general(words: str) -> str:
    """Words of an axis without the class, which stands above each of many panels."""
    return words.partition(" of ")[0]


def _small_panel(
    picture: Picture,
    corner: tuple[float, float],
    sizes: tuple[float, float, float],
    scale: Scale,
    above: list[str],
    below: list[str],
) -> Panel:
    """One of two panels, with its words."""
    left, head, side = sizes
    panel = Panel(picture, corner[0] + left, corner[1] + head, side, side, scale, scale)
    picture.lines(corner[0], panel.top - 14 - LINE * (len(above) - 1), above, "muted")
    picture.lines(panel.left, panel.top + side + 2 * LINE + 6, below, "muted")
    panel.axis_left()
    return panel


def _named(displays: object) -> dict[str, ReliabilityDisplay]:
    if isinstance(displays, ReliabilityDisplay):
        return {"": displays}
    assert isinstance(displays, Mapping)
    return {str(name): each for name, each in displays.items()}


def _looks(every: Mapping[str, ReliabilityDisplay], classes: Sequence[str] | None) -> list[str]:
    if classes is not None:
        return list(classes)
    return ["after"] if len(every) == 1 else [series_class(i) for i in range(len(every))]


def _scale(display: ReliabilityDisplay) -> Scale:
    return Scale(display.low, display.high, "logit" if display.axis == "logit" else "linear")


def _diagonal(panel: Panel) -> None:
    ends = [panel.x.low, panel.x.high]
    panel.line(ends, ends, "reference")


def _curves(
    panel: Panel,
    every: Mapping[str, ReliabilityDisplay],
    looks: Sequence[str],
    *,
    hints: bool = True,
    small: bool = False,
) -> None:
    picture = panel.picture
    _diagonal(panel)
    if hints:
        _hints(panel, every)
    with panel.clipped():
        for each, look in zip(every.values(), looks, strict=True):
            with picture.group(look):
                if len(each.band_x):
                    panel.band(each.band_x, each.band_low, each.band_high)
                panel.line(each.line_x, each.line_y, "line thin" if each.binned else "line")
    for shape, ((name, each), look) in enumerate(zip(every.items(), looks, strict=True)):
        with picture.group(look):
            _points(panel, each, name if len(every) > 1 else "", shape, small=small)


def _points(
    panel: Panel, display: ReliabilityDisplay, name: str, shape: int, *, small: bool
) -> None:
    """Points of bins with their limits; of other curves places to point at."""
    curve = display.curve
    most = float(curve.count.max())
    step = 1 if display.binned else max(1, len(curve) // 25)
    for i in range(0, len(curve), step):
        x, y = float(curve.predicted[i]), float(curve.observed[i])
        limits = ""
        if curve.low is not None and curve.high is not None:
            low, high = float(curve.low[i]), float(curve.high[i])
            limits = f"\n{100 * (curve.confidence_level or 0):g} % limits {low:.3g} to {high:.3g}"
            if display.binned and panel.x.low <= x <= panel.x.high:
                panel.whisker(x, low, high)
        tip = (
            f"{name}\n" if name else ""
        ) + f"said {x:.3g}, happened {y:.3g}\n{count_text(curve.count[i])} rows{limits}"
        if display.binned:
            # The area of a point grows with its rows, between what can be seen and touched.
            radius = (2.2, 3.6) if small else (3.2, 7.0)
            grown = radius[0] + (radius[1] - radius[0]) * float(np.sqrt(curve.count[i] / most))
            panel.dot(x, y, grown, shape, tip=tip)
        else:
            a, b = float(panel.across(x)), float(panel.down(y))
            if panel.top <= b <= panel.top + panel.height:
                panel.picture.add("circle", "touch", tip=tip, cx=a, cy=b, r=12.0)


def _hints(panel: Panel, every: Mapping[str, ReliabilityDisplay]) -> None:
    """Which side of the diagonal means what, in the corners no curve is in."""
    right, bottom = panel.left + panel.width, panel.top + panel.height
    corners: tuple[tuple[str, float, float, Anchor], ...] = (
        ("happens more often than said", panel.left + 8, panel.top + LINE, "start"),
        ("happens less often than said", right - 8, bottom - 8, "end"),
    )
    for words, x, y, anchor in corners:
        room = 0.62 * panel.width
        lines = wrap(words, room)
        height = LINE * len(lines)
        top = y - LINE if anchor == "start" else y - height
        left = x - 8 if anchor == "start" else x - room - 4
        taken = False
        for each in every.values():
            a, b = panel.across(each.line_x), panel.down(each.line_y)
            near = (a > left) & (a < left + room + 12) & (b > top - 10) & (b < top + height + 10)
            taken |= bool(near.any())
        if taken:
            continue
        for i, line in enumerate(lines):
            place = y + i * LINE if anchor == "start" else y - LINE * (len(lines) - 1 - i)
            panel.picture.text(x, place, line, "muted", anchor=anchor)


def _rows(every: Mapping[str, ReliabilityDisplay]) -> Scale:
    """Scale of a histogram."""
    most = max(float(each.bar_counts.max()) for each in every.values())
    return Scale(0.0, 1.04 * most or 1.0)


def _histogram(
    picture: Picture,
    panel: Panel,
    every: Mapping[str, ReliabilityDisplay],
    looks: Sequence[str],
) -> Panel:
    top = panel.top + panel.height + _BETWEEN - 2
    below = Panel(picture, panel.left, top, panel.width, _HISTOGRAM, panel.x, _rows(every))
    picture.text(0, top - 12, "rows", "muted")
    below.axis_left(most=3)
    for each, look in zip(every.values(), looks, strict=True):
        edges, counts = each.bar_edges, each.bar_counts
        with picture.group(look):
            if len(every) > 1:
                outline = np.repeat(edges, 2)
                heights = np.concatenate([[0.0], np.repeat(counts, 2), [0.0]])
                with below.clipped():
                    below.line(outline, heights, "line thin")
                continue
            for i in np.flatnonzero(counts > 0):
                tip = f"{edges[i]:.3g} to {edges[i + 1]:.3g}\n{count_text(counts[i])} rows"
                below.bar(float(edges[i]), float(edges[i + 1]), 0.0, float(counts[i]), tip=tip)
    return below
