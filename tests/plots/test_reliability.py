"""Reliability diagrams show the numbers of the results, on the axes given."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from veridical import QuantileBins, evaluate, reliability_curve
from veridical.exceptions import InvalidInputError
from veridical.plots import reliability


def _bin_means(y, p, n_bins):
    """Mean prediction, frequency and count of right-closed bins, by the definition."""
    rows = []
    for b in range(n_bins):
        inside = (p > b / n_bins) & (p <= (b + 1) / n_bins) | ((b == 0) & (p == 0))
        if inside.any():
            rows.append((p[inside].mean(), y[inside].mean(), inside.sum()))
    return np.array(rows)


def _ends(collection):
    """Lower and upper ends of vertical lines, with where they stand."""
    segments = np.array(collection.get_segments())
    return segments[:, 0, 0], segments[:, 0, 1], segments[:, 1, 1]


def test_markers_stand_at_the_means_of_bins_and_grow_with_their_counts(binary, ax):
    (drawn,) = reliability(binary.y, binary.p, n_bins=5, ax=ax).curves
    expected = _bin_means(binary.y, binary.p, 5)
    assert np.allclose(drawn.markers.get_offsets(), expected[:, :2])
    share = expected[:, 2] / expected[:, 2].max()
    assert np.allclose(drawn.markers.get_sizes(), 18 + 92 * share)
    assert np.allclose(np.column_stack(drawn.line.get_data()), expected[:, :2])


def test_the_centre_of_bins_misleads_as_in_the_survey(ax):
    """Figure 6a of the survey: a wrong model whose points lie on the diagonal."""
    y, p = [0, 0, 0, 1, 0, 1, 1, 1], [0.0] * 4 + [1.0] * 4
    centre = reliability(y, p, n_bins=2, x="centre", ax=ax).curves[0]
    assert centre.markers.get_offsets().tolist() == [[0.25, 0.25], [0.75, 0.75]]
    mean = reliability(y, p, n_bins=2, ax=Figure().subplots()).curves[0]
    assert mean.markers.get_offsets().tolist() == [[0.0, 0.25], [1.0, 0.75]]


def test_the_given_axes_are_used_and_no_figure_is_opened(binary, ax):
    drawn = reliability(binary.y, binary.p, ax=ax)
    assert drawn.ax is ax
    assert drawn.figure is ax.figure
    assert drawn.curves[0].line in ax.lines
    assert drawn.histogram_ax in ax.child_axes
    assert plt.get_fignums() == []
    assert ax.get_box_aspect() == 1


def test_without_axes_a_figure_is_made(binary):
    drawn = reliability(binary.y, binary.p)
    assert plt.get_fignums() == [drawn.figure.number]


def test_bars_reach_the_frequencies_over_the_width_of_bins(binary, ax):
    (drawn,) = reliability(binary.y, binary.p, n_bins=5, style="bars", ax=ax).curves
    expected = _bin_means(binary.y, binary.p, 5)
    boxes = [bar.get_bbox().extents for bar in drawn.bars]
    assert np.allclose([box[3] for box in boxes], expected[:, 1])
    assert np.allclose([box[0] for box in boxes], np.arange(5) / 5)
    assert np.allclose([box[2] for box in boxes], np.arange(1, 6) / 5)
    assert drawn.line is None
    assert drawn.markers is None


@pytest.mark.parametrize("interval", ["wilson", "clopper-pearson", "bootstrap", "consistency"])
def test_bars_of_limits_are_those_of_the_curve(interval, binary, ax):
    options = {"n_bins": 6, "interval": interval, "n_resamples": 50, "rng": 3}
    (drawn,) = reliability(binary.y, binary.p, ax=ax, **options).curves
    curve = reliability_curve(binary.y, binary.p, **options)
    at, low, high = _ends(drawn.limits)
    assert np.allclose(at, curve.predicted)
    assert np.allclose(low, curve.low)
    assert np.allclose(high, curve.high)
    assert drawn.curve == curve
    assert drawn.band is None


def test_limits_can_be_a_band(binary, ax):
    options = {"n_bins": 6, "interval": "consistency"}
    (drawn,) = reliability(binary.y, binary.p, ax=ax, band=True, **options).curves
    curve = reliability_curve(binary.y, binary.p, **options)
    corners = {tuple(corner) for corner in drawn.band.get_paths()[0].vertices.round(9)}
    for limit in (curve.low, curve.high):
        assert {tuple(c) for c in np.column_stack([curve.predicted, limit]).round(9)} <= corners
    assert drawn.limits is None


def test_no_limits_on_demand(binary, ax):
    (drawn,) = reliability(binary.y, binary.p, ax=ax, interval=None).curves
    assert drawn.limits is None
    assert drawn.band is None


def test_an_isotonic_curve_is_flat_over_its_blocks(ax):
    # The second and third outcome decrease: one block from 0.4 to 0.6 at a half.
    (drawn,) = reliability([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], method="isotonic", ax=ax).curves
    corners = np.column_stack(drawn.line.get_data()).tolist()
    assert [0.4, 0.5] in corners
    assert corners[corners.index([0.4, 0.5]) + 1] == [0.6, 0.5]
    assert drawn.markers is None


def test_a_simultaneous_band_is_what_the_curve_reads_everywhere(binary, ax):
    options = {"method": "isotonic", "interval": "simultaneous"}
    (drawn,) = reliability(binary.y, binary.p, ax=ax, **options).curves
    curve = reliability_curve(binary.y, binary.p, **options)
    # Between scores, where the band steps from block to block.
    between = np.unique(binary.p)[:-1] + 0.004
    reading = curve.at(between)
    outline = drawn.band.get_paths()[0].vertices
    for at, low, high in zip(between, reading.low, reading.high, strict=True):
        assert _height(outline, at) == pytest.approx((low, high))


def _height(outline, at):
    """Lowest and highest crossing of an outline with a vertical line."""
    (x0, y0), (x1, y1) = outline[:-1].T, outline[1:].T
    crossing = (np.minimum(x0, x1) < at) & (at < np.maximum(x0, x1))
    part = (at - x0[crossing]) / (x1[crossing] - x0[crossing])
    heights = y0[crossing] + part * (y1[crossing] - y0[crossing])
    return heights.min(), heights.max()


@pytest.mark.parametrize("method", ["density", "smooth"])
def test_smooth_curves_are_those_of_the_result(method, binary, ax, points):
    options = {"method": method, "interval": "bootstrap", "n_resamples": 20, "rng": 1}
    (drawn,) = reliability(binary.y, binary.p, ax=ax, **options).curves
    curve = reliability_curve(binary.y, binary.p, **options)
    assert np.allclose(points(drawn.line), np.column_stack([curve.predicted, curve.observed]))
    assert drawn.band.get_paths()[0].vertices[:, 1].max() == pytest.approx(curve.high.max())
    assert drawn.markers is None


def test_lines_break_where_bins_are_empty(ax):
    p = np.array([0.05, 0.15, 0.85, 0.95])
    (drawn,) = reliability([0, 0, 1, 1], p, n_bins=10, ax=ax).curves
    assert np.isnan(drawn.line.get_xdata()).tolist() == [False, False, True, False, False]
    assert len(drawn.markers.get_offsets()) == 4


def test_gaps_reach_from_the_points_to_the_diagonal(binary, ax):
    (drawn,) = reliability(binary.y, binary.p, n_bins=5, gaps=True, ax=ax).curves
    at, start, end = _ends(drawn.gaps)
    assert np.allclose(start, drawn.curve.observed)
    assert np.allclose(end, at)


def test_gaps_of_bars_are_boxes_up_to_the_mean_prediction(binary, ax):
    (drawn,) = reliability(binary.y, binary.p, n_bins=5, style="bars", gaps=True, ax=ax).curves
    heights = [box.get_height() for box in drawn.gaps]
    assert np.allclose(heights, -drawn.curve.gap)


def test_arrows_point_sideways_to_the_observed_frequency(binary, ax):
    (drawn,) = reliability(binary.y, binary.p, n_bins=5, arrows=True, ax=ax).curves
    assert np.allclose(drawn.arrows.X + drawn.arrows.U, drawn.curve.observed)
    assert np.allclose(drawn.arrows.Y, drawn.curve.observed)
    assert not drawn.arrows.V.any()


def test_counts_are_written_unless_they_would_cover_each_other(ax):
    p = np.repeat([0.1, 0.5, 0.51, 0.9], [2, 4, 6, 8])
    y = np.tile([0, 1], 10)
    options = {"n_bins": 100, "counts": "text"}
    (drawn,) = reliability(y, p, ax=ax, **options).curves
    assert sorted(text.get_text() for text in drawn.counts) == ["2", "6", "8"]
    assert set(drawn.markers.get_sizes()) == {28.0}


def test_a_rug_shows_outcomes_at_the_top_and_the_rest_below(ax):
    (drawn,) = reliability([0, 1, 1], [0.2, 0.6, 0.8], rug=True, ax=ax).curves
    at, low, _ = _ends(drawn.rug)
    assert at.tolist() == [0.2, 0.6, 0.8]
    assert low.tolist() == [0.0, 0.975, 0.975]


def test_the_true_curve_is_drawn_where_it_is_known(binary, ax):
    drawn = reliability(binary.y, binary.p, truth=lambda s: 0.2 + 0.6 * s, ax=ax)
    x, y = drawn.truth.get_data()
    assert np.allclose(y, 0.2 + 0.6 * x)
    assert x[[0, -1]].tolist() == [0, 1]
    pair = reliability(binary.y, binary.p, truth=([1.0, 0.0], [0.8, 0.2]), ax=Figure().subplots())
    assert pair.truth.get_ydata().tolist() == [0.2, 0.8]


def test_bins_may_be_of_equal_mass_or_the_users_own(binary, ax):
    curve = reliability_curve(binary.y, binary.p, n_bins=4, strategy="quantile")
    (drawn,) = reliability(binary.y, binary.p, n_bins=4, strategy="quantile", ax=ax).curves
    assert drawn.curve == curve
    own = reliability(binary.y, binary.p, binning=QuantileBins(4), ax=Figure().subplots())
    assert own.curves[0].curve == curve


def test_string_labels_and_lenses(multiclass, ax):
    names = np.array(["ant", "bee", "cat"])
    drawn = reliability(names[multiclass.y], multiclass.p, labels=names, n_bins=4, ax=ax)
    confidence = multiclass.p.max(axis=1)
    right = multiclass.p.argmax(axis=1) == multiclass.y
    expected = _bin_means(right.astype(float), confidence, 4)
    assert np.allclose(drawn.curves[0].markers.get_offsets(), expected[:, :2])
    assert drawn.histogram_ax.get_xlabel() == "confidence"


def test_rows_of_weight_zero_are_not_drawn(binary, ax):
    weight = (np.arange(len(binary.y)) % 3 > 0).astype(float)
    (drawn,) = reliability(binary.y, binary.p, sample_weight=weight, n_bins=5, ax=ax).curves
    kept = weight > 0
    expected = _bin_means(binary.y[kept], binary.p[kept], 5)
    assert np.allclose(drawn.markers.get_offsets(), expected[:, :2])
    assert drawn.curve.n_samples == kept.sum()


def test_a_result_is_drawn_as_it_is(binary, ax):
    curve = reliability_curve(binary.y, binary.p, n_bins=7)
    drawn = reliability(curve, ax=ax)
    assert drawn.curves[0].curve is curve
    evaluation = evaluate(binary.y, binary.p, n_bins=7)
    both = reliability({"curve": curve, "evaluation": evaluation}, ax=Figure().subplots())
    assert [one.name for one in both.curves] == ["curve", "evaluation"]
    assert both.curves[1].curve is evaluation.display.curve  # the choice that all pictures share


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"style": "bar"}, "`style` must be one of 'line', 'bars'; got 'bar'"),
        ({"x": "middle"}, "`x` must be one of 'mean', 'centre'"),
        ({"histogram": "above"}, "`histogram` must be one of 'below', 'side'"),
        ({"counts": "no"}, "`counts` must be one of"),
        ({"annotate": "ece"}, "`annotate` must be one of 'size', 'error', 'all'"),
        ({"method": "smooth", "style": "bars"}, "`style` must be 'line' for a curve without bins"),
        ({"method": "isotonic", "gaps": True}, "`gaps` must be False for a curve without bins"),
        ({"method": "isotonic", "arrows": True}, "`arrows` must be False"),
        ({"lens": "canonical"}, "`lens` must be one that induces a single binary problem"),
        ({"truth": 0.5}, "`truth` must be a function of the scores or a pair of arrays"),
        ({"truth": ([0, 1], [0.5])}, "`truth` must be two arrays of the same length"),
        ({"truth": lambda s: 2 * s}, "`truth` must be"),
    ],
)
def test_bad_options_are_named(options, message, multiclass, ax):
    with pytest.raises(InvalidInputError, match=message):
        reliability(multiclass.y, multiclass.p, ax=ax, **options)


def test_options_for_raw_data_are_refused_for_results(binary, ax):
    curve = reliability_curve(binary.y, binary.p)
    with pytest.raises(InvalidInputError, match="`n_bins` must be left out for a result; got 9"):
        reliability(curve, n_bins=9, ax=ax)
    with pytest.raises(InvalidInputError, match="`sample_weight` must be left out"):
        reliability(curve, sample_weight=binary.w, ax=ax)
    with pytest.raises(InvalidInputError, match="`rug` must be False for a result"):
        reliability(curve, rug=True, ax=ax)
    with pytest.raises(InvalidInputError, match="`y_true` must be a ReliabilityCurve"):
        reliability(binary.y, ax=ax)
    with pytest.raises(InvalidInputError, match="`y_prob` must be one model or more"):
        reliability(binary.y, {}, ax=ax)
    with pytest.raises(InvalidInputError, match="`y_true` must be one result or more"):
        reliability({}, ax=ax)
