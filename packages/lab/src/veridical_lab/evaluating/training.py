"""Figure 3: likelihood, accuracy, calibration error and its p-value while a network learns."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical.binning import UniformBins
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError
from veridical.scores import log_loss
from veridical.simulation import random_gaussian_task
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import share
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray, IntArray
from veridical_lab.plots.panels import Figure, Line, Panel, Points, draw_panels

_CLASSES = 10
_MEASURES = {
    "nll": "negative log-likelihood",
    "accuracy": "accuracy",
    "ece": "calibration error",
    "pvalue": "p-value if calibrated",
}
_EPOCHS = (1, 2, 3, 4, 5, 6, *range(8, 42, 2))
_QUICK_EPOCHS = (1, 2, 4, 8, 12, 16, 20, 24, 28)
_TASKS = {"simulated": "ten normal classes, 10,000 test rows", "digits": "digits, 897 test rows"}
Split = tuple[FloatArray, IntArray]


def train(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Train one network and measure it on its way."""
    from sklearn.neural_network import MLPClassifier

    fit, validation, test = _data(cell["task"], cell["seed"])
    seed = int(rng.integers(2**31))
    network = MLPClassifier(
        (64,), alpha=0.0, learning_rate_init=0.01, batch_size=50, random_state=seed
    )
    answer: dict[str, Any] = {name: [] for name in ("validation", *_MEASURES)}
    for epoch in range(1, cell["epochs"][-1] + 1):
        network.partial_fit(*fit, classes=range(_CLASSES))
        if epoch not in cell["epochs"]:
            continue
        p = network.predict_proba(test[0])
        error = BinnedError(UniformBins(10))
        judged = consistency_test(
            error, test[1], p, lens="confidence", rng=rng, n_resamples=cell["draws"]
        )
        answer["validation"].append(_loss(network, validation))
        answer["nll"].append(log_loss(test[1], p))
        answer["accuracy"].append(float((p.argmax(axis=1) == test[1]).mean()))
        answer["ece"].append(judged.statistic)
        answer["pvalue"].append(judged.pvalue)
    return answer


def _loss(network: Any, rows: Split) -> float:
    return log_loss(rows[1], network.predict_proba(rows[0]))


def _data(task: str, seed: int) -> tuple[Split, Split, Split]:
    """Rows to train on, to choose the epoch by, and to test with; the same for every network."""
    rng = np.random.default_rng(seed)
    if task == "digits":
        from sklearn.datasets import load_digits

        images = load_digits()
        order = rng.permutation(len(images.target))
        x, y = images.data[order] / 16, images.target[order]
        return (x[:600], y[:600]), (x[600:900], y[600:900]), (x[900:], y[900:])
    normals = random_gaussian_task(_CLASSES, 10, n_modes=2, rng=rng)
    fit, validation, test = (normals.sample(n, rng=rng) for n in (1500, 2000, 10_000))
    return (fit.x, fit.y), (validation.x, validation.y), (test.x, test.y)


def training_section(lab: Laboratory, page: Page) -> None:
    """Add Figure 3 on a simulated task and on digits, and the sentence about it."""
    page.section("Figure 3: calibration while a network learns")
    starts, draws, epochs = (2, 99, _QUICK_EPOCHS) if lab.quick else (10, 999, _EPOCHS)
    tasks = ("simulated",) if lab.quick else tuple(_TASKS)
    cells = [
        {"task": task, "start": start, "draws": draws, "seed": lab.seed, "epochs": epochs}
        for task in tasks
        for start in range(starts)
    ]
    answers = lab.map("training", train, cells)
    by = {
        task: [a for cell, a in zip(cells, answers, strict=True) if cell["task"] == task]
        for task in tasks
    }
    page.text(
        """The paper trains LeNet on MNIST. Here a network of 64 hidden units learns ten classes of
        normals in ten dimensions, a task chosen so that the likelihood is best before training ends
        and with as many test rows as MNIST has; and the digits of scikit-learn, which leave 897 of
        them. With digits the error is small, and the table does not say whether rows are wanting
        or miscalibration."""
    )
    for task, networks in by.items():
        caption = f"""{_TASKS[task]}: {starts} networks from different starts, by epoch. Marks:
            least negative log-likelihood on validation rows. | Likelihood, accuracy, calibration
            error and p-value by epoch"""
        page.figure(f"training-{task}", _draw(networks, epochs), caption)
    chosen = {
        task: [one["pvalue"][int(np.argmin(one["validation"]))] for one in networks]
        for task, networks in by.items()
    }
    best = {task: [max(one["pvalue"]) for one in networks] for task, networks in by.items()}
    page.table(
        {
            "task": [_TASKS[task] for task in tasks],
            "p-values where the likelihood is best": [_listed(chosen[task]) for task in tasks],
            "largest on the way": [_listed(best[task]) for task in tasks],
        }
    )
    rejected = {task: np.array(found) < 0.05 for task, found in chosen.items()}
    page.check(f"""Figure 3 | the model of best likelihood is quite consistently found miscalibrated
        | {share(rejected["simulated"])} as quite consistently | share of networks rejected at 5 %
        at their best epoch, simulated task, 10,000 test rows; another task may differ""")
    if "digits" in rejected:
        page.check(
            f"""Figure 3, digits | {rejected["digits"].mean()} | the same share on 897 digits"""
        )


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _draw(networks: list[dict[str, Any]], epochs: tuple[int, ...]) -> Figure:
    panels = []
    for name, title in _MEASURES.items():
        marks: list[Any] = []
        for index, network in enumerate(networks):
            best = int(np.argmin(network["validation"]))
            marks += [
                Line(epochs, network[name], colour=index),
                Points([epochs[best]], [network[name][best]], colour=index, size=40.0),
            ]
        panels.append(Panel(marks, title, "epoch"))
    return draw_panels(panels, columns=4, size=(2.35, 2.3))
