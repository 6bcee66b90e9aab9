"""Contours of a function on the triangle."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from veridical import TemperatureCalibrator
from veridical._core.numeric.triangle import HEIGHT, to_plane
from veridical.exceptions import InvalidInputError
from veridical_lab.plots import simplex_function


def barycentric(x, y):
    """Probabilities of a point of the plane: corners at (0, 0), (1, 0) and (1/2, height)."""
    third = y / HEIGHT
    second = x - third / 2
    return np.column_stack([1 - second - third, second, third])


@pytest.mark.parametrize("k", [0, 1, 2])
def test_contours_of_one_probability_are_lines_at_that_probability(ax, k):
    drawn = simplex_function(lambda p: p[:, k], levels=[0.2, 0.5, 0.8], ax=ax)
    assert drawn.ax is ax
    paths = drawn.lines.get_paths()
    assert len(paths) == 3
    for path, level in zip(paths, (0.2, 0.5, 0.8), strict=True):
        corners = barycentric(*path.vertices.T)
        # The grid leaves out the outermost thousandth: level = (at + 0.001) / 1.003.
        np.testing.assert_allclose((corners[:, k] + 0.001) / 1.003, level, atol=1e-9)
    assert drawn.values.min() == pytest.approx(0.001 / 1.003)
    np.testing.assert_array_equal(drawn.values, drawn.p[:, k])
    np.testing.assert_allclose(drawn.p.sum(axis=1), 1)


def test_curved_contours_follow_the_function_to_the_grid(ax):
    entropy = lambda p: -(p * np.log(p)).sum(axis=1)  # noqa: E731
    drawn = simplex_function(entropy, levels=[0.6, 1.0], ax=ax)
    for path, level in zip(drawn.lines.get_paths(), (0.6, 1.0), strict=True):
        p = (barycentric(*path.vertices.T) + 0.001) / 1.003
        np.testing.assert_allclose(entropy(p), level, atol=2e-3)
    assert drawn.values.max() == pytest.approx(np.log(3), abs=1e-3)


def test_round_levels_names_and_marks(overlaps):
    p = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    names = ["ant", "bee", "cat"]
    drawn = simplex_function(
        lambda p: p.max(axis=1), classes=names, name="confidence", predictions=p
    )
    np.testing.assert_allclose(drawn.points.get_offsets(), to_plane(p))
    np.testing.assert_allclose(drawn.levels * 10, np.rint(drawn.levels * 10), atol=1e-9)
    assert set(names) <= {text.get_text() for text in drawn.ax.texts}
    assert drawn.colorbar.ax.get_ylabel() == "confidence"
    assert overlaps(drawn.figure) == []


def test_a_change_of_probability_has_colours_that_part_at_zero(ax):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 300)
    y = (rng.random(300)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    map_ = TemperatureCalibrator().fit(p**2 / (p**2).sum(axis=1, keepdims=True), y)
    drawn = simplex_function(lambda q: map_.predict_proba(q)[:, 0] - q[:, 0], ax=ax)
    assert drawn.values.min() < 0 < drawn.values.max()
    norm = drawn.areas.norm
    assert norm.vmin == -norm.vmax == -np.abs(drawn.values).max()


def test_a_constant_has_no_contours():
    drawn = simplex_function(lambda p: np.full(len(p), 2.0), ax=Figure().subplots())
    assert drawn.lines is None
    assert set(drawn.areas.get_array().tolist()) == {2.0}


def test_a_new_figure_is_made_without_axes():
    assert simplex_function(lambda p: p[:, 0]).ax is plt.gca()


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"function": lambda p: p}, "7,381 numbers"),
        ({"function": lambda p: np.log(p[:, 0] - 0.5)}, "finite"),
        ({"function": 3}, "a function of"),
        ({"classes": ["a", "b"]}, "three names"),
        ({"levels": 0}, "`levels` must be"),
        ({"levels": [0.5, 0.1]}, "increasing"),
        ({"levels": []}, "increasing"),
        ({"levels": [0.1, np.nan]}, "increasing"),
        ({"predictions": [[0.2, 0.3, 0.9]]}, "sum"),
        ({"predictions": [0.2, 0.3, 0.5]}, r"shape \(n, 3\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(ax, wrong, match):
    options = {"function": lambda p: p[:, 0]} | wrong
    with (
        np.errstate(invalid="ignore", divide="ignore"),
        pytest.raises(InvalidInputError, match=match),
    ):
        simplex_function(options.pop("function"), ax=ax, **options)
