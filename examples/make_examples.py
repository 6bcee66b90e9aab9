"""Make the example files: cross-validated predictions of two classifiers on handwritten digits.

A random forest averages many trees and so shies away from 0 and 1: it is under-confident. Naive
Bayes multiplies evidence it takes to be independent: it is over-confident. The 1,797 digits come
with scikit-learn (originally UCI, Alpaydin & Kaynak 1998).

    python examples/make_examples.py
"""

from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

HERE = Path(__file__).parent
FOLDS = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)


def forest() -> pl.DataFrame:
    """Is the digit five or more? With the amount of ink as a subgroup."""
    data = load_digits()
    model = RandomForestClassifier(200, random_state=0)
    proba = cross_val_predict(model, data.data, data.target >= 5, cv=FOLDS, method="predict_proba")
    ink = data.data.sum(axis=1)
    return pl.DataFrame(
        {
            "label": np.where(data.target >= 5, 1, 0),
            "p": proba[:, 1].round(6),
            "ink": np.where(ink > np.median(ink), "heavy", "light"),
        }
    )


def digits() -> pl.DataFrame:
    """Which of the ten digits is it?"""
    data = load_digits()
    model = GaussianNB()
    proba = cross_val_predict(model, data.data, data.target, cv=FOLDS, method="predict_proba")
    columns = {f"p_{k}": proba[:, k].round(9) for k in range(10)}
    return pl.DataFrame({"label": data.target, **columns})


if __name__ == "__main__":
    forest().write_csv(HERE / "forest.csv")
    digits().write_csv(HERE / "digits.csv")
