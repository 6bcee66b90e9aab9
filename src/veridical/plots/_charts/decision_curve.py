"""Net benefit of acting on a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from veridical._core.typing import ArrayLike, WeightType
from veridical.decisions import decision_curve as compute
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import styled_axes
from veridical.plots._drawing.named import framed, lines_with_bands, named_results
from veridical.results import DecisionCurve

_CALLER = "decision_curve"


@dataclass(frozen=True, repr=False)
class DecisionCurveArtists(Drawn):
    """Artists of decision curves.

    Attributes
    ----------
    ax : the axes drawn on
    models : net benefit of every model
    bands : its confidence limits
    treat_all, treat_none : lines of intervening always and never
    legend : the legend
    """

    models: tuple[Any, ...]
    bands: tuple[Any, ...]
    treat_all: Any
    treat_none: Any
    legend: Any


def decision_curve(
    y_true: ArrayLike | DecisionCurve | Mapping[str, DecisionCurve],
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    confidence_level: float = 0.95,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
    ax: Axes | None = None,
) -> DecisionCurveArtists:
    """Draw net benefit against the threshold probability.

    Parameters
    ----------
    y_true : array-like, DecisionCurve, or mapping of name to DecisionCurve
        Outcomes, or finished curves, one or several by name.
    y_prob : array-like, optional
        Predictions, with outcomes.
    thresholds, confidence_level, lens, labels, pos_label, sample_weight, weight_type
        As in :func:`veridical.decision_curve`, for raw data.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    DecisionCurveArtists
        The axes and artists.

    Notes
    -----
    Read it at the thresholds users would take: there a model is worth using if its line is above
    both "treat all" and "treat none". The band is for each threshold by itself and not for the
    difference between two lines, which is paired; `DecisionCurve.surely_useful` tests that. What
    lies far below zero is cut off.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> drawn = decision_curve([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.8],
    ...                        thresholds=[0.2, 0.5], ax=Figure().subplots())
    >>> drawn.models[0].get_ydata().round(12).tolist()  # 2/5 - 2/5 * 1/4 and 1/5 - 1/5
    [0.3, 0.0]
    """
    rows, data = (y_true, y_prob), {"labels": labels, "pos_label": pos_label, "lens": lens}
    data |= {"sample_weight": sample_weight, "weight_type": weight_type}
    data |= {"thresholds": thresholds, "confidence_level": confidence_level}
    named = named_results(rows, DecisionCurve, "decision curves", compute, caller=_CALLER, **data)
    return _draw(named, ax)


def _draw(named: Mapping[str, DecisionCurve], ax: Any) -> DecisionCurveArtists:
    axes, style = styled_axes(ax, (4.8, 3.8), caller=_CALLER)
    first = next(iter(named.values()))
    look: dict[str, Any] = {"color": style.muted, "linewidth": 1.2, "zorder": 2}
    dashes: dict[str, Any] = {"linestyle": style.line(1), "label": "treat all"}
    (treat_all,) = axes.plot(first.threshold, first.treat_all, **dashes, **look)
    treat_none = axes.axhline(0.0, label="treat none", **look)
    models, bands = lines_with_bands(axes, style, named, "threshold", "net_benefit")
    # No net benefit is above the prevalence; where few rows are treated, limits can be far above.
    top = max(float(curve.high.max()) for curve in named.values())
    top = max(min(top, 1.5 * first.prevalence), first.prevalence)
    across = float(first.threshold.min()), float(first.threshold.max())
    names = "threshold probability", "net benefit"
    legend = framed(axes, across, (-0.25 * top, 1.06 * top), names=names)
    return DecisionCurveArtists(axes, models, bands, treat_all, treat_none, legend)
