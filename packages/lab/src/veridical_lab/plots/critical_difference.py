"""Methods ranked over many data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from veridical.inference import mean_ranks
from veridical.plots.drawing import SMALLEST, Drawn, Style, short_name, styled_axes
from veridical.results import RankComparison
from veridical.results.base import say_pvalue
from veridical_lab.arrays import ArrayLike

_CALLER = "critical_difference"
_BESIDE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "annotation_clip": False}


@dataclass(frozen=True, repr=False)
class CriticalDifferenceArtists(Drawn):
    """Artists of a critical difference diagram.

    Attributes
    ----------
    ax : the axes drawn on
    ranks : the comparison drawn, with every number
    stems : from each mean rank to its name, from best to worst
    names : texts, from best to worst
    bars : one a group of methods that cannot be told apart
    ruler : length of the critical difference
    """

    ranks: RankComparison
    stems: tuple[Any, ...]
    names: tuple[Any, ...]
    bars: tuple[Any, ...]
    ruler: Any


def critical_difference(
    scores: RankComparison | Mapping[str, ArrayLike] | ArrayLike,
    *,
    methods: Any = None,
    better: Literal["smaller", "larger"] = "smaller",
    confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> CriticalDifferenceArtists:
    """Draw mean ranks of methods, and bars over those that cannot be told apart.

    Parameters
    ----------
    scores : RankComparison, mapping of str to array-like, or array of shape (n_datasets, n_methods)
        The finished comparison, or scores as in :func:`veridical.mean_ranks`.
    methods, better, confidence_level
        As in :func:`veridical.mean_ranks`, for scores.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    CriticalDifferenceArtists
        The axes and artists.

    Notes
    -----
    The best method, of mean rank near 1, is on the left. Methods under one bar differ by less than
    the critical difference (Demsar 2006, Fig. 1): the data do not tell them apart, which is not to
    say that they are equal. Ranks hide how large differences are.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> table = {"a": [1] * 8 + [3] * 2, "b": [2] * 10, "c": [4] * 10}
    >>> drawn = critical_difference(table, ax=Figure().subplots())
    >>> drawn.ranks.alike, len(drawn.bars)  # ranks 1.2, 1.8 and 3; a difference of 1.05
    ((('a', 'b'),), 1)
    """
    ranks = scores
    if not isinstance(ranks, RankComparison):
        options = {"better": better, "confidence_level": confidence_level}
        ranks = mean_ranks(scores, methods=methods, **options)  # type: ignore[arg-type]
    count = len(ranks.methods)
    side = -(-count // 2)  # names on each side
    levels = _bar_levels(ranks)
    axes, style = styled_axes(ax, (5.6, 1.5 + 0.24 * side + 0.12 * len(levels)), caller=_CALLER)
    axes.set_xlim(1, count)
    first = 0.35 + 0.28 * (max(levels, default=-1) + 1)  # depth of the first name
    depth = first + 0.55 * (side - 1)
    axes.set_ylim(depth + 0.35, -0.9)
    stems, names = [], []
    for place, (name, rank) in enumerate(ranks.ordered):
        left = place < side
        y = first + 0.55 * (place if left else count - 1 - place)
        edge, across = (1.0, "right") if left else (float(count), "left")
        stems += axes.plot(
            [rank, rank, edge], [0, y, y], color=style.muted, linewidth=1, zorder=2, clip_on=False
        )
        text = (
            f"{short_name(name, 16)}  {rank:.2f}" if left else f"{rank:.2f}  {short_name(name, 16)}"
        )
        offset = (-3 if left else 3, 0)
        names.append(axes.annotate(text, (edge, y), offset, ha=across, va="center", **_BESIDE))
    points = dict(ranks.ordered)
    bars = []
    for group, level in zip(ranks.alike, levels, strict=True):
        span = [points[group[0]] - 0.03, points[group[-1]] + 0.03]
        y = 0.18 + 0.28 * level
        thick: dict[str, Any] = {"linewidth": 3.5, "solid_capstyle": "butt", "clip_on": False}
        bars += axes.plot([*span], [y, y], color=style.colour(1), zorder=3, **thick)
    ruler = _draw_ruler(axes, ranks, style)
    axes.spines[["left", "right", "bottom"]].set_visible(False)
    axes.spines["top"].set_position(("data", 0.0))
    axes.xaxis.tick_top()
    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
    axes.set_yticks([])
    axes.set_xlabel(
        f"mean rank on {ranks.n_datasets} data sets, F test {say_pvalue(ranks.pvalue)}",
        fontsize=SMALLEST,
    )
    return CriticalDifferenceArtists(axes, ranks, tuple(stems), tuple(names), tuple(bars), ruler)


def _bar_levels(ranks: RankComparison) -> list[int]:
    """Height of each bar, so that bars that overlap are not on one line."""
    points = dict(ranks.ordered)
    ends: list[float] = []
    levels = []
    for group in ranks.alike:
        start, end = points[group[0]], points[group[-1]]
        level = next((i for i, last in enumerate(ends) if last + 0.1 < start), len(ends))
        ends[level : level + 1] = [end]
        levels.append(level)
    return levels


def _draw_ruler(ax: Axes, ranks: RankComparison, style: Style) -> Any:
    """The critical difference as a length above the axis, at its left end."""
    width = min(ranks.critical_difference, len(ranks.methods) - 1.0)
    look: dict[str, Any] = {"color": style.ink, "linewidth": 1.5, "marker": "|", "markersize": 6}
    (ruler,) = ax.plot([1, 1 + width], [-0.62, -0.62], clip_on=False, **look)
    level = f"{100 * ranks.confidence_level:g} %"
    text = f"critical difference {ranks.critical_difference:.2f} ({level})"
    ax.annotate(text, (1, -0.62), (0, 5), ha="left", va="bottom", **_BESIDE)
    return ruler
