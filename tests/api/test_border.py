"""Data cross the border once: every prediction array given is checked by one `check_sample`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

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
GROUPS = np.repeat(["a", "b", "c"], 100)
FEW = {"n_resamples": 50, "rng": 0}

CASES = [
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


@pytest.fixture
def count(monkeypatch):
    """Counts calls of `check_sample`, wherever it was imported."""
    calls: list[str] = []
    original = validation.check_sample

    def counting(*args: Any, caller: str, **options: Any) -> Any:
        calls.append(caller)
        return original(*args, caller=caller, **options)

    for module in list(_users_of_the_border()):
        if getattr(module, "check_sample", None) is original:
            monkeypatch.setattr(module, "check_sample", counting)
    return calls


def _users_of_the_border():
    """Modules that speak of `check_sample`, imported before anything is counted."""
    root = Path(v.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if "check_sample" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(root.parent).with_suffix("").parts
            yield importlib.import_module(".".join(parts))


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_prediction_array_is_checked_once(case, count):
    case.call()
    assert 1 <= len(count) <= case.most, count
