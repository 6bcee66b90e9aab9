"""Figures 8, 11 and 14: diagrams beside the true gaps."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.curves import reliability_curve
from veridical.experiments._evaluating_convergence import MODELS
from veridical.experiments._evaluating_panels import deviation_panel, n_outside
from veridical.experiments._laboratory import Laboratory
from veridical.experiments._page import Page
from veridical.plots._panels import Bars, Line, Panel, Points, draw_panels
from veridical.results import ReliabilityCurve
from veridical.simulation import true_reliability, two_normals_model, two_normals_task

_ROWS = 10_000
_BINS = 10


def normals_section(lab: Laboratory, page: Page) -> None:
    """Add the diagrams of the three models."""
    page.section("Figures 8, 11 and 14: diagrams beside the truth")
    curves = {model: _curve(lab, model) for model in MODELS}
    distances = {model: _distance(model, curve) for model, curve in curves.items()}
    above = [
        deviation_panel(curve, title=f"{model} model", truth=_true_gap(model))
        for model, curve in curves.items()
    ]
    below = [
        Panel(
            [Bars([*curve.lower, curve.upper[-1]], curve.count / _ROWS, colour=2)],
            x_label="prediction", y_label="share of rows", x_scale="probability",
        )
        for curve in curves.values()
    ]  # fmt: skip
    page.figure(
        "normals", draw_panels(above + below, columns=3, legend=True),
        caption=(
            f"Observed minus predicted, {_ROWS:,} rows and {_BINS} bins: points are the gaps "
            "found, bars the 5th to 95th percentile if the model were calibrated, the line is "
            "the true gap (the constant model has one prediction only)."
        ),
        alt="Deviation diagrams of three models with consistency bars, above their histograms",
    )  # fmt: skip
    page.table(
        {
            "model": list(MODELS),
            "bins": [len(curve.count) for curve in curves.values()],
            "outside their bar": [n_outside(curve) for curve in curves.values()],
            "largest distance to the truth, standard errors": list(distances.values()),
        },
        digits=2,
    )
    worst = max(distances.values())
    page.claim(
        "Figures 8, 11 and 14", "the gaps found closely match the true ones",
        holds=worst < 4, value=worst,
        reason="largest distance between a gap and the true one, in standard errors, over all bins",
    )  # fmt: skip


def _curve(lab: Laboratory, model: str) -> ReliabilityCurve:
    sample = two_normals_task().sample(_ROWS, rng=lab.rng("diagram", model))
    p = two_normals_model(model)(sample.x)[:, 1]
    return reliability_curve(
        sample.y, p, n_bins=_BINS, interval="consistency", confidence_level=0.9
    )  # these limits are exact: nothing is drawn


def _true_frequency(model: str, scores: FloatArray) -> FloatArray:
    return true_reliability(two_normals_task(), two_normals_model(model), scores)


def _true_gap(model: str) -> Line | Points:
    if model == "constant":
        return Points([0.5], _true_frequency(model, np.array([0.5])) - 0.5, "true gap", 2)
    scores = np.linspace(0.005, 0.995, 199)
    return Line(scores, _true_frequency(model, scores) - scores, "true gap", 2)


def _distance(model: str, curve: ReliabilityCurve) -> float:
    """Largest distance of an observed frequency from the truth, in standard errors."""
    exact = _true_frequency(model, curve.predicted)
    noise = np.sqrt(exact * (1 - exact) / curve.count)
    return float(np.max(np.abs(curve.observed - exact) / noise))
