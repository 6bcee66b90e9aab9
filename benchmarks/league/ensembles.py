"""One model trained on all rows, or the mean of k: what the default of `ensemble` should be.

    python benchmarks/league/ensembles.py --out FILE [--splits 1] [--rows 1000]

`CalibratedClassifier` with its default map on the data sets and models of the league, and on two
models that turn out differently from fit to fit. Writes, for each model and for all of the league,
the mean held-out log loss and Brier score of both, and the difference (one model minus the mean of
five) with the bootstrap over data sets of `tables.interval`. Goes on where it stopped.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from classifiers import Remembered
from data import DATA_SETS, load
from models import MODELS, models_of
from predictions import split_rows
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tables import interval

from veridical.selection import CalibratedClassifier

UNSTEADY = {
    "tree": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
    "sgd": lambda seed: make_pipeline(StandardScaler(), SGDClassifier(random_state=seed)),
}


def model_of(name: str, seed: int) -> Any:
    """A model of the league, fitted once to the same rows, or an unsteady one."""
    return UNSTEADY[name](seed) if name in UNSTEADY else Remembered(name, seed)


def losses(data: str, model: str, split: int, rows: int) -> list[dict[str, Any]]:
    """Log loss and Brier score of both on one pair and split."""
    x, y = load(data)
    train, pool, test = split_rows(y, data, split, train=True)
    train = np.concatenate([train, pool])[:rows]
    if np.bincount(y[train], minlength=y.max() + 1).min() < 5:
        return []  # five stratified folds need five rows of each class
    Remembered.fitted.clear()
    found = []
    for ensemble in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = CalibratedClassifier(model_of(model, split), ensemble=ensemble)
            p = fitted.fit(x[train], y[train]).predict_proba(x[test])
        truth = np.eye(p.shape[1])[y[test]]
        half = 2 if p.shape[1] == 2 else 1  # the Brier score of two classes is of one of them
        found.append(
            {
                "data": data,
                "model": model,
                "split": split,
                "ensemble": ensemble,
                "log_loss": log_loss(y[test], p, labels=range(p.shape[1])),
                "brier": float(((p - truth) ** 2).sum(axis=1).mean()) / half,
            }
        )
    return found


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """Both losses and their difference, by model."""
    everything = frame[frame.model.isin(list(MODELS))].assign(model="all of the league")
    lines = []
    for model, part in pd.concat([everything, frame]).groupby("model", sort=False):
        line: dict[str, Any] = {"model": model, "data sets": part.data.nunique()}
        for metric in ("log_loss", "brier"):
            sets = part.groupby(["data", "ensemble"])[metric].mean().unstack()
            limits = interval((sets[False] - sets[True]).to_frame("difference")).iloc[0]
            line |= {f"{metric}: mean of five": sets[True].mean()}
            line |= {f"{metric}: one model": sets[False].mean()}
            line |= {f"{metric}: {name}": limits[name] for name in ("mean", "low", "high")}
        lines.append(line)
    return pd.DataFrame(lines).round(5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--rows", type=int, default=1000)
    options = parser.parse_args()
    raw = options.out.with_suffix(".rows.csv")
    done = pd.read_csv(raw) if raw.exists() else pd.DataFrame(columns=["data", "model", "split"])
    known = set(zip(done.data, done.model, done.split, strict=True))
    for split in range(options.splits):
        for data in DATA_SETS:
            for model in (*models_of(data), *UNSTEADY):
                if (data, model, split) in known:
                    continue
                found = losses(data, model, split, options.rows)
                if found:
                    new = pd.DataFrame(found).round(6)
                    new.to_csv(raw, mode="a", header=not raw.exists(), index=False)
    result = table(pd.read_csv(raw))
    result.to_csv(options.out, index=False)
    print(result.to_string())


if __name__ == "__main__":
    main()
