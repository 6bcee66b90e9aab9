"""The border is crossed once: predictions are checked once for each array given."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import veridical
from veridical._core.data import validation
from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    ClassConditionalCalibrator,
    ConfidenceReducedCalibrator,
    GroupedCalibrator,
    IsotonicCalibrator,
    MixingCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from veridical.miscalibration import RecalibrationError
from veridical.selection import AutoCalibrator, CalibratedClassifier

BORDER = ("check_sample", "check_scored_rows")
RNG = np.random.default_rng(0)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)
Z = np.log(P / (1 - P))
P4 = RNG.dirichlet(np.ones(4), 200)
Y4 = np.array([RNG.choice(4, p=row) for row in P4])
X = RNG.normal(size=(200, 2))
BY = np.arange(200) % 2

# What is called, and how many times the border may be crossed.
CASES = {
    "AutoCalibrator": (lambda: AutoCalibrator().fit(P, Y), 1),
    "AutoCalibrator of four classes": (lambda: AutoCalibrator().fit(P4, Y4), 1),
    "AutoCalibrator of logits": (lambda: AutoCalibrator(input="logit").fit(Z, Y), 1),
    "AutoCalibrator select": (lambda: AutoCalibrator(strategy="select").fit(P, Y), 1),
    "AveragedCalibrator": (
        lambda: AveragedCalibrator([PlattCalibrator(), BetaCalibrator()]).fit(P, Y),
        1,
    ),
    "MixingCalibrator": (lambda: MixingCalibrator(PlattCalibrator()).fit(P, Y), 1),
    "OneVsRestCalibrator": (lambda: OneVsRestCalibrator(IsotonicCalibrator()).fit(P4, Y4), 1),
    "ClassConditionalCalibrator": (
        lambda: ClassConditionalCalibrator(TemperatureCalibrator(), min_rows=1).fit(P4, Y4),
        1,
    ),
    "ConfidenceReducedCalibrator": (
        lambda: ConfidenceReducedCalibrator(BetaCalibrator()).fit(P4, Y4),
        1,
    ),
    "GroupedCalibrator": (lambda: GroupedCalibrator(BetaCalibrator()).fit(P, Y, by=BY), 1),
    "CalibratedClassifier, a fold each": (
        lambda: CalibratedClassifier(LogisticRegression(), cv=3).fit(X, Y),
        3,
    ),
    "CalibratedClassifier, one map": (
        lambda: CalibratedClassifier(LogisticRegression(), cv=3, ensemble=False).fit(X, Y),
        1,
    ),
    "RecalibrationError": (lambda: RecalibrationError()(Y, P), 1),
}


@pytest.fixture
def crossings(monkeypatch):
    """Names of border functions in the order in which they are called, wherever from."""
    calls = []
    for name in BORDER:
        original = getattr(validation, name)

        def counting(*args, _original=original, _name=name, **options):
            calls.append(_name)
            return _original(*args, **options)

        for module in list(sys.modules.values()):
            known = getattr(module, "__name__", "").startswith(veridical.__name__)
            if known and vars(module).get(name) is original:
                monkeypatch.setattr(module, name, counting)
    return calls


@pytest.mark.parametrize("name", CASES)
def test_predictions_are_checked_once(name, crossings):
    call, most = CASES[name]
    call()
    assert 1 <= len(crossings) <= most
