"""Samples and draws that tests of redrawn outcomes share."""

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample, MulticlassSample


def drawn(redraw, n, seed=0):
    return np.vstack(list(redraw.outcomes(Draws(n, np.random.default_rng(seed)))))


def three_classes(n=30, seed=0):
    rng = np.random.default_rng(seed)
    p, y = rng.dirichlet(np.ones(3), n), np.arange(n) % 3
    return y, p, np.array([1.0, 5.0, 0.4])


def sample_of(y, p, weight=None, clusters=None, weight_type="importance"):
    if p.ndim == 1:
        return BinarySample(
            y=y.astype(np.uint8), p=p, weight=weight, weight_type=weight_type, clusters=clusters
        )
    classes = tuple(range(p.shape[1]))
    return MulticlassSample(
        y=y, p=p, weight=weight, weight_type=weight_type, classes=classes, clusters=clusters
    )
