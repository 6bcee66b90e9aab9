"""Risk of the rows answered, against how many are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from veridical._core.typing import ArrayLike, WeightType
from veridical.decisions import risk_coverage_curve as compute
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import styled_axes
from veridical.plots._drawing.named import framed, lines_with_bands, named_results
from veridical.results import RiskCoverageCurve, RiskThreshold

_CALLER = "risk_coverage"


@dataclass(frozen=True, repr=False)
class RiskCoverageArtists(Drawn):
    """Artists of risk-coverage curves.

    Attributes
    ----------
    ax : the axes drawn on
    models : risk of every model
    bands : its confidence limits
    promise : lines of a promise and of the share answered under it; empty without one
    legend : the legend
    """

    models: tuple[Any, ...]
    bands: tuple[Any, ...]
    promise: tuple[Any, ...]
    legend: Any


def risk_coverage(
    y_true: ArrayLike | RiskCoverageCurve | Mapping[str, RiskCoverageCurve],
    y_prob: ArrayLike | None = None,
    *,
    promise: RiskThreshold | None = None,
    confidence_level: float = 0.95,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
    ax: Axes | None = None,
) -> RiskCoverageArtists:
    """Draw the share of wrong answers against the share of rows that is answered.

    Parameters
    ----------
    y_true : array-like, RiskCoverageCurve, or mapping of name to RiskCoverageCurve
        Outcomes, or finished curves, one or several by name.
    y_prob : array-like, optional
        Predictions, with outcomes.
    promise : RiskThreshold, optional
        A promise, whose risk and coverage are marked.
    confidence_level, lens, labels, pos_label, sample_weight, weight_type
        As in :func:`veridical.risk_coverage_curve`, for raw data.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    RiskCoverageArtists
        The axes and artists.

    Notes
    -----
    Read it from the right: everything is answered, with the model's error rate. To the left fewer
    and surer rows are. A model whose scores mean something falls towards the left; a flat line
    says that they do not tell right from wrong. The band holds at all places together.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> drawn = risk_coverage([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], lens="binary",
    ...                       ax=Figure().subplots())
    >>> drawn.models[0].get_ydata().round(3).tolist()
    [0.0, 0.5, 0.333, 0.5]
    """
    rows, data = (y_true, y_prob), {"labels": labels, "pos_label": pos_label, "lens": lens}
    data |= {"sample_weight": sample_weight, "weight_type": weight_type}
    data |= {"confidence_level": confidence_level}
    what = "risk-coverage curves"
    named = named_results(rows, RiskCoverageCurve, what, compute, caller=_CALLER, **data)
    return _draw(named, promise, ax)


def _draw(
    named: Mapping[str, RiskCoverageCurve], promise: RiskThreshold | None, ax: Any
) -> RiskCoverageArtists:
    axes, style = styled_axes(ax, (4.8, 3.8), caller=_CALLER)
    models, bands = lines_with_bands(axes, style, named, "coverage", "risk")
    marks: list[Any] = []
    if promise is not None:
        look: dict[str, Any] = {"color": style.muted, "linewidth": 1.2, "zorder": 2}
        text = f"at most {100 * promise.at_most:g} %"
        marks.append(axes.axhline(promise.at_most, linestyle=style.line(1), label=text, **look))
        if promise.found:
            text = f"answered: {promise.coverage:.0%}"
            marks.append(axes.axvline(promise.coverage, label=text, **look))
    # Few rows at the left have limits far above what matters.
    top = max(
        float(curve.high[curve.coverage >= 0.1].max(initial=0.02)) for curve in named.values()
    )
    top = max(top, 0.0 if promise is None else 1.2 * promise.at_most)
    names = "share of rows answered", "share of wrong answers"
    legend = framed(axes, (0, 1), (0, min(1.05 * top, 1.02)), names=names)
    return RiskCoverageArtists(axes, models, bands, tuple(marks), legend)
