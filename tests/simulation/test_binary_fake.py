"""Binary fake classifier: closed forms, integrals and samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from veridical.exceptions import InvalidInputError
from veridical.simulation._fakes.binary import BetaScores, BinaryFakeClassifier, HistogramScores

SQUARE = BinaryFakeClassifier(BetaScores(1, 1), np.square)


def test_square_of_a_uniform_score_by_hand():
    assert SQUARE.expected_calibration_error().value == pytest.approx(1 / 6, abs=1e-9)
    # E (s - s^2)^2 = 1/3 - 2/4 + 1/5 = 1/30
    assert SQUARE.expected_calibration_error(norm=2).value == pytest.approx(30**-0.5, abs=1e-9)
    assert SQUARE.base_rate().value == pytest.approx(1 / 3, abs=1e-9)
    # Above 1/2 right with s^2: 7/24; below with 1 - s^2: 11/24.
    assert SQUARE.accuracy().value == pytest.approx(18 / 24, abs=1e-9)
    assert SQUARE.mean_confidence().value == pytest.approx(0.75, abs=1e-9)
    # Confidence z in [1/2, 1]: right with (z^2 + 1 - (1 - z)^2) / 2 = z. Confidence-calibrated!
    assert SQUARE.confidence_error().value == pytest.approx(0.0, abs=1e-6)


def test_confidence_error_folds_scores_and_their_complements():
    # r = 1/2 everywhere: P(right | z) = 1/2, so E|1/2 - z| with z uniform on [1/2, 1] = 1/4.
    coin = BinaryFakeClassifier(BetaScores(1, 1), lambda s: np.full_like(s, 0.5))
    assert coin.confidence_error().value == pytest.approx(0.25, abs=1e-8)


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.6), (2.0, 5.0)])
def test_beta_scores_with_a_crossing_curve_against_quadrature(a, b):
    def curve(s):
        return 0.2 + 0.6 * s

    fake = BinaryFakeClassifier(BetaScores(a, b), curve)

    def integrand(s):
        return abs(curve(s) - s) * beta.pdf(s, a, b)

    expected = quad(integrand, 0, 0.5)[0] + quad(integrand, 0.5, 1)[0]
    figure = fake.expected_calibration_error()
    assert figure.value == pytest.approx(expected, abs=1e-6)
    assert figure.method == "quadrature"


def test_histogram_scores_by_hand():
    # Mass 1/4 on [0, 1/2] and 3/4 on [1/2, 1]: E s = (1/4 + 3 * 3/4) / 4 = 5/8.
    identity = BinaryFakeClassifier(HistogramScores([1, 3]), lambda s: s)
    assert identity.base_rate().value == pytest.approx(5 / 8, abs=1e-12)
    assert identity.expected_calibration_error().value == 0.0
    assert identity.accuracy().value == pytest.approx(0.75, abs=1e-9)
    narrow = BinaryFakeClassifier(HistogramScores([1], edges=[0.2, 0.4]), lambda s: 0 * s + 0.5)
    assert narrow.expected_calibration_error().value == pytest.approx(0.2, abs=1e-12)


def test_any_density_is_tabulated():
    law = HistogramScores.from_density(lambda s: 6 * s * (1 - s))  # Beta(2, 2)
    fake = BinaryFakeClassifier(law, np.square)
    # E s^2 = 1/4 + 1/20 for Beta(2, 2).
    assert fake.base_rate().value == pytest.approx(0.3, abs=1e-6)
    assert fake.expected_calibration_error().value == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize("law", [BetaScores(0.5, 2.0), HistogramScores([1, 0, 2, 5])])
def test_samples_follow_law_and_curve(law):
    fake = BinaryFakeClassifier(law, np.sqrt)
    sample = fake.sample(100_000, rng=4)
    assert sample.y_prob.shape == sample.p_true.shape == sample.y.shape
    np.testing.assert_array_equal(sample.p_true, np.sqrt(sample.y_prob))
    tolerance = 4 * 0.5 / np.sqrt(100_000)
    assert sample.y.mean() == pytest.approx(fake.base_rate().value, abs=tolerance)
    ece = np.abs(sample.p_true - sample.y_prob).mean()
    assert ece == pytest.approx(fake.expected_calibration_error().value, abs=0.003)
    right = (sample.y_prob > 0.5) == (sample.y == 1)
    assert right.mean() == pytest.approx(fake.accuracy().value, abs=tolerance)
    np.testing.assert_array_equal(fake.sample(9, rng=1).y_prob, fake.sample(9, rng=1).y_prob)


@pytest.mark.parametrize(
    ("make", "param"),
    [
        (lambda: BetaScores(0, 1), "a"),
        (lambda: BetaScores(1, np.inf), "b"),
        (lambda: HistogramScores([]), "mass"),
        (lambda: HistogramScores([0, 0]), "mass"),
        (lambda: HistogramScores([1, -1]), "mass"),
        (lambda: HistogramScores([1, 1], edges=[0, 1]), "edges"),
        (lambda: HistogramScores([1, 1], edges=[0, 0.7, 0.6]), "edges"),
        (lambda: HistogramScores([1], edges=[0.5, 1.5]), "edges"),
        (lambda: HistogramScores.from_density(np.square, n_bins=0), "n_bins"),
        (lambda: HistogramScores.from_density(lambda s: s - 0.5), "mass"),
        (lambda: BinaryFakeClassifier("beta", np.square), "scores"),
        (lambda: BinaryFakeClassifier(BetaScores(), 0.5), "curve"),
        (lambda: BinaryFakeClassifier(BetaScores(), lambda s: 2 * s).base_rate(), "curve"),
        (lambda: BinaryFakeClassifier(BetaScores(), lambda s: 0.5).sample(3), "curve"),
        (lambda: SQUARE.expected_calibration_error(norm=3), "norm"),
        (lambda: SQUARE.sample(-1), "n"),
    ],
)
def test_bad_input_is_named(make, param):
    with pytest.raises(InvalidInputError, match=f"`{param}` must be"):
        make()
