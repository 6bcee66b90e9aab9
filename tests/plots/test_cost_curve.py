"""Cost curves and Brier curves."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

import veridical as v
from veridical.decisions._costs.cost_curve import cost_curve as compute
from veridical.exceptions import InvalidInputError
from veridical.plots._charts.cost_curve import cost_curve


def test_lines_are_those_of_the_result(binary, ax):
    curve = compute(binary.y, binary.p)
    drawn = cost_curve(curve, ax=ax)
    np.testing.assert_array_equal(drawn.models[0].get_xdata(), curve.probability_cost)
    np.testing.assert_array_equal(drawn.models[0].get_ydata(), curve.model)
    np.testing.assert_array_equal(drawn.envelopes[0].get_ydata(), curve.envelope)
    assert drawn.gaps is not None
    assert "n = 600" in drawn.legend.get_texts()[0].get_text()
    assert drawn.ax is ax


def test_the_area_under_a_brier_curve_is_the_brier_score(binary, ax):
    drawn = cost_curve(binary.y, binary.p, show="brier", ax=ax)
    x, y = drawn.models[0].get_data()
    area = abs(np.diff(x) @ (y[1:] + y[:-1]) / 2)
    assert area == pytest.approx(v.brier_score(binary.y, binary.p))


def test_the_constant_decisions_are_a_triangle(ax):
    drawn = cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], ax=ax)
    corners = drawn.trivial.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(0.5)
    x, y = corners.T
    assert (y <= np.minimum(x, 1 - x) + 1e-12).all()


def test_several_models_have_no_area_between(binary, ax):
    curves = {"a": compute(binary.y, binary.p), "b": compute(binary.y, binary.p**2)}
    drawn = cost_curve(curves, ax=ax)
    assert len(drawn.models) == 2
    assert drawn.gaps is None


def test_many_corners_are_thinned(ax):
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    drawn = cost_curve((rng.random(20_000) < p).astype(int), p, ax=ax)
    x = drawn.models[0].get_xdata()
    assert len(x) <= 4000
    assert (x[0], x[-1]) == (0, 1)


@pytest.mark.parametrize("show", ["cost", "brier"])
@pytest.mark.parametrize("width", [4.6, 3.4])
def test_no_text_covers_another(binary, overlaps, width, show):
    figure, axes = plt.subplots(figsize=(width, width), layout="constrained")
    cost_curve(binary.y, binary.p, show=show, ax=axes)
    assert overlaps(figure) == []


def test_refusals(binary, ax):
    with pytest.raises(InvalidInputError, match="given beside"):
        cost_curve(binary.y, ax=ax)
    with pytest.raises(InvalidInputError, match="mapping of cost curves"):
        cost_curve({"a": 1}, ax=ax)
    with pytest.raises(InvalidInputError, match="did you mean 'cost'"):
        cost_curve(binary.y, binary.p, show="costs", ax=ax)
