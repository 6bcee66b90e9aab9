"""Data cross the border once: every prediction array given is checked by one look."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import veridical as v
from veridical._core.data import validation


class Case(NamedTuple):
    """A call, and how often it may check predictions: once for each array given to it."""

    name: str
    call: Callable[[], Any]
    most: int


def _binary(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, n)
    return (rng.random(n) < p).astype(int), p


def _three_classes(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), n)
    return (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2), p


BINARY, THREE = _binary(), _three_classes()
Y, P = BINARY
Y3, P3 = THREE
LOGITS = np.log(P / (1 - P))
X = np.random.default_rng(2).normal(size=(300, 2))
GROUPS = np.repeat(["a", "b", "c"], 100)
FEW = {"n_resamples": 50, "rng": 0}


def _gate(**options: Any) -> Any:
    return v.check_requirements(*BINARY, requirements=["ece < 1", "brier < 1"], **options)


CASES = [
    Case("AutoCalibrator", lambda: v.AutoCalibrator().fit(P, Y), 1),
    Case("AutoCalibrator of three classes", lambda: v.AutoCalibrator().fit(P3, Y3), 1),
    Case("AutoCalibrator of logits", lambda: v.AutoCalibrator(input="logit").fit(LOGITS, Y), 1),
    Case("AutoCalibrator select", lambda: v.AutoCalibrator(strategy="select").fit(P, Y), 1),
    Case(
        "AveragedCalibrator",
        lambda: v.AveragedCalibrator([v.PlattCalibrator(), v.BetaCalibrator()]).fit(P, Y),
        1,
    ),
    Case("MixingCalibrator", lambda: v.MixingCalibrator(v.PlattCalibrator()).fit(P, Y), 1),
    Case(
        "OneVsRestCalibrator", lambda: v.OneVsRestCalibrator(v.IsotonicCalibrator()).fit(P3, Y3), 1
    ),
    Case(
        "ClassConditionalCalibrator",
        lambda: v.ClassConditionalCalibrator(v.TemperatureCalibrator(), min_rows=1).fit(P3, Y3),
        1,
    ),
    Case(
        "ConfidenceReducedCalibrator",
        lambda: v.ConfidenceReducedCalibrator(v.BetaCalibrator()).fit(P3, Y3),
        1,
    ),
    Case(
        "GroupedCalibrator", lambda: v.GroupedCalibrator(v.BetaCalibrator()).fit(P, Y, by=GROUPS), 1
    ),
    Case(
        "CalibratedClassifier, a fold each",
        lambda: v.CalibratedClassifier(LogisticRegression(), cv=3).fit(X, Y),
        3,
    ),
    Case(
        "CalibratedClassifier, one map",
        lambda: v.CalibratedClassifier(LogisticRegression(), cv=3, ensemble=False).fit(X, Y),
        1,
    ),
    Case("RecalibrationError", lambda: v.RecalibrationError()(Y, P), 1),
    Case("calibration_tests, binary", lambda: v.calibration_tests(*BINARY, **FEW), 1),
    Case("calibration_tests, K = 3", lambda: v.calibration_tests(*THREE, **FEW), 1),
    Case("calibration_tests, groups", lambda: v.calibration_tests(*BINARY, by=GROUPS, **FEW), 1),
    Case(
        "calibration_tests, all by name",
        lambda: v.calibration_tests(
            *BINARY,
            tests=["consistency", "spiegelhalter", "hosmer-lemeshow", "cox", "t-cal", "kernel"],
            **FEW,
        ),
        1,
    ),
    Case(
        "check_requirements, tests",
        lambda: v.check_requirements(
            *BINARY,
            requirements=["cox().pvalue < 2", "kernel().pvalue < 2", "equivalence(0.5).high < 2"],
            **FEW,
        ),
        1,
    ),
    Case("check_requirements of groups", lambda: _gate(by=GROUPS), 1),
    Case("check_requirements against predictions", lambda: _gate(against_prob=P**2), 2),
    Case("evaluate", lambda: v.evaluate(*BINARY, by=GROUPS), 1),
    Case("evaluate three classes", lambda: v.evaluate(*THREE), 1),
    Case("grid_summary", lambda: v.grid_summary(*THREE), 1),
    Case("compare", lambda: v.compare({"a": P, "b": P**2}, Y, **FEW), 2),
    Case("compare three classes", lambda: v.compare({"a": P3, "b": P3[:, ::-1]}, Y3, **FEW), 2),
    Case("make_report", lambda: v.make_report(*BINARY, by=GROUPS, **FEW), 1),
    Case("make_report of three classes", lambda: v.make_report(*THREE, **FEW), 1),
    Case("make_report of two models", lambda: v.make_report({"a": P, "b": P**2}, Y, **FEW), 2),
    Case("multiple_test", lambda: v.multiple_test(v.BinnedError(), *THREE, **FEW), 1),
    Case("reliability_curve", lambda: v.reliability_curve(*BINARY), 1),
    Case("decompose", lambda: v.decompose(*THREE), 1),
    Case("decision_curve", lambda: v.decision_curve(*BINARY), 1),
    Case(
        "paired_difference",
        lambda: v.paired_difference(v.BrierScore(), *BINARY, BINARY[1] ** 2),
        2,
    ),
]


BORDER = ("check_sample", "check_scored_rows")


@pytest.fixture
def count(monkeypatch):
    """Callers of the border, wherever it was imported."""
    calls: list[str] = []
    for name in BORDER:
        original = getattr(validation, name)

        def counting(*args: Any, caller: str, _original: Any = original, **options: Any) -> Any:
            calls.append(caller)
            return _original(*args, caller=caller, **options)

        for module in list(_users_of_the_border(name)):
            if getattr(module, name, None) is original:
                monkeypatch.setattr(module, name, counting)
    return calls


def _users_of_the_border(name: str) -> Iterator[Any]:
    """Modules that speak of a function of the border, imported before anything is counted."""
    root = Path(v.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if name in path.read_text(encoding="utf-8"):
            parts = path.relative_to(root.parent).with_suffix("").parts
            yield importlib.import_module(".".join(parts))


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_prediction_array_is_checked_once(case, count):
    case.call()
    assert 1 <= len(count) <= case.most, count
