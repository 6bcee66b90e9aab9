"""Make the example of the experiments: an over-trained network on handwritten digits.

A small network is fitted to one half of the 1,797 digits that come with scikit-learn (originally
UCI, Alpaydin & Kaynak 1998), without penalty and to convergence, so that it has no doubt left. It
then predicts the other half: it is right less often than it says.

Probabilities are whole multiples of 0.00001, at least one each, and every row sums to one.

    python examples/make_digits_network.py
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

TARGET = (
    Path(__file__).parents[1] / "packages" / "lab" / "src" / "veridical_lab" / "data" / "digits.csv"
)
PARTS = 100_000


def predict() -> tuple[np.ndarray, np.ndarray]:
    """Outcomes and predicted probabilities of the half that was held out."""
    data = load_digits()
    train, test, y_train, y_test = train_test_split(
        data.data / 16, data.target, test_size=0.5, stratify=data.target, random_state=0
    )
    network = MLPClassifier((16,), alpha=0.0, solver="lbfgs", max_iter=5000, random_state=0)
    return y_test, network.fit(train, y_train).predict_proba(test)


def in_parts(p: np.ndarray) -> np.ndarray:
    """Whole parts, at least one a class, that sum to `PARTS`: largest remainders are rounded up."""
    exact = 1 + p * (PARTS - p.shape[1])
    parts = np.floor(exact).astype(int)
    order = np.argsort(parts - exact, axis=1, kind="stable")
    short = PARTS - parts.sum(axis=1)
    for row, rank, missing in zip(parts, order, short, strict=True):
        row[rank[:missing]] += 1
    return parts


if __name__ == "__main__":
    y, p = predict()
    lines = ["label," + ",".join(f"p_{k}" for k in range(p.shape[1]))]
    for label, row in zip(y, in_parts(p), strict=True):
        lines.append(f"{label}," + ",".join(f"{parts / PARTS:g}" for parts in row))
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
