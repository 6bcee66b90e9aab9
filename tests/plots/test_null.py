"""A figure against its null distribution."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

import veridical as v
from veridical.exceptions import InvalidInputError
from veridical.plots._charts.null import null
from veridical.results import NullLevel
from veridical.results.base import say_pvalue


def level(estimate=0.6):
    return NullLevel(
        mean=0.5, std=0.3, sample=np.linspace(0.0, 1.0, 400), estimate=estimate, estimator="ECE",
        definition="", lens="binary", n_samples=1234, n_resamples=400,
    )  # fmt: skip


def test_bars_hold_the_null_sample_and_the_line_the_estimate(ax):
    drawn = null(level(), ax=ax)
    assert sum(bar.get_height() for bar in drawn.bars) == 400
    assert drawn.observed.get_xdata() == [0.6, 0.6]
    assert drawn.quantile.get_xdata()[0] == pytest.approx(0.95)
    assert drawn.ax is ax
    assert drawn.figure is ax.figure
    assert "n = 1,234" in drawn.legend.get_title().get_text()
    assert ax.get_ylabel() == "of 400 draws"


def test_bars_beyond_the_estimate_are_marked(ax):
    drawn = null(level(), ax=ax)
    for bar, beyond in zip(drawn.bars, drawn.extreme, strict=True):
        assert beyond == (bar.get_x() >= 0.6)
    marked = {bar.get_facecolor() for bar, beyond in zip(drawn.bars, drawn.extreme, strict=True)
              if beyond}  # fmt: skip
    assert len(marked) == 1


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_the_side_that_counts_is_that_of_the_test(binary, ax, alternative):
    test = v.consistency_test(
        v.BinnedError(), binary.y, binary.p, alternative=alternative, n_resamples=200, rng=0
    )
    drawn = null(test, ax=ax)
    assert say_pvalue(test.pvalue, test.n_resamples) in drawn.legend.get_texts()[0].get_text()
    middle = [bar.get_x() + bar.get_width() / 2 for bar in drawn.bars]
    sides = {"greater": (False, True), "less": (True, False), "two-sided": (True, True)}
    lower, upper = sides[alternative]
    centre = test.null_level.mean
    far = abs(test.statistic - centre) if alternative == "two-sided" else test.statistic - centre
    for place, beyond in zip(middle, drawn.extreme, strict=True):
        if beyond:
            assert (upper and place >= centre + far) or (
                lower and place <= centre + (far if alternative == "less" else -far)
            )


def test_raw_data_give_the_consistency_test_of_a_fixed_seed(binary, ax):
    drawn = null(binary.y, binary.p, n_resamples=100, ax=ax)
    ece = v.expected_calibration_error(binary.y, binary.p)
    assert drawn.observed.get_xdata()[0] == pytest.approx(ece)
    test = v.consistency_test(v.BinnedError(), binary.y, binary.p, n_resamples=100, rng=0)
    assert say_pvalue(test.pvalue, test.n_resamples) in drawn.legend.get_texts()[0].get_text()
    brier = null(binary.y, binary.p, estimator=v.BrierScore(), n_resamples=50, ax=ax)
    assert "brier" in brier.ax.get_xlabel()


@pytest.mark.parametrize("width", [4.8, 3.4])
def test_no_text_covers_another(overlaps, width):
    figure, axes = plt.subplots(figsize=(width, 0.75 * width), layout="constrained")
    null(level(5.0), ax=axes)
    assert overlaps(figure) == []


def test_refusals(binary, ax):
    with pytest.raises(InvalidInputError, match="given beside"):
        null(binary.y, ax=ax)


def test_the_marked_bars_hold_just_the_draws_at_or_beyond_the_estimate(ax):
    drawn = null(level(), ax=ax)
    marked = [bar.get_height() for bar, far in zip(drawn.bars, drawn.extreme, strict=True) if far]
    assert sum(marked) == 160  # k / 399 >= 0.6 for k = 240, ..., 399
