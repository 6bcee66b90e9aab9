"""A score in its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from veridical._core.typing import ArrayLike
from veridical.decomposition import decompose
from veridical.exceptions import invalid
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import short_name, size_text, styled_axes
from veridical.plots._drawing.forest import forest_size
from veridical.plots._drawing.legend import legend_above
from veridical.plots._drawing.named import named_results
from veridical.plots._drawing.style import Style
from veridical.results import Decomposition

_CALLER = "decomposition"


@dataclass(frozen=True, repr=False)
class DecompositionArtists(Drawn):
    """Artists of decompositions.

    Attributes
    ----------
    ax : the axes drawn on
    parts : bars by name of the part, one bar a decomposition
    discrimination : thin bars from the refinement to the uncertainty
    scores : diamonds at the scores
    irreducible : lines at the irreducible losses, None without a posterior
    legend : the legend
    """

    parts: dict[str, tuple[Any, ...]]
    discrimination: tuple[Any, ...]
    scores: Any
    irreducible: Any
    legend: Any


def decomposition(
    y_true: ArrayLike | Decomposition | Mapping[str, Decomposition],
    y_prob: ArrayLike | None = None,
    *,
    rule: Any = "brier",
    method: Any = None,
    lens: Any = None,
    n_bins: Any = 15,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
) -> DecompositionArtists:
    """Draw the parts of one score, or of the scores of several models, as stacked bars.

    Parameters
    ----------
    y_true : array-like, Decomposition, or mapping of name to Decomposition
        Outcomes, or finished decompositions, one or several by name.
    y_prob : array-like, optional
        Predictions, with outcomes.
    rule, method, lens, n_bins, labels, pos_label, sample_weight
        As in :func:`veridical.decompose`, for raw data.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    DecompositionArtists
        The axes and artists.

    Notes
    -----
    A bar is the score: the refinement, which recalibration cannot reduce, and the miscalibration,
    which it can; with bins a hatched piece is what binning hides, drawn back from the end if it is
    negative. With a known posterior a dotted line marks the irreducible loss, which no model beats
    on average. The thin bar below reaches from the refinement to the uncertainty, the score of
    always predicting the base rate: it is the discrimination. The estimated miscalibration of a
    finite sample is too large, so compare models on the same rows and by the same method.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> drawn = decomposition([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], method="unique",
    ...                       ax=Figure().subplots())
    >>> float(drawn.parts["miscalibration"][0].get_width())  # both values off by a quarter
    0.0625
    """
    data = {"labels": labels, "pos_label": pos_label, "sample_weight": sample_weight}
    data |= {"rule": rule, "method": method, "lens": lens, "n_bins": n_bins}
    rows = (y_true, y_prob)
    named = named_results(rows, Decomposition, "decompositions", decompose, caller=_CALLER, **data)
    rules = {d.rule for d in named.values()}
    if len(rules) > 1:
        hint = "draw one rule at a time: scores of different rules have no common scale."
        got = ", ".join(sorted(rules))
        raise invalid(_CALLER, "y_true", "decompositions of one rule", got, hint=hint)
    axes, style = styled_axes(ax, forest_size(len(named) + 1), caller=_CALLER)
    parts: dict[str, list[Any]] = {}
    thin: list[Any] = []
    for row, d in enumerate(named.values()):
        start = 0.0
        for part, width in _stack(d):
            look = _looks(part, style)
            if part in parts:
                look.pop("label")
            (bar,) = axes.barh(row - 0.1, width, height=0.42, left=start, zorder=2, **look)
            parts.setdefault(part, []).append(bar)
            start += width
        look = {"color": style.colour(2), "label": None if thin else "discrimination"}
        width, left = d.discrimination, d.refinement
        (bar,) = axes.barh(row + 0.24, width, height=0.14, left=left, zorder=2, **look)
        thin.append(bar)
    drawn = list(named.values())
    best = [(row, d.irreducible) for row, d in enumerate(drawn) if d.irreducible is not None]
    irreducible: Any = None
    if best:
        at, values = zip(*best, strict=True)
        low, high = [row - 0.38 for row in at], [row + 0.18 for row in at]
        look = {"color": style.ink, "linestyle": ":", "linewidth": 1.6, "zorder": 3}
        irreducible = axes.vlines(values, low, high, label="irreducible", **look)
    middle = [row - 0.1 for row in range(len(drawn))]
    look = {"marker": "D", "s": 30, "color": style.ink, "edgecolors": [style.ground]}
    scores = [d.score for d in drawn]
    diamonds = axes.scatter(scores, middle, linewidths=0.6, zorder=4, label="score", **look)
    names = [_name(name, d) for name, d in named.items()]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"{drawn[0].rule} score ({drawn[0].method}, {drawn[0].lens})")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    legend = legend_above(axes, ncols=2, columnspacing=1.2, width=1.2)
    fixed = {part: tuple(bars) for part, bars in parts.items()}
    return DecompositionArtists(axes, fixed, tuple(thin), diamonds, irreducible, legend)


def _stack(d: Decomposition) -> list[tuple[str, float]]:
    """Parts of the bar, from the left; they add up to the score."""
    parts = [("refinement", d.refinement), ("miscalibration", d.miscalibration)]
    if d.within_bin != 0:
        parts.append(("within bins", d.within_bin))
    return parts


def _looks(part: str, style: Style) -> dict[str, Any]:
    if part == "within bins":
        hatched = {"facecolor": "none", "edgecolor": style.ink, "hatch": "////"}
        return {"label": part, "linewidth": 0.8, **hatched}
    colour = style.colour(0 if part == "refinement" else 1)
    return {"label": part, "linewidth": 0.5, "facecolor": colour, "edgecolor": style.ground}


def _name(name: str, d: Decomposition) -> str:
    size = size_text(d.n_samples)
    return f"{short_name(name, 16)}\n{size}" if name else size
