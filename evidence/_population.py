"""Laws of predictions and outcomes, samples of them, and what is true of their populations.

A population is a fine grid of quantiles of the predictions with the true frequency at each, so that
every figure has a known truth: figures are named as requirements of the gate spell them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression, root
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import beta

from veridical import CumulativeError, SmoothError
from veridical._core.sample import BinarySample

MANY = 200_000
CLUSTERS, CORRELATION = 20, 0.3
HEAVY, TIMES = 0.05, 20.0
KINDS = ("plain", "weights", "weights of p", "clusters")


class Law(NamedTuple):
    """Quantiles of the predictions, and the true frequency as a function of them."""

    predictions: str
    truth: str
    quantile: Callable[[np.ndarray], np.ndarray]
    rate: Callable[[np.ndarray], np.ndarray]

    @property
    def name(self) -> str:
        """Both in words."""
        return f"{self.predictions}, {self.truth}"


class Population(NamedTuple):
    """Predictions of rows, their true frequency and weight."""

    p: np.ndarray
    rate: np.ndarray
    weight: np.ndarray

    def mean(self, value: np.ndarray) -> float:
        """Weighted mean."""
        return float(self.weight @ value / self.weight.sum())


def odds(p: np.ndarray) -> np.ndarray:
    """Log-odds, finite."""
    return logit(np.clip(p, 1e-12, 1 - 1e-12))


def halved(p: np.ndarray) -> np.ndarray:
    """Truth where log-odds are twice too large."""
    return expit(odds(p) / 2)


def wave(p: np.ndarray) -> np.ndarray:
    """Truth that swings about the prediction."""
    return np.clip(p + 0.1 * np.sin(12 * p), 0, 1)


def calibrated(p: np.ndarray) -> np.ndarray:
    """Truth as predicted."""
    return p


def of_beta(a: float, b: float) -> Callable[[np.ndarray], np.ndarray]:
    """Quantiles of a beta distribution."""
    return lambda u: beta.ppf(u, a, b)


def weight_of(p: np.ndarray) -> np.ndarray:
    """Weights that follow from the prediction: small ones were seldom kept."""
    return 1 / (0.05 + p)


def population(law: Law, kind: str = "plain", size: int = MANY) -> Population:
    """The population of a law, with its weights if they depend on the predictions."""
    p = law.quantile((np.arange(size) + 0.5) / size)
    return Population(p, law.rate(p), weight_of(p) if kind == "weights of p" else np.ones(size))


def draw(law: Law, n: int, kind: str, rng: np.random.Generator) -> BinarySample:
    """Rows of a law: plain, with weights or in clusters."""
    weight = clusters = None
    uniform = rng.random((2, n))
    if kind == "clusters":
        clusters = np.arange(n) * CLUSTERS // n
        common, own = rng.normal(size=(2, CLUSTERS))[:, clusters], rng.normal(size=(2, n))
        uniform = ndtr(math.sqrt(CORRELATION) * common + math.sqrt(1 - CORRELATION) * own)
    p = law.quantile(uniform[0])
    if kind == "weights":
        weight = np.where(rng.random(n) < HEAVY, TIMES, 1.0)
    elif kind == "weights of p":
        weight = weight_of(p)
    y = (uniform[1] < law.rate(p)).astype(np.int8)
    return BinarySample(y=y, p=p, weight=weight, clusters=clusters)


def losses(p: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Scores if the event does not happen and if it does, by definition."""
    length = np.hypot(p, 1 - p)
    safe = np.clip(p, 1e-300, 1 - 1e-16)
    return {
        "brier": (p**2, (1 - p) ** 2),
        "log": (-np.log1p(-safe), -np.log(safe)),
        "spherical": (1 - (1 - p) / length, 1 - p / length),
        "zero_one": ((p > 0.5) * 1.0, (p <= 0.5) * 1.0),
    }


def scores(of: Population, p: np.ndarray) -> dict[str, float]:
    """Mean scores of predictions p."""
    return {
        name: of.mean(of.rate * hit + (1 - of.rate) * miss)
        for name, (miss, hit) in losses(p).items()
    }


def area(p: np.ndarray, positive: np.ndarray, negative: np.ndarray) -> float:
    """Share of pairs in order, ties counting one half."""
    values, place = np.unique(p, return_inverse=True)
    up, down = (np.bincount(place, each, len(values)) for each in (positive, negative))
    return float(up @ (np.cumsum(down) - down / 2) / (up.sum() * down.sum()))


def monotone(of: Population) -> np.ndarray:
    """The increasing function of the predictions that is nearest to the true frequency."""
    place = np.unique(of.p, return_inverse=True)[1]
    weight, positive = (np.bincount(place, each) for each in (of.weight, of.weight * of.rate))
    return isotonic_regression(positive / weight, weights=weight).x[place]


def as_sample(of: Population) -> BinarySample:
    """Both outcomes of every row, as often as they happen."""
    share = np.concatenate([of.weight * of.rate, of.weight * (1 - of.rate)])
    held = share > 0
    y = np.repeat([1, 0], len(of.p))[held]
    return BinarySample(y=y, p=np.tile(of.p, 2)[held], weight=share[held], weight_type="frequency")


def truths(of: Population) -> dict[str, float]:
    """What holds for the population, but for binned errors."""
    found = scores(of, of.p)
    found["accuracy"] = 1 - found["zero_one"]
    found["auc"] = area(of.p, of.weight * of.rate, of.weight * (1 - of.rate))
    best, base = scores(of, monotone(of)), scores(of, np.full(len(of.p), of.mean(of.rate)))
    for rule in ("brier", "log"):
        found[f"{rule}_miscalibration"] = found[rule] - best[rule]
        found[f"{rule}_discrimination"] = base[rule] - best[rule]
    found["calibration_in_the_large"] = of.mean(of.rate - of.p)
    found["observed_expected"] = of.mean(of.rate) / of.mean(of.p)
    x = odds(of.p)
    level = root(lambda a: of.mean(of.rate - expit(a + x)), 0.0).x[0]
    found["intercept"] = float(level)
    if x.min() < x.max():

        def gap(line: np.ndarray) -> list[float]:
            left = of.rate - expit(line[0] + line[1] * x)
            return [of.mean(left), of.mean(left * x)]

        line = root(gap, [level, 0.8])
        if line.success and np.abs(gap(line.x)).max() < 1e-9:  # else there is none that is finite
            found["slope"] = float(line.x[1])
    sample = as_sample(of)
    for error in (CumulativeError(), CumulativeError("kuiper"), SmoothError()):
        found[error.name.lower()] = error.measure(sample)
    return found


def binned_truth(
    partition: object, of: Population, norm: float, held: np.ndarray | None = None
) -> float:
    """Binned error of the population under the bins of a sample; of those in `held` if given.

    `of.p` and `of.rate` may be whole vectors: then it is the total variation.
    """
    cell = partition.assign(of.p)  # type: ignore[attr-defined]
    p, rate = of.p, of.rate
    if p.ndim == 1:
        p, rate = np.column_stack([1 - p, p]), np.column_stack([1 - rate, rate])
    share = np.bincount(cell, of.weight)
    gaps = np.column_stack(
        [np.bincount(cell, of.weight * (rate[:, k] - p[:, k])) for k in range(p.shape[1])]
    )
    kept = share > 0 if held is None else (share > 0) & np.isin(np.arange(len(share)), held)
    size = np.abs(gaps[kept]).sum(axis=1) / (2 * share[kept])
    if math.isinf(norm):
        return float(size.max())
    return float((share[kept] @ size**norm / share[kept].sum()) ** (1 / norm))


UNIFORM = "uniform"
LAWS = {
    law.name: law
    for law in (
        Law("Beta(0.2, 8)", "calibrated", of_beta(0.2, 8), calibrated),
        Law("Beta(0.2, 8)", "slope 1/2", of_beta(0.2, 8), halved),
        Law("Beta(0.2, 8)", "odds 2.7 times", of_beta(0.2, 8), lambda p: expit(odds(p) + 1)),
        Law("Beta(0.6, 4)", "calibrated", of_beta(0.6, 4), calibrated),
        Law("Beta(0.6, 4)", "slope 1/2", of_beta(0.6, 4), halved),
        Law("Beta(0.6, 4)", "odds 1/2.7", of_beta(0.6, 4), lambda p: expit(odds(p) - 1)),
        Law(UNIFORM, "wave", lambda u: u, wave),
        Law(UNIFORM, "calibrated", lambda u: u, calibrated),
        Law("0.3 or 0.9", "0.1 too high", lambda u: np.where(u < 0.5, 0.3, 0.9),
            lambda p: p - 0.1),
        Law("0.3, seldom 0.9", "0.9 never happens", lambda u: np.where(u < 0.98, 0.3, 0.9),
            lambda p: np.where(p < 0.5, p, 0.0)),
        Law("saturated", "slope 1/2", lambda u: expit(5 * ndtri(u)), halved),
        Law("always 0.02", "0.06", lambda u: np.full(u.shape, 0.02),
            lambda p: np.full(p.shape, 0.06)),
    )
}  # fmt: skip
