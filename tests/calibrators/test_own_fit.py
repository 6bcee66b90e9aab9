"""Calibrators from elsewhere that override what is public are fitted by their own `fit`."""

from __future__ import annotations

import numpy as np
import pytest

from veridical._core.sample import BinarySample
from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    ClassConditionalCalibrator,
    ConfidenceReducedCalibrator,
    GroupedCalibrator,
    MixingCalibrator,
    OneVsRestCalibrator,
)
from veridical.calibrators.core import cross_fitted
from veridical.miscalibration import RecalibrationError
from veridical.selection import AutoCalibrator, CalibratedClassifier

FITS = []


class CountingCalibrator(BetaCalibrator):
    """Keeps a list of the fits of all copies."""

    def fit(self, y_prob, y, sample_weight=None, *, prob=None):
        FITS.append(np.unique(y).tolist())
        return super().fit(y_prob, y, sample_weight, prob=prob)


def data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, (rng.random(n) < p).astype(int)


@pytest.fixture(autouse=True)
def fits():
    FITS.clear()
    return FITS


WRAPPERS = {
    "averaged": (lambda own: AveragedCalibrator([own]), 1),
    "mixing": (lambda own: MixingCalibrator(own, cv=4), 5),
    "one-vs-rest": (OneVsRestCalibrator, 1),
    "class-conditional": (ClassConditionalCalibrator, 3),
    "confidence-reduced": (ConfidenceReducedCalibrator, 1),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_call_it(name, fits):
    make, times = WRAPPERS[name]
    p, y = data()
    own, plain = (make(kind()).fit(p, y) for kind in (CountingCalibrator, BetaCalibrator))
    assert len(fits) == times
    assert np.array_equal(own.predict_proba(p), plain.predict_proba(p))


def test_each_class_against_the_rest_is_shown_as_true_and_false(fits):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 200)
    y = np.array([rng.choice(3, p=row) for row in p])
    OneVsRestCalibrator(CountingCalibrator()).fit(p, y)
    assert fits == [[False, True]] * 3


def test_groups_call_it(fits):
    p, y = data()
    GroupedCalibrator(CountingCalibrator()).fit(p, y, by=np.arange(300) % 3)
    assert len(fits) == 4


def test_folds_call_it(fits):
    p, y = data()
    AutoCalibrator(candidates=[CountingCalibrator()]).fit(p, y)
    assert len(fits) >= 30
    fits.clear()
    RecalibrationError(CountingCalibrator(), cv=3)(y, p)  # and once to all rows
    cross_fitted(BinarySample(y=y, p=p), CountingCalibrator(), 4)
    assert len(fits) == 8


def test_classifiers_call_it(fits):
    from sklearn.linear_model import LogisticRegression

    p, y = data()
    model = CalibratedClassifier(LogisticRegression(), CountingCalibrator(), cv=3, ensemble=True)
    model.fit(p[:, None], np.where(y, "yes", "no"))
    assert fits == [["no", "yes"]] * 3
