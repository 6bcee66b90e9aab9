"""Diagrams the survey draws more than once, as panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from veridical.plots._panels import Bars, Mark, Panel, Points, draw_panels
from veridical.results import ReliabilityCurve


def square_panel(marks: Sequence[Mark], title: str, x_label: str, y_label: str) -> Panel:
    """Two probabilities and the diagonal."""
    return Panel(
        marks, title=title, x_label=x_label, y_label=y_label, x_scale="probability",
        y_scale="probability", diagonal=True,
    )  # fmt: skip


def bars_panel(curve: ReliabilityCurve, title: str, x_label: str, y_label: str) -> Panel:
    """Bars up to the observed frequency, and the gap of each bin at its mean prediction."""
    edges = np.append(curve.lower, curve.upper[-1])
    gaps = Points(
        curve.predicted, curve.observed, "gap at the mean prediction", colour=1,
        low=np.minimum(curve.predicted, curve.observed),
        high=np.maximum(curve.predicted, curve.observed),
    )  # fmt: skip
    return square_panel([Bars(edges, curve.observed, colour=0), gaps], title, x_label, y_label)


def blank_axes(size: tuple[float, float]) -> Any:
    """Matplotlib axes of a figure of their own, for a plot that draws on axes it is given."""
    return draw_panels([Panel([])], columns=1, size=size).axes[0]
