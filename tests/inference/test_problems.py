"""Many problems at once: limits, null errors and groups are those of each problem alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample
from veridical.binning import UniformBins
from veridical.inference import joint_test
from veridical.inference._intervals.binned import l1_limits
from veridical.inference._intervals.bounded import Masses, Support, mean_limits
from veridical.inference._intervals.bounded_rows import masses_of, mean_limits_of_rows
from veridical.inference._joint import line as joint_line
from veridical.inference.draws import (
    l1_limits_of_problems,
    monte_carlo_pvalue,
    null_l1_errors,
    null_pvalues,
    null_summaries,
)
from veridical.miscalibration import BinnedError
from veridical.summaries import summarise

SUMS = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")


def problems(seed, n_problems, most=150):
    """Small samples of many kinds: few rows, ties, certain predictions, wrong ones."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_problems):
        n = int(rng.integers(1, most))
        p = np.round(rng.beta(*(rng.gamma(1, 1, 2) + 0.05), n), int(rng.integers(1, 6)))
        y = (rng.random(n) < np.clip(p + 0.3 * rng.normal(), 0, 1)).astype(int)
        found.append(BinarySample(y=y, p=p))
    return found


def together(summaries):
    return replace(
        summaries[0],
        partitions=tuple(each.partitions[0] for each in summaries),
        names=tuple(range(len(summaries))),
        scores={},
        **{name: np.vstack([getattr(each, name) for each in summaries]) for name in SUMS},
    )


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_limits_of_many_problems_are_those_of_each(level):
    summaries = [summarise(sample, UniformBins(10)) for sample in problems(1, 120)]
    low, high = l1_limits_of_problems(together(summaries), level)
    each = np.array([l1_limits(summary, level) for summary in summaries])
    np.testing.assert_allclose(np.column_stack([low, high]), each, atol=1e-9)
    assert (low > 0).sum() > 20


def test_limits_of_means_are_those_of_each_row():
    rng = np.random.default_rng(2)
    value, shape = rng.normal(size=(40, 12)), rng.integers(0, 4, (40, 12)).astype(float)
    value[:10] = rng.integers(0, 2, (10, 12))  # two values: the limits of Clopper and Pearson
    shape[:, 0] += 1
    scale = rng.gamma(3, 1, (40, 12))
    lowest, highest = value.min(axis=1) - 0.5, value.max(axis=1)
    found = mean_limits_of_rows(masses_of(value, shape, scale), lowest, highest, 0.9)
    for row in range(40):
        held = shape[row] > 0
        alone = Masses(value[row, held], shape[row, held], scale[row, held])
        expected = mean_limits(alone, Support(lowest[row], highest[row]), 0.9)
        np.testing.assert_allclose([found[0][row], found[1][row]], expected, atol=1e-9)


def test_null_errors_are_those_each_problem_draws_alone():
    samples = problems(3, 60, most=200)
    summaries = [summarise(sample, UniformBins(8)) for sample in samples]
    problem = np.repeat(np.arange(len(samples)), [sample.n for sample in samples])
    p = np.concatenate([sample.p for sample in samples])
    bins = np.concatenate([summaries[0].partitions[0].assign(sample.p) for sample in samples])
    draws = Draws(300, np.random.default_rng(9))
    found = null_l1_errors(p, problem, bins, together(summaries), draws)
    estimator = BinnedError(UniformBins(8))
    for sample, summary, errors in zip(samples, summaries, found, strict=True):
        alone = null_summaries(sample, summary, Draws(300, np.random.default_rng(9)))
        np.testing.assert_allclose(errors, estimator.each(alone), atol=1e-14)
    value = np.array([estimator.from_summary(summary) for summary in summaries])
    pairs = zip(value, found, strict=True)
    assert null_pvalues(value, found).tolist() == [monte_carlo_pvalue(*pair) for pair in pairs]


def grouped(seed, n_groups, rows):
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(1, 2, n_groups * rows), 3)
    p[:3] = [0.0, 1.0, 0.999]
    y = (rng.random(len(p)) < p).astype(int)
    return y, p, np.tile(np.arange(n_groups), rows)


def test_what_is_observed_does_not_depend_on_how_groups_are_drawn(monkeypatch):
    y, p, by = grouped(4, 30, 25)
    by[by == 7] = 3
    at_once = joint_test(y, p, by=by, n_resamples=50, rng=0)
    monkeypatch.setattr(joint_line, "FEW_GROUPS", 1000)
    one_by_one = joint_test(y, p, by=by, n_resamples=50, rng=0)
    for found, expected in zip(at_once.parts, one_by_one.parts, strict=True):
        assert (found.name, found.label) == (expected.name, expected.label)
        assert (found.n_samples, found.direction) == (expected.n_samples, expected.direction)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-10, abs=1e-12)


def test_draws_at_once_have_the_law_of_single_ones(monkeypatch):
    """Means and covariances of the statistics of groups, and of all rows beside them."""
    y, p, by = grouped(5, 24, 12)
    sample = BinarySample(y=y, p=p)
    n, keys = 20_000, list(range(24))

    def drawn(seed):
        line = joint_line.line_of(sample, by)
        parts = joint_line.line_parts(line, "binary", keys, Draws(n, np.random.default_rng(seed)))
        return np.hstack([part.values[1:] for part in parts])

    found = drawn(1)
    monkeypatch.setattr(joint_line, "FEW_GROUPS", 1000)
    expected = drawn(2)
    error = np.sqrt(expected.var(axis=0) / n)
    assert (np.abs(found.mean(axis=0) - expected.mean(axis=0)) < 6 * np.sqrt(2) * error).all()
    assert np.abs(np.corrcoef(found.T) - np.corrcoef(expected.T)).max() < 9 / np.sqrt(n)


@pytest.mark.slow
def test_the_level_holds_with_many_groups():
    rejected = 0
    n_samples = 400
    for seed in range(n_samples):
        y, p, by = grouped([6, seed], 40, 8)
        rejected += joint_test(y, p, by=by, n_resamples=199, rng=seed).pvalue <= 0.05
    assert binom.sf(rejected - 1, n_samples, 0.05) > 1e-3


def test_one_bad_group_of_many_is_named():
    y, p, by = grouped(8, 50, 40)
    y[by == 17] = 1
    found = joint_test(y, p, by=by, n_resamples=999, rng=0)
    worst = min((part for part in found.parts if part.name == "group"), key=lambda a: a.pvalue)
    assert worst.label == 17
    assert worst.adjusted < 0.05


def test_a_cell_of_very_many_rows_is_counted_in_full():
    # 70,000 rows of 0.5 have about 35,000 events: more than 16 bits hold.
    by = np.append(np.zeros(70_000, dtype=int), np.arange(1, 26))
    p, y = np.full(len(by), 0.5), np.arange(len(by)) % 20 < 11
    found = joint_test(y, p, by=by, n_resamples=50, rng=0)
    assert found.pvalue == pytest.approx(1 / 51)
    assert [part.label for part in found.parts if part.adjusted < 0.05] == [None, 0]
