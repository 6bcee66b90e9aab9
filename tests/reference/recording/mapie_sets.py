"""Sets of MAPIE on rows whose probabilities are given: writes mapie_sets.json.

PYTHONPATH=tests/reference python -m recording.mapie_sets

Its scores of "aps" are always randomised, so that only the sets of a known quantile are compared.
"""

from __future__ import annotations

import json
from pathlib import Path

import mapie
import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

LEVELS = (0.7, 0.8, 0.9, 0.95)


class GivenProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier whose inputs are its predictions."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X)

    def predict(self, X):
        return self.classes_[np.asarray(X).argmax(axis=1)]


def rows(n, n_classes, rng):
    """Probabilities of six digits, and classes drawn from them."""
    p = rng.dirichlet(np.full(n_classes, 0.6), n).round(6)
    p[:, -1] += 1 - p.sum(axis=1)
    p = np.abs(p)
    return p, np.array([rng.choice(n_classes, p=row / row.sum()) for row in p])


def main():
    rng = np.random.default_rng(7)
    p, y = rows(60, 4, rng)
    new, _ = rows(40, 4, rng)
    y[:4] = np.arange(4)
    cases = []
    for method in ("lac", "aps"):
        for level in LEVELS:
            made = SplitConformalClassifier(
                GivenProbabilities().fit(p, y),
                confidence_level=level,
                conformity_score=method,
                prefit=True,
            )
            made.conformalize(p, y)
            options = {}
            if method == "aps":
                options = {"conformity_score_params": {"include_last_label": True}}
            _, sets = made.predict_set(new, **options)
            quantile = float(np.ravel(made._mapie_classifier.quantiles_)[0])
            texts = ["".join(str(int(cell)) for cell in row) for row in sets[:, :, 0]]
            cases.append({"method": method, "level": level, "quantile": quantile, "sets": texts})
    stored = {
        "source": "MAPIE",
        "version": mapie.__version__,
        "command": "python -m recording.mapie_sets",
        "numpy": np.__version__,
        "p": p.round(6).tolist(),
        "y": y.tolist(),
        "new": new.round(6).tolist(),
        "cases": cases,
    }
    path = Path(__file__).parent.parent / "mapie_sets.json"
    path.write_text(json.dumps(stored) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
