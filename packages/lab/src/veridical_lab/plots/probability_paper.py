"""Reliability diagrams on probability paper."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from veridical._core.data.validation import check_level
from veridical.binning import Binning
from veridical.curves.core import levels_of_curve, levels_of_rows
from veridical.exceptions import invalid
from veridical.plots import CurveArtists, DiagramArtists
from veridical.plots.drawing import (
    SMALLEST,
    PlotOptions,
    Series,
    broken,
    check_choices,
    draw_legend,
    draw_markers,
    gather_series,
    options_binning,
    set_frame,
    style_of,
    styled_axes,
    x_label,
)
from veridical_lab.arrays import ArrayLike, FloatArray, WeightType

_CALLER = "probability_paper"
_EDGE = 4.0  # normal score of the edge: 0.00003 and 0.99997
_LEVELS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)


def probability_paper(
    y_true: Any,
    y_prob: Any = None,
    *,
    ax: Axes | None = None,
    annotate: Literal["size", "error", "all"] | None = "error",
    lens: Any = None,
    n_bins: Any = None,
    strategy: Literal["uniform", "quantile"] | None = None,
    binning: Binning | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> DiagramArtists:
    r"""Draw how unusual each bin is for a calibrated model, against the prediction.

    Parameters
    ----------
    y_true : array-like, ReliabilityCurve of method "bins", Evaluation or mapping of these results
        Labels; or finished results, one or several by name, and then no `y_prob`.
    y_prob : array-like or mapping of name to array-like, optional
        Predictions of one model, or of several on the same rows.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.
    annotate : {"size", "error", "all"} or None
        What the legend says, as in :func:`reliability`.
    confidence_level : float, default 0.95
        The shaded belt holds a bin of a calibrated model with about this probability; all bins
        together stay between the dashed lines with about this probability or more (Bonferroni).
    lens, n_bins, strategy, binning, labels, pos_label, sample_weight, weight_type
        As in :func:`reliability_curve`, for raw data only.
    n_resamples, rng
        Draws for the null level of the ECE, and their seed.

    Returns
    -------
    DiagramArtists
        Heights of markers are normal quantiles of the probability written on the axis; those
        beyond its ends are drawn at the end as triangles.

    Notes
    -----
    The height of a bin is P(S < s) + P(S = s)/2, with s the number of its outcomes and S that
    number if the model were calibrated: Poisson-binomial given the predictions, normal from a
    variance of 400 on and for importance weights. After Fig. 4 of [1]_, whose resampling also draws
    predictions. From a curve alone rows of a bin are taken to have the same probability, which
    makes bins look a little less unusual than they are; weighted curves are refused.

    The distance to the middle says how sure one can be that a bin is off, not by how much: with
    many rows a harmless gap leaves the belt, with few rows a grave one does not.

    References
    ----------
    .. [1] Bröcker & Smith (2007), Weather and Forecasting 22, 651-661, doi 10.1175/WAF993.1.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> drawn = probability_paper([1, 0], [0.6, 0.9], n_bins=2, ax=Figure().subplots())
    >>> drawn.curves[0].markers.get_offsets().data.round(4).tolist()  # 0.25 = 0.04 + 0.42/2
    [[0.75, -0.6745]]
    """
    from scipy.special import ndtri

    check_choices(_CALLER, annotate=annotate)
    level = check_level(_CALLER, confidence_level)
    raw = y_prob is not None
    limits = {"interval": None if raw else "auto", "confidence_level": level if raw else 0.95}
    options = PlotOptions.of(locals() | limits)
    series = gather_series(y_true, y_prob, options, caller=_CALLER, detail=annotate, binned=True)
    scores = [_scores(one, options) for one in series]
    ax, style = styled_axes(ax, (5.0, 4.2), caller=_CALLER)
    set_frame(ax, "x")
    ax.set_ylim(-1.06 * _EDGE, 1.06 * _EDGE)
    ax.yaxis.set_major_locator(FixedLocator(ndtri(_LEVELS).tolist()))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(_level_text))
    belt = float(ndtri((1 + level) / 2))
    most = max(len(one.curve) for one in series)
    line = float(ndtri(1 - (1 - level) / (2 * most)))
    ax.axhspan(-belt, belt, color=style.faint, alpha=0.45, linewidth=0, zorder=0.5)
    for end in (-line, line):
        ax.axhline(end, color=style.muted, linewidth=1.0, linestyle=(0, (5, 3)), zorder=1)
    for height, text in ((belt, f"{level:.3g}"), (line, f"all {level:.3g}")):
        beside: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "va": "center"}
        beside |= {"textcoords": "offset points", "fontsize": SMALLEST}
        ax.annotate(text, (1.0, height), (3, 0), **beside)
    reference = ax.axhline(0.0, color=style.muted, linewidth=1.0, zorder=1)
    drawn = [
        _draw_scores(ax, one, z, index)
        for index, (one, z) in enumerate(zip(series, scores, strict=True))
    ]
    ax.set_xlabel(x_label(series))
    ax.set_ylabel("chance of less, if calibrated")
    handles = [one.markers for one in drawn]
    legend = draw_legend(ax, series, handles, None, style, detail=annotate, corners=[])
    return DiagramArtists(ax=ax, curves=tuple(drawn), reference=reference, legend=legend)


def _scores(series: Series, options: PlotOptions) -> FloatArray:
    if series.sample is not None:
        return levels_of_rows(series.sample, options_binning(options))
    curve = series.curve
    if curve.method != "bins":
        hint = 'make the curve with method="bins".'
        raise invalid(_CALLER, "y_true", "curves of bins", f"method {curve.method!r}", hint=hint)
    if not np.allclose(curve.weight, curve.count):
        hint = "give `y_true`, `y_prob` and `sample_weight` instead."
        raise invalid(_CALLER, "y_true", "an unweighted curve", "a weighted one", hint=hint)
    return levels_of_curve(curve)


def _draw_scores(ax: Axes, series: Series, z: FloatArray, index: int) -> CurveArtists:
    style, curve = style_of(ax), series.curve
    shown = np.clip(z, -_EDGE, _EDGE)
    inside = np.abs(z) <= _EDGE
    xs, ys = broken(curve, curve.predicted, shown)
    colour = style.colour(index)
    (line,) = ax.plot(xs, ys, color=colour, linestyle=style.line(index), lw=1.2, zorder=3)
    at = curve.predicted
    points = (at[inside], z[inside], curve.count[inside])
    most = float(curve.count.max())
    markers = draw_markers(ax, *points, style, index, sized=True, most=most)
    for side, marker in ((1.0, "^"), (-1.0, "v")):
        beyond = side * z > _EDGE
        if beyond.any():
            ax.scatter(at[beyond], shown[beyond], s=36, marker=marker, color=colour, zorder=4)
    return CurveArtists(series.name, curve, line=line, markers=markers)


def _level_text(score: float, _: Any) -> str:
    from scipy.special import ndtr

    return f"{float(f'{ndtr(score):.4f}'):g}"
