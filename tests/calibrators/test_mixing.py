"""Mixing with the uniform distribution."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from veridical.calibrators import IdentityCalibrator
from veridical.calibrators._base.folds import folds
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._softmax.temperature import TemperatureCalibrator
from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._wrappers.mixtures import MixingCalibrator, best_mix
from veridical.exceptions import InvalidInputError


@pytest.mark.parametrize("mix", [0, 0.1, 1])
def test_given_share(mix, multiclass):
    plain = TemperatureCalibrator().fit(multiclass.p, multiclass.y).predict_proba(multiclass.p)
    mixed = MixingCalibrator(TemperatureCalibrator(), mix=mix).fit(multiclass.p, multiclass.y)
    expected = (1 - mix) * plain + mix / 3
    np.testing.assert_allclose(mixed.predict_proba(multiclass.p), expected, atol=1e-15)


def test_best_share_against_a_general_minimiser():
    rng = np.random.default_rng(0)
    given = np.where(rng.random(300) < 0.2, rng.beta(1, 30, 300), rng.beta(9, 1, 300))
    weight = rng.uniform(0.2, 3, 300)

    def loss(m):
        return -weight @ np.log((1 - m) * given + m / 4)

    found = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    assert 0.01 < found.x < 0.99
    assert best_mix(given, weight, 4) == pytest.approx(found.x, abs=1e-6)


def test_best_share_in_closed_form():
    # A quarter of sure predictions fails; K = 4: 1 - m + m / 4 = 3 / 4.
    assert best_mix(np.array([1.0, 1, 1, 0]), np.ones(4), 4) == pytest.approx(1 / 3, abs=1e-12)
    assert best_mix(np.array([0.9, 0.8]), np.ones(2), 2) == 0  # never too sure
    assert best_mix(np.array([0.1, 0.2]), np.ones(2), 2) == 1  # wrong way round
    assert best_mix(np.zeros(3), np.ones(3), 3) == 1
    assert best_mix(np.full(3, 0.5), np.ones(3), 2) == 0  # makes no difference


def test_finds_the_share_of_labels_replaced_at_random():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(3, 0.3), 30_000)
    y = (rng.random(len(p))[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    noisy = np.where(rng.random(len(p)) < 0.2, rng.integers(0, 3, len(p)), y)
    assert MixingCalibrator(IdentityCalibrator()).fit(p, noisy).mix_ == pytest.approx(0.2, abs=0.01)


def test_flexible_maps_are_judged_on_held_out_rows():
    # Fitted and judged on the same rows, isotonic maps never give 0 to what happened: no mixing.
    rng = np.random.default_rng(2)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    plain = IsotonicCalibrator(laplace=0)
    same_rows = plain.fit(p, y).predict_proba(p)[np.arange(300), y]
    assert best_mix(same_rows, np.ones(300), 2) == 0
    assert MixingCalibrator(IsotonicCalibrator(laplace=0)).fit(p, y).mix_ > 0.005


def rows(values, y, weight=None, weight_type="importance"):
    return CheckedRows(np.asarray(values), np.asarray(y), weight, weight_type, (0, 1))


def test_folds_hold_out_every_row_once():
    p, y = np.random.default_rng(3).random(23), np.arange(23) % 2
    held = []
    for kept, out in folds(rows(p, y), 5):
        assert len(kept.y) + len(out.y) == 23
        assert not set(kept.values) & set(out.values)
        assert {4, 5} >= {len(out.y)}
        held.extend(out.values)
    assert sorted(held) == sorted(p)


def test_folds_of_frequencies_are_those_of_repetitions():
    p, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1])
    times = np.array([1.0, 5.0, 2.0, 3.0])
    repeated = folds(rows(np.repeat(p, times.astype(int)), np.repeat(y, times.astype(int))), 3)
    weighted = folds(rows(p, y, times, "frequency"), 3)
    for copies, parts in zip(repeated, weighted, strict=True):
        for copy, part in zip(copies, parts, strict=True):
            values, counts = np.unique(copy.values, return_counts=True)
            order = np.argsort(part.values)
            np.testing.assert_array_equal(part.values[order], values)
            np.testing.assert_array_equal(part.weight[order], counts)


def test_too_few_rows_to_hold_any_out():
    one = MixingCalibrator(IdentityCalibrator()).fit([0.8], [1])
    assert one.mix_ == 0  # the only row spoke for the prediction
    assert MixingCalibrator(IdentityCalibrator()).fit([0.8], [0]).mix_ == 1


def test_folds_that_cannot_be_fitted_are_left_out():
    # Without a penalty Platt scaling needs both classes: the fold that holds out the only 1 fails.
    plain = PlattCalibrator(penalty=None, smooth_targets=False)
    p, y = np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7]), np.array([0, 0, 1, 0, 0, 0])
    assert 0 <= MixingCalibrator(plain, cv=6).fit(p, y).mix_ <= 1


@pytest.mark.parametrize("mix", [-0.1, 1.1, "auto", None, True, np.nan])
def test_share_is_checked(mix, binary):
    with pytest.raises(InvalidInputError, match="mix"):
        MixingCalibrator(IdentityCalibrator(), mix=mix).fit(binary.p, binary.y)


@pytest.mark.parametrize("cv", [1, 2.5, None, True])
def test_folds_are_checked(cv, binary):
    with pytest.raises(InvalidInputError, match="cv"):
        MixingCalibrator(IdentityCalibrator(), cv=cv).fit(binary.p, binary.y)
