"""Estimates and errors against the number of rows."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from veridical.exceptions import InvalidInputError
from veridical_lab.plots import convergence

RUNS = {1000: [0.1, 0.2, 0.3], 100: [0.2, 0.4, 0.6]}  # not in order


def test_means_and_bands_of_the_estimates(ax):
    drawn = convergence({"bins": RUNS}, truth=0.15, confidence_level=0.5, ax=ax)
    x, y = drawn.lines[0].get_data()
    assert x.tolist() == [100, 1000]
    np.testing.assert_allclose(y, [0.4, 0.2])
    corners = drawn.bands[0].get_paths()[0].vertices
    at_first = corners[np.isclose(corners[:, 0], 100), 1]
    assert at_first.min() == pytest.approx(0.3)  # quartiles of 0.2, 0.4, 0.6
    assert at_first.max() == pytest.approx(0.5)
    assert drawn.truth.get_ydata()[0] == 0.15
    texts = [text.get_text() for text in drawn.legend.get_texts()]
    assert texts == ["bins, 3 repetitions", "truth 0.15"]
    assert ax.get_xscale() == "log"
    assert drawn.ax is ax


def test_the_error_is_the_root_mean_square(ax):
    drawn = convergence({"a": RUNS, "b": {10: [0.1]}}, truth=0.2, show="error", ax=ax)
    np.testing.assert_allclose(drawn.lines[0].get_ydata(), np.sqrt([0.2 / 3, 0.02 / 3]))
    np.testing.assert_allclose(drawn.lines[1].get_ydata(), [0.1])
    assert drawn.bands == ()


@pytest.mark.parametrize("show", ["estimates", "error"])
@pytest.mark.parametrize("width", [4.8, 3.4])
def test_no_text_covers_another(overlaps, width, show):
    sizes = [100, 300, 1000, 3000, 10_000, 1_000_000]
    series = {f"estimator number {i}": {n: [0.1, 0.2 + i / n] for n in sizes} for i in range(3)}
    figure, axes = plt.subplots(figsize=(width, 0.8 * width), layout="constrained")
    convergence(series, truth=0.1, show=show, ax=axes)
    assert overlaps(figure) == []


@pytest.mark.parametrize(
    ("estimates", "options", "message"),
    [
        ({}, {}, "not empty"),
        ([1, 2], {}, "a mapping"),
        ({"a": {}}, {}, "of some sizes"),
        ({-5: [0.1]}, {}, "keyed by rows"),
        ({10: []}, {}, "finite numbers"),
        ({10: [np.nan]}, {}, "finite numbers"),
        (RUNS, {"show": "error"}, "what is estimated"),
        (RUNS, {"truth": np.inf}, "a finite number"),
        (RUNS, {"show": "errors"}, "did you mean 'error'"),
    ],
)
def test_refusals(estimates, options, message, ax):
    with pytest.raises(InvalidInputError, match=message):
        convergence(estimates, ax=ax, **options)
