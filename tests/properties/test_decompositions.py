"""Decompositions add up, and their parts have the signs they must have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import veridical as v
from veridical._core.sample import BinarySample, MulticlassSample

few = settings(max_examples=50)  # every sample is tried on four rules
SCORES = {
    "brier": v.brier_score,
    "log": v.log_loss,
    "spherical": v.spherical_score,
    "zero-one": v.zero_one_loss,
}


def inside(p, rule):
    """Away from 0 and 1, where the log score may be infinite."""
    return p.clip(0.01, 0.99) if rule == "log" else p


def vectors_inside(p, rule):
    if rule != "log":
        return p
    mixed = 0.9 * p.astype(np.float64) + 0.1 / p.shape[1]
    return mixed / mixed.sum(axis=1, keepdims=True)


def check(d):
    """The parts add up; the exact methods have no within-bin rest."""
    total = d.miscalibration - d.discrimination + d.uncertainty + d.within_bin
    assert total == pytest.approx(d.score, abs=1e-12)
    assert d.refinement == pytest.approx(d.uncertainty - d.discrimination, abs=1e-12)
    assert d.miscalibration >= -1e-12
    assert d.discrimination >= -1e-12
    assert d.uncertainty >= -1e-12
    if d.method != "bins":
        assert d.within_bin == 0
    elif d.rule == "brier":
        rest = d.within_bin_variance - d.within_bin_covariance
        assert rest == pytest.approx(d.within_bin, abs=1e-12)
        assert d.within_bin_variance >= -1e-12
    else:
        assert d.within_bin_variance is None


@pytest.mark.parametrize("method", ["bins", "isotonic", "unique"])
@few
@given(sample=st.from_type(BinarySample), n_bins=st.integers(1, 20))
def test_binary_decompositions_add_up(method, sample, n_bins):
    for rule in SCORES:
        d = v.decompose(
            sample.y, inside(sample.p, rule), rule=rule, method=method, n_bins=n_bins,
            sample_weight=sample.weight,
        )  # fmt: skip
        check(d)


@pytest.mark.parametrize("method", ["bins", "unique"])
@few
@given(sample=st.from_type(MulticlassSample), n_bins=st.integers(1, 6))
def test_decompositions_of_vectors_add_up(method, sample, n_bins):
    for rule in SCORES:
        d = v.decompose(
            sample.y, vectors_inside(sample.p, rule), rule=rule, method=method, n_bins=n_bins,
            sample_weight=sample.weight,
        )  # fmt: skip
        check(d)


@pytest.mark.parametrize("method", ["bins", "isotonic", "unique"])
@few
@given(sample=st.from_type(MulticlassSample))
def test_classwise_decompositions_add_up(method, sample):
    for rule in SCORES:
        p = vectors_inside(sample.p, rule)
        check(v.decompose(sample.y, p, rule=rule, method=method, lens="classwise", n_bins=5))


def isotonic_by_definition(sample):
    """Max-min formula: the fit at p is max over a <= p of min over b >= p of the mean in [a, b]."""
    w = np.ones(sample.n) if sample.weight is None else sample.weight
    values, group = np.unique(sample.p, return_inverse=True)
    m = len(values)
    weight, positive = np.bincount(group, weights=w), np.bincount(group, weights=w * sample.y)
    total_w, total_y = np.append(0, weight.cumsum()), np.append(0, positive.cumsum())
    mean = np.full((m, m), np.inf)
    for a in range(m):
        mean[a, a:] = (total_y[a + 1 :] - total_y[a]) / (total_w[a + 1 :] - total_w[a])
    fit = [max(mean[a, k:].min() for a in range(k + 1)) for k in range(m)]
    return np.array(fit).clip(0, 1)[group]


@few
@given(sample=st.from_type(BinarySample))
def test_the_isotonic_fit_is_calibrated_and_keeps_the_discrimination(sample):
    """Recalibrated predictions have no miscalibration left and the same refinement."""
    fitted = isotonic_by_definition(sample)
    for rule in SCORES:
        first = v.decompose(sample.y, sample.p, rule=rule, sample_weight=sample.weight)
        again = v.decompose(sample.y, fitted, rule=rule, sample_weight=sample.weight)
        assert again.miscalibration == pytest.approx(0, abs=1e-9)
        assert again.discrimination == pytest.approx(first.discrimination, abs=1e-9)


@few
@given(sample=st.from_type(BinarySample))
def test_recalibrating_more_finely_discriminates_more(sample):
    """Frequencies among equal predictions can only know more than a monotone map of them."""
    for rule in SCORES:
        p = inside(sample.p, rule)
        unique = v.decompose(sample.y, p, rule=rule, method="unique", sample_weight=sample.weight)
        isotonic = v.decompose(sample.y, p, rule=rule, sample_weight=sample.weight)
        assert unique.score == pytest.approx(isotonic.score, abs=1e-12)
        assert unique.uncertainty == pytest.approx(isotonic.uncertainty, abs=1e-12)
        assert unique.discrimination >= isotonic.discrimination - 1e-9
        assert unique.miscalibration >= isotonic.miscalibration - 1e-9


@few
@given(sample=st.from_type(BinarySample))
def test_the_score_is_the_score(sample):
    w = sample.weight
    for rule, score in SCORES.items():
        expected = score(sample.y, sample.p, sample_weight=w)
        for method in ("bins", "isotonic", "unique"):
            d = v.decompose(sample.y, sample.p, rule=rule, method=method, sample_weight=w)
            assert d.score == pytest.approx(expected, rel=1e-12, abs=1e-12)


@few
@given(sample=st.from_type(BinarySample))
def test_with_the_predictions_as_truth_nothing_is_epistemic(sample):
    for rule in SCORES:
        p = inside(sample.p, rule)
        d = v.decompose(sample.y, p, rule=rule, method="unique", posterior=p)
        assert d.epistemic == pytest.approx(0, abs=1e-12)
        assert d.irreducible >= 0
        assert d.grouping >= -1e-12
