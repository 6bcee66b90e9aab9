"""Reliability diagrams turned level: the gap against the prediction."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.binning import Binning
from veridical.plots._drawing.artists import CurveArtists, DiagramArtists
from veridical.plots._drawing.axes import Place, styled_axes
from veridical.plots._drawing.diagram import check_choices, draw_spread, lowest_axes
from veridical.plots._drawing.frame import set_frame
from veridical.plots._drawing.legend import draw_legend, x_label
from veridical.plots._drawing.marks import broken_line, draw_band, draw_limits, draw_markers
from veridical.plots._drawing.series import (
    PlotOptions,
    Series,
    Truth,
    draw_truth,
    gather_series,
    true_points,
)
from veridical.plots._drawing.style import Style

_CALLER = "deviation"
_ROOM = 1.12  # how far the axis reaches beyond what is drawn
_FLATTEST = 0.02  # never zoom in further than to gaps of this size


def deviation(
    y_true: Any,
    y_prob: Any = None,
    *,
    ax: Axes | None = None,
    histogram: Place | None = "below",
    truth: Truth | None = None,
    annotate: Literal["size", "error", "all"] | None = "error",
    lens: Any = None,
    method: Literal["bins", "isotonic", "density", "smooth"] | None = None,
    n_bins: Any = None,
    strategy: Literal["uniform", "quantile"] | None = None,
    binning: Binning | None = None,
    interval: str | None = "consistency",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> DiagramArtists:
    """Draw observed frequency minus prediction, against the prediction.

    Parameters
    ----------
    y_true : array-like, ReliabilityCurve, Evaluation or mapping of these results
        Labels; or finished results, one or several by name, and then no `y_prob`.
    y_prob : array-like or mapping of name to array-like, optional
        Predictions of one model, or of several on the same rows.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.
    histogram : {"below", "side"} or None
        Where to show how predictions are spread.
    truth : callable or pair of arrays, optional
        The true frequency r(s) where it is known; r(s) - s is drawn.
    annotate : {"size", "error", "all"} or None
        What the legend says, as in :func:`reliability`.
    interval : str or None, default "consistency"
        Consistency limits lie around zero: gaps of a calibrated model with these predictions stay
        inside with probability `confidence_level`, each by itself. Other limits of
        :func:`reliability_curve` lie around the gap.
    lens, method, n_bins, strategy, binning, confidence_level, n_resamples
        As in :func:`reliability_curve`, for raw data only.
    labels, pos_label, sample_weight, weight_type
        The same.
    rng : int, Generator or None
        Seed; None is a fixed seed here: the same data give the same picture.

    Returns
    -------
    DiagramArtists
        The axes, the artists of every curve and the curves themselves.

    Notes
    -----
    Small gaps can be read off, which a diagonal hides; in exchange the scale differs from picture
    to picture, so look at the numbers before the shape. Above zero more happened than predicted,
    below zero less. After Fig. 4 of [1]_, which shows the 5th and 95th percentile under
    consistency resampling of predictions and outcomes; here predictions are fixed and 95 % limits
    the default.

    References
    ----------
    .. [1] Vaicenavicius et al. (2019), AISTATS, Fig. 4, arXiv 1902.06977.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> drawn = deviation([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2, ax=ax)
    >>> drawn.curves[0].markers.get_offsets().data.round(3).tolist()
    [[0.3, 0.2], [0.7, 0.3]]
    """
    check_choices(_CALLER, histogram=histogram, annotate=annotate)
    if y_prob is None and interval == "consistency":
        interval = "auto"  # the default belongs to raw data: a result has its limits
    options = PlotOptions.of(locals())
    series = gather_series(y_true, y_prob, options, caller=_CALLER, detail=annotate, binned=True)
    true = None if truth is None else true_points(truth, caller=_CALLER)
    ax, style = styled_axes(ax, (6.4, 3.6) if histogram == "side" else (5.0, 4.2), caller=_CALLER)
    set_frame(ax, "x")
    reference = ax.axhline(0.0, color=style.muted, linewidth=1.0, zorder=1)
    drawn = [_draw_gaps(ax, one, style, i, len(series)) for i, one in enumerate(series)]
    reach = max(max(_reach(one.curve) for one in series), _FLATTEST)
    true_line = None
    if true is not None:
        true_line = draw_truth(ax, true, style, caller=_CALLER, minus_score=True)
        reach = max(reach, float(np.abs(true[1] - true[0]).max(initial=0.0)))
    ax.set_ylim(-_ROOM * reach, _ROOM * reach)
    ax.set_ylabel("observed \N{MINUS SIGN} predicted")
    histogram_ax, curves = draw_spread(ax, series, drawn, histogram)
    lowest_axes(ax, histogram_ax, histogram).set_xlabel(x_label(series))
    handles = [one.markers or one.line for one in drawn]
    legend = draw_legend(ax, series, handles, true_line, style, detail=annotate, corners=[])
    return DiagramArtists(ax, curves, reference, histogram_ax, true_line, legend)


def _draw_gaps(ax: Axes, series: Series, style: Style, index: int, total: int) -> CurveArtists:
    curve = series.curve
    parts: dict[str, Any] = {}
    xs, ys = broken_line(curve, "mean")
    colour = style.colour(index)
    (parts["line"],) = ax.plot(
        xs, ys - xs, color=colour, linestyle=style.line(index), linewidth=1.4, zorder=3
    )
    around = curve.around_prediction
    if curve.method == "bins":
        at = curve.predicted
        parts["markers"] = draw_markers(ax, at, curve.gap, curve.count, style, index, sized=True)
        if curve.low is not None and curve.high is not None:
            limits = (curve.low - at, curve.high - at)
            parts["limits"] = draw_limits(
                ax, at, *limits, style, index, around=around, alone=total == 1
            )
    elif curve.low is not None and curve.high is not None:
        parts["band"] = draw_band(ax, curve, "mean", style, index, gap=True)
    return CurveArtists(series.name, curve, **parts)


def _reach(curve: Any) -> float:
    """Largest distance from zero of a gap or a limit."""
    ends: list[FloatArray] = [curve.gap]
    if curve.low is not None and curve.high is not None:
        ends += [curve.low - curve.predicted, curve.high - curve.predicted]
    return max(float(np.abs(end).max()) for end in ends)
