"""From a calibrated probability back to the raw score, against formulas and every map itself."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from calibrators.every_calibrator import BY, EVERY, fit, options, predict
from scipy.special import expit, logit

from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    GroupedCalibrator,
    HistogramCalibrator,
    IdentityCalibrator,
    IsotonicCalibrator,
    MatrixCalibrator,
    PlattCalibrator,
    QuadraticCalibrator,
    SplineCalibrator,
    StructuredMatrixCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.results import Cutoff


def _rows(n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    p = rng.beta(0.8, 0.8, n)
    return p, (rng.random(n) < expit(0.6 * logit(p) - 0.3)).astype(int)


THRESHOLDS = (0.05, 0.2, 0.5, 0.7, 0.95)


@pytest.mark.parametrize("q", THRESHOLDS)
def test_platt_and_temperature_have_a_formula(q):
    p, y = _rows()
    platt = PlattCalibrator().fit(p, y)
    expected = expit((logit(q) - platt.intercept_) / platt.slope_)
    assert platt.inverse(q).score == pytest.approx(expected, rel=1e-12)
    temperature = TemperatureCalibrator().fit(p, y)
    mixed = (q - temperature.mix_ / 2) / (1 - temperature.mix_)
    expected = expit(logit(mixed) * temperature.temperature_)
    assert temperature.inverse(q).score == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("q", THRESHOLDS)
def test_logits_and_scores_are_cut_on_their_own_scale(q):
    p, y = _rows()
    for scale, kind in ((1.0, "logit"), (250.0, "score")):
        map = PlattCalibrator(input=kind).fit(scale * logit(p), y)
        found = map.inverse(q)
        expected = (logit(q) - map.intercept_) / map.slope_
        assert found.score == pytest.approx(expected, rel=1e-11, abs=1e-12)
        assert found.input == kind
        assert f"a {kind} of" in str(found)


@pytest.mark.parametrize("q", [0.2, 0.5, 0.7])
def test_curves_are_solved_for_the_score(q):
    p, y = _rows()
    beta = BetaCalibrator().fit(p, y)
    x = beta.inverse(q).score
    assert beta.a_ * np.log(x) - beta.b_ * np.log1p(-x) + beta.c_ == pytest.approx(logit(q))
    square = QuadraticCalibrator().fit(p, y)
    low, high = square.range_
    a, b, c = square.a_, square.b_, square.c_
    z = (-b + np.sqrt(b * b - 4 * c * (a - logit(q)))) / (2 * c)
    assert low < z < high
    assert logit(square.inverse(q).score) == pytest.approx(z, rel=1e-9)
    spline = SplineCalibrator().fit(p, y)
    at = logit(spline.inverse(q).score)
    piece = int(np.searchsorted(spline.knots_, at)) - 1
    constant, slope, bend = spline.coefficients_[:, piece]
    away = at - spline.knots_[piece]
    assert constant + away * (slope + away * bend) == pytest.approx(logit(q))


def test_a_level_piece_is_an_interval_and_between_levels_lines_are_inverted():
    p, y = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]  # 0, then 1/2 from 0.2 to 0.3, then 1
    map = IsotonicCalibrator(laplace=0).fit(p, y)
    found = map.inverse(0.5)
    assert (found.score, found.low, found.high) == (0.2, 0.2, 0.3)
    assert "it is 0.5 from 0.2 to 0.3" in str(found)
    line = map.inverse(0.25)  # half-way up from 0.1 to 0.2
    assert line.score == pytest.approx(0.15)
    assert line.low == line.high == line.score
    assert not line.jumps


def test_a_jump_is_cut_where_it_is():
    p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    map = HistogramCalibrator(n_bins=2).fit(p, y)  # 2/5 up to 1/2, which belongs to it, 4/5 above
    found = map.inverse(0.6)
    assert found.jumps
    assert found.score == np.nextafter(0.5, 1)
    assert (found.before, found.after) == (0.4, 0.8)
    assert found.applies_to([0.5, 0.6]).tolist() == [False, True]


def test_what_is_out_of_range_is_said():
    map = HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1])
    never, always = map.inverse(0.9), map.inverse(0.1)
    assert (never.score, always.score) == (np.inf, -np.inf)
    assert "nowhere: the map goes from 0.4 to 0.8" in str(never)
    assert "everywhere" in str(always)
    assert not never.reached
    assert not never.applies_to([0.0, 1.0]).any()
    assert always.applies_to([0.0, 1.0]).all()


def test_a_map_that_falls_is_cut_from_above():
    p, y = _rows()
    with pytest.warns(VeridicalWarning, match="predictions are lower"):
        map = PlattCalibrator(input="score").fit(p - 2, 1 - y)
    assert map.slope_ < 0
    found = map.inverse(0.6)
    assert found.falling
    assert found.score == pytest.approx((logit(0.6) - map.intercept_) / map.slope_, rel=1e-11)
    scores = np.linspace(-3, 0, 101)
    expected = map.predict_proba(scores)[:, 1] >= 0.6
    assert found.applies_to(scores).tolist() == expected.tolist()
    assert not map.inverse(1 - 1e-15).applies_to([1e3]).any()


def test_of_a_map_that_is_not_monotone_the_score_from_which_on_it_stays():
    p = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 10)
    y = np.concatenate([np.arange(10) < k for k in (1, 6, 3, 5, 9)]).astype(int)
    map = HistogramCalibrator(n_bins=5, laplace=0).fit(p, y)  # .1, .6, .3, .5, .9
    found = map.inverse(0.45)
    assert not found.monotone
    assert found.reached_before
    assert found.score == np.nextafter(0.6, 1)  # from the fourth bin on
    assert "(the map is not monotone: some lower scores reach it, too)" in str(found)
    alone = map.inverse(0.8)
    assert not alone.reached_before
    assert "(the map is not monotone, but no lower score reaches it)" in str(alone)


def test_the_positive_class_may_come_first():
    p, y = _rows()
    names = np.where(y == 1, "bad", "good")
    map = PlattCalibrator(pos_label="bad").fit(p, names)
    plain = PlattCalibrator().fit(p, y)
    assert map.inverse(0.3).score == pytest.approx(plain.inverse(0.3).score, rel=1e-12)
    assert str(map.inverse(0.3)).startswith("the probability of 'bad' is at least 0.3")


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("q", [0.15, 0.5, 0.8])
def test_a_cut_off_decides_as_the_map_does(name, q):
    p, y = _rows(300)
    map = fit(EVERY[name], p, y)
    by = {}
    if isinstance(map, BY):
        scores = np.array([0.99, 0.9, 0.95, 0.8, 0.75, 0.05, 0.1])
        named = options(map, scores)["by"]
        grouped = isinstance(map, GroupedCalibrator)
        assert set(named if grouped else named["kind"]) == {"sure"}
        found = map.inverse(q, by="sure" if grouped else {"kind": "sure"})
        by = {"by": ["sure"] if grouped else {"kind": ["sure"]}}
    else:
        scores, found = np.linspace(0, 1, 1501), map.inverse(q)
    decided = predict(map, scores)[:, 1] >= q
    if found.monotone:
        assert found.applies_to(scores).tolist() == decided.tolist()
    else:
        assert decided[found.applies_to(scores)].all()
    if found.reached:  # and it is the first: the number before it is not reached
        before = np.nextafter(found.score, 0)
        assert map.predict_proba([before], **by)[0, 1] < q
        assert map.predict_proba([found.score], **by)[0, 1] >= q


def test_groups_have_their_own_cut_offs():
    p, y = _rows()
    by = np.where(np.arange(len(p)) % 2, "a", "b")
    map = GroupedCalibrator(PlattCalibrator(), shrinkage=0).fit(p, y, by=by)
    for key, part in zip(map.groups_, map.parts_, strict=True):
        expected = expit((logit(0.4) - part.intercept_) / part.slope_)
        assert map.inverse(0.4, by=key).score == pytest.approx(expected, rel=1e-11)
    assert map.inverse(0.4, by="new").score == pytest.approx(map.pooled_.inverse(0.4).score)
    with pytest.raises(InvalidInputError, match="`by` must be given"):
        map.inverse(0.4)


def test_pools_and_saturated_scores():
    p, y = _rows(60)
    p[:3] = [0.0, 1.0, 1.0]
    parts = [PlattCalibrator(), IsotonicCalibrator(), IdentityCalibrator()]
    map = AveragedCalibrator(parts).fit(p, y)
    found = map.inverse(0.5)
    assert map.predict_proba([found.score])[0, 1] >= 0.5
    assert map.predict_proba([np.nextafter(found.score, 0)])[0, 1] < 0.5


@pytest.mark.parametrize("q", [0, 1, -0.1, "0.2", np.nan, None])
def test_a_threshold_is_a_probability(q):
    map = PlattCalibrator().fit(*_rows(50))
    with pytest.raises(InvalidInputError, match="`threshold` must be between 0 and 1"):
        map.inverse(q)


def test_several_classes_are_not_decided_by_one_score():
    p = np.full((6, 3), 1 / 3)
    map = TemperatureCalibrator().fit(p, [0, 1, 2, 0, 1, 2])
    with pytest.raises(InvalidInputError, match=r"of two classes; got one of 3[\s\S]*decide"):
        map.inverse(0.5)


def test_results_survive_json():
    map = HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1])
    for q in (0.1, 0.6, 0.9):
        found = map.inverse(q)
        assert Cutoff.from_dict(json.loads(found.to_json())) == found


def test_the_score_that_is_printed_decides_as_the_cut_off_does():
    scores = np.round(np.linspace(0, 1, 21), 2)  # edges of bins among them
    p, y = _rows()
    up = HistogramCalibrator(n_bins=5, strategy="uniform").fit(np.round(p, 1), y)
    text = str(up.inverse(0.5))
    edge = float(re.search(r"above a score of ([\d.]+),", text)[1])
    np.testing.assert_array_equal(scores > edge, up.predict_proba(scores)[:, 1] >= 0.5)
    smooth = PlattCalibrator().fit(p, y).inverse(0.3)
    assert float(re.search(r"from a score of ([\d.]+) on", str(smooth))[1]) == smooth.score


def test_a_threshold_near_one_is_not_printed_as_one():
    found = HistogramCalibrator(n_bins=1).fit([0.2, 0.6], [0, 1]).inverse(0.9999999)
    assert "at least 0.9999999 nowhere" in str(found)


def test_of_several_classes_it_says_which_map_is_meant():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    map = TemperatureCalibrator().fit(p, np.arange(60) % 3)
    with pytest.raises(InvalidInputError, match="`calibrator` must be a map of two classes"):
        map.inverse(0.5)


@pytest.mark.parametrize("kind", [MatrixCalibrator, StructuredMatrixCalibrator])
def test_no_row_that_equals_the_threshold_is_left_out_by_rounding(kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        p = rng.random(200)
        map = kind().fit(p, (rng.random(200) < p**1.3).astype(int))
        q = map.predict_proba(p)[:, 1]
        assert [map.predict_proba([each])[0, 1] for each in p] == q.tolist()
        for threshold in q[::20].tolist():
            assert map.inverse(threshold).applies_to(p[q >= threshold]).all()
