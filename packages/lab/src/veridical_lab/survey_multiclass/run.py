"""The survey's three-class task: section 5.4, figures 17 to 20, from integrals."""

from __future__ import annotations

from copy import copy

import numpy as np

from veridical.calibrators import Calibrator
from veridical.plots import calibration_map
from veridical.simulation import survey_three_class_task
from veridical_lab._frame import survey_study
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page
from veridical_lab._frame.survey_study import NONE, SURVEY_ROWS
from veridical_lab._frame.survey_tasks import Network
from veridical_lab.plots.panels import Figure, Line, Panel, Points, draw_panels
from veridical_lab.survey_multiclass import cells, claims
from veridical_lab.survey_multiclass.cells import SURVEYED, ThreeClassStudy


def draw_task(study: ThreeClassStudy) -> Figure:
    """Densities and posteriors of the classes, and what the first network says."""
    task, x = survey_three_class_task(), np.linspace(-200, 200, 801)
    posterior = task.posterior(x)
    joint = posterior * task.density(x)[:, None]
    predicted = Network(**study.networks[0])(x[:, None])
    titles = {"density": joint / task.prior, "posterior": posterior, "network": predicted}
    panels = []
    for title, values in titles.items():
        lines = [Line(x, values[:, k], f"class {k + 1}", k) for k in range(3)]
        label = "density" if title == "density" else "probability"
        panels.append(Panel(lines, title, "x", label))
    return draw_panels(panels, columns=3, legend=True)


def draw_uncalibrated(study: ThreeClassStudy) -> Figure:
    """Class-wise reliability diagrams of the first network, and where its scores lie."""
    p = Network(**study.networks[0])(cells.the_line().x)
    histograms = [
        survey_study.shares_panel(cells.the_line().shares(p[:, k], 20), k) for k in range(3)
    ]
    return draw_panels([*_diagrams(study, (NONE,), titled=True), *histograms], columns=3)


def draw_calibrator(study: ThreeClassStudy, name: str) -> Figure:
    """Figures 17 to 20: change of each class over the simplex, and diagrams before and after."""
    panels = [*[Panel([])] * 3, *_diagrams(study, (NONE, name))]
    figure = draw_panels(panels, columns=3, size=(2.9, 2.7), legend=True)
    rows = np.array(study.example["x"])[:, None]
    labels = np.array(study.example["y"])
    log_rows = cells.log_scores_of(survey_study.classifier_cells("MLP", study.networks)[0])(rows)
    fits = {}
    for each in (name, "matrix"):
        fits[each] = cells.calibrators()[each]
        fits[each].fit(cells.fed(fits[each], log_rows), labels)
    fitted = as_map_of_logarithms(fits[name], fits["matrix"])
    calibration_map(fitted, labels, np.exp(log_rows), ax=figure.axes[:3])
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


def _diagrams(
    study: ThreeClassStudy, names: tuple[str, ...], *, titled: bool = False
) -> list[Panel]:
    panels = []
    for k in range(3):
        marks: list[Line | Points] = []
        for name in names:
            found = study.example["diagrams"][name][k]
            if name == NONE and len(names) > 1:
                marks.append(Line(found["mean"], found["rate"], "before", 1, 1))
            else:
                marks.append(
                    Points(found["mean"], found["rate"], "after", 2 if name != NONE else 0)
                )
        panels.append(
            Panel(marks, f"class {k + 1}" if titled else "", "score", "true frequency", "unit")
        )
    return panels


def draw_sizes(study: ThreeClassStudy) -> Figure:
    """What calibrators of the survey gain and lose with the number of rows."""
    wanted = (*SURVEYED, "Dirichlet, ODIR", "one-vs-rest isotonic")
    names = [name for name in wanted if name in study.plan.names]
    labels = {"true": "true classwise error", "divergence": "log loss above the best"}
    panels = [study.sizes_panel("MLP", names, "", label, key) for key, label in labels.items()]
    return draw_panels(panels, columns=2, size=(4.2, 3.0), legend=True)


JUDGES = {
    "temperature": ("Figure 17: temperature scaling", claims.judge_temperature),
    "vector": ("Figure 18: vector scaling", claims.judge_vector),
    "matrix": ("Figure 19: matrix scaling", claims.judge_matrix),
    "Dirichlet": ("Figure 20: Dirichlet calibration", claims.judge_dirichlet),
}
KEYS = {**survey_study.ERRORS, "divergence": "excess log loss"}
MODELS = {
    "MLP": "Network",
    "over": "Squared posterior (over-confident)",
    "under": "Root of the posterior (under-confident)",
    "posterior": "The posterior itself",
}


def run(lab: Laboratory, page: Page) -> None:
    """Reproduce figures 17 to 20 with exact curves and errors, and judge what is said of them."""
    study = cells.do_study(lab)
    page.section("The task and the network")
    page.text(
        """The two classes of section 5.2 and a narrow third one between them, all equally likely.
        Curves and true errors on this page are integrals over the feature, exact to about 1e-5."""
    )
    caption = """Densities, posteriors, and one network of two layers of 128 units. | Densities,
        posteriors and a network"""
    page.figure("task", draw_task(study), caption)
    caption = """Class-wise reliability of that network in the population, and its scores. |
        Reliability diagrams of three classes, uncalibrated"""
    page.figure("uncalibrated", draw_uncalibrated(study), caption)
    claims.judge_task(page, study)
    page.text(
        f"""Claims are judged by means over {study.plan.n_repetitions} fits to fresh rows, taking
        turns between {len(study.networks)} networks, and by standard errors over these. Powers of
        the posterior have {study.plan.repetitions("posterior")} fits each; fewer rows than
        {SURVEY_ROWS:,} were given to the calibrators of the survey and two more only. Logits
        are made from probabilities as the survey does, ln(s_j / s_K), and its calibrators are
        fitted without any guard or penalty. Its equations 12 to 18 print exp(-z), which reverses
        the order of classes; the
        sign is put right here."""
    )
    for name, (title, judge) in JUDGES.items():
        page.section(title)
        caption = f"""Above, change of each class's probability over the simplex (line: no change;
            dots: where the network predicts); below, reliability in the population before and
            after. | Calibration maps and reliability diagrams of {name}"""
        page.figure(name.lower(), draw_calibrator(study, name), caption)
        judge(page, study)
    _add_all(page, study)
    best = study.ordered("MLP")[0]
    left = {name: f"{study.mean('MLP', name):.4f}" for name in (NONE, *SURVEYED, best)}
    page.conclude(
        f"""On {SURVEY_ROWS:,} rows the network's true classwise error goes from
        {left[NONE]} to {left["temperature"]} by temperature scaling, {left["vector"]} by vector,
        {left["matrix"]} by matrix scaling and {left["Dirichlet"]} by Dirichlet calibration; least
        ({left[best]}) is {study.least("MLP")}."""
    )


def _add_all(page: Page, study: ThreeClassStudy) -> None:
    page.section("Every calibrator of the library")
    page.text(
        """Errors are class-wise; *distance from posterior* is the mean total variation, which also
        counts what a map loses by giving different rows the same value. Means ± standard deviations
        over repetitions. Powers of the posterior are added here: a temperature puts them right."""
    )
    for model in ("MLP", *study.plan.extra):
        study.add_table(page, model, MODELS[model], KEYS)
    caption = """Many parameters need many rows. | True error and excess log loss against rows"""
    page.figure("sizes", draw_sizes(study), caption)
    study.add_file(page, tuple(KEYS))
