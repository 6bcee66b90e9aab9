"""Cost of a model's decisions over all costs of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from veridical._core.data.validation import check_option
from veridical._core.typing import ArrayLike, IntArray
from veridical.decisions import cost_curve as compute
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import short_name, size_text, styled_axes
from veridical.plots._drawing.frame import set_frame
from veridical.plots._drawing.legend import legend_above
from veridical.plots._drawing.named import named_results
from veridical.results import CostCurve

_CALLER = "cost_curve"
_MOST = 4000  # corners drawn; a curve of a million predictions has two million


@dataclass(frozen=True, repr=False)
class CostCurveArtists(Drawn):
    """Artists of cost curves.

    Attributes
    ----------
    ax : the axes drawn on
    models : line of every model at its own thresholds
    envelopes : line of every model at the best thresholds
    gaps : area between the two, for a single model
    trivial : line of the better constant decision
    legend : the legend
    """

    models: tuple[Any, ...]
    envelopes: tuple[Any, ...]
    gaps: Any
    trivial: Any
    legend: Any


def cost_curve(
    y_true: ArrayLike | CostCurve | Mapping[str, CostCurve],
    y_prob: ArrayLike | None = None,
    *,
    show: Literal["cost", "brier"] = "cost",
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
) -> CostCurveArtists:
    """Draw the expected cost of acting on the probabilities, for every ratio of costs.

    Parameters
    ----------
    y_true : array-like, CostCurve, or mapping of name to CostCurve
        Outcomes, or finished curves, one or several by name.
    y_prob : array-like, optional
        Predictions, with outcomes.
    show : {"cost", "brier"}, default "cost"
        Normalised expected cost against the probability cost; or the Brier curve, whose area is
        the Brier score, against the share of a false positive in the costs.
    lens, labels, pos_label, sample_weight
        As in :func:`veridical.cost_curve`, for raw data.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    CostCurveArtists
        The axes and artists.

    Notes
    -----
    The solid line takes the threshold the costs imply, the thin one the threshold that would have
    been best on these very rows: the area between is the cost of miscalibration. Where the solid
    line is above the grey triangle, deciding without the model is cheaper.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> drawn = cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], ax=Figure().subplots())
    >>> float(drawn.models[0].get_ydata().max())  # a false alarm of two, or a miss of two
    0.5
    """
    check_option(_CALLER, "show", show, ("cost", "brier"))
    rows, data = (y_true, y_prob), {"labels": labels, "pos_label": pos_label, "lens": lens}
    data |= {"sample_weight": sample_weight}
    named = named_results(rows, CostCurve, "cost curves", compute, caller=_CALLER, **data)
    axes, style = styled_axes(ax, (4.6, 4.4), caller=_CALLER)
    brier = show == "brier"
    models: list[Any] = []
    envelopes: list[Any] = []
    gap = None
    for index, (name, curve) in enumerate(named.items()):
        at = _thinned(len(curve))
        x = (curve.cost_share if brier else curve.probability_cost)[at]
        y = (curve.loss if brier else curve.model)[at]
        least = (curve.envelope_loss if brier else curve.envelope)[at]
        colour = style.colour(index)
        words = [short_name(name, 18), f"Brier {curve.brier:.4f}", size_text(curve.n_samples)]
        label = ", ".join(word for word in words if word)
        models += axes.plot(x, y, color=colour, linewidth=1.7, label=label, zorder=3)
        best = f"at the best thresholds {curve.refinement:.4f}"
        look = {"color": colour, "linewidth": 1.0, "linestyle": style.line(1), "zorder": 2.5}
        envelopes += axes.plot(x, least, label=best, **look)
        if len(named) == 1:
            gap = axes.fill_between(x, least, y, color=colour, alpha=0.25, linewidth=0)
    first = next(iter(named.values()))
    at = _thinned(len(first))
    x = (first.cost_share if brier else first.probability_cost)[at]
    lower = np.minimum(first.always_positive, first.always_negative)
    constant = (lower * first.scale if brier else lower)[at]
    area: dict[str, Any] = {"color": style.faint, "alpha": 0.35, "linewidth": 0, "zorder": 1}
    trivial = axes.fill_between(x, 0, constant, label="deciding without a model", **area)
    set_frame(axes, "x")
    axes.set_ylim(bottom=0)
    if brier:
        axes.set(xlabel="share of a false positive in the costs", ylabel="cost a row")
    else:
        axes.set(xlabel="probability cost PC(+)", ylabel="normalised expected cost")
    legend = legend_above(axes)
    return CostCurveArtists(axes, tuple(models), tuple(envelopes), gap, trivial, legend)


def _thinned(n: int) -> IntArray:
    """Indices of the corners drawn: all, or evenly spread ones with both ends."""
    return np.arange(n) if n <= _MOST else np.linspace(0, n - 1, _MOST).astype(np.intp)
