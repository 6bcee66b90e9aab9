"""Events drawn two bytes each have the chances they are given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from veridical._core.resampling import events


@pytest.mark.parametrize("steps", [1 << 16, 1 << 3, 2])
def test_events_happen_as_often_as_their_chances(monkeypatch, steps):
    """With few steps nearly every draw is decided by the uniform number beside the bits."""
    rng = np.random.default_rng(3)
    if steps < 1 << 16:  # as if there were only so many bits
        monkeypatch.setattr(events, "_STEPS", steps)
        whole = rng.integers

        def few(low, high, size, dtype):
            return whole(0, steps, 4 * size).astype("<u2").view(dtype)

        rng = _FewBits(rng, few)
    chance = np.array([0.0, 1e-6, 0.01, 1 / 3, 0.4999, 0.5])
    n = 200_000
    drawn = events.draw_events(chance, n, rng)
    assert drawn.shape == (len(chance), n)
    counts = drawn.sum(axis=1)
    assert counts[0] == 0
    low, high = binom.ppf(1e-6, n, chance), binom.isf(1e-6, n, chance)
    assert ((counts >= low) & (counts <= high)).all()


class _FewBits:
    """A generator whose whole numbers are of few steps."""

    def __init__(self, rng, integers):
        self._rng, self.integers = rng, integers

    def random(self, n):
        return self._rng.random(n)


def test_events_are_independent_of_each_other():
    drawn = events.draw_events(np.full(50, 0.3), 20_000, np.random.default_rng(0))
    correlation = np.corrcoef(drawn.astype(float))
    assert np.abs(correlation - np.eye(50)).max() < 6 / np.sqrt(20_000)
    together = np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]
    assert abs(together) < 6 / np.sqrt(1e6)
