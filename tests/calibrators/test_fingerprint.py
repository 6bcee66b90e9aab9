"""Calibrators know the rows again that they were fitted on."""

import base64
import hashlib
import json
import math

import numpy as np
import pytest

from veridical._core import loops
from veridical.calibrators import IdentityCalibrator, NotFittedError
from veridical.calibrators._base import memory
from veridical.calibrators._base.memory import (
    KEYS,
    Fingerprint,
    _row_numbers,
    overlap_note,
    take_fingerprint,
)
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._wrappers.reductions import OneVsRestCalibrator
from veridical.exceptions import InvalidInputError


def rows(n, seed=0):
    rng = np.random.default_rng([seed, n])
    p = rng.random(n)
    return p, (rng.random(n) < p).astype(int)


@pytest.mark.parametrize("n", [10, KEYS, 20_000])
def test_same_rows_and_new_rows(n):
    p, y = rows(n)
    calibrator = PlattCalibrator().fit(p, y)
    assert calibrator.seen(p, y) == 1
    assert calibrator.seen(*rows(n, seed=1)) == pytest.approx(0, abs=0.01)
    assert calibrator.fingerprint_.rows == n


@pytest.mark.parametrize("n", [900, 50_000])
def test_share_of_a_mixture(n):
    p, y = rows(n)
    new, labels = rows(n, seed=1)
    calibrator = PlattCalibrator().fit(p, y)
    third = n // 3
    got = calibrator.seen(np.append(p[:third], new[third:]), np.append(y[:third], labels[third:]))
    # Exact for few rows; else a share of about 1,024 rows looked up, with its binomial error.
    error = 0 if n < KEYS else 4 * math.sqrt(2 / 9 / KEYS)
    assert got == pytest.approx(1 / 3, abs=max(error, 0.003))


def test_order_precision_and_form_do_not_matter():
    p, y = rows(500)
    calibrator = PlattCalibrator().fit(p, y)
    order = np.random.default_rng(1).permutation(500)
    assert calibrator.seen(p[order], y[order]) == 1
    assert calibrator.seen(p.astype(np.float32), y) == 1
    assert calibrator.seen(p[:, None], y == 1) == 1
    assert calibrator.seen(np.column_stack([1 - p, p]), y.astype(float)) == 1
    assert calibrator.seen(p.round(3), y) == 0
    assert calibrator.seen(p, 1 - y) == 0
    assert calibrator.seen(p[:5], y[:5]) == 1


def test_logits_and_labels_in_another_order():
    p, y = rows(500)
    z = np.log(p / (1 - p))
    names = np.array(["no", "yes"])[y]
    labels = {"labels": ["yes", "no"], "pos_label": "yes"}
    calibrator = PlattCalibrator(input="logit", **labels).fit(z, names)
    assert calibrator.seen(z, names) == 1
    assert calibrator.seen(np.column_stack([z, np.zeros(500)]), names) == 1
    assert calibrator.seen(-z, names) < 0.01


def test_rows_of_weight_zero_were_not_fitted_on():
    p, y = rows(300)
    w = np.where(np.arange(300) < 100, 0.0, 2.0)
    calibrator = PlattCalibrator().fit(p, y, w)
    assert calibrator.seen(p[:100], y[:100]) == 0
    assert calibrator.seen(p, y) == pytest.approx(2 / 3)


def test_coincidences_are_not_taken_for_fitted_rows():
    # On a grid of 101 values most new rows have a double; the estimate allows for it.
    rng = np.random.default_rng(4)
    p, new = rng.random(150).round(2), rng.random(4000).round(2)
    y, labels = (rng.random(150) < p).astype(int), (rng.random(4000) < new).astype(int)
    calibrator = PlattCalibrator().fit(p, y)
    raw = np.isin(2 * new + 1000 * labels, 2 * p + 1000 * y).mean()
    assert raw > 0.5
    assert calibrator.seen(new, labels) < 0.15
    assert overlap_note(calibrator, new, labels) is None
    assert overlap_note(calibrator, p, y) is not None


def test_nothing_can_be_said_if_every_row_has_a_double():
    p, y = rows(200)
    calibrator = PlattCalibrator().fit(np.tile(p, 2), np.tile(y, 2))
    assert math.isnan(calibrator.seen(p, y))
    assert overlap_note(calibrator, p, y) is None


def test_note():
    p, y = rows(2000)
    calibrator = PlattCalibrator().fit(p, y)
    assert overlap_note(calibrator, p, y).startswith("all of these rows were used to fit")
    new, labels = rows(2000, seed=1)
    assert overlap_note(calibrator, new, labels) is None
    part = overlap_note(calibrator, np.append(p[:500], new), np.append(y[:500], labels))
    assert 0.15 < float(part.split("%")[0]) / 100 < 0.25  # 500 of 2,500


@pytest.mark.parametrize("seed", range(40))
def test_no_false_alarm(seed):
    # Coarse predictions, the hardest case: 40 pairs of samples of the same model.
    rng = np.random.default_rng(seed)
    digits = 2 + seed % 3
    p, new = rng.beta(1, 3, 300).round(digits), rng.beta(1, 3, 300).round(digits)
    y, labels = (rng.random(300) < p).astype(int), (rng.random(300) < new).astype(int)
    assert overlap_note(IdentityCalibrator().fit(p, y), new, labels) is None


def test_opting_out():
    p, y = rows(50)
    calibrator = PlattCalibrator().fit(p, y)
    before = calibrator.predict_proba(p)
    calibrator.forget()
    calibrator.forget()  # nothing left to forget
    np.testing.assert_array_equal(calibrator.predict_proba(p), before)
    with pytest.raises(InvalidInputError, match="with a fingerprint"):
        calibrator.seen(p, y)
    assert overlap_note(calibrator, p, y) is None
    never = PlattCalibrator()
    never.keeps_fingerprint = False
    assert not hasattr(never.fit(p, y), "fingerprint_")
    assert hasattr(PlattCalibrator().fit(p, y), "fingerprint_")


def test_refusing_after_a_fit_drops_the_old_fingerprint():
    p, y = rows(50)
    calibrator = PlattCalibrator().fit(p, y)
    calibrator.keeps_fingerprint = False
    assert not hasattr(calibrator.fit(p[:20], y[:20]), "fingerprint_")


def test_parts_of_a_wrapper_keep_none(multiclass):
    wrapper = OneVsRestCalibrator(PlattCalibrator()).fit(multiclass.p, multiclass.y)
    assert hasattr(wrapper, "fingerprint_")
    assert not any(hasattr(part, "fingerprint_") for part in wrapper.parts_)


def test_errors():
    p, y = rows(50)
    with pytest.raises(NotFittedError):
        PlattCalibrator().seen(p, y)
    calibrator = PlattCalibrator().fit(p, y)
    with pytest.raises(InvalidInputError, match="of 2 classes"):
        calibrator.seen(np.full((50, 4), 0.25), y)
    with pytest.raises(InvalidInputError, match="as long as"):
        calibrator.seen(p[:-1], y)


def test_equal_fits_are_equal_and_others_share_no_digest():
    p, y = rows(3000)
    order = np.random.default_rng(1).permutation(3000)
    first, again = take_fingerprint(p, y), take_fingerprint(p[order], y[order])
    assert first == again
    other = take_fingerprint(p[1:], y[1:])  # nearly the same rows
    assert not digests(first) & digests(other)


def digests(fingerprint):
    raw = base64.b64decode(fingerprint.digests)
    return {raw[i : i + 6] for i in range(0, len(raw), 6)}


def test_storage_is_bounded_and_plain():
    fingerprint = take_fingerprint(*rows(100_000))
    text = json.dumps(fingerprint.to_dict())
    assert len(text) < 10_000
    assert Fingerprint(**json.loads(text)) == fingerprint
    assert len(digests(fingerprint)) == KEYS


def test_keeps_the_smallest_numbers_with_their_repetitions():
    rng = np.random.default_rng(6)
    p, y = np.repeat(rng.random(30_000), rng.integers(1, 4, 30_000)), 0
    y = np.zeros(len(p), dtype=int)
    numbers, counts = np.unique(_row_numbers(p, y), return_counts=True)
    got = take_fingerprint(p, y)
    assert got.limit == numbers[KEYS - 1]
    assert got.kept_rows == counts[:KEYS].sum()
    assert got.singles == (counts[:KEYS] == 1).sum()


def test_row_numbers_are_uniform_and_distinct():
    # Predictions that differ in the last bits only, and rows that are permutations of each other.
    p = np.float32(0.3) + np.arange(100_000, dtype=np.float32) * np.float32(2**-25)
    p = np.unique(p)
    numbers = _row_numbers(p, np.zeros(len(p), dtype=int))
    assert len(np.unique(numbers)) == len(p)
    share = numbers / 2.0**64
    sizes = np.bincount((share * 64).astype(int), minlength=64)
    expected = len(p) / 64
    assert ((sizes - expected) ** 2 / expected).sum() < 130  # chi-squared, 63 degrees: p = 1e-6
    swapped = _row_numbers(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]), np.zeros(2, dtype=int))
    assert swapped[0] != swapped[1]
    assert _row_numbers(np.array([-0.0]), np.array([0])) == _row_numbers(
        np.array([0.0]), np.array([0])
    )


def test_huge_scores_do_no_harm():
    z = np.array([-1e300, 0.0, 1e300, 5.0])
    y = np.array([0, 1, 1, 0])
    calibrator = IdentityCalibrator(input="logit").fit(z, y)
    assert calibrator.seen(z, y) == 1


def test_compiled_digests_are_those_of_the_standard_library(monkeypatch):
    if loops.library() is None:
        pytest.skip("not compiled")
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 1 << 64, 300, dtype=np.uint64)
    numbers[:3] = 0, 1, (1 << 64) - 1
    for size in (1, 6, 8):
        key = rng.bytes(16)
        each = (int(number).to_bytes(8, "little") for number in numbers)
        expected = b"".join(
            hashlib.blake2b(one, digest_size=size, key=key).digest() for one in each
        )
        assert loops.keyed_digests(numbers, key, size) == expected
    p = rng.random(2000)
    compiled = memory.take_fingerprint(p, (p > 0.4).astype(int))
    monkeypatch.setattr(memory, "keyed_digests", lambda *_: None)
    assert memory.take_fingerprint(p, (p > 0.4).astype(int)) == compiled
