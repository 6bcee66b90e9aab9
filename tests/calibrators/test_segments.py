"""Maps shifted and stretched in segments: against a naive optimum, and what must hold of them."""

import json

import numpy as np
import pandas as pd
import pytest
from calibrators.feature_data import is_hit, three_classes, two_classes
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit

from veridical import log_loss
from veridical.calibrators import (
    BetaCalibrator,
    Calibrator,
    GroupedCalibrator,
    IdentityCalibrator,
    PlattCalibrator,
    SegmentCalibrator,
    TemperatureCalibrator,
)
from veridical.calibrators._segments.joint_test import joint_pvalue
from veridical.calibrators._segments.ridge import CellRows, Ridge, Scale, centred_logs, contrasts
from veridical.exceptions import InvalidInputError


def _members(place, n_cells):
    from scipy.sparse import csr_array

    every = np.eye(n_cells)
    pairs = np.stack([every[:, 0] + every[:, 1], every[:, 1:].sum(axis=1)], axis=1)  # overlapping
    return csr_array(np.concatenate([every, pairs], axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_ridge_is_the_optimum_of_the_naive_loss(n_classes):
    rng = np.random.default_rng(1)
    n, n_cells = 400, 3
    p, y = rng.dirichlet(np.ones(n_classes), n), rng.integers(0, n_classes, n)
    place, weight = rng.integers(0, n_cells, n), rng.random(n) + 0.5
    scores, members = np.log(p), _members(place, n_cells).toarray()
    rows = CellRows(centred_logs(p, 1e-12), y, weight, place)
    scale = Scale.of(rows.scores, weight)
    theta = Ridge(rows, _members(place, n_cells), scale).fit(3.0)
    offsets, slopes = scale.lines(theta)

    def loss(flat):
        # offsets b (h, K) free of their mean, and slopes a about the mean score: rows one by one
        t = flat.reshape(members.shape[1], n_classes)
        b, a = t[:, :-1] @ contrasts(n_classes).T, t[:, -1] / scale.spread
        z = scores - scores.mean(axis=1, keepdims=True)
        inside = members[place]
        z = z + inside @ b + (inside @ a)[:, None] * (z - scale.mean)
        return -weight @ log_softmax(z, axis=1)[np.arange(n), y] + 1.5 * (t**2).sum()

    best = minimize(loss, np.zeros(theta.size), method="BFGS", options={"gtol": 1e-7})
    assert loss(theta.ravel()) <= best.fun + 1e-7
    np.testing.assert_allclose(theta.ravel(), best.x, atol=1e-4)
    # and lines of the scores themselves say the same
    z = rows.scores + members[place] @ offsets + (members[place] @ slopes)[:, None] * rows.scores
    np.testing.assert_allclose(
        log_softmax(z, axis=1),
        log_softmax(rows.adjusted(members @ theta, scale), axis=1),
        atol=1e-9,
    )


def test_contrasts_are_at_right_angles_and_free_of_the_mean():
    for k in (2, 3, 7):
        found = contrasts(k)
        np.testing.assert_allclose(found.T @ found, np.eye(k - 1) / 2, atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-12)


def test_the_statistic_is_the_range_of_the_worked_example():
    from scipy.sparse import csr_array

    from veridical.calibrators._segments.joint_test import _Walk

    y = np.array([0, 1, 0, 1, 1, 0, 1, 1])
    p = np.array([0.1, 0.2, 0.3, 0.4, 0.55, 0.6, 0.8, 0.9])
    walk = _Walk(p, np.ones(8), np.zeros(8, dtype=int), csr_array(np.ones((1, 1))))
    assert walk.largest(y[:, None] == 1)[0] == pytest.approx(1.2927893672, abs=1e-9)


def test_the_joint_test_holds_its_level_over_many_segments():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    n, n_cells, runs = 300, 40, 100
    members = csr_array(np.eye(n_cells))
    found = []
    for _ in range(runs):
        p = np.round(rng.beta(1, 4, n), 2).clip(0.01, 0.99)
        y, place = (rng.random(n) < p).astype(int), rng.integers(0, n_cells, n)
        both = np.column_stack([1 - p, p])
        found.append(
            joint_pvalue(both, y, np.ones(n), place, members, n_resamples=59, rng=rng) <= 0.05
        )
    assert np.sum(found) <= 12  # of 100 at 5 %: more in 0.2 % of cases


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_the_segment_that_is_wrong_is_mended(data):
    frame, p, y = data()
    new, q, truth = data(seed=1)
    map = SegmentCalibrator(TemperatureCalibrator()).fit(p, y, by=frame)
    found = map.predict_proba(q, by=new)
    before = map.base_.predict_proba(q)
    hit = is_hit(new)
    event = 0 if q.ndim == 2 else 1
    happened = (truth[hit] == event).mean()
    assert abs(before[hit, event].mean() - happened) > 0.15
    assert abs(found[hit, event].mean() - happened) < 0.07
    assert log_loss(truth, found) < log_loss(truth, before) - 0.005
    assert map.pvalue_ <= 0.05
    assert map.gain_ > map.gain_error_ > 0
    assert "region = South" in map.explain()


def test_it_is_the_other_map_where_nothing_is_found():
    frame, p, y = two_classes(n=1500, shift=0.0)
    map = SegmentCalibrator(BetaCalibrator()).fit(p, y, by=frame)
    assert map.pvalue_ > 0.05
    np.testing.assert_array_equal(
        map.predict_proba(p, by=frame), BetaCalibrator().fit(p, y).predict_proba(p)
    )
    assert "finds nothing" in map.explain()


def test_a_large_penalty_is_the_other_map_and_a_small_one_the_rates_of_segments():
    region = np.repeat(["a", "b"], 2000)
    p, y = np.full(4000, 0.5), np.tile([1, 1, 1, 0], 1000)
    y[2000:] = 1 - y[2000:]
    new = {"region": ["a", "b"]}
    map = SegmentCalibrator(IdentityCalibrator(), penalty=0.01).fit(p, y, by={"region": region})
    np.testing.assert_allclose(map.predict_proba([0.5, 0.5], by=new)[:, 1], [0.75, 0.25], atol=1e-3)
    map = SegmentCalibrator(IdentityCalibrator(), penalty=1e7).fit(p, y, by={"region": region})
    np.testing.assert_allclose(map.predict_proba([0.5, 0.5], by=new)[:, 1], 0.5, atol=1e-3)


def test_it_rises_with_the_score_in_every_cell_also_in_those_not_seen():
    rng = np.random.default_rng(3)
    n = 3000
    by = {"a": rng.choice(list("xy"), n), "b": rng.choice(list("uv"), n)}
    p = rng.random(n)
    turned = (by["a"] == "x") & (by["b"] == "u")  # outcomes fall with the score here
    y = (rng.random(n) < np.where(turned, 1 - p, p)).astype(int)
    kept = ~((by["a"] == "y") & (by["b"] == "v"))  # a cell that is never seen
    map = SegmentCalibrator(IdentityCalibrator()).fit(
        p[kept], y[kept], by={k: v[kept] for k, v in by.items()}
    )
    assert len(map.slopes_)
    grid = np.linspace(0.001, 0.999, 200)
    for a in ("x", "y", "z", None):
        for b in ("u", "v", None):
            q = map.predict_proba(grid, by={"a": [a] * 200, "b": [b] * 200})[:, 1]
            assert (np.diff(q) >= -1e-12).all()


def test_values_that_were_not_seen_are_in_no_segment_and_missing_ones_may_be():
    frame, p, y = two_classes()
    map = SegmentCalibrator(PlattCalibrator(), depth=1).fit(p, y, by=frame.select("region"))
    scores = np.array([0.2, 0.7])
    np.testing.assert_allclose(
        map.predict_proba(scores, by={"region": ["East", "Mars"]}),
        map.base_.predict_proba(scores),
        atol=1e-12,
    )
    missing = map.predict_proba(scores, by={"region": [None, " "]})
    assert np.abs(missing - map.base_.predict_proba(scores)).max() > 1e-3


def test_frames_and_columns_of_frames_are_the_same():
    frame, p, y = two_classes(n=1500)
    labels = np.where(y == 1, "yes", "no")
    map = SegmentCalibrator(PlattCalibrator()).fit(p, labels, by=frame)
    q = map.predict_proba(p, by=frame)
    pandas = frame.to_pandas()
    other = SegmentCalibrator(PlattCalibrator()).fit(p, labels, by=pandas)
    np.testing.assert_array_equal(other.predict_proba(p, by=pandas), q)
    table = pandas.assign(score=p, outcome=labels)
    named = SegmentCalibrator(PlattCalibrator()).fit(
        table, "outcome", prob="score", by=["sex", "region", "age", "member"]
    )
    assert named.outcome_name_ == "outcome"
    added = named.transform(table)
    assert isinstance(added, pd.DataFrame)
    np.testing.assert_array_equal(added["calibrated"], q[:, 1])
    assert map.predict(p, by=frame)[0] in ("yes", "no")


def test_weights_are_frequencies_where_they_are_said_to_be():
    frame, p, y = two_classes(n=800)
    w = np.random.default_rng(4).integers(0, 4, 800)
    options = {"weight_type": "frequency", "min_rows": 20}
    map = SegmentCalibrator(PlattCalibrator(), **options).fit(p, y, w, by=frame)
    rows = np.repeat(np.arange(800), w)
    copies = SegmentCalibrator(PlattCalibrator(), **options).fit(p[rows], y[rows], by=frame[rows])
    assert len(map.slopes_)
    np.testing.assert_allclose(
        map.predict_proba(p, by=frame), copies.predict_proba(p, by=frame), atol=1e-6
    )


def test_it_is_saved_and_read_back_and_a_changed_file_is_refused():
    frame, p, y = two_classes()
    map = SegmentCalibrator(PlattCalibrator()).fit(p, y, by=frame)
    data = json.loads(json.dumps(map.to_dict()))
    back = Calibrator.from_dict(data)
    np.testing.assert_array_equal(back.predict_proba(p, by=frame), map.predict_proba(p, by=frame))
    for name, value in (("code_of_", 99), ("feature_of_", 17)):
        broken = json.loads(json.dumps(data))
        broken["fitted"][name]["array"][0] = value
        with pytest.raises(InvalidInputError, match=name):
            Calibrator.from_dict(broken)
    del data["fitted"]["features_"]
    with pytest.raises(InvalidInputError, match="features_"):
        Calibrator.from_dict(data)


def test_errors_say_what_to_pass():
    frame, p, y = two_classes(n=300)
    map = SegmentCalibrator(PlattCalibrator())
    with pytest.raises(InvalidInputError, match="`by` must be given"):
        map.fit(p, y)
    with pytest.raises(InvalidInputError, match="`by` must be of 300 rows"):
        map.fit(p, y, by=frame[:200])
    map.fit(p, y, by=frame)
    with pytest.raises(InvalidInputError, match="`by` must be given"):
        map.predict_proba(p)
    with pytest.raises(InvalidInputError, match="with a column 'age'"):
        map.predict_proba(p, by=frame.drop("age"))
    with pytest.raises(InvalidInputError, match="texts in column 'age'"):
        map.predict_proba(p, by=frame.with_columns(age=frame["sex"]))
    for bad in ({"depth": 4}, {"penalty": -1}, {"penalty": "evidence"}, {"n_bins": 1}):
        with pytest.raises(InvalidInputError, match=next(iter(bad))):
            SegmentCalibrator(**bad).fit(p, y, by=frame)


def test_groups_choose_how_much_they_lean_on_all_rows():
    rng = np.random.default_rng(0)
    group, p = rng.integers(0, 8, 8000), rng.beta(2, 2, 8000)
    alike = (rng.random(8000) < p).astype(int)
    shift = np.linspace(-1.5, 1.5, 8)[group]
    apart = (rng.random(8000) < expit(logit(p) + shift)).astype(int)
    chosen = [
        GroupedCalibrator(PlattCalibrator(), shrinkage="auto").fit(p, y, by=group)
        for y in (alike, apart)
    ]
    assert chosen[0].shrinkage_ >= 1000
    assert chosen[1].shrinkage_ <= 100
    given = GroupedCalibrator(PlattCalibrator(), shrinkage=chosen[1].shrinkage_)
    np.testing.assert_array_equal(
        given.fit(p, apart, by=group).predict_proba(p, by=group),
        chosen[1].predict_proba(p, by=group),
    )
    back = Calibrator.from_dict(chosen[1].to_dict())
    np.testing.assert_array_equal(
        back.predict_proba(p, by=group), chosen[1].predict_proba(p, by=group)
    )
