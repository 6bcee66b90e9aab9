"""Models beside each other."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

import veridical as v
from veridical.exceptions import InvalidInputError
from veridical.plots._charts.comparison import comparison


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(3)
    p = rng.random(800)
    y = (rng.random(800) < p).astype(int)
    sure = p**2 / (p**2 + (1 - p) ** 2)
    models = {"right": p, "too sure of itself by far": sure, "dull": 0.5 + p / 9}
    return v.compare(models, y, n_resamples=200)


def test_errors_stand_over_their_null_levels(compared, ax):
    drawn = comparison(compared, ax=ax)
    errors = [e.default for e in compared.evaluations]
    np.testing.assert_allclose(drawn.points.get_offsets()[:, 0], [e.value for e in errors])
    np.testing.assert_allclose(drawn.points.get_offsets()[:, 1], [0, 1, 2])
    assert [bar.get_width() for bar in drawn.nulls] == [e.null_q95 for e in errors]
    for segment, e in zip(drawn.lines.get_segments(), errors, strict=True):
        np.testing.assert_allclose(segment[:, 0], [e.low, e.high])
    assert drawn.notes[0].get_text() == f"p = {compared.tests[0].pvalue:.4f}"
    assert "n = 800" in ax.get_title(loc="left")
    assert drawn.ax is ax


def test_differences_are_the_paired_ones(compared, ax):
    drawn = comparison(compared, show="differences", figure="log", ax=ax)
    shown = [d for d in compared.differences if d.difference.estimator == "log"]
    assert len(shown) == 3
    x = drawn.points.get_offsets()[:, 0]
    np.testing.assert_allclose(x, [d.difference.estimate for d in shown])
    for segment, d in zip(drawn.lines.get_segments(), shown, strict=True):
        np.testing.assert_allclose(segment[:, 0], [d.difference.low, d.difference.high])
    assert drawn.reference.get_xdata()[0] == 0
    assert "right" in ax.get_yticklabels()[0].get_text()


@pytest.mark.parametrize("show", ["errors", "differences"])
@pytest.mark.parametrize("width", [5.4, 3.4])
def test_no_text_covers_another(compared, overlaps, width, show):
    figure, axes = plt.subplots(figsize=(width, 2.6), layout="constrained")
    comparison(compared, show=show, ax=axes)
    assert overlaps(figure) == []


def test_refusals(compared, ax):
    with pytest.raises(InvalidInputError, match="a Comparison"):
        comparison({"a": 1}, ax=ax)
    with pytest.raises(InvalidInputError, match="did you mean 'brier'"):
        comparison(compared, show="differences", figure="briar", ax=ax)
    with pytest.raises(InvalidInputError, match="did you mean 'errors'"):
        comparison(compared, show="error", ax=ax)
