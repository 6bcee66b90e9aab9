"""A sample of evidence/segments.py: level, limits and power of a search over segments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from veridical import audit_segments

pytestmark = pytest.mark.slow
_REPETITIONS = 150


def search(rng, *, shift=0.0, n=400, **options):
    features = {"a": rng.integers(0, 3, n), "b": rng.integers(0, 2, n)}
    p = rng.beta(1, 3, n)
    odd = (features["a"] == 1) & (features["b"] == 1)
    truth = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + shift * odd)))
    y = (rng.random(n) < truth).astype(int)
    audit = audit_segments(y, p, features, min_rows=20, n_resamples=59, rng=rng, **options)
    missed = any(
        not each.low <= truth[inside(each, features)].mean() <= each.high for each in audit.segments
    )
    return audit, missed


def inside(segment, features):
    rows = np.ones(len(features["a"]), dtype=bool)
    for words in segment.values:
        name, value = words.split(" = ")
        rows &= features[name] == int(value)
    return rows


def test_calibrated_predictions_are_rejected_as_often_as_said():
    rng = np.random.default_rng(0)
    found = [search(rng) for _ in range(_REPETITIONS)]
    rejected = sum(audit.rejected for audit, _ in found)
    assert rejected <= binom.ppf(0.999, _REPETITIONS, 0.05)
    assert sum(audit.pvalue <= 0.5 for audit, _ in found) >= binom.ppf(0.001, _REPETITIONS, 0.5)
    assert sum(missed for _, missed in found) <= binom.ppf(0.999, _REPETITIONS, 0.05)


def test_a_shifted_segment_is_found_named_and_within_its_limits():
    rng = np.random.default_rng(1)
    found = [search(rng, shift=1.5, n=1200) for _ in range(40)]
    named = [audit.found[0].name for audit, _ in found if audit.found]
    assert len(named) >= 36
    assert sum(name == "a = 1, b = 1" for name in named) >= 0.85 * len(named)
    assert sum(missed for _, missed in found) <= binom.ppf(0.999, 40, 0.05)
