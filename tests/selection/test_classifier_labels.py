"""CalibratedClassifier: several labels a row, one map for each."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from veridical.calibrators import PlattCalibrator
from veridical.selection._classifier.classifier import CalibratedClassifier

FOREST = RandomForestClassifier(4, random_state=0)
MULTILABEL = {
    "forest, one array a label": FOREST,
    "one column a label": OneVsRestClassifier(LogisticRegression()),
    "margins": OneVsRestClassifier(LinearSVC()),
    "neighbours": KNeighborsClassifier(),
}


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("name", MULTILABEL)
def test_one_map_a_label(name, ensemble):
    X, y = make_multilabel_classification(200, 5, n_classes=3, random_state=0)
    model = CalibratedClassifier(MULTILABEL[name], "platt", cv=3, ensemble=ensemble).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == y.shape
    assert (model.predict(X) == (p > 0.5)).all()
    assert [len(maps) for maps in model.calibrators_] == [3] * (3 if ensemble else 1)
    assert "one PlattCalibrator a label" in str(model)
    assert ((p > 0.5) == y).mean() > 0.7


def test_each_label_is_calibrated_by_itself():
    X, y = make_multilabel_classification(200, 5, n_classes=3, random_state=0)
    base = RandomForestClassifier(8, random_state=0).fit(X[:100], y[:100])
    model = CalibratedClassifier(base, PlattCalibrator(), cv="prefit").fit(X[100:], y[100:])
    p = model.predict_proba(X)
    for j, said in enumerate(base.predict_proba(X)):
        expected = PlattCalibrator().fit(said[100:, 1], y[100:, j]).predict_proba(said[:, 1])
        np.testing.assert_allclose(p[:, j], expected[:, 1], rtol=0, atol=1e-9)


def test_a_label_that_a_fold_never_saw():
    X, y = make_multilabel_classification(200, 5, n_classes=3, random_state=0)
    y[:100, 1] = 0
    folds = [(range(100), range(100, 200))]
    model = CalibratedClassifier(FOREST, "platt", cv=folds, ensemble=True).fit(X, y)
    share = y[100:, 1].mean()
    # The model says 0 of every row, so the map can but say how often the label came true.
    assert model.predict_proba(X)[:, 1].max() == model.predict_proba(X)[:, 1].min()
    assert logit(model.predict_proba(X)[0, 1]) == pytest.approx(logit(share), abs=0.1)
