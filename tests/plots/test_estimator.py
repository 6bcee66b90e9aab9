"""Fitted classifiers drawn on rows of features."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from veridical import ClassSpecific, InvalidInputError
from veridical.plots import from_estimator, reliability


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(rng.random(600) < 1 / (1 + np.exp(-2 * X[:, 0])), "bad", "good")
    return X, y


def test_it_is_the_diagram_of_predict_proba(rows, ax):
    X, y = rows
    model = LogisticRegression().fit(X, y)
    for pos_label, column in (("good", 1), ("bad", 0)):
        drawn = from_estimator(model, X, y, pos_label=pos_label, ax=Figure().subplots())
        p = model.predict_proba(X)[:, column]
        expected = reliability(y, p, pos_label=pos_label, ax=Figure().subplots())
        assert drawn.curves[0].curve == expected.curves[0].curve
        assert repr(pos_label) in drawn.ax.get_ylabel()


def test_several_models_and_a_class_of_several(rows, ax):
    X, _ = rows
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    models = {"one": LogisticRegression().fit(X, y), "two": LogisticRegression(C=1e-3).fit(X, y)}
    drawn = from_estimator(models, X, y, lens=ClassSpecific(2), ax=ax)
    assert [one.name for one in drawn.curves] == ["one", "two"]
    first = models["one"].predict_proba(X)[:, 2]
    assert drawn.curves[0].curve.predicted.mean() == pytest.approx(
        reliability(y == 2, first, ax=Figure().subplots()).curves[0].curve.predicted.mean()
    )


def test_models_that_cannot_be_drawn(rows, ax):
    X, y = rows
    with pytest.raises(InvalidInputError, match="with `predict_proba`; got LinearSVC"):
        from_estimator(LinearSVC().fit(X, y), X, y, ax=ax)
    other = LogisticRegression().fit(X, y == "bad")
    with pytest.raises(InvalidInputError, match="models of the same classes"):
        from_estimator({"a": LogisticRegression().fit(X, y), "b": other}, X, y, ax=ax)
