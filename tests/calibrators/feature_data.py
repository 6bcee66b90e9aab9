"""Rows whose outcomes depend on features beside the predictions, with known truth."""

import numpy as np
import polars as pl
from scipy.special import expit, logit


def features(n, rng):
    """Texts, numbers and truth values, some of them missing."""
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n).tolist(),
            "region": rng.choice(["North", "South", None], n, p=[0.5, 0.4, 0.1]).tolist(),
            "age": [None if a < 20 else int(a) for a in rng.integers(16, 80, n)],
            "member": (rng.random(n) < 0.5).tolist(),
        }
    )


def is_hit(frame):
    """Rows of the segment that is wrong."""
    south = frame["region"].fill_null("") == "South"
    return ((frame["sex"] == "f") & south).to_numpy()


def two_classes(n=3000, seed=0, shift=1.5):
    """Predictions that are right but in one segment, where log odds are off by `shift`."""
    rng = np.random.default_rng(seed)
    frame, p = features(n, rng), rng.beta(2, 2, n)
    truth = expit(logit(p) + shift * is_hit(frame))
    return frame, p, (rng.random(n) < truth).astype(int)


def three_classes(n=3000, seed=0, shift=1.5):
    """The same of three classes, where the first is too small in the segment."""
    rng = np.random.default_rng(seed)
    frame, p = features(n, rng), rng.dirichlet(np.ones(3), n)
    truth = p * np.exp(shift * np.outer(is_hit(frame), [1, 0, 0]))
    truth /= truth.sum(axis=1, keepdims=True)
    return frame, p, (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=2)
