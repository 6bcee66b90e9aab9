"""Candidates of an automatic calibrator."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from veridical.exceptions import InvalidInputError
from veridical.plots._charts.evidence import evidence
from veridical.plots._drawing.forest import draw_forest, forest_size
from veridical.plots._drawing.style import style_of
from veridical.results.selection import CandidateEvidence, Evidence


def candidate(name, difference, spread=0.01, weight=0.0):
    known = difference is not None
    return CandidateEvidence(
        candidate=name, log_loss=0.5 if known else None, brier=0.2 if known else None,
        difference=difference, low=difference - spread if known and spread else None,
        high=difference + spread if known and spread else None, weight=weight, chosen=weight > 0,
        note="", seconds=0.1,
    )  # fmt: skip


def found(*candidates):
    return Evidence(
        candidates=candidates, strategy="pool", verdict="", n_samples=2000, n_classes=2,
        partitions=(5,), n_used=1500, confidence_level=0.9,
    )  # fmt: skip


ALL = (
    candidate("identity", 0.0, 0.0),
    candidate("platt", -0.02, weight=0.4),
    candidate("a calibrator with a long name", -0.03, weight=0.6),
    candidate("isotonic", 0.01),
    candidate("matrix", None),
    candidate("pool", -0.035),
)


def test_candidates_are_in_order_with_their_intervals(ax):
    drawn = evidence(found(*ALL), ax=ax)
    assert drawn.candidates == (
        "pool", "a calibrator with a long name", "platt", "identity", "isotonic",
    )  # fmt: skip
    x = drawn.points.get_offsets()[:, 0]
    np.testing.assert_allclose(x, [-0.035, -0.03, -0.02, 0.0, 0.01])
    segments = np.array([segment[:, 0] for segment in drawn.lines.get_segments()])
    middle = np.array([-0.035, -0.03, -0.02, 0.01])[:, None]  # the identity has no interval
    np.testing.assert_allclose(segments, middle + np.array([-0.01, 0.01]))
    assert [text.get_text() for text in drawn.notes] == ["result", "60 %", "40 %", "", ""]
    assert drawn.ax is ax
    assert "n = 1,500" in ax.get_title(loc="left")
    assert "90 %" in ax.get_xlabel()


@pytest.mark.parametrize("width", [5.4, 3.4])
def test_no_text_covers_another(overlaps, width):
    figure, axes = plt.subplots(figsize=(width, 2.6), layout="constrained")
    evidence(found(*ALL), ax=axes)
    assert overlaps(figure) == []


def test_refusals(ax):
    with pytest.raises(InvalidInputError, match="an Evidence"):
        evidence([1, 2], ax=ax)
    with pytest.raises(InvalidInputError, match="that were tried"):
        evidence(found(candidate("matrix", None)), ax=ax)


def test_numbers_under_long_negative_scales_do_not_meet(overlaps):
    figure = plt.figure(figsize=forest_size(3), layout="constrained")
    ax = figure.subplots()
    names, limits = ["ensemble temperature"] * 3, [(-0.15, -0.09)] * 3
    draw_forest(ax, names, [-0.12] * 3, limits, style_of(ax), colours=["k"] * 3, notes=["5 %"] * 3)
    ax.axvline(0.0)
    assert overlaps(figure) == []
