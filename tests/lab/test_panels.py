"""Panels draw what they are told, and label it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from veridical_lab.plots.panels import Band, Bars, Line, Panel, Points, draw_panels


def _labels(axis):
    axis.figure.draw_without_rendering()
    return [text.get_text() for text in axis.get_ticklabels(which="both") if text.get_text()]


def test_every_mark_is_drawn_where_it_is():
    marks = [
        Line([0, 1], [2, 3]),
        Band([0, 1], [0, 0], [1, 2]),
        Points([0.5], [0.25], low=[0.0], high=[0.5]),
        Bars([0, 0.5, 1], [1, 2]),
    ]
    (ax,) = draw_panels([Panel(marks)]).axes
    assert ax.lines[0].get_xydata().tolist() == [[0, 2], [1, 3]]
    assert [bar.get_height() for bar in ax.patches] == [1, 2]
    assert ax.collections[2].get_offsets().tolist() == [[0.5, 0.25]]


def test_one_legend_names_each_series_once():
    panel = Panel([Line([0, 1], [0, 1], "a", colour=0), Line([0, 1], [1, 0], "b", colour=1)])
    figure = draw_panels([panel] * 3, legend=True)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]


def test_places_left_over_are_empty():
    assert len(draw_panels([Panel([])] * 4, columns=3).axes) == 4


@pytest.mark.parametrize(
    ("x", "expected"),
    [([100, 200], {"100", "200"}), ([30, 5000], {"100", "1k"}), ([0.003, 0.2], {"0.01", "0.1"})],
)
def test_logarithmic_axes_have_plain_numbers(x, expected):
    (ax,) = draw_panels([Panel([Line(x, np.ones(2))], kind="log x")]).axes
    shown = _labels(ax.xaxis)
    assert expected <= set(shown)
    assert not any("times" in text for text in shown)
