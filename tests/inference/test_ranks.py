"""Mean ranks over data sets: Demsar's worked example and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.inference._intervals.ranks import mean_ranks
from veridical.results.inference import RankComparison

# Demsar (2006), JMLR 7, table 6: AUC of C4.5 with and without tuned m and cf on 14 data sets.
# For "voting" the printed ranks 2 and 3 tell apart two scores both printed as .975.
METHODS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
AUC = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip


def test_the_worked_example_of_demsar():
    ranks = mean_ranks(AUC, methods=METHODS, better="larger")
    assert np.round(ranks.mean_rank, 3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert round(ranks.chi_square, 2) == 9.28
    assert round(ranks.statistic, 2) == 3.69
    assert round(ranks.critical_difference, 2) == 1.25
    # "q at .10 is 2.291 and the corresponding CD is 1.12"
    tenth = mean_ranks(AUC, methods=METHODS, better="larger", confidence_level=0.9)
    assert round(tenth.critical_difference, 2) == 1.12
    assert 0.01 < ranks.pvalue < 0.05  # F(3, 39) = 2.85 at .05: rejected; 4.33 at .01: not


@pytest.mark.parametrize(
    # Demsar (2006), table 5 (a): critical values of the two-tailed Nemenyi test
    ("k", "q05", "q10"),
    [
        (2, 1.960, 1.645),
        (3, 2.343, 2.052),
        (4, 2.569, 2.291),
        (6, 2.850, 2.589),
        (10, 3.164, 2.920),
    ],
)
def test_critical_values_are_those_of_the_table(k, q05, q10):
    table = np.tile(np.arange(k), (12, 1)) + np.arange(12)[:, None]
    for level, q in ((0.95, q05), (0.9, q10)):
        found = mean_ranks(table, confidence_level=level).critical_difference
        # The table was made from one of three digits, so its last digit may be off by one.
        assert found / math.sqrt(k * (k + 1) / 72) == pytest.approx(q, abs=1.1e-3)


def test_without_ties_chi_square_is_that_of_scipy():
    table = np.random.default_rng(0).normal(size=(15, 5))
    ranks = mean_ranks(table)
    assert ranks.chi_square == pytest.approx(stats.friedmanchisquare(*table.T).statistic)
    # Iman and Davenport's F is that of a two-way analysis of variance of the ranks.
    r = stats.rankdata(table, axis=1)
    between = 15 * ((r.mean(axis=0) - 3) ** 2).sum() / 4
    within = ((r - r.mean(axis=0)) ** 2).sum() / (4 * 14)
    assert ranks.statistic == pytest.approx(between / within)
    assert ranks.pvalue == pytest.approx(stats.f.sf(between / within, 4, 56))


def test_larger_is_better_reverses_the_ranks():
    table = np.random.default_rng(1).normal(size=(12, 4))
    small, large = mean_ranks(table), mean_ranks(table, better="larger")
    np.testing.assert_allclose(np.add(small.mean_rank, large.mean_rank), 5)
    assert mean_ranks(-table, better="larger").mean_rank == small.mean_rank


def test_agreement_of_all_data_sets_has_the_exact_probability():
    ranks = mean_ranks(np.tile([1.0, 2.0, 3.0], (12, 1)))
    assert ranks.statistic == math.inf
    assert ranks.pvalue == pytest.approx(6.0**-11)


def test_groups_are_the_largest_runs_within_the_critical_difference():
    def groups(*mean_rank):
        names = tuple("abcdef"[: len(mean_rank)])
        return RankComparison(
            methods=names, mean_rank=mean_rank, statistic=1.0, chi_square=1.0, pvalue=0.5,
            critical_difference=1.0, confidence_level=0.95, n_datasets=10, better="smaller",
        ).alike  # fmt: skip

    assert groups(1.0, 1.5, 2.2, 4.0) == (("a", "b"), ("b", "c"))
    assert groups(4.0, 3.5, 3.0, 1.0) == (("c", "b", "a"),)
    assert groups(1.0, 2.5) == ()
    assert groups(1.0, 2.0) == (("a", "b"),)  # exactly as far apart as the difference
    # Oracle: every pair is in a common group exactly when it is within the difference.
    rng = np.random.default_rng(2)
    mean = tuple(np.round(rng.uniform(1, 6, 6), 2))
    found = groups(*mean)
    for i in range(6):
        for j in range(i):
            together = any({"abcdef"[i], "abcdef"[j]} <= set(group) for group in found)
            assert together == (abs(mean[i] - mean[j]) <= 1.0)


def test_few_data_sets_are_said():
    with pytest.warns(VeridicalWarning, match="only 3 data sets"):
        ranks = mean_ranks({"a": [1, 2, 3], "b": [2, 1, 4]})
    assert "only 3" in ranks.notes[0]
    assert ranks.methods == ("a", "b")


def test_the_result_is_lossless_and_printable():
    ranks = mean_ranks(AUC, methods=METHODS, better="larger")
    assert RankComparison.from_json(ranks.to_json()) == ranks
    assert ranks.to_frame()["method"].to_list() == list(METHODS)
    text = str(ranks)
    assert "14 data sets" in text
    assert text.index("C4.5+m+cf") < text.index("C4.5+cf")


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([[1.0, 2.0]], {}, "two data sets or more"),
        ([[1.0], [2.0]], {}, "two methods or more"),
        ([1.0, 2.0], {}, "two methods or more"),
        ({"a": [1, 2], "b": [1, 2, 3]}, {}, "columns of one length"),
        ({}, {}, "two methods or more"),
        ([[1.0, math.nan], [1.0, 2.0]], {}, "NaN for '1' on data set 0"),
        ([[1.0, 2.0], [1.0, 2.0]], {"methods": ["a", "a"]}, "a different name"),
        ([[1.0, 2.0], [1.0, 2.0]], {"methods": ["a"]}, "1 names for 2"),
        ([[1.0, 2.0], [1.0, 2.0]], {"better": "large"}, "did you mean 'larger'"),
        ([[1.0, 2.0], [1.0, 2.0]], {"confidence_level": 95}, "between 0 and 1"),
    ],
)
def test_refusals(scores, options, message):
    with pytest.raises(InvalidInputError, match=message):
        mean_ranks(scores, **options)
