"""The map of a calibrator of two classes, with reliability diagrams before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from veridical._core.typing import ArrayLike, FloatArray
from veridical.calibrators import Calibrator
from veridical.curves import reliability_curve
from veridical.plots._axes import get_axes, probability_axis, size_text
from veridical.plots._drawn import Drawn
from veridical.plots._legend import text_size
from veridical.plots._style import Style, marker_areas, style_of
from veridical.results import ReliabilityCurve

_CALLER = "calibration_map"
_STEPS = 1000  # points at which a map is read


@dataclass(frozen=True)
class MapLineArtists(Drawn):
    """Artists of the maps of two classes; None for what was not asked for.

    Attributes
    ----------
    ax : the axes drawn on
    lines : map of every calibrator, in order
    reference : the identity
    before : points of the reliability diagram of the predictions
    after : for every calibrator the points after calibration
    legend : the legend
    """

    lines: tuple[Any, ...]
    reference: Any
    before: Any = None
    after: tuple[Any, ...] = ()
    legend: Any = None


def draw_map_lines(
    calibrators: Mapping[str, Calibrator],
    y_true: ArrayLike | None,
    y_prob: ArrayLike | None,
    *,
    n_bins: Any,
    after: bool,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
    ax: Any,
) -> MapLineArtists:
    """Draw calibrated against given probability of the positive class."""
    axes = get_axes(ax, (4.4, 4.4), caller=_CALLER)
    style = style_of(axes)
    (reference,) = axes.plot([0, 1], [0, 1], color=style.muted, linewidth=1, zorder=1)
    grid = np.linspace(0.0, 1.0, _STEPS + 1)
    lines: list[Any] = []
    for index, (name, calibrator) in enumerate(calibrators.items()):
        lines += axes.plot(
            grid,
            mapped(calibrator, grid),
            color=style.colour(index),
            linestyle=style.line(index),
            linewidth=1.8,
            zorder=2.5,
            label=name or type(calibrator).__name__,
        )
    before, later = None, []
    if y_true is not None:
        data = {"labels": labels, "pos_label": pos_label, "sample_weight": sample_weight}
        data |= {"n_bins": n_bins, "interval": None, "lens": "binary"}
        curve = reliability_curve(y_true, y_prob, **data)
        before = _draw_points(axes, curve, style, style.ink, "given, ")
        for index, calibrator in enumerate(calibrators.values() if after else ()):
            fixed = mapped(calibrator, np.asarray(curve.predicted))
            colour, name = style.colour(index), "" if index else "after"
            later.append(_draw_points(axes, curve, style, colour, name, x=fixed, hollow=True))
    probability_axis(axes)
    axes.set(xlabel="given probability", ylabel="calibrated, observed")
    legend = axes.legend(
        loc="best", fontsize=text_size(axes), labelcolor=style.ink, edgecolor="none",
        facecolor=style.ground, framealpha=0.8, handlelength=1.8, borderaxespad=0.3,
    )  # fmt: skip
    return MapLineArtists(axes, tuple(lines), reference, before, tuple(later), legend)


def mapped(calibrator: Calibrator, p: FloatArray) -> FloatArray:
    """Calibrated probability of the positive class, the larger label."""
    values = p
    if calibrator.input == "logit":
        inside = np.clip(p, 1e-6, 1 - 1e-6)
        values = np.log(inside / (1 - inside))
    positive = int(calibrator.classes_[1] > calibrator.classes_[0])
    return calibrator.predict_proba(values)[:, positive]


def _draw_points(
    ax: Axes,
    curve: ReliabilityCurve,
    style: Style,
    colour: str,
    name: str,
    *,
    x: FloatArray | None = None,
    hollow: bool = False,
) -> Any:
    at = curve.predicted if x is None else x
    return ax.scatter(
        at, curve.observed, s=marker_areas(curve.count, smallest=8, largest=70), zorder=3,
        facecolor="none" if hollow else colour, edgecolor=colour if hollow else [style.ground],
        linewidth=1.2 if hollow else 0.5, clip_on=False,
        label=name if hollow else f"{name}{size_text(curve.n_samples)}",
    )  # fmt: skip
