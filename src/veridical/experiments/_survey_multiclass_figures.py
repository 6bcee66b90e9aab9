"""Figures 17 to 20 of the survey, drawn from integrals instead of draws."""

from __future__ import annotations

from copy import copy

import numpy as np

from veridical.calibrators import Calibrator
from veridical.experiments._survey_multiclass_cells import (
    NONE,
    SURVEYED,
    calibrators,
    fed,
    log_scores_of,
    the_line,
)
from veridical.experiments._survey_multiclass_study import Study
from veridical.experiments._survey_tasks import Network
from veridical.experiments._survey_tasks_grid import classifier_cells
from veridical.plots import calibration_map
from veridical.plots._panels import Bars, Figure, Line, Panel, Points, draw_panels
from veridical.simulation import survey_three_class_task


def draw_task(study: Study) -> Figure:
    """Densities and posteriors of the classes, and what the first network says."""
    task, x = survey_three_class_task(), np.linspace(-200, 200, 801)
    posterior = task.posterior(x)
    joint = posterior * task.density(x)[:, None]
    said = Network(**study.networks[0])(x[:, None])
    titles = {"density": joint / task.prior, "posterior": posterior, "network": said}
    panels = [
        Panel([Line(x, values[:, k], f"class {k + 1}", k) for k in range(3)], title=title,
              x_label="x", y_label="density" if title == "density" else "probability")
        for title, values in titles.items()
    ]  # fmt: skip
    return draw_panels(panels, columns=3, legend=True)


def draw_uncalibrated(study: Study) -> Figure:
    """Class-wise reliability diagrams of the first network, and where its scores lie."""
    p = Network(**study.networks[0])(the_line().x)
    histograms = [
        Panel([Bars(np.linspace(0, 1, 21), the_line().shares(p[:, k], 20), colour=k)],
              x_label="score", y_label="share of rows", x_limits=(0, 1))
        for k in range(3)
    ]  # fmt: skip
    return draw_panels([*_diagrams(study, (NONE,), titled=True), *histograms], columns=3)


def draw_calibrator(study: Study, name: str) -> Figure:
    """Figures 17 to 20: change of each class over the simplex, and diagrams before and after."""
    figure = draw_panels(
        [Panel([]), Panel([]), Panel([]), *_diagrams(study, (NONE, name))],
        columns=3, size=(2.9, 2.7), legend=True,
    )  # fmt: skip
    rows = np.array(study.shown["x"])[:, None]
    labels = np.array(study.shown["y"])
    log_rows = log_scores_of(classifier_cells("MLP", study.networks)[0])(rows)
    fits = {}
    for each in (name, "matrix"):
        fits[each] = calibrators()[each]
        fits[each].fit(fed(fits[each], log_rows), labels)
    shown = as_map_of_logarithms(fits[name], fits["matrix"])
    calibration_map(shown, labels, np.exp(log_rows), ax=figure.axes[:3])
    return figure


def as_map_of_logarithms(fitted: Calibrator, matrix: Calibrator) -> Calibrator:
    """Return the same map for log p instead of logits ln(p_j / p_K), as figures need it.

    The logits are log p less its last entry, so W z is a matrix times log p as well; `matrix` is
    any fitted `MatrixCalibrator` of logits, of which the parameters are replaced.
    """
    if fitted.input != "logit":
        return fitted
    scale = fitted.coef_ if fitted.coef_.ndim == 2 else np.diag(fitted.coef_)
    result = copy(matrix)
    result.coef_ = scale - np.outer(scale.sum(axis=1), [0.0, 0.0, 1.0])
    result.intercept_ = fitted.intercept_
    return result


def _diagrams(study: Study, names: tuple[str, ...], *, titled: bool = False) -> list[Panel]:
    panels = []
    for k in range(3):
        marks: list[Line | Points] = []
        for name in names:
            found = study.shown["diagrams"][name][k]
            if name == NONE and len(names) > 1:
                marks.append(Line(found["mean"], found["rate"], "before", 1, 1))
            else:
                marks.append(
                    Points(found["mean"], found["rate"], "after", 2 if name != NONE else 0)
                )
        panels.append(Panel(marks, title=f"class {k + 1}" if titled else "", x_label="score",
                            y_label="true frequency", diagonal=True, x_limits=(0, 1),
                            y_limits=(0, 1)))  # fmt: skip
    return panels


def draw_sizes(study: Study) -> Figure:
    """What calibrators of the survey gain and lose with the number of rows."""
    wanted = (*SURVEYED, "Dirichlet, ODIR", "one-vs-rest isotonic")
    names = [name for name in wanted if name in study.plan.names]
    panels = []
    for key, label in (("true", "true classwise error"), ("divergence", "log loss above the best")):
        flat = Line(study.plan.sizes, [study.mean(NONE, key)] * len(study.plan.sizes),
                    "uncalibrated", muted=True)  # fmt: skip
        lines = [
            Line(study.plan.sizes, [study.mean(name, key, n) for n in study.plan.sizes], name, i,
                 markers=True)
            for i, name in enumerate(names)
        ]  # fmt: skip
        panels.append(Panel([flat, *lines], x_label="rows", y_label=label, x_scale="log",
                            y_scale="log"))  # fmt: skip
    return draw_panels(panels, columns=2, size=(4.2, 3.0), legend=True)
