"""CalibratedClassifier: weights, groups and other arguments of `fit` reach whom they are for."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical.calibrators import PlattCalibrator
from veridical.exceptions import VeridicalWarning
from veridical.selection._classifier.classifier import CalibratedClassifier


def rows():
    return make_classification(240, 6, flip_y=0.2, random_state=0)


def test_weights_reach_the_last_step_of_a_pipeline():
    X, y = rows()
    w = np.random.default_rng(0).uniform(0.1, 5, len(y))
    steps = make_pipeline(StandardScaler(), LogisticRegression())
    model = CalibratedClassifier(
        steps, "platt", cv=[(range(160), range(160, 240))], ensemble=True
    ).fit(X, y, w)
    expected = make_pipeline(StandardScaler(), LogisticRegression())
    expected.fit(X[:160], y[:160], logisticregression__sample_weight=w[:160])
    np.testing.assert_allclose(model.estimators_[0][-1].coef_, expected[-1].coef_, rtol=1e-9)


def test_models_without_weights_are_announced():
    X, y = rows()
    w = np.random.default_rng(0).uniform(0.1, 5, len(y))
    model = CalibratedClassifier(KNeighborsClassifier(), PlattCalibrator(), cv=2, ensemble=True)
    with pytest.warns(VeridicalWarning, match="KNeighborsClassifier takes no sample_weight"):
        model.fit(X, y, sample_weight=w)
    used = model.calibration_rows_[0]
    p = model.estimators_[0].predict_proba(X[used])
    expected = PlattCalibrator().fit(p, y[used], w[used])
    assert model.calibrators_[0].slope_ == pytest.approx(expected.slope_, rel=1e-9)


class Demanding(GaussianNB):
    """Wants an argument with a value for each row, and another without."""

    def fit(self, X, y, sample_weight=None, *, cost=None, note=None):
        assert len(cost) == len(y)
        self.got_ = (np.asarray(cost), note)
        return super().fit(X, y, sample_weight)


def test_arguments_of_fit_are_split_like_rows():
    X, y = rows()
    model = CalibratedClassifier(
        Demanding(), "platt", cv=[(range(160), range(160, 240))], ensemble=True
    )
    model.fit(X, y, cost=list(range(240)), note="all")
    cost, note = model.estimators_[0].got_
    assert (cost.tolist(), note) == (list(range(160)), "all")


def test_metadata_are_routed_by_request():
    X, y = rows()
    w, groups = np.random.default_rng(0).uniform(0.1, 5, len(y)), np.arange(len(y)) % 12
    with sklearn.config_context(enable_metadata_routing=True):
        base = GaussianNB().set_fit_request(sample_weight=True)
        routed = CalibratedClassifier(base, "platt", cv=GroupKFold(3), ensemble=True)
        routed.fit(X, y, sample_weight=w, groups=groups)
        weightless = GaussianNB().set_fit_request(sample_weight=False)
        other = CalibratedClassifier(weightless, "platt", cv=GroupKFold(3), ensemble=True)
        other.fit(X, y, sample_weight=w, groups=groups)
    for rows_used in routed.calibration_rows_:
        inside = np.isin(groups, groups[rows_used])
        assert inside.sum() == len(rows_used)
    train = ~np.isin(np.arange(len(y)), routed.calibration_rows_[0])
    expected = GaussianNB().fit(X[train], y[train], w[train])
    np.testing.assert_allclose(routed.estimators_[0].theta_, expected.theta_)
    expected = GaussianNB().fit(X[train], y[train])
    np.testing.assert_allclose(other.estimators_[0].theta_, expected.theta_)
