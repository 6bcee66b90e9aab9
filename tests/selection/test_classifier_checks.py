"""CalibratedClassifier passes scikit-learn's own checks of estimators."""

from __future__ import annotations

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from veridical.selection._classifier.classifier import CalibratedClassifier

pytest.importorskip("sklearn.frozen", reason="checks that may fail are named from 1.6 on")

FROM_FOLDS = (
    "rows are dealt into folds by their order, so that a row of weight two, which is in one fold, "
    "is not the same as two rows, which may be in two; CalibratedClassifierCV says so, too"
)
NOT_TRUE_OF_FOLDS = {
    "check_sample_weight_equivalence_on_dense_data": FROM_FOLDS,
    "check_sample_weight_equivalence_on_sparse_data": FROM_FOLDS,
}


@parametrize_with_checks(
    [
        CalibratedClassifier(GaussianNB(), "platt", cv=3),
        CalibratedClassifier(DecisionTreeClassifier(random_state=0), "beta", cv=2, ensemble=False),
    ],
    expected_failed_checks=lambda _: NOT_TRUE_OF_FOLDS,
)
@pytest.mark.filterwarnings("ignore")  # scikit-learn feeds it odd data on purpose
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
