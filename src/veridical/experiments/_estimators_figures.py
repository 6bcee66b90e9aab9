"""Pictures of the comparison of estimators."""

from __future__ import annotations

import numpy as np

from veridical.experiments._estimators_settings import (
    BANDWIDTHS,
    COUNTS,
    FAMILIES,
    LENSES,
    NEWER,
)
from veridical.experiments._estimators_study import Curves, Study
from veridical.plots._panels import Line, Mark, Panel, Points

_ROWS = "rows of the sample"
_ERROR = "error / truth"
_SPAN = (20.0, 7000.0)  # whole decades of both axes: their ticks are the only ones with room
_HEIGHT = (0.1, 20.0)
SIZE = (4.4, 3.1)  # inches of a panel


def figure_2(text: Study, program: Study) -> list[Panel]:
    """95 % quantile of the error against n: the source's figure as run, corrected, as written."""
    return [
        Panel(_fifteen(sizes, curves),
              title=f"{lens}: {title}", x_label=_ROWS, y_label=_ERROR, x_scale="log",
              y_scale="log", x_limits=_SPAN, y_limits=_HEIGHT)
        for lens in LENSES
        for title, sizes, curves in (
            ("as run", program.printed_sizes, program.run(lens)),
            ("corrected", program.sizes, program.meant(lens)),
            ("as written", text.sizes, text.meant(lens)),
        )
    ]  # fmt: skip


def typical_error(study: Study) -> list[Panel]:
    """Median of the error against n, as meant."""
    return [
        Panel(_fifteen(study.sizes, study.meant(lens, "median")), title=f"{lens}: median error",
              x_label=_ROWS, y_label=_ERROR, x_scale="log", y_scale="log", x_limits=_SPAN,
              y_limits=(0.05, 20.0))
        for lens in LENSES
    ]  # fmt: skip


def newer_ones(study: Study) -> list[Panel]:
    """Newer estimators beside the best that the source's settings can do at each size."""
    panels = []
    for lens in LENSES:
        meant, newer = study.meant(lens), study.newer(lens)
        best = np.stack(list(meant.values())).min(axis=0)
        marks: list[Mark] = [
            Line(study.sizes, newer[name], name, colour=i, markers=True)
            for i, name in enumerate(NEWER)
        ]
        marks += [
            Line(study.sizes, meant["ECE_d silverman"], "ECE_d silverman", colour=4, markers=True),
            Line(study.sizes, best, "best of the fifteen at each size", muted=True, dash=1),
        ]
        panels.append(
            Panel(marks, title=lens, x_label=_ROWS, y_label=_ERROR, x_scale="log", y_scale="log",
                  x_limits=_SPAN, y_limits=_HEIGHT)
        )  # fmt: skip
    return panels


def reference_bias(study: Study) -> list[Panel]:
    """By how much the fine binning exceeds the truth, for every score distribution."""
    panels = []
    for lens in LENSES:
        truth, reference = study.values(lens, "truth"), study.values(lens, "reference")
        panels.append(
            Panel([Points(truth, reference - truth, size=10.0)], title=lens,
                  x_label="true calibration error", y_label="2,000 bins less truth",
                  x_scale="log", x_limits=(0.001, 0.5))
        )  # fmt: skip
    return panels


def _fifteen(sizes: tuple[int, ...], curves: Curves) -> list[Mark]:
    """Lines of the fifteen settings: a colour a family, a dash a number of bins or bandwidth."""
    groups: list[tuple[str, tuple[float | str, ...]]] = [(family, COUNTS) for family in FAMILIES]
    groups.append(("ECE_d", BANDWIDTHS))
    return [
        Line(sizes, curves[f"{family} {choice}"], f"{family} {choice}", colour=i, dash=dash)
        for i, (family, choices) in enumerate(groups)
        for dash, choice in enumerate(choices)
    ]
