"""Figures 11 to 16 of the survey, drawn from integrals instead of draws."""

from __future__ import annotations

import numpy as np

from veridical.experiments._survey_binary_cells import NONE, SURVEYED, classifier_of
from veridical.experiments._survey_binary_study import CLASSIFIERS, Study, mean_map
from veridical.experiments._survey_tasks import SCORES
from veridical.plots._panels import Bars, Figure, Line, Mark, Panel, Points, draw_panels
from veridical.simulation import survey_binary_task

TITLES = {"under": "f_under", "over": "f_over", "MLP": "network (MLP)"}


def draw_task() -> Figure:
    """Figure 11: densities of both classes, and the posterior of class 1 with both sigmoids."""
    task, x = survey_binary_task(), np.linspace(-200, 200, 401)
    posterior = task.posterior(x)
    joint = posterior * task.density(x)[:, None]
    densities = [
        Panel([Line(x, joint[:, k] / task.prior[k], colour=k)], title=title, x_label="x",
              y_label="density")
        for k, title in ((1, "class 1"), (0, "class 2"))
    ]  # fmt: skip
    sigmoids = [
        Line(x, classifier_of({"classifier": name})(x[:, None])[:, 1], TITLES[name], i + 2, 1)
        for i, name in enumerate(("under", "over"))
    ]
    last = Panel([Line(x, posterior[:, 1], "posterior", 1), *sigmoids], title="P(class 1 | x)",
                 x_label="x", y_label="probability", legend=True)  # fmt: skip
    return draw_panels([*densities, last], columns=3)


def draw_uncalibrated(study: Study) -> Figure:
    """Figure 12: true reliability curves, and where the scores lie."""
    curves, histograms = [], []
    for name in CLASSIFIERS:
        marks: list[Mark] = [
            Line(SCORES, truth.rate, muted=True, dash=3) for truth in study.truths[name][1:]
        ]
        marks.append(Line(SCORES, study.truths[name][0].rate, colour=0))
        curves.append(Panel(marks, title=TITLES[name], x_label="score", y_label="true frequency",
                            diagonal=True, x_limits=(0, 1), y_limits=(0, 1)))  # fmt: skip
        share = study.truths[name][0].share.reshape(-1, 5).sum(axis=1)
        histograms.append(Panel([Bars(np.linspace(0, 1, len(share) + 1), share, colour=0)],
                                x_label="score", y_label="share of rows",
                                x_limits=(0, 1)))  # fmt: skip
    return draw_panels([*curves, *histograms], columns=3)


def draw_calibrator(study: Study, calibrator: str) -> Figure:
    """Figures 13 to 16: one fitted map against the true one, and the diagram after it."""
    maps, diagrams = [], []
    for name in CLASSIFIERS:
        shown = study.examples[name]
        fit = shown["calibrators"][calibrator]
        maps.append(
            Panel([Line(SCORES, study.truths[name][0].rate, "map needed", 1, 1),
                   Line(shown["scores"], fit["map"], "map fitted", 0)],
                  title=TITLES[name], x_label="score", y_label="calibrated", diagonal=True,
                  x_limits=(0, 1), y_limits=(0, 1))
        )  # fmt: skip
        diagrams.append(
            Panel([Points(fit["mean"], fit["rate"], "after, in the population", 2)],
                  x_label="calibrated score", y_label="true frequency", diagonal=True,
                  x_limits=(0, 1), y_limits=(0, 1))
        )  # fmt: skip
    return draw_panels([*maps, *diagrams], columns=3, legend=True)


def draw_all_maps(study: Study) -> Figure:
    """Mean map of every other calibrator against the one needed, for all classifiers."""
    panels = []
    for calibrator in study.plan.names:
        if calibrator in (NONE, *SURVEYED):
            continue
        marks: list[Mark] = []
        for i, name in enumerate(CLASSIFIERS):
            marks.append(Line(SCORES, study.truths[name][0].rate, "", i, 3))
            marks.append(Line(*mean_map(study, name, calibrator), TITLES[name], i))
        panels.append(Panel(marks, title=calibrator, diagonal=True, x_limits=(0, 1),
                            y_limits=(0, 1)))  # fmt: skip
    return draw_panels(panels, columns=5, size=(1.85, 1.75), legend=True)


def draw_sizes(study: Study) -> Figure:
    """True calibration error against the rows a map was fitted to."""
    panels = []
    for name in CLASSIFIERS:
        lines = [
            Line(study.plan.sizes, _over_sizes(study, name, calibrator), calibrator, i,
                 markers=True)
            for i, calibrator in enumerate((*SURVEYED, "spline", "equal-mass binning"))
        ]  # fmt: skip
        before = float(study.values(name, NONE).mean())
        flat = Line(study.plan.sizes, [before] * len(study.plan.sizes), "uncalibrated", muted=True)
        panels.append(Panel([flat, *lines], title=TITLES[name], x_label="rows",
                            y_label="true calibration error", x_scale="log",
                            y_scale="log"))  # fmt: skip
    return draw_panels(panels, columns=3, legend=True)


def _over_sizes(study: Study, name: str, calibrator: str) -> list[float]:
    found = (study.values(name, calibrator, n_rows=n).mean() for n in study.plan.sizes)
    return [float(mean) for mean in found]
