"""Words of a diagram: names, sample sizes, errors, and where they go."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from veridical.plots._drawing.axes import is_small, short_name, shorter_side, size_text
from veridical.plots._drawing.frame import UNIT, Frame
from veridical.plots._drawing.series import Series
from veridical.plots._drawing.style import SMALLEST, Style
from veridical.plots._drawing.titled import add_legend_above

_WIDE = 3.2  # inches of axes from which text may be larger
_LONGEST_NAME = 28  # letters of a model's name
_SIDES = 0.95  # inches that ticks and labels take beside axes
_KEY = 2.5  # heights of a letter that line and gaps take before the words of a legend


def error_text(series: Series, *, short: bool = False) -> list[str]:
    """ECE with its interval, and its null level, as far as they are known and not too much."""
    error = series.error
    if error is None:
        return []
    # As many digits as a small error has: of rare events it is a part of a thousand.
    leading = math.floor(math.log10(error.value)) if error.value > 0 else -2
    digits = min(max(3, 1 - leading), 7)
    if short:
        return [f"ECE {error.value:.{digits}f}"]
    limits = "" if error.low is None else f" ({error.low:.{digits}f} to {error.high:.{digits}f})"
    said = [f"ECE {error.value:.{digits}f}{limits}"]
    if error.null_mean is not None:
        said.append(f"{error.null_mean:.{digits}f} if calibrated")
    return said


def line_text(series: Series) -> list[str]:
    """Calibration in the large, and the slope with its interval."""
    said = []
    if series.in_the_large is not None:
        said.append(f"in the large {_signed(series.in_the_large)}")
    slope = series.slope
    if slope is not None and slope.estimate is not None:
        limits = (_unsigned(value) for value in (slope.estimate, slope.low, slope.high))
        said.append("slope {} ({} to {})".format(*limits))
    return said


def draw_legend(
    ax: Axes,
    series: list[Series],
    handles: list[Any],
    truth: Any,
    style: Style,
    *,
    detail: str | None,
    corners: list[str],
    rug: bool = False,
) -> Any:
    """Legend in the first free corner; above small axes, for several models, or if none is free.

    Calibration in the large and slope go to the second free corner, if there is one. Without
    `detail` there is no legend.
    """
    if detail is None:
        return None
    enough = len(corners) >= (2 if detail == "all" else 1)
    inside = len(series) == 1 and enough and not is_small(ax)
    common: dict[str, Any] = {"fontsize": text_size(ax), "edgecolor": "none"}
    common |= {"handlelength": 1.6, "handletextpad": 0.5}
    if inside:
        (one,) = series
        name = short_name(one.name, _LONGEST_NAME)
        name = ", ".join(text for text in (name, size_text(one.curve.n_samples)) if text)
        labels = ["\n".join([name, *(error_text(one) if detail != "size" else [])])]
        common |= {"loc": corners[0], "labelcolor": style.ink}
        common["borderaxespad"] = 1.2 if rug else 0.4  # clear of the ticks at the edges
        common |= {"facecolor": style.ground, "framealpha": 0.8}
        if detail == "all":
            _draw_corner(ax, "\n".join(line_text(one)), style, corners[1], away=10 if rug else 5)
    else:  # on the ground of the figure, whose text colour the figure knows
        sizes = {one.curve.n_samples for one in series}
        alone = is_small(ax) and len(series) == 1
        labels = [_lines_of(ax, one, detail, sized=len(sizes) > 1 or alone) for one in series]
        common |= {"facecolor": "none", "borderpad": 0.2, "alignment": "left"}
        if len(sizes) == 1 and not alone:
            common |= {"title": size_text(sizes.pop()), "title_fontsize": text_size(ax)}
    if truth is not None:
        handles, labels = [*handles, truth], [*labels, "true frequency"]
    make = ax.legend if inside else partial(add_legend_above, ax)
    legend = make(handles, labels, **common)
    legend.set_zorder(6)
    return legend


def _lines_of(ax: Axes, series: Series, detail: str, *, sized: bool) -> str:
    """Words about one of several models: a line or more, and another one for detail "all"."""
    said = [size_text(series.curve.n_samples)] * sized
    said += error_text(series, short=is_small(ax)) if detail != "size" else []
    name = short_name(series.name, _LONGEST_NAME)
    if name:
        said.insert(0, f"{name}:" if said else name)
    more = line_text(series) if detail == "all" else []
    return "\n".join(_wrapped(ax, said or ["observed"]) + _wrapped(ax, more))


def _wrapped(ax: Axes, said: list[str]) -> list[str]:
    """Words joined to as few lines as fit over the axes.

    For wider ones a layout would make room by shrinking the axes.
    """
    font = FontProperties(size=text_size(ax))
    box, figure = ax.get_position(original=True), ax.figure.figure
    inches = box.width * figure.get_figwidth()
    whole = figure.subplotpars.right - figure.subplotpars.left
    room = 72 * max(inches / whole - _SIDES, 0.8 * inches) - _KEY * font.get_size_in_points()
    lines: list[str] = []
    for part in said:
        comma = "" if not lines or lines[-1].endswith(":") else ","
        longer = f"{lines[-1]}{comma} {part}" if lines else part
        width = text_to_path.get_text_width_height_descent(longer, font, ismath=False)[0]
        if lines and width > room:
            lines[-1] += comma
            lines.append(part)
        else:
            lines[-1:] = [longer]
    return lines


def _draw_corner(ax: Axes, text: str, style: Style, corner: str, *, away: float) -> None:
    left = corner == "upper left"
    ax.annotate(
        text,
        (0.0, 1.0) if left else (1.0, 0.0),
        xycoords="axes fraction",
        xytext=(5, -away) if left else (-5, away),
        textcoords="offset points",
        ha="left" if left else "right",
        va="top" if left else "bottom",
        fontsize=text_size(ax),
        color=style.ink,
        zorder=6,
    )


def name_axes(ax: Axes, lowest: Axes, series: list[Series]) -> None:
    """Name both axes, in two lines where one is too long for small ones."""
    small = is_small(ax)
    for label, words in (
        (ax.set_ylabel, series[0].curve.happens),
        (lowest.set_xlabel, x_label(series)),
    ):
        lines = words.replace(" of ", "\nof ", 1).replace(" that ", "\nthat ", 1)
        label(lines if small else words, fontsize=SMALLEST if small else "medium")
    if is_small(ax):
        ax.tick_params(labelsize=SMALLEST)
        lowest.tick_params(labelsize=SMALLEST)


def x_label(series: list[Series]) -> str:
    """Name of the horizontal axis, by what was predicted."""
    return series[0].curve.says


def free_corners(series: list[Series], frame: Frame = UNIT, *, bars: bool) -> list[str]:
    """Corners beside the diagonal of a reliability diagram that no point or limit reaches."""
    taken = {"upper left": False, "lower right": bars}
    for one in series:
        curve = one.curve
        low = curve.observed if curve.low is None else np.minimum(curve.low, curve.observed)
        high = curve.observed if curve.high is None else np.maximum(curve.high, curve.observed)
        place = frame.scale.place
        taken["upper left"] |= bool(np.any((place(curve.lower) < 0.6) & (place(high) > 0.75)))
        taken["lower right"] |= bool(np.any((place(curve.upper) > 0.4) & (place(low) < 0.25)))
    return [corner for corner, full in taken.items() if not full]


def legend_above(ax: Axes, *entries: Any, width: float = 1.8, **look: Any) -> Any:
    """Legend over the axes, where nothing can be drawn; `width` is that of a line in it."""
    handles, labels = entries if entries else ax.get_legend_handles_labels()
    look |= {"frameon": False, "fontsize": text_size(ax), "handlelength": width}
    return add_legend_above(ax, handles, labels, **look)


def corner_text(ax: Any, text: str, style: Style, **look: Any) -> Any:
    """Small text in the upper left corner of axes, which a triangle leaves empty."""
    write = getattr(ax, "text2D", ax.text)  # axes of space have texts in the plane of the picture
    place = {"transform": ax.transAxes, "va": "top", "ha": "left"}
    return write(0.0, 1.0, text, fontsize=SMALLEST, color=style.ink, **place, **look)


def text_size(ax: Axes) -> str | float:
    """Size of text in axes: smaller in narrow ones, such as a column of a paper."""
    return "medium" if shorter_side(ax) >= _WIDE else SMALLEST


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def _unsigned(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}").replace("inf", "\N{INFINITY}")
