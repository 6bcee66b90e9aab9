"""Value of decisions over accuracy and calibration error."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from veridical.exceptions import invalid
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import short_name, styled_axes
from veridical.plots._drawing.legend import legend_above
from veridical.plots._drawing.style import SMALLEST, Style, luminance
from veridical.results import Requirements, RequirementTable

_CALLER = "requirements"
_N_LEVELS = 10
_LEGEND_WIDTH = 48  # characters


@dataclass(frozen=True, repr=False)
class RequirementArtists(Drawn):
    """Artists of a map of requirements.

    Attributes
    ----------
    ax : the axes drawn on
    filled : areas of like value
    lines, labels : contours and the values written on them
    impossible : area no classifier of this kind reaches
    required : line on which the goal is just reached, or None
    models : marker of every given model
    colorbar : the scale of values
    legend : the legend, or None
    """

    filled: Any
    lines: Any
    labels: tuple[Any, ...]
    impossible: Any
    required: Any
    models: tuple[Any, ...]
    colorbar: Any
    legend: Any


def requirements(
    result: Any,
    *,
    saving: float | None = None,
    value: float | None = None,
    relative_to: str | float = "baseline",
    ax: Axes | None = None,
) -> RequirementArtists:
    """Draw what decisions are worth at each accuracy and calibration error.

    Parameters
    ----------
    result : RequirementTable
        From :func:`simulate_decisions`, with a grid of two accuracies and two ECEs or more.
    saving, value, relative_to
        As in :meth:`RequirementTable.require`: draws the line on which this goal is just reached.
        Without `saving` and `value` there is no line.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    RequirementArtists
        The axes and artists.

    Notes
    -----
    Along an upright line accuracy is fixed: how fast colours change upwards is what calibration
    is worth. The hatched area is beyond the bound on the ECE of a classifier that is always over-
    (or under-) confident; the strip before it, if blank, was not simulated. Between grid points
    values are interpolated. Markers are the given models at their own accuracy and ECE: the colour
    behind one is the value of a fake classifier there, not its own.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from veridical.planning import CostProcess
    >>> from veridical.planning import simulate_decisions
    >>> table = simulate_decisions(CostProcess((1, 5)), accuracy=[0.7, 0.8], ece=[0, 0.1],
    ...                            n_samples=500, n_repeats=2)
    >>> drawn = requirements(table, saving=0.2, ax=Figure().subplots())
    >>> drawn.ax.get_xlabel(), drawn.ax.get_ylabel()
    ('accuracy', 'expected calibration error')
    """
    if not isinstance(result, RequirementTable):
        hint = "pass what `simulate_decisions` returns."
        raise invalid(_CALLER, "result", "a RequirementTable", type(result).__name__, hint=hint)
    rows = [row for row in result.grid if row.value is not None and np.isfinite(row.value)]
    points = np.array([(row.accuracy, row.ece, row.value) for row in rows]).reshape(-1, 3)
    if len(np.unique(points[:, 0])) < 2 or len(points) < 3 or len(np.unique(points[:, 1])) < 2:
        hint = "give `simulate_decisions` several values of `accuracy` and of `ece`."
        expected = "a grid of two accuracies and two ECEs or more"
        raise invalid(_CALLER, "result", expected, f"{len(points)} points", hint=hint)
    goal = None
    if saving is not None or value is not None:
        goal = result.require(saving=saving, value=value, relative_to=relative_to)
    axes, style = styled_axes(ax, (5.6, 4.2), caller=_CALLER)
    filled, lines = _contours(axes, points, style)
    top = _limits(axes, result, points)
    labels = _labels(axes, lines)
    impossible = _draw_impossible(axes, result, top, style)
    required = None if goal is None else _draw_goal(axes, goal, points, style)
    models = _draw_models(axes, result, style)
    colorbar = axes.figure.colorbar(filled, ax=axes, pad=0.02)
    words = "value a row (minus the cost)" if result.kind == "cost" else "value a row"
    colorbar.set_label(words)
    axes.set(xlabel="accuracy", ylabel="expected calibration error")
    legend = _draw_legend(axes, result, goal, impossible, required, models)
    return RequirementArtists(
        axes, filled, lines, labels, impossible, required, models, colorbar, legend
    )


def _contours(axes: Axes, points: Any, style: Style) -> tuple[Any, Any]:
    """Areas and lines of like value; the possible area is convex, so triangles fill it."""
    accuracy, ece, value = points.T
    spread = float(np.ptp(value))
    if spread <= 1e-9 * max(1.0, float(np.abs(value).max())):  # one value all over
        middle = float(value.mean())
        room = max(abs(middle), 1.0) * 1e-3
        levels = np.array([middle - room, middle + room])
    else:
        ticks = MaxNLocator(_N_LEVELS).tick_values(float(value.min()), float(value.max()))
        levels = np.asarray(ticks)
    filled = axes.tricontourf(accuracy, ece, value, levels=levels, cmap=style.sequential, zorder=1)
    ground = filled.cmap(filled.norm(np.convolve(levels, [0.5, 0.5], mode="valid")))
    # A line is drawn on the area below and above it: light on dark areas, dark on light ones.
    colours = ["#F2F2F2" if luminance(c) < 0.18 else "#1A1A1A" for c in [*ground, ground[-1]]]
    lines = axes.tricontour(
        accuracy, ece, value, levels=levels, colors=colours, linewidths=0.7, alpha=0.7, zorder=2
    )
    return filled, lines


def _labels(axes: Axes, lines: Any) -> tuple[Any, ...]:
    inside = [
        level
        for level, path in zip(lines.levels, lines.get_paths(), strict=True)
        if len(path.vertices)
    ]
    if not inside:
        return ()
    return tuple(axes.clabel(lines, inside, fontsize=SMALLEST, fmt="%.4g"))


def _limits(axes: Axes, result: RequirementTable, points: Any) -> float:
    """Limit the axes to the grid, wider if a model lies outside; return the top."""
    accuracy = [*points[:, 0], *(model.accuracy for model in result.models)]
    ece = [*points[:, 1], *(model.ece for model in result.models)]
    axes.set_xlim(min(accuracy), max(accuracy))
    axes.set_ylim(min(ece), max(ece))
    return float(max(ece))


def _draw_impossible(axes: Axes, result: RequirementTable, top: float, style: Style) -> Any:
    x = np.array(axes.get_xlim())
    bound = [result.largest_ece(each) for each in x]
    bottom = axes.get_ylim()[0]
    look: dict[str, Any] = {"facecolor": style.ground, "edgecolor": style.muted, "hatch": "///"}
    area = axes.fill_between(x, bound, max(top, *bound), linewidth=0.8, zorder=3, **look)
    axes.set_ylim(bottom, top)
    return area


def _draw_goal(axes: Axes, goal: Requirements, points: Any, style: Style) -> Any:
    """Line on which the goal is just reached; None if it is everywhere or nowhere."""
    target = {row.accuracy: row.target for row in goal.rows}
    distance = points[:, 2] - [target[accuracy] for accuracy in points[:, 0]]
    if distance.min() >= 0 or distance.max() <= 0:
        return None
    x, y = points[:, 0], points[:, 1]
    look: dict[str, Any] = {"levels": [0.0], "linestyles": "solid"}
    axes.tricontour(x, y, distance, colors=[style.ground], linewidths=4.8, zorder=4, **look)
    return axes.tricontour(
        x, y, distance, colors=[style.colour(1)], linewidths=2.4, zorder=4.5, **look
    )


def _draw_models(axes: Axes, result: RequirementTable, style: Style) -> tuple[Any, ...]:
    marks: list[Any] = []
    look: dict[str, Any] = {"markersize": 9, "markerfacecolor": style.ground, "clip_on": False}
    look |= {"markeredgecolor": style.ink, "markeredgewidth": 1.6, "linestyle": "none"}
    for index, model in enumerate(result.models):
        marker = style.marker(index + 1)
        marks += axes.plot(model.accuracy, model.ece, marker=marker, zorder=5, **look)
    return tuple(marks)


def _draw_legend(
    axes: Axes,
    result: RequirementTable,
    goal: Requirements | None,
    impossible: Any,
    required: Any,
    models: tuple[Any, ...],
) -> Any:
    handles, labels = [], []
    if min(result.largest_ece(each) for each in axes.get_xlim()) < axes.get_ylim()[1]:
        handles.append(impossible)
        labels.append(f"no classifier is always {result.direction}-confident by so much")
    if required is not None and goal is not None:
        (colour,) = required.get_edgecolor()
        handles.append(Line2D([], [], color=colour, linewidth=2.4))
        labels.append(textwrap.fill(f"just enough to {goal.goal}", _LEGEND_WIDTH))
    for mark, model in zip(models, result.models, strict=True):
        handles.append(mark)
        worth = "" if model.value is None else f": value {model.value:.4g}"
        labels.append(f"{short_name(model.name, 20)}{worth}")
    if not handles:
        return None
    return legend_above(axes, handles, labels)
