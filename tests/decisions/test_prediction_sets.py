"""Sets of classes: another package's, promises by class and group, changed shares of classes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from veridical import InvalidInputError, VeridicalWarning
from veridical.decisions import PredictionSets
from veridical.decisions._risk.sets import _scores

RECORDED = json.loads(
    (Path(__file__).parent.parent / "reference" / "mapie_sets.json").read_text(encoding="utf-8")
)


def _rows(n, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.linspace(0.3, 1.0, n_classes), n)
    return p, (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda c: f"{c['method']} {c['level']}")
def test_sets_are_those_of_mapie_at_its_quantile(case):
    new = np.array(RECORDED["new"])
    member = _scores(new, case["method"]) <= case["quantile"]
    assert ["".join(str(int(cell)) for cell in row) for row in member] == case["sets"]
    if case["method"] == "lac":  # whose quantile is not randomised
        made = PredictionSets(level=case["level"], labels=range(4))
        made.fit(RECORDED["p"], RECORDED["y"])
        assert made.thresholds_[0, 0] == pytest.approx(case["quantile"], abs=1e-12)
        np.testing.assert_array_equal(made.predict(new), member)


@pytest.mark.parametrize(("level", "threshold"), [(0.8, 0.8), (0.95, math.inf)])
def test_the_quantile_counts_the_new_row(level, threshold):
    scores = np.arange(1, 10) / 10  # ceil(10 * .8) = 8th; ceil(10 * .95) = 10th of nine
    made = PredictionSets(level=level)
    if math.isinf(threshold):
        with pytest.warns(VeridicalWarning, match="fewer than 19 rows"):
            made.fit(1 - scores, [1] * 9)
        assert made.predict([0.01, 0.99]).all()
    else:
        made.fit(1 - scores, [1] * 9)
    assert made.thresholds_[0, 1] == pytest.approx(threshold)


def test_sums_before_equal_probabilities_are_equal():
    p = np.array([[0.4, 0.2, 0.4], [0.25, 0.25, 0.5]])
    np.testing.assert_allclose(_scores(p, "aps"), [[0, 0.8, 0], [0.5, 0.5, 0]])


@pytest.mark.parametrize("method", ["lac", "aps"])
def test_permuting_classes_permutes_sets(method):
    p, y = _rows(200)
    new, _ = _rows(50, seed=1)
    order = [2, 0, 1]
    sets = PredictionSets(method=method).fit(p, y).predict(new)
    moved = PredictionSets(method=method).fit(p[:, order], np.argsort(order)[y])
    np.testing.assert_array_equal(moved.predict(new[:, order]), sets[:, order])


def test_every_class_has_its_own_quantile():
    p, y = _rows(300)
    made = PredictionSets(by="class", level=0.8).fit(p, y)
    for k in range(3):
        score = np.sort(1 - p[y == k, k])
        at = math.ceil(0.8 * (len(score) + 1)) - 1
        assert made.thresholds_[0, k] == score[at]


def test_every_group_has_its_own_quantile_and_new_ones_are_said():
    p, y = _rows(300)
    group = np.array(["north", "south"])[np.arange(300) % 2]
    made = PredictionSets(level=0.8).fit(p, y, by=group)
    south = PredictionSets(level=0.8).fit(p[1::2], y[1::2])
    np.testing.assert_array_equal(made.predict(p[:5], by=["south"] * 5), south.predict(p[:5]))
    with pytest.warns(VeridicalWarning, match="'west' was not fitted"):
        sets = made.predict(p[:5], by=["west"] * 5)
    np.testing.assert_array_equal(sets, PredictionSets(level=0.8).fit(p, y).predict(p[:5]))
    with pytest.raises(InvalidInputError, match="given to sets by group"):
        made.predict(p[:5])


def test_changed_shares_weigh_rows_by_their_class():
    p, y = _rows(400)
    share = np.bincount(y) / 400
    target = np.array([0.7, 0.2, 0.1])
    made = PredictionSets(level=0.8).fit(p, y, priors=target.tolist())
    score = 1 - p[np.arange(400), y]
    weight = (target / share)[y]
    for k in range(3):
        wanted = 0.8 * (weight.sum() + (target / share)[k])
        reached = [t for t in np.sort(score) if weight[score <= t].sum() >= wanted]
        assert made.thresholds_[0, k] == reached[0]
    same = PredictionSets(level=0.8).fit(p, y, priors=share.tolist())
    np.testing.assert_allclose(same.thresholds_, PredictionSets(level=0.8).fit(p, y).thresholds_)


def test_weights_are_copies_and_zero_is_removal():
    p, y = _rows(200)
    weight = np.arange(200) % 3
    made = PredictionSets(level=0.8).fit(p, y, sample_weight=weight)
    twice = PredictionSets(level=0.8).fit(np.repeat(p, weight, axis=0), np.repeat(y, weight))
    assert abs(made.thresholds_[0, 0] - twice.thresholds_[0, 0]) < 0.02  # n + 1 is another
    kept = weight > 0
    without = PredictionSets(level=0.8).fit(p[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(made.thresholds_, without.thresholds_)


def test_coverage_is_counted_in_all_by_class_and_by_group():
    p, y = _rows(600)
    names = np.array(["a", "b", "c"])
    made = PredictionSets(level=0.8).fit(p[:300], names[y[:300]])
    found = made.coverage(p[300:], names[y[300:]], by=np.arange(300) % 2)
    member = made.predict(p[300:])
    hit = member[np.arange(300), y[300:]]
    assert found.total.coverage == pytest.approx(hit.mean())
    assert found.by_class[1].coverage == pytest.approx(hit[y[300:] == 1].mean())
    assert found.by_group[0].coverage == pytest.approx(hit[::2].mean())
    assert found.total.low < 0.8 < found.total.high
    assert (found.single, found.empty) == (
        (member.sum(axis=1) == 1).mean(),
        (member.sum(axis=1) == 0).mean(),
    )
    assert "of 300 sets contain the class" in str(found)
    assert len(found.to_frame()) == 1 + 3 + 2
    assert type(found).from_json(found.to_json()) == found


def test_labels_come_with_the_most_probable_first():
    p, y = _rows(200)
    made = PredictionSets(method="aps").fit(p, np.array(["a", "b", "c"])[y])
    for labels, row, member in zip(
        made.predict_labels(p[:20]), p[:20], made.predict(p[:20]), strict=True
    ):
        expected = [k for k in np.argsort(-row) if member[k]]
        assert labels == ["abc"[k] for k in expected]
        assert labels  # never empty


def test_the_positive_class_of_one_column_may_be_the_first():
    p, y = _rows(200, 2)
    names = np.array(["bad", "good"])[y]
    one = PredictionSets(pos_label="bad").fit(p[:, 0], names)
    both = PredictionSets().fit(p, names)
    np.testing.assert_array_equal(one.predict(p[:, 0]), both.predict(p))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (PredictionSets(method="raps"), "method"),
        (PredictionSets(level=1.5), "between 0 and 1"),
        (PredictionSets(by="group"), "None or"),
    ],
)
def test_bad_options_are_said(made, words):
    p, y = _rows(50)
    with pytest.raises(InvalidInputError, match=words):
        made.fit(p, y)


def test_a_class_without_rows_has_no_share_elsewhere():
    p, y = _rows(60)
    with pytest.raises(InvalidInputError, match="of every class that `priors` names"):
        PredictionSets(labels=range(3)).fit(p[y < 2], y[y < 2], priors=[0.3, 0.3, 0.4])
    with pytest.raises(InvalidInputError, match="fitted"):
        PredictionSets().predict(p)
