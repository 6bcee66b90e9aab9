"""Reliability diagrams."""

from __future__ import annotations

from typing import Any, Literal

from matplotlib.axes import Axes

from veridical._core.data.validation import check_option
from veridical._core.typing import ArrayLike, WeightType
from veridical.binning import Binning
from veridical.plots._drawing.artists import DiagramArtists
from veridical.plots._drawing.axes import Place, get_axes
from veridical.plots._drawing.diagram import (
    Look,
    check_choices,
    draw_curves,
    draw_spread,
    lowest_axes,
)
from veridical.plots._drawing.frame import AXES, AxisChoice, frame_of
from veridical.plots._drawing.legend import draw_legend, free_corners, name_axes
from veridical.plots._drawing.marks import Position
from veridical.plots._drawing.series import PlotOptions, Truth, draw_truth, gather_series
from veridical.plots._drawing.style import style_of

_CALLER = "reliability"


def reliability(
    y_true: Any,
    y_prob: Any = None,
    *,
    ax: Axes | None = None,
    style: Literal["line", "bars"] = "line",
    x: Position = "mean",
    band: bool | None = None,
    histogram: Place | None = "below",
    counts: Literal["size", "text", "both"] | None = "size",
    gaps: bool = False,
    arrows: bool = False,
    rug: bool = False,
    truth: Truth | None = None,
    annotate: Literal["size", "error", "all"] | None = "error",
    lens: Any = None,
    axis: AxisChoice = "auto",
    method: Literal["bins", "isotonic", "density", "smooth"] | None = None,
    n_bins: Any = None,
    strategy: Literal["uniform", "quantile"] | None = None,
    binning: Binning | None = None,
    interval: str | None = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> DiagramArtists:
    """Draw observed frequency against prediction.

    Parameters
    ----------
    y_true : array-like, ReliabilityCurve, Evaluation or mapping of these results
        Labels; or finished results, one or several by name, and then no `y_prob`. Subgroups of an
        evaluation are drawn with ``dict(evaluation.groups)``.
    y_prob : array-like or mapping of name to array-like, optional
        Predictions of one model, or of several on the same rows.
    ax : matplotlib Axes, optional
        Where to draw; default a new figure.
    style : {"line", "bars"}
        Points joined by a line, which breaks where bins are empty, or a bar for every bin.
    x : {"mean", "centre"}
        Where the point of a bin stands. At its mean prediction the distance to the diagonal is the
        gap. In the middle of the bin, as older diagrams have it, a point may be off by half a bin
        either way: a calibrated model can look wrong and a wrong one calibrated (survey Fig. 6).
    band : bool, optional
        Draw limits as an area rather than as bars; default for curves that are not bins.
    histogram : {"below", "side"} or None
        Where to show how predictions are spread. It shares the place of `ax`.
    counts : {"size", "text", "both"} or None
        Show rows of a bin by the area of its marker, as a number beside it (left out where it
        would cover another), or both.
    gaps, arrows : bool
        Mark the gap of each bin, or the correction the gap asks for: an arrow from the prediction
        sideways to the frequency that was observed.
    rug : bool
        Ticks at single predictions (at most 501 places): above where the outcome was 1, below
        where it was 0. Needs raw data.
    truth : callable or pair of arrays, optional
        The true frequency r(s) where it is known, as a function or as points (s, r).
    annotate : {"size", "error", "all"} or None
        What the legend says: the sample size; also the ECE with its confidence interval and what
        it would read if the model were calibrated; also calibration in the large (mean observed -
        mean predicted) and Cox's slope with its interval. The ECE has the bins asked for, or 15 of
        equal width.
    axis : {"auto", "unit", "linear", "logit"}
        Ends of both axes: where predictions and outcomes are, in log-odds if nearly all of them
        are close to 0 or to 1; all of [0, 1]; or one of the two scales.
    lens, method, n_bins, strategy, binning, interval, confidence_level, n_resamples
        As in :func:`reliability_curve`, for raw data only. Without `method`, bins and `interval`
        rows and events decide: up to 15 bins, fewer where rows are few, with equal numbers of
        expected events where events are rare, and an isotonic curve with its band where there
        would be less than 5. Limits of `interval` "consistency" lie around the diagonal, all
        others around the curve.
    labels, pos_label, sample_weight, weight_type
        As in :func:`reliability_curve` too.
    rng : int, Generator or None
        Seed; None is a fixed seed here: the same data give the same picture.

    Returns
    -------
    DiagramArtists
        The axes, the artists of every curve and the curves themselves.

    Notes
    -----
    The legend of a single model stands in a free corner beside the diagonal; else it stands above
    the axes, and a title of the whole figure (`suptitle`) is better than one of the axes.

    A point off the diagonal is no sign of miscalibration by itself: look whether its limits reach
    the diagonal, and at the null level of the ECE. Under 95 % limits one of 20 points of a
    calibrated model lies outside. Time is that of :func:`reliability_curve`; the number of artists
    does not grow with n.

    References
    ----------
    .. [1] Silva Filho et al. (2023), section 4.1 and Fig. 6, doi 10.1007/s10994-023-06336-7.
    .. [2] Bröcker & Smith (2007), doi 10.1175/WAF993.1.
    .. [3] Dimitriadis, Gneiting & Jordan (2021), doi 10.1073/pnas.2016191118.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> drawn = reliability([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2, ax=ax)
    >>> drawn.curves[0].markers.get_offsets().data.round(3).tolist()
    [[0.3, 0.5], [0.7, 1.0]]
    """
    check_option(_CALLER, "style", style, ("line", "bars"))
    check_option(_CALLER, "x", x, ("mean", "centre"))
    check_option(_CALLER, "axis", axis, AXES)
    check_choices(_CALLER, histogram=histogram, counts=counts, annotate=annotate)
    options = PlotOptions.of(locals())
    look = Look(style == "bars", x, band, counts, gaps, arrows, rug)
    series = gather_series(y_true, y_prob, options, caller=_CALLER, detail=annotate)
    look.check(series, caller=_CALLER)
    ax = get_axes(ax, _figure_size(histogram, len(series)), caller=_CALLER)
    curves_chosen = [(one.curve, one.display) for one in series]
    frame = frame_of(curves_chosen, axis, from_zero=look.bars)
    reference, drawn = draw_curves(ax, series, look, frame)
    histogram_ax, curves = draw_spread(ax, series, drawn, histogram, frame)
    name_axes(ax, lowest_axes(ax, histogram_ax, histogram), series)
    colours = style_of(ax)
    true_line = None if truth is None else draw_truth(ax, truth, colours, caller=_CALLER)
    handles = [one.line if one.line is not None else one.bars for one in drawn]
    free = free_corners(series, frame, bars=look.bars)
    legend = draw_legend(
        ax, series, handles, true_line, colours, detail=annotate, corners=free, rug=rug
    )
    return DiagramArtists(ax, curves, reference, histogram_ax, true_line, legend)


def _figure_size(histogram: Place | None, n_models: int) -> tuple[float, float]:
    width, height = {None: (5.2, 5.2), "below": (5.2, 6.2), "side": (7.6, 4.7)}[histogram]
    return width, height + 0.22 * (n_models - 1)  # a line of the legend for each
