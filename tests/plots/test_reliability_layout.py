"""Histograms, legends and sizes of reliability diagrams: what stands where, and nothing covered."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from veridical import BinnedError, bootstrap_interval, cox_test, null_level, reliability_curve
from veridical.binning import UniformBins
from veridical.plots import reliability


def _words(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_the_histogram_holds_every_row_in_the_bins_of_the_curve(binary, ax):
    drawn = reliability(binary.y, binary.p, n_bins=10, ax=ax)
    bars = drawn.curves[0].histogram
    counts = [np.sum((binary.p > b / 10) & (binary.p <= (b + 1) / 10)) for b in range(10)]
    assert bars.get_data().values.tolist() == counts
    assert np.allclose(bars.get_data().edges, np.arange(11) / 10)


def test_empty_bins_are_gaps_of_the_histogram(ax):
    drawn = reliability([0, 0, 1, 1], [0.05, 0.15, 0.85, 0.95], n_bins=10, ax=ax)
    data = drawn.curves[0].histogram.get_data()
    assert data.values.tolist() == [1, 1, 0, 1, 1]
    assert np.allclose(data.edges, [0, 0.1, 0.2, 0.8, 0.9, 1])


def test_bins_of_unequal_width_get_a_histogram_of_equal_ones(binary, ax):
    drawn = reliability(binary.y, binary.p, n_bins=4, strategy="quantile", ax=ax)
    data = drawn.curves[0].histogram.get_data()
    assert data.values.sum() == len(binary.y)
    assert np.ptp(np.diff(data.edges)) < 1e-12


def test_a_curve_of_blocks_alone_gets_stems(binary, ax):
    curve = reliability_curve(binary.y, binary.p, method="isotonic")
    stems = reliability(curve, ax=ax).curves[0].histogram.get_segments()
    assert np.allclose([stem[1, 1] for stem in stems], curve.count)
    assert np.allclose([stem[1, 0] for stem in stems], curve.predicted)


def test_several_histograms_are_outlines(binary, ax):
    drawn = reliability(binary.y, {"a": binary.p, "b": binary.p**2}, ax=ax)
    assert not any(one.histogram.get_fill() for one in drawn.curves)


@pytest.mark.parametrize(
    ("place", "layout"),
    [("below", None), ("below", "constrained"), ("below", "tight"), ("side", "constrained")],
)
def test_the_histogram_shares_the_place_of_the_axes(place, layout, binary):
    figure = Figure(figsize=(7, 4), layout=layout)
    left, right = figure.subplots(1, 2)
    drawn = reliability(binary.y, binary.p, ax=left, histogram=place)
    figure.draw_without_rendering()
    slot, main = left.get_position(original=True), left.get_position()
    other = drawn.histogram_ax.get_position()
    assert main.x0 >= slot.x0 - 1e-9
    assert max(main.x1, other.x1) <= slot.x1 + 1e-9
    assert min(main.y0, other.y0) >= slot.y0 - 1e-9
    assert not main.overlaps(other)
    if place == "below":
        assert (other.x0, other.x1) == pytest.approx((main.x0, main.x1))
        assert drawn.histogram_ax.get_xlim() == left.get_xlim()
    assert right.get_position(original=True).x0 > slot.x1


def test_drawing_twice_on_the_same_axes_makes_one_histogram(binary, ax):
    first = reliability(binary.y, binary.p, ax=ax)
    second = reliability(binary.y, binary.p**2, ax=ax)
    assert first.histogram_ax is second.histogram_ax
    assert len(ax.child_axes) == 1


def test_no_histogram_on_demand(binary, ax):
    drawn = reliability(binary.y, binary.p, histogram=None, ax=ax)
    assert drawn.histogram_ax is None
    assert not ax.child_axes
    assert ax.get_xlabel() == "probability that y = 1"


def test_the_legend_gives_size_error_interval_and_null_level(binary, ax):
    drawn = reliability(binary.y, binary.p, n_bins=8, rng=5, ax=ax)
    estimator = BinnedError(UniformBins(8))
    interval = bootstrap_interval(estimator, binary.y, binary.p)
    null = null_level(estimator, binary.y, binary.p, rng=5)
    (text,) = _words(drawn.legend)
    assert text == (
        f"n = 600\nECE {interval.estimate:.3f} ({interval.low:.3f} to {interval.high:.3f})\n"
        f"{null.mean:.3f} if calibrated"
    )


def test_the_recalibration_line_is_annotated_on_demand(binary, ax):
    drawn = reliability(binary.y, binary.p, annotate="all", ax=ax)
    (slope,) = cox_test(binary.y, binary.p).slopes
    large = binary.y.mean() - binary.p.mean()
    said = "\n".join([*_words(drawn.legend), *(text.get_text() for text in ax.texts)])
    assert f"in the large {large:+.3f}".replace("-", "\N{MINUS SIGN}") in said
    assert f"slope {slope.estimate:.2f} ({slope.low:.2f} to {slope.high:.2f})" in said


def test_the_sample_size_stays_when_the_error_goes(binary, ax):
    drawn = reliability(binary.y, binary.p, annotate="size", ax=ax)
    assert _words(drawn.legend) == ["n = 600"]
    assert reliability(binary.y, binary.p, annotate=None, ax=Figure().subplots()).legend is None


def test_several_models_are_named_above_the_axes(binary):
    drawn = reliability(binary.y, {"forest": binary.p, "net": binary.p**2})
    assert [text.split(":")[0] for text in _words(drawn.legend)] == ["forest", "net"]
    assert drawn.legend.get_title().get_text() == "n = 600"
    drawn.figure.draw_without_rendering()
    assert drawn.legend.get_window_extent().y0 >= drawn.ax.get_window_extent().y1
    assert len({one.line.get_color() for one in drawn.curves}) == 2
    assert len({one.markers.get_paths()[0].vertices.tobytes() for one in drawn.curves}) == 2


def test_the_legend_of_small_axes_stands_above(binary):
    ax = Figure(figsize=(3.4, 2.4), layout="constrained").subplots()
    drawn = reliability(binary.y, binary.p, histogram="side", ax=ax)
    ax.figure.draw_without_rendering()
    assert drawn.legend.get_window_extent().y0 >= ax.get_window_extent().y1


def test_the_legend_leaves_a_corner_that_points_reach(ax):
    # Both corners beside the diagonal hold a point.
    drawn = reliability([1, 1, 1, 0, 0, 0], [0.2] * 3 + [0.8] * 3, n_bins=5, ax=ax)
    ax.figure.draw_without_rendering()
    assert drawn.legend.get_window_extent().y0 >= ax.get_window_extent().y1


@pytest.mark.parametrize(
    ("width", "rows", "options"),
    [
        (None, 600, {}),
        (None, 30, {"annotate": "all"}),
        (3.4, 600, {"annotate": "all"}),
        (3.4, 30, {}),
        (3.4, 600, {"histogram": "side", "style": "bars", "gaps": True}),
        (3.4, 30, {"counts": "both"}),
        (3.4, 600, {"counts": "both", "arrows": True}),
        (3.4, 600, {"method": "isotonic", "interval": "simultaneous"}),
    ],
)
def test_no_text_covers_another(width, rows, options, binary, overlaps):
    ax = None if width is None else plt.subplots(figsize=(width, 3.4), layout="constrained")[1]
    drawn = reliability(binary.y[:rows], binary.p[:rows], ax=ax, **options)
    assert overlaps(drawn.figure) == []


def test_no_text_covers_another_with_many_models_on_a_dark_ground(binary, overlaps):
    with plt.style.context("dark_background"):
        models = {f"model {i}": binary.p ** (0.5 + i / 2) for i in range(3)}
        drawn = reliability(binary.y, models, annotate="all")
    assert overlaps(drawn.figure) == []
    assert drawn.curves[0].line.get_color() == "#56B4E9"


def test_the_number_of_artists_does_not_grow_with_the_rows(binary):
    def corners(repeats):
        y, p = np.tile(binary.y, repeats), np.tile(binary.p, repeats)
        drawn = reliability(y, p, rug=True, gaps=True, counts="both", ax=Figure().subplots())
        (one,) = drawn.curves
        sizes = [len(one.rug.get_segments()), len(one.markers.get_offsets())]
        return [len(drawn.ax.get_children()), len(drawn.histogram_ax.get_children()), *sizes]

    few = corners(1)
    assert corners(200) == few
    assert few[2] <= 2 * 501


def test_the_default_diagram_is_built_of_these_parts(binary, ax):
    drawn = reliability(binary.y, binary.p, ax=ax)
    assert len(ax.lines) == 2  # the diagonal and the curve
    assert len(ax.collections) == 2  # markers and limits
    assert len(ax.patches) == 0
    assert len(drawn.histogram_ax.patches) == 1
    assert [list(end) for end in drawn.reference.get_data()] == [[0, 1], [0, 1]]
    assert ax.get_ylabel() == "observed frequency of y = 1"
    assert drawn.histogram_ax.get_xlabel() == "probability that y = 1"


@pytest.mark.parametrize("width", [3.4, 4.6])
def test_lines_of_the_legend_are_broken_before_they_leave_the_figure(binary, width):
    figure = plt.figure(figsize=(width, 5.4), layout="constrained")
    models = {"a rather long name of a model": binary.p, "b": binary.p**2}
    drawn = reliability(binary.y, models, ax=figure.subplots())
    figure.draw_without_rendering()
    box = drawn.legend.get_window_extent(figure.canvas.get_renderer())
    assert box.x1 <= figure.bbox.x1
    assert drawn.ax.get_position().width > 0.5  # not shrunk to make room for words


@pytest.mark.parametrize("layout", ["constrained", "tight", None])
def test_a_title_set_afterwards_is_not_covered(binary, overlaps, layout):
    figure = plt.figure(figsize=(9, 5), layout=layout)
    models = {"raw": binary.p, "halved": binary.p / 2}
    for ax in figure.subplots(1, 2):
        drawn = reliability(binary.y, models, ax=ax)
        ax.set_title("a title")
        assert drawn.legend is ax.get_legend()
    assert [pair for pair in overlaps(figure) if "a title" in pair] == []


def test_marks_that_a_zoom_leaves_out_are_not_drawn_beside_the_axes(binary):
    figure = Figure(figsize=(4, 4), dpi=100)
    drawn = reliability(binary.y, binary.p, ax=figure.subplots(), histogram=None, annotate=None)
    drawn.ax.set_xlim(0.4, 0.6)
    box = drawn.curves[0].markers.get_tightbbox()
    edge = drawn.ax.get_window_extent()
    assert box.x0 >= edge.x0 - 0.04 * edge.width
    assert box.x1 <= edge.x1 + 0.04 * edge.width
