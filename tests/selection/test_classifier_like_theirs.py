"""What scikit-learn tests of CalibratedClassifierCV (1.9), asked of CalibratedClassifier.

Not asked: their default estimator (there is none here), the signs and inputs of their private
sigmoid and temperature maps (tests/calibrators), `calibration_curve` and `CalibrationDisplay`
(tests/curves, tests/plots), array API inputs (not taken), uniform probabilities where the maps of
all classes say zero (tests/calibrators: a wrapper of maps does that, not the classifier). Number of
jobs, models without weights, arguments of `fit` by row and one map from all folds are in
test_classifier.py and test_classifier_metadata.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from veridical.calibrators import TemperatureCalibrator
from veridical.exceptions import InvalidInputError
from veridical.selection import CalibratedClassifier

frozen = pytest.importorskip("sklearn.frozen")  # from scikit-learn 1.6 on

both_ways = pytest.mark.parametrize("ensemble", [True, False])
their_maps = pytest.mark.parametrize("name", ["sigmoid", "isotonic", "temperature"])


def rows(n=200, k=2):
    return make_classification(
        n, 6, n_informative=5, n_redundant=0, n_classes=k, flip_y=0.1, random_state=42
    )


def assert_sum_to_one(p):
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@both_ways
@pytest.mark.parametrize("name", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("container", [np.asarray, csr_matrix, csr_array])
def test_it_improves_naive_bayes_whatever_the_labels_are_called(ensemble, name, container):
    X, y = rows(n=600)
    X -= X.min()  # counts, as this model of word counts takes them
    train, test = slice(0, 300), slice(300, None)
    base = MultinomialNB(force_alpha=True).fit(X[train], y[train])
    raw = ((base.predict_proba(X[test])[:, 1] - y[test]) ** 2).mean()
    model = CalibratedClassifier(base, name, cv=5, ensemble=ensemble)
    shown, asked = container(X[train]), container(X[test])
    first = model.fit(shown, y[train]).predict_proba(asked)
    assert ((first[:, 1] - y[test]) ** 2).mean() < raw
    for labels in ([1, 2], [-1, 1], ["no", "yes"]):
        again = model.fit(shown, np.array(labels)[y[train]]).predict_proba(asked)
        np.testing.assert_array_equal(again, first)
    turned = model.fit(shown, 1 - y[train]).predict_proba(asked)
    assert ((turned[:, 0] - y[test]) ** 2).mean() < raw


@both_ways
def test_a_splitter_makes_a_pair_a_fold(ensemble):
    model = CalibratedClassifier(LinearSVC(), "platt", cv=KFold(5), ensemble=ensemble).fit(*rows())
    assert len(model.pairs_) == (5 if ensemble else 1)


def test_101_folds_of_classes_with_about_100_rows_are_refused():
    X, y = rows()
    assert np.bincount(y).min() < 101
    with pytest.raises(InvalidInputError, match="101 folds, with less than 101 examples"):
        CalibratedClassifier(LinearSVC(), "platt", cv=KFold(101)).fit(X, y)


@both_ways
@their_maps
def test_weights_count(ensemble, name):
    X, y = rows()
    w = np.random.default_rng(42).uniform(size=len(y))
    model = CalibratedClassifier(LinearSVC(random_state=42), name, ensemble=ensemble)
    weighted = model.fit(X[:100], y[:100], w[:100]).predict_proba(X[100:])
    plain = model.fit(X[:100], y[:100]).predict_proba(X[100:])
    assert np.linalg.norm(weighted - plain) > 0.1


@both_ways
@their_maps
def test_a_weight_of_two_is_a_row_given_twice(ensemble, name):
    X, y = load_iris(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:100], y[:100]
    model = CalibratedClassifier(LogisticRegression(tol=1e-10), name, cv=2, ensemble=ensemble)
    weighted = clone(model).fit(X, y, np.full(100, 2))
    # Copies are neighbours, and two folds of classes in order keep neighbours together.
    twice = clone(model).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    for one, other in zip(weighted.estimators_, twice.estimators_, strict=True):
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        weighted.predict_proba(X), twice.predict_proba(X), rtol=1e-5, atol=1e-9
    )


@both_ways
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["sigmoid", "isotonic", "auto"])
def test_several_classes_of_a_model_with_margins_only(ensemble, name):
    X, y = make_blobs(500, 100, centers=10, cluster_std=15.0, random_state=0)
    y = np.minimum(y, 2)  # eight blobs are one class
    base = LinearSVC(random_state=7).fit(X[::2], y[::2])
    model = CalibratedClassifier(base, name, cv=5, ensemble=ensemble).fit(X[::2], y[::2])
    p, truth = model.predict_proba(X[1::2]), np.eye(3)[y[1::2]]
    assert_sum_to_one(p)
    assert model.score(X[1::2], y[1::2]) > 0.95 * base.score(X[1::2], y[1::2])
    naive = softmax(base.decision_function(X[1::2]), axis=1)
    assert ((p - truth) ** 2).sum() < 1.1 * ((naive - truth) ** 2).sum()


@both_ways
@pytest.mark.parametrize("k", [2, 3, 5])
def test_temperature_is_theirs(ensemble, k):
    X, y = rows(n=400, k=k)
    given = TemperatureCalibrator(pseudo_rows=0, input="logit")
    own = CalibratedClassifier(LogisticRegression(), given, cv=3, ensemble=ensemble).fit(X, y)
    theirs = CalibratedClassifierCV(
        LogisticRegression(), method="temperature", cv=3, ensemble=ensemble
    ).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_temperature_of_a_fitted_model_keeps_its_order(k):
    X, y = rows(n=900, k=k)
    base = LogisticRegression(C=np.inf, max_iter=1000).fit(X[:600], y[:600])
    model = CalibratedClassifier(frozen.FrozenEstimator(base), "temperature", cv=3)
    model.fit(X[600:], y[600:])
    assert (model.predict(X[600:]) == base.predict(X[600:])).all()
    before, after = base.predict_proba(X[600:]), model.predict_proba(X[600:])
    assert log_loss(y[600:], after) <= log_loss(y[600:], before)
    if k == 2:
        assert roc_auc_score(y[600:], after[:, 1]) == roc_auc_score(y[600:], before[:, 1])


@their_maps
@pytest.mark.parametrize("container", [np.asarray, csr_matrix, csr_array])
def test_a_frozen_model_is_improved(name, container):
    X, y = rows(n=900)
    X = 20 * (X - X.min())  # twenty times as many words: a model that is much too sure
    base = MultinomialNB(force_alpha=True).fit(container(X[:300]), y[:300])
    for wrapped in (
        CalibratedClassifier(frozen.FrozenEstimator(base), name),
        CalibratedClassifier(base, name, cv="prefit"),
    ):
        wrapped.fit(container(X[300:600]), y[300:600])
        p = wrapped.predict_proba(container(X[600:]))
        np.testing.assert_array_equal(wrapped.predict(container(X[600:])), p.argmax(axis=1))
        raw = base.predict_proba(X[600:])
        assert log_loss(y[600:], p) < log_loss(y[600:], raw)


@both_ways
@their_maps
def test_missing_values_are_the_business_of_a_pipeline(ensemble, name):
    X, y = rows(n=20)
    X[0, 0] = np.nan
    steps = make_pipeline(SimpleImputer(), RandomForestClassifier(1, random_state=0))
    p = CalibratedClassifier(steps, name, cv=2, ensemble=ensemble).fit(X, y).predict_proba(X)
    assert_sum_to_one(p)


@both_ways
@their_maps
def test_folds_of_one_class(ensemble, name):
    X, _ = rows(n=10)
    y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]  # of three folds in order the first and the last
    model = CalibratedClassifier(LinearSVC(), name, cv=KFold(3), ensemble=ensemble).fit(X, y)
    assert_sum_to_one(model.predict_proba(X))


@both_ways
def test_training_rows_that_lack_a_class(ensemble):
    X = np.random.default_rng(0).normal(size=(12, 5))
    y = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]  # no 0 trains the first fold, no 3 the last
    tree = DecisionTreeClassifier(random_state=7)
    model = CalibratedClassifier(tree, "sigmoid", cv=KFold(3), ensemble=ensemble).fit(X, y)
    assert_sum_to_one(model.predict_proba(X))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    if ensemble:
        assert [len(each.classes_) for each in model.estimators_] == [3, 4, 3]


class OfAnyShape(ClassifierMixin, BaseEstimator):
    """Takes images as they are, with several axes a row."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.full((len(X), 2), 0.5)
        p[:, 1] += 0.1 * np.sign(X.reshape(len(X), -1).mean(axis=1))
        p[:, 0] = 1 - p[:, 1]
        return p


@both_ways
@pytest.mark.parametrize("shape", [(30, 5), (30, 5, 2), (30, 5, 2, 3)])
def test_rows_of_any_shape(ensemble, shape):
    X = np.random.default_rng(0).normal(size=shape)
    model = CalibratedClassifier(OfAnyShape(), "platt", ensemble=ensemble)
    assert_sum_to_one(model.fit(X, [0, 1] * 15).predict_proba(X))


def test_rows_that_are_dictionaries():
    X = [{"state": "NY", "age": "adult"}, {"state": "TX", "age": "adult"}] * 4
    X += [{"state": "VT", "age": "child"}, {"state": "CT", "age": "adult"}] * 4
    y = [1, 0] * 8
    base = make_pipeline(DictVectorizer(), RandomForestClassifier(5, random_state=0)).fit(X, y)
    model = CalibratedClassifier(frozen.FrozenEstimator(base), "platt").fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert not hasattr(model, "n_features_in_")
    assert model.predict(X).shape == (16,)


def test_features_are_counted_by_the_model():
    X, y = rows(n=20)
    model = CalibratedClassifier(LinearSVC(), "platt", cv=2).fit(X, y)
    assert (model.n_features_in_, model.classes_.tolist()) == (6, [0, 1])
    fitted = CalibratedClassifier(frozen.FrozenEstimator(LinearSVC().fit(X, y)), "platt")
    with pytest.raises(ValueError, match="X has 3 features, but LinearSVC is expecting 6"):
        fitted.fit(X[:, :3], y)


def test_votes_that_have_probabilities_only_when_soft():
    X, y = rows()
    parts = [(f"part {i}", LogisticRegression(C=10.0**i)) for i in range(3)]
    soft = VotingClassifier(parts, voting="soft").fit(X, y)
    assert_sum_to_one(CalibratedClassifier(soft, "platt", cv="prefit").fit(X, y).predict_proba(X))
    hard = VotingClassifier(parts, voting="hard").fit(X, y)
    with pytest.raises(InvalidInputError, match="VotingClassifier must offer `predict_proba`"):
        CalibratedClassifier(hard, "platt", cv="prefit").fit(X, y)


class Weighed(LogisticRegression):
    """Insists on a weight for every row, and on an argument of another length."""

    def fit(self, X, y, sample_weight=None, *, grid=None):
        assert len(sample_weight) == X.shape[0]
        assert len(grid) == 201
        return super().fit(X, y, sample_weight=sample_weight)


@both_ways
@pytest.mark.parametrize("container", [list, np.asarray])
def test_weights_and_arguments_reach_the_model(ensemble, container):
    X, y = rows()
    model = CalibratedClassifier(Weighed(), "platt", ensemble=ensemble)
    model.fit(X, y, sample_weight=container([1.0] * 200), grid=np.ones(201))
    assert_sum_to_one(model.predict_proba(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_margins_of_a_hundred_thousand():
    y = np.repeat([1, 0], [134, 66])
    X = 1e5 * y[:, None] + np.random.default_rng(0).normal(size=(200, 1))
    base = SGDClassifier(loss="squared_hinge", tol=1e-2, random_state=0)
    assert np.abs(base.fit(X, y).decision_function(X)).max() > 1e4
    for name in ("sigmoid", "isotonic"):
        model = CalibratedClassifier(base, name)
        # Rows of the two classes are 1e5 apart with noise of 1: nothing is ever confused.
        assert (cross_val_score(model, X, y, scoring="roc_auc") == 1).all()


class SinglePrecision(DummyClassifier):
    """Probabilities in single precision."""

    def predict_proba(self, X):
        return super().predict_proba(X).astype(np.float32)


@their_maps
@pytest.mark.parametrize("weighted", [True, False])
def test_probabilities_in_single_precision(name, weighted):
    X, y = rows()
    w = np.ones(len(y)) if weighted else None
    p = CalibratedClassifier(SinglePrecision(), name).fit(X, y, w).predict_proba(X)
    # A model that says the same of every row: the share of ones is all a map can say.
    np.testing.assert_allclose(p[:, 1], y.mean(), atol=0.01)
    base = SinglePrecision().fit(X, y)
    again = CalibratedClassifier(base, name, cv="prefit").fit(X, y, w).predict_proba(X)
    np.testing.assert_allclose(again[:, 1], y.mean(), atol=0.01)


def test_lists_of_words_are_labels():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = CalibratedClassifier(LinearSVC(), cv=3).fit(X, ["a"] * 10 + ["b"] * 10)
    assert set(model.predict(X)) <= {"a", "b"}
