"""CalibratedClassifier with models of every kind: what is read of them, and which rows they get."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from veridical.calibrators import (
    BetaCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.selection._classifier.classifier import CalibratedClassifier

FOREST = RandomForestClassifier(4, random_state=0)
PROBABILITY, LOG_ODDS = "predict_proba (probabilities)", "decision_function (log odds)"
MARGINS = "decision_function (margins)"


def rows(n=240, k=2):
    return make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=k, flip_y=0.2, random_state=0
    )


def assert_probabilities(p, n, k):
    assert p.shape == (n, k)
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-9)


def reading(model):
    found = {str(pair.reading) for pair in model.pairs_}
    assert len(found) == 1
    return found.pop()


READ = {
    "logistic": (LogisticRegression(), LOG_ODDS),
    "discriminant": (LinearDiscriminantAnalysis(), LOG_ODDS),
    "boosting": (GradientBoostingClassifier(n_estimators=5), LOG_ODDS),
    "histogram boosting": (HistGradientBoostingClassifier(max_iter=2), LOG_ODDS),
    "logistic in a pipeline": (make_pipeline(StandardScaler(), LogisticRegression()), LOG_ODDS),
    "searched logistic": (GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2), LOG_ODDS),
    "one against rest": (OneVsRestClassifier(LogisticRegression()), None),
    "forest": (FOREST, PROBABILITY),
    "naive Bayes": (GaussianNB(), PROBABILITY),
    "tree": (DecisionTreeClassifier(), PROBABILITY),  # says 0 and 1 only
    "neighbours": (KNeighborsClassifier(3), PROBABILITY),
    "AdaBoost": (AdaBoostClassifier(n_estimators=5), LOG_ODDS),
    "linear machine": (LinearSVC(), MARGINS),
    "ridge": (RidgeClassifier(), MARGINS),
    "hinge": (SGDClassifier(random_state=0), MARGINS),
    "vector machine": (SVC(), MARGINS),
}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", READ)
def test_what_is_read(name, k):
    X, y = rows(k=k)
    estimator, expected = READ[name]
    model = CalibratedClassifier(estimator, "platt", cv=2, ensemble=True).fit(X, y)
    assert_probabilities(model.predict_proba(X), len(y), k)
    if expected is None:  # each class's own logistic function, divided by their sum
        expected = LOG_ODDS if k == 2 else PROBABILITY
    if name == "AdaBoost" and k == 3:
        expected = reading(model)
    assert reading(model) == expected
    assert (model.predict(X) == y).mean() > 0.5


def test_log_odds_and_probabilities_give_the_same_line():
    X, y = rows()
    model = CalibratedClassifier(LogisticRegression(), "platt")
    by_odds = [line.slope_ for line in model.fit(X, y).calibrators_]
    model.set_params(response="probability").fit(X, y)
    assert reading(model) == PROBABILITY
    assert [line.slope_ for line in model.calibrators_] == pytest.approx(by_odds, rel=1e-6)


def test_log_odds_tell_rows_apart_that_probabilities_do_not():
    X = np.arange(-400.0, 400.0)[:, None]  # log odds of thousands: all are 0 or 1
    y = (X[:, 0] + 300 * np.sin(X[:, 0]) > 0).astype(int)
    base = LogisticRegression()
    base.classes_, base.coef_, base.intercept_ = np.array([0, 1]), np.array([[9.0]]), np.zeros(1)
    model = CalibratedClassifier(base, "isotonic", cv="prefit").fit(X, y)
    assert reading(model) == LOG_ODDS
    assert len(np.unique(model.predict_proba(X)[:, 1])) > 10
    blunt = CalibratedClassifier(base, "isotonic", cv="prefit", response="probability").fit(X, y)
    few = np.unique(base.predict_proba(X)[:, 1])
    assert len(np.unique(blunt.predict_proba(X)[:, 1])) <= len(few)


def test_an_object_decides_what_it_reads():
    X, y = rows()
    for input, expected in [("probability", PROBABILITY), ("logit", LOG_ODDS), ("score", MARGINS)]:
        model = CalibratedClassifier(LogisticRegression(), PlattCalibrator(input=input))
        assert reading(model.fit(X, y)) == expected
    # without probabilities the default means margins
    assert reading(CalibratedClassifier(LinearSVC(), PlattCalibrator()).fit(X, y)) == MARGINS
    # and the object itself is never touched
    given = BetaCalibrator()
    CalibratedClassifier(LinearSVC(), given).fit(X, y)
    assert given.get_params() == BetaCalibrator().get_params()


def test_margins_are_log_odds_to_maps_that_know_none():
    X, y = rows()
    model = CalibratedClassifier(LinearSVC(), "beta", cv=2, ensemble=True).fit(X, y)
    assert reading(model) == LOG_ODDS
    train, test = next(iter([(model.calibration_rows_[1], model.calibration_rows_[0])]))
    z = LinearSVC().fit(X[train], y[train]).decision_function(X[test])
    expected = BetaCalibrator(input="logit").fit(z, y[test]).predict_proba(z)
    pair = model.pairs_[0]
    np.testing.assert_allclose(pair.predict_proba(X[test], model.classes_), expected, atol=1e-9)


def test_decision_values_on_demand():
    X, y = rows()
    model = CalibratedClassifier(LogisticRegression(), PlattCalibrator(), response="decision")
    assert reading(model.fit(X, y)) == LOG_ODDS
    with pytest.raises(InvalidInputError, match="RandomForestClassifier must offer"):
        CalibratedClassifier(FOREST, "platt", response="decision").fit(X, y)
    with pytest.raises(InvalidInputError, match="LinearSVC must offer `predict_proba`"):
        CalibratedClassifier(LinearSVC(), "platt", response="probability").fit(X, y)


def test_decision_values_of_pairs_of_classes_are_refused():
    X, y = rows(k=3)
    pairs = SVC(decision_function_shape="ovo")
    with pytest.raises(InvalidInputError, match='decision_function_shape="ovr"'):
        CalibratedClassifier(pairs, "platt").fit(X, y)
    with pytest.raises(InvalidInputError, match='decision_function_shape="ovr"'):
        CalibratedClassifier(make_pipeline(StandardScaler(), pairs), "platt").fit(X, y)
    two = y < 2
    assert reading(CalibratedClassifier(pairs, "platt").fit(X[two], y[two])) == MARGINS


def test_a_map_of_two_classes_is_wrapped_for_three():
    X, y = rows(k=3)
    own = CalibratedClassifier(GaussianNB(), IsotonicCalibrator(centered=True)).fit(X, y)
    wrapped = OneVsRestCalibrator(IsotonicCalibrator(centered=True))
    same = CalibratedClassifier(GaussianNB(), wrapped).fit(X, y)
    assert (own.predict_proba(X) == same.predict_proba(X)).all()
    whole = CalibratedClassifier(GaussianNB(), TemperatureCalibrator(), cv=2).fit(X, y)
    assert isinstance(whole.calibrators_[0], TemperatureCalibrator)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [1.0, 2.0]])
@pytest.mark.parametrize("estimator", [FOREST, LinearSVC()])
def test_labels_of_any_kind(labels, estimator):
    X, y = rows()
    plain = CalibratedClassifier(estimator, "platt", cv=2).fit(X, y)
    named = CalibratedClassifier(estimator, "platt", cv=2).fit(X, np.array(labels)[y])
    assert named.classes_.tolist() == labels
    assert named.calibrators_[0].classes_.tolist() == labels
    assert (named.predict(X) == np.array(labels)[plain.predict(X)]).all()
    np.testing.assert_allclose(named.predict_proba(X), plain.predict_proba(X), atol=1e-12)


def test_frames_and_column_transformers():
    X, y = rows()
    names = list("abcdef")
    frame = pd.DataFrame(X, columns=names, index=np.arange(len(y)) + 1000)
    frame["kind"] = np.where(X[:, 0] > 0, "x", "y")
    outcome = pd.Series(np.where(y, "yes", "no"), index=frame.index)
    steps = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), names))
    model = CalibratedClassifier(make_pipeline(steps, LogisticRegression()), "platt", cv=3)
    p = model.fit(frame, outcome).predict_proba(frame)
    assert_probabilities(p, len(y), 2)
    assert model.feature_names_in_.tolist() == [*names, "kind"]
    assert model.n_features_in_ == 7
    polars = pl.DataFrame({name: frame[name].tolist() for name in frame})
    same = model.fit(polars, pl.Series(outcome.tolist())).predict_proba(polars)
    np.testing.assert_allclose(same, p, rtol=0, atol=1e-12)


def test_sparse_rows():
    X, y = rows()
    model = CalibratedClassifier(LogisticRegression(), "platt")
    dense = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(
        model.fit(csr_matrix(X), y).predict_proba(csr_matrix(X)), dense, rtol=0, atol=1e-6
    )


def test_kernels_computed_beforehand_are_split_both_ways():
    X, y = rows(n=90)
    kernel = X @ X.T
    by_kernel, by_rows = (
        CalibratedClassifier(model, "platt", cv=[(range(60), range(60, 90))], ensemble=True)
        for model in (SVC(kernel="precomputed"), SVC(kernel="linear"))
    )
    by_kernel.fit(kernel, y)
    np.testing.assert_allclose(
        by_kernel.predict_proba(kernel[:, :60]), by_rows.fit(X, y).predict_proba(X), atol=1e-6
    )


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize(
    ("estimator", "expected"), [(GaussianNB(), PROBABILITY), (LinearSVC(), MARGINS)]
)
def test_a_class_that_a_fold_did_not_train_on(ensemble, estimator, expected):
    X, y = rows(k=3)
    folds = np.where(y == 2, 0, np.arange(len(y)) % 3)  # the first model never sees class 2
    model = CalibratedClassifier(estimator, "platt", cv=PredefinedSplit(folds), ensemble=ensemble)
    p = model.fit(X, y).predict_proba(X)
    assert_probabilities(p, len(y), 3)
    assert reading(model) == expected
    if ensemble:
        assert len(model.estimators_[0].classes_) == 2


def test_log_odds_become_probabilities_where_a_fold_lacks_a_class():
    X, y = rows(k=3)
    folds = np.where(y == 2, 0, np.arange(len(y)) % 3)
    model = CalibratedClassifier(
        LogisticRegression(), "temperature", cv=PredefinedSplit(folds), ensemble=False
    ).fit(X, y)
    assert reading(model) == PROBABILITY
    p, base = np.zeros((len(y), 3)), LogisticRegression()
    for fold in range(3):
        test = folds == fold
        base.fit(X[~test], y[~test])
        p[np.ix_(test, base.classes_)] = base.predict_proba(X[test])
    expected = TemperatureCalibrator().fit(p, y).temperature_
    assert model.calibrators_[0].temperature_ == pytest.approx(expected, rel=1e-6)


def test_a_fitted_model_may_know_more_classes():
    X, y = rows(k=3)
    base, some = GaussianNB().fit(X, y), y < 2
    model = CalibratedClassifier(base, "temperature", cv="prefit").fit(X[some], y[some])
    assert model.classes_.tolist() == [0, 1, 2]
    assert_probabilities(model.predict_proba(X), len(y), 3)


class Unsorted(ClassifierMixin, BaseEstimator):
    """A fitted model of others, with its classes in an order of their own."""

    def __init__(self, classes=("z", "a")):
        self.classes = classes
        self.classes_ = np.array(classes)

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]  # large for the last of its classes


def test_columns_follow_the_classes_of_the_model():
    X = np.linspace(-2, 2, 40)[:, None]
    y = np.where(X[:, 0] > 0.3, "a", "z")
    model = CalibratedClassifier(Unsorted(), "platt", cv="prefit").fit(X, y)
    assert model.classes_.tolist() == ["a", "z"]
    assert model.calibrators_[0].slope_ > 0  # turned towards "z", not against it
    assert model.predict([[2.0], [-2.0]]).tolist() == ["a", "z"]


@pytest.mark.parametrize(
    ("estimator", "k", "expected"),
    [(FOREST, 2, PROBABILITY), (LogisticRegression(), 2, LOG_ODDS), (LinearSVC(), 3, MARGINS)],
)
def test_the_default_is_the_automatic_choice(estimator, k, expected):
    from veridical.selection._auto.auto import AutoCalibrator

    X, y = rows(k=k)
    model = CalibratedClassifier(estimator, cv=[(range(140), range(140, 240))]).fit(X, y)
    assert isinstance(model.calibrators_[0], AutoCalibrator)
    assert reading(model) == expected
    assert_probabilities(model.predict_proba(X), len(y), k)


@pytest.mark.parametrize(
    ("package", "name", "options"),
    [
        ("xgboost", "XGBClassifier", {"n_estimators": 5, "n_jobs": 1}),
        ("lightgbm", "LGBMClassifier", {"n_estimators": 5, "n_jobs": 1, "verbose": -1}),
        (
            "catboost",
            "CatBoostClassifier",
            {"iterations": 5, "verbose": 0, "thread_count": 1, "allow_writing_files": False},
        ),
    ],
)
def test_boosted_trees_of_other_packages(package, name, options):
    module = pytest.importorskip(package)
    for k in (2, 3):
        X, y = rows(k=k)
        frame = pd.DataFrame(X, columns=list("abcdef"))
        model = CalibratedClassifier(getattr(module, name)(**options), "platt", cv=3)
        p = model.fit(frame, y, sample_weight=np.ones(len(y))).predict_proba(frame)
        assert_probabilities(p, len(y), k)
        assert (model.predict(frame) == y).mean() > 0.5
