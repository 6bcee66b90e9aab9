"""Figure 86.1, and how the printed errors lie among others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from veridical._core.typing import FloatArray
from veridical.curves import reliability_curve
from veridical.experiments._chapter_draw import VERSIONS, Study
from veridical.experiments._chapter_measures import ERROR
from veridical.plots._panels import Bars, Line, Mark, Panel, Points


def figure_86_1(study: Study) -> list[Panel]:
    """Describe the three curves, and their gaps with the limits of calibrated predictions."""
    curves: list[Mark] = []
    gaps: list[Mark] = [Line([0, 1], [0, 0], muted=True)]
    for k, version in enumerate(VERSIONS):
        curve = reliability_curve(
            study.draw.test, study.test[version], binning=ERROR.binning, interval="consistency",
            rng=0,
        )  # fmt: skip
        assert curve.low is not None
        assert curve.high is not None
        curves.append(
            Line(curve.predicted, curve.observed, version, colour=k, dash=k, markers=True)
        )
        x = curve.predicted + 0.012 * (k - 1)  # side by side
        gaps += [
            Line(x, curve.gap, colour=k, dash=k, markers=True),
            Points(
                x, np.zeros(len(x)), colour=k, size=0,
                low=curve.low - curve.predicted, high=curve.high - curve.predicted,
            ),
        ]  # fmt: skip
    return [
        Panel(
            curves, title="Figure 86.1", x_label="mean predicted probability",
            y_label="observed frequency", x_scale="probability", y_scale="probability",
            diagonal=True,
        ),
        Panel(
            gaps, title="gaps", x_label="mean predicted probability",
            y_label="observed - predicted", x_scale="probability",
        ),
    ]  # fmt: skip


def spread_of_errors(many: Mapping[str, FloatArray], printed: Mapping[str, float]) -> list[Panel]:
    """Describe the ECE of each version over the draws."""
    panels = []
    for k, version in enumerate(VERSIONS):
        values = many[f"ECE, {version}"]
        heights, edges = np.histogram(values, bins=16)
        top = 1.05 * heights.max()
        null = float(many[f"null, {version}"].mean())
        marks: list[Mark] = [
            Bars(edges, heights, colour=k),
            Line([printed[version]] * 2, [0, top], "printed", colour=6),
            Line([null] * 2, [0, top], "if calibrated", muted=True, dash=1),
        ]
        panels.append(Panel(marks, title=version, x_label="ECE", y_label="draws" if k == 0 else ""))
    return panels
