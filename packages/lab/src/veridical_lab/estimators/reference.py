"""Sections of the page on the truth, and on what the source takes for it."""

from __future__ import annotations

import math

import numpy as np

from veridical import simulation
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page, by_column
from veridical_lab.estimators.pictures import reference_bias
from veridical_lab.estimators.settings import LENSES
from veridical_lab.estimators.study import EstimatorStudy
from veridical_lab.estimators.truth import N_FINE, N_ROWS, GapSums, scores_and_truths


def report_truth(study: EstimatorStudy, lab: Laboratory, page: Page) -> None:
    """How the truth was found, and the check of that where it can be integrated."""
    page.section("The truth")
    page.text(
        "The true error is E|E[truth - score | score]|, with the posterior of each row in place of "
        "its outcome, in narrow bins of the score whose signs are taken from other rows. Where one "
        "feature makes the score it can be integrated instead, which gives the check:"
    )
    task = simulation.two_normals_task()
    rows = task.sample(100_000 if lab.quick else 600_000, rng=lab.rng("two normals"))
    models = {
        "002, uncalibrated": simulation.two_normals_model("uncalibrated"),
        "log odds 0.1 + 1.7 x": simulation.LogisticModel(0.1, 1.7),
        "the posterior": simulation.LogisticModel(0, 2),
    }
    table: list[tuple[object, ...]] = []
    worst = 0.0
    for name, model in models.items():
        for lens in LENSES:
            pair = scores_and_truths(model(rows.x), rows.posterior, lens)
            value, half_width = GapSums.of(*pair).error()
            exact = simulation.true_calibration_error(task, model, lens=lens)
            worst = max(worst, abs(value - exact))
            table.append((name, lens, value, half_width, exact))
    names = ("model", "lens", "found", "half width", "integrated")
    page.table(by_column(names, table), caption=f"{len(rows):,} rows of two normals", digits=6)
    page.check(f"""Largest error of the truth, two normals | {worst} | of posteriors in narrow bins,
        against integration""")
    for lens in LENSES:
        truth, widths = study.values(lens, "truth"), study.values(lens, "half width")
        low, middle, high = np.quantile(truth, [0.05, 0.5, 0.95])
        page.text(
            f"{lens.capitalize()} lens: true errors of {low:.4f} to {high:.4f} (5 % to 95 %), "
            f"median {middle:.4f}, known to within {np.median(widths):.4f} "
            f"(median; {100 * np.median(widths / truth):.1f} % of the truth)."
        )


def report_reference(
    study: EstimatorStudy, checks: list[dict[str, dict[str, float]]], n_rows: int, page: Page
) -> None:
    """By how much the source's reference exceeds the truth."""
    page.section("The source's reference")
    page.text(
        "The source takes the legacy estimator with 2,000 bins on 2,000,000 rows for the truth. "
        "That is biased upwards: with m rows in a bin, noise of the outcomes alone makes its gap "
        "sqrt(2 p (1 - p) / (pi m)) on average. A calibrated model whose scores are spread evenly "
        "reads sqrt(pi / 32) sqrt(2,000 / 2,000,000) = 0.0099 instead of 0."
    )
    page.check(f"""2,000 bins on 2,000,000 rows, calibrated |
        {math.sqrt(math.pi / 32 * N_FINE / N_ROWS)} | closed form for evenly spread scores; the
        truth is 0""")
    keys = ("measured", "expected", "truth")
    pairs = [[one[lens][key] for key in keys] for one in checks for lens in LENSES]
    measured, predicted, truth = np.array(pairs).T
    page.text(
        "For any other model what is read on average is a sum of folded normals, one a bin, which "
        f"needs the curve of gaps but no labelled rows. On {n_rows:,} labelled rows of each of "
        f"{len(checks)} models, 2,000 bins read {np.mean(measured - truth):.5f} more than the "
        f"truth (mean over models and lenses), the folded normals say "
        f"{np.mean(predicted - truth):.5f}."
    )
    page.check(f"""Folded normals less 2,000 bins, mean | {np.mean(predicted - measured)} | largest
        of {len(pairs)}: {np.abs(predicted - measured).max():.5f}""")
    for lens in LENSES:
        excess = study.values(lens, "reference") / study.values(lens, "truth") - 1
        page.check(f"""Reference above the truth, {lens}, median | {np.median(excess)} | as a share
            of the truth; 95 % quantile {np.quantile(excess, 0.95):.2f}, largest
            {excess.max():.2f}""")
    caption = """The fine binning reads too much, the more so the better a model is calibrated. |
        Points of the excess of 2,000 bins over the truth against the truth, two lenses."""
    page.figure("reference", reference_bias(study), caption)
