"""The joint test: its members against formulas, its draws against known laws, its p-values."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from veridical import VeridicalWarning
from veridical._core.data.randomness import Draws
from veridical._core.sample import MulticlassSample
from veridical.evaluation import grid_summary
from veridical.exceptions import InvalidInputError
from veridical.inference import joint_test
from veridical.inference._joint import layout
from veridical.inference._joint.whole import drawn_sums
from veridical.inference.core import joint_sums_core
from veridical.lenses import ClassSpecific, Classwise, Confidence
from veridical_lab.evaluating.examples import TABLE_1


def _draw(p, rng):
    if p.ndim == 1:
        return (rng.random(len(p)) < p).astype(int)
    return (rng.random(len(p))[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def _part(test, name, label=None):
    return next(part for part in test.parts if (part.name, part.label) == (name, label))


# Members against formulas.


def test_level_and_spread_are_the_score_tests():
    rng = np.random.default_rng(0)
    p, w = rng.random(60), rng.exponential(size=60)
    y = _draw(p, rng)
    of_label = np.array([7.0, 2.0])
    # Weights of the rows vary by w^2 pq, with one weight a label by w_0 w_1 pq.
    for weight, squares in ((None, 1.0), (w, w**2), (of_label[y], 14.0)):
        each = np.ones(60) if weight is None else weight
        test = joint_test(y, p, sample_weight=weight, n_resamples=19, rng=0)
        variance = squares * p * (1 - p)
        level = (each @ (y - p)) ** 2 / variance.sum()
        odds = np.log(p / (1 - p))
        # The score of a slope of variances: residuals w (y - p), centred with their variances.
        centred = odds - (variance @ odds) / variance.sum()
        score = centred @ (each * (y - p))
        spread = score**2 / (variance @ centred**2)
        assert _part(test, "level").statistic == pytest.approx(level)
        assert _part(test, "spread").statistic == pytest.approx(spread)
        assert _part(test, "level").direction == np.sign(each @ (y - p))
        assert _part(test, "spread").direction == np.sign(score)


def test_vector_is_the_kernel_error_of_all_pairs():
    rng = np.random.default_rng(1)
    vectors = rng.dirichlet(np.ones(3), 6)
    p = vectors[rng.integers(6, size=40)]
    y = _draw(p, rng)
    residual = np.eye(3)[y] - p
    distance = np.linalg.norm(p[:, None] - p[None, :], axis=2)
    expected = 0.0
    for i in range(40):
        for j in range(40):
            similar = np.exp(-4 * distance[i, j] / distance.mean())
            expected += similar * (residual[i] @ residual[j])
    test = joint_test(y, p, n_resamples=19, rng=0)
    assert _part(test, "vector").statistic == pytest.approx(expected, rel=1e-6)


# Draws against known laws.


# The scale and what is made of it.


def test_own_pvalue_of_a_coin_is_the_binomial_one():
    test = joint_test([1] * 15 + [0] * 5, [0.5] * 20, n_resamples=20_000, rng=0)
    exact = stats.binomtest(15, 20, 0.5).pvalue
    assert _part(test, "level").pvalue == pytest.approx(exact, abs=0.005)
    # Nothing but the level can be seen, so nothing is paid for others.
    assert test.pvalue == _part(test, "level").pvalue


@pytest.mark.parametrize("seed", range(6))
def test_headline_and_parts_agree(seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(4), 80) if seed % 2 else rng.random(80)
    y = _draw(p**1.3 / (p**1.3).sum(axis=1, keepdims=True) if seed % 2 else p**1.3, rng)
    test = joint_test(y, p, by=rng.integers(3, size=80), n_resamples=99, rng=rng)
    assert test.pvalue == min(part.adjusted for part in test.parts)
    assert test.rejected == bool(test.standing_out)
    assert all(part.adjusted >= part.pvalue >= 1 / 100 for part in test.parts)


# Laws.


def test_no_order_of_classes_or_rows():
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.ones(4), 150)
    y, by, w = _draw(p, rng), rng.integers(3, size=150), rng.exponential(size=150)
    names, rows = rng.permutation(4), rng.permutation(150)
    options = {"n_resamples": 99, "labels": [0, 1, 2, 3]}
    first = joint_test(y, p, by=by, sample_weight=w, rng=0, **options)
    second = joint_test(
        np.argsort(names)[y][rows],
        p[rows][:, names],
        by=by[rows],
        sample_weight=w[rows],
        rng=0,
        **options,
    )
    for part in first.parts:
        label = part.label if part.name != "class" else int(np.flatnonzero(names == part.label)[0])
        assert _part(second, part.name, label).adjusted == part.adjusted


def test_frequencies_are_repetitions():
    rng = np.random.default_rng(8)
    count = rng.integers(1, 4, size=60)
    for p in (rng.random(60), rng.dirichlet(np.ones(3), 60)):
        y = _draw(p, rng)
        first = joint_test(
            y, p, sample_weight=count, weight_type="frequency", n_resamples=2000, rng=0
        )
        second = joint_test(np.repeat(y, count), np.repeat(p, count, axis=0), rng=1,
                            n_resamples=2000)  # fmt: skip
        for one, two in zip(first.parts, second.parts, strict=True):
            assert one.statistic == pytest.approx(two.statistic, rel=1e-6)
            assert one.pvalue == pytest.approx(two.pvalue, abs=0.06)


def test_constant_weights_change_nothing():
    rng = np.random.default_rng(9)
    p = rng.random(100)
    y = _draw(p, rng)
    plain = joint_test(y, p, n_resamples=99, rng=0)
    scaled = joint_test(y, p, sample_weight=np.full(100, 2.5), n_resamples=99, rng=0)
    assert plain.pvalue == scaled.pvalue


def test_sums_say_what_rows_say():
    rng = np.random.default_rng(10)
    p, by = rng.random(3000).round(3), rng.integers(2, size=3000)
    w, y = rng.exponential(size=3000), _draw(p, rng)
    of_label = np.array([5.0, 1.0])[y]
    for options in (
        *({"sample_weight": each} for each in (None, w, of_label)),
        *({"by": by, "sample_weight": each} for each in (None, w, of_label)),
    ):
        rows = joint_test(y, p, rng=0, **options)
        grid = grid_summary(y, p, **options)
        sums = joint_sums_core(grid, None, draws=Draws(1000, rng), caller="test")
        assert [part.name for part in rows.parts] == [part.name for part in sums.parts]
        for one, two in zip(rows.parts, sums.parts, strict=True):
            assert one.statistic == pytest.approx(two.statistic, rel=0.05, abs=0.05)
            assert one.pvalue == pytest.approx(two.pvalue, abs=0.08)
            assert one.n_samples == two.n_samples


def test_sums_of_several_classes_are_corrected_one_by_one():
    rng = np.random.default_rng(11)
    p = rng.dirichlet(np.ones(3), 2000)
    y = _draw(p * [0.6, 1, 1] / (p * [0.6, 1, 1]).sum(axis=1, keepdims=True), rng)
    grid, draws = grid_summary(y, p), Draws(999, rng)
    whole = joint_sums_core(grid, None, draws=draws, caller="test")
    assert "vectors were left out" in whole.notes[0]
    assert {part.name for part in whole.parts} == {"level", "spread", "shape", "class"}
    own = sorted(part.pvalue for part in whole.parts)
    assert whole.pvalue == pytest.approx(min(1.0, 6 * own[0]))
    assert whole.standing_out[0].label == 0
    assert len(joint_sums_core(grid, Classwise(), draws=draws, caller="test").parts) == 3
    one = joint_sums_core(grid, Confidence(), draws=draws, caller="test")
    assert (one.lens, len(one.parts), one.notes) == ("confidence", 3, ())


@pytest.mark.parametrize("weight", [None, np.full(6000, 1e-3)])
def test_some_rows_say_how_sums_of_many_go_together(monkeypatch, weight):
    rng = np.random.default_rng(12)
    p = rng.dirichlet([0.02, 1, 2], 6000)  # the first class is rare
    y = _draw(p, rng)
    sample = MulticlassSample(y=y, p=p, weight=weight, classes=(0, 1, 2))
    monkeypatch.setattr(layout, "MOST_DRAWN", 2000)
    found = layout.layout_of(sample, None, 0)
    assert len(found.drawn) == 2000
    names = ["confidence", "class", "vector"]
    sums = layout.all_sums(sample, found, None, names)
    (some,) = drawn_sums(sample, found, None, sums, Draws(2000, rng))
    whole = replace(found, drawn=np.arange(6000))
    blocks = list(drawn_sums(sample, whole, None, sums, Draws(2000, rng)))
    for name in names:
        every = np.vstack([block[name] for block in blocks])
        outcomes = sums[name].variance / np.square(np.maximum(sums[name].unit, 1e-300))
        held = outcomes > 1
        root = 1.0 if weight is None else np.sqrt(sums[name].variance[held])
        one, two = every[:, held] / root, some[name][:, held] / root
        assert one.var(axis=0) == pytest.approx(two.var(axis=0), rel=0.25, abs=1e-3)
        if name != "vector":  # whose cells hold few outcomes, so many ties
            common = outcomes[held] > 10
            difference = np.corrcoef(one[:, common].T) - np.corrcoef(two[:, common].T)
            assert np.abs(difference).max() < 0.15
        # The same tails of a statistic of all sums.
        tails = [np.quantile(np.square(each).sum(axis=1), [0.5, 0.95]) for each in (one, two)]
        assert tails[0] == pytest.approx(tails[1], rel=0.1)


@pytest.mark.parametrize("tail", [3.0, 1.0])
def test_unit_of_weights_does_not_matter(monkeypatch, tail):
    rng = np.random.default_rng(19)
    p, weight = rng.dirichlet([1, 1, 0.1], 700), 1 + rng.pareto(tail, 700)
    y = _draw(p, rng)
    monkeypatch.setattr(layout, "MOST_DRAWN", 500)
    options = {"labels": [0, 1, 2], "by": np.arange(700) % 2, "n_resamples": 99, "rng": 0}
    first = joint_test(y, p, sample_weight=weight, **options)
    for scale in (1e-6, 0.1, 1e4):
        other = joint_test(y, p, sample_weight=scale * weight, **options)
        for one, two in zip(first.parts, other.parts, strict=True):
            assert (one.pvalue, one.adjusted) == (two.pvalue, two.adjusted)


def _corner(rng):
    p = rng.random(5000)
    q, few = p.copy(), rng.random(5000) < 0.01
    p[few], q[few] = 1e-4, 0.1
    return p, q


def _alternating(rng):
    p = rng.random(5000)
    return p, np.clip(p + 0.06 * np.where((p * 15).astype(int) % 2, 1, -1), 0, 1)


@pytest.mark.parametrize("law", [_corner, _alternating])
@pytest.mark.parametrize("turned", [False, True])
def test_small_corners_and_gaps_of_either_sign_are_found(law, turned):
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p, q = law(rng)
        y = _draw(q, rng)
        p, y = (1 - p, 1 - y) if turned else (p, y)
        test = joint_test(y, p, n_resamples=199, rng=0)
        found += any(part.name == "shape" for part in test.standing_out)
    assert found >= 9


# What is found, and what is looked at.


def test_example_of_whole_vectors_is_found():
    rng = np.random.default_rng(13)
    predicted, true = np.array(TABLE_1).transpose(1, 0, 2)
    row = rng.integers(6, size=2000)
    test = joint_test(_draw(true[row], rng), predicted[row], labels=[0, 1, 2], rng=0)
    assert test.lens == "whole prediction"
    assert [part.name for part in test.standing_out] == ["vector"]


def test_a_bad_group_is_named():
    rng = np.random.default_rng(14)
    p, by = rng.random(2000), rng.integers(5, size=2000)
    y = _draw(np.where(by == 2, p**2.5, p), rng)
    test = joint_test(y, p, by=[f"g{key}" for key in by], rng=0)
    clearest = test.standing_out[0]
    assert (clearest.name, clearest.label, clearest.direction) == ("group", "g2", -1.0)
    assert clearest.n_samples == (by == 2).sum()


@pytest.mark.parametrize(
    ("lens", "name", "parts"),
    [
        (None, "whole prediction", ["level", "spread", "shape", *["class"] * 3, "vector"]),
        ("canonical", "canonical", ["level", "spread", "shape", *["class"] * 3, "vector"]),
        ("confidence", "confidence", ["level", "spread", "shape"]),
        ("classwise", "classwise", ["class"] * 3),
        ("pooled", "pooled", ["class"] * 3),  # K rows of one outcome are not independent
        (ClassSpecific(1), "class 1", ["level", "spread", "shape"]),
        (lambda y, p: (y == 0, p[:, 0]), "<lambda>", ["level", "spread", "shape"]),
    ],
)
def test_a_lens_restricts_the_family(lens, name, parts):
    rng = np.random.default_rng(15)
    p = rng.dirichlet(np.ones(3), 50)
    test = joint_test(_draw(p, rng), p, lens=lens, labels=[0, 1, 2], n_resamples=19, rng=0)
    assert (test.lens, [part.name for part in test.parts]) == (name, parts)


_CERTAIN = np.eye(3)[[0, 1, 2, 2]]


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0], [0.3]),
        ([1, 0], [0.3, 0.3]),
        ([0, 1, 0, 1], [0.0, 1.0, 0.0, 1.0]),
        ([0, 1, 2, 2], _CERTAIN),
        ([0], [[0.2, 0.3, 0.5]]),
        ([0, 1, 0], [[0.2, 0.8, 0.0]] * 3),
        ([0, 1], [1e-300, 1 - 1e-16]),
    ],
)
def test_small_and_certain_predictions(y, p):
    p = np.array(p)
    labels = [0, 1] if p.ndim == 1 else [0, 1, 2]
    test = joint_test(y, p, labels=labels, by=np.arange(len(y)) % 2, n_resamples=199, rng=0)
    numbers = [(part.statistic, part.pvalue, part.adjusted) for part in test.parts]
    assert np.isfinite(numbers).all()
    assert not test.rejected


def test_many_classes_that_are_never_predicted():
    rng = np.random.default_rng(16)
    p = np.zeros((40, 100))
    p[:, :3] = rng.dirichlet(np.ones(3), 40)
    y = _draw(p, rng)
    test = joint_test(y, p, labels=list(range(100)), n_resamples=39, rng=0)
    assert np.isfinite([part.adjusted for part in test.parts]).all()
    assert _part(test, "class", 50).pvalue == 1.0


@pytest.mark.parametrize(
    ("y", "p", "part"),
    [
        ([1] + [0, 1] * 20, [0.0] + [0.5] * 40, ("spread", None)),
        ([0] + [0, 1] * 20, [1.0] + [0.5] * 40, ("spread", None)),
        ([2] + [0, 1] * 20, [[0.5, 0.5, 0.0]] + [[0.4, 0.4, 0.2]] * 40, ("class", 2)),
    ],
)
def test_what_cannot_happen_and_does_is_found(y, p, part):
    labels = [0, 1] if np.ndim(p) == 1 else [0, 1, 2]
    test = joint_test(y, p, labels=labels, n_resamples=99, rng=0)
    assert test.pvalue == 1 / 100
    assert _part(test, *part) in test.standing_out


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0, 1] * 10, [0.0, 0.0, 1.0, 1.0] * 5),  # no log odds: nothing but the impossible
        ([1] + [0] * 20 + [1] * 20, [0.0] + [0.4] * 20 + [0.6] * 20),  # others are timid
        ([0, 1, 2] * 4, np.eye(3)[[0, 1, 2, 1, 2, 0] * 2]),
    ],
)
def test_what_cannot_happen_and_does_is_too_extreme(y, p):
    labels = [0, 1] if np.ndim(p) == 1 else [0, 1, 2]
    spread = _part(joint_test(y, p, labels=labels, n_resamples=99, rng=0), "spread")
    assert (spread.adjusted, spread.direction) == (1 / 100, -1.0)
    if np.ndim(p) == 1:
        draws = Draws(99, np.random.default_rng(0))
        sums = joint_sums_core(grid_summary(y, p), None, draws=draws, caller="test")
        assert _part(sums, "spread").direction == -1.0


def test_refusals():
    with pytest.raises(InvalidInputError, match="level"):
        joint_test([0, 1], [0.2, 0.7], level=1.5)
    with pytest.raises(InvalidInputError, match="by"):
        joint_test([0, 1], [0.2, 0.7], by=["a"])
    with pytest.warns(VeridicalWarning, match="whole numbers"):
        joint_test([0, 1], [0.2, 0.7], sample_weight=[1.5, 1], weight_type="frequency", rng=0)


def test_two_values_have_a_level_and_a_spread_and_no_shape():
    y = [1] * 40 + [0] * 60 + [1] * 60 + [0] * 40
    test = joint_test(y, [0.2] * 100 + [0.8] * 100, rng=0)
    assert [part.name for part in test.standing_out] == ["spread"]
    assert [part.pvalue for part in test.parts if part.name == "shape"] in ([], [1.0])
