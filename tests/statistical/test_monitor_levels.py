"""A calibrated model seldom ever raises the alarm, however often it is looked at."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from veridical import CalibrationMonitor

STREAMS, BATCHES, ROWS = 80, 25, 200


def _ever_alarms(seed: int, *, grouped: bool, delayed: bool) -> bool:
    rng = np.random.default_rng([seed, 77])
    monitor = CalibrationMonitor(labels=[0, 1], level=0.1)
    for batch in range(BATCHES):
        p = 1 / (1 + np.exp(-rng.normal(-0.5, 1.5, ROWS)))
        y = (rng.random(ROWS) < p).astype(int)
        by = rng.integers(0, 10, ROWS) if grouped else None
        if not delayed:
            if monitor.update(y, p, by=by).alarm:
                return True
            continue
        names = [f"{batch}-{i}" for i in range(ROWS)]
        monitor.observe(names, p, by=by)
        order = rng.permutation(ROWS)
        for part in np.array_split(order, 3):
            if monitor.resolve([names[i] for i in part], y[part]).alarm:
                return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["all rows", "ten groups", "delayed labels"])
def test_false_alarms_over_all_time(kind: str) -> None:
    """Of the streams at most a tenth, up to the one-sided 99.9 % binomial bound."""
    n = 25 if kind == "delayed labels" else STREAMS
    options = {"grouped": kind == "ten groups", "delayed": kind == "delayed labels"}
    alarms = sum(_ever_alarms(seed, **options) for seed in range(n))
    assert alarms <= binom.ppf(0.999, n, 0.1)


@pytest.mark.slow
def test_a_drift_is_found_within_the_rows_that_were_measured() -> None:
    """Odds doubled at row 2,000: half of the streams alarm within 1,000 rows (400 measured)."""
    delays = []
    for seed in range(20):
        rng = np.random.default_rng([seed, 78])
        monitor = CalibrationMonitor()
        for batch in range(30):
            odds = rng.normal(-0.5, 1.5, ROWS)
            truth = odds + (np.log(2) if batch >= 10 else 0)
            y = rng.random(ROWS) < 1 / (1 + np.exp(-truth))
            if monitor.update(y, 1 / (1 + np.exp(-odds))).alarm:
                delays.append((batch - 9) * ROWS)
                break
    assert len(delays) >= 18
    assert 0 < np.median(delays) <= 1000
