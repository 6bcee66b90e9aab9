"""CalibratedClassifier passes all of scikit-learn's own checks of estimators."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from veridical.selection._classifier.classifier import CalibratedClassifier


@parametrize_with_checks(
    [
        CalibratedClassifier(LogisticRegression(C=1), cv=3),  # the default calibrator
        CalibratedClassifier(GaussianNB(), "platt", cv=3, ensemble=True),
        CalibratedClassifier(DecisionTreeClassifier(random_state=0), "beta", cv=2),
        CalibratedClassifier(LogisticRegression(C=1), "isotonic", cv=3, ensemble=True),
    ]
)
@pytest.mark.filterwarnings("ignore")  # scikit-learn feeds it odd data on purpose
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
