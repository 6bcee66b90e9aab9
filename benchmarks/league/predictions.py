"""First stage: train every model on every split and keep what it predicts.

One file for each (data set, model), `HALF--DATA--MODEL.npz`, with for split s = 0, 1
`p_cal_s`, `y_cal_s`, `p_test_s`, `y_test_s`: float64 probabilities (n, K), also for K = 2, and
labels 0..K-1. Calibration on n rows means the first n rows of `p_cal_s`.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from data import DATA_SETS, NETWORKS, SEED, half_of, load, network_outputs
from models import fit, models_of, probabilities

N_SPLITS = 2
SIZES = (100, 200, 500, 1000, 5000)
MAX_TRAIN, MAX_POOL, MAX_TEST = 2000, 5000, 5000


@dataclass(frozen=True)
class Pair:
    """A data set with a model."""

    data: str
    model: str

    @property
    def half(self) -> str:
        return half_of(self.data)

    def path(self, cache: Path) -> Path:
        return cache / f"{self.half}--{self.data}--{self.model}.npz"


def all_pairs() -> list[Pair]:
    """Every pair, those of the tune half first, alternating between data sets."""
    pairs = [Pair(name, "network") for name in NETWORKS]
    models = {name: models_of(name) for name in DATA_SETS}
    for turn in range(max(map(len, models.values()))):
        pairs += [Pair(name, found[turn]) for name, found in models.items() if turn < len(found)]
    return sorted(pairs, key=lambda pair: pair.half != "tune")


def drawn(pairs: list[Pair], every: int) -> list[Pair]:
    """One of so many pairs, in an order that is drawn once: for runs that cannot have all."""
    order = np.random.default_rng(24).permutation(len(pairs))
    return [pairs[i] for i in order.tolist()[::every]] if every > 1 else pairs


def part_sizes(n: int, *, train: bool) -> tuple[int, int, int]:
    """Rows to train on, to calibrate on and to test on."""
    n_train = min(MAX_TRAIN, int(0.3 * n)) if train else 0
    rest = n - n_train
    n_pool = MAX_POOL if rest >= 1.5 * MAX_POOL else rest // 2
    return n_train, n_pool, min(MAX_TEST, rest - n_pool)


def split_rows(y: np.ndarray, name: str, split: int, *, train: bool) -> list[np.ndarray]:
    """Rows of the three parts.

    Drawn anew (at most 200 times) until every class is among the first 100 rows of the pool,
    so that rare classes do not rule the small calibration sizes out.
    """
    rng = np.random.default_rng([SEED, zlib.crc32(name.encode()), split])
    n_train, n_pool, n_test = part_sizes(len(y), train=train)
    n_classes = int(y.max()) + 1
    for _ in range(200):
        rows = rng.permutation(len(y))
        parts = np.split(rows, [n_train, n_train + n_pool, n_train + n_pool + n_test])[:3]
        needed = [parts[1][: SIZES[0]]] + ([parts[0]] if train else [])
        if all(len(np.unique(y[part])) == n_classes for part in needed):
            break
    return parts


def predict_pair(pair: Pair, networks: Path | None) -> dict[str, np.ndarray] | None:
    """Predictions of all splits of a pair; None where a network's file is missing."""
    stored: dict[str, np.ndarray] = {}
    if pair.data in NETWORKS:
        outputs = network_outputs(pair.data, networks)
        if outputs is None:
            return None
        p, y = outputs
    else:
        x, y = load(pair.data)
    for split in range(N_SPLITS):
        if pair.data in NETWORKS:
            _, pool, test = split_rows(y, pair.data, split, train=False)
            predicted = p[pool], p[test]
        else:
            train, pool, test = split_rows(y, pair.data, split, train=True)
            model = fit(pair.model, x[train], y[train], seed=split)
            predicted = probabilities(model, x[pool]), probabilities(model, x[test])
        stored[f"p_cal_{split}"], stored[f"p_test_{split}"] = predicted
        stored[f"y_cal_{split}"], stored[f"y_test_{split}"] = y[pool], y[test]
    return stored


def make_file(pair: Pair, cache: Path, networks: Path | None) -> bool:
    """Write the file of a pair unless it is there; whole or not at all."""
    target = pair.path(cache)
    if target.exists():
        return True
    stored = predict_pair(pair, networks)
    if stored is None:
        return False
    part = target.with_name(f".{target.name}.{os.getpid()}")
    with part.open("wb") as stream:
        np.savez_compressed(stream, **stored)
    part.replace(target)
    return True


def usable_sizes(y_cal: np.ndarray, n_classes: int) -> list[int]:
    """Calibration sizes that the pool allows and at which every class occurs."""
    return [n for n in SIZES if n <= len(y_cal) and len(np.unique(y_cal[:n])) == n_classes]
