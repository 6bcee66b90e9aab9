"""Segments of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from veridical._core.drawing.words import gap_text
from veridical.exceptions import invalid
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import short_name, size_text, styled_axes
from veridical.plots._drawing.forest import draw_forest, forest_size
from veridical.plots._drawing.style import SMALLEST
from veridical.results import SegmentAudit
from veridical.results.base import say_pvalue

_LETTERS = 44


@dataclass(frozen=True, repr=False)
class SegmentArtists(Drawn):
    """Artists of the segments of an audit.

    Attributes
    ----------
    ax : the axes drawn on
    segments : names drawn, from top to bottom
    points, lines : gaps and their limits
    reference : line of no gap
    notes : rows and adjusted p-value of each
    """

    segments: tuple[str, ...]
    points: Any
    lines: Any
    reference: Any
    notes: tuple[Any, ...]


def segments(result: object, *, most: int = 12, ax: Axes | None = None) -> SegmentArtists:
    """Draw the gaps of segments, with limits that hold for all segments searched at once.

    Parameters
    ----------
    result : SegmentAudit
        From :func:`audit_segments`, or `Evaluation.segments`.
    most : int, default 12
        Segments drawn: those found, then those that deviate most.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    SegmentArtists
        The axes and artists.

    Notes
    -----
    Left of the line less happens than is said. In colour are segments whose p-value, adjusted for
    the search, is at most one minus the confidence level.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from veridical import audit_segments
    >>> y, p = [0, 0, 0, 1] * 30 + [1, 1, 1, 0] * 30, [0.5] * 240
    >>> audit = audit_segments(y, p, {"region": ["north"] * 120 + ["south"] * 120}, rng=0)
    >>> segments(audit, ax=Figure().subplots()).segments
    ('region = north', 'region = south', 'all rows')
    """
    audit = _audit(result, "segments")
    shown = audit.shown(most)
    sure = (1 - audit.confidence_level) * (1 + 1e-9)
    axes, style = styled_axes(ax, forest_size(len(shown)), caller="segments")
    reference = axes.axvline(0.0, color=style.muted, linewidth=1, zorder=2)
    points, lines, notes = draw_forest(
        axes,
        [short_name(each.name, _LETTERS) for each in shown],
        [each.gap for each in shown],
        [(each.low - each.says, each.high - each.says) for each in shown],
        style,
        colours=[style.colour(0) if each.pvalue <= sure else style.muted for each in shown],
        notes=[
            f"{each.n_samples:,}, {say_pvalue(each.pvalue, audit.n_resamples)}" for each in shown
        ],
    )
    level = f"{100 * audit.confidence_level:g} %"
    axes.set_xlabel(
        f"what happens \N{MINUS SIGN} what is said\n({level} limits for all segments at once)"
    )
    axes.set_title(
        f"{size_text(audit.n_samples)}, {audit.n_segments:,} segments searched",
        fontsize=SMALLEST,
        loc="left",
    )
    names = tuple(each.name for each in shown)
    return SegmentArtists(axes, names, points, lines, reference, notes)


@dataclass(frozen=True, repr=False)
class SegmentMapArtists(Drawn):
    """Artists of two features crossed.

    Attributes
    ----------
    ax : the axes drawn on
    image : colours of the gaps
    texts : gaps as numbers
    outlines : frames of segments whose adjusted p-value is small
    colorbar : the scale of gaps
    """

    image: Any
    texts: tuple[Any, ...]
    outlines: tuple[Any, ...]
    colorbar: Any


def segment_map(
    result: object, features: tuple[str, str] | None = None, *, ax: Axes | None = None
) -> SegmentMapArtists:
    """Draw the gaps of the segments of two features as a heat map.

    Parameters
    ----------
    result : SegmentAudit
        From :func:`audit_segments` with a depth of 2 or more.
    features : pair of str, optional
        Names of the features, down and across; default the pair of the strongest segment.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    SegmentMapArtists
        The axes and artists.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from veridical import audit_segments
    >>> y, p = [0, 0, 0, 1] * 60 + [1, 1, 1, 0] * 60, [0.5] * 480
    >>> columns = {"region": ["n"] * 240 + ["s"] * 240, "sex": ["f", "m"] * 240}
    >>> audit = audit_segments(y, p, columns, rng=0)
    >>> [text.get_text()[-4:] for text in segment_map(audit, ax=Figure().subplots()).texts]
    ['0.50', '0.00', '0.50', '0.00']
    """
    audit = _audit(result, "segment_map")
    if features is None and not audit.pairs:
        hint = "search with depth=2 or more, and at least two features."
        raise invalid("segment_map", "result", "with segments of two features", "none", hint=hint)
    first, second = _pair(audit, audit.pairs[0] if features is None else features)
    down, across, places = audit.pair(first, second)
    gaps = np.full((len(down), len(across)), np.nan)
    for place, segment in places.items():
        gaps[place] = segment.gap
    axes, _ = styled_axes(
        ax, (1.8 + 0.9 * len(across), 1.6 + 0.5 * len(down)), caller="segment_map"
    )
    most = float(np.nanmax(np.abs(gaps))) or 1.0
    image = axes.imshow(gaps, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    sure = (1 - audit.confidence_level) * (1 + 1e-9)
    texts, outlines = [], []
    for (i, k), segment in sorted(places.items()):
        dark = abs(segment.gap) > 0.65 * most
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALLEST}
        words = gap_text(segment.gap)
        texts.append(axes.text(k, i, words, color="white" if dark else "#1a1a1a", **look))
        if segment.pvalue <= sure:
            frame = Rectangle((k - 0.48, i - 0.48), 0.96, 0.96, fill=False, linewidth=1.8)
            frame.set_edgecolor("#1a1a1a")
            outlines.append(axes.add_patch(frame))
    axes.set_xticks(range(len(across)), [_value(words, second) for words in across], rotation=20)
    axes.set_yticks(range(len(down)), [_value(words, first) for words in down])
    axes.set(xlabel=second, ylabel=first)
    axes.tick_params(length=0)
    colorbar = axes.figure.colorbar(image, ax=axes, pad=0.02)
    colorbar.set_label("what happens \N{MINUS SIGN} what is said")
    axes.set_title(
        f"outlined: adjusted p at most {1 - audit.confidence_level:.2g}; blank: too few rows",
        fontsize=SMALLEST,
        loc="left",
    )
    return SegmentMapArtists(axes, image, tuple(texts), tuple(outlines), colorbar)


def _audit(result: object, caller: str) -> SegmentAudit:
    if not isinstance(result, SegmentAudit):
        hint = "pass what `audit_segments` returns."
        raise invalid(caller, "result", "a SegmentAudit", type(result).__name__, hint=hint)
    return result


def _pair(audit: SegmentAudit, features: Any) -> tuple[str, str]:
    names = tuple(features) if isinstance(features, (tuple, list)) else ()
    for known in audit.pairs:
        if set(known) == set(names):
            return known
    listed = "; ".join(" and ".join(pair) for pair in audit.pairs[:6]) or "none"
    hint = f"pairs of listed segments: {listed}."
    raise invalid("segment_map", "features", "two features", repr(features), hint=hint)


def _value(words: str, feature: str) -> str:
    return short_name(words.removeprefix(f"{feature} ").removeprefix("= "), 18)
