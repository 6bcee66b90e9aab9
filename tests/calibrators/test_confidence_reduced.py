"""A binary map of the largest probability."""

import numpy as np
import pytest
from scipy.special import softmax

from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._steps.histogram import HistogramCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._wrappers.reductions import ConfidenceReducedCalibrator
from veridical.exceptions import InvalidInputError


def test_top_class_gets_the_map_and_the_rest_keeps_proportions(multiclass):
    p, y, w = multiclass.p, multiclass.y, multiclass.w
    got = ConfidenceReducedCalibrator(IsotonicCalibrator()).fit(p, y, w).predict_proba(p)
    top, n = p.argmax(axis=1), np.arange(len(p))
    binary = IsotonicCalibrator().fit(p.max(axis=1), (top == y).astype(int), w)
    confidence = binary.predict_proba(p.max(axis=1))[:, 1]
    np.testing.assert_allclose(got[n, top], confidence, atol=1e-12)
    np.testing.assert_allclose(got.sum(axis=1), 1, atol=1e-12)
    for row, after, t in zip(p, got, top, strict=True):
        others = np.delete(row, t)
        if others.sum() > 0:
            expected = (1 - after[t]) * others / others.sum()
            np.testing.assert_allclose(np.delete(after, t), expected, atol=1e-12)


def test_order_of_other_classes_is_kept():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(6, 0.5), 500)
    y = rng.integers(0, 6, 500)
    got = ConfidenceReducedCalibrator(PlattCalibrator()).fit(p, y).predict_proba(p)
    for row, after in zip(p, got, strict=True):
        others = np.delete(np.arange(6), row.argmax())
        assert (np.argsort(row[others]) == np.argsort(after[others])).all()


def test_top_class_may_lose_its_place():
    # Right in 1 of 5 rows that say 0.6: 0.2 is left, and the second class gets 3/4 of 0.8.
    p = np.array([[0.6, 0.3, 0.1]] * 5)
    calibrator = ConfidenceReducedCalibrator(HistogramCalibrator(laplace=0))
    got = calibrator.fit(p, [0, 1, 1, 1, 2]).predict_proba(p[:1])
    np.testing.assert_allclose(got, [[0.2, 0.6, 0.2]], atol=1e-12)
    assert calibrator.predict(p[:1]).tolist() == [1]


def test_certain_rows_share_the_rest_equally():
    p = np.array([[1.0, 0.0, 0.0]] * 4)
    got = ConfidenceReducedCalibrator(IsotonicCalibrator(laplace=0)).fit(p, [0, 0, 0, 1])
    np.testing.assert_allclose(got.predict_proba(p[:1]), [[0.75, 0.125, 0.125]])


def test_tiny_other_probabilities_keep_proportions():
    p = np.array([[1.0, 3e-310, 1e-310]] * 4)
    got = ConfidenceReducedCalibrator(IsotonicCalibrator(laplace=0)).fit(p, [0, 0, 0, 1])
    np.testing.assert_allclose(got.predict_proba(p[:1]), [[0.75, 0.1875, 0.0625]], rtol=1e-9)


def test_saturated_logits_keep_proportions_and_order():
    # Softmax would round the others to zero; their shares are e : 1.
    z = np.array([[900.0, 1.0, 0.0]] * 4)
    got = ConfidenceReducedCalibrator(IsotonicCalibrator(laplace=0), input="logit")
    others = softmax([1.0, 0.0]) / 4
    np.testing.assert_allclose(
        got.fit(z, [0, 0, 0, 1]).predict_proba(z[:1]), [[0.75, *others]], rtol=1e-12
    )


def test_two_classes_are_folded():
    # 0.9 for class 1 and 0.1 for it are both a confidence of 0.9, right in 3 of 4 rows.
    p, y = [0.9, 0.9, 0.1, 0.1], [1, 1, 0, 1]
    got = ConfidenceReducedCalibrator(IsotonicCalibrator(laplace=0)).fit(p, y)
    np.testing.assert_allclose(got.predict_proba([0.9, 0.1]), [[0.25, 0.75], [0.75, 0.25]])


def test_scores_have_no_confidence(multiclass):
    calibrator = ConfidenceReducedCalibrator(PlattCalibrator(), input="score")
    with pytest.raises(InvalidInputError, match="input"):
        calibrator.fit(multiclass.p, multiclass.y)
