"""Bins that share rows."""

from __future__ import annotations

import numpy as np

from veridical.simulation._fakes.exact import GapBins


def test_knots_closer_than_a_slope_can_express_share_rows_still():
    tiny = 5e-324  # the smallest number: 1 / tiny overflows
    knots = np.array([0.0, tiny, 2 * tiny, 1.0])
    bins = GapBins([knots], 4)
    z = np.array([0.0, tiny, 2 * tiny, 0.5, 1.0, 2.0])[:, None]
    sums = bins.sums(z, np.ones((6, 1)))
    assert sums.tolist() == [[1.0, 1.0, 1.5, 2.5]]  # 0.5 is half way; what is beyond is at the end
