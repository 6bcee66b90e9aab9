"""Binned errors: their range, their order, and lenses that must agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import veridical as v
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.lenses import Classwise

SLACK = 1e-12
BINARY, MULTICLASS = st.from_type(BinarySample), st.from_type(MulticlassSample)
BINNINGS = st.one_of(
    st.builds(v.UniformBins, st.integers(1, 30) | st.sampled_from(["sqrt", "cbrt", "cv"])),
    st.builds(v.QuantileBins, st.integers(1, 30)),
    st.just(v.SweepBins()),
)
ASSIGNMENTS = st.sampled_from(["hard", "linear", "linear-inverted"])


@given(BINARY, BINNINGS, ASSIGNMENTS, st.sampled_from([1, 1.5, 2, 7, "max"]))
def test_errors_are_in_the_unit_interval(sample, binning, assignment, norm):
    error = v.BinnedError(binning, assignment=assignment, norm=norm).measure(sample)
    assert 0 <= error <= 1 + SLACK


@given(MULTICLASS, st.integers(1, 15), st.sampled_from(["norm", "mean", "max"]))
def test_classwise_errors_are_in_the_unit_interval(sample, n_bins, aggregate):
    problem = Classwise().induce(sample)
    for norm in (1, 2, "max"):
        error = v.BinnedError(v.UniformBins(n_bins), norm=norm, aggregate=aggregate)
        assert 0 <= error.measure(problem) <= 1 + SLACK


@given(BINARY, BINNINGS, ASSIGNMENTS)
def test_larger_norms_give_larger_errors(sample, binning, assignment):
    ece, rmsce, mce = (
        v.BinnedError(binning, assignment=assignment, norm=norm).measure(sample)
        for norm in (1, 2, "max")
    )
    assert ece <= rmsce + SLACK
    assert rmsce <= mce + SLACK


@given(MULTICLASS, st.integers(1, 15))
def test_larger_norms_give_larger_errors_over_classes(sample, n_bins):
    problem = Classwise().induce(sample)
    ece, rmsce, mce = (
        v.BinnedError(v.UniformBins(n_bins), norm=norm).measure(problem) for norm in (1, 2, "max")
    )
    assert ece <= rmsce + SLACK
    assert rmsce <= mce + SLACK


@given(MULTICLASS, st.integers(1, 6))
def test_larger_norms_give_larger_errors_of_vectors(sample, n_bins):
    ece, rmsce, mce = (
        v.BinnedError(v.SimplexBins(n_bins), norm=norm).measure(sample) for norm in (1, 2, "max")
    )
    assert 0 <= ece <= rmsce + SLACK
    assert rmsce <= mce + SLACK
    assert mce <= 1 + 1e-6  # rows in single precision sum to one within rounding only


@given(BINARY, BINNINGS)
def test_debiasing_never_adds_to_the_mean_error(sample, binning):
    plain = v.BinnedError(binning).measure(sample)
    assert 0 <= v.BinnedError(binning, debias=True).measure(sample) <= plain + SLACK


@given(BINARY, st.integers(1, 20), st.integers(2, 4))
def test_merging_neighbouring_bins_never_adds_to_the_mean_error(sample, n_bins, factor):
    """The triangle inequality; edges of the coarse bins are edges of the fine ones."""
    coarse = v.UniformBins(n_bins).fit(sample)
    fine = v.UniformBins(n_bins * factor).fit(sample)
    assert set(coarse.edges) <= set(fine.edges)
    errors = [v.BinnedError(v.UniformBins(n)).measure(sample) for n in (n_bins, n_bins * factor)]
    assert errors[0] <= errors[1] + SLACK


@given(BINARY)
def test_one_bin_measures_calibration_in_the_large(sample):
    w = np.ones(sample.n) if sample.weight is None else sample.weight
    gap = abs(w @ (sample.y - sample.p.astype(float))) / w.sum()
    for binning in (v.UniformBins(1), v.QuantileBins(1), v.EdgeBins([])):
        assert v.BinnedError(binning).measure(sample) == pytest.approx(gap, abs=SLACK)


@given(MULTICLASS, BINNINGS, st.sampled_from([1, 2, "max"]))
def test_the_top_one_lens_is_the_confidence_lens(sample, binning, norm):
    error = v.BinnedError(binning, norm=norm)
    first = error.measure(v.TopK(1).induce(sample))
    assert first == error.measure(v.Confidence().induce(sample))


@given(MULTICLASS, st.integers(1, 20))
def test_the_confidence_is_the_first_of_the_top_k(sample, n_bins):
    ranked = v.TopK(2).induce(sample)
    leading = v.ClassSpecific("top 1").induce(ranked)
    confidence = v.Confidence().induce(sample)
    np.testing.assert_array_equal(leading.p, confidence.p)
    np.testing.assert_array_equal(leading.y, confidence.y)


@given(BINARY, st.integers(1, 20), st.sampled_from([1, 2, "max"]))
def test_total_variation_of_two_classes_is_the_binary_error(sample, n_bins, norm):
    """The path for vectors, on two columns, against the path for one event."""
    pair = MulticlassSample(
        y=sample.y,
        p=np.column_stack([1 - sample.p, sample.p]),
        weight=sample.weight,
        weight_type=sample.weight_type,
        classes=(0, 1),
    )
    error = v.BinnedError(v.UniformBins(n_bins), norm=norm)
    named = v.BinnedError(v.UniformBins(n_bins), norm=norm, distance="tv")
    expected = error.measure(sample)
    # In single precision the two columns need not sum to one exactly.
    close = 1e-7 if sample.p.dtype == np.float32 else SLACK
    assert error.measure(pair) == pytest.approx(expected, abs=close)
    assert named.measure(sample) == pytest.approx(expected, abs=SLACK)


@given(BINARY, BINNINGS)
def test_the_canonical_lens_of_two_classes_is_the_binary_lens(sample, binning):
    error = v.BinnedError(binning)
    given_lens = error.measure(v.Canonical().induce(sample))
    assert given_lens == error.measure(v.Binary().induce(sample))


@given(MULTICLASS, st.integers(1, 15))
def test_the_classwise_error_is_the_mean_over_classes(sample, n_bins):
    error = v.BinnedError(v.UniformBins(n_bins))
    each = [error.measure(v.ClassSpecific(k).induce(sample)) for k in sample.classes]
    together = error.measure(Classwise().induce(sample))
    assert together == pytest.approx(np.mean(each), abs=1e-9)


@given(MULTICLASS, st.integers(1, 15))
def test_pooling_classes_never_adds_to_the_classwise_error(sample, n_bins):
    error = v.BinnedError(v.UniformBins(n_bins))
    pooled = error.measure(v.Pooled().induce(sample))
    assert pooled <= error.measure(Classwise().induce(sample)) + 1e-9
