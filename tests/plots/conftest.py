"""Figures are drawn in memory, and no test may change matplotlib's settings."""

from __future__ import annotations

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure


@pytest.fixture(autouse=True)
def settings_kept():
    """Fail if a figure changed rcParams; close what was opened."""
    before = dict(mpl.rcParams)
    yield
    after = dict(mpl.rcParams)
    plt.close("all")
    assert after == before


@pytest.fixture
def ax():
    """Axes of a figure that pyplot knows nothing of."""
    return Figure(figsize=(4.6, 5.0)).subplots()


@pytest.fixture
def overlaps():
    """Pairs of visible texts of a figure that cover each other, after drawing it."""

    def find(figure):
        figure.draw_without_rendering()
        renderer = figure.canvas.get_renderer()
        boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in _texts(figure)]
        # Shrunk by half a pixel: touching is not covering.
        shrunk = [(name, box.padded(-0.5)) for name, box in boxes if box.width > 1]
        return [(a, b) for (a, one), (b, two) in combinations(shrunk, 2) if one.overlaps(two)]

    return find


def _texts(figure):
    """Texts that are drawn: none of axes that are switched off, none of ticks out of sight."""
    for axes in figure.axes:
        for one in (axes, *axes.child_axes):
            found = [*one.texts, one.title, one.get_legend()]
            found += [artist for artist in one.get_children() if isinstance(artist, mpl.text.Text)]
            for axis in (one.xaxis, one.yaxis) if one.axison else ():
                low, high = sorted(axis.get_view_interval())
                seen = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
                found += [axis.label, *(t.label1 for t in seen), *(t.label2 for t in seen)]
            texts = {
                text: None
                for artist in found
                if artist is not None
                for text in artist.findobj(mpl.text.Text)
            }
            yield from (text for text in texts if text.get_visible() and text.get_text())


@pytest.fixture
def points():
    """Corners of a line without the breaks, as an array of pairs."""

    def read(line):
        xy = np.column_stack(line.get_data())
        return xy[~np.isnan(xy).any(axis=1)]

    return read
