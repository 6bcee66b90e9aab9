"""What recalibration gains: closed forms, hand-made folds and known truths."""

import numpy as np
import pytest

from veridical import InvalidInputError, null_level
from veridical.calibrators import (
    BetaCalibrator,
    IdentityCalibrator,
    PlattCalibrator,
    StructuredMatrixCalibrator,
    TemperatureCalibrator,
)
from veridical.calibrators._base.folds import held_out_masses
from veridical.calibrators._base.rows import CheckedRows
from veridical.miscalibration._errors.recalibration import RecalibrationError


def entropy(q):
    return -(q * np.log(q) + (1 - q) * np.log(1 - q))


def test_gain_approaches_the_divergence():
    """Says 0.9, is right 3/4 of the time: KL((3/4, 1/4), (0.9, 0.1))."""
    y = np.tile([1, 1, 1, 0, 0, 0, 0, 1], 2500)
    p = np.tile([0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1], 2500)
    truth = -(0.75 * np.log(0.9) + 0.25 * np.log(0.1)) - entropy(0.75)
    assert RecalibrationError()(y, p) == pytest.approx(truth, abs=2e-3)
    brier = 0.75 * 0.01 + 0.25 * 0.81 - 0.1875
    assert RecalibrationError(rule="brier")(y, p) == pytest.approx(brier, abs=1e-3)


def test_leaving_the_model_alone_gains_nothing(binary, multiclass):
    assert RecalibrationError(IdentityCalibrator())(binary.y, binary.p) == 0
    for lens in ("confidence", "classwise"):
        error = RecalibrationError(IdentityCalibrator())
        assert error(multiclass.y, multiclass.p, lens=lens) == pytest.approx(0, abs=1e-12)


def test_temperature_is_recovered_for_vectors():
    rng = np.random.default_rng(0)
    z = 1.5 * rng.standard_normal((4000, 4))
    truth = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (rng.random(4000)[:, None] >= truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    sharp = np.exp(2 * z) / np.exp(2 * z).sum(axis=1, keepdims=True)
    expected = np.mean(np.log(truth[np.arange(4000), y]) - np.log(sharp[np.arange(4000), y]))
    for calibrator in (TemperatureCalibrator(), StructuredMatrixCalibrator(), None):
        found = RecalibrationError(calibrator)(y, sharp, lens="canonical")
        assert found == pytest.approx(expected, abs=0.01)
        assert found <= expected + 0.005  # a lower bound, but for noise


def test_it_is_the_mean_over_held_out_folds_corrected_to_all_rows(binary):
    """Refit by hand with the folds of the library: 4/5 held out and 1/5 of hindsight, for k = 3."""
    y, p = binary.y, binary.p
    rows = CheckedRows(p, y, None, "importance", (0, 1))
    fold = np.array(list(held_out_masses(rows, 3))).argmax(axis=0)
    assert sorted(np.unique(fold, return_counts=True)[1].tolist()) == [200, 200, 200]
    q = np.empty(len(p))
    for k in range(3):
        held = fold == k
        q[held] = PlattCalibrator().fit(p[~held], y[~held]).predict_proba(p[held])[:, 1]
    own = PlattCalibrator().fit(p, y).predict_proba(p)[:, 1]
    one, two = (
        np.mean(np.where(y == 1, np.log(r) - np.log(p), np.log(1 - r) - np.log(1 - p)))
        for r in (q, own)
    )
    by_hand = one + (two - one) / 5
    assert RecalibrationError(PlattCalibrator(), cv=3)(y, p) == pytest.approx(by_hand, rel=1e-9)


def test_it_is_the_gain_of_the_map_fitted_to_all_rows():
    """Unbiased: against the population gain of each fitted map, known because the law is."""
    rng = np.random.default_rng(7)
    new = rng.random(4000)
    errors = []
    for _ in range(200):
        p = rng.random(100)
        y = (rng.random(100) < p).astype(int)
        q = BetaCalibrator().fit(p, y).predict_proba(new)[:, 1]
        gain = np.mean(new * np.log(q / new) + (1 - new) * np.log((1 - q) / (1 - new)))
        errors.append(RecalibrationError()(y, p) - gain)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(200)


def test_a_calibrated_model_reads_about_zero_or_below():
    rng = np.random.default_rng(1)
    read = []
    for _ in range(40):
        p = rng.random(300)
        read.append(RecalibrationError()(rng.random(300) < p, p))
    assert -0.02 < np.mean(read) < 0.001
    level = null_level(RecalibrationError(), rng.random(300) < p, p, n_resamples=20, rng=0)
    assert abs(level.mean - np.mean(read)) < 4 * np.std(read) / np.sqrt(20)


def test_classwise_is_the_mean_over_classes(multiclass):
    from veridical import ClassSpecific

    y, p = multiclass.y, np.clip(multiclass.p, 0.01, None)
    p = p / p.sum(axis=1, keepdims=True)
    error = RecalibrationError()
    each = [error(y, p, lens=ClassSpecific(k)) for k in range(3)]
    assert error(y, p, lens="classwise") == pytest.approx(np.mean(each), rel=1e-12)


def test_order_labels_and_scale_of_weights_do_not_matter(binary):
    y, p, w = binary.y, binary.p, binary.w
    error = RecalibrationError()
    plain = error(y, p, sample_weight=w)
    mixed = np.random.default_rng(0).permutation(len(y))
    assert error(y[mixed], p[mixed], sample_weight=w[mixed]) == pytest.approx(plain, rel=1e-9)
    assert error(y, p, sample_weight=5 * w) == pytest.approx(plain, rel=1e-9)
    names = np.array(["no", "yes"])[y]
    assert error(names, p, sample_weight=w) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "what"),
    [({"cv": 1}, "cv"), ({"cv": 2.5}, "cv"), ({"rule": "logg"}, "rule"),
     ({"calibrator": 3}, "calibrator")],
)  # fmt: skip
def test_bad_options_are_refused(options, what):
    with pytest.raises(InvalidInputError, match=f"`{what}`"):
        RecalibrationError(**options)


def test_too_few_rows_are_refused():
    with pytest.raises(InvalidInputError, match="fewer folds"):
        RecalibrationError()([0, 1, 0], [0.1, 0.9, 0.2])
