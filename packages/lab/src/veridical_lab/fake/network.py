"""Figure 3: temperature against Dirichlet calibration on the outputs of a real network.

Table, picture and verdicts of Figure 3 for one network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from veridical import calibrators as maps
from veridical.curves import reliability_curve
from veridical.miscalibration import (
    BinnedError,
    classwise_calibration_error,
    expected_calibration_error,
)
from veridical.scores import log_loss, zero_one_loss
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import with_error
from veridical_lab._frame.page import Page
from veridical_lab._frame.predictions import Predictions, find_predictions
from veridical_lab.arrays import FloatArray, IntArray
from veridical_lab.fake.contestants import tuned_dirichlet
from veridical_lab.plots.panels import Bars, Panel, Points, draw_panels, marked_lines

Halves = list[dict[str, dict[str, float]]]
CLASS = 2  # of (c) and (d), numbered from 0


def show_network(
    page: Page,
    network: Predictions,
    halves: Halves,
    by_size: dict[int, Halves],
    *,
    split: dict[str, tuple[IntArray, FloatArray]],
) -> None:
    """Write what random halves of one network's outputs say."""
    name, n = network.name, len(network.y)
    methods = list(halves[0])
    shown = ("accuracy", "log loss", "ECE", "classwise ECE", "class 2")
    page.table(
        {
            "calibrator": methods,
            **{figure: [_mean(halves, method, figure) for method in methods] for figure in shown},
        },
        caption=f"{name}: {n:,} rows, {network.p.shape[1]} classes, means of {len(halves)} halves",
    )
    if not np.isfinite([_mean(halves, method, "log loss") for method in methods]).all():
        page.text("A log loss of inf: a class occurred that was given the probability 0.")
    parameters = network.p.shape[1] * (network.p.shape[1] + 1)
    _judge(page, name, halves, f"{n // 2:,} rows for {parameters} parameters")
    caption = f"""{name}, as in Figure 3: (a) confidence before calibration, (b) after temperature
        scaling, (c) class {CLASS} after temperature scaling, (d) class {CLASS} after Dirichlet
        calibration; bars show the share of rows. | Four reliability diagrams: confidence before and
        after temperature scaling, one class after temperature scaling and after Dirichlet
        calibration"""
    panels = draw_panels(_panels(split), columns=4, size=(2.5, 2.7))
    page.figure(f"{name}-reliability", panels, caption)
    if by_size:
        _show_sizes(page, name, by_size)


def _mean(halves: Halves, method: str, figure: str) -> float:
    return float(np.mean([half[method][figure] for half in halves]))


def _difference(halves: Halves, figure: str, one: str, other: str) -> tuple[float, float]:
    """Mean difference, and its standard error for halves that overlap."""
    return _overlapping([half[one][figure] - half[other][figure] for half in halves])


def _overlapping(values: Sequence[float]) -> tuple[float, float]:
    """Mean of what halves of the same rows gave, and its standard error."""
    found = np.array(values)
    return float(found.mean()), float(np.sqrt((1 / len(found) + 1) * found.var(ddof=1)))


def _judge(page: Page, name: str, halves: Halves, room: str) -> None:
    ece, none = _mean(halves, "none", "ECE"), [half["none"] for half in halves]
    over = _overlapping([one["over"] for one in none])
    beyond = _overlapping([one["ECE"] - (1 - one["accuracy"]) for one in none])
    page.check(f"""
        - Section 7, {name} | modern neural networks tend to be always overconfident |
          {with_error(*over)} as almost always | share of rows in bins of confidence whose accuracy
          is below it, 15 bins
        - Lemma 1, {name} | the inequality ECE <= 1 - acc holds for many neural networks |
          {with_error(*beyond)} <= 0 | its ECE, {ece:.4f}, less 1 - acc
    """)
    drop, error = _difference(halves, "ECE", "temperature", "none")
    page.check(f"""Figure 3 (a) and (b), {name} | temperature scaling reduces the ECE of neural
        networks | {drop} ~ {error} < 0 | change of the ECE;
        {_mean(halves, "temperature", "ECE"):.4f} after, {ece:.4f} before""")
    best = "Dirichlet, tuned penalty" if "Dirichlet, tuned penalty" in halves[0] else "Dirichlet"
    by_class = f"class {CLASS} is better calibrated after Dirichlet than after temperature"
    improves = (
        "Dirichlet calibration improves class-wise calibration errors, where temperature "
        "performed significantly worse"
    )
    for words, label, figure in (
        (by_class, "Figure 3 (c) and (d)", "class 2"),
        (improves, "Section 5.2, classwise", "classwise ECE"),
    ):
        change, error = _difference(halves, figure, best, "temperature")
        page.check(f"""{label}, {name} | {words} | {change} ~ {error} < 0 | error after {best}
            ({_mean(halves, best, figure):.4f}) less that after temperature
            ({_mean(halves, "temperature", figure):.4f}); {room}""")
    moved = max(half["temperature"]["moved"] for half in halves)
    page.check(f"""Section 5.1, accuracy, {name} | accuracy is unaffected by temperature scaling |
        {moved} == 0 | predictions that changed, at most""")
    gain, error = _difference(halves, "accuracy", "Dirichlet", "none")
    page.check(f"""Section 5.2, change of accuracy by Dirichlet calibration, {name} | {gain} |
        standard error {error:.4f}; {_mean(halves, "Dirichlet", "moved"):.0f} predictions of a half
        change on average""")


def _panels(split: dict[str, tuple[IntArray, FloatArray]]) -> list[Panel]:
    panels = []
    for title, method, lens in (
        ("(a) none", "none", "confidence"),
        ("(b) temperature", "temperature", "confidence"),
        (f"(c) temperature, class {CLASS}", "temperature", "class"),
        (f"(d) Dirichlet, class {CLASS}", "Dirichlet", "class"),
    ):
        y, p = split[method]
        if lens == "confidence":
            curve = reliability_curve(y, p, lens="confidence", n_bins=15)
        else:
            curve = reliability_curve(y == CLASS, p[:, CLASS], n_bins=15)
        share = np.zeros(15)
        share[np.round(curve.lower * 15).astype(int)] = curve.count / len(y)
        marks: list[Any] = [
            Bars(np.arange(16) / 15, share, "", 1),
            Points(curve.predicted, curve.observed, "", 0, low=curve.low, high=curve.high),
        ]
        x_label = "confidence" if lens == "confidence" else "probability"
        y_label = "accuracy" if method == "none" else ""
        panels.append(Panel(marks, title, x_label, y_label, "square"))
    return panels


def _show_sizes(page: Page, name: str, by_size: dict[int, Halves]) -> None:
    sizes = list(by_size)
    methods = list(by_size[sizes[0]][0])
    panels = []
    for figure in ("ECE", "classwise ECE"):
        means = {method: [_mean(by_size[n], method, figure) for n in sizes] for method in methods}
        lines = marked_lines(sizes, means, "none")
        panels.append(Panel(lines, figure, "rows that calibrate", "", "log x"))
    caption = f"""{name}: how many rows calibrators need; the other half tests. | ECE and classwise
        ECE of calibrators against the number of calibration rows"""
    drawn = draw_panels(panels, columns=2, size=(3.8, 3.0), legend=True)
    page.figure(f"{name}-rows", drawn, caption)
    rivals = ("Dirichlet", "Dirichlet, no penalty", "Dirichlet, tuned penalty", "structured matrix")
    found = {method: _rows_to_win(by_size, method) for method in rivals}
    page.table(
        {
            "calibrator": list(found),
            "rows from which it beats temperature": [
                "not here" if n is None else f"{n:,}" for n in found.values()
            ],
        },
        caption=f"{name}: log loss, mean of {len(by_size[sizes[0]])} draws",
    )
    few = by_size[sizes[0]]
    harm = _difference(few, "ECE", "Dirichlet, no penalty", "none")
    page.check(f"""Section 5.2, over-fitting, {name} | severe overfitting without the right penalty
        | {with_error(*harm)} as severe | change of the ECE by Dirichlet calibration without
        penalty, {sizes[0]}
        rows""")


def _rows_to_win(by_size: dict[int, Halves], method: str) -> int | None:
    """Fewest rows with which a calibrator has a lower log loss than temperature."""
    for n, halves in by_size.items():
        if _mean(halves, method, "log loss") < _mean(halves, "temperature", "log loss"):
            return n
    return None


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
        network = find_predictions(path, caller="run_experiment")
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


def _methods(*, quick: bool) -> dict[str, maps.Calibrator]:
    found: dict[str, maps.Calibrator] = {
        "none": maps.IdentityCalibrator(),
        "temperature": maps.TemperatureCalibrator(),
        "vector": maps.VectorCalibrator(),
        "Dirichlet": maps.DirichletCalibrator(),
        "Dirichlet, no penalty": maps.DirichletCalibrator(penalty=None, pseudo_rows=0),
        "structured matrix": maps.StructuredMatrixCalibrator(),
    }
    return found if quick else found | {"Dirichlet, tuned penalty": tuned_dirichlet()}


def _split(n: int, rows: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    order = rng.permutation(n)
    return order[:rows], order[n // 2 :]


def _halve(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Calibrate on some rows, measure on the other half."""
    network = find_predictions(cell["path"], caller="run_experiment")
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
    methods, rows = _methods(quick=True), (network.p[fitted], network.y[fitted])
    return {
        name: (network.y[tested], methods[name].fit(*rows).predict_proba(network.p[tested]))
        for name in ("none", "temperature", "Dirichlet")
    }
