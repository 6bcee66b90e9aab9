"""The choice of bins, curve and axes: by rows, events and where predictions are."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import evaluate, grid_summary, reliability_curve
from veridical._core.sample import BinarySample
from veridical.curves.display import display_of_curve, display_of_sample, shared_axes
from veridical.results import ReliabilityDisplay

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")


def sample(p, y=None, **more):
    p = np.asarray(p, dtype=float)
    if y is None:
        y = np.random.default_rng(1).random(len(p)) < p
    return BinarySample(y=np.asarray(y).astype(np.int8), p=p, **more)


def shown(p, y=None, **more):
    return display_of_sample(sample(p, y, **more), lens="binary", event="Status = 'bad'")


def rng():
    return np.random.default_rng(0)


def test_many_rows_all_over_have_fifteen_bins_of_equal_width():
    found = shown(rng().random(5000))
    assert found.curve.method == "bins"
    assert found.curve.lower == pytest.approx(np.arange(15) / 15)
    assert (found.axis, found.low, found.high) == ("linear", 0.0, 1.0)
    assert found.says == "predicted probability of Status = bad"
    assert found.happens == "observed share of Status = bad"


@pytest.mark.parametrize(("rows", "binned"), [(149, False), (700, True)])
def test_bins_need_thirty_rows_each_of_five(rows, binned):
    found = shown(rng().random(rows))
    assert found.binned is binned
    if not binned:
        assert (found.curve.method, found.curve.interval) == ("isotonic", "pointwise")
        assert "only 149 rows" in found.reason
        assert (found.band_low <= found.band_high).all()


def test_predictions_that_are_mostly_zero_or_one_are_on_no_logit_axis():
    p = np.concatenate([np.zeros(600), np.ones(60), rng().uniform(0.01, 0.1, 340)])
    assert shown(p).axis == "linear"
    assert shown(p[200:]).axis == "linear"  # 400 zeros of 800
    assert shown(p[400:600].tolist() + p[660:].tolist()).axis == "logit"  # 200 zeros of 540


def test_bins_need_eight_rows_of_the_rarer_outcome():
    p = np.linspace(0.2, 0.9, 1000)
    y = np.zeros(1000)
    y[-39:] = 1  # 39 / 8 is less than 5
    assert shown(p, y).curve.method == "isotonic"
    y[-40:] = 1
    assert shown(p, y).binned


@pytest.mark.parametrize("turned", [False, True])
def test_rare_events_have_bins_of_equal_expected_numbers_on_log_odds(turned):
    logit = rng().normal(-5.5, 1, 50_000)
    p = 1 / (1 + np.exp(-logit))
    y = rng().random(50_000) < p
    found = shown(1 - p, ~y) if turned else shown(p, y)
    assert found.axis == "logit"
    assert found.binned
    # Every bin expects the same number, up to one row; sums of min(p, 1 - p).
    curve = found.curve
    each = curve.count * np.minimum(curve.predicted, 1 - curve.predicted)
    assert each.max() - each.min() < 1
    inside = (p > found.low) & (p < found.high) if not turned else (1 - p > found.low)
    assert inside.mean() > 0.98
    assert 0 < found.low < found.high < 1
    assert found.bar_counts.sum() == pytest.approx(50_000)


def test_few_rare_events_have_a_curve_on_log_odds():
    p = np.exp(np.linspace(np.log(1e-4), np.log(0.05), 3000))
    y = np.zeros(3000)
    y[[2000, 2500, 2800, 2900, 2950, 2990]] = 1
    found = shown(p, y)
    assert (found.axis, found.curve.method) == ("logit", "isotonic")
    assert "only 6 rows of the rarer outcome" in found.reason


def test_axes_are_zoomed_to_the_predictions_and_the_same_for_both():
    p = 0.4 + 0.1 * rng().random(4000)
    found = shown(p)
    assert 0.2 <= found.low <= 0.4
    assert 0.5 <= found.high <= 0.7
    assert found.low <= found.curve.observed.min()
    assert found.curve.observed.max() <= found.high


def test_what_is_observed_elsewhere_is_seen_too():
    p = 0.85 + 0.1 * rng().random(4000)
    found = shown(p, rng().random(4000) < 0.2)
    assert found.low <= 0.2
    assert found.high >= 0.95


def test_outcomes_that_fall_or_rows_that_depend_have_few_bins_instead_of_a_rising_curve():
    p = np.linspace(0.05, 0.95, 40)
    falling = shown(p, p < 0.5)
    assert falling.binned
    assert 2 <= len(falling.curve) <= 4
    weighted = shown(p, p > 0.5, weight=np.linspace(1, 2, 40))
    assert weighted.binned
    grouped = shown(p, p > 0.5, clusters=np.repeat(np.arange(20), 2))
    assert grouped.binned


def test_rows_of_equal_predictions_are_counted_one_by_one():
    p = np.repeat(np.linspace(0.02, 0.98, 25), 200)
    found = shown(p)
    assert found.binned
    assert len(found.curve) == 15
    assert found.curve.count.sum() == 5000


def test_each_of_few_different_predictions_is_a_point():
    p = np.tile([0.1, 0.3, 0.6], 20)
    found = shown(p, np.arange(60) % 2)
    assert found.curve.predicted == pytest.approx([0.1, 0.3, 0.6])
    assert found.curve.observed == pytest.approx([0.5, 0.5, 0.5])


@pytest.mark.parametrize("p", [[0.0, 1.0], [0.3], [0.0, 0.0, 0.0], [1.0] * 50, [0.5, 0.5]])
@pytest.mark.parametrize("outcome", [0, 1])
def test_extreme_predictions_and_single_outcomes_are_shown(p, outcome):
    found = shown(p, np.full(len(p), outcome))
    assert 0 <= found.low < found.high <= 1
    assert found.bar_counts.sum() == pytest.approx(len(p))


def test_curves_that_were_asked_for_keep_their_bins():
    p = rng().beta(1, 300, 4000)
    curve = reliability_curve((rng().random(4000) < p).astype(int), p, n_bins=15)
    found = display_of_curve(curve)
    assert found.curve is curve
    assert found.axis == "logit"
    assert found.bar_counts.sum() == pytest.approx(4000)


def test_rows_of_a_block_spread_evenly_over_it():
    y, p = [0] * 20 + [1] * 60, np.r_[np.linspace(0, 0.5, 20), np.linspace(0.5001, 1, 60)]
    curve = reliability_curve(y, p, n_bins=2)
    counts = display_of_curve(curve).bar_counts
    assert counts[:15] == pytest.approx(20 / 15)
    assert counts[15:] == pytest.approx(60 / 15)


def test_shared_axes_hold_all_and_are_log_odds_only_if_each_would_be():
    rare = shown(rng().beta(1, 300, 20_000))
    wide = shown(rng().random(2000))
    both = shared_axes({"a": rare, "b": wide})
    assert {(each.axis, each.low, each.high) for each in both.values()} == {("linear", 0.0, 1.0)}
    rarer = shown(rng().beta(1, 2000, 20_000))
    both = shared_axes({"a": rare, "b": rarer})
    assert {each.axis for each in both.values()} == {"logit"}
    assert both["a"].low == min(rare.low, rarer.low)
    assert both["b"].high == max(rare.high, rarer.high)


def test_an_evaluation_has_its_diagram_and_it_survives_json():
    p = rng().random(400)
    y = (rng().random(400) < p).astype(int)
    found = evaluate(y, p, n_resamples=20, rng=0).display
    again = ReliabilityDisplay.from_json(found.to_json())
    assert again == found
    assert found.curve.event == "y = 1"


def test_sums_of_an_engine_give_the_same_kind_of_diagram():
    p = rng().random(4000).round(3)
    y = (rng().random(4000) < p).astype(int)
    rows = evaluate(y, p, n_resamples=20, rng=0).display
    sums = evaluate(grid_summary(y, p), n_resamples=20, rng=0).display
    assert sums.curve.lower == pytest.approx(rows.curve.lower)
    assert sums.curve.count.sum() == rows.curve.count.sum() == 4000
    assert sums.curve.observed == pytest.approx(rows.curve.observed, abs=0.02)
