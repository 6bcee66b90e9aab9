"""CalibratedClassifier in the company of scikit-learn's tools, as its users have it."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from veridical.calibrators import BetaCalibrator, PlattCalibrator
from veridical.selection import CalibratedClassifier


def rows(n=240, k=2):
    return make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=k, flip_y=0.1, random_state=1
    )


def test_a_search_over_models_and_maps():
    X, y = rows()
    grid = {"estimator__C": [0.01, 1.0], "calibrator": ["platt", BetaCalibrator()]}
    model = CalibratedClassifier(LogisticRegression(), cv=2)
    search = GridSearchCV(model, grid, cv=2, scoring="neg_log_loss").fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    best = clone(model).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(best.predict_proba(X), search.predict_proba(X))


def test_a_search_inside():
    X, y = rows()
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=2)
    model = CalibratedClassifier(search, "platt", cv=2).fit(X, y)
    assert model.predict_proba(X).shape == (240, 2)


@pytest.mark.parametrize("k", [2, 3])
def test_cross_validation_sees_what_it_says(k):
    X, y = rows(k=k)
    model = CalibratedClassifier(SVC(), "platt", cv=3)
    found = cross_validate(model, X, y, cv=3, scoring=["neg_log_loss", "accuracy"])
    assert len(found["test_neg_log_loss"]) == 3
    assert np.mean(found["test_accuracy"]) > 0.5
    p = cross_val_predict(model, X, y, cv=3, method="predict_proba")
    held_out = -np.log(p[np.arange(len(y)), y]).mean()
    assert held_out == pytest.approx(-np.mean(found["test_neg_log_loss"]), rel=1e-9)


def test_the_last_step_of_a_pipeline():
    X, y = rows()
    model = CalibratedClassifier(GaussianNB(), "platt")
    steps = make_pipeline(StandardScaler(), model).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    expected = clone(model).fit(scaled, y).predict_proba(scaled)
    np.testing.assert_array_equal(steps.predict_proba(X), expected)
    steps.set_params(calibratedclassifier__estimator__var_smoothing=1e-3)
    assert steps[-1].estimator.var_smoothing == 1e-3


def test_frames_keep_the_names_of_their_columns():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=np.where(y, "u", "v"))
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = CalibratedClassifier(make_pipeline(columns, LogisticRegression()), "platt")
    model.fit(frame, pd.Series(y, index=np.arange(240) + 1000))
    assert model.feature_names_in_.tolist() == [*"abcdef", "kind"]
    assert model.n_features_in_ == 7
    assert (model.predict(frame) == y).mean() > 0.9
    with pytest.raises(ValueError, match=r"columns are missing: \{'kind'\}"):
        model.predict_proba(frame.drop(columns="kind"))


def test_models_that_know_names_expect_them():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = CalibratedClassifier(LogisticRegression(), "platt").fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict_proba(frame[list("fedcba")])


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("name", ["auto", "isotonic"])
def test_joblib_files(ensemble, name, tmp_path):
    X, y = rows(k=3)
    words = np.array(["low", "middle", "high"])[y]
    model = CalibratedClassifier(GaussianNB(), name, cv=2, ensemble=ensemble).fit(X, words)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_copies_know_the_parameters_and_nothing_else():
    X, y = rows()
    given = PlattCalibrator(weight_type="frequency")
    model = CalibratedClassifier(GaussianNB(), given, cv=3, ensemble=True, weight_type="importance")
    copy = clone(model.fit(X, y))
    assert not hasattr(copy, "pairs_")
    assert copy.calibrator is not given
    assert repr(copy) == repr(model)
    copy.set_params(calibrator__weight_type="importance", estimator__var_smoothing=1e-5, cv=2)
    assert (copy.calibrator.weight_type, copy.estimator.var_smoothing) == ("importance", 1e-5)
    assert (given.weight_type, model.cv) == ("frequency", 3)
    assert len(copy.fit(X, y).pairs_) == 2


def test_a_part_of_other_models():
    X, y = rows()
    inner = CalibratedClassifier(GaussianNB(), "platt", cv=2)
    stack = StackingClassifier([("a", inner), ("b", LogisticRegression())], cv=2).fit(X, y)
    assert stack.score(X, y) > 0.6
    cut = FixedThresholdClassifier(inner, threshold=0.2, response_method="predict_proba").fit(X, y)
    assert (cut.predict(X) == (inner.fit(X, y).predict_proba(X)[:, 1] >= 0.2)).all()
    twice = CalibratedClassifier(inner, "platt", cv=2).fit(X, y)
    assert twice.predict_proba(X).shape == (240, 2)


def test_the_page_of_a_notebook():
    X, y = rows()
    model = CalibratedClassifier(GaussianNB(), "platt")
    for shown in (model, model.fit(X, y)):
        assert "CalibratedClassifier" in shown._repr_html_()
        assert "GaussianNB" in shown._repr_html_()


def test_each_model_is_asked_once_and_its_answer_is_checked_once(monkeypatch):
    """A prediction crosses the border once a pair."""
    import veridical.calibrators._base.calibrator as base

    X, y = rows()
    for ensemble, pairs in ((False, 1), (True, 5)):
        for name in ("platt", "isotonic"):
            model = CalibratedClassifier(GaussianNB(), name, ensemble=ensemble).fit(X, y)
            checked: list[int] = []
            real = base.check_probabilities
            with monkeypatch.context() as patch:
                patch.setattr(
                    base,
                    "check_probabilities",
                    lambda values, real=real, checked=checked, **options: (
                        checked.append(len(values)) or real(values, **options)
                    ),
                )
                model.predict_proba(X)
            assert checked == [len(X)] * pairs
