"""Risk against coverage: areas by hand and by loops, the band, ties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from veridical.decisions import risk_coverage_curve


def _rows(n, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.beta(4, 1.5, n)
    return (rng.random(n) < s).astype(int), s


def _area(wrong, s, rng=None, draws=1):
    """Mean risk over coverages, by loops; equal scores in random orders."""
    total = 0.0
    for _ in range(draws):
        order = np.arange(len(s)) if rng is None else rng.permutation(len(s))
        order = order[np.argsort(-s[order], kind="stable")]
        total += np.mean([wrong[order][:k].mean() for k in range(1, len(s) + 1)])
    return total / draws


def test_areas_by_hand():
    curve = risk_coverage_curve([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], lens="binary")
    np.testing.assert_allclose(curve.risk, [0, 1 / 2, 1 / 3, 1 / 2])
    np.testing.assert_allclose(curve.coverage, [0.25, 0.5, 0.75, 1])
    assert curve.area.estimate == pytest.approx(1 / 3)
    assert curve.area.estimate - curve.excess.estimate == pytest.approx((1 / 3 + 1 / 2) / 4)
    assert curve.excess.estimate == pytest.approx(0.125)


def test_areas_by_loops_and_their_spread_by_the_jackknife():
    y, s = _rows(200)
    curve = risk_coverage_curve(y, s, lens="binary")
    assert curve.area.estimate == pytest.approx(_area(1 - y, s))
    without = [_area(1 - np.delete(y, i), np.delete(s, i)) for i in range(200)]
    spread = np.sqrt(199 * np.var(without))
    assert spread < curve.area.width / (2 * 1.96) < 2 * spread  # no distribution is assumed


def test_equal_scores_count_as_in_a_random_order():
    y, s = _rows(60, 1)
    s = s.round(1)
    curve = risk_coverage_curve(y, s, lens="binary")
    assert len(curve) == len(np.unique(s))
    expected = _area(1 - y, s, np.random.default_rng(0), draws=400)
    assert curve.area.estimate == pytest.approx(expected, abs=0.01)


def test_the_band_is_exact_at_its_knots_with_the_confidence_shared():
    y, s = _rows(100, 2)
    curve = risk_coverage_curve(y, s, lens="binary", confidence_level=0.9)
    wrong = int((1 - y).sum())
    knots, count = {1}, 1.0
    while count < 100:
        knots.add(int(np.ceil(count)))
        count = max(count * 1.03, count + 1)
    knots.add(100)
    tail = 0.1 / len(knots) / 2
    assert curve.high[-1] == pytest.approx(beta.ppf(1 - tail, wrong + 1, 100 - wrong))
    assert curve.low[-1] <= beta.ppf(tail, wrong, 101 - wrong) + 1e-12
    assert (curve.low <= curve.risk).all()
    assert (curve.risk <= curve.high).all()


def test_no_wrong_answer_leaves_room_for_some():
    curve = risk_coverage_curve([1] * 50, np.linspace(0.5, 0.9, 50), lens="binary")
    assert curve.area.estimate == 0
    assert curve.area.high > 0.02
    assert curve.excess.estimate == 0


def test_only_wrong_answers_have_no_excess():
    curve = risk_coverage_curve([0] * 20, np.linspace(0.5, 0.9, 20), lens="binary")
    assert curve.area.estimate == pytest.approx(1)
    assert curve.excess.estimate == pytest.approx(0)


def test_weights_and_groups_are_counted():
    y, s = _rows(150, 3)
    copies = np.random.default_rng(1).integers(1, 4, 150)
    repeated = risk_coverage_curve(np.repeat(y, copies), np.repeat(s, copies), lens="binary")
    options = {"sample_weight": copies, "weight_type": "frequency"}
    weighted = risk_coverage_curve(y, s, lens="binary", **options)
    np.testing.assert_allclose(weighted.risk, repeated.risk)
    groups = np.repeat(np.arange(150), copies)
    together = risk_coverage_curve(
        np.repeat(y, copies), np.repeat(s, copies), lens="binary", groups=groups
    )
    assert together.area.width > repeated.area.width
    assert together.high[-1] > repeated.high[-1]


def test_the_text_says_areas_and_quarters_and_the_table_has_all():
    y, s = _rows(300, 4)
    curve = risk_coverage_curve(y, s)
    assert str(curve).startswith("AURC")
    assert "E-AURC" in str(curve)
    assert len(curve.to_frame()) == len(curve)
    assert type(curve).from_json(curve.to_json()) == curve


def test_only_wrong_answers_leave_room_for_an_excess():
    curve = risk_coverage_curve(np.zeros(20, int), np.full(20, 0.9), lens="binary")
    assert curve.excess.estimate == pytest.approx(0)
    assert curve.excess.high > 0.05


def test_the_band_of_frequencies_is_that_of_their_copies():
    y, s = _rows(300, 5)
    copies = np.random.default_rng(2).integers(1, 5, 300)
    repeated = risk_coverage_curve(np.repeat(y, copies), np.repeat(s, copies), lens="binary")
    options = {"sample_weight": copies, "weight_type": "frequency", "lens": "binary"}
    weighted = risk_coverage_curve(y, s, **options)
    np.testing.assert_allclose(weighted.high, repeated.high)
    assert weighted.area.estimate == pytest.approx(repeated.area.estimate)
