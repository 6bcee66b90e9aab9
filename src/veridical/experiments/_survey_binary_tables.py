"""Tables of true and estimated calibration errors for two classes."""

from __future__ import annotations

from typing import Any

from veridical.experiments._page import Page
from veridical.experiments._survey_binary_cells import NONE, estimators
from veridical.experiments._survey_binary_figures import TITLES
from veridical.experiments._survey_binary_study import CLASSIFIERS, Study
from veridical.experiments._survey_tasks import add_errors, mean_and_spread
from veridical.experiments._survey_tasks_grid import SURVEY_ROWS

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
