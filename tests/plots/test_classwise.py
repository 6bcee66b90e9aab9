"""Grids of diagrams, one a class."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from veridical import (
    ClassSpecific,
    Confidence,
    evaluate,
    expected_calibration_error,
    reliability_curve,
)
from veridical.exceptions import InvalidInputError
from veridical.lenses import Pooled
from veridical.plots import classwise


def _ece(z, q, n_bins):
    """Sum over right-closed bins of |sum of z - q| / n, by the definition."""
    bins = np.maximum(np.ceil(q * n_bins), 1)
    return sum(abs((z - q)[bins == b].sum()) for b in np.unique(bins)) / len(z)


@pytest.fixture
def many():
    """400 rows of ten classes with words for labels."""
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.full(10, 0.3), 400)
    labels = np.array([f"class number {'x' * 12} {k}" for k in range(10)])
    return labels[(rng.random(400)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=9)], p, labels


def test_classes_come_worst_first_with_their_errors(multiclass, ax):
    drawn = classwise(multiclass.y, multiclass.p, show=["classes"], n_bins=7, ax=ax)
    errors = [_ece(multiclass.y == k, multiclass.p[:, k], 7) for k in range(3)]
    assert drawn.names == tuple(np.argsort(errors)[::-1])
    assert np.allclose(drawn.errors, sorted(errors, reverse=True))
    assert drawn.n_classes == 3


def test_panels_show_the_curves_of_their_lenses(multiclass, ax):
    drawn = classwise(multiclass.y, multiclass.p, n_bins=7, ax=ax)
    assert drawn.names[:2] == ("averaged", "confidence")
    lenses = [Pooled(), Confidence(), *(ClassSpecific(int(k)) for k in drawn.names[2:])]
    for panel, lens in zip(drawn.panels, lenses, strict=True):
        curve = reliability_curve(multiclass.y, multiclass.p, lens=lens, n_bins=7)
        (one,) = panel.curves
        assert one.curve == curve
        expected = np.column_stack([curve.predicted, curve.observed])
        assert np.allclose(one.markers.get_offsets(), expected)
        error = expected_calibration_error(multiclass.y, multiclass.p, lens=lens, n_bins=7)
        assert f"ECE {error:.3f}" in panel.ax.get_title(loc="left")


def test_panels_say_how_many_rows_they_show(multiclass, ax):
    drawn = classwise(multiclass.y, multiclass.p, ax=ax)
    said = [panel.ax.get_title(loc="left") for panel in drawn.panels]
    assert said[0].startswith("all classes\n1,800 pairs, ECE")
    assert said[1].startswith("confidence\n600 rows, ECE")
    for label, text in zip(drawn.names[2:], said[2:], strict=True):
        assert text.startswith(f"{label}\n{np.sum(multiclass.y == label)} of 600, ECE")
    assert any("n = 600" in text.get_text() for text in ax.texts)


def test_the_grid_takes_the_place_of_the_given_axes(multiclass, ax):
    drawn = classwise(multiclass.y, multiclass.p, ax=ax)
    assert drawn.ax is ax
    assert [panel.ax for panel in drawn.panels] == ax.child_axes
    assert not ax.axison
    assert plt.get_fignums() == []
    ax.figure.draw_without_rendering()
    place = ax.get_position(original=True)
    for panel in ax.child_axes:
        box = panel.get_position()
        assert place.x0 - 1e-9 <= box.x0 < box.x1 <= place.x1 + 1e-9
        assert place.y0 - 1e-9 <= box.y0 < box.y1 <= place.y1 + 1e-9
        assert panel.get_box_aspect() == 1


def test_a_single_panel_is_drawn_on_the_axes_themselves(multiclass, ax):
    drawn = classwise(multiclass.y, multiclass.p, show="averaged", ax=ax)
    assert drawn.panels[0].ax is ax
    assert ax.axison
    assert ax.get_xlabel() == "predicted probability\nn = 600"


def test_only_the_worst_of_many_classes_are_shown(many, ax):
    y, p, labels = many
    drawn = classwise(y, p, labels=labels, show=["classes"], max_classes=4, ax=ax)
    errors = {label: _ece(y == label, p[:, k], 15) for k, label in enumerate(labels)}
    assert drawn.names == tuple(sorted(errors, key=errors.get, reverse=True)[:4])
    assert drawn.n_classes == 10
    assert any("the 4 classes of 10 with the largest ECE" in t.get_text() for t in ax.texts)


def test_panels_have_axes_of_their_own_or_all_of_them_the_unit(ax):
    curves = {
        "low": reliability_curve([0] * 8 + [1, 1], [0.15, 0.3] * 5, n_bins=1, interval=None),
        "high": reliability_curve([1] * 8 + [0, 0], [0.7, 0.85] * 5, n_bins=1, interval=None),
    }
    classwise(curves, ax=ax)
    low, high = (panel.get_xlim() for panel in ax.child_axes)
    assert low[0] < 0.2 < 0.225 < low[1] < 0.5 < high[0] < 0.775 < 0.8 < high[1]
    for panel in ax.child_axes:
        assert panel.get_xlim() == pytest.approx(panel.get_ylim())
        assert panel.xaxis.get_tick_params()["labelbottom"]
    other = Figure().subplots()
    classwise(curves, axis="unit", ax=other)
    assert {panel.get_xlim() for panel in other.child_axes} == {(-0.02, 1.02)}


def test_several_models_share_panels(multiclass, ax):
    models = {"raw": multiclass.p, "flat": np.full_like(multiclass.p, 1 / 3)}
    drawn = classwise(multiclass.y, models, show=["classes", "confidence"], ax=ax)
    assert all([one.name for one in panel.curves] == ["raw", "flat"] for panel in drawn.panels)
    texts = [text.get_text() for text in drawn.panels[0].ax.get_legend().get_texts()]
    assert texts == ["raw", "flat"]
    alone = [
        classwise(multiclass.y, p, show=["classes"], ax=Figure().subplots())
        for p in models.values()
    ]
    by_name = [dict(zip(each.names, each.errors, strict=True)) for each in alone]
    for name, error in zip(drawn.names[:3], drawn.errors[:3], strict=True):
        assert error == max(errors[name] for errors in by_name)
    assert list(drawn.errors[:3]) == sorted(drawn.errors[:3], reverse=True)


def test_a_hundred_classes_find_room():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(100, 0.2), 3000)
    y = np.array([rng.choice(100, p=row / row.sum()) for row in p])
    drawn = classwise(y, p, labels=range(100), show=["classes"], max_classes=100)
    assert len(drawn.panels) == 100
    assert list(drawn.errors) == sorted(drawn.errors, reverse=True)
    plt.close(drawn.figure)


def test_results_are_drawn_in_their_order(multiclass, ax):
    results = {
        "first": reliability_curve(multiclass.y, multiclass.p, lens=ClassSpecific(0)),
        "second": evaluate(multiclass.y, multiclass.p, lens=ClassSpecific(1)),
    }
    drawn = classwise(results, ax=ax)
    assert drawn.names == ("first", "second")
    assert drawn.errors == (None, results["second"].error("ECE").value)
    assert drawn.panels[0].curves[0].curve is results["first"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"show": ["class"]}, "`show` must be one of 'averaged', 'confidence', 'classes'"),
        ({"show": []}, "`show` must be one panel or more"),
        ({"max_classes": 0}, "`max_classes` must be an integer of at least 1; got 0"),
        ({"style": "bar"}, "`style` must be one of"),
        ({"style": "bars", "method": "smooth"}, "`style` must be 'line'"),
    ],
)
def test_bad_options_are_named(options, message, multiclass, ax):
    with pytest.raises(InvalidInputError, match=message):
        classwise(multiclass.y, multiclass.p, ax=ax, **options)


def test_one_result_is_no_grid(multiclass, ax):
    with pytest.raises(
        InvalidInputError, match="a mapping of label to result; got ReliabilityCurve"
    ):
        classwise(reliability_curve(multiclass.y, multiclass.p), ax=ax)


@pytest.mark.parametrize("size", [(3.4, 6.0), None])
def test_no_text_covers_another(size, many, overlaps):
    y, p, labels = many
    ax = None if size is None else plt.subplots(figsize=size, layout="constrained")[1]
    shown = 3 if size else 10
    drawn = classwise(y, p, labels=labels, max_classes=shown, ax=ax)
    assert overlaps(drawn.figure) == []
    assert (
        drawn.panels[2].ax.get_title(loc="left").split("\n")[0].endswith("\N{HORIZONTAL ELLIPSIS}")
    )


def test_a_panel_is_built_of_these_parts(multiclass, ax):
    drawn = classwise(multiclass.y, multiclass.p, ax=ax)
    assert len(drawn.panels) == 5
    for panel in drawn.panels:
        assert len(panel.ax.lines) == 2
        assert len(panel.ax.collections) == 2
        assert panel.histogram_ax is None
        assert panel.legend is None
