"""Random samples for property tests: `st.from_type(BinarySample)` and `MulticlassSample`.

What kind of sample, how long and which seed is drawn; the values come from a generator of that
seed, which is a hundred times faster than drawing them one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings, strategies as st

from veridical._core.data.validation import check_sample
from veridical._core.sample import BinarySample, MulticlassSample

settings.register_profile("veridical", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("veridical")

SEED = st.integers(0, 2**32 - 1)
LENGTH = st.sampled_from([1, 2, 3, 4, 7, 12, 20, 40, 80])
DTYPE = st.sampled_from([np.float32, np.float64])
WEIGHTS = st.sampled_from(["none", "counts", "uneven"])
# Scores are multiples of one over this: many ties, usual edges, or nearly none.
GRID = st.sampled_from([1, 3, 10, 100, 1 << 20])


def _weights(kind: str, rng: np.random.Generator, n: int) -> Any:
    if kind == "none":
        return None
    return rng.integers(1, 6, n) if kind == "counts" else rng.gamma(0.5, size=n) + 1e-3


def _binary(seed: int, n: int, dtype: Any, grid: int, weights: str, kind: Any) -> BinarySample:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, grid, n, endpoint=True) / grid
    y = (rng.random(n) < 0.1 + 0.8 * p).astype(int)
    w = _weights(weights, rng, n)
    p = p.astype(dtype)
    sample = check_sample(y, p, caller="f", sample_weight=w, weight_type=kind)
    assert isinstance(sample, BinarySample)
    return sample


def _multiclass(seed: int, n: int, dtype: Any, whole: int, weights: str, k: int) -> Any:
    rng = np.random.default_rng(seed)
    parts = rng.multinomial(whole, rng.dirichlet(np.ones(k), n))
    p, y = (parts / whole).astype(dtype), rng.integers(0, k, n)
    sample = check_sample(y, p, caller="f", sample_weight=_weights(weights, rng, n))
    assert isinstance(sample, MulticlassSample)
    return sample


TYPE = st.sampled_from(["importance", "frequency"])
WHOLE = st.sampled_from([1, 4, 20, 1000])
st.register_type_strategy(
    BinarySample, st.builds(_binary, SEED, LENGTH, DTYPE, GRID, WEIGHTS, TYPE)
)
st.register_type_strategy(
    MulticlassSample,
    st.builds(_multiclass, SEED, LENGTH, DTYPE, WHOLE, WEIGHTS, st.integers(3, 5)),
)
