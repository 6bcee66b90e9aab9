"""Figures of a model over the epochs of its training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from veridical._core.data.validation import check_level, float_array
from veridical.exceptions import invalid
from veridical.plots.drawing import SMALLEST, Artists, Style, get_axes, size_text, style_of
from veridical.results import Evaluation
from veridical_lab.arrays import ArrayLike, FloatArray

_CALLER = "trajectory"
_NAMES = {"log": "log loss", "brier": "Brier score", "accuracy": "accuracy", "pvalue": "p-value"}


@dataclass(frozen=True, repr=False)
class TrajectoryArtists(Artists):
    """Artists of a trajectory.

    Attributes
    ----------
    axes : one for each quantity, from top to bottom
    quantities : their names
    lines : for each quantity the line of every run
    best : for each quantity the stars of the epochs of least log loss, None without a log loss
    level : line of the level in the panel of p-values, or None
    size : text with the number of rows, or None
    """

    axes: tuple[Axes, ...]
    quantities: tuple[str, ...]
    lines: tuple[tuple[Any, ...], ...]
    best: tuple[Any, ...]
    level: Any = None
    size: Any = None

    @property
    def figure(self) -> Figure:
        """The figure the first axes are in."""
        return self.axes[0].figure.figure


def trajectory(
    evaluations: Mapping[Any, Evaluation] | Sequence[Evaluation] | Mapping[str, ArrayLike],
    *,
    quantities: Sequence[str] | None = None,
    level: float = 0.05,
    ax: Any = None,
) -> TrajectoryArtists:
    """Draw scores, accuracy, calibration error and its p-value over training (002 Fig. 3).

    Parameters
    ----------
    evaluations : mapping of epoch to Evaluation, sequence of Evaluation, or mapping of columns
        A sequence counts epochs from 1. Columns are arrays of one length by name: "epoch",
        optionally "run" (several trainings) and "n_samples", and every other one a quantity.
    quantities : sequence of str, optional
        One panel each; default "log", "accuracy", the calibration error of the evaluations (e.g.
        "ECE") and "pvalue", or all columns.
    level : float, default 0.05
        Marked in the panel "pvalue".
    ax : Axes or sequence of Axes, optional
        As many as there are quantities; default a new figure.

    Returns
    -------
    TrajectoryArtists
        The axes and artists.

    Notes
    -----
    A star marks the epoch of least log loss of each run, where training would be stopped. The
    p-value is that of the consistency test of the calibration error: below the level the error is
    more than a calibrated model would show, and with enough rows any small error is. Over many
    epochs some p-values are below the level by chance.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> table = {"epoch": [1, 2, 3], "log": [0.9, 0.5, 0.6], "accuracy": [0.5, 0.8, 0.9]}
    >>> drawn = trajectory(table, ax=Figure().subplots(2))
    >>> drawn.quantities, drawn.best[1].get_offsets().data.tolist()  # the least log loss
    (('log', 'accuracy'), [[2.0, 0.8]])
    """
    mark = check_level(_CALLER, level, "level")
    table, n = _tabulate(evaluations)
    names = tuple(quantities or [name for name in table if name not in ("epoch", "run")])
    for name in names:
        if name not in table:
            hint = f"there is {', '.join(map(repr, table))}."
            raise invalid(_CALLER, "quantities", "among the columns", repr(name), hint=hint)
    axes = _check_axes(ax, len(names))
    style = style_of(axes[0])
    runs = table.get("run", np.zeros(len(table["epoch"])))
    rows_of = [np.flatnonzero(runs == run) for run in np.unique(runs)]
    rows_of = [rows[np.argsort(table["epoch"][rows], kind="stable")] for rows in rows_of]
    lines, best, level_line = [], [], None
    for panel, name in zip(axes, names, strict=True):
        if name == "pvalue":
            look = {"color": style.muted, "linewidth": 1, "linestyle": style.line(1)}
            level_line = panel.axhline(mark, **look)
        lines.append(_draw_runs(panel, table, name, rows_of, style))
        best.append(_draw_stars(panel, table, name, rows_of, style))
        panel.set_ylabel(_NAMES.get(name, name))
        if name == "pvalue":
            panel.set_ylim(-0.04, 1.04)
            panel.set_yticks([0.0, 0.5, 1.0])
        else:
            panel.yaxis.set_major_locator(MaxNLocator(4))
        panel.tick_params(labelsize=SMALLEST)
        panel.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
    axes[-1].set_xlabel("epoch")
    star = "" if "log" not in table else "star: least log loss"
    said = "; ".join(text for text in (n, star) if text)
    size = axes[0].set_title(said, fontsize=SMALLEST, loc="left") if said else None
    return TrajectoryArtists(axes, names, tuple(lines), tuple(best), level_line, size)


def _tabulate(evaluations: Any) -> tuple[dict[str, FloatArray], str]:
    """Columns of one length, and the number of rows in words."""
    hint = "pass `{epoch: evaluate(...)}`, a list of evaluations, or columns with `epoch`."
    if isinstance(evaluations, Mapping) and "epoch" in evaluations:
        table: dict[str, Any] = {
            str(name): _column(str(name), values) for name, values in evaluations.items()
        }
        if len({column.shape for column in table.values()}) > 1 or table["epoch"].ndim != 1:
            raise invalid(_CALLER, "evaluations", "columns of one length", "others", hint=hint)
        sizes = table.pop("n_samples", None)
        n = "" if sizes is None else _size_range(sizes.astype(np.float64))
        return table, n
    named = isinstance(evaluations, Mapping)
    epochs = list(evaluations) if named else list(range(1, len(evaluations) + 1))
    listed = [evaluations[epoch] for epoch in epochs] if named else list(evaluations)
    if not listed or not all(isinstance(each, Evaluation) for each in listed):
        raise invalid(_CALLER, "evaluations", "evaluations by epoch", "others", hint=hint)
    error = listed[0].default_error
    columns = {
        "epoch": [float(epoch) for epoch in epochs],
        "log": [each.scores["log"] for each in listed],
        "accuracy": [each.accuracy for each in listed],
        error: [each.error(error).value for each in listed],
        "pvalue": [each.error(error).pvalue for each in listed],
    }
    if any(value is None for value in columns["pvalue"]):
        del columns["pvalue"]
    table = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    return table, _size_range(np.array([each.n_samples for each in listed], dtype=np.float64))


def _column(name: str, values: ArrayLike) -> Any:
    if name == "run":
        return np.asarray(values)
    return float_array(values, caller=_CALLER, param=f"evaluations[{name!r}]")


def _size_range(sizes: FloatArray) -> str:
    low, high = float(sizes.min()), float(sizes.max())
    return size_text(low) if low == high else f"{size_text(low)} to {high:,.10g}"


def _check_axes(ax: Any, count: int) -> tuple[Axes, ...]:
    if ax is None:
        from matplotlib import pyplot

        size = (4.8, 0.7 + 1.25 * count)
        _, made = pyplot.subplots(count, 1, figsize=size, layout="constrained", sharex=True)
        return tuple(np.ravel(made))
    given = tuple(np.ravel(np.asarray(ax, dtype=object)))
    if len(given) != count:
        hint = f"pass `ax=plt.subplots({count}, sharex=True)[1]`, or fewer `quantities`."
        raise invalid(_CALLER, "ax", f"{count} Axes, one a quantity", f"{len(given)}", hint=hint)
    return tuple(get_axes(each, caller=_CALLER) for each in given)


def _draw_runs(
    ax: Axes, table: Mapping[str, FloatArray], name: str, rows_of: list[Any], style: Style
) -> tuple[Any, ...]:
    drawn: list[Any] = []
    for index, rows in enumerate(rows_of):
        x, y = table["epoch"][rows], table[name][rows]
        marker = "." if len(rows) <= 60 else ""
        look = {"color": style.colour(index), "linestyle": style.line(index), "linewidth": 1.2}
        drawn += ax.plot(x, y, marker=marker, markersize=4, **look)
    return tuple(drawn)


def _draw_stars(
    ax: Axes, table: Mapping[str, FloatArray], name: str, rows_of: list[Any], style: Style
) -> Any:
    if "log" not in table:
        return None
    at = [rows[np.argmin(table["log"][rows])] for rows in rows_of]
    colours = [style.colour(index) for index in range(len(rows_of))]
    look: dict[str, Any] = {"marker": "*", "s": 110, "c": colours, "edgecolors": style.ink}
    return ax.scatter(table["epoch"][at], table[name][at], linewidths=0.7, zorder=4, **look)
