"""The survey's two-class task: section 5.2 and 5.3, figures 11 to 16.

Tables of true and estimated calibration errors for two classes.

Figures 11 to 16 of the survey, drawn from integrals instead of draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical.experiments._frame.laboratory import Laboratory
from veridical.experiments._frame.page import Page
from veridical.experiments._frame.survey_tasks import (
    SCORES,
    SURVEY_ROWS,
    add_errors,
    mean_and_spread,
)
from veridical.experiments.survey_binary.cells import (
    CLASSIFIERS,
    NONE,
    SURVEYED,
    Study,
    classifier_of,
    do_study,
    estimators,
    mean_map,
)
from veridical.experiments.survey_binary.claims import (
    LITTLE,
    WELL,
    judge_beta,
    judge_binning,
    judge_isotonic,
    judge_platt,
)
from veridical.experiments.survey_binary.models import judge_models, judge_task
from veridical.plots.panels import Bars, Figure, Line, Mark, Panel, Points, draw_panels
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


KEYS = ("true", "ece", "debiased", "smooth", "distance")


def add_error_tables(page: Page, study: Study) -> None:
    """Errors of every calibrator: one table a classifier, and all of them as a file."""
    for name in CLASSIFIERS:
        order = sorted(study.plan.names, key=lambda c: float(study.values(name, c).mean()))
        columns: dict[str, list[Any]] = {
            "calibrator": [_shown(calibrator) for calibrator in order],
            "true error": _cells(study, name, order, "true"),
            "ECE, 15 bins": _cells(study, name, order, "ece"),
            "debiased": _cells(study, name, order, "debiased"),
            "smooth": _cells(study, name, order, "smooth"),
            "distance from posterior": _cells(study, name, order, "distance"),
        }
        page.table(columns, caption=f"{TITLES[name]}, {SURVEY_ROWS:,} rows to fit, as many to test")
    rows = [
        (name, n, calibrator, key, study.values(name, calibrator, key, n))
        for name, n in study.fits
        for calibrator in study.plan.names
        for key in KEYS
    ]
    add_errors(page, rows)


def add_estimator_table(page: Page, study: Study) -> None:
    """What estimators read on uncalibrated classifiers whose true error is known."""
    columns: dict[str, list[Any]] = {"classifier": [], "estimator": [], "true error": []}
    columns |= {f"{n:,} rows": [] for n in study.plan.sizes}
    for name in CLASSIFIERS:
        true = float(study.values(name, NONE).mean())
        for estimator in estimators():
            columns["classifier"].append(TITLES[name])
            columns["estimator"].append(estimator)
            columns["true error"].append(true)
            for n in study.plan.sizes:
                read = [guess[estimator] for guess in study.guesses[name, n]]
                columns[f"{n:,} rows"].append(mean_and_spread(read))
    page.table(columns, caption="Estimates on fresh rows: mean ± standard deviation")


def _cells(study: Study, name: str, order: list[str], key: str) -> list[str]:
    return [mean_and_spread(study.values(name, calibrator, key)) for calibrator in order]


def _shown(calibrator: str) -> str:
    return "*uncalibrated*" if calibrator == NONE else calibrator


JUDGES = {
    "binning": ("Figure 13: empirical binning", judge_binning),
    "isotonic": ("Figure 14: isotonic calibration", judge_isotonic),
    "Platt": ("Figure 15: Platt scaling", judge_platt),
    "beta": ("Figure 16: beta calibration", judge_beta),
}


def run(lab: Laboratory, page: Page) -> None:
    """Reproduce figures 11 to 16 with exact curves and errors, and judge what is said of them."""
    study = do_study(lab)
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
        f"""Claims in words are judged by numbers. *Well* means that more than {WELL:.0%} of the
        true calibration error goes, *not much* less than {LITTLE:.0%}, on average of
        {study.plan.n_repetitions} fits to {SURVEY_ROWS:,} fresh rows each. Regions are judged by
        the mean distance between the fitted map and the one needed, weighted by where
        scores lie."""
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


def _add_all(page: Page, study: Study) -> None:
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


def _conclusion(study: Study) -> str:
    best = [study.best(name) for name in CLASSIFIERS]
    beta, isotonic = (float(study.values("over", name).mean()) for name in ("beta", "isotonic"))
    return f"""On {SURVEY_ROWS:,} rows the least true error is that of {best[0]} (f_under),
        {best[1]} (f_over) and {best[2]} (network). f_over goes from
        {float(np.mean(study.values("over", NONE))):.3f} to {beta:.3f} by beta calibration and to
        {isotonic:.3f} by isotonic regression."""
