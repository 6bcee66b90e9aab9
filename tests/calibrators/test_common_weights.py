"""What weights and the order of rows mean to every calibrator."""

import warnings

import numpy as np
from calibrators.every_calibrator import assert_probabilities, fit, predict, usual

from veridical.calibrators import IdentityCalibrator, OnlineCalibrator
from veridical.exceptions import VeridicalWarning

# --- weights and order


def test_weight_zero_is_removal(both):
    calibrator, data = both
    w = data.w.copy()
    w[::3] = 0
    kept = w > 0
    weighted = fit(calibrator, data.p, data.y, w)
    removed = fit(calibrator, data.p[kept], data.y[kept], w[kept])
    np.testing.assert_allclose(predict(weighted, data.new), predict(removed, data.new), atol=1e-12)


def test_factor_of_importance_weights_means_nothing(both):
    calibrator, data = both
    plain, scaled = (fit(calibrator, data.p, data.y, c * data.w) for c in (1, 1000.0))
    np.testing.assert_allclose(predict(scaled, data.new), predict(plain, data.new), atol=1e-6)
    equal = fit(calibrator, data.p, data.y, np.full(len(data.y), 0.3))
    bare = fit(calibrator, data.p, data.y)
    np.testing.assert_allclose(predict(equal, data.new), predict(bare, data.new), atol=1e-6)


def test_huge_and_tiny_importance_weights(both):
    calibrator, data = both
    plain = usual(calibrator, data, weighted=True)
    for factor in (1e-200, 1e200):
        scaled = fit(calibrator, data.p, data.y, factor * data.w)
        np.testing.assert_allclose(predict(scaled, data.new), plain, atol=1e-6)


def test_weights_of_very_different_size(both):
    calibrator, data = both
    w = 10.0 ** np.random.default_rng(4).uniform(-12, 6, len(data.y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VeridicalWarning)
        model = fit(calibrator, data.p, data.y, w)
    k = 2 if data.p.ndim == 1 else 3
    assert_probabilities(predict(model, data.new), len(data.new), k)


def test_frequency_weight_is_repetition(both):
    calibrator, data = both
    times = np.random.default_rng(2).integers(0, 4, len(data.y))
    weighted = fit(calibrator, data.p, data.y, times, weight_type="frequency")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* agree in their outcomes as copies do")
        repeated = fit(calibrator, np.repeat(data.p, times, axis=0), np.repeat(data.y, times))
    np.testing.assert_allclose(predict(weighted, data.new), predict(repeated, data.new), atol=1e-6)


def test_weights_matter(both):
    calibrator, data = both
    if isinstance(calibrator, IdentityCalibrator):
        return
    w = np.where(data.y == 1, 5.0, 1.0)
    weighted, bare = (predict(fit(calibrator, data.p, data.y, x), data.new) for x in (w, None))
    assert np.abs(weighted - bare).max() > 1e-3


def test_order_of_rows_means_nothing(both):
    calibrator, data = both
    order = np.random.default_rng(3).permutation(len(data.y))
    shuffled = fit(calibrator, data.p[order], data.y[order], data.w[order])
    plain = fit(calibrator, data.p, data.y, data.w)
    found, expected = predict(shuffled, data.new), predict(plain, data.new)
    if isinstance(calibrator, OnlineCalibrator):  # the one that reads rows as a stream
        assert np.abs(found - expected).max() > 1e-4
    else:
        np.testing.assert_allclose(found, expected, atol=1e-6)
