"""Colours, axes and words that every figure shares."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from veridical.curves import reliability_curve
from veridical.exceptions import InvalidInputError
from veridical.plots._drawing.axes import count_axis, get_axes, short_count, size_text
from veridical.plots._drawing.frame import Frame, RoundTicks, frame_of, set_frame
from veridical.plots._drawing.style import luminance, marker_areas, style_of

# Machado, Oliveira & Fernandes (2009), doi 10.1109/TVCG.2009.113: matrices of full severity.
_BLINDNESS = {
    "none": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


def _contrast(a, b):
    """Contrast ratio of WCAG 2.2."""
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def _seen(colour, matrix):
    """Colour as seen, in sRGB."""
    channel = np.array(to_rgb(colour))
    linear = np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(matrix) @ linear, 0, 1)
    return np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize(
    ("colour", "expected"), [("white", 1.0), ("black", 0.0), ("0.5", 0.21404), ("red", 0.2126)]
)
def test_luminance_is_that_of_the_standard(colour, expected):
    assert luminance(colour) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("ground", ["white", "#eaeaf2", "black", "#1e1e1e"])
def test_text_and_first_colours_stand_out_from_the_ground(ground, ax):
    ax.set_facecolor(ground)
    style = style_of(ax)
    assert _contrast(style.ink, ground) >= 7
    assert _contrast(style.muted, ground) >= 3
    assert style.dark == (ground in ("black", "#1e1e1e"))
    assert min(_contrast(style.colour(index), ground) for index in range(2)) >= 3


@pytest.mark.parametrize("kind", _BLINDNESS)
@pytest.mark.parametrize("ground", ["white", "black"])
def test_colours_can_be_told_apart_by_the_colour_blind(kind, ground, ax):
    ax.set_facecolor(ground)
    seen = [_seen(colour, _BLINDNESS[kind]) for colour in style_of(ax).colours]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 0.15


def test_models_of_the_same_colour_differ_by_marker_or_line(ax):
    style = style_of(ax)
    looks = {(style.colour(i), style.marker(i), str(style.line(i))) for i in range(20)}
    assert len(looks) == 20


def test_a_transparent_ground_shows_the_figure():
    figure = Figure(facecolor="black")
    ax = figure.subfigures(1, 2)[0].subplots()
    assert not style_of(ax).dark
    ax.set_facecolor("none")
    assert style_of(ax).dark
    ax.set_facecolor((1, 1, 1, 0.9))
    assert style_of(ax).ground == pytest.approx((0.9, 0.9, 0.9))


def test_areas_of_markers_grow_in_a_straight_line():
    areas = marker_areas([0, 5, 10], smallest=10, largest=110)
    assert areas.tolist() == [10, 60, 110]
    assert marker_areas([0, 0]).tolist() == [18, 18]


def test_given_axes_are_used_and_none_are_made(ax):
    assert get_axes(ax, caller="f") is ax
    assert plt.get_fignums() == []


def test_new_axes_have_the_size_asked_for():
    made = get_axes(None, (3, 2), caller="f")
    assert isinstance(made, Axes)
    assert made.figure.get_size_inches().tolist() == [3, 2]


def test_something_else_than_axes_is_refused():
    with pytest.raises(InvalidInputError, match="f: `ax` must be a matplotlib Axes or None; got"):
        get_axes(Figure(), caller="f")


def test_axes_of_probabilities_have_the_same_scale(ax):
    set_frame(ax)
    assert ax.get_box_aspect() == 1
    assert ax.get_xlim() == ax.get_ylim() == pytest.approx((-0.02, 1.02))
    assert ax.get_xticks().tolist() == ax.get_yticks().tolist() == [0, 0.2, 0.4, 0.6, 0.8, 1]


@pytest.mark.parametrize("kind", ["linear", "logit"])
def test_ticks_follow_any_zoom(ax, kind):
    set_frame(ax, frame=Frame(kind, 0.001, 0.5))
    for ends in ((0.001, 0.05), (0.2, 0.21), (0.0001, 0.9), (0.05, 0.001)):
        ax.set_xlim(*ends)
        ticks = np.asarray(ax.get_xticks())
        assert len(ticks) >= 3
        assert ticks.min() >= min(ends) - 1e-12
        assert ticks.max() <= max(ends) + 1e-12
        texts = [ax.xaxis.get_major_formatter()(tick) for tick in ticks]
        assert len(set(texts)) == len(texts)
    assert isinstance(ax.xaxis.get_major_locator(), RoundTicks)


def test_axes_are_chosen_by_where_predictions_are():
    rng = np.random.default_rng(0)
    rare = rng.beta(1, 200, 5000)
    y = rng.random(5000) < rare
    curve = reliability_curve(y, rare, n_bins=15)
    assert frame_of([(curve, None)], "auto").kind == "logit"
    assert frame_of([(curve, None)], "unit") == Frame("linear", 0.0, 1.0)
    zoomed = frame_of([(curve, None)], "linear")
    assert (zoomed.kind, zoomed.low) == ("linear", 0.0)
    assert zoomed.high < 0.5
    assert frame_of([(curve, None)], "auto", from_zero=True).kind == "linear"
    usual = reliability_curve(y, rng.random(5000))
    assert frame_of([(usual, None)], "auto") == Frame("linear", 0.0, 1.0)
    assert frame_of([(usual, None), (curve, None)], "auto").kind == "linear"  # not of all of them


def test_one_axis_of_probabilities_leaves_the_other_alone(ax):
    ax.set_ylim(-3, 3)
    set_frame(ax, "x")
    assert ax.get_ylim() == (-3, 3)
    assert ax.get_box_aspect() is None


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (7.25, "7.25"), (999, "999"), (1234, "1.23k"), (999_999, "1M"), (2.5e9, "2.5G")],
)
def test_counts_are_short(count, text):
    assert short_count(count) == text


def test_axes_of_counts_have_short_ticks(ax):
    ax.set_ylim(0, 4000)
    count_axis(ax, "y", n_ticks=2)
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "2k", "4k"]


def test_sample_sizes_are_written_out():
    assert size_text(1_000_000) == "n = 1,000,000"
    assert size_text(12.5, name="weight") == "weight = 12.5"


def test_without_matplotlib_the_error_says_how_to_get_it():
    code = "import sys; sys.modules['matplotlib'] = None; import veridical.plots"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "MissingDependencyError: veridical.plots needs matplotlib." in done.stderr
    assert 'Hint: pip install "matplotlib>=3.8".' in done.stderr
