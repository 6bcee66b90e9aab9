"""How often sequential tests raise a false alarm, and how soon a true one.

The level of false alarms is 5 % over 10,000 rows with a look at every one; the bound is the
99.9 % quantile of a binomial number of alarms.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical.inference._sequential.process import EProcess

stats = pytest.importorskip("scipy.stats")

ALARM = math.log(20)
PREDICTIONS = {
    "uniform": lambda rng, n: rng.random(n),
    "rare": lambda rng, n: rng.beta(0.5, 5, n),
    "extreme": lambda rng, n: rng.beta(0.05, 0.05, n),
}


def first_alarm(y, p, **options):
    reached = EProcess(**options).advance(y, p) >= ALARM
    return int(reached.argmax()) if reached.any() else None


def alarms(predictions, repetitions, seed, *, lag=1, n=10_000, together=1, **options):
    """Number of series with an alarm; `together` rows in a row have the same outcome."""
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(repetitions):
        if together == 1:
            p, uniform = PREDICTIONS[predictions](rng, n), rng.random(n)
        else:
            p = np.repeat(PREDICTIONS[predictions](rng, n // together), together)
            uniform = np.repeat(rng.random(n // together), together)
        count += first_alarm((uniform < p).astype(int), p, lag=lag, **options) is not None
    return count


@pytest.mark.slow
@pytest.mark.parametrize("predictions", PREDICTIONS)
def test_a_calibrated_forecaster_seldom_meets_an_alarm_ever(predictions):
    repetitions = 250
    count = alarms(predictions, repetitions, seed=0)
    assert count <= stats.binom(repetitions, 0.05).ppf(0.999)


@pytest.mark.slow
@pytest.mark.parametrize("lag", [2, 5])
def test_outcomes_that_hang_together_within_the_lag_raise_no_false_alarms(lag):
    """Runs of equal outcomes as long as the lag: calibrated given what was known in time."""
    repetitions = 100
    bound = stats.binom(repetitions, 0.05).ppf(0.999)
    assert alarms("uniform", repetitions, 1, lag=lag, together=lag) <= bound
    assert alarms("uniform", 40, 2, lag=1, together=lag) > 20  # a lag of one would not do


@pytest.mark.parametrize(
    ("change", "lag", "within"),
    [
        (lambda z: z + 0.5, 1, 1500),
        (lambda z: z / 1.5, 1, 1500),
        (lambda z: z + 0.5, 2, 2000),
        (lambda z: z / 1.5, 5, 4000),
    ],
)
def test_drift_from_row_2000_on_is_found(change, lag, within):
    """Nine of ten series at least have their first alarm after the change and soon enough."""
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(20):
        p = rng.random(2000 + within)
        rate = 1 / (1 + np.exp(-change(np.log(p / (1 - p)))))
        rate[:2000] = p[:2000]
        alarm = first_alarm((rng.random(len(p)) < rate).astype(int), p, lag=lag)
        found += alarm is not None and alarm >= 2000
    assert found >= 18
