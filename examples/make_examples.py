"""Make the example files: predictions of two classifiers on handwritten digits, and a judge's.

A random forest averages many trees and so shies away from 0 and 1: it is under-confident. Naive
Bayes multiplies evidence it takes to be independent: it is over-confident. The 1,797 digits come
with scikit-learn (originally UCI, Alpaydin & Kaynak 1998). The judge is simulated: an
over-confident language model that scored 3,000 answers to 1,000 prompts, of which people have read
150.

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


def judged() -> pl.DataFrame:
    """Is an answer good? Labels of 150 rows drawn at random; 61.0 % of all are good."""
    rng = np.random.default_rng(7)
    prompt = np.repeat(np.arange(1000), 3)
    log_odds = 1 + rng.normal(0, 1.5, 1000)[prompt] + rng.normal(0, 2, 3000)
    good = rng.random(3000) < 1 / (1 + np.exp(-log_odds))
    said = 1 / (1 + np.exp(-(1.8 * log_odds + 1.5 + rng.normal(0, 1, 3000))))
    label = np.where(good, "good", "bad").astype(object)
    label[rng.permutation(3000)[150:]] = None
    return pl.DataFrame(
        {
            "answer": np.arange(3000),
            "prompt": [f"q{number:03}" for number in prompt],
            "judge": said.round(2),
            "label": label.tolist(),
        }
    )


if __name__ == "__main__":
    judged().write_ndjson(HERE / "judged.jsonl")
    forest().write_csv(HERE / "forest.csv")
    digits().write_csv(HERE / "digits.csv")
