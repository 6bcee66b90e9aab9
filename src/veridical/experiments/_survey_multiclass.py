"""The survey's three-class task: section 5.4, figures 17 to 20."""

from __future__ import annotations

from typing import Any

from veridical.experiments._laboratory import Laboratory
from veridical.experiments._page import Page
from veridical.experiments._survey_multiclass_claims import (
    judge_dirichlet,
    judge_matrix,
    judge_task,
    judge_temperature,
    judge_vector,
)
from veridical.experiments._survey_multiclass_figures import (
    draw_calibrator,
    draw_sizes,
    draw_task,
    draw_uncalibrated,
)
from veridical.experiments._survey_multiclass_study import Study, do_study, name_of
from veridical.experiments._survey_tasks import add_errors, mean_and_spread
from veridical.experiments._survey_tasks_grid import SURVEY_ROWS

JUDGES = {
    "temperature": ("Figure 17: temperature scaling", judge_temperature),
    "vector": ("Figure 18: vector scaling", judge_vector),
    "matrix": ("Figure 19: matrix scaling", judge_matrix),
    "Dirichlet": ("Figure 20: Dirichlet calibration", judge_dirichlet),
}
KEYS = {
    "true": "true error",
    "ece": "ECE, 15 bins",
    "debiased": "debiased",
    "smooth": "smooth",
    "distance": "distance from posterior",
    "divergence": "excess log loss",
}
MODELS = {
    "MLP": "Network",
    "over": "Squared posterior (over-confident)",
    "under": "Root of the posterior (under-confident)",
    "posterior": "The posterior itself",
}


def run(lab: Laboratory, page: Page) -> None:
    """Reproduce figures 17 to 20 with exact curves and errors, and judge what is said of them."""
    study = do_study(lab)
    page.section("The task and the network")
    page.text(
        """The two classes of section 5.2 and a narrow third one between them, all equally likely.
        Curves and true errors on this page are integrals over the feature, exact to about 1e-5."""
    )
    page.figure("task", draw_task(study), caption="Densities, posteriors, and one network of two "
                "layers of 128 units.", alt="Densities, posteriors and a network")  # fmt: skip
    page.figure("uncalibrated", draw_uncalibrated(study),
                caption="Class-wise reliability of that network in the population, and its scores.",
                alt="Reliability diagrams of three classes, uncalibrated")  # fmt: skip
    judge_task(page, study)
    page.text(
        f"""Claims in words are judged by means over {study.plan.n_repetitions} fits to fresh rows,
        taking turns between {len(study.networks)} network(s). Logits are made from probabilities
        as the survey does, ln(s_j / s_K), and its calibrators are fitted without any guard or
        penalty. Its equations 12 to 18 print exp(-z), which reverses the order of classes; the
        sign is put right here."""
    )
    for name, (title, judge) in JUDGES.items():
        page.section(title)
        page.figure(name.lower(), draw_calibrator(study, name),
                    caption="Above, change of each class's probability over the simplex (line: no "
                    "change; dots: where the network predicts); below, reliability in the "
                    "population before and after.",
                    alt=f"Calibration maps and reliability diagrams of {name}")  # fmt: skip
        judge(page, study)
    _add_all(page, study)
    best = study.ordered()[0]
    page.conclude(
        f"""On {SURVEY_ROWS:,} rows the network's true classwise error goes from
        {study.mean("none"):.4f} to {study.mean("temperature"):.4f} by temperature scaling,
        {study.mean("vector"):.4f} by vector, {study.mean("matrix"):.4f} by matrix scaling and
        {study.mean("Dirichlet"):.4f} by Dirichlet calibration; least is {best}
        ({study.mean(best):.4f})."""
    )


def _add_all(page: Page, study: Study) -> None:
    page.section("Every calibrator of the library")
    page.text(
        """Errors are class-wise; *distance from posterior* is the mean total variation, which also
        counts what a map loses by giving different rows the same value. Means ± standard deviations
        over repetitions. Powers of the posterior are added here: a temperature puts them right."""
    )
    for model in ("MLP", *study.plan.extra):
        order = study.ordered(model)
        columns: dict[str, list[Any]] = {"calibrator": [name_of(name) for name in order]}
        for key, title in KEYS.items():
            columns[title] = [
                mean_and_spread(study.values(name, key, model=model)) for name in order
            ]
        page.table(
            columns, caption=f"{MODELS[model]}, {SURVEY_ROWS:,} rows to fit, as many to test"
        )
    page.figure("sizes", draw_sizes(study), caption="Many parameters need many rows.",
                alt="True error and excess log loss against rows")  # fmt: skip
    rows = [
        (model, n, name, key, study.values(name, key, n, model))
        for model, n in study.fits
        for name in study.plan.names
        for key in KEYS
    ]
    add_errors(page, rows)
