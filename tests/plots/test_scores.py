"""Distributions of predictions by what happened."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt

from veridical import EdgeBins, QuantileBins
from veridical.exceptions import InvalidInputError
from veridical.plots._diagrams.scores import scores


def test_two_histograms_are_shares_of_each_outcome(binary, ax):
    drawn = scores(binary.y, binary.p, n_bins=10, ax=ax)
    edges = np.arange(11) / 10
    for outcome, steps in enumerate(drawn.steps):
        p = binary.p[binary.y == outcome]
        inside = [((p > a) & (p <= b)).mean() for a, b in pairwise(edges)]
        values, found, _ = steps.get_data()
        np.testing.assert_allclose(values, inside)
        np.testing.assert_allclose(found, edges)
    texts = [text.get_text() for text in drawn.legend.get_texts()]
    assert texts == [f"{k} (n = {(binary.y == k).sum()})" for k in (0, 1)]
    assert drawn.ax is ax


def test_confidence_shows_right_and_wrong(multiclass, ax):
    drawn = scores(multiclass.y, multiclass.p, lens="confidence", ax=ax)
    right = (multiclass.p.argmax(axis=1) == multiclass.y).sum()
    assert f"right (n = {right})" in [text.get_text() for text in drawn.legend.get_texts()]


def test_weights_are_shares_and_the_rows_are_still_said(binary, ax):
    drawn = scores(binary.y, binary.p, sample_weight=binary.w, ax=ax)
    share = binary.w[binary.y == 1].sum() / binary.w.sum()
    assert drawn.legend.get_texts()[1].get_text() == f"1 ({share:.1%})"
    assert drawn.legend.get_title().get_text() == "n = 600"
    assert drawn.steps[0].get_data().values.sum() == pytest.approx(1)


def test_an_outcome_that_never_happened_is_flat(ax):
    drawn = scores([0, 0, 0], [0.1, 0.2, 0.3], labels=[0, 1], ax=ax)
    assert drawn.steps[1].get_data().values.max() == 0
    assert "1 (n = 0)" in [text.get_text() for text in drawn.legend.get_texts()]


def test_rows_of_the_heat_map_are_the_classes(multiclass, ax):
    drawn = scores(multiclass.y, multiclass.p, n_bins=5, ax=ax)
    values = drawn.heat.get_array().filled(0.0).reshape(3, 5)
    for k in range(3):
        p = multiclass.p[multiclass.y == k, k]
        cell = np.ceil(p * 5 - 1e-9).clip(min=1)
        np.testing.assert_allclose(values[k], [(cell == b).mean() for b in range(1, 6)])
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names[0] == f"0\nn = {(multiclass.y == 0).sum()}"
    assert "n = 600" in drawn.colorbar.ax.get_xlabel()


def test_empty_regions_stay_empty(ax):
    p = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
    drawn = scores([0, 1, 2], p, n_bins=4, ax=ax)
    assert drawn.heat.get_array().mask.sum() == 9  # of 12, all but one a class


@pytest.mark.parametrize("n_classes", [3, 10, 100])
@pytest.mark.parametrize("width", [5.2, 3.4])
def test_no_text_covers_another(overlaps, n_classes, width):
    rng = np.random.default_rng(0)
    y, p = rng.integers(n_classes, size=2000), rng.dirichlet(np.ones(n_classes), 2000)
    names = np.array([f"class {k}" for k in range(n_classes)])
    figure, axes = plt.subplots(figsize=(width, 3.6), layout="constrained")
    scores(names[y], p, labels=names, ax=axes)
    assert overlaps(figure) == []
    assert len(axes.collections) == 1
    assert any("n = 2,000" in each.get_xlabel() for each in figure.axes)


@pytest.mark.parametrize("width", [4.8, 3.4])
def test_no_text_covers_another_for_two_classes(overlaps, width):
    figure, axes = plt.subplots(figsize=(width, 3.0), layout="constrained")
    y = np.array(["defaulted", "paid back"] * 50)
    scores(y, np.linspace(0, 1, 100), ax=axes)
    assert overlaps(figure) == []


def test_refusals(binary, multiclass, ax):
    with pytest.raises(InvalidInputError, match="given beside"):
        scores(binary.y, ax=ax)
    with pytest.raises(InvalidInputError, match="same bins for every class"):
        scores(multiclass.y, multiclass.p, binning=QuantileBins(5), ax=ax)
    edges = EdgeBins([0.0, 0.5, 1.0])
    assert len(scores(binary.y, binary.p, binning=edges, ax=ax).steps) == 2
