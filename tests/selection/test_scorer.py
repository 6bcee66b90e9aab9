"""Scores and calibration errors as `scoring=` of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import veridical as v

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


def data(k: int, n: int = 400):
    return make_classification(
        n, n_features=6, n_informative=4, n_classes=k, n_clusters_per_class=1, random_state=0
    )


@pytest.fixture(scope="module")
def model():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    ("name", "theirs"), [("log", "neg_log_loss"), ("brier", "neg_brier_score")]
)
def test_equal_to_the_scores_of_scikit_learn_on_the_same_folds(model, k, name, theirs):
    X, y = data(k)
    own = cross_val_score(model, X, y, cv=FOLDS, scoring=v.scorer(name))
    other = cross_val_score(model, X, y, cv=FOLDS, scoring=theirs)
    np.testing.assert_allclose(own, other, rtol=1e-12)
    assert (own < 0).all()


def test_labels_in_any_order_and_either_class_as_the_positive_one(model):
    X, y = data(2)
    words = np.where(y == 1, "bad", "good")  # the larger label is another class than before
    for pos_label in ("bad", "good"):
        scorer = v.scorer("ece", pos_label=pos_label)
        found = cross_val_score(model, X, words, cv=FOLDS, scoring=scorer)
        parts = [
            -v.BinnedError()(
                words[test] == pos_label,
                model.fit(X[train], words[train]).predict_proba(X[test])[
                    :, list(model.classes_).index(pos_label)
                ],
            )
            for train, test in FOLDS.split(X, words)
        ]
        np.testing.assert_allclose(found, parts, rtol=1e-12)


def test_several_scorers_by_name_beside_those_of_scikit_learn(model):
    X, y = data(2)
    names = {name: v.scorer(name) for name in ("ece", "smooth", "log", "ks")}
    found = cross_validate(model, X, y, cv=FOLDS, scoring=names | {"theirs": "neg_log_loss"})
    np.testing.assert_allclose(found["test_log"], found["test_theirs"], rtol=1e-12)
    assert all((found[f"test_{name}"] <= 0).all() for name in names)


def test_a_grid_search_takes_the_greatest(model):
    X, y = data(2)
    grid = {"logisticregression__C": [1e-4, 1.0]}
    search = GridSearchCV(model, grid, scoring=v.scorer("log"), cv=FOLDS).fit(X, y)
    assert search.best_params_ == {"logisticregression__C": 1.0}
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])


def test_lenses_of_several_classes(model):
    X, y = data(4)
    proba = cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba")
    train, test = next(FOLDS.split(X, y))
    fitted = clone(model).fit(X[train], y[train])
    for lens in (None, "classwise", "confidence", v.ClassSpecific(2)):
        expected = v.BinnedError()(y[test], proba[test], lens=lens, labels=[0, 1, 2, 3])
        found = v.scorer("ece", lens=lens)(fitted, X[test], y[test])
        assert found == pytest.approx(-expected, rel=1e-12)


def test_a_fold_may_lack_a_class(model):
    X, y = data(4)
    fitted = clone(model).fit(X, y)
    kept = y != 3
    found = v.scorer("log")(fitted, X[kept], y[kept])
    expected = -log_loss(y[kept], fitted.predict_proba(X[kept]), labels=[0, 1, 2, 3])
    assert found == pytest.approx(expected, rel=1e-12)


def test_weights_are_those_of_scikit_learn(model):
    X, y = data(2)
    weight = np.random.default_rng(0).exponential(size=len(y))
    fitted = clone(model).fit(X, y)
    expected = -log_loss(y, fitted.predict_proba(X), sample_weight=weight)
    assert v.scorer("log")(fitted, X, y, sample_weight=weight) == pytest.approx(expected)


def test_metadata_routing_brings_weights(model):
    X, y = data(2)
    weight = np.random.default_rng(0).exponential(size=len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        plain = LogisticRegression(max_iter=500).set_fit_request(sample_weight=False)
        asked = v.scorer("log").set_score_request(sample_weight=True)
        theirs = make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")
        theirs = theirs.set_score_request(sample_weight=True)
        for scoring in (asked, {"own": asked, "theirs": theirs}):
            params = {"sample_weight": weight}
            found = cross_validate(plain, X, y, cv=FOLDS, scoring=scoring, params=params)
            key = "test_score" if scoring is asked else "test_own"
            np.testing.assert_allclose(found[key], expected := found.get("test_theirs", found[key]))
        assert expected is not found["test_own"]
        not_asked = v.scorer("log").set_score_request(sample_weight=False)
        without = cross_validate(plain, X, y, cv=FOLDS, scoring=not_asked, params={})
        assert not np.allclose(without["test_score"], expected)


def test_scorers_are_cloned_and_print_their_parameters():
    first = v.scorer(v.BinnedError(v.QuantileBins(10)), lens="classwise")
    again = clone(first)
    assert again is not first
    assert again.get_params() == first.get_params()
    assert "BinnedError" in repr(first)


@pytest.mark.parametrize("name", ["ECE", "ece_equal_mass", "RMSCE debiased", "smECE", "Zero-One"])
def test_names_in_any_spelling(name):
    assert isinstance(v.scorer(name), v.CalibrationScorer)


def test_wrong_names_and_models():
    with pytest.raises(v.InvalidInputError, match="did you mean 'brier'"):
        v.scorer("briar")
    with pytest.raises(v.InvalidInputError, match="`measure` must be a name or an `Estimator`"):
        v.scorer(3)
    X, y = data(2)
    with pytest.raises(v.InvalidInputError, match="one with `predict_proba`; got LinearSVC"):
        v.scorer("log")(LinearSVC().fit(X, y), X, y)


@pytest.mark.parametrize("estimator", [v.BinnedError(), v.LogScore(), v.SmoothError()])
def test_make_scorer_takes_estimators(model, estimator):
    """Of two classes, where scikit-learn hands over the probability of the larger label."""
    X, y = data(2)
    options = {"greater_is_better": False, "response_method": "predict_proba"}
    theirs = make_scorer(estimator, **options)
    assert type(estimator).__name__ in repr(theirs)
    own = cross_val_score(model, X, y, cv=FOLDS, scoring=v.scorer(estimator))
    np.testing.assert_allclose(cross_val_score(model, X, y, cv=FOLDS, scoring=theirs), own)
