"""What is done differently where rows are many gives what is done where they are few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import veridical as v
from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample, pool_scores
from veridical.inference._draws import groups
from veridical.inference._draws.trials import Trials
from veridical.inference._intervals import mean, rows, squared
from veridical.inference._intervals.bounded import Masses, masses_of_rows
from veridical.inference._joint import forms, line, many
from veridical.inference._kernel import many_rows, test as kernel
from veridical.inference._kernel.nulls import Similarity, consistency_null, observed_trials


def binary(n, seed=0, shape=(1.2, 2.0)):
    rng = np.random.default_rng(seed)
    p = rng.beta(*shape, n)
    return BinarySample(y=(rng.random(n) < p).astype(int), p=p)


def vectors(n, k, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.6), n)
    return (rng.random(n)[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1), p


def alike(first, second, *, spread=0.15):
    """Two samples of one law: means within four standard errors, spreads within a share."""
    error = np.hypot(first.std() / np.sqrt(len(first)), second.std() / np.sqrt(len(second)))
    assert abs(first.mean() - second.mean()) < 4 * error
    assert first.std() == pytest.approx(second.std(), rel=spread)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tied", [False, True])
def test_packed_sort_pools_as_a_dictionary_does(dtype, tied):
    rng = np.random.default_rng(0)
    p = np.append(rng.random(500), [0.0, -0.0, 1.0, 1.0]).astype(dtype)
    p = p.round(1) if tied else p
    y = rng.integers(0, 2, len(p))
    pooled = pool_scores(p, y, None)
    expected = {}
    for score, outcome in zip(p.tolist(), y.tolist(), strict=True):
        count, hits = expected.get(score, (0, 0))
        expected[score] = (count + 1, hits + outcome)
    assert pooled.value.dtype == dtype
    assert pooled.value.tolist() == sorted(expected)
    assert [expected[value] for value in pooled.value.tolist()] == list(
        zip(pooled.weight, pooled.positive, strict=True)
    )


@pytest.mark.parametrize(
    "binning", [v.UniformBins(15), v.UniformBins(7, closed="left"), v.QuantileBins(9)]
)
def test_sums_of_sorted_rows_are_those_of_rows_as_they_come(binning):
    sample = binary(70_000)
    sample = replace(sample, p=sample.p.round(4))
    sample.pooled  # noqa: B018 - sorts
    partition = binning.fit(sample)
    bins = partition.assign(sample.p)
    from veridical.summaries import summarise

    found = summarise(sample, binning)
    for name, values in {
        "count": np.ones(sample.n),
        "sum_wy": sample.y,
        "sum_wp": sample.p,
        "sum_wpq": sample.p * (1 - sample.p),
    }.items():
        expected = np.bincount(bins, values, partition.n_cells)
        np.testing.assert_allclose(getattr(found, name)[0], expected, rtol=1e-12)


def test_edges_of_cells_are_those_of_shares_taken_one_by_one():
    rng = np.random.default_rng(0)
    for trial in range(40):
        p = np.sort(rng.beta(0.5, 1.5, int(rng.integers(5, 900))).round(2 + 3 * (trial % 2)))
        variance, most = p * (1 - p), 16
        found = forms.upper_edges(p, variance, most)
        distinct, share, cell = np.unique(p), 0.0, []
        for value in distinct:
            held = variance[p == value].sum() / variance.sum() + (p == value).mean()
            cell.append(min(int((share + held / 2) / 2 * most), most - 1))
            share += held
        ends = [i for i in range(len(cell)) if i == len(cell) - 1 or cell[i] != cell[i + 1]]
        expected = distinct if len(distinct) <= most else distinct[ends]
        assert found.tolist() == expected.tolist()


def test_stretches_of_the_joint_test_are_cells_of_rows():
    for n in (90, 500, 70_000):  # the last are several blocks
        sample = binary(n)
        p = np.where(np.arange(n) % 3 == 0, sample.p.round(2), sample.p)
        sample = replace(sample, p=np.append(p[:-4], [0.0, 0.0, 1.0, 1.0]))
        found = many.Stretches(sample.pooled, 48)
        one = line.line_of(sample, None)
        p, variance = one.trials.p, one.variance
        edges = forms.with_corners(forms.upper_edges(p, variance, 48), p)
        cell = np.searchsorted(edges, p)
        expected = forms.cells_of(cell, len(edges), p, variance, one.residual)
        for name in ("residual", "variance", "odds"):
            of_rows = getattr(expected, name)
            np.testing.assert_allclose(getattr(found.cells, name), of_rows, atol=1e-9)
        mean, unit = line._counted(one, cell, len(edges))
        np.testing.assert_allclose(found.mean, mean, atol=1e-9)
        np.testing.assert_allclose(found.unit, unit, atol=1e-9)
        assert found.impossible == one.impossible.any()


def test_sums_of_many_outcomes_have_the_law_of_outcomes_drawn_one_by_one(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(groups, "_SKEWED", 0.05)  # else it takes more rows
    p = np.append(rng.beta(3, 3, 12_000), [1e-4, 1e-3])  # two that make the sum skewed
    table = np.column_stack([np.maximum(p, 1 - p), np.minimum(p, 1 - p)])
    trials, value = Trials(table, np.ones(len(p))), 1 / table - 1
    found = groups.null_sums(trials, value, Draws(3000, np.random.default_rng(1)))
    moments = groups._entry_moments(trials, value)
    assert 0.5 < groups._minor(*moments[1:]).mean() < 1
    assert moments[0] == pytest.approx((table * value).sum(axis=1))
    monkeypatch.setattr(groups, "_DRAWN_ONE_BY_ONE", 10**9)
    known = groups.null_sums(trials, value, Draws(1000, np.random.default_rng(2)))
    low, high = np.quantile(known, [0.1, 0.9])
    assert np.mean(found <= low) == pytest.approx(0.1, abs=0.04)
    assert np.mean(found <= high) == pytest.approx(0.9, abs=0.04)


def test_scalars_in_cells_have_the_kernel_null_of_the_rows():
    sample = binary(5000)
    trials, by = observed_trials(sample, caller="test"), Similarity("laplacian", 0.2)
    pooled = many_rows.in_cells(trials)
    assert len(pooled.p) <= many_rows.EXACT_UP_TO
    assert pooled.count.sum() == 5000
    assert pooled.counts.sum() == sample.y.sum()
    known = consistency_null(trials, by, Draws(300, np.random.default_rng(1)))
    found = consistency_null(pooled, by, Draws(600, np.random.default_rng(2)))
    alike(found[1], known[1], spread=0.3)
    assert found[0] == pytest.approx(known[0], abs=0.02 * known[1].std())


def test_features_of_vectors_multiply_to_the_kernel():
    _, p = vectors(2500, 3)
    by = Similarity("laplacian", 0.5)
    features = many_rows.features_of(p, by, np.random.default_rng(0))
    landmarks = np.random.default_rng(0).choice(2500, many_rows.LANDMARKS, replace=False)
    for chosen, close in ((landmarks, 1e-6), (np.arange(200), 0.2)):  # exact among landmarks
        distance = np.sqrt(np.square(p[chosen, None] - p[None, chosen]).sum(axis=2))
        off = np.abs(features[chosen] @ features[chosen].T - np.exp(-distance / 0.5))
        assert off.max() < close
        assert off.mean() < 0.01


@pytest.mark.parametrize("right", [True, False])
def test_vectors_by_features_are_judged_as_pair_by_pair(monkeypatch, right):
    y, p = vectors(2100, 3, seed=4)
    if not right:
        p = p**1.25 / (p**1.25).sum(axis=1, keepdims=True)
    found = v.kernel_test(y, p, n_resamples=199, rng=0)
    assert "features" in found.null
    monkeypatch.setattr(kernel, "EXACT_UP_TO", 10**6)
    known = v.kernel_test(y, p, n_resamples=199, rng=1)
    assert found.statistic == pytest.approx(known.statistic, abs=2e-4)
    assert found.pvalue == pytest.approx(known.pvalue, abs=0.12)


def test_draws_of_some_vectors_have_the_null_of_all(monkeypatch):
    y, p = vectors(3000, 3, seed=5)
    known = v.kernel_test(y, p, n_resamples=199, rng=0)
    monkeypatch.setattr(many_rows, "_DRAWN_ROWS", 1500)
    found = v.kernel_test(y, p, n_resamples=199, rng=0)
    assert "1,500 random rows" in found.null
    assert found.statistic == known.statistic
    assert found.pvalue == pytest.approx(known.pvalue, abs=0.15)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_units_are_bootstrapped_as_one_by_one(monkeypatch, weighted):
    rng = np.random.default_rng(0)
    value = rng.pareto(4.0, 17_000)
    weight = rng.gamma(1.0, size=17_000) if weighted else None
    units = mean.make_units(value, weight).ordered()
    found = mean._resampled_means(units, 2000, np.random.default_rng(1))
    monkeypatch.setattr(mean, "_DRAWN_ONE_BY_ONE", 10**9)
    known = mean._resampled_means(units, 400, np.random.default_rng(2))
    alike(found, known, spread=0.2)


def test_plain_units_are_units_of_weight_one():
    value = np.random.default_rng(0).gamma(2.0, size=9000)
    plain, other = mean.make_units(value), mean.make_units(value, np.ones(9000))
    assert plain.plain
    assert not other.plain
    assert plain.estimate == pytest.approx(other.estimate, rel=1e-13)
    assert mean.standard_error(plain) == pytest.approx(mean.standard_error(other), rel=1e-12)
    found, known = masses_of_rows(value), Masses(value, np.ones(9000), np.ones(9000)).pooled()
    for one, two in zip(found, known, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)


@pytest.mark.parametrize("n_bins", [3, 15])
def test_differences_from_sums_by_pairs_of_bins_are_those_of_rows(n_bins):
    rng = np.random.default_rng(0)
    first = binary(400)
    second = replace(first, p=np.clip(first.p + 0.1 * rng.standard_normal(400), 0, 1))
    estimator = v.BinnedError(v.UniformBins(n_bins), norm=2, debias=True)
    found = squared.squared_difference(estimator, (first, second))
    ones = {"weight": np.ones(400), "weight_type": "frequency"}
    known = squared.squared_difference(estimator, (replace(first, **ones), replace(second, **ones)))
    assert found == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_of_rows_hold_all_of_them(weighted):
    sample = binary(6000)
    if weighted:
        sample = replace(sample, weight=np.random.default_rng(1).gamma(2.0, size=6000))
    found = rows.rows_of(sample)
    weight = np.ones(6000) if sample.weight is None else sample.weight
    assert found.total.sum() == pytest.approx(weight.sum())
    assert found.mean(found.y) == pytest.approx(np.average(sample.y, weights=weight))
    assert found.mean(found.p) == pytest.approx(np.average(sample.p, weights=weight))
    assert (found.each(found.y) == sample.y).all()
    np.testing.assert_allclose(found.each(found.p), sample.p, atol=0.004)
