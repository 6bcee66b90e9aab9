"""Data for the tests that go for every calibrator."""

import numpy as np
import pytest
from calibrators.every_calibrator import EVERY, MULTICLASS, NEW, Case
from scipy.special import softmax


@pytest.fixture
def two(binary):
    return Case(binary.y, binary.p, binary.w, NEW)


@pytest.fixture
def three(multiclass):
    new = softmax(np.random.default_rng(1).normal(0, 2, (40, 3)), axis=1)
    return Case(multiclass.y, multiclass.p, multiclass.w, np.vstack([new, np.eye(3)]))


@pytest.fixture(
    params=[("two", name) for name in EVERY] + [("three", name) for name in MULTICLASS],
    ids=lambda param: " classes, ".join(param),
)
def both(request, two, three):
    """Every calibrator with two classes, and those that can with three."""
    kind, name = request.param
    return EVERY[name], two if kind == "two" else three
