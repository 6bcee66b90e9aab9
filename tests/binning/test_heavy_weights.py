"""Weights that differ by orders of magnitude: the sweep ends, and scale changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from veridical import BinnedError, SweepBins

ROWS = 40


@settings(max_examples=25, deadline=None)
@given(
    exponents=st.lists(st.floats(0, 12), min_size=ROWS, max_size=ROWS),
    seed=st.integers(0, 2**16),
)
def test_weights_may_differ_by_twelve_orders_of_magnitude(exponents, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(ROWS)
    y = (rng.random(ROWS) < p).astype(int)
    weight = 10.0 ** np.array(exponents)
    error = BinnedError(SweepBins())
    found = error(y, p, sample_weight=weight)
    assert 0 <= found <= 1
    assert error(y, p, sample_weight=weight * 2.0**-20) == pytest.approx(found, rel=1e-9)
