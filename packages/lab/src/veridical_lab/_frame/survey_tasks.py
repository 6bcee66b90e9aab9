"""What both synthetic tasks of the survey share: the networks, and integrals over the feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical import simulation
from veridical.simulation import GaussianMixtureTask, true_reliability
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab.arrays import BoolArray, FloatArray, IntArray

TASKS: dict[str, Callable[[], GaussianMixtureTask]] = {
    "two": simulation.survey_binary_task,
    "three": simulation.survey_three_class_task,
}
REACH = 500  # of the feature, to both sides: more than twelve deviations of every mode
STEPS, FINER = 16, 32  # a unit, of the grid on which corners of a network are looked for
N_NODES = 1 << 14  # of quadratures: the true errors differ from those of 65,536 by 1e-5 at most
TINY = 1e-300  # instead of zero in logarithms
N_SCORES = 100  # cells of the scores of a calibration map
SCORES: FloatArray = (np.arange(N_SCORES) + 0.5) / N_SCORES


def log_softmax(z: FloatArray) -> FloatArray:
    """Logarithms of the probabilities that logits (n, K) stand for."""
    from scipy import special

    return np.asarray(special.log_softmax(z, axis=1))


@dataclass(frozen=True)
class Network:
    """A network of one feature as the straight pieces its logits consist of.

    Rectified linear units make each logit a broken line of the feature, so its corners say all:
    a few hundred numbers that fit into a cell, and that are quick to look up.

    Attributes
    ----------
    knots : (m,) ascending values of the feature
    logits : (m, K) at the knots, straight in between

    Examples
    --------
    >>> Network([0.0, 1.0], [[0.0, 0.0], [0.0, 2.0]])(np.array([[0.0]])).tolist()
    [[0.5, 0.5]]
    """

    knots: Sequence[float]
    logits: Sequence[Sequence[float]]

    def log_probabilities(self, x: FloatArray) -> FloatArray:
        """Logarithms of the probabilities of the classes, (n, K)."""
        table = np.asarray(self.logits, dtype=np.float64)
        z = np.column_stack([np.interp(x[:, 0], self.knots, column) for column in table.T])
        return log_softmax(z)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Probabilities of the classes, (n, K)."""
        return np.exp(self.log_probabilities(x))


def train_networks(lab: Laboratory, task: str, count: int, n_rows: int) -> list[dict[str, Any]]:
    """Train the survey's network on `count` fresh samples; each as the arguments of `Network`."""
    cells = [{"task": task, "n_rows": n_rows, "network": i} for i in range(count)]
    return lab.map("networks", train_network, cells)


def train_network(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Train one network and read off its corners."""
    model = simulation.survey_mlp(TASKS[cell["task"]](), n_train=cell["n_rows"], rng=rng)
    x = np.linspace(-REACH, REACH, 2 * REACH * STEPS + 1)
    logits = network_logits(model, x[:, None])
    near = _corners(x, logits)
    finer = (x[near, None] + np.linspace(-1, 1, 2 * FINER + 1) / STEPS).ravel()
    x = np.unique(np.concatenate([x, finer]))
    logits = network_logits(model, x[:, None])
    kept = np.concatenate([[0], _corners(x, logits), [len(x) - 1]])
    return {"knots": x[kept], "logits": logits[kept]}


def _corners(x: FloatArray, logits: FloatArray) -> IntArray:
    """Where straight pieces meet: the two nodes around each corner."""
    slope = np.diff(logits, axis=0) / np.diff(x)[:, None]
    bend = np.abs(np.diff(slope, axis=0)).max(axis=1)
    return np.flatnonzero(bend > 1e-6 * np.abs(slope).max()) + 1


def network_logits(model: Any, x: FloatArray) -> FloatArray:
    """Logits of a fitted `MLPClassifier`, whose probabilities are rounded to 0 and 1 far out."""
    layer = x
    for weight, bias in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        layer = np.maximum(layer @ weight + bias, 0)
    z: FloatArray = layer @ model.coefs_[-1] + model.intercepts_[-1]
    return z if z.shape[1] > 1 else np.column_stack([np.zeros(len(z)), z])


@dataclass(frozen=True, eq=False)
class FeatureLine:
    """The feature cut into short pieces.

    Attributes
    ----------
    x : (n, 1) middle of each piece
    mass : (n,) probability of each
    posterior : (n, K) of the classes in the middle
    """

    x: FloatArray
    mass: FloatArray
    posterior: FloatArray

    def distance(self, p: FloatArray) -> float:
        """Mean total variation between probabilities (n, K) and the posteriors."""
        return float(self.mass @ np.abs(p - self.posterior).sum(axis=1) / 2)

    def squared_distance(self, p: FloatArray) -> float:
        """Expected Brier score above that of the posterior; of the one probability if K = 2."""
        squares = ((p - self.posterior) ** 2).sum(axis=1)
        return float(self.mass @ squares / (2 if p.shape[1] == 2 else 1))

    def divergence(self, p: FloatArray) -> float:
        """Expected log loss above that of the posterior, in nats."""
        ratio = np.log(np.maximum(self.posterior, TINY)) - np.log(np.maximum(p, TINY))
        return float(self.mass @ (self.posterior * ratio).sum(axis=1))

    def diagram(self, score: FloatArray, index: int, n_bins: int = 50) -> dict[str, FloatArray]:
        """Reliability diagram of the population: mean score, frequency and share of each bin."""
        edges = np.linspace(0, 1, n_bins + 1)
        share, mean, rate = (
            np.histogram(score, edges, weights=self.mass * value)[0]
            for value in (np.ones_like(score), score, self.posterior[:, index])
        )
        held = share > 1e-6
        return {
            "mean": mean[held] / share[held],
            "rate": rate[held] / share[held],
            "share": share[held],
        }

    def shares(self, score: FloatArray, n_bins: int = N_SCORES) -> FloatArray:
        """Probability of a score in each of the bins."""
        return np.histogram(score, np.linspace(0, 1, n_bins + 1), weights=self.mass)[0]


def line_of(task: GaussianMixtureTask) -> FeatureLine:
    """Cut the feature of a task into pieces."""
    edges = np.linspace(-REACH, REACH, N_NODES + 1)
    x = (edges[:-1] + edges[1:]) / 2
    return FeatureLine(x[:, None], task.interval_mass(edges).sum(axis=1), task.posterior(x))


@dataclass(frozen=True, eq=False)
class TrueMap:
    """The calibration map that a score needs.

    Attributes
    ----------
    rate : (100,) true frequency at each of `SCORES`; NaN where the score never occurs
    share : (100,) probability of a score in the cell around it
    """

    rate: FloatArray
    share: FloatArray

    def gap(self, values: FloatArray, low: float = 0.0, high: float = 1.0) -> float:
        """Mean distance of a map's values at `SCORES` from the truth, for scores in a range."""
        inside = self._inside(low, high)
        away = np.abs(np.asarray(values)[inside] - self.rate[inside])
        return float(away @ self.share[inside] / self.share[inside].sum())

    def tilt(self, low: float, high: float) -> float:
        """Mean true frequency above the score, for scores in a range."""
        inside = self._inside(low, high)
        share = self.share[inside]
        return float((self.rate - SCORES)[inside] @ share / share.sum())

    def _inside(self, low: float, high: float) -> BoolArray:
        return np.isfinite(self.rate) & np.greater(SCORES, low) & np.less(SCORES, high)


def true_map(
    task: GaussianMixtureTask,
    line: FeatureLine,
    classifier: Callable[[FloatArray], FloatArray],
    index: int,
) -> TrueMap:
    """Return the map that the probability of one class needs."""
    label = task.labels[index]
    rate = true_reliability(task, classifier, SCORES, label=label, n_nodes=N_NODES)
    return TrueMap(rate, line.shares(classifier(line.x)[:, index]))
