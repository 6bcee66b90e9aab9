"""Candidates of an automatic calibrator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from veridical.exceptions import invalid
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import short_name, size_text, styled_axes
from veridical.plots._drawing.forest import draw_forest, forest_size
from veridical.plots._drawing.style import SMALLEST, Style
from veridical.results import CandidateEvidence, Evidence

_CALLER = "evidence"


@dataclass(frozen=True, repr=False)
class EvidenceArtists(Drawn):
    """Artists of the evidence.

    Attributes
    ----------
    ax : the axes drawn on
    candidates : names drawn, from top to bottom
    points, lines : differences and their intervals
    reference : line of the identity
    notes : share of each candidate in the result, where it has one
    """

    candidates: tuple[str, ...]
    points: Any
    lines: Any
    reference: Any
    notes: tuple[Any, ...]


def evidence(result: object, *, ax: Axes | None = None) -> EvidenceArtists:
    """Draw what each candidate gains over leaving the predictions alone, with intervals.

    Parameters
    ----------
    result : Evidence
        The `evidence_` of an :class:`AutoCalibrator`.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    EvidenceArtists
        The axes and artists.

    Notes
    -----
    Log loss on held-out rows minus that of the identity: left of the line is better. Candidates
    are in order of that difference, the result and its parts in colour, parts with their share.
    Intervals are paired with the identity, not with each other, so two that overlap may still
    differ. Candidates that were not tried are left out.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from veridical.results.selection import CandidateEvidence, Evidence
    >>> entry = {"log_loss": 0.5, "brier": 0.2, "note": "", "seconds": 0.1}
    >>> tried = (
    ...     CandidateEvidence(candidate="identity", difference=0.0, low=0.0, high=0.0, weight=0.0,
    ...                       chosen=False, **entry),
    ...     CandidateEvidence(candidate="beta", difference=-0.02, low=-0.03, high=-0.01,
    ...                       weight=1.0, chosen=True, **entry))
    >>> found = Evidence(candidates=tried, strategy="select", verdict="beta", n_samples=100,
    ...     n_classes=2, partitions=(5,), n_used=100, confidence_level=0.95)
    >>> evidence(found, ax=Figure().subplots()).candidates
    ('beta', 'identity')
    """
    if not isinstance(result, Evidence):
        hint = "pass `calibrator.evidence_` of a fitted AutoCalibrator."
        raise invalid(_CALLER, "result", "an Evidence", type(result).__name__, hint=hint)
    tried = [c for c in result.candidates if c.difference is not None]
    if not tried:
        hint = "no candidate was tried; print the evidence to see why."
        raise invalid(_CALLER, "result", "with candidates that were tried", "none", hint=hint)
    tried.sort(key=lambda c: c.difference or 0.0)
    axes, style = styled_axes(ax, forest_size(len(tried)), caller=_CALLER)
    reference = axes.axvline(0.0, color=style.muted, linewidth=1, zorder=2)
    limits = [None if c.low is None or c.high is None else (c.low, c.high) for c in tried]
    points, lines, notes = draw_forest(
        axes,
        [short_name(c.candidate, 22) for c in tried],
        [c.difference or 0.0 for c in tried],
        limits,
        style,
        colours=[_colour(c, result, style) for c in tried],
        notes=[_note(c, result) for c in tried],
    )
    level = f"{100 * result.confidence_level:g} %"
    axes.set_xlabel(f"log loss \N{MINUS SIGN} identity\n({level} intervals)")
    axes.set_title(
        f"{size_text(result.n_used)}\nleft of 0 is better", fontsize=SMALLEST, loc="left"
    )
    names = tuple(c.candidate for c in tried)
    return EvidenceArtists(axes, names, points, lines, reference, notes)


def _colour(candidate: CandidateEvidence, result: Evidence, style: Style) -> str:
    if candidate is result.candidates[-1]:
        return style.colour(0)
    return style.colour(1) if candidate.chosen else style.muted


def _note(candidate: CandidateEvidence, result: Evidence) -> str:
    if candidate is result.candidates[-1]:
        return "result"
    return f"{100 * candidate.weight:.0f} %" if candidate.chosen else ""
