"""Lookups of many scores take a shortcut; it must not change them."""

from __future__ import annotations

import numpy as np

from veridical.calibrators._steps.pieces import interpolate, steps


def test_knots_too_close_for_a_slope_give_no_nan_among_many_scores():
    knots = np.array([0.0, 5e-324, 0.5, 1.0])
    values = np.array([0.1, 0.2, 0.6, 0.9])
    rng = np.random.default_rng(0)
    scores = np.concatenate([[0.0, 5e-324, 1e-310, 1.0, -1.0, 2.0], rng.random(70_000)])
    np.testing.assert_allclose(interpolate(knots, values, scores), np.interp(scores, knots, values))


def test_steps_of_many_scores_are_those_of_few():
    rng = np.random.default_rng(1)
    edges, values = np.sort(rng.random(50)), rng.random(51)
    scores = np.concatenate([edges, rng.random(70_000)])
    for side in ("left", "right"):
        few = np.concatenate(
            [steps(edges, values, part, side) for part in np.array_split(scores, 75)]
        )
        np.testing.assert_array_equal(steps(edges, values, scores, side), few)
