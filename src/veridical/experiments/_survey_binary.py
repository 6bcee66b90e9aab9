"""The survey's two-class task: section 5.2 and 5.3, figures 11 to 16."""

from __future__ import annotations

import numpy as np

from veridical.experiments._laboratory import Laboratory
from veridical.experiments._page import Page
from veridical.experiments._survey_binary_cells import NONE, SURVEYED
from veridical.experiments._survey_binary_claims import (
    LITTLE,
    WELL,
    judge_beta,
    judge_binning,
    judge_isotonic,
    judge_platt,
)
from veridical.experiments._survey_binary_figures import (
    draw_all_maps,
    draw_calibrator,
    draw_sizes,
    draw_task,
    draw_uncalibrated,
)
from veridical.experiments._survey_binary_models import judge_models, judge_task
from veridical.experiments._survey_binary_study import CLASSIFIERS, Study, do_study
from veridical.experiments._survey_binary_tables import add_error_tables, add_estimator_table
from veridical.experiments._survey_tasks_grid import SURVEY_ROWS

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
    page.figure("task", draw_task(), caption="Densities of both classes; the posterior is flat in "
                "the middle and steep on both sides, as no logistic curve is.",
                alt="Densities of class 1 and class 2 and the posterior of class 1")  # fmt: skip
    judge_task(page)
    page.section("Figure 12: three uncalibrated classifiers")
    page.figure("uncalibrated", draw_uncalibrated(study),
                caption="True reliability curves and histograms of the scores. Grey: further "
                "networks, trained on other rows.",
                alt="Reliability curves of f_under, f_over and the network")  # fmt: skip
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
        page.figure(name.lower(), draw_calibrator(study, name),
                    caption="Above, one fitted map and the map needed; below, the reliability "
                    "diagram of the population afterwards, in 50 narrow bins.",
                    alt=f"Maps and reliability diagrams of {name}")  # fmt: skip
        judge(page, study)
    _add_all(page, study)
    page.conclude(_conclusion(study))


def _add_all(page: Page, study: Study) -> None:
    page.section("Every calibrator of the library")
    page.figure("maps", draw_all_maps(study), caption="Mean fitted map (line) and the map needed "
                f"(dots) on {SURVEY_ROWS:,} rows.", alt="Mean calibration maps")  # fmt: skip
    page.text(
        """*Distance from posterior* also counts what a map loses by giving different rows the same
        value: a histogram can be calibrated and yet far from the truth. Means ± standard deviations
        over repetitions."""
    )
    add_error_tables(page, study)
    if len(study.plan.sizes) > 1:
        page.figure("sizes", draw_sizes(study),
                    caption="Maps of two or three parameters stop improving: the map needed is "
                    "none of theirs.", alt="True calibration error against rows")  # fmt: skip
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
