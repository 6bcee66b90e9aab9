"""Figure 3: temperature against Dirichlet calibration on the outputs of a real network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators import (
    Calibrator,
    DirichletCalibrator,
    IdentityCalibrator,
    StructuredMatrixCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
)
from veridical.curves import reliability_curve
from veridical.experiments._fake_contestants import tuned_dirichlet
from veridical.experiments._fake_network_page import CLASS, show_network
from veridical.experiments._laboratory import Cell, Laboratory
from veridical.experiments._page import Page
from veridical.experiments._predictions import Predictions, digits_predictions, read_predictions
from veridical.miscalibration import (
    BinnedError,
    classwise_calibration_error,
    expected_calibration_error,
)
from veridical.scores import log_loss, zero_one_loss

_ORIGINS = {
    "wideresnet-16-4-cifar-10": "a wide residual network on the 10,000 test images of CIFAR-10, "
    "outputs published by the netcal project (EFS-OpenSource/calibration-framework, Apache-2.0)",
}
_SIZES = (100, 200, 500, 1000, 2000, 5000)


def show_networks(lab: Laboratory, page: Page) -> None:
    """The example that ships with the library, and every file that was given."""
    page.section("Figure 3: temperature and Dirichlet calibration of a real network")
    page.text(
        """The figure of the review comes from Kull et al. (2019), whose network's outputs on
        CIFAR-10 are not published with it. Here: a small over-trained network on scikit-learn's
        handwritten digits, which ships with the library, and the files given. One half of the rows
        calibrates, the other tests, over random halves; differences carry a standard error that
        allows for halves of the same rows (Nadeau and Bengio 2003, doi:10.1023/A:1024068626366)."""
    )
    for path in ("", *map(str, lab.data)):
        network = _read(path)
        if network.name in _ORIGINS:
            page.text(f"`{network.name}`: {_ORIGINS[network.name]}.")
        n = len(network.y)
        cells = [
            {"path": path, "rows": n // 2, "repetition": r, "quick": lab.quick}
            for r in range(3 if lab.quick else 10)
        ]
        found = lab.map("halves", _halve, cells)
        sizes = [] if lab.quick else [size for size in _SIZES if size <= n // 2]
        curve = [
            {"path": path, "rows": size, "repetition": r, "quick": False}
            for size in sizes
            for r in range(6)
        ]
        grown = lab.map("sizes", _halve, curve)
        by_size = {
            size: [one for cell, one in zip(curve, grown, strict=True) if cell["rows"] == size]
            for size in sizes
        }
        show_network(page, network, found, by_size, split=_one_split(lab, network))


def _read(path: str) -> Predictions:
    return read_predictions(Path(path), caller="run_experiment") if path else digits_predictions()


def _methods(*, quick: bool) -> dict[str, Calibrator]:
    found: dict[str, Calibrator] = {
        "none": IdentityCalibrator(),
        "temperature": TemperatureCalibrator(),
        "vector": VectorCalibrator(),
        "Dirichlet": DirichletCalibrator(),
        "Dirichlet, no penalty": DirichletCalibrator(penalty=None, pseudo_rows=0),
        "structured matrix": StructuredMatrixCalibrator(),
    }
    return found if quick else found | {"Dirichlet, tuned penalty": tuned_dirichlet()}


def _split(n: int, rows: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    order = rng.permutation(n)
    return order[:rows], order[n // 2 :]


def _halve(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Calibrate on some rows, measure on the other half."""
    network = _read(cell["path"])
    fitted, tested = _split(len(network.y), cell["rows"], rng)
    y, p, labels = network.y[tested], network.p[tested], list(range(network.p.shape[1]))
    found: dict[str, dict[str, float]] = {}
    for name, calibrator in _methods(quick=cell["quick"]).items():
        calibrator.set_params(labels=labels)
        after = calibrator.fit(network.p[fitted], network.y[fitted]).predict_proba(p)
        found[name] = _figures(y, after, labels) | {
            "moved": float((after.argmax(axis=1) != p.argmax(axis=1)).sum())
        }
    return found


def _figures(y: IntArray, p: FloatArray, labels: list[int]) -> dict[str, float]:
    return {
        "accuracy": 1 - zero_one_loss(y, p, labels=labels),
        "ECE": expected_calibration_error(y, p, lens="confidence", labels=labels),
        "classwise ECE": classwise_calibration_error(y, p, labels=labels),
        "classwise ECE, debiased": classwise_calibration_error(y, p, labels=labels, debias=True),
        "class 2": BinnedError()(y == CLASS, p[:, CLASS]),
        "log loss": log_loss(y, p, labels=labels),
        "over": _over_confident_share(y, p),
    }


def _over_confident_share(y: IntArray, p: FloatArray) -> float:
    """Share of rows in bins of confidence whose accuracy is below it."""
    curve = reliability_curve(y, p, lens="confidence", interval=None)
    return float(curve.count[curve.gap < 0].sum() / len(y))


def _one_split(lab: Laboratory, network: Predictions) -> dict[str, tuple[IntArray, FloatArray]]:
    """Outcomes and predictions of one half after each calibrator that the figure shows."""
    n = len(network.y)
    fitted, tested = _split(n, n // 2, lab.rng("figure 3"))
    methods = _methods(quick=True)
    return {
        name: (
            network.y[tested],
            methods[name]
            .fit(network.p[fitted], network.y[fitted])
            .predict_proba(network.p[tested]),
        )
        for name in ("none", "temperature", "Dirichlet")
    }
