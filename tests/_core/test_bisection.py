"""Places where a function passes a level, checked at the neighbouring numbers."""

from __future__ import annotations

import numpy as np

from veridical._core.numeric.bisection import last_within


def test_the_next_number_is_above_the_level() -> None:
    levels = np.array([0.25, 4.0, 2.0, 1e-320, 1e299])
    found = last_within(lambda x: x * x, levels, 0.0, 1e150)
    assert (found**2 <= levels).all()
    assert (np.nextafter(found, np.inf) ** 2 > levels).all()


def test_negative_numbers_and_limits() -> None:
    levels = np.array([-8.0, 0.0, 27.0, 1e9, -1e9])
    found = last_within(lambda x: 2 * x, levels, -100.0, 100.0)
    assert found.tolist() == [-4.0, 0.0, 13.5, 100.0, -100.0]
