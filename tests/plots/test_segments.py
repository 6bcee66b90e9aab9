"""Segments of an audit as figures and pictures."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from veridical import InvalidInputError, audit_segments, plots
from veridical.results import pictures


@pytest.fixture(scope="module")
def audit():
    rng = np.random.default_rng(0)
    features = {
        "sex": rng.choice(["f", "m"], 2000),
        "income": np.where(rng.random(2000) < 0.1, np.nan, rng.lognormal(9, 1, 2000)),
    }
    p = rng.beta(2, 2, 2000)
    y = rng.random(2000) < np.where(features["sex"] == "f", p**2, p)
    return audit_segments(y, p, features, n_resamples=99, rng=0)


def test_gaps_and_their_limits_are_drawn(audit):
    ax = Figure().subplots()
    drawn = plots.segments(audit, most=5, ax=ax)
    assert drawn.ax is ax
    assert drawn.segments == tuple(each.name for each in audit.shown(5))
    np.testing.assert_allclose(
        drawn.points.get_offsets()[:, 0], [each.gap for each in audit.shown(5)]
    )
    first = audit.shown(5)[0]
    segment = drawn.lines.get_segments()[0][:, 0]
    np.testing.assert_allclose(segment, [first.low - first.says, first.high - first.says])
    assert "for all segments at once" in ax.get_xlabel()
    assert audit.plot(ax=Figure().subplots()).segments[0] == drawn.segments[0]


def test_a_map_holds_the_gaps_of_two_features_in_their_order(audit):
    drawn = plots.segment_map(audit, ("income", "sex"), ax=Figure().subplots())
    gaps = np.asarray(drawn.image.get_array())
    down, across, places = audit.pair("sex", "income")
    assert gaps.shape == (len(down), len(across)) == (2, 5)
    for place, segment in places.items():
        assert gaps[place] == pytest.approx(segment.gap)
    assert across[0].startswith("income up to")
    assert across[-2].startswith("income above")
    assert across[-1] == "income missing"
    sure = sum(segment.pvalue <= 0.05 for segment in places.values())
    assert len(drawn.outlines) == sure > 0


def test_unknown_features_and_other_results_are_refused(audit):
    with pytest.raises(InvalidInputError, match="sex and income"):
        plots.segment_map(audit, ("sex", "age"))
    for draw in (plots.segments, plots.segment_map):
        with pytest.raises(InvalidInputError, match="a SegmentAudit"):
            draw(3)
    alone = audit_segments([0, 1] * 60, [0.5] * 120, {"a": [0, 1] * 60}, n_resamples=19, rng=0)
    with pytest.raises(InvalidInputError, match="segments of two features"):
        plots.segment_map(alone)


@pytest.mark.parametrize("width", [360, 640])
def test_pictures_say_every_segment(audit, width):
    forest = pictures.segments(audit, width=width).to_svg()
    for each in audit.found:
        assert each.name in forest
    crossed = pictures.segment_map(audit, "sex", "income", width=width).to_svg()
    assert crossed.count("<title>") - 1 == len(audit.pair("sex", "income")[2])  # and its own
