"""Probability paper: how unusual bins are, from first principles."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from veridical import reliability_curve
from veridical._core.sample import BinarySample
from veridical.binning import UniformBins
from veridical.curves._curve.points import levels_of_curve, levels_of_rows
from veridical.exceptions import InvalidInputError
from veridical_lab.plots import probability_paper


def _mid_level(p, hits):
    """P(S < hits) + P(S = hits) / 2 by summing over every outcome."""
    level = 0.0
    for outcome in product([0, 1], repeat=len(p)):
        chance = np.prod(np.where(outcome, p, 1 - p))
        level += chance * ((sum(outcome) < hits) + 0.5 * (sum(outcome) == hits))
    return level


def test_levels_are_those_of_every_outcome_counted():
    p = np.array([0.1, 0.15, 0.3, 0.45, 0.62, 0.7, 0.7, 0.95])
    y = np.array([1, 0, 1, 0, 0, 1, 0, 1])
    z = levels_of_rows(BinarySample(y=y, p=p), UniformBins(2))
    expected = [_mid_level(p[:4], 2), _mid_level(p[4:], 2)]
    assert np.allclose(stats.norm.cdf(z), expected)


def test_integer_counts_are_repetitions():
    p, y, w = np.array([0.2, 0.4, 0.9]), np.array([1, 0, 1]), np.array([2.0, 3.0, 1.0])
    weighted = BinarySample(y=y, p=p, weight=w, weight_type="frequency")
    times = w.astype(int)
    repeated = BinarySample(y=np.repeat(y, times), p=np.repeat(p, times))
    bins = UniformBins(2)
    assert np.allclose(levels_of_rows(weighted, bins), levels_of_rows(repeated, bins))


def test_importance_weights_take_the_normal_law():
    p, y, w = np.array([0.2, 0.4]), np.array([1, 0]), np.array([2.0, 0.5])
    z = levels_of_rows(BinarySample(y=y, p=p, weight=w), UniformBins(1))
    variance = 4 * 0.2 * 0.8 + 0.25 * 0.4 * 0.6
    assert z == pytest.approx((2 - 2 * 0.2 - 0.5 * 0.4) / np.sqrt(variance))


def test_many_rows_take_the_normal_law():
    p = np.full(4000, 0.5)
    y = (np.arange(4000) < 2050).astype(int)
    z = levels_of_rows(BinarySample(y=y, p=p), UniformBins(1))
    exact = stats.norm.ppf(stats.binom.cdf(2049, 4000, 0.5) + stats.binom.pmf(2050, 4000, 0.5) / 2)
    assert z == pytest.approx(exact, abs=1e-3)


def test_what_had_to_happen_is_in_the_middle_and_the_impossible_beyond():
    p = np.array([0.0, 0.0, 1.0, 1.0])
    certain = levels_of_rows(BinarySample(y=np.array([0, 0, 1, 1]), p=p), UniformBins(2))
    assert certain.tolist() == [0, 0]
    wrong = levels_of_rows(BinarySample(y=np.array([0, 1, 0, 1]), p=p), UniformBins(2))
    assert wrong.tolist() == [np.inf, -np.inf]


def test_a_curve_alone_takes_the_binomial_law():
    y, p = np.repeat([0, 1, 0, 1], [9, 3, 2, 6]), np.repeat([0.2, 0.9], [12, 8])
    curve = reliability_curve(y, p, n_bins=2)
    expected = [
        stats.binom.cdf(2, 12, 0.2) + stats.binom.pmf(3, 12, 0.2) / 2,
        stats.binom.cdf(5, 8, 0.9) + stats.binom.pmf(6, 8, 0.9) / 2,
    ]
    assert np.allclose(stats.norm.cdf(levels_of_curve(curve)), expected)
    # All rows of a bin have the same prediction: nothing is lost by knowing the curve only.
    assert np.allclose(
        levels_of_curve(curve), levels_of_rows(BinarySample(y=y, p=p), UniformBins(2))
    )


def test_bins_beyond_the_paper_are_triangles_at_its_edge(ax):
    y, p = np.ones(40, dtype=int), np.full(40, 0.5)
    drawn = probability_paper(y, p, labels=[0, 1], ax=ax)
    (one,) = drawn.curves
    assert len(one.markers.get_offsets()) == 0
    triangles = ax.collections[-1]
    assert triangles.get_offsets().tolist() == [[0.5, 4.0]]


def test_levels_are_written_at_their_normal_quantiles(binary, ax):
    probability_paper(binary.y, binary.p, ax=ax)
    ax.figure.draw_without_rendering()
    written = {float(t.get_text()): t.get_position()[1] for t in ax.get_yticklabels()}
    assert set(written) == {0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999}
    for level, height in written.items():
        assert height == pytest.approx(stats.norm.ppf(level))


def test_the_lines_are_bonferronis(binary, ax):
    drawn = probability_paper(binary.y, binary.p, n_bins=10, confidence_level=0.9, ax=ax)
    heights = sorted(line.get_ydata()[0] for line in ax.lines if len(line.get_xdata()) == 2)
    expected = stats.norm.ppf(1 - 0.05 / len(drawn.curves[0].curve))
    assert heights == pytest.approx([-expected, 0, expected])
    assert [text.get_text() for text in ax.texts] == ["0.9", "all 0.9"]


def test_curves_without_bins_or_with_weights_are_refused(binary, ax):
    with pytest.raises(InvalidInputError, match="`y_true` must be curves of bins"):
        probability_paper(reliability_curve(binary.y, binary.p, method="isotonic"), ax=ax)
    weighted = reliability_curve(binary.y, binary.p, sample_weight=binary.w)
    with pytest.raises(InvalidInputError, match="`y_true` must be an unweighted curve"):
        probability_paper(weighted, ax=ax)


def test_no_text_covers_another(binary, overlaps):
    drawn = probability_paper(binary.y, {"a": binary.p, "b": binary.p**2})
    assert overlaps(drawn.figure) == []
    assert [one.name for one in drawn.curves] == ["a", "b"]
