"""How predictions are spread, class by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator

from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.binning import Binning, UniformBins
from veridical.exceptions import invalid
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import RawData
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import short_count, short_name, size_text, styled_axes
from veridical.plots._drawing.frame import set_frame
from veridical.plots._drawing.legend import legend_above, text_size
from veridical.plots._drawing.named import need_predictions
from veridical.plots._drawing.simplex import mass_colours
from veridical.plots._drawing.style import SMALLEST
from veridical.summaries import Summary, summarise

_CALLER = "scores"
_TALL = 6  # classes up to which there is room for two lines each
_LISTED = 20  # classes up to which each has its name and number of rows


@dataclass(frozen=True, repr=False)
class ScoresArtists(Drawn):
    """Artists of the spread of predictions.

    Attributes
    ----------
    ax : the axes drawn on
    summary : the bins, with every number
    steps : of two outcomes, the histogram of each: (did not happen, happened)
    heat : of several classes, the histograms as rows of a heat map
    colorbar : key of the heat map
    legend : the legend, or None
    """

    summary: Summary
    steps: tuple[Any, ...] = ()
    heat: Any = None
    colorbar: Any = None
    legend: Any = None


def scores(
    y_true: ArrayLike | Summary,
    y_prob: ArrayLike | None = None,
    *,
    lens: Any = None,
    n_bins: Any = 20,
    binning: Binning | None = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
    ax: Axes | None = None,
) -> ScoresArtists:
    """Draw the distribution of predictions by what happened.

    For two classes, or a lens that asks one question, two histograms of the probability: where it
    happened and where it did not. For several classes one row a class: of the rows where it
    happened, how the probability given to it is spread.

    Parameters
    ----------
    y_true : array-like of shape (n,), or Summary
        Outcomes, or sums by bin (then `y_prob` is left out).
    y_prob : array-like of shape (n,), (n, 1) or (n, K)
        Predictions.
    lens : lens, name or callable, optional
        Default the binary lens for two classes and every class by itself for more; "confidence"
        shows the confidence where the model was right and where it was wrong.
    n_bins : int, default 20
        Bins of the histograms.
    binning : Binning, optional
        Other bins of the interval.
    labels, pos_label, sample_weight, weight_type
        As in :func:`veridical.reliability_curve`.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    ScoresArtists
        The axes, the artists and the sums drawn.

    Notes
    -----
    Heights are shares of the class, so a rare class is as visible as a frequent one; its number of
    rows is beside its name. Well separated histograms say that a model discriminates, nothing
    about whether its probabilities are right. Time O(n K).

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> drawn = scores([0, 0, 1], [0.2, 0.8, 0.9], n_bins=2, ax=Figure().subplots())
    >>> [steps.get_data().values.tolist() for steps in drawn.steps]
    [[0.5, 0.5], [0.0, 1.0]]
    """
    if isinstance(y_true, Summary):
        summary = y_true
        negative = "not"
    else:
        need_predictions(y_prob, "a Summary", caller=_CALLER)
        data = RawData(y_true, y_prob, labels=labels, pos_label=pos_label)
        data = data.weighted(sample_weight, weight_type)
        problem = data.through(lens, caller=_CALLER, whole=True).problem
        if isinstance(problem, MulticlassSample):
            problem = ClasswiseProblem(problem)
        negative = str(problem.classes[0]) if isinstance(problem, BinarySample) else "rest"
        summary = summarise(problem, binning or UniformBins(n_bins))
    if len(summary.names) == 1:
        return _draw_two(summary, negative, ax)
    return _draw_several(summary, ax)


def _draw_two(summary: Summary, negative: str, ax: Any) -> ScoresArtists:
    axes, style = styled_axes(ax, (4.8, 3.4), caller=_CALLER)
    edges = np.asarray(summary.partitions[0].edges, dtype=np.float64)
    happened = summary.sum_wy[0]
    masses = (np.maximum(summary.sum_w[0] - happened, 0.0), happened)
    plain = _unweighted(summary)
    names = (negative, str(summary.names[0]))
    steps = []
    for index, (mass, name) in enumerate(zip(masses, names, strict=True)):
        total = float(mass.sum())
        rows = size_text(total) if plain else f"{total / summary.sum_w.sum():.1%}"
        shares = mass[: len(edges) - 1] / total if total > 0 else mass[: len(edges) - 1]
        colour = style.colour(index)
        area: dict[str, Any] = {"fill": True, "facecolor": (colour, 0.3), "edgecolor": colour}
        area |= {"linewidth": 1.4, "linestyle": style.line(index)}
        steps.append(axes.stairs(shares, edges, label=f"{short_name(name)} ({rows})", **area))
    set_frame(axes, "x")
    axes.set_ylim(bottom=0)
    axes.set(xlabel="predicted probability", ylabel="share of its rows")
    size = text_size(axes)
    title = None if plain else size_text(summary.count.sum())
    heading = {"title": title, "title_fontsize": size}
    columns = {"ncols": 2 if size == "medium" else 1, "columnspacing": 1.2}
    legend = legend_above(axes, width=1.4, **columns, **heading)
    return ScoresArtists(axes, summary, steps=tuple(steps), legend=legend)


def _draw_several(summary: Summary, ax: Any) -> ScoresArtists:
    count = len(summary.names)
    if any(p != summary.partitions[0] for p in summary.partitions):
        hint = "use bins that are the same for every class, such as UniformBins(20)."
        raise invalid(_CALLER, "binning", "the same bins for every class", "several", hint=hint)
    axes, style = styled_axes(ax, (5.2, min(2.0 + 0.24 * count, 5.4)), caller=_CALLER)
    edges = np.asarray(summary.partitions[0].edges, dtype=np.float64)
    mass = summary.sum_wy[:, : len(edges) - 1]
    total = mass.sum(axis=1)
    shares = np.divide(mass, total[:, None], out=np.zeros_like(mass), where=total[:, None] > 0)
    drawn = np.ma.masked_equal(shares, 0.0)  # empty regions stay the ground
    # The root of the share, so that the few predictions beside a peak are seen too.
    norm = PowerNorm(0.5, vmin=0.0, vmax=float(shares.max()))
    rows = np.arange(count + 1) - 0.5
    heat = axes.pcolormesh(edges, rows, drawn, cmap=mass_colours(style), norm=norm, rasterized=True)
    axes.invert_yaxis()
    set_frame(axes, "x")
    axes.set_xlabel("probability of what happened")
    _name_rows(axes, summary, total)
    bar = axes.figure.figure.colorbar(
        heat, ax=axes, location="top", fraction=0.05, pad=0.03, aspect=30
    )
    bar.set_label(f"share of the class ({_sizes(summary, total)})", fontsize=SMALLEST)
    bar.ax.tick_params(labelsize=SMALLEST)
    bar.locator = MaxNLocator(4)
    bar.update_ticks()
    return ScoresArtists(axes, summary, heat=heat, colorbar=bar)


def _name_rows(ax: Axes, summary: Summary, total: FloatArray) -> None:
    """Names with their rows, or every so many of them."""
    count = len(summary.names)
    step = 1 if count <= _LISTED else -(-count // 12)
    at = range(0, count, step)
    names = [short_name(summary.names[i], 12) for i in at]
    if count <= _LISTED and _unweighted(summary):
        between = "\n" if count <= _TALL else ", "
        rows = [f"n = {short_count(t)}" for t in total]
        names = [f"{name}{between}{n}" for name, n in zip(names, rows, strict=True)]
    ax.set_yticks(at, names, fontsize=SMALLEST)


def _sizes(summary: Summary, total: FloatArray) -> str:
    n = size_text(summary.count[0].sum())
    if len(summary.names) <= _LISTED or not _unweighted(summary):
        return n
    low, high = (f"{t:,.10g}" for t in (total.min(), total.max()))
    return f"{n}, {low} each" if low == high else f"{n}, {low} to {high} each"


def _unweighted(summary: Summary) -> bool:
    return np.array_equal(summary.sum_w, summary.count)
