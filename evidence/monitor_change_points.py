"""How near the monitor's estimate of when a drift began is, and how often its interval holds it.

python evidence/monitor_change_points.py docs/evidence                # 300 streams a drift
python evidence/monitor_change_points.py docs/evidence --streams 50   # a minute or two

Batches of 200 rows; drift begins with batch 40. The monitor is looked at with the batch of its
first alarm, and 20 batches later. Streams whose alarm comes before the drift are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from error_coverage import write

from veridical._core.runtime.progress import track
from veridical.monitoring import CalibrationMonitor

BATCH, ONSET, LAST, LATER = 200, 40, 160, 20
DRIFTS = {
    "temperature 1 to 1.5": lambda odds: odds / 1.5,
    "odds doubled": lambda odds: odds + np.log(2),
}


def look(monitor: CalibrationMonitor) -> tuple[int, bool, int]:
    """Error of the estimate in batches, whether the interval holds the truth, and its length."""
    status = monitor.status()
    assert status.since is not None
    assert status.since_low is not None
    assert status.since_high is not None
    low, high = int(status.since_low), int(status.since_high)
    return int(status.since) - ONSET, low <= ONSET <= high, high - low + 1


def looks(drift: str, seed: int) -> list[tuple[int, bool, int]] | None:
    """The look at the alarm and the later one; None without an alarm after the onset."""
    rng = np.random.default_rng(seed)
    monitor, found, alarmed = CalibrationMonitor(), [], None
    for batch in range(LAST):
        odds = rng.normal(0, 1.5, BATCH)
        truth = odds if batch < ONSET else DRIFTS[drift](odds)
        y = rng.random(BATCH) < 1 / (1 + np.exp(-truth))
        alarm = monitor.update(y.astype(int), 1 / (1 + np.exp(-odds)), timestamp=f"{batch:03d}")
        if alarm.alarm and alarmed is None:
            if batch < ONSET:
                return None
            alarmed = batch
            found.append(look(monitor))
        if alarmed is not None and batch == alarmed + LATER:
            return [*found, look(monitor)]
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--streams", type=int, default=300)
    arguments = parser.parse_args()
    table: list[list[object]] = []
    for drift in DRIFTS:
        every = [looks(drift, seed) for seed in track(arguments.streams, drift)]
        for i, when in enumerate(("at the alarm", f"{LATER} batches later")):
            error, held, length = zip(*(each[i] for each in every if each), strict=True)
            table.append([
                drift, when, len(error), float(np.median(np.abs(error))), float(np.mean(held)),
                float(np.median(length)),
            ])  # fmt: skip
    write(
        arguments.folder / "monitor_change_points.csv",
        ["drift", "look", "streams", "median_error_batches", "interval_holds", "median_batches"],
        table,
    )


if __name__ == "__main__":
    main()
