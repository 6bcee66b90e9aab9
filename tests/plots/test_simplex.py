"""Arrows, predictions and cells on the triangle and the tetrahedron."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy import stats

from veridical import SimplexBins, VarianceSplitBins, summarise
from veridical._core.numeric.triangle import HEIGHT, to_plane
from veridical.exceptions import InvalidInputError
from veridical.lenses import Canonical, Grouped, TopK
from veridical.lenses.reading import RawData
from veridical.plots._diagrams.simplex import MANY, simplex
from veridical.plots._drawing.simplex import TETRAHEDRON, lattice, mass_colours, to_space
from veridical.plots._drawing.style import luminance, style_of


def space():
    return Figure().add_subplot(projection="3d")


def several(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(n_classes, size=n), rng.dirichlet(np.ones(n_classes), n)


def test_corners_are_an_equilateral_triangle_and_a_regular_tetrahedron():
    sides = [math.dist(a, b) for a in to_plane(np.eye(3)) for b in to_plane(np.eye(3))]
    assert np.unique(np.round(sides, 12)).tolist() == [0.0, 1.0]
    edges = [math.dist(a, b) for a in TETRAHEDRON for b in TETRAHEDRON]
    assert np.unique(np.round(edges, 12)).tolist() == [0.0, 1.0]
    np.testing.assert_allclose(to_space(np.full((1, 4), 0.25))[0], TETRAHEDRON.mean(axis=0))


def test_the_lattice_covers_the_simplex_once():
    p, triangles = lattice(7)
    assert len(p) == 36
    np.testing.assert_allclose(p.sum(axis=1), 1)
    x, y = triangles.x[triangles.triangles], triangles.y[triangles.triangles]
    signed = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    assert len(signed) == 49
    np.testing.assert_allclose(np.abs(signed) / 2, HEIGHT / 2 / 49)


def test_arrows_run_from_mean_prediction_to_class_frequencies(multiclass, ax):
    drawn = simplex(multiclass.y, multiclass.p, n_bins=4, ax=ax)
    cell = np.ceil(multiclass.p * 4 - 1e-9).clip(min=1).astype(int)  # right-closed quarters
    tails, moves, rows = [], [], []
    for key in np.unique(cell, axis=0):
        mine = (cell == key).all(axis=1)
        mean = multiclass.p[mine].mean(axis=0)
        frequency = np.eye(3)[multiclass.y[mine]].mean(axis=0)
        tails.append(to_plane(mean))
        moves.append(to_plane(frequency) - to_plane(mean))
        rows.append(mine.sum())
    np.testing.assert_allclose(drawn.arrows.get_offsets(), tails)
    np.testing.assert_allclose(np.column_stack([drawn.arrows.U, drawn.arrows.V]), moves)
    np.testing.assert_array_equal(drawn.arrows.get_array(), rows)
    assert drawn.ax is ax
    assert drawn.size.get_text().splitlines() == ["n = 600", f"{len(rows)} cells"]


def test_a_summary_draws_the_same_arrows(multiclass, ax):
    raw = simplex(multiclass.y, multiclass.p, n_bins=3, ax=ax)
    problem = RawData(multiclass.y, multiclass.p).through(Canonical(), caller="test").problem
    again = simplex(summarise(problem, SimplexBins(3)), ax=Figure().subplots())
    np.testing.assert_array_equal(raw.arrows.U, again.arrows.U)
    with pytest.raises(InvalidInputError, match="single predictions"):
        simplex(raw.summary, show="both", ax=ax)


def test_data_dependent_cells_and_groups_of_classes(ax):
    y, p = several(3000, 10)
    groups = Grouped({"a": [0, 1, 2], "b": [3, 4, 5], "c": [6, 7, 8, 9]})
    drawn = simplex(y, p, lens=groups, binning=VarianceSplitBins(500), ax=ax)
    merged = np.column_stack([p[:, :3].sum(1), p[:, 3:6].sum(1), p[:, 6:].sum(1)])
    mean = np.average(to_plane(merged), axis=0)
    found = np.average(drawn.arrows.get_offsets(), axis=0, weights=drawn.arrows.get_array())
    np.testing.assert_allclose(found, mean)
    assert {text.get_text() for text in ax.texts} >= {"a", "b", "c"}
    assert len(simplex(y, p, lens=TopK(2), ax=Figure().subplots()).summary.classes) == 3


def test_few_rows_get_few_cells(ax):
    y, p = several(30, 3)
    assert len(simplex(y, p, ax=ax).summary.count) <= 4  # two bins an axis
    y, p = several(20_000, 3)
    assert len(simplex(y, p, ax=Figure().subplots()).summary.count) == 64  # eight


def test_regions_hold_the_stated_share_of_multinomial_frequencies(ax):
    m, n, level = np.array([0.5, 0.3, 0.2]), 400, 0.9
    drawn = simplex(
        np.arange(n) % 3, np.tile(m, (n, 1)), variability=True, confidence_level=level, ax=ax
    )
    regions = drawn.regions
    wide, high = regions._widths[0], regions._heights[0]  # half axes, in units of data
    angle = regions._angles[0]
    draws = np.random.default_rng(0).multinomial(n, m, 4000) / n
    off = (to_plane(draws) - to_plane(m)) @ np.array([
        [np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)],
    ])  # fmt: skip
    inside = np.sum((off / np.array([wide, high])) ** 2, axis=1) <= 1
    # 4,000 draws: five standard deviations of 0.0047, plus the step of the normal approximation.
    assert abs(inside.mean() - level) < 5 * 0.0047 + 0.01
    # Its area is that of the normal ellipse: pi r^2 root(det), r^2 the chi-square quantile.
    spread = (np.diag(m) - np.outer(m, m)) / n
    corners = np.array([[0, 0], [1, 0], [0.5, HEIGHT]])
    determinant = np.linalg.det(corners.T @ spread @ corners)
    expected = np.pi * stats.chi2.ppf(level, 2) * math.sqrt(determinant)
    assert np.pi * wide * high == pytest.approx(expected)


def test_predictions_are_drawn_by_outcome_with_counts(ax, multiclass):
    names = np.array(["ant", "bee", "cat"])[multiclass.y]
    drawn = simplex(names, multiclass.p, show="predictions", ax=ax)
    for index, points in enumerate(drawn.points):
        np.testing.assert_allclose(
            points.get_offsets(), to_plane(multiclass.p[multiclass.y == index])
        )
    texts = " ".join(text.get_text() for text in ax.texts)
    assert f"ant ({(multiclass.y == 0).sum()})" in texts
    assert drawn.arrows is None


def test_many_predictions_become_a_density(ax):
    y, p = several(MANY + 1, 3)
    drawn = simplex(y, p, show="both", ax=ax)
    assert drawn.points == ()
    assert drawn.density.get_array().sum() == MANY + 1
    assert drawn.arrows.get_array() is None  # colour is taken by the density
    assert sum(len(c.get_paths()) for c in ax.collections) < 5000


def test_weight_zero_is_removal(multiclass, ax):
    w = (np.arange(600) % 3 > 0).astype(float)
    kept = simplex(multiclass.y[w > 0], multiclass.p[w > 0], n_bins=4, ax=ax)
    weighted = simplex(
        multiclass.y, multiclass.p, sample_weight=w, n_bins=4, ax=Figure().subplots()
    )
    np.testing.assert_allclose(kept.arrows.U, weighted.arrows.U)


def test_four_classes_make_a_tetrahedron():
    y, p = several(500, 4)
    drawn = simplex(y, p, n_bins=2, show="both", ax=(ax := space()))
    ends = np.stack(drawn.shafts._segments3d)
    np.testing.assert_allclose(ends[:, 0], to_space(drawn.summary.mean_p))
    np.testing.assert_allclose(ends[:, 1], to_space(drawn.summary.mean_y))
    assert drawn.ax is ax
    assert sum(len(points.get_offsets()) for points in drawn.points) == 500
    assert "n = 500" in drawn.size.get_text()
    many = simplex(*several(3000, 4), show="predictions", ax=space())
    assert len(many.points) == 1
    assert len(many.points[0].get_offsets()) < 800
    assert simplex(y, p).ax.name == "3d"


@pytest.mark.parametrize("width", [4.4, 3.4])
@pytest.mark.parametrize("show", ["arrows", "predictions", "both"])
def test_no_text_covers_another(multiclass, overlaps, width, show):
    names = np.array(["animal", "building", "vehicle on wheels"])[multiclass.y]
    figure = plt.figure(figsize=(width, 0.95 * width), layout="constrained")
    simplex(names, multiclass.p, show=show, variability=True, ax=figure.subplots())
    assert overlaps(figure) == []


def test_refusals(binary, multiclass, ax):
    with pytest.raises(InvalidInputError, match=r"plots\.reliability"):
        simplex(binary.y, binary.p, ax=ax)
    with pytest.raises(InvalidInputError, match="Grouped"):
        simplex(*several(50, 5), ax=ax)
    with pytest.raises(InvalidInputError, match="given beside"):
        simplex(multiclass.y, ax=ax)
    with pytest.raises(InvalidInputError, match="did you mean 'arrows'"):
        simplex(multiclass.y, multiclass.p, show="arrow", ax=ax)
    with pytest.raises(InvalidInputError, match="an Axes3D"):
        simplex(*several(50, 4), ax=ax)
    with pytest.raises(InvalidInputError, match="a matplotlib Axes"):
        simplex(multiclass.y, multiclass.p, ax="here")


@pytest.mark.parametrize("ground", ["white", "black"])
def test_cells_of_few_rows_are_the_faintest(ground):
    ax = Figure(facecolor=ground).subplots()
    ax.set_facecolor(ground)
    shades = mass_colours(style_of(ax))(np.linspace(0, 1, 9))[:, :3]
    away = np.abs([luminance(shade) - luminance(ground) for shade in shades])
    assert (np.diff(away) > 0).all()
    assert away[0] > 0.01
