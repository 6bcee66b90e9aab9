"""Any function of three probabilities, as contours on the triangle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from veridical._core.data.options import check_integer
from veridical._core.data.validation import check_probabilities, float_array
from veridical._core.numeric.triangle import to_plane
from veridical.exceptions import invalid
from veridical.plots.drawing import (
    SMALLEST,
    Drawn,
    Style,
    corner_names,
    draw_triangle,
    lattice,
    styled_axes,
)
from veridical_lab.arrays import ArrayLike, FloatArray

_CALLER = "simplex_function"
_SIDE = 120  # steps of the grid a side
_EDGE = 1e-3  # share of the simplex left out at its border, where logarithms run off


@dataclass(frozen=True, repr=False)
class SimplexFunctionArtists(Drawn):
    """Artists of a function on the triangle; None for what was not asked for.

    Attributes
    ----------
    ax : the axes drawn on
    p, values : probability vectors, (m, 3), and the function there
    levels : values the contours are of
    frame : sides of the triangle
    areas : coloured areas between contours
    lines : the contours, None if the function is constant
    points : marks at `predictions`
    colorbar : key of the colours
    """

    p: FloatArray
    values: FloatArray
    levels: FloatArray
    frame: Any
    areas: Any
    lines: Any = None
    points: Any = None
    colorbar: Any = None


def simplex_function(
    function: Callable[[FloatArray], ArrayLike],
    *,
    classes: Sequence[Any] = (0, 1, 2),
    levels: int | Sequence[float] = 8,
    name: str = "",
    predictions: ArrayLike | None = None,
    ax: Axes | None = None,
) -> SimplexFunctionArtists:
    """Draw contours of a function of three probabilities on the simplex.

    Parameters
    ----------
    function : callable
        Takes probability vectors of shape (m, 3) and returns (m,) numbers: a density, the entropy,
        the cost of the best action, one class's probability after calibration.
    classes : sequence of three, default (0, 1, 2)
        Names of the corners.
    levels : int or increasing numbers, default 8
        About how many contours at round values, or these.
    name : str
        What the colours are.
    predictions : array-like of shape (n, 3), optional
        Probability vectors to mark, for instance where a model predicts.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    SimplexFunctionArtists
        The axes, the artists, and the values drawn.

    Notes
    -----
    The outermost 0.1 % of the simplex, where logarithms run off, is left out. A function that takes
    both signs gets colours that part at zero, so that what is gained and what is lost differ in
    hue. Time: one call with 7,381 vectors.

    Examples
    --------
    The probability of the first class is 1 at its corner and 0 on the side across.

    >>> from matplotlib.figure import Figure
    >>> drawn = simplex_function(lambda p: p[:, 0], levels=[0.25, 0.5], ax=Figure().subplots())
    >>> len(drawn.p), drawn.levels.tolist(), drawn.values.max().round(2)
    (7381, [0.25, 0.5], np.float64(1.0))
    """
    if len(classes) != 3:
        hint = "the simplex of three classes is a triangle."
        raise invalid(_CALLER, "classes", "three names", f"{len(classes)}", hint=hint)
    given: Any = function
    if not callable(given):
        hint = "e.g. `lambda p: p[:, 0]`."
        raise invalid(_CALLER, "function", "a function of (m, 3) arrays", repr(given), hint=hint)
    grid, triangles = lattice(_SIDE)
    p = (grid + _EDGE) / (1 + 3 * _EDGE)
    values = _checked(function(p.copy()), len(p))
    at = _levels(levels, values)
    marked = None if predictions is None else _vectors(predictions)
    axes, style = styled_axes(ax, (5.2, 4.6), caller=_CALLER)
    frame = draw_triangle(axes, corner_names(classes), style, parts=1)
    ends = [float(values.min()), *at[(at > values.min()) & (at < values.max())], values.max()]
    look = _colours(values, style)
    lines: Any = None
    if values.max() > values.min():
        areas = axes.tricontourf(triangles, values, levels=ends, zorder=1, **look)
        inner = ends[1:-1]
        if inner:
            lines = axes.tricontour(
                triangles, values, levels=inner, colors=style.ink, linewidths=0.7, zorder=2
            )
    else:
        areas = axes.tripcolor(triangles, values, zorder=1, rasterized=True, **look)
    bar = axes.figure.figure.colorbar(areas, ax=axes, shrink=0.7, pad=0.02, aspect=18)
    bar.set_ticks(at[(at >= ends[0]) & (at <= ends[-1])] if lines is not None else [ends[0]])
    bar.ax.tick_params(labelsize=SMALLEST, colors=style.ink)
    bar.set_label(name, fontsize=SMALLEST, color=style.ink)
    points: Any = None
    if marked is not None:
        x, y = to_plane(marked).T
        points = axes.scatter(
            x, y, s=7, facecolor="#1A1A1A", edgecolor="#F2F2F2", linewidth=0.4, zorder=3
        )
    return SimplexFunctionArtists(axes, p, values, at, frame, areas, lines, points, bar)


def _checked(values: Any, n: int) -> FloatArray:
    found = float_array(values, caller=_CALLER, param="function")
    if found.shape != (n,):
        hint = "return one number a row, e.g. `lambda p: -(p * np.log(p)).sum(axis=1)`."
        expected = f"one that returns {n:,} numbers for as many vectors"
        raise invalid(_CALLER, "function", expected, f"shape {found.shape}", hint=hint)
    if not np.isfinite(found).all():
        bad = int((~np.isfinite(found)).sum())
        hint = "clip it where it has no value."
        raise invalid(_CALLER, "function", "finite", f"{bad:,} values that are not", hint=hint)
    return found


def _levels(levels: Any, values: FloatArray) -> FloatArray:
    hint = "e.g. `levels=10`, or `levels=[0.1, 0.5, 0.9]`."
    if not np.iterable(levels):
        count = check_integer(_CALLER, "levels", levels, hint=hint)
        low, high = float(values.min()), float(values.max())
        return np.asarray(MaxNLocator(count + 1, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    given = float_array(levels, caller=_CALLER, param="levels")
    if given.ndim != 1 or not len(given) or not (np.diff(given, prepend=-np.inf) > 0).all():
        raise invalid(_CALLER, "levels", "a number or increasing", repr(levels), hint=hint)
    return given


def _colours(values: FloatArray, style: Style) -> dict[str, Any]:
    """Colours that part at zero for a function of both signs."""
    low, high = float(values.min()), float(values.max())
    if low < 0 < high:
        far = max(-low, high)
        return {"cmap": style.diverging, "vmin": -far, "vmax": far}
    return {"cmap": style.sequential}


def _vectors(predictions: Any) -> FloatArray:
    p = float_array(predictions, caller=_CALLER, param="predictions")
    if p.ndim != 2 or p.shape[1] != 3:
        hint = "pass the probabilities of three classes."
        raise invalid(_CALLER, "predictions", "of shape (n, 3)", f"shape {p.shape}", hint=hint)
    return check_probabilities(p, caller=_CALLER, param="predictions", rounded=True)
