"""Scores in their parts."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt

import veridical as v
from veridical.exceptions import InvalidInputError
from veridical.plots._charts.decomposition import decomposition


def ends(bars):
    return [(bar.get_x(), bar.get_width()) for bar in bars]


def test_bars_add_up_to_the_score(binary, ax):
    models = {"a": v.decompose(binary.y, binary.p), "b": v.decompose(binary.y, binary.p**2)}
    drawn = decomposition(models, ax=ax)
    for i, d in enumerate(models.values()):
        x, width = ends(drawn.parts["refinement"])[i]
        start, more = ends(drawn.parts["miscalibration"])[i]
        assert (x, width) == (0, pytest.approx(d.refinement))
        assert (start, start + more) == (pytest.approx(d.refinement), pytest.approx(d.score))
        thin = drawn.discrimination[i]
        assert thin.get_x() == pytest.approx(d.refinement)
        assert thin.get_x() + thin.get_width() == pytest.approx(d.uncertainty)
        assert drawn.scores.get_offsets()[i, 0] == pytest.approx(d.score)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a\nn = 600", "b\nn = 600"]
    assert drawn.ax is ax
    assert drawn.irreducible is None


def test_what_bins_hide_is_drawn_up_to_the_score(binary, ax):
    d = v.decompose(binary.y, binary.p, method="bins", n_bins=3)
    drawn = decomposition(binary.y, binary.p, method="bins", n_bins=3, ax=ax)
    ((x, width),) = ends(drawn.parts["within bins"])
    assert width == pytest.approx(d.within_bin)
    assert x + width == pytest.approx(d.score)


def test_a_known_posterior_adds_the_irreducible_loss(binary, ax):
    posterior = 0.2 + 0.6 * binary.p
    d = v.decompose(binary.y, binary.p, posterior=posterior)
    drawn = decomposition(d, ax=ax)
    (segment,) = drawn.irreducible.get_segments()
    expected = (posterior * (1 - posterior)).mean()  # the expected Brier score of the truth
    assert segment[:, 0].tolist() == pytest.approx([expected, expected])


@pytest.mark.parametrize("width", [5.4, 3.4])
def test_no_text_covers_another(binary, overlaps, width):
    names = ("random forest", "calibrated", "a model with a long name")
    d = v.decompose(binary.y, binary.p, method="bins", posterior=binary.p)
    figure, axes = plt.subplots(figsize=(width, 2.6), layout="constrained")
    decomposition(dict.fromkeys(names, d), ax=axes)
    assert overlaps(figure) == []


def test_refusals(binary, ax):
    one = v.decompose(binary.y, binary.p)
    with pytest.raises(InvalidInputError, match="one rule"):
        decomposition({"a": one, "b": v.decompose(binary.y, binary.p, rule="spherical")}, ax=ax)
    with pytest.raises(InvalidInputError, match="mapping of decompositions"):
        decomposition({"a": 0.5}, ax=ax)
    with pytest.raises(InvalidInputError, match="given beside"):
        decomposition(binary.y, ax=ax)
