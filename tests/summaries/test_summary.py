"""Sums by bin of binary and classwise problems."""

from __future__ import annotations

import json

import numpy as np
import oracles
import pytest

from veridical import (
    Classwise,
    InvalidInputError,
    QuantileBins,
    SimplexBins,
    SweepBins,
    UniformBins,
    summarise,
)
from veridical._core import loops
from veridical._core.sample import BinarySample, MulticlassSample
from veridical.summaries import Summary

RULES = ("brier", "log", "spherical", "zero-one")
SUMS = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")


def expected_sums(y, p, shares, w, rules=RULES):
    """Sums over rows of share * weight * something, bin by bin."""
    w, p = oracles.ones(w, len(p)), [float(v) for v in p]
    sums = {name: [0.0] * len(shares[0]) for name in (*SUMS, *rules)}
    for yi, pi, wi, share in zip(y, p, w, shares, strict=True):
        for b, part in enumerate(share):
            if part == 0:
                continue
            sums["count"][b] += part
            sums["sum_w"][b] += wi * part
            sums["sum_w2"][b] += (wi * part) ** 2
            sums["sum_wp"][b] += wi * part * pi
            sums["sum_wy"][b] += wi * part * yi
            sums["sum_wpq"][b] += wi * part * pi * (1 - pi)
            for rule in rules:
                scale = 0.5 if rule == "brier" else 1.0
                sums[rule][b] += wi * part * scale * oracles.score(rule, (1 - pi, pi), yi)
    return sums


def check(summary, problem, expected, rules=RULES):
    for name in SUMS:
        np.testing.assert_allclose(
            getattr(summary, name)[problem], expected[name], rtol=1e-9, atol=1e-12, err_msg=name
        )
    for rule in rules:
        np.testing.assert_allclose(
            summary.scores[rule][problem], expected[rule], rtol=1e-9, atol=1e-12, err_msg=rule
        )


def hard(bins, n_bins):
    return [[float(b == own) for b in range(n_bins)] for own in bins]


def simplex(n=90, k=4, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), n).astype(dtype)
    p[::7] = np.eye(k, dtype=dtype)[0]
    y = rng.integers(0, k, n)
    y[::7] = 0
    return y, p


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("closed", ["right", "left"])
def test_sums_are_those_of_a_loop_over_rows(kind, closed):
    y, p, w = oracles.random_rows(kind)
    p = np.where((p == 0) & (y == 1), p.dtype.type(0.05), p)  # keep the log score finite
    p = np.where((p == 1) & (y == 0), p.dtype.type(0.95), p)
    problem = BinarySample(y=y, p=p, weight=w)
    summary = summarise(problem, UniformBins(9, closed=closed), rules=RULES)
    bins = oracles.bins_by_edges(p, oracles.uniform_edges(9, p.dtype.type), closed)
    check(summary, 0, expected_sums(y, p, hard(bins, 9), w))


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_linear_assignment_shares_every_sum(kind):
    y, p, w = oracles.random_rows(kind)
    p = np.clip(p, p.dtype.type(0.01), p.dtype.type(0.99))
    summary = summarise(
        BinarySample(y=y, p=p, weight=w), UniformBins(6), assignment="linear", rules=RULES
    )
    centres = [(k + 0.5) / 6 for k in range(6)]
    check(summary, 0, expected_sums(y, p, oracles.linear_shares(p, centres), w))
    assert summary.count.sum() == pytest.approx(len(p))


def test_linear_assignment_of_an_impossible_event_is_infinite_in_its_bin_only():
    problem = BinarySample(y=np.array([1, 0, 1]), p=np.array([0.0, 0.5, 0.9]))
    scores = summarise(problem, UniformBins(5), assignment="linear", rules=("log",)).scores["log"]
    assert scores[0, 0] == np.inf
    assert np.isfinite(scores[0, 1:]).all()


def test_inverted_shares_are_the_linear_ones_swapped_between_the_outer_centres():
    y, p = np.array([1, 0, 1, 1]), np.array([0.15, 0.6, 0.05, 0.97])
    problem = BinarySample(y=y, p=p)
    swapped = summarise(problem, UniformBins(5), assignment="linear-inverted").count[0]
    # centres .1 .3 .5 .7 .9: 0.15 is a quarter of the way to the second, 0.6 half-way to the fourth
    assert swapped == pytest.approx([0.25 + 1.0, 0.75, 0.5, 0.5, 1.0])


def test_only_occupied_bins_have_means():
    problem = BinarySample(y=np.array([0, 1]), p=np.array([0.05, 0.95]))
    summary = summarise(problem, UniformBins(10))
    assert summary.occupied[0].tolist() == [True, *[False] * 8, True]
    assert np.isnan(summary.mean_p[0, 1:9]).all()
    assert summary.share[0].tolist() == [0.5, *[0.0] * 8, 0.5]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_classwise_sums_are_those_of_each_class_by_itself(dtype, weighted, closed):
    y, p = simplex(dtype=dtype)
    w = np.random.default_rng(1).gamma(0.7, size=len(y)) if weighted else None
    sample = MulticlassSample(y=y, p=p, weight=w, classes=(0, 1, 2, 3))
    summary = summarise(Classwise().induce(sample), UniformBins(7, closed=closed))
    edges = oracles.uniform_edges(7, dtype)
    assert summary.names == (0, 1, 2, 3)
    for k in range(4):
        shares = hard(oracles.bins_by_edges(p[:, k], edges, closed), 7)
        expected = expected_sums((y == k).astype(int), p[:, k], shares, w, ["brier"])
        check(summary, k, expected, ["brier"])


@pytest.mark.parametrize("binning", [QuantileBins(5), SweepBins(), UniformBins("cv")])
def test_classes_with_their_own_bins_are_padded_with_empty_ones(binning):
    y, p = simplex()
    problem = Classwise().induce(MulticlassSample(y=y, p=p, classes=(0, 1, 2, 3)))
    summary = summarise(problem, binning, rules=("log",))
    for k in range(4):
        alone = summarise(problem.problem(k), binning, rules=("log",))
        used = alone.count.shape[1]
        np.testing.assert_array_equal(summary.count[k, :used], alone.count[0])
        np.testing.assert_array_equal(summary.scores["log"][k, :used], alone.scores["log"][0])
        assert not summary.occupied[k, used:].any()


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("support", [(0.0, 1.0), (1 / 3, 1.0), (0.9, 1.0), (0.0, 0.1)])
def test_compiled_loops_give_the_same_sums(monkeypatch, closed, support):
    if loops.library() is None:
        pytest.skip("there was no compiler")
    y, p = simplex(500, 3)
    sample = MulticlassSample(y=y, p=p, classes=(0, 1, 2))
    binary = Classwise().induce(sample).problem(0)
    problems = (binary, Classwise().induce(sample))
    binning = UniformBins(10, closed=closed, support=support)
    plain = [summarise(problem, binning) for problem in problems]
    monkeypatch.setattr(loops, "_WORTHWHILE", 0)
    for problem, expected in zip(problems, plain, strict=True):
        compiled = summarise(problem, binning)
        for name in SUMS:
            np.testing.assert_allclose(
                getattr(compiled, name), getattr(expected, name), rtol=1e-12, atol=1e-12
            )


def test_merged_summaries_are_the_summary_of_all_rows():
    y, p, w = oracles.random_rows("weighted", 120)
    halves = (slice(0, 50), slice(50, 120))
    parts = [
        summarise(BinarySample(y=y[h], p=p[h], weight=w[h]), UniformBins(8), rules=("log",))
        for h in halves
    ]
    whole = summarise(BinarySample(y=y, p=p, weight=w), UniformBins(8), rules=("log",))
    merged = parts[0].merge(parts[1])
    for name in SUMS:
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)
    np.testing.assert_allclose(merged.scores["log"], whole.scores["log"], rtol=1e-12)


def merge_partners():
    y, p, w = oracles.random_rows("weighted")
    plain = BinarySample(y=y, p=p, weight=w)
    return [
        ("other bins", summarise(plain, UniformBins(9))),
        ("other side", summarise(plain, UniformBins(8, closed="left"))),
        ("other bins of the same number", summarise(plain, QuantileBins(8))),
        ("other scores", summarise(plain, UniformBins(8), rules=("log",))),
        (
            "other weights",
            summarise(BinarySample(y=y, p=p, weight=w, weight_type="frequency"), UniformBins(8)),
        ),
        (
            "other class",
            summarise(BinarySample(y=y, p=p, weight=w, classes=("a", "b")), UniformBins(8)),
        ),
    ]


@pytest.mark.parametrize(("what", "other"), merge_partners())
def test_summaries_that_were_made_differently_cannot_be_merged(what, other):
    y, p, w = oracles.random_rows("weighted")
    mine = summarise(BinarySample(y=y, p=p, weight=w), UniformBins(8))
    for first, second in ((mine, other), (other, mine)):
        with pytest.raises(InvalidInputError, match="merge: `other` must be binned"):
            first.merge(second)


def test_a_summary_survives_json_with_its_infinities():
    problem = BinarySample(y=np.array([1, 0, 1]), p=np.array([0.0, 1 / 3, 0.9]))
    summary = summarise(problem, UniformBins(5), rules=("log",))
    assert np.isinf(summary.scores["log"]).any()
    back = Summary.from_dict(json.loads(json.dumps(summary.to_dict(), allow_nan=False)))
    assert back.partitions == summary.partitions
    assert (back.names, back.weight_type) == (summary.names, summary.weight_type)
    for name in SUMS:
        np.testing.assert_array_equal(getattr(back, name), getattr(summary, name))
    np.testing.assert_array_equal(back.scores["log"], summary.scores["log"])


def test_bad_options_are_errors_with_the_nearest_choice():
    problem = BinarySample(y=np.array([0, 1]), p=np.array([0.2, 0.8]))
    with pytest.raises(InvalidInputError, match="did you mean 'linear'"):
        summarise(problem, UniformBins(5), assignment="liner")
    with pytest.raises(InvalidInputError, match="did you mean 'brier'"):
        summarise(problem, UniformBins(5), rules=("breir",))
    with pytest.raises(InvalidInputError, match="`binning` must be bins of an interval"):
        summarise(problem, SimplexBins(5))
