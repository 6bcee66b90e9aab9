"""The survey's two-class task: sections 5.2 and 5.3, figures 11 to 16, from integrals."""

from __future__ import annotations

import numpy as np

from veridical.simulation import survey_binary_task
from veridical_lab._frame import survey_study
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page, by_column
from veridical_lab._frame.survey_study import NONE, SURVEY_ROWS
from veridical_lab._frame.survey_tasks import SCORES
from veridical_lab.plots.panels import Figure, Line, Mark, Panel, Points, draw_panels
from veridical_lab.survey_binary import cells, claims
from veridical_lab.survey_binary.cells import CLASSIFIERS, SURVEYED, BinaryStudy
from veridical_lab.survey_binary.models import judge_models, judge_task

SHOWN = 10  # networks in the picture
TITLES = {"under": "f_under", "over": "f_over", "MLP": "network (MLP)"}


def draw_task() -> Figure:
    """Figure 11: densities of both classes, and the posterior of class 1 with both sigmoids."""
    task, x = survey_binary_task(), np.linspace(-200, 200, 401)
    posterior = task.posterior(x)
    joint = posterior * task.density(x)[:, None]
    densities = [
        Panel([Line(x, joint[:, k] / task.prior[k], colour=k)], title, "x", "density")
        for k, title in ((1, "class 1"), (0, "class 2"))
    ]
    sigmoids = [
        Line(x, cells.classifier_of({"classifier": name})(x[:, None])[:, 1], TITLES[name], i + 2, 1)
        for i, name in enumerate(("under", "over"))
    ]
    lines = [Line(x, posterior[:, 1], "posterior", 1), *sigmoids]
    last = Panel(lines, "P(class 1 | x)", "x", "probability", legend=True)
    return draw_panels([*densities, last], columns=3)


def draw_uncalibrated(study: BinaryStudy) -> Figure:
    """Figure 12: true reliability curves, and where the scores lie."""
    curves, histograms = [], []
    for name in CLASSIFIERS:
        marks: list[Mark] = [
            Line(SCORES, truth.rate, muted=True, dash=3) for truth in study.truths[name][1:SHOWN]
        ]
        marks.append(Line(SCORES, study.truths[name][0].rate, colour=0))
        curves.append(Panel(marks, TITLES[name], "score", "true frequency", "unit"))
        share = study.truths[name][0].share.reshape(-1, 5).sum(axis=1)
        histograms.append(survey_study.shares_panel(share))
    return draw_panels([*curves, *histograms], columns=3)


def draw_calibrator(study: BinaryStudy, calibrator: str) -> Figure:
    """Figures 13 to 16: one fitted map against the true one, and the diagram after it."""
    maps, diagrams = [], []
    for name in CLASSIFIERS:
        example = study.examples[name]
        fit = example["calibrators"][calibrator]
        lines = [
            Line(SCORES, study.truths[name][0].rate, "map needed", 1, 1),
            Line(example["scores"], fit["map"], "map fitted", 0),
        ]
        maps.append(Panel(lines, TITLES[name], "score", "calibrated", "unit"))
        points = Points(fit["mean"], fit["rate"], "after, in the population", 2)
        diagrams.append(Panel([points], "", "calibrated score", "true frequency", "unit"))
    return draw_panels([*maps, *diagrams], columns=3, legend=True)


def draw_all_maps(study: BinaryStudy) -> Figure:
    """Mean map of every other calibrator against the one needed, for all classifiers."""
    panels = []
    for calibrator in study.plan.names:
        if calibrator in (NONE, *SURVEYED):
            continue
        marks: list[Mark] = []
        for i, name in enumerate(CLASSIFIERS):
            marks.append(Line(SCORES, study.truths[name][0].rate, "", i, 3))
            marks.append(Line(*cells.mean_map(study, name, calibrator), TITLES[name], i))
        panels.append(Panel(marks, calibrator, "", "", "unit"))
    return draw_panels(panels, columns=5, size=(1.85, 1.75), legend=True)


def draw_sizes(study: BinaryStudy) -> Figure:
    """True calibration error against the rows a map was fitted to."""
    names = (*SURVEYED, "spline", "equal-mass binning")
    panels = [
        study.sizes_panel(name, names, TITLES[name], "true calibration error")
        for name in CLASSIFIERS
    ]
    return draw_panels(panels, columns=3, legend=True)


def add_error_tables(page: Page, study: BinaryStudy) -> None:
    """Errors of every calibrator: one table a classifier, and all of them as a file."""
    for name in CLASSIFIERS:
        study.add_table(page, name, TITLES[name], survey_study.ERRORS)
    study.add_file(page, tuple(survey_study.ERRORS))


def add_estimator_table(page: Page, study: BinaryStudy) -> None:
    """What estimators read on uncalibrated classifiers whose true error is known."""
    rows = []
    for name in CLASSIFIERS:
        for estimator in cells.estimators():
            read = (
                survey_study.mean_and_spread([guess[estimator] for guess in study.guesses[name, n]])
                for n in study.plan.sizes
            )
            rows.append((TITLES[name], estimator, study.mean(name, NONE), *read))
    names = ("classifier", "estimator", "true error", *(f"{n:,} rows" for n in study.plan.sizes))
    caption = "Estimates on fresh rows: mean ± standard deviation"
    page.table(by_column(names, rows), caption=caption)


JUDGES = {
    "binning": ("Figure 13: empirical binning", claims.judge_binning),
    "isotonic": ("Figure 14: isotonic calibration", claims.judge_isotonic),
    "Platt": ("Figure 15: Platt scaling", claims.judge_platt),
    "beta": ("Figure 16: beta calibration", claims.judge_beta),
}


def run(lab: Laboratory, page: Page) -> None:
    """Reproduce figures 11 to 16 with exact curves and errors, and judge what is said of them."""
    study = cells.do_study(lab)
    page.section("Figure 11: the task")
    page.text(
        """Two equally likely classes on a line, each a mixture of two normal distributions. All
        curves and true errors on this page are integrals over the feature, exact to about
        1e-5; the survey drew many rows and binned them."""
    )
    caption = """Densities of both classes; the posterior is flat in the middle and steep on both
        sides, as no logistic curve is. | Densities of class 1 and class 2 and the posterior of
        class 1"""
    page.figure("task", draw_task(), caption)
    judge_task(page)
    page.section("Figure 12: three uncalibrated classifiers")
    caption = """True reliability curves and histograms of the scores. Grey: further networks,
        trained on other rows. | Reliability curves of f_under, f_over and the network"""
    page.figure("uncalibrated", draw_uncalibrated(study), caption)
    judge_models(page, study, lab)
    page.text(
        f"""Claims are judged by means of {study.plan.n_repetitions} fits to {SURVEY_ROWS:,} fresh
        rows each, and by their standard errors, those of networks over
        {len(study.networks)} of them. Regions are judged by the mean distance between the fitted
        map and the one needed, weighted by where scores lie. Fewer rows than {SURVEY_ROWS:,} were
        given to the calibrators of the survey and a few more only."""
    )
    for name in SURVEYED:
        title, judge = JUDGES[name]
        page.section(title)
        caption = f"""Above, one fitted map and the map needed; below, the reliability diagram of
            the population afterwards, in 50 narrow bins. | Maps and reliability diagrams of
            {name}"""
        page.figure(name.lower(), draw_calibrator(study, name), caption)
        judge(page, study)
    _add_all(page, study)
    page.conclude(_conclusion(study))


def _add_all(page: Page, study: BinaryStudy) -> None:
    page.section("Every calibrator of the library")
    caption = f"""Mean fitted map (line) and the map needed (dots) on {SURVEY_ROWS:,} rows. | Mean
        calibration maps"""
    page.figure("maps", draw_all_maps(study), caption)
    page.text(
        """*Distance from posterior* also counts what a map loses by giving different rows the same
        value: a histogram can be calibrated and yet far from the truth. Means ± standard deviations
        over repetitions."""
    )
    add_error_tables(page, study)
    if len(study.plan.sizes) > 1:
        caption = """Maps of two or three parameters stop improving: the map needed is none of
            theirs. | True calibration error against rows"""
        page.figure("sizes", draw_sizes(study), caption)
    page.section("What estimators read")
    page.text("The smooth ECE measures a slightly different distance, and is smaller by design.")
    add_estimator_table(page, study)


def _conclusion(study: BinaryStudy) -> str:
    best = [study.least(name) for name in CLASSIFIERS]
    beta, isotonic = (study.mean("over", name) for name in ("beta", "isotonic"))
    return f"""On {SURVEY_ROWS:,} rows the least true error of f_under is that of {best[0]}, of
        f_over that of {best[1]}, of the network that of {best[2]}. f_over goes from
        {study.mean("over", NONE):.3f} to {beta:.3f} by beta calibration and to
        {isotonic:.3f} by isotonic regression."""
