"""Boosted trees against trees grown naively, known truths, and rows that have nothing to repair."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from calibrators.multiclass_oracles import log_loss
from scipy.special import softmax

from veridical.calibrators import (
    BoostedCalibrator,
    Calibrator,
    IdentityCalibrator,
    StructuredMatrixCalibrator,
    TemperatureCalibrator,
)
from veridical.calibrators._trees.oblivious import Boosting
from veridical.calibrators._trees.rounds import HeldOut
from veridical.calibrators._trees.splits import Scale, candidate_features, cuts_of
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.export import to_sql

RIDGE, LEAST = 5.0, 20.0  # as documented

# Widmann et al. (2019), Table 1 (arXiv 1902.06977): predictions and what happens.
EXAMPLE_1 = np.array(
    [
        [[0.1, 0.3, 0.6], [0.2, 0.2, 0.6]],
        [[0.1, 0.6, 0.3], [0.0, 0.7, 0.3]],
        [[0.3, 0.1, 0.6], [0.2, 0.2, 0.6]],
        [[0.3, 0.6, 0.1], [0.4, 0.5, 0.1]],
        [[0.6, 0.1, 0.3], [0.7, 0.0, 0.3]],
        [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]],
    ]
)


def drawn(truth, rng):
    return (rng.random(len(truth))[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=2)


def stepped(n, seed):
    """Predictions whose truth is another one on either side of a line between two classes."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), n)
    moved = np.where((p[:, 0] > 1.5 * p[:, 1])[:, None], [1.5, -1.0, 0.0], [-0.5, 0.0, 1.0])
    truth = softmax(np.log(p) + moved, axis=1)
    return p, drawn(truth, rng), truth


# --- one tree


def sums(members, g, h):
    return g[members].sum(axis=0), h[members].sum(axis=0)


def fall(members, g, h):
    total_g, total_h = sums(members, g, h)
    return (total_g**2 / (total_h + RIDGE)).sum()


def naive_tree(codes, scores, y, weight, depth, rate):
    """The best question of each level by trying all, one row after the other in plain sets."""
    k = scores.shape[1]
    p = softmax(scores, axis=1)
    g, h = (p - np.eye(k)[y]) * weight[:, None], p * (1 - p) * k / (k - 1) * weight[:, None]
    leaves, asked = [np.arange(len(y))], []
    for _ in range(depth):
        best = (0.0, None)
        for feature, cut in itertools.product(range(len(codes)), range(codes.max() + 1)):
            worth = 0.0
            for rows in leaves:
                yes = codes[feature, rows] > cut
                parts = rows[~yes], rows[yes]
                if min(weight[each].sum() for each in parts) >= LEAST:
                    worth += sum(fall(each, g, h) for each in parts) - fall(rows, g, h)
            if worth > best[0] * (1 + 1e-9):
                best = (worth, (feature, cut))
        asked.append(best[1])
        answers = [codes[best[1][0], rows] > best[1][1] for rows in leaves]
        leaves = [
            part
            for rows, yes in zip(leaves, answers, strict=True)
            for part in (rows[~yes], rows[yes])
        ]
    steps = []
    for rows in leaves:
        total_g, total_h = sums(rows, g, h)
        step = np.clip(-total_g / (total_h + RIDGE), -4, 4)
        steps.append(rate * (step - step.mean()))
    return asked, np.array(steps)


@pytest.mark.parametrize(("k", "depth"), [(2, 2), (3, 3), (4, 1)])
def test_a_tree_asks_what_trying_every_question_finds(k, depth):
    rng = np.random.default_rng(k)
    codes = rng.integers(0, 6, (4, 300))
    scores, y, weight = rng.normal(size=(300, k)), rng.integers(0, k, 300), rng.uniform(0, 2, 300)
    asked, steps = naive_tree(codes, scores, y, weight, depth, 0.2)
    tree = Boosting(codes, scores.copy(), y, weight, depth=depth, rate=0.2).grow()
    assert list(zip(tree.features.tolist(), tree.cuts.tolist(), strict=True)) == asked
    np.testing.assert_allclose(tree.leaves, steps, atol=6e-7)  # six decimals are kept


def test_trees_go_on_from_the_scores_that_the_last_one_left():
    rng = np.random.default_rng(0)
    codes, scores = rng.integers(0, 5, (3, 200)), rng.normal(size=(200, 3))
    y, weight = rng.integers(0, 3, 200), np.ones(200)
    boosting = Boosting(codes, scores.copy(), y, weight, depth=2, rate=0.3)
    first, second = boosting.grow(), boosting.grow()
    moved = scores + first.leaves[first.leaf_of(codes)]
    asked, steps = naive_tree(codes, moved, y, weight, 2, 0.3)
    assert list(zip(second.features.tolist(), second.cuts.tolist(), strict=True)) == asked
    np.testing.assert_allclose(second.leaves, steps, atol=6e-7)


def test_without_rows_enough_on_either_side_there_is_no_tree():
    codes = np.array([[0] * 30 + [1] * 19])
    boosting = Boosting(codes, np.zeros((49, 2)), codes[0], np.ones(49), depth=1, rate=0.2)
    assert boosting.grow() is None


# --- features


def test_features_and_where_they_are_cut():
    p = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
    first, second = candidate_features(np.array([2, 0, 1]), "probability")
    assert first.tolist() == [2, 0, 1, 0, 1, 1]
    assert second.tolist() == [-1, -1, -1, 2, 2, 0]
    found = Scale("probability", 0.1).features(p, first, second)
    expected = [[0.5, 0.1], [0.2, 0.6], [0.3, 0.4], [0.4, 6.0], [0.6, 4.0], [1.5, 2 / 3]]
    np.testing.assert_allclose(found, expected)
    of_logits = Scale("logit", 0.0).features(np.log(p + 1e-9), first, second)
    np.testing.assert_allclose(of_logits[5], np.log([1.5, 2 / 3]), atol=1e-6)
    assert cuts_of(np.array([1.0, 3.0, 3.0, 7.0]), np.ones(4)).tolist() == [2.0, 5.0]
    assert cuts_of(np.array([1.0, 3.0, 7.0]), np.array([1.0, 0.0, 1.0])).tolist() == [4.0]
    assert cuts_of(np.array([0.1 + 0.2, 0.3]), np.ones(2)).tolist() == []  # equal but for rounding


def test_many_values_are_cut_into_equal_parts_from_either_end():
    rng = np.random.default_rng(1)
    x = rng.normal(size=1000)
    cuts = cuts_of(x, np.ones(1000))
    assert len(cuts) == 32
    shares = np.diff(np.searchsorted(np.sort(x), cuts), prepend=0, append=1000)
    assert shares.min() >= 30
    assert shares.max() <= 32  # a thousand by 33
    np.testing.assert_allclose(-cuts_of(-x, np.ones(1000))[::-1], cuts)
    times = rng.integers(0, 4, 1000)
    np.testing.assert_allclose(
        cuts_of(x, times.astype(float)), cuts_of(np.repeat(x, times), np.ones(times.sum()))
    )


# --- the map


def test_predictions_are_the_sum_of_looked_up_leaves():
    p, y, _ = stepped(1500, 3)
    fitted = BoostedCalibrator(depth=2, max_rounds=15).fit(p, y)
    assert 0 < len(fitted.leaves_) <= 15
    new = stepped(50, 4)[0]
    scores = np.log(fitted.base_.predict_proba(new))
    raised = np.maximum(new, fitted.floor_)
    for row, score in zip(raised, scores, strict=True):
        for j, k, cut, leaves in zip(
            fitted.first_, fitted.second_, fitted.thresholds_, fitted.leaves_, strict=True
        ):
            place = 0
            for a, b, limit in zip(j, k, cut, strict=True):
                value = row[a] if b == -1 else row[a] / row[b]
                place = 2 * place + int(value > limit)
            score += leaves[place]
    np.testing.assert_allclose(fitted.predict_proba(new), softmax(scores, axis=1), rtol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(new[:1]), softmax(scores[:1], axis=1))
    many = np.tile(new, (200, 1))  # many rows are looked up in another way
    np.testing.assert_allclose(fitted.predict_proba(many)[-50:], fitted.predict_proba(new))


def test_steps_that_no_smooth_map_has_are_found():
    p, y, truth = stepped(8000, 0)
    fitted = BoostedCalibrator().fit(p[:4000], y[:4000])
    test = slice(4000, None)

    def excess(q):
        return (truth[test] * np.log(truth[test] / q)).sum(axis=1).mean()

    smooth = excess(StructuredMatrixCalibrator().fit(p[:4000], y[:4000]).predict_proba(p[test]))
    assert excess(fitted.predict_proba(p[test])) < 0.4 * smooth
    gained = smooth - excess(fitted.predict_proba(p[test]))
    assert abs(fitted.gain_ - gained) < 4 * fitted.gain_error_


def test_whole_vectors_of_the_first_example_are_repaired():
    """All marginals are calibrated there, yet another prediction is better by .063 nats."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, 6, 4000)
    p, truth = EXAMPLE_1[which, 0], EXAMPLE_1[which, 1]
    fitted = BoostedCalibrator().fit(p, drawn(truth, rng))

    def expected(q):
        return -(EXAMPLE_1[:, 1] * np.log(q)).sum(axis=1).mean()

    truth = EXAMPLE_1[:, 1]
    least = -(truth * np.log(np.where(truth > 0, truth, 1.0))).sum(axis=1).mean()
    assert expected(EXAMPLE_1[:, 0]) - least == pytest.approx(0.0631, abs=1e-4)
    assert expected(fitted.predict_proba(EXAMPLE_1[:, 0])) - least < 0.006


def test_calibrated_predictions_are_left_to_the_other_map():
    kept = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p = rng.dirichlet(np.ones(3), 500)
        fitted = BoostedCalibrator(TemperatureCalibrator()).fit(p, drawn(p, rng))
        plain = TemperatureCalibrator().fit(p, drawn(p, np.random.default_rng(0)))
        kept.append(len(fitted.leaves_))
        if not kept[-1]:
            np.testing.assert_array_equal(fitted.predict_proba(p), fitted.base_.predict_proba(p))
        assert type(fitted.base_) is type(plain)
    assert sum(count > 0 for count in kept) <= 3


@pytest.mark.parametrize(
    ("gain", "error", "left"), [(0.0, 0.0, 0.0), (0.1, 0.2, 0.0), (0.2, 0.1, 0.75), (0.1, 0.0, 1.0)]
)
def test_noise_is_not_shipped(gain, error, left):
    assert HeldOut(5, gain, error).shrinkage == pytest.approx(left)


def test_two_classes_are_one_step_function_on_top():
    rng = np.random.default_rng(1)
    p = rng.uniform(0, 1, 3000)
    y = (rng.random(3000) < np.where(p < 0.4, 0.3, 0.8)).astype(int)
    fitted = BoostedCalibrator(IdentityCalibrator()).fit(p, y)
    assert set(fitted.second_.ravel().tolist()) == {-1}
    assert fitted.predict_proba([0.1, 0.3, 0.6, 0.9])[:, 1] == pytest.approx(
        [0.3, 0.3, 0.8, 0.8], abs=0.1
    )
    assert fitted.inverse(0.6).score == pytest.approx(0.4, abs=0.03)
    assert to_sql(fitted, columns="p").count("LN(") <= 6  # the lookup is written once for a class


def test_names_of_classes_and_files():
    p, y, _ = stepped(1500, 5)
    fitted = BoostedCalibrator(max_rounds=30).fit(p, np.array(["b", "a", "c"])[y])
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    turned = fitted.predict_proba(p)
    again = Calibrator.from_dict(json.loads(json.dumps(fitted.to_dict())))
    np.testing.assert_array_equal(again.predict_proba(p), turned)
    assert "trees of 3 questions" in fitted.explain()


def test_expressions_too_long_are_refused_with_the_way_out():
    p, y, _ = stepped(2000, 6)
    fitted = BoostedCalibrator(max_rounds=20).fit(p, y)
    assert len(to_sql(fitted, table="scores")) < 300_000
    for name in ("first_", "second_", "thresholds_", "leaves_"):  # as if there were 2,000 trees
        setattr(fitted, name, np.concatenate([getattr(fitted, name)] * 100))
    with pytest.raises(InvalidInputError, match=r"(?s)million letters.*pass `table=`"):
        to_sql(fitted)
    with pytest.raises(InvalidInputError, match=r"(?s)million letters.*use `to_onnx`"):
        to_sql(fitted, table="scores")


def test_log_loss_falls_with_weights_as_with_repetitions():
    p, y, _ = stepped(900, 7)
    times = np.random.default_rng(8).integers(0, 3, 900)
    new = stepped(100, 9)
    weighted = BoostedCalibrator(max_rounds=20, weight_type="frequency").fit(p, y, times)
    with pytest.warns(VeridicalWarning, match="910 rows count as 604"):
        repeated = BoostedCalibrator(max_rounds=20).fit(
            np.repeat(p, times, axis=0), np.repeat(y, times)
        )
    np.testing.assert_allclose(
        weighted.predict_proba(new[0]), repeated.predict_proba(new[0]), atol=1e-6
    )
    base = weighted.base_.predict_proba(new[0])
    assert log_loss(weighted.predict_proba(new[0]), new[1]) < log_loss(base, new[1])


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"depth": 0}, "depth"),
        ({"depth": 5}, "depth"),
        ({"max_rounds": -1}, "max_rounds"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate"),
        ({"cv": 1}, "cv"),
        ({"calibrator": "matrix"}, "calibrator"),
    ],
)
def test_options_are_checked(options, param):
    with pytest.raises(InvalidInputError, match=f"`{param}` must be"):
        BoostedCalibrator(**options).fit([0.2, 0.7], [0, 1])


def test_without_folds_there_are_as_many_trees_as_were_asked_for():
    p, y, _ = stepped(500, 10)
    fitted = BoostedCalibrator(max_rounds=7, cv=None).fit(p, y)
    assert len(fitted.leaves_) == 7
    assert (fitted.gain_, fitted.gain_error_) == (0.0, 0.0)
    first = BoostedCalibrator(max_rounds=1, cv=None).fit(p, y)
    np.testing.assert_array_equal(first.leaves_[0], fitted.leaves_[0])
    assert "held out" not in fitted.explain()


def test_no_rounds_are_the_other_map():
    p, y, _ = stepped(500, 10)
    fitted = BoostedCalibrator(max_rounds=0).fit(p, y)
    plain = StructuredMatrixCalibrator().fit(p, y)
    np.testing.assert_array_equal(fitted.predict_proba(p), plain.predict_proba(p))
    assert "so there are none" in fitted.explain()
