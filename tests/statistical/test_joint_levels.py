"""False alarms of the joint test, on laws of predictions like those of evidence/verdict.py."""

import math

import numpy as np
import pytest

from veridical.inference import joint_test

_REPEATS = 150


def _predictions(law, n, n_classes, rng):
    if n_classes == 2:
        return {
            "rounded": lambda: rng.random(n).round(1),
            "rare": lambda: rng.beta(0.5, 50, n),
            "saturated": lambda: rng.beta(0.05, 0.05, n),
        }[law]()
    if law == "rounded":
        return rng.multinomial(10, rng.dirichlet(np.ones(n_classes), n)) / 10
    rest = np.full(n_classes - 1, 0.3 / (n_classes - 1))
    p = rng.gamma(np.append(rest, 20.0 if law == "rare" else 0.1), size=(n, n_classes))
    p[p.sum(axis=1) <= 0] = 1.0
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("law", ["rounded", "rare", "saturated"])
@pytest.mark.parametrize(("n_classes", "n"), [(2, 30), (2, 400), (3, 100), (10, 60)])
def test_false_alarms_are_at_the_level(law, n_classes, n):
    rng = np.random.default_rng([n, n_classes])
    found = 0
    for _ in range(_REPEATS):
        p = _predictions(law, n, n_classes, rng)
        truth = np.column_stack([1 - p, p]) if n_classes == 2 else p
        reached = truth.cumsum(axis=1)
        y = (rng.random(n)[:, None] * reached[:, -1:] >= reached[:, :-1]).sum(axis=1)
        found += joint_test(
            y,
            p,
            labels=list(range(n_classes)),
            by=rng.integers(3, size=n),
            sample_weight=rng.exponential(size=n),
            n_resamples=39,
            rng=rng,
        ).rejected
    assert found / _REPEATS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / _REPEATS)
