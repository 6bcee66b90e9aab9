"""Pictures of the comparison of estimators."""

from __future__ import annotations

import numpy as np

from veridical_lab.estimators import settings as options
from veridical_lab.estimators.settings import LENSES, NEWER
from veridical_lab.estimators.study import Errors, EstimatorStudy
from veridical_lab.plots.panels import Band, Figure, Line, Mark, Panel, Points, draw_panels

_SIZE = (4.4, 3.1)  # inches of a panel
_FAMILIES = {**dict.fromkeys(options.FAMILIES, options.COUNTS), "ECE_d": options.BANDWIDTHS}
_WORDS = ("10 bins, or Silverman", "30 bins, or 0.1", "√n bins, or 0.033")


def by_family(sizes: tuple[int, ...], errors: dict[str, Errors]) -> Figure:
    """Error against n: a row a lens, a column a family of three settings."""
    panels = []
    for lens in LENSES:
        curves = errors[lens].curves()
        spread = errors[lens].noise(lambda c: np.log(np.stack([c[name] for name in c])))
        noise = dict(zip(curves, spread, strict=True))
        every = np.stack(list(curves.values()))
        height = (0.8 * float(every.min()), 1.25 * float(every.max()))
        for family, choices in _FAMILIES.items():
            own = [f"{family} {choice}" for choice in choices]
            marks: list[Mark] = [
                Line(sizes, every.min(axis=0), "best of all fifteen", muted=True, dash=1)
            ]
            for colour, name in enumerate(own):
                low, high = (curves[name] * np.exp(sign * noise[name]) for sign in (-1, 1))
                marks.append(Band(sizes, low, high, colour=colour))
                marks.append(Line(sizes, curves[name], _WORDS[colour], colour, markers=True))
            label = f"{lens}: error / truth" if family == options.FAMILIES[0] else ""
            title = family if lens == LENSES[0] else ""
            below = "rows" if lens == LENSES[-1] else ""
            panels.append(Panel(marks, title, below, label, "log", y_limits=height))
    return draw_panels(panels, columns=len(_FAMILIES), size=(1.98, 2.4), legend=True)


def newer_ones(study: EstimatorStudy) -> Figure:
    """Newer estimators beside the best that the source's settings can do at each size."""
    panels = []
    for lens in LENSES:
        every, meant = study.everything(lens), study.meant(lens).curves()
        curves = every.curves()
        spread = every.noise(lambda c: np.log(np.stack([c[name] for name in c])))
        noise = dict(zip(curves, spread, strict=True))
        best = np.stack(list(meant.values())).min(axis=0)
        marks: list[Mark] = [
            Line(study.sizes, best, "best of the fifteen at each size", muted=True)
        ]
        for colour, name in enumerate((*NEWER, "ECE_d silverman")):
            low, high = (curves[name] * np.exp(sign * noise[name]) for sign in (-1, 1))
            marks.append(Band(study.sizes, low, high, colour=colour))
            marks.append(Line(study.sizes, curves[name], name, colour, markers=True))
        panels.append(Panel(marks, lens, "rows of the sample", "error / truth", "log"))
    return draw_panels(panels, columns=2, size=_SIZE, legend=True)


def reference_bias(study: EstimatorStudy) -> Figure:
    """By how much the fine binning exceeds the truth, for every score distribution."""
    panels = []
    for lens in LENSES:
        truth, reference = study.values(lens, "truth"), study.values(lens, "reference")
        points = Points(truth, reference - truth, size=6.0)
        labels = ("true calibration error", "2,000 bins less truth")
        panels.append(Panel([points], lens, *labels, "log x", x_limits=(0.001, 0.5)))
    return draw_panels(panels, columns=2, size=_SIZE)
