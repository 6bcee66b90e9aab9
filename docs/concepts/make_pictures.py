"""Draw the pictures of the pages on concepts, of the quick start and of the lenses.

    python docs/concepts/make_pictures.py [NAME ...]

Seeded; the files change only with matplotlib or with what they show.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from scipy.special import expit, logit

import veridical as v
from veridical import plots
from veridical_lab import plots as lab_plots

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
_DPI = 110


def save(figure: Figure, name: str) -> None:
    """Write a small PNG without date or version in it."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=_DPI, format="png", metadata={"Software": None})
    few = (
        Image.open(drawn)
        .convert("RGB")
        .quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    few.save(HERE / "img" / f"{name}.png", optimize=True)


def panels(figure: Figure, titles: list[str]) -> list[Axes]:
    """Axes side by side; titles stand above the legends, which stand above the axes."""
    parts = figure.subfigures(1, len(titles))
    for part, title in zip(parts, titles, strict=True):
        part.suptitle(title)
    return [part.subplots() for part in parts]


def forest() -> tuple[np.ndarray, np.ndarray]:
    """Labels and predictions of the example file."""
    data = pl.read_csv(EXAMPLES / "forest.csv")
    return data["label"].to_numpy(), data["p"].to_numpy()


def outcomes(n: int = 4000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """True probabilities, and what happened."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(0.8, 0.8, n)
    return truth, (rng.random(n) < truth).astype(int)


def quick_start() -> Figure:
    """The forest before and after."""
    y, p = forest()
    calibrator = v.AutoCalibrator(strategy="select").fit(p[::2], y[::2])
    models = {"forest": p[1::2], "recalibrated": calibrator.predict_proba(p[1::2])[:, 1]}
    figure = Figure(figsize=(6.4, 6.0), layout="constrained")
    plots.reliability(y[1::2], models, n_bins=10, ax=figure.subplots())
    return figure


def four_models() -> Figure:
    """Calibrated, useless, over- and under-confident."""
    truth, y = outcomes()
    models = {
        "calibrated and informative": truth,
        "calibrated and useless": np.full(truth.size, 0.5),
        "over-confident": expit(2 * logit(truth)),
        "under-confident": expit(0.5 * logit(truth)),
    }
    figure = Figure(figsize=(8.4, 8.4), layout="constrained")
    for ax, (name, p) in zip(figure.subplots(2, 2).flat, models.items(), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", v.VeridicalWarning)  # one prediction makes one bin
            plots.reliability(y, p, n_bins=10, ax=ax)
        ax.set_title(name)
    return figure


def lenses() -> Figure:
    """One model of ten digits through three lenses."""
    data = pl.read_csv(EXAMPLES / "digits.csv")
    y, p = data["label"].to_numpy(), data.drop("label").to_numpy()
    figure = Figure(figsize=(9.2, 3.4), layout="constrained")
    shown = {
        "confidence": "confidence",
        "only digit 8": v.ClassSpecific(8),
        "only digit 0": v.ClassSpecific(0),
    }
    for ax, (name, lens) in zip(figure.subplots(1, 3), shown.items(), strict=True):
        plots.reliability(y, p, lens=lens, n_bins=10, histogram=None, annotate=None, ax=ax)
        ece = v.expected_calibration_error(y, p, lens=lens)
        ax.set_title(f"{name}: ECE {ece:.3f}")
    return figure


def ece_by_rows() -> Figure:
    """What a calibrated model reads, by estimator and number of rows."""
    sizes = (50, 100, 200, 500, 1000, 2000, 5000, 10000)
    estimators = {
        "ECE": v.BinnedError(),
        "ECE, debiased": v.BinnedError(debias=True),
        "smECE": v.SmoothError(),
    }
    rng = np.random.default_rng(0)
    values: dict[str, dict[int, list[float]]] = {
        name: {n: [] for n in sizes} for name in estimators
    }
    for n in sizes:
        for _ in range(60):
            p = rng.random(n)
            y = (rng.random(n) < p).astype(int)
            for name, estimator in estimators.items():
                values[name][n].append(estimator(y, p))
    figure = Figure(figsize=(7.4, 4.4), layout="constrained")
    ax = figure.subplots()
    lab_plots.convergence(values, truth=0.0, ax=ax)
    ax.set_ylabel("reading of a perfect model")
    return figure


def null() -> Figure:
    """The forest's error, and the recalibrated one's, against chance."""
    y, p = forest()
    calibrator = v.AutoCalibrator(strategy="select").fit(p[::2], y[::2])
    after = calibrator.predict_proba(p[1::2])[:, 1]
    figure = Figure(figsize=(9.2, 3.8), layout="constrained")
    left, right = panels(figure, ["forest", "recalibrated forest"])
    plots.null(y[1::2], p[1::2], rng=0, ax=left)
    plots.null(y[1::2], after, rng=0, ax=right)
    right.locator_params("x", nbins=6)
    return figure


def decomposition() -> Figure:
    """The log score of the four models in its parts."""
    truth, y = outcomes()
    models = {
        "informative": truth,
        "useless": np.full(truth.size, y.mean()),
        "over-confident": expit(2 * logit(truth)),
        "under-confident": expit(0.5 * logit(truth)),
    }
    parts = {name: v.decompose(y, p, rule="log") for name, p in models.items()}
    figure = Figure(figsize=(7.8, 4.2), layout="constrained")
    ax = figure.subplots()
    plots.decomposition(parts, ax=ax)
    ax.set_xlim(0, 0.75)
    return figure


def bars() -> Figure:
    """The gap of every bin against what chance allows, with few rows and with many."""
    figure = Figure(figsize=(9.2, 4.6), layout="constrained")
    sizes = (200, 5000)
    titles = [f"{n:,} rows of the same model" for n in sizes]
    for ax, n in zip(panels(figure, titles), sizes, strict=True):
        truth, y = outcomes(n, seed=3)
        plots.deviation(y, expit(1.35 * logit(truth)), n_bins=10, histogram=None, ax=ax)
    return figure


def maps() -> Figure:
    """Four maps fitted to the same 500 rows, and the truth."""
    truth, y = outcomes(500, seed=2)
    p = expit(2 * logit(truth) - 0.7)
    fitted = {
        "temperature": v.TemperatureCalibrator(),
        "Platt": v.PlattCalibrator(),
        "beta": v.BetaCalibrator(),
        "isotonic": v.IsotonicCalibrator(),
    }
    for calibrator in fitted.values():
        calibrator.fit(p, y)
    figure = Figure(figsize=(6.8, 6.2), layout="constrained")
    ax = figure.subplots()
    plots.calibration_map(fitted, ax=ax)
    grid = np.linspace(0.001, 0.999, 400)
    ax.plot(
        grid,
        expit(0.5 * (logit(grid) + 0.7)),
        color="black",
        linewidth=1,
        linestyle=":",
        label="truth",
    )
    ax.legend(loc="upper left", frameon=False)
    return figure


def decisions() -> Figure:
    """Net benefit of an over-confident model and of its recalibration."""
    truth, y = outcomes(4000, seed=1)
    p = expit(2.5 * logit(truth) - 1)
    fit, check = slice(0, None, 2), slice(1, None, 2)
    calibrator = v.BetaCalibrator().fit(p[fit], y[fit])
    models = {"as it is": p[check], "recalibrated": calibrator.predict_proba(p[check])[:, 1]}
    curves = {
        name: v.decision_curve(y[check], q, thresholds=np.linspace(0.05, 0.95, 91))
        for name, q in models.items()
    }
    figure = Figure(figsize=(7.4, 4.6), layout="constrained")
    plots.decision_curve(curves, ax=figure.subplots())
    return figure


def drift() -> Figure:
    """The same model where the event is less common than it was, and its adjustment."""
    rng = np.random.default_rng(0)
    y = (rng.random(6000) < 0.1).astype(int)
    x = rng.normal(2.0 * y, 1.0)
    p = expit(2.0 * x - 2.0)  # right where half of the rows are positive
    models = {"trained on 50 %": p, "adjusted to 10 %": v.adjust_priors(p, 0.5, 0.1)}
    figure = Figure(figsize=(6.4, 6.0), layout="constrained")
    plots.reliability(y, models, n_bins=10, ax=figure.subplots())
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "quick-start": quick_start,
    "four-models": four_models,
    "lenses": lenses,
    "ece-by-rows": ece_by_rows,
    "null": null,
    "decomposition": decomposition,
    "bars": bars,
    "maps": maps,
    "decisions": decisions,
    "drift": drift,
}


def main(names: list[str]) -> None:
    """Draw the pictures named, or all."""
    for name in names or PICTURES:
        save(PICTURES[name](), name)


if __name__ == "__main__":
    main(sys.argv[1:])
