"""Maps of log-probabilities that all classes share: are they worth a place in the pool?

    python benchmarks/league/shared_maps.py CACHE docs/evidence/shared_maps.csv [--sizes 1000]

`IsotonicShared` is IRM of Zhang, Kailkhura & Han (2020, Mix-n-Match, arXiv 2003.07329, section 3):
one isotonic regression of all n K pairs of a probability and whether its class happened, made
strictly monotone, rows divided by their sum. `SmoothShared` is softmax(f(log p_k)) with one
increasing, piecewise linear f, whose slopes are drawn to each other and to 1: the shared latent
function of Wenger, Kjellström & Triebel (2020, arXiv 1906.04933) without its Gaussian process.
Both keep the order of classes.

On stored pairs of the tune half with three classes or more (run the first stage of `run.py`), first
split: log loss of single maps, and of a pool with and without a candidate more. The pool has the
candidates of `AutoCalibrator` but its trees, and weights of least log loss on rows held out in five
folds, which serve all three pools: thirty folds for each, as the automatic choice has, take twenty
times as long. Means are over the cells of a data set first, then over data sets.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from contenders import everyone, fit_predict
from predictions import usable_sizes
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from trials import one_thread, scores

from veridical.calibrators import IdentityCalibrator
from veridical.calibrators._base.bases import MulticlassCalibrator, WeightedOutcomes
from veridical.selection._auto.candidates import default_candidates

SINGLE = [
    "uncalibrated",
    "temperature",
    "ensemble-temperature",
    "structured-matrix",
    "isotonic",
    "dirichlet",
    "dirichlet-searched",
    "histogram",
    "scaling-binning",
    "scaling-binning-beta",
]
OTHERS = ["IRM", "smooth shared", "pool", "pool with IRM", "pool with smooth shared"]
FOLDS = 5
STRICT = 1e-3  # slope added to the steps
PIECES = 8
STIFF, TO_ONE = 3.0, 1.0  # rows that the slopes' differences, and distances from 1, are worth


class IsotonicShared(MulticlassCalibrator):
    """One isotonic map for all classes."""

    def _fit_map(self, logits: np.ndarray, rows: WeightedOutcomes) -> None:
        p = softmax(logits, axis=1)
        happened = np.zeros_like(p)
        happened[np.arange(len(p)), rows.y] = 1.0
        weight = np.repeat(rows.weights, p.shape[1])
        fit = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1)
        fit.fit(p.ravel(), happened.ravel(), sample_weight=weight)
        self.knots_, self.values_ = fit.X_thresholds_, fit.y_thresholds_

    def _map(self, logits: np.ndarray) -> np.ndarray:
        p = softmax(logits, axis=1)
        found = np.interp(p, self.knots_, self.values_) + STRICT * p
        return found / found.sum(axis=1, keepdims=True)


class SmoothShared(MulticlassCalibrator):
    """Softmax of one increasing function of the log-probability of each class."""

    def _fit_map(self, logits: np.ndarray, rows: WeightedOutcomes) -> None:
        log_p = np.maximum(log_softmax(logits, axis=1), -30)
        share = np.exp(log_p).ravel()  # knots where probability is
        order = np.argsort(log_p.ravel())
        levels = np.cumsum(share[order]) / share.sum()
        at = np.searchsorted(levels, np.arange(1, PIECES) / PIECES)
        self.knots_ = np.unique(log_p.ravel()[order][at])
        parts, n, w = self._parts(log_p), rows.size, rows.weights / rows.weights.sum()
        index = np.arange(len(log_p))
        truth = parts[index, rows.y]

        def loss(slopes: np.ndarray) -> tuple[float, np.ndarray]:
            log_q = log_softmax(parts @ slopes, axis=1)
            q = np.exp(log_q)
            gradient = w @ (np.einsum("ik,ikm->im", q, parts) - truth)
            bends, away = np.diff(slopes), slopes - 1
            value = -float(w @ log_q[index, rows.y])
            value += (STIFF * float(bends @ bends) + TO_ONE * float(away @ away)) / n
            gradient += 2 * TO_ONE * away / n
            gradient[1:] += 2 * STIFF * bends / n
            gradient[:-1] -= 2 * STIFF * bends / n
            return value, gradient

        start = np.ones(len(self.knots_) + 1)
        bounds = [(1e-3, None)] * len(start)
        self.slopes_ = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x

    def _parts(self, log_p: np.ndarray) -> np.ndarray:
        """How far each log-probability is into each piece, (n, K, pieces); they sum to log p."""
        edges = np.concatenate([[-np.inf], self.knots_, [0.0]])
        anchor = np.concatenate([[self.knots_[0]], self.knots_])
        low, high = edges[:-1], edges[1:]
        inside = np.clip(log_p[:, :, None], low, high)
        return inside - anchor

    def _map(self, logits: np.ndarray) -> np.ndarray:
        log_p = np.maximum(log_softmax(logits, axis=1), -30)
        return softmax(self._parts(log_p) @ self.slopes_, axis=1)


def held_out(maps_: list[Any], p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Probabilities that each map, fitted to the other folds, gives to what happened, (n, maps)."""
    fold = np.random.default_rng(0).permutation(len(y)) % FOLDS
    given = np.empty((len(y), len(maps_)))
    for k in range(FOLDS):
        held = fold == k
        for j, each in enumerate(maps_):
            q = fitted(each, p[~held], y[~held])(p[held])
            given[held, j] = q[np.arange(held.sum()), y[held]]
    return np.maximum(given, 1e-12)


def fitted(each: Any, p: np.ndarray, y: np.ndarray) -> Any:
    """A map fitted to rows."""
    return clone(each).set_params(labels=range(p.shape[1])).fit(p, y).predict_proba


def weights_of(given: np.ndarray) -> np.ndarray:
    """Weights of the linear mixture with the least held-out log loss, by 200 steps of EM."""
    w = np.full(given.shape[1], 1 / given.shape[1])
    for _ in range(200):
        share = given * w
        w = (share / share.sum(axis=1, keepdims=True)).mean(axis=0)
    return w


def pooled(p: np.ndarray, y: np.ndarray, q: np.ndarray) -> dict[str, np.ndarray]:
    """What the pool says of new rows, and with a candidate more; and both new maps alone."""
    known = default_candidates(p.shape[1], len(y), "probability", "pool")
    stiff = [c.calibrator for c in known if not c.costly]
    everything = [IdentityCalibrator(), *stiff, IsotonicShared(), SmoothShared()]
    given = held_out(everything, p, y)
    new = np.stack([fitted(each, p, y)(q) for each in everything])
    found = {"IRM": new[-2], "smooth shared": new[-1]}
    n = len(everything)
    for name, taken in (
        ("pool", [*range(n - 2)]),
        ("pool with IRM", [*range(n - 1)]),
        ("pool with smooth shared", [*range(n - 2), n - 1]),
    ):
        found[name] = np.einsum("m,mik->ik", weights_of(given[:, taken]), new[taken])
    return found


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean log loss by map and size, over cells of a data set first, and cells better than a pool.

    `from_pool` is the difference from the pool; `wins` the share of cells below it.
    """
    lines = []
    for n, part in rows.groupby("n"):
        wide = part.pivot(index=["data", "model"], columns="method", values="log_loss")
        for name in [each for each in [*SINGLE, *OTHERS] if each in wide]:
            gap = wide[name] - wide["pool"]
            lines.append(
                {
                    "n": n,
                    "map": name,
                    "cells": len(wide),
                    "data_sets": wide.index.get_level_values(0).nunique(),
                    "log_loss": wide[name].groupby(level=0).mean().mean(),
                    "from_pool": gap.groupby(level=0).mean().mean(),
                    "best_cell": gap.min(),
                    "worst_cell": gap.max(),
                    "wins": (gap < 0).mean(),
                }
            )
    return pd.DataFrame(lines).round(5)


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000])
    parser.add_argument("--rows", type=Path, help="cells done, to go on where it stopped")
    options = parser.parse_args()
    one_thread()
    known_maps = everyone()
    raw = options.rows or options.cache / "shared_maps.rows.csv"
    known = pd.read_csv(raw) if raw.exists() else pd.DataFrame(columns=["data", "model", "n"])
    done = set(zip(known.data, known.model, known.n, strict=True))
    paths = sorted(options.cache.glob("tune--*.npz"))
    for place in np.random.default_rng(0).permutation(len(paths)):  # who stops early has a sample
        path = paths[place]
        _, data, model = path.stem.split("--")
        with np.load(path) as stored:
            names = ("p_cal_0", "y_cal_0", "p_test_0", "y_test_0")
            p, y, q, outcome = (stored[name] for name in names)
        sizes = set(options.sizes) & set(usable_sizes(y, p.shape[1]))
        for n in sorted(sizes) if p.shape[1] > 2 else []:
            if (data, model, n) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                new = {name: fit_predict(known_maps[name], p[:n], y[:n], q) for name in SINGLE}
                new |= pooled(p[:n], y[:n], q)
            found = [
                {"data": data, "model": model, "n": n, "method": name, **scores(each, outcome)}
                for name, each in new.items()
            ]
            pd.DataFrame(found).to_csv(raw, mode="a", header=not raw.exists(), index=False)
            table(pd.read_csv(raw)).to_csv(options.out, index=False)
    result = table(pd.read_csv(raw))
    result.to_csv(options.out, index=False)
    print(result.to_string())


if __name__ == "__main__":
    main()
