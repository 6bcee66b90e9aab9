"""Every calibrator is finite and inside [0, 1] for zeros, denormal numbers and ones."""

import warnings

import numpy as np
import pytest
from calibrators.every_calibrator import BINARY, EVERY, assert_probabilities, everyone, fit, predict

from veridical.calibrators import (
    Calibrator,
    IdentityCalibrator,
    IsotonicCalibrator,
    ScalingBinningCalibrator,
)
from veridical.exceptions import VeridicalWarning

EDGES = np.array([0.0, 5e-324, 1e-310, 1e-308, 1 - 2.0**-53, 1.0])


def extreme_rows(n_classes, n=60, seed=0):
    """Rows that are almost one-hot, with every fourth one ordinary, and mostly right labels."""
    rng = np.random.default_rng(seed)
    p = rng.choice(EDGES[:4], (n, n_classes))
    top = rng.integers(n_classes, size=n)
    p[np.arange(n), top] = rng.choice(EDGES[4:], n)
    p[::4] = rng.dirichlet(np.ones(n_classes), len(p[::4]))
    y = np.where(rng.random(n) < 0.8, top, np.arange(n) % n_classes)
    y[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    return p, y


@everyone
def test_extreme_probabilities_of_two_classes(name):
    p, y = extreme_rows(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VeridicalWarning)
        column, both = fit(EVERY[name], p[:, 1], y), fit(EVERY[name], p, y)
    assert_probabilities(predict(column, EDGES), len(EDGES), 2)
    assert_probabilities(predict(both, p), len(p), 2)


@pytest.mark.parametrize("name", sorted(EVERY.keys() - BINARY.keys()))
def test_extreme_probabilities_of_three_classes(name):
    p, y = extreme_rows(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VeridicalWarning)
        model = fit(EVERY[name], p, y)
    assert_probabilities(predict(model, np.concatenate([p, np.eye(3)])), len(p) + 3, 3)


OPTIONS = [{}, {"laplace": 0}, {"centered": True}, {"strict": True}, {"strict": True, "laplace": 0}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_isotonic_steps_between_denormal_scores(options):
    """The slope from 0 to 1e-310 overflows; all values between the two steps are still finite."""
    p, y = [0.0, 0.0, 1e-310, 1e-310, 0.5, 1.0], [0, 0, 1, 0, 1, 1]
    scores = np.array([0.0, 5e-324, 1e-320, 5e-311, 1e-310, 1e-308, 0.2, 0.7, 1 - 2.0**-53, 1.0])
    q = IsotonicCalibrator(**options).fit(p, y).predict_proba(scores)
    assert_probabilities(q, len(scores), 2)
    assert (np.diff(q[:, 1]) >= 0).all()


@pytest.mark.parametrize("strict", [False, True])
def test_isotonic_interpolation_stays_inside_by_rounding(strict):
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = np.sort(rng.random(5))
        model = IsotonicCalibrator(laplace=0, strict=strict).fit(p, [0, 1, 0, 1, 1])
        near = np.nextafter(np.repeat(p, 2), np.tile([0.0, 1.0], 5))
        assert_probabilities(model.predict_proba(np.concatenate([near, EDGES])), 16, 2)


def test_means_of_bins_are_no_more_than_one():
    """A mean of ones is one, whatever was summed before, so that the output can be read again."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = np.append(rng.random(30), np.ones(30))
        y = np.append([0, 1], rng.integers(2, size=58))
        model = ScalingBinningCalibrator(calibrator=IdentityCalibrator(), n_bins=2)
        model.fit(p, y, rng.random(60) + 0.1)
        assert model.values_.max() <= 1
        q = model.predict_proba(p)
        assert_probabilities(q, 60, 2)
        IdentityCalibrator().fit(q, y)
        Calibrator.from_dict(model.to_dict())
