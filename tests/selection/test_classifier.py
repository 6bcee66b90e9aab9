"""CalibratedClassifier: the same as scikit-learn's where both are defined alike; no leakage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from veridical.calibrators import IsotonicCalibrator, PlattCalibrator
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.selection._classifier.classifier import CalibratedClassifier
from veridical.selection._classifier.splits import copies_in


def rows(n=300, k=2, seed=0):
    return make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=k, flip_y=0.2, random_state=seed
    )


class Memory(ClassifierMixin, BaseEstimator):
    """Remembers which rows (first column) it was trained on, and counts fits of all copies."""

    fits = 0
    asked: list = []  # noqa: RUF012

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        self.seen_ = set(np.asarray(X)[:, 0].tolist())
        return self

    def predict_proba(self, X):
        column = np.asarray(X)[:, 0]
        type(self).asked.append((self.seen_, set(column.tolist())))
        p = 0.5 + 0.4 * np.sin(column)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.fixture(autouse=True)
def _forget():
    Memory.fits, Memory.asked = 0, []


@pytest.mark.parametrize("ensemble", [True, False])
def test_isotonic_on_margins_is_that_of_scikit_learn(ensemble):
    X, y = rows()
    own = CalibratedClassifier(LinearSVC(), IsotonicCalibrator(laplace=0), ensemble=ensemble).fit(
        X, y
    )
    theirs = CalibratedClassifierCV(LinearSVC(), method="isotonic", cv=5, ensemble=ensemble)
    new, _ = rows(seed=1)
    np.testing.assert_allclose(
        own.predict_proba(new), theirs.fit(X, y).predict_proba(new), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("k", [2, 3])
def test_sigmoid_on_margins_is_that_of_scikit_learn(ensemble, k):
    # Their solver stops at a gradient of 1e-5 or so; the maps are the same.
    X, y = rows(k=k)
    own = CalibratedClassifier(LinearSVC(), "sigmoid", ensemble=ensemble).fit(X, y)
    theirs = CalibratedClassifierCV(LinearSVC(), method="sigmoid", cv=5, ensemble=ensemble)
    new, _ = rows(seed=1, k=k)
    np.testing.assert_allclose(
        own.predict_proba(new), theirs.fit(X, y).predict_proba(new), rtol=0, atol=2e-4
    )


def test_weighted_isotonic_on_margins_is_that_of_scikit_learn():
    X, y = rows()
    w = np.random.default_rng(0).uniform(0.5, 3, len(y))
    own = CalibratedClassifier(LinearSVC(), IsotonicCalibrator(laplace=0), ensemble=True)
    own.fit(X, y, w)
    theirs = CalibratedClassifierCV(LinearSVC(), method="isotonic", cv=5).fit(X, y, w)
    np.testing.assert_allclose(own.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("ensemble", "fits"), [(True, 5), (False, 6)])
def test_the_model_is_fitted_as_often_as_in_scikit_learn(ensemble, fits):
    X, y = rows()
    CalibratedClassifierCV(Memory(), cv=5, ensemble=ensemble).fit(X, y)
    assert Memory.fits == fits
    Memory.fits = 0
    CalibratedClassifier(Memory(), "platt", cv=5, ensemble=ensemble).fit(X, y)
    assert Memory.fits == fits


@pytest.mark.parametrize("freeze", [True, False])
def test_a_fitted_model_is_not_fitted_again(freeze):
    X, y = rows()
    model = Memory().fit(X[:100], y[:100])
    Memory.fits = 0
    wrapped = CalibratedClassifier(model, "platt", cv="prefit")
    if freeze:
        frozen = pytest.importorskip("sklearn.frozen")  # from scikit-learn 1.6 on
        wrapped = CalibratedClassifier(frozen.FrozenEstimator(model), "platt")
    wrapped.fit(X[100:], y[100:])
    assert Memory.fits == 0
    assert [r.tolist() for r in wrapped.calibration_rows_] == [list(range(200))]
    p = model.predict_proba(X[100:])
    expected = PlattCalibrator().fit(p, y[100:]).predict_proba(p)
    np.testing.assert_allclose(wrapped.predict_proba(X[100:]), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("cv", [5, KFold(3, shuffle=True, random_state=0), TimeSeriesSplit(4)])
def test_no_model_is_calibrated_on_rows_it_was_trained_on(ensemble, cv):
    X, y = rows()
    X[:, 0] = np.arange(len(X))
    model = CalibratedClassifier(Memory(), "isotonic", cv=cv, ensemble=ensemble).fit(X, y)
    assert len(Memory.asked) == (cv if isinstance(cv, int) else cv.get_n_splits())
    asked = set()
    for seen, shown in Memory.asked:
        assert not seen & shown
        asked |= shown
    calibrating = np.concatenate(model.calibration_rows_)
    assert len(set(calibrating.tolist())) == len(calibrating)  # none twice, with these splitters
    assert set(X[calibrating, 0].tolist()) == asked
    if ensemble:
        for estimator, used in zip(model.estimators_, model.calibration_rows_, strict=True):
            assert not estimator.seen_ & set(X[used, 0].tolist())


def test_pairs_are_averaged():
    X, y = rows()
    folds = list(KFold(2).split(X))
    model = CalibratedClassifier(GaussianNB(), PlattCalibrator(), cv=folds, ensemble=True)
    model.fit(X, y)
    expected = 0
    for train, test in folds:
        base = GaussianNB().fit(X[train], y[train])
        line = PlattCalibrator().fit(base.predict_proba(X[test]), y[test])
        expected = expected + line.predict_proba(base.predict_proba(X)) / 2
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-12)


def test_one_map_learns_from_all_folds():
    X, y = rows()
    model = CalibratedClassifier(
        GaussianNB(), PlattCalibrator(), cv=KFold(4, shuffle=True, random_state=1), ensemble=False
    ).fit(X, y)
    p = np.empty((len(y), 2))
    for train, test in KFold(4, shuffle=True, random_state=1).split(X):
        p[test] = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
    expected = PlattCalibrator().fit(p, y).predict_proba(GaussianNB().fit(X, y).predict_proba(X))
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ensemble", [True, False])
def test_the_number_of_jobs_changes_nothing(ensemble):
    X, y = rows(k=3)
    one = CalibratedClassifier(GaussianNB(), "beta", ensemble=ensemble)
    two = clone(one).set_params(n_jobs=2)
    with parallel_config(backend="threading"):  # processes take seconds to start
        together = two.fit(X, y).predict_proba(X)
    assert (one.fit(X, y).predict_proba(X) == together).all()


@pytest.mark.parametrize("ensemble", [True, False])
def test_a_weight_of_zero_removes_a_row(ensemble):
    X, y = rows()
    w = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.5)
    model = CalibratedClassifier(GaussianNB(), "platt", ensemble=ensemble)
    weighted = clone(model).fit(X, y, w)
    removed = clone(model).fit(X[w > 0], y[w > 0], w[w > 0])
    np.testing.assert_allclose(
        weighted.predict_proba(X), removed.predict_proba(X), rtol=0, atol=1e-12
    )
    assert not set(np.concatenate(weighted.calibration_rows_)) & set(np.flatnonzero(w == 0))


def test_a_class_of_rows_without_weight_is_no_class():
    X, y = rows()
    y[:40] = 2
    model = CalibratedClassifier(GaussianNB(), "platt").fit(X, y, np.where(y == 2, 0.0, 1.0))
    plain = CalibratedClassifier(GaussianNB(), "platt").fit(X[40:], y[40:])
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-9)


def test_a_constant_factor_of_importance_weights_changes_nothing():
    X, y = rows()
    model = CalibratedClassifier(GaussianNB(), "isotonic", weight_type="importance")
    plain, scaled = clone(model).fit(X, y), clone(model).fit(X, y, np.full(len(y), 7.0))
    np.testing.assert_allclose(plain.predict_proba(X), scaled.predict_proba(X), atol=1e-9)


def test_weights_repeat_rows_for_a_fitted_model():
    X, y = rows()
    base, times = GaussianNB().fit(X[:100], y[:100]), np.arange(200) % 3
    map_ = PlattCalibrator(weight_type="frequency")
    weighted = CalibratedClassifier(base, map_, cv="prefit").fit(X[100:], y[100:], times)
    repeated = CalibratedClassifier(base, map_, cv="prefit").fit(
        np.repeat(X[100:], times, axis=0), np.repeat(y[100:], times)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-8)


def test_groups_stay_together():
    X, y = rows()
    X[:, 0] = groups = np.arange(len(y)) % 20
    model = CalibratedClassifier(Memory(), "platt", cv=GroupKFold(4), ensemble=True)
    model.fit(X, y, groups=groups)
    assert len(model.pairs_) == 4
    for estimator, used in zip(model.estimators_, model.calibration_rows_, strict=True):
        assert not estimator.seen_ & set(groups[used].tolist())


def test_groups_with_rows_of_weight_zero():
    X, y = rows()
    groups, w = np.arange(len(y)) % 20, np.arange(len(y)) % 5 > 0
    model = CalibratedClassifier(GaussianNB(), "platt", cv=GroupKFold(4))
    model.fit(X, y, sample_weight=w.astype(float), groups=groups)
    assert sorted(np.concatenate(model.calibration_rows_)) == np.flatnonzero(w).tolist()


@pytest.mark.parametrize("ensemble", [True, False])
def test_rows_that_no_fold_tests_do_not_calibrate(ensemble):
    X, y = rows(n=120)
    model = CalibratedClassifier(
        GaussianNB(), "platt", cv=TimeSeriesSplit(5), ensemble=ensemble
    ).fit(X, y)
    assert np.concatenate(model.calibration_rows_).tolist() == list(range(20, 120))
    assert "100 of 120 rows calibrate" in str(model)


def test_masks_are_splits_too():
    X, y = rows()
    first = np.arange(len(y)) < 200
    model = CalibratedClassifier(GaussianNB(), "platt", cv=[(first, ~first)]).fit(X, y)
    assert model.calibration_rows_[0].tolist() == list(range(200, 300))


def test_the_text_says_which_rows_were_used():
    X, y = rows()
    model = CalibratedClassifier(GaussianNB(), "platt", ensemble=True)
    assert str(model) == repr(model)
    assert str(model.fit(X, y)).splitlines()[-2:] == [
        "5 pairs of GaussianNB and PlattCalibrator, read by predict_proba (probabilities).",
        "300 of 300 rows calibrate a model that never saw them; probabilities are averaged.",
    ]
    model.set_params(ensemble=False).fit(X, y)
    assert str(model).endswith("models that never saw them; a model trained on all rows predicts.")


REFUSED = {
    "overlap": ({"cv": [(range(200), range(150, 300))]}, "disjoint training and test.*50 common"),
    "repeated": ({"cv": RepeatedKFold(n_repeats=2), "ensemble": False}, "row 0 in 2 of 10"),
    "one fold": ({"cv": 1}, "at least 2"),
    "one row": ({"cv": LeaveOneOut()}, "of folds with all classes; got LeaveOneOut"),
    "one row each": ({"cv": LeaveOneOut(), "ensemble": True}, "of folds with all classes"),
    "two rows": ({"cv": [(range(200), [200, 201])], "ensemble": True}, "got 2 in fold 0"),
    "two rows at all": ({"cv": [(range(200), [200]), (range(200), [201])]}, "2 in all folds"),
    "many folds": ({"cv": KFold(290)}, "290 folds, with less than 290 examples"),
    "weights": ({"weight_type": "counts"}, "`weight_type` must be one of"),
    "a word": ({"cv": "prefitted"}, "`cv` must be a number of folds"),
    "empty": ({"cv": []}, "at least one split"),
    "name": ({"calibrator": "isotonik"}, "did you mean 'isotonic'"),
    "class": ({"calibrator": PlattCalibrator}, "the class PlattCalibrator"),
    "flag": ({"ensemble": "yes"}, "`ensemble` must be True or False"),
    "response": ({"response": "logits"}, "`response` must be one of"),
    "conflict": (
        {"response": "probability", "calibrator": PlattCalibrator(input="logit")},
        "'probability' with a calibrator of input='logit'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    params, text = REFUSED[case]
    X, y = rows()
    model = CalibratedClassifier(GaussianNB(), "platt").set_params(**params)
    with pytest.raises(InvalidInputError, match=text):
        model.fit(X, y)


def test_a_class_rarer_than_the_folds_is_refused_with_a_way_out():
    X, y = rows()
    y[:3] = 2
    with pytest.raises(InvalidInputError, match=r"examples \(3\) of class 2(.|\n)*use `cv=3`"):
        CalibratedClassifier(GaussianNB(), "platt", cv=5).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"examples \(2\) of class"):
        CalibratedClassifier(GaussianNB(), "platt").fit(X[:8], np.arange(8) // 2)
    three = CalibratedClassifier(GaussianNB(), "platt", cv=3).fit(X, y)
    assert three.classes_.tolist() == [0, 1, 2]


def test_parameters_of_scikit_learn_get_a_hint():
    with pytest.raises(InvalidInputError, match="it is called `calibrator` here"):
        CalibratedClassifier(GaussianNB(), method="isotonic")  # type: ignore[call-arg]
    with pytest.raises(InvalidInputError, match="it is called `calibrator` here"):
        CalibratedClassifier(GaussianNB()).set_params(method="isotonic")
    assert "method" not in CalibratedClassifier(GaussianNB()).get_params()
    with pytest.raises(TypeError, match="unexpected keyword argument 'calibrater'"):
        CalibratedClassifier(GaussianNB(), calibrater="isotonic")  # type: ignore[call-arg]


def test_one_map_may_learn_from_folds_of_two_rows():
    X, y = rows(n=60)
    pairs = np.arange(60) // 2
    model = CalibratedClassifier(GaussianNB(), "platt", cv=LeaveOneGroupOut())
    model.fit(X, y, groups=pairs)
    assert [used.tolist() for used in model.calibration_rows_] == [list(range(60))]
    with pytest.raises(InvalidInputError, match="at least 3 test rows for a map; got 2 in fold 0"):
        model.set_params(ensemble=True).fit(X, y, groups=pairs)


def test_more_random_splits_than_rows_of_a_class_are_no_more_folds():
    X, y = rows(n=60)
    splits = ShuffleSplit(40, test_size=0.5, random_state=0)
    model = CalibratedClassifier(GaussianNB(), "platt", cv=splits, ensemble=True).fit(X, y)
    assert len(model.pairs_) == 40


@pytest.mark.parametrize("given", ["platt", "auto"])
def test_named_calibrators_count_repetitions(given):
    X, y = rows(n=90, k=3)
    model = CalibratedClassifier(GaussianNB(), given, cv=3).fit(X, y)
    assert [map.weight_type for map in model.calibrators_] == ["frequency"]
    model.set_params(weight_type="importance").fit(X, y)
    assert [map.weight_type for map in model.calibrators_] == ["importance"]


@pytest.mark.parametrize("own", ["importance", "frequency"])
def test_calibrator_objects_keep_what_weights_mean(own):
    X, y = rows(n=90)
    model = CalibratedClassifier(GaussianNB(), PlattCalibrator(weight_type=own)).fit(X, y)
    assert [map.weight_type for map in model.calibrators_] == [own]


def test_one_class_is_refused():
    X, _ = rows()
    with pytest.raises(InvalidInputError, match="at least two classes"):
        CalibratedClassifier(GaussianNB(), "platt").fit(X, np.ones(len(X)))


def test_integer_folds_keep_groups_together():
    X, y = rows()
    groups = np.arange(len(y)) // 3
    seen = []

    class Spy(GaussianNB):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    CalibratedClassifier(Spy(), "platt").fit(X, y, groups=groups)
    assert len(seen) == 6  # five folds and all rows
    for part in seen[:5]:
        inside = (X[:, None] == part[None]).all(axis=2).any(axis=1)
        share = np.bincount(groups, inside) / np.bincount(groups)
        assert set(share.tolist()) == {0.0, 1.0}


def test_groups_that_nobody_can_keep_together_are_refused():
    X, y = rows()
    pairs = [(np.arange(0, len(y), 2), np.arange(1, len(y), 2))]
    with pytest.raises(InvalidInputError, match="GroupKFold"):
        CalibratedClassifier(GaussianNB(), "platt", cv=pairs).fit(X, y, groups=y)
    with pytest.raises(InvalidInputError, match="5 folds of 2 groups"):
        CalibratedClassifier(GaussianNB(), "platt").fit(X, y, groups=y)


def test_copies_of_measurements_are_not_parted_and_those_of_categories_are():
    X, y = rows()
    assert copies_in(X) is None
    twice = np.repeat(X, 2, axis=0)
    assert copies_in(twice).tolist() == copies_in(pd.DataFrame(twice)).tolist()
    assert len(np.unique(copies_in(twice))) == len(X)
    assert np.array_equal(copies_in(twice)[::2], copies_in(twice)[1::2])
    assert copies_in(np.random.default_rng(0).integers(0, 3, (200, 4))) is None
    assert copies_in(np.repeat(X, 2, axis=0).astype(str)) is None
    # what the map is fitted to does not know the copies: the same rows, each model without both
    once = CalibratedClassifier(GaussianNB(), cv=_whole_rows(len(y), 1)).fit(X, y)
    both = CalibratedClassifier(GaussianNB(), cv=_whole_rows(len(y), 2))
    with pytest.warns(VeridicalWarning, match="multiple of 2 times"):
        both.fit(twice, np.repeat(y, 2))
    np.testing.assert_allclose(both.predict_proba(X), once.predict_proba(X), atol=1e-9)


def _whole_rows(n, times):
    """Five folds of rows that are given so many times."""
    fold = np.repeat(np.arange(n) % 5, times)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]


def test_labels_a_fitted_model_does_not_know_are_refused():
    X, y = rows()
    model = CalibratedClassifier(GaussianNB().fit(X, y), "platt", cv="prefit")
    with pytest.raises(InvalidInputError, match="the fitted model knows; got \\[2\\]"):
        model.fit(X, np.where(y == 1, 2, 0))


@pytest.mark.parametrize("estimator", ["forest", GaussianNB, None])
def test_what_is_no_classifier_is_named(estimator):
    with pytest.raises(InvalidInputError, match="`estimator` must be a classifier"):
        CalibratedClassifier(estimator).fit([[0.0], [1.0]] * 10, [0, 1] * 10)


def test_a_rare_class_is_fitted_by_default_and_refused_for_a_number_of_folds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.arange(200) < 3
    with pytest.warns(UserWarning, match="only 3 members"):
        fitted = CalibratedClassifier(GaussianNB()).fit(X, y)
    assert fitted.predict_proba(X).shape == (200, 2)
    with pytest.raises(InvalidInputError, match="5 folds, with less than 5 examples"):
        CalibratedClassifier(GaussianNB(), cv=5).fit(X, y)
