"""Mean ranks and the bars over what cannot be told apart."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt

from veridical.exceptions import InvalidInputError
from veridical.inference._intervals.ranks import mean_ranks
from veridical_lab.plots import critical_difference


def table(count, n=20):
    rng = np.random.default_rng(4)
    return {f"method {i}": rng.normal(0.4 * i, 1, n) for i in range(count)}


@pytest.mark.parametrize("count", [2, 3, 8, 20])
def test_stems_start_at_mean_ranks_and_end_at_names(count, ax):
    drawn = critical_difference(table(count), ax=ax)
    ranks = mean_ranks(table(count))
    assert drawn.ranks == ranks
    for stem, text, (name, rank) in zip(drawn.stems, drawn.names, ranks.ordered, strict=True):
        x, y = stem.get_data()
        assert (x[0], y[0]) == (rank, 0)
        assert x[-1] in (1, count)
        assert name in text.get_text()
        assert f"{rank:.2f}" in text.get_text()
    assert drawn.ax is ax
    assert "20 data sets" in ax.get_xlabel()


def test_bars_span_groups_and_do_not_cross(ax):
    drawn = critical_difference(table(8), ax=ax)
    ranks = dict(drawn.ranks.ordered)
    assert len(drawn.bars) == len(drawn.ranks.alike) > 1
    lanes = {}
    for bar, group in zip(drawn.bars, drawn.ranks.alike, strict=True):
        x, y = bar.get_data()
        assert x[0] == pytest.approx(ranks[group[0]] - 0.03)
        assert x[1] == pytest.approx(ranks[group[-1]] + 0.03)
        lanes.setdefault(round(y[0], 6), []).append((x[0], x[1]))
    for spans in lanes.values():
        ordered = sorted(spans)
        assert all(a[1] < b[0] for a, b in pairwise(ordered))


def test_the_ruler_is_as_long_as_the_critical_difference(ax):
    drawn = critical_difference(mean_ranks(table(8)), ax=ax)
    start, end = drawn.ruler.get_xdata()
    assert end - start == pytest.approx(drawn.ranks.critical_difference)
    assert start == 1


@pytest.mark.parametrize("width", [5.6, 3.4])
@pytest.mark.parametrize("count", [3, 8])
def test_no_text_covers_another(overlaps, count, width):
    figure, axes = plt.subplots(figsize=(width, 2.4), layout="constrained")
    critical_difference(table(count), ax=axes)
    assert overlaps(figure) == []


def test_refusals(ax):
    with pytest.raises(InvalidInputError, match="did you mean 'larger'"):
        critical_difference(table(3), better="largest", ax=ax)
