"""Isotonic maps against scikit-learn, the min-max formula and hand computation."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

from veridical._core.numeric.pava import isotonic_blocks
from veridical._core.sample import pool_scores
from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._steps.pieces import pool_rows
from veridical.exceptions import InvalidInputError
from veridical.miscalibration import expected_calibration_error


def rows(n, seed, kind):
    rng = np.random.default_rng([seed, n])
    p = rng.integers(0, 9, n) / 8 if "tied" in kind else rng.random(n)
    y = (rng.random(n) < 0.2 + 0.6 * p**2).astype(int)
    y[:2] = 0, 1
    return p, y, rng.gamma(0.6, size=n) if "weighted" in kind else None


def positive(calibrator, p):
    return calibrator.predict_proba(p)[:, 1]


@pytest.mark.parametrize("kind", ["plain", "tied", "weighted", "tied weighted"])
@pytest.mark.parametrize("n", [2, 7, 60, 500])
def test_equals_scikit_learn(kind, n):
    p, y, w = rows(n, 1, kind)
    new = np.linspace(0, 1, 201)
    expected = IsotonicRegression(out_of_bounds="clip").fit(p, y, sample_weight=w).predict(new)
    got = positive(IsotonicCalibrator(laplace=0).fit(p, y, w), new)
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["plain", "tied weighted"])
def test_is_the_largest_of_the_smallest_means(kind):
    p, y, w = rows(30, 2, kind)
    w = np.ones(30) if w is None else w
    values = np.unique(p)
    hits = [(w * y)[p == v].sum() for v in values]
    mass = [w[p == v].sum() for v in values]
    m = len(values)
    expected = [
        max(
            min(sum(hits[a : b + 1]) / sum(mass[a : b + 1]) for b in range(i, m))
            for a in range(i + 1)
        )
        for i in range(m)
    ]
    got = positive(IsotonicCalibrator(laplace=0).fit(p, y, w), values)
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["plain", "tied", "weighted", "tied weighted"])
def test_blocks_are_the_steps_of_the_fit(kind):
    p, y, w = rows(400, 8, kind)
    pooled = pool_scores(p, y, w)
    blocks = isotonic_blocks(pooled.weight, pooled.positive)
    fitted = IsotonicRegression().fit_transform(p, y, sample_weight=w)
    np.testing.assert_allclose(blocks.frequency, np.unique(fitted.round(12)), atol=1e-11)
    weight = np.ones(len(p)) if w is None else w
    each = [weight[np.isclose(fitted, value, atol=1e-11)].sum() for value in blocks.frequency]
    np.testing.assert_allclose(blocks.weight, each)
    assert blocks.start[0] == 0


def test_sorting_packed_numbers_pools_like_sorting_rows():
    rng = np.random.default_rng(9)
    p = np.concatenate([rng.random(500).round(2), [0.0, -0.0, 5e-324, 1.0, 1.0]])
    y = rng.integers(0, 2, len(p))
    got = pool_rows(p, WeightedOutcomes(y, None, float(len(p)), 2))
    expected = pool_scores(p, y, None)
    for name in ("value", "weight", "positive"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))


def test_many_rows_are_looked_up_like_few():
    p, y, _ = rows(4000, 3, "plain")
    calibrator = IsotonicCalibrator().fit(p, y)
    new = np.random.default_rng(0).random(200_000)
    new[:4000] = p
    each = np.concatenate([positive(calibrator, part) for part in np.split(new, 50)])
    np.testing.assert_array_equal(positive(calibrator, new), each)


@pytest.mark.parametrize("centered", [False, True])
def test_strict_map_keeps_the_auc_exactly(centered):
    p, y, _ = rows(3000, 4, "plain")
    p = 0.1 + 0.8 * p  # new scores lie outside too
    new, outcome, _ = rows(5000, 5, "plain")
    strict = positive(IsotonicCalibrator(strict=True, centered=centered).fit(p, y), new)
    assert roc_auc_score(outcome, strict) == roc_auc_score(outcome, new)
    assert len(np.unique(strict)) == len(new)
    assert 0 < strict.min() < strict.max() < 1


def test_plain_map_keeps_the_auc_up_to_ties():
    p, y, _ = rows(3000, 4, "plain")
    new, outcome, _ = rows(5000, 5, "plain")
    plain = positive(IsotonicCalibrator().fit(p, y), new)
    assert (np.diff(plain[np.argsort(new)]) >= 0).all()
    assert len(np.unique(plain)) < len(new)
    assert roc_auc_score(outcome, plain) == pytest.approx(roc_auc_score(outcome, new), abs=0.01)


def test_strict_map_increases_far_outside_the_scores_seen():
    z = np.array([-2.0, -1.0, 1.0, 2.0])
    calibrator = IsotonicCalibrator(strict=True, input="logit").fit(z, [0, 1, 0, 1])
    far = np.array([-1e6, -50.0, -3.0, -2.0, 0.0, 2.0, 3.0, 50.0, 1e6])
    assert (np.diff(positive(calibrator, far)) > 0).all()


def test_strict_map_is_close_to_the_plain_one():
    p, y, _ = rows(1000, 6, "plain")
    strict = positive(IsotonicCalibrator(strict=True, laplace=0).fit(p, y), p)
    plain = positive(IsotonicCalibrator(laplace=0).fit(p, y), p)
    assert np.abs(strict - plain).max() <= 1 / (1 + 1000 ** (2 / 3))


def test_centred_blocks_are_joined_by_lines():
    # Blocks 0 at 0.1, 1/2 at the mean of 0.2 and 0.4, 1 at 0.6.
    calibrator = IsotonicCalibrator(centered=True, laplace=0)
    calibrator.fit([0.1, 0.2, 0.4, 0.6], [0, 1, 0, 1])
    got = positive(calibrator, [0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 1.0])
    np.testing.assert_allclose(got, [0, 0, 0.25, 0.5, 0.75, 1, 1], atol=1e-12)


def test_centred_block_of_weighted_rows_is_at_their_weighted_mean():
    calibrator = IsotonicCalibrator(centered=True, laplace=0)
    calibrator.fit([0.0, 0.2, 0.4, 1.0], [0, 1, 0, 1], [1, 3, 1, 1])
    # The block of weights 3 and 1 has frequency 3/4 and mean score (3 * 0.2 + 0.4) / 4 = 1/4.
    assert positive(calibrator, [0.25])[0] == pytest.approx(0.75)


def test_centred_blocks_of_one_class_keep_their_ends():
    calibrator = IsotonicCalibrator(centered=True, laplace=0)
    calibrator.fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    got = positive(calibrator, [0.1, 0.2, 0.5, 0.8, 0.9])
    np.testing.assert_allclose(got, [0, 0, 0.5, 1, 1], atol=1e-12)


def test_only_the_order_of_scores_matters_at_the_scores():
    p, y, _ = rows(200, 7, "plain")
    by_p = positive(IsotonicCalibrator().fit(p, y), p)
    z = np.log(p / (1 - p))
    by_logit = IsotonicCalibrator(input="logit").fit(z, y).predict_proba(z)[:, 1]
    np.testing.assert_allclose(by_logit, by_p, atol=1e-12)


def test_negative_zero_is_zero():
    calibrator = IsotonicCalibrator(laplace=0).fit([-0.0, 0.0, 0.5], [0, 1, 1])
    assert positive(calibrator, [-0.0, 0.0]).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"laplace": -1}, "`laplace` must be a number of 0 or more"),
        ({"strict": "yes"}, "`strict` must be True or False"),
        ({"centered": 1}, "`centered` must be True or False"),
    ],
)
def test_bad_options_are_refused(option, message):
    with pytest.raises(InvalidInputError, match=message):
        IsotonicCalibrator(**option).fit([0.2, 0.8], [0, 1])


@pytest.mark.slow
def test_worked_demonstration_of_the_chapter():
    """004 section 86.6: ECE with ten bins 0.083 before, 0.023 after; each run varies by 0.008."""
    from sklearn.linear_model import LogisticRegression

    before, after = [], []
    for seed in range(30):
        rng = np.random.default_rng([1301, seed])
        x = rng.normal(size=(9000, 2))
        y = (rng.random(9000) < 1 / (1 + np.exp(0.4 - 1.6 * x[:, 0] + 1.2 * x[:, 1]))).astype(int)
        train, calib, test = np.split(rng.permutation(9000), 3)
        model = LogisticRegression(C=1e6).fit(x[train], y[train])
        p = 1 / (1 + np.exp(-1.8 * model.decision_function(x)))
        calibrator = IsotonicCalibrator().fit(p[calib], y[calib])
        before.append(expected_calibration_error(y[test], p[test], n_bins=10))
        repaired = positive(calibrator, p[test])
        after.append(expected_calibration_error(y[test], repaired, n_bins=10))
    # Four standard errors of a mean of thirty.
    assert np.mean(before) == pytest.approx(0.083, abs=4 * 0.008 / 30**0.5)
    assert np.mean(after) == pytest.approx(0.023, abs=4 * 0.006 / 30**0.5)
