"""The paper's reliability diagram: gaps, and bars for what chance would do."""

from __future__ import annotations

import numpy as np

from veridical.plots._panels import Line, Mark, Panel, Points
from veridical.results import ReliabilityCurve


def deviation_panel(curve: ReliabilityCurve, *, title: str, truth: Mark | None = None) -> Panel:
    """Return observed minus predicted by bin, with consistency bars around zero."""
    assert curve.low is not None
    assert curve.high is not None
    at = curve.predicted
    marks: list[Mark] = [Line([0, 1], [0, 0], muted=True)]
    if truth is not None:
        marks.append(truth)
    marks += [
        Points(
            at, np.zeros(len(at)), "5 to 95 % if calibrated", 1, size=2.0,
            low=curve.low - at, high=curve.high - at,
        ),
        Points(at, curve.gap, "gap found", 0),
    ]  # fmt: skip
    return Panel(
        marks, title=title, x_scale="probability", x_label="prediction",
        y_label="observed \N{MINUS SIGN} predicted",
    )  # fmt: skip


def n_outside(curve: ReliabilityCurve) -> int:
    """Return the number of bins that lie outside their consistency bar."""
    assert curve.low is not None
    assert curve.high is not None
    return int(np.sum((curve.observed < curve.low) | (curve.observed > curve.high)))
