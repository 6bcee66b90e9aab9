"""Figures over the epochs of training."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import veridical as v
from veridical.exceptions import InvalidInputError
from veridical_lab.plots import trajectory

TABLE = {
    "epoch": [2, 1, 3, 1, 2, 3],
    "run": ["a", "a", "a", "b", "b", "b"],
    "log": [0.5, 0.9, 0.7, 0.8, 0.6, 0.4],
    "pvalue": [0.2, 0.6, 0.01, 0.3, 0.02, 0.5],
}


def test_every_run_is_a_line_in_order_of_epochs():
    axes = Figure().subplots(2)
    drawn = trajectory({**TABLE, "n_samples": [1000] * 6}, level=0.1, ax=axes)
    assert drawn.axes == tuple(axes)
    assert drawn.quantities == ("log", "pvalue")
    assert drawn.lines[0][0].get_ydata().tolist() == [0.9, 0.5, 0.7]
    assert drawn.lines[1][1].get_ydata().tolist() == [0.3, 0.02, 0.5]
    # stars where the log loss is least: epoch 2 of a, epoch 3 of b
    assert drawn.best[0].get_offsets().tolist() == [[2, 0.5], [3, 0.4]]
    assert drawn.best[1].get_offsets().tolist() == [[2, 0.2], [3, 0.5]]
    assert drawn.level.get_ydata()[0] == 0.1
    assert "n = 1,000" in drawn.size.get_text()
    assert drawn.figure is axes[0].figure


def test_evaluations_give_their_default_figures(binary):
    epochs = {
        e: v.evaluate(binary.y, 0.5 + (binary.p - 0.5) * e / 10, n_resamples=50) for e in (5, 10)
    }
    drawn = trajectory(epochs, ax=Figure().subplots(4))
    assert drawn.quantities == ("log", "accuracy", "ECE", "pvalue")
    for name, (line,) in zip(drawn.quantities, drawn.lines, strict=True):
        read = {
            "log": lambda e: e.scores["log"],
            "accuracy": lambda e: e.accuracy,
            "ECE": lambda e: e.default.value,
            "pvalue": lambda e: e.default.pvalue,
        }[name]
        assert line.get_xdata().tolist() == [5, 10]
        np.testing.assert_allclose(line.get_ydata(), [read(e) for e in epochs.values()])
    assert "n = 600" in drawn.size.get_text()
    listed = trajectory(list(epochs.values()), quantities=["ECE"], ax=(ax := Figure().subplots()))
    assert listed.axes == (ax,)
    assert listed.lines[0][0].get_xdata().tolist() == [1, 2]


def test_without_a_log_loss_there_are_no_stars(ax):
    drawn = trajectory({"epoch": [1, 2], "ECE": [0.1, 0.2]}, ax=ax)
    assert drawn.best == (None,)


@pytest.mark.parametrize("width", [4.8, 3.4])
def test_no_text_covers_another(overlaps, width):
    epoch = np.arange(1, 41)
    table = {"epoch": epoch, "log": 1 / epoch, "accuracy": 1 - 1 / epoch, "pvalue": 1 / epoch}
    figure, axes = plt.subplots(3, 1, figsize=(width, 4.2), layout="constrained", sharex=True)
    trajectory(table, ax=axes)
    assert overlaps(figure) == []
    made = trajectory(table)
    assert len(made.axes) == 3
    assert overlaps(made.figure) == []


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"epoch": [1, 2], "log": [1.0]}, {}, "columns of one length"),
        ({1: "no evaluation"}, {}, "evaluations by epoch"),
        ([], {}, "evaluations by epoch"),
        (TABLE, {"quantities": ["loss"]}, "among the columns"),
        (TABLE, {}, "2 Axes"),
        (TABLE, {"level": 5}, "between 0 and 1"),
    ],
)
def test_refusals(data, options, message, ax):
    with pytest.raises(InvalidInputError, match=message):
        trajectory(data, ax=ax, **options)
