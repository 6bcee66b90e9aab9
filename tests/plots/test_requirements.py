"""Map of values over accuracy and calibration error."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from veridical.exceptions import InvalidInputError
from veridical.plots._charts.requirements import requirements
from veridical.results.planning import DecisionValue, RequirementTable


def make(function, *, direction="over", models=(), kind="cost", errors=(0, 0.05, 0.1, 0.2)):
    """Table whose value is a known function of accuracy and ECE."""
    grid = []
    for accuracy in (0.7, 0.8, 0.9):
        bound = 1 - accuracy if direction == "over" else accuracy - 0.5
        for ece in errors:
            about = {"name": "", "accuracy": accuracy, "ece": ece, "n_samples": 10}
            value = function(accuracy, ece)
            known = {"value": value, "low": value, "high": value, "baseline": -1.0}
            grid.append(DecisionValue(**about, **(known if ece < bound - 1e-9 else {})))
    return RequirementTable(
        grid=tuple(grid), models=tuple(models), process="costs", kind=kind, direction=direction,
        n_classes=2, class_shares=(0.5, 0.5), confidence_level=0.95,
    )  # fmt: skip


@pytest.fixture
def table():
    model = DecisionValue(name="now", accuracy=0.82, ece=0.07, value=-0.45, n_samples=10)
    return make(lambda accuracy, ece: accuracy - 1 - 2 * ece, models=[model])


def test_the_required_line_is_where_the_goal_is_just_reached(table, ax):
    drawn = requirements(table, saving=0.65, ax=ax)  # accuracy - 1 - 2 ece = -0.35
    corners = np.concatenate([path.vertices for path in drawn.required.get_paths()])
    np.testing.assert_allclose(corners[:, 0] - 1 - 2 * corners[:, 1], -0.35, atol=1e-12)
    assert "just enough to save 65 % of the cost" in _legend(drawn)
    assert drawn.ax is ax


def test_the_impossible_area_starts_at_the_bound(table, ax):
    drawn = requirements(table, ax=ax)
    corners = drawn.impossible.get_paths()[0].vertices
    low = {x: y for x, y in corners if y < 0.25}
    assert low == pytest.approx({0.9: 0.1})  # at 0.7 the bound of 0.3 is above all of the grid
    assert drawn.impossible.get_hatch() == "///"
    assert "always over-confident" in _legend(drawn)
    assert drawn.required is None


def test_an_area_out_of_sight_is_not_in_the_legend(ax):
    drawn = requirements(make(lambda a, e: a, direction="under", errors=(0, 0.1)), ax=ax)
    assert drawn.legend is None


def test_models_are_at_their_own_accuracy_and_error(table, ax):
    drawn = requirements(table, ax=ax)
    (mark,) = drawn.models
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (0.82, 0.07)
    assert "now: value -0.45" in _legend(drawn)


def test_axes_reach_models_outside_the_grid(ax):
    model = DecisionValue(name="far", accuracy=0.6, ece=0.3, value=-1.0, n_samples=10)
    drawn = requirements(make(lambda a, e: -a, models=[model]), ax=ax)
    assert drawn.ax.get_xlim() == (0.6, 0.9)
    assert drawn.ax.get_ylim() == (0, 0.3)


def test_goals_reached_everywhere_or_nowhere_have_no_line(table, ax):
    assert requirements(table, value=-5.0, ax=ax).required is None
    assert requirements(table, value=5.0, ax=ax).required is None


@pytest.mark.parametrize("value", [-0.25, 0.0])
def test_one_value_all_over(value, ax):
    drawn = requirements(make(lambda a, e: value), ax=ax)
    low, high = drawn.filled.levels
    assert low < value < high


def test_ruin_is_left_blank(ax):
    drawn = requirements(make(lambda a, e: -np.inf if e > 0.1 else -a, kind="value"), ax=ax)
    assert np.isfinite(drawn.filled.levels).all()
    assert drawn.colorbar.ax.get_ylabel() == "value a row"


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_no_text_covers_another(table, overlaps, style):
    with plt.style.context(style):
        drawn = requirements(table, saving=0.65)
        contour_labels = {text.get_text() for text in drawn.labels}
        found = [pair for pair in overlaps(drawn.figure) if not contour_labels & set(pair)]
    assert found == []


def test_refusals(table, ax):
    with pytest.raises(InvalidInputError, match="a RequirementTable"):
        requirements([1], ax=ax)
    with pytest.raises(InvalidInputError, match="two accuracies and two ECEs"):
        requirements(make(lambda a, e: a, errors=(0,)), ax=ax)


def _legend(drawn):
    return " ".join(text.get_text().replace("\n", " ") for text in drawn.legend.get_texts())
