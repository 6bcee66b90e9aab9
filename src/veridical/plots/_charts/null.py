"""A figure against what a calibrated model would show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError, Estimator
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import size_text, styled_axes
from veridical.plots._drawing.legend import legend_above, text_size
from veridical.plots._drawing.named import need_predictions
from veridical.results import ConsistencyTest, NullLevel
from veridical.results.base import say_pvalue

_CALLER = "null"
_BINS = 40


@dataclass(frozen=True, repr=False)
class NullArtists(Drawn):
    """Artists of a null distribution.

    Attributes
    ----------
    ax : the axes drawn on
    bars : histogram of the null sample
    extreme : for each bar, whether all of it is at least as extreme as the observed figure
    observed : line at the observed figure
    quantile : line up to which 95 % of the null sample lies
    legend : the legend
    """

    bars: Any
    extreme: tuple[bool, ...]
    observed: Any
    quantile: Any
    legend: Any


def null(
    y_true: ArrayLike | ConsistencyTest | NullLevel,
    y_prob: ArrayLike | None = None,
    *,
    estimator: Estimator | None = None,
    lens: Any = None,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
    ax: Axes | None = None,
) -> NullArtists:
    """Draw a calibration error against its null distribution (000 Fig. 21).

    Parameters
    ----------
    y_true : array-like, ConsistencyTest or NullLevel
        Outcomes, or the finished result of :func:`consistency_test` or :func:`null_level`.
    y_prob : array-like, optional
        Predictions, with outcomes.
    estimator : Estimator, optional
        Default the binned error of 15 bins.
    lens, n_resamples, labels, pos_label, sample_weight, weight_type
        As in :func:`veridical.consistency_test`, for raw data.
    rng : int, Generator or None
        Seed; None is a fixed seed here: the same data give the same picture.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    NullArtists
        The axes and artists.

    Notes
    -----
    The histogram holds the figures that resampled outcomes gave, drawn from the predictions: what
    is read off a perfectly calibrated model. Its share beyond the line is the p-value, up to the
    one added draw. That the figure lies inside is no proof of calibration; with few rows the
    histogram is wide and hides much.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> level = NullLevel(mean=0.5, std=0.5, sample=np.array([0.0, 1.0]), estimate=0.75,
    ...     estimator="ECE", definition="", lens="binary", n_samples=10, n_resamples=2)
    >>> null(level, ax=Figure().subplots()).observed.get_xdata()
    [0.75, 0.75]
    """
    if isinstance(y_true, NullLevel):
        return _draw(y_true, None, "greater", ax)
    test = y_true
    if not isinstance(test, ConsistencyTest):
        need_predictions(y_prob, "a ConsistencyTest or NullLevel", caller=_CALLER)
        data = {"labels": labels, "pos_label": pos_label, "sample_weight": sample_weight}
        data |= {"lens": lens, "weight_type": weight_type}
        seed, estimator = 0 if rng is None else rng, estimator or BinnedError()
        test = consistency_test(
            estimator, y_true, y_prob, n_resamples=n_resamples, rng=seed, **data
        )
    return _draw(test.null_level, test.pvalue, test.alternative, ax)


def _draw(level: NullLevel, pvalue: float | None, alternative: str, ax: Any) -> NullArtists:
    axes, style = styled_axes(ax, (4.8, 3.4), caller=_CALLER)
    sample, estimate = np.asarray(level.sample), level.estimate
    counts, edges = np.histogram(sample, bins=_edges(sample, estimate))
    extreme = _extreme(edges, estimate, level.mean, alternative)
    colours = [style.colour(1) if beyond else style.muted for beyond in extreme]
    look: dict[str, Any] = {"width": np.diff(edges), "align": "edge", "color": colours}
    bars = axes.bar(edges[:-1], counts, linewidth=0, zorder=2, **look)
    label = f"observed: {level.estimator} {estimate:.4g}"
    if pvalue is not None:
        label += f", {say_pvalue(pvalue, level.n_resamples)}"
    observed = axes.axvline(estimate, color=style.colour(1), linewidth=2, zorder=4, label=label)
    q95 = level.quantile(0.95)
    label = f"95 % if calibrated: up to {q95:.4g}"
    look = {"color": style.ink, "linewidth": 1.2, "linestyle": style.line(1)}
    quantile = axes.axvline(q95, zorder=3, label=label, **look)
    axes.set(xlabel=f"{level.estimator} if calibrated", ylabel=f"of {level.n_resamples:,} draws")
    title = f"{size_text(level.n_samples)}, {level.lens} lens"
    heading = {"title": title, "title_fontsize": text_size(axes), "alignment": "left"}
    legend = legend_above(axes, width=1.6, **heading)
    return NullArtists(axes, bars, extreme, observed, quantile, legend)


def _edges(sample: FloatArray, estimate: float) -> FloatArray:
    """Edges of equal bins; one of them is the estimate, so that no bar lies on both sides."""
    edges = np.histogram_bin_edges(sample, min(_BINS, max(5, len(sample) // 10)))
    if edges[0] < estimate < edges[-1]:
        width = edges[1] - edges[0]
        edges = np.append(edges[0] - width, edges) + (estimate - edges[0]) % width
        edges[np.argmin(np.abs(edges - estimate))] = estimate
    return edges


def _extreme(
    edges: np.ndarray[Any, Any], estimate: float, mean: float, alternative: str
) -> tuple[bool, ...]:
    """Which bars lie beyond the estimate, on the side or sides that count."""
    low, high = edges[:-1], edges[1:]
    above, below = low >= estimate, high <= estimate
    if alternative == "two-sided":
        far = abs(estimate - mean)
        above, below = low >= mean + far, high <= mean - far
        return tuple((above | below).tolist())
    return tuple((below if alternative == "less" else above).tolist())
