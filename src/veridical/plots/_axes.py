"""Axes: made or taken, scaled for probabilities, and labelled with sample sizes."""

from __future__ import annotations

from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from veridical._core.validation import check_option
from veridical.exceptions import invalid

_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_MARGIN = 0.02  # room around [0, 1], so that markers at 0 and 1 are whole


def get_axes(ax: Any, figsize: tuple[float, float] = (4.8, 4.8), *, caller: str) -> Axes:
    """Return the axes given, or those of a new figure if `ax` is None."""
    if ax is None:
        from matplotlib import pyplot

        _, made = pyplot.subplots(figsize=figsize, layout="constrained")
        return made
    if not isinstance(ax, Axes):
        hint = "make one with `fig, ax = plt.subplots()`."
        raise invalid(caller, "ax", "a matplotlib Axes or None", type(ax).__name__, hint=hint)
    return ax


def probability_axis(ax: Axes, which: Literal["x", "y", "both"] = "both") -> None:
    """Scale an axis for probabilities; both of them at the same scale."""
    check_option("probability_axis", "which", which, ("x", "y", "both"))
    if which in ("x", "both"):
        ax.set_xlim(-_MARGIN, 1 + _MARGIN)
        ax.xaxis.set_major_locator(FixedLocator(_TICKS))
    if which in ("y", "both"):
        ax.set_ylim(-_MARGIN, 1 + _MARGIN)
        ax.yaxis.set_major_locator(FixedLocator(_TICKS))
    if which == "both":
        ax.set_aspect("equal", adjustable="box")


def count_axis(ax: Axes, which: Literal["x", "y"], *, n_ticks: int = 3) -> None:
    """Tick an axis of counts in whole numbers, thousands as k and millions as M."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(MaxNLocator(n_ticks, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))


def short_count(count: float) -> str:
    """Write a count in few characters: 950, 1.2k, 35k, 1M."""
    rounded = float(f"{count:.3g}")  # first, so that 999,999 becomes 1M and not 1,000k
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(rounded) >= unit:
            return f"{rounded / unit:.3g}{name}"
    return f"{rounded:g}"


def size_text(n: float, *, name: str = "n") -> str:
    """Write a sample size as figures show it, such as "n = 1,000,000"."""
    return f"{name} = {round(float(n), 1):,.10g}"
