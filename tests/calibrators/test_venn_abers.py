"""Venn-Abers predictors against two isotonic fits for every prediction."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from veridical.calibrators._steps.venn_abers import VennAbersCalibrator
from veridical.exceptions import InvalidInputError


def refitted(p, y, w, score):
    """Isotonic value at the score after adding it with outcome 0 and with outcome 1."""
    both = []
    for outcome in (0, 1):
        fit = IsotonicRegression().fit(
            np.append(p, score), np.append(y, outcome), sample_weight=np.append(w, 1.0)
        )
        both.append(fit.predict([score])[0])
    return both


def rows(n, seed, *, tied=False):
    rng = np.random.default_rng([seed, n])
    p = rng.integers(0, 9, n) / 8 if tied else rng.random(n)
    return p, (rng.random(n) < p).astype(int), rng


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 30, 120])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equals_two_isotonic_fits(tied, n, seed):
    p, y, rng = rows(n, seed, tied=tied)
    new = np.concatenate([rng.random(12), p[:12], [0.0, 1.0]])
    got = VennAbersCalibrator(labels=[0, 1]).fit(p, y).predict_interval(new)
    expected = [refitted(p, y, np.ones(n), s) for s in new]
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_frequency_weights_count_rows_beside_the_new_one():
    p, y, rng = rows(40, 3)
    w = rng.integers(1, 5, 40)
    got = VennAbersCalibrator(weight_type="frequency").fit(p, y, w).predict_interval(p)
    np.testing.assert_allclose(got, [refitted(p, y, w, s) for s in p], atol=1e-12)


def test_importance_weights_are_scaled_to_the_effective_size():
    p, y, rng = rows(40, 4)
    w = rng.gamma(0.5, size=40)
    scaled = w * w.sum() / (w @ w)  # sums to (sum w)^2 / sum w^2
    got = VennAbersCalibrator().fit(p, y, 1000 * w).predict_interval(p)
    np.testing.assert_allclose(got, [refitted(p, y, scaled, s) for s in p], atol=1e-9)


def test_point_is_the_minimax_of_the_interval():
    p, y, _ = rows(50, 5)
    calibrator = VennAbersCalibrator().fit(p, y)
    low, high = calibrator.predict_interval(p).T
    assert (low < high).all()
    np.testing.assert_allclose(calibrator.predict_proba(p)[:, 1], high / (1 - low + high))


def test_folds_are_merged_by_geometric_means():
    p, y, _ = rows(31, 6)
    order = sorted(range(31), key=lambda i: p[i])
    new = np.linspace(0, 1, 21)
    folds = [np.array(order[k::3]) for k in range(3)]
    each = np.array(
        [[refitted(p[part], y[part], np.ones(len(part)), s) for s in new] for part in folds]
    )
    up = np.prod(each[:, :, 1], axis=0) ** (1 / 3)
    down = np.prod(1 - each[:, :, 0], axis=0) ** (1 / 3)
    calibrator = VennAbersCalibrator(cv=3).fit(p, y)
    np.testing.assert_allclose(calibrator.predict_proba(new)[:, 1], up / (down + up), atol=1e-12)
    expected = np.column_stack([1 - down, up])
    np.testing.assert_allclose(calibrator.predict_interval(new), expected, atol=1e-12)


def test_many_rows_are_looked_up_like_few():
    p, y, rng = rows(3000, 7)
    calibrator = VennAbersCalibrator().fit(p, y)
    new = np.concatenate([rng.random(80_000), p])
    each = np.concatenate([calibrator.predict_interval(part) for part in np.array_split(new, 9)])
    np.testing.assert_array_equal(calibrator.predict_interval(new), each)


def test_separated_classes_are_never_certain():
    calibrator = VennAbersCalibrator().fit([0.0, 0.1, 0.9, 1.0], [0, 0, 1, 1])
    got = calibrator.predict_proba([0.0, 0.5, 1.0])[:, 1]
    # With (1, 1) added p1 = 1; with (1, 0) the block of 0.9, 1 and the new row has 2/3 ones.
    assert 0 < got[0] < got[1] < got[2] < 1
    assert got[1] == 0.5
    assert got[2] == pytest.approx(1 / (1 - 2 / 3 + 1))


def test_interval_belongs_to_the_larger_label_wherever_its_column_is():
    p, y, _ = rows(30, 8)
    plain = VennAbersCalibrator().fit(p, y).predict_interval(p)
    pairs = np.column_stack([p, 1 - p])
    turned = VennAbersCalibrator(labels=[1, 0]).fit(pairs, y)
    np.testing.assert_allclose(turned.predict_interval(pairs), plain)


@pytest.mark.parametrize(("cv", "message"), [(1, "integer of 2"), (9, "at most n"), ("5", "`cv`")])
def test_bad_folds_are_refused(cv, message):
    with pytest.raises(InvalidInputError, match=message):
        VennAbersCalibrator(cv=cv).fit([0.2, 0.8, 0.5], [0, 1, 1])


def test_interval_passes_the_border_too():
    calibrator = VennAbersCalibrator().fit([0.2, 0.8], [0, 1])
    with pytest.raises(InvalidInputError, match="VennAbersCalibrator: `y_prob`"):
        calibrator.predict_interval([1.5])
    with pytest.raises(InvalidInputError, match="fitted"):
        VennAbersCalibrator().predict_interval([0.5])
