"""Deviation diagrams: the gap, its limits and the truth."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from veridical import evaluate, reliability_curve
from veridical.exceptions import InvalidInputError
from veridical.plots import deviation


def test_points_are_gaps_and_bars_what_a_calibrated_model_shows(binary, ax):
    drawn = deviation(binary.y, binary.p, n_bins=6, ax=ax)
    curve = reliability_curve(binary.y, binary.p, n_bins=6, interval="consistency")
    (one,) = drawn.curves
    assert np.allclose(one.markers.get_offsets(), np.column_stack([curve.predicted, curve.gap]))
    segments = np.array(one.limits.get_segments())
    assert np.allclose(segments[:, 0, 1], curve.low - curve.predicted)
    assert np.allclose(segments[:, 1, 1], curve.high - curve.predicted)
    assert (segments[:, 0, 1] <= 0).all()
    assert (segments[:, 1, 1] >= 0).all()


def test_consistency_bars_of_fair_coins_are_binomial_quantiles(ax):
    # 100 tosses at 1/2: the 2.5 and 97.5 % quantiles of Binomial(100, 1/2) are 40 and 60.
    y = np.repeat([0, 1], 50)
    (one,) = deviation(y, np.full(100, 0.5), n_bins=1, ax=ax).curves
    ((low, high),) = one.limits.get_segments()
    assert (low[1], high[1]) == pytest.approx((-0.1, 0.1))


def test_other_limits_lie_around_the_gap(binary, ax):
    (one,) = deviation(binary.y, binary.p, n_bins=6, interval="wilson", ax=ax).curves
    segments = np.array(one.limits.get_segments())
    assert (segments[:, 0, 1] < one.curve.gap).all()
    assert (segments[:, 1, 1] > one.curve.gap).all()


@pytest.mark.parametrize("method", ["isotonic", "density", "smooth"])
def test_curves_are_drawn_minus_the_score(method, binary, ax, points):
    options = {"method": method, "interval": "bootstrap", "n_resamples": 20}
    (one,) = deviation(binary.y, binary.p, ax=ax, **options).curves
    curve = reliability_curve(binary.y, binary.p, method=method, interval=None)
    x, gap = points(one.line).T
    assert np.allclose(curve.at(x.clip(0, 1)).observed - x, gap)
    assert one.band is not None
    assert one.markers is None


def test_the_truth_is_drawn_minus_the_score(binary, ax):
    drawn = deviation(binary.y, binary.p, truth=lambda s: 0.2 + 0.6 * s, ax=ax)
    x, y = drawn.truth.get_data()
    assert np.allclose(y, 0.2 - 0.4 * x)
    assert [text.get_text() for text in drawn.legend.get_texts()][-1] == "true frequency"


def test_everything_drawn_is_in_sight_and_zero_in_the_middle(binary, ax):
    drawn = deviation(binary.y[:30], binary.p[:30], truth=([0, 1], [0.9, 0.0]), ax=ax)
    low, high = ax.get_ylim()
    assert low == -high
    (one,) = drawn.curves
    shown = [one.markers.get_offsets()[:, 1], np.array(one.limits.get_segments())[:, :, 1]]
    assert max(np.abs(part).max() for part in shown) <= high
    assert np.abs(drawn.truth.get_ydata()).max() <= high


def test_tiny_gaps_are_not_blown_up(ax):
    deviation(np.tile([0, 1], 20_000), np.full(40_000, 0.5), ax=ax)
    assert ax.get_ylim()[1] == pytest.approx(0.02 * 1.12)


def test_given_axes_results_and_several_models(binary, ax):
    evaluation = evaluate(binary.y, binary.p)
    drawn = deviation({"a": evaluation, "b": evaluation.curve}, ax=ax)
    assert drawn.ax is ax
    assert [one.name for one in drawn.curves] == ["a", "b"]
    assert drawn.curves[0].curve is evaluation.curve
    assert plt.get_fignums() == []
    both = deviation(binary.y, {"a": binary.p, "b": binary.p**2}, ax=Figure().subplots())
    assert both.legend.get_title().get_text() == "n = 600"


def test_options_are_checked(binary, ax):
    with pytest.raises(InvalidInputError, match="`histogram` must be one of"):
        deviation(binary.y, binary.p, histogram="left", ax=ax)
    with pytest.raises(InvalidInputError, match="`method` must be left out for a result"):
        deviation(reliability_curve(binary.y, binary.p), method="smooth", ax=ax)


@pytest.mark.parametrize(("width", "rows"), [(3.4, 600), (None, 30)])
def test_no_text_covers_another(rows, width, binary, overlaps):
    ax = None if width is None else plt.subplots(figsize=(width, 3.2), layout="constrained")[1]
    drawn = deviation(binary.y[:rows], binary.p[:rows], annotate="all", ax=ax)
    assert overlaps(drawn.figure) == []


def test_the_default_diagram_is_built_of_these_parts(binary, ax):
    drawn = deviation(binary.y, binary.p, ax=ax)
    assert len(ax.lines) == 2  # zero and the line through the gaps
    assert len(ax.collections) == 2  # markers and limits
    assert len(drawn.histogram_ax.patches) == 1
    assert ax.get_ylabel() == "observed \N{MINUS SIGN} predicted"
    assert ax.get_box_aspect() is None
