"""How a calibrator of three classes moves probability over the simplex."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from veridical._core.labels import find_label
from veridical._core.sample import MulticlassSample
from veridical._core.typing import ArrayLike, FloatArray
from veridical.binning import SimplexBins
from veridical.calibrators import Calibrator
from veridical.exceptions import invalid
from veridical.lenses import induce_problem
from veridical.plots._axes import get_axes, size_text
from veridical.plots._simplex_geometry import corner_names, draw_triangle, lattice, to_plane
from veridical.plots._style import marker_areas, style_of
from veridical.summaries import VectorSummary, summarise

_CALLER = "calibration_map"
_SIDE = 80  # steps of the grid a side
_EDGE = 1e-3  # share of the simplex left out at its border
_FINE = 20  # bins per coordinate of the places of predictions


@dataclass(frozen=True)
class MapSimplexArtists:
    """Artists of the heat maps of three classes; one entry a class drawn.

    Attributes
    ----------
    axes : the axes drawn on
    classes : class of each
    heat : change of the class's probability
    zero : line of no change, None where there is none
    places : where the model predicts, None without predictions
    colorbar : key of all heat maps
    size : text with the number of rows, None without predictions
    """

    axes: tuple[Axes, ...]
    classes: tuple[Any, ...]
    heat: tuple[Any, ...]
    zero: tuple[Any, ...]
    places: tuple[Any, ...]
    colorbar: Any
    size: Any = None

    @property
    def figure(self) -> Figure:
        """The figure the first axes are in."""
        return self.axes[0].figure.figure


def draw_map_simplex(
    calibrator: Calibrator,
    y_true: ArrayLike | None,
    y_prob: ArrayLike | None,
    *,
    label: Any,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
    ax: Any,
) -> MapSimplexArtists:
    """Draw calibrated minus given probability, class by class."""
    classes = tuple(calibrator.classes_.tolist())
    shown = [0, 1, 2]
    if label is not None:
        shown = [find_label(label, classes, caller=_CALLER, param="label")]
    axes = _check_axes(ax, len(shown))
    style = style_of(axes[0])
    cells: VectorSummary | None = None
    if y_true is not None:
        problem = induce_problem(
            y_true,
            y_prob,
            caller=_CALLER,
            lens="canonical",
            labels=classes if labels is None else labels,
            pos_label=pos_label,
            sample_weight=sample_weight,
            weight_type="importance",
        ).problem
        if not isinstance(problem, MulticlassSample):
            hint = "pass the three columns the calibrator takes."
            raise invalid(_CALLER, "y_prob", "of three classes", "two", hint=hint)
        cells = summarise(problem, SimplexBins(_FINE))
    points, triangles = lattice(_SIDE)
    inside = (points + _EDGE) / (1 + 3 * _EDGE)
    values = np.log(inside) if calibrator.input == "logit" else inside
    change = calibrator.predict_proba(values) - inside
    largest = float(np.abs(change[:, shown]).max())
    norm = Normalize(-largest or -0.01, largest or 0.01)
    heat, zero, places = [], [], []
    for panel, k in zip(axes, shown, strict=True):
        draw_triangle(panel, corner_names(classes, longest=12), style, lines=False)
        look: dict[str, Any] = {"cmap": style.diverging, "norm": norm, "zorder": 1}
        heat.append(panel.tripcolor(triangles, change[:, k], rasterized=True, **look))
        zero.append(_zero_line(panel, triangles, change[:, k]))
        places.append(None if cells is None else _draw_places(panel, cells))
        panel.set_title(f"class {classes[k]}", fontsize=9, color=style.ink)
    bar = _draw_key(axes, heat[-1])
    size = None
    if cells is not None:
        size = axes[0].text(
            0.0, 1.0, size_text(cells.count.sum()), transform=axes[0].transAxes, va="top",
            fontsize=8, color=style.ink,
        )  # fmt: skip
    names = tuple(classes[k] for k in shown)
    return MapSimplexArtists(axes, names, tuple(heat), tuple(zero), tuple(places), bar, size)


def _check_axes(ax: Any, count: int) -> tuple[Axes, ...]:
    if count == 1:
        return (get_axes(ax, (4.4, 4.0), caller=_CALLER),)
    if ax is None:
        from matplotlib import pyplot

        _, made = pyplot.subplots(1, count, figsize=(8.4, 3.1), layout="constrained")
        return tuple(made)
    given = tuple(np.ravel(ax)) if isinstance(ax, (np.ndarray, list, tuple)) else (ax,)
    if len(given) != count or not all(isinstance(each, Axes) for each in given):
        hint = "pass `ax=plt.subplots(1, 3)[1]`, or `label=` to draw one class on one axes."
        raise invalid(_CALLER, "ax", f"{count} Axes", f"{len(given)}", hint=hint)
    return given


def _zero_line(ax: Axes, triangles: Any, change: FloatArray) -> Any:
    if not change.min() < 0 < change.max():
        return None  # one sign everywhere, or no change at all
    return ax.tricontour(
        triangles, change, levels=[0.0], colors="#1A1A1A", linewidths=1.3, zorder=2
    )


def _draw_places(ax: Axes, cells: VectorSummary) -> Any:
    x, y = to_plane(cells.mean_p).T
    areas = marker_areas(cells.count, smallest=1.0, largest=22.0)
    return ax.scatter(
        x, y, s=areas, facecolor="#1A1A1A", edgecolor="#F2F2F2", linewidth=0.3, zorder=3
    )


def _draw_key(axes: Iterable[Axes], mappable: Any) -> Any:
    panels = list(axes)
    bar = panels[0].figure.figure.colorbar(
        mappable, ax=panels, shrink=0.75, pad=0.02, fraction=0.05, aspect=18
    )
    bar.set_label("calibrated \N{MINUS SIGN} given", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    bar.locator = MaxNLocator(5, symmetric=True)
    bar.update_ticks()
    return bar
