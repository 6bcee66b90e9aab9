"""False alarms of the monitor over all time, and how soon it sees a drift, against other monitors.

python evidence/monitoring.py docs/evidence       # 2,000 streams a level, about an hour on 2 cores
python evidence/monitoring.py docs/evidence --streams 200 --delayed 50 --drifts 50

A stream has 20,000 rows in 100 batches of 200, and every monitor looks after every batch. Drift
begins at row 5,000. Monitors:

- `ours`: CalibrationMonitor, level 0.05.
- `hosmer-lemeshow`: the test of each batch (10 equal-mass groups), at 0.05 / 100 looks; with
  groups, of each group, at 0.05 / 1,000.
- `hosmer-lemeshow since start`: of all rows so far, at 0.05 / 100 looks.
- `ece above 0.1`: the ECE (10 bins) of a batch above 0.1; no error control.
- `pit e-process`: evidence that randomised probability integral transforms are not uniform, a
  mixture over beta densities that may begin at any batch (after Arnold, Henzi & Ziegel 2023).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import numpy as np
from error_coverage import write
from scipy.stats import beta, binom, chi2

from veridical._core.runtime.progress import track
from veridical.monitoring import CalibrationMonitor

BATCH, BATCHES, ONSET = 200, 100, 25
LEVEL = 0.05
GROUPS = 10

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def none(odds: np.ndarray, group: np.ndarray, batch: int) -> np.ndarray:
    return odds


def temperature(odds: np.ndarray, group: np.ndarray, batch: int) -> np.ndarray:
    """Predictions are those of temperature 1, the truth is 1.5 times as timid."""
    return odds if batch < ONSET else odds / 1.5


def prior(odds: np.ndarray, group: np.ndarray, batch: int) -> np.ndarray:
    """The odds of the positive class double."""
    return odds if batch < ONSET else odds + np.log(2)


def one_group(odds: np.ndarray, group: np.ndarray, batch: int) -> np.ndarray:
    """One group of ten has twice the odds."""
    return odds if batch < ONSET else odds + np.log(2) * (group == 3)


def gradual(odds: np.ndarray, group: np.ndarray, batch: int) -> np.ndarray:
    """Temperature grows to 1.5 over fifty batches."""
    return odds / (1 + 0.5 * np.clip((batch - ONSET) / 50, 0, 1))


DRIFTS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "temperature 1 to 1.5": temperature,
    "prior odds x 2": prior,
    "one group of ten": one_group,
    "gradual temperature": gradual,
}


def stream(drift: Callable[..., np.ndarray], rng: np.random.Generator) -> Iterator[Rows]:
    for batch in range(BATCHES):
        odds = rng.normal(-0.5, 1.5, BATCH)
        group = rng.integers(0, GROUPS, BATCH)
        truth = expit(drift(odds, group, batch))
        yield (rng.random(BATCH) < truth).astype(np.int64), expit(odds), group


class Ours:
    def __init__(self, *, grouped: bool = False, delayed: bool = False, seed: int = 0) -> None:
        self.grouped, self.delayed = grouped, delayed
        self.monitor = CalibrationMonitor(labels=[0, 1], level=LEVEL)
        self.rng = np.random.default_rng(seed)
        self.waiting: list[tuple[int, str, int]] = []

    def alarm(self, y: np.ndarray, p: np.ndarray, group: np.ndarray, batch: int) -> bool:
        by = group if self.grouped else None
        if not self.delayed:
            return self.monitor.update(y, p, by=by).alarm
        names = [f"{batch}-{i}" for i in range(len(y))]
        self.monitor.observe(names, p, by=by)
        due = batch + self.rng.integers(0, 5, len(y))  # known up to four batches later
        self.waiting += zip(due.tolist(), names, y.tolist(), strict=True)
        ready = [w for w in self.waiting if w[0] <= batch]
        self.waiting = [w for w in self.waiting if w[0] > batch]
        return self.monitor.resolve([w[1] for w in ready], [w[2] for w in ready]).alarm


def hosmer_lemeshow(y: np.ndarray, p: np.ndarray, n_groups: int = 10) -> float:
    order = np.argsort(p, kind="stable")
    statistic = 0.0
    for rows in np.array_split(order, n_groups):
        expected, variance = p[rows].sum(), (p[rows] * (1 - p[rows])).sum()
        statistic += (y[rows].sum() - expected) ** 2 / variance
    return float(chi2.sf(statistic, n_groups))


class HosmerLemeshow:
    def __init__(self, *, grouped: bool = False) -> None:
        self.grouped = grouped

    def alarm(self, y: np.ndarray, p: np.ndarray, group: np.ndarray, batch: int) -> bool:
        if not self.grouped:
            return hosmer_lemeshow(y, p) < LEVEL / BATCHES
        level = LEVEL / BATCHES / GROUPS
        return any(
            hosmer_lemeshow(y[group == g], p[group == g], 2) < level
            for g in range(GROUPS)
            if (group == g).sum() >= 4
        )


class SinceStart:
    def __init__(self) -> None:
        self.y, self.p = np.empty(0), np.empty(0)

    def alarm(self, y: np.ndarray, p: np.ndarray, group: np.ndarray, batch: int) -> bool:
        self.y, self.p = np.append(self.y, y), np.append(self.p, p)
        return hosmer_lemeshow(self.y, self.p) < LEVEL / BATCHES


class EceThreshold:
    def alarm(self, y: np.ndarray, p: np.ndarray, group: np.ndarray, batch: int) -> bool:
        bins = np.minimum((p * 10).astype(int), 9)
        gap = np.bincount(bins, weights=y - p, minlength=10)
        return float(np.abs(gap).sum()) / len(y) > 0.1


class PitProcess:
    SHAPES = tuple((a, b) for a in (0.5, 0.7, 0.85, 1.2, 1.5, 2.0) for b in (0.7, 1.0, 1.4))

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.wealth = np.full(len(self.SHAPES), -np.inf)

    def alarm(self, y: np.ndarray, p: np.ndarray, group: np.ndarray, batch: int) -> bool:
        v = self.rng.random(len(y))
        pit = np.where(y == 1, 1 - p + v * p, v * (1 - p))
        factors = np.array([beta.logpdf(pit, a, b).sum() for a, b in self.SHAPES])
        aside, left = (1 + 2 * batch) ** -0.5, (3 + 2 * batch) ** -0.5
        begun = np.log((aside - left) / len(self.SHAPES))
        self.wealth = np.logaddexp(self.wealth, begun) + factors
        return float(np.logaddexp(np.log(left), np.logaddexp.reduce(self.wealth))) >= -np.log(LEVEL)


def first_alarm(monitor: object, rows: list[Rows]) -> int | None:
    """Number of the batch with the first alarm."""
    for batch, (y, p, group) in enumerate(rows):
        if monitor.alarm(y, p, group, batch):  # type: ignore[attr-defined]
            return batch
    return None


def monitors(seed: int, *, grouped: bool) -> dict[str, object]:
    return {
        "ours": Ours(grouped=grouped, seed=seed),
        "hosmer-lemeshow": HosmerLemeshow(grouped=grouped),
        "hosmer-lemeshow since start": SinceStart(),
        "ece above 0.1": EceThreshold(),
        "pit e-process": PitProcess(seed),
    }


CONFIGURATIONS: dict[str, dict[str, bool]] = {
    "ours, all rows": {},
    "ours, ten groups": {"grouped": True},
    "ours, delayed labels": {"delayed": True},
}


def alarms_without_drift(seed: int, names: tuple[str, ...]) -> dict[str, bool]:
    """Whether each monitor ever alarms on one calibrated stream."""
    rows = list(stream(none, np.random.default_rng([seed, 1])))
    others = monitors(seed, grouped=False)
    made = {
        name: Ours(**CONFIGURATIONS[name], seed=seed) if name in CONFIGURATIONS else others[name]
        for name in names
    }
    return {name: first_alarm(monitor, rows) is not None for name, monitor in made.items()}


def false_alarms(n_streams: int, n_delayed: int, pool: Executor) -> list[list[object]]:
    """Share of calibrated streams that ever alarm."""
    names = [*CONFIGURATIONS, *(name for name in monitors(0, grouped=False) if name != "ours")]
    table: list[list[object]] = []
    for name in names:
        n = n_delayed if "delayed" in name else n_streams
        found = pool.map(alarms_without_drift, range(n), repeat((name,)), chunksize=5)
        share = sum(next(found)[name] for _ in track(n, name)) / n
        bound = binom.ppf(0.999, n, LEVEL) / n
        table.append([name, n, share, LEVEL, bound, share <= bound])
        print(*table[-1], flush=True)
    return table


def first_alarms(seed: int, name: str) -> dict[str, int | None]:
    """First alarm of every monitor on one stream with a drift."""
    rows = list(stream(DRIFTS[name], np.random.default_rng([seed, 2])))
    made = monitors(seed, grouped=name == "one group of ten")
    return {label: first_alarm(monitor, rows) for label, monitor in made.items()}


def delays(n_streams: int, pool: Executor) -> list[list[object]]:
    """Median rows from the onset to the first alarm, of streams without an earlier one."""
    table: list[list[object]] = []
    for name in DRIFTS:
        results = pool.map(first_alarms, range(n_streams), repeat(name), chunksize=5)
        found = [next(results) for _ in track(n_streams, name)]
        for label in found[0]:
            at = [each[label] for each in found]
            after = [np.inf if a is None else (a - ONSET + 1) * BATCH for a in at]
            late = [rows for rows in after if rows > 0]
            middle, most = np.quantile(late, [0.5, 0.9], method="higher")
            missed = float(np.mean(np.isinf(late)))
            table.append([name, label, len(late), middle, most, missed, len(after) - len(late)])
            print(*table[-1], flush=True)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--delayed", type=int, default=2000, help="streams with delayed labels")
    parser.add_argument("--drifts", type=int, default=300)
    arguments = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        write(
            arguments.folder / "monitor_delays.csv",
            ["drift", "monitor", "streams", "median_rows", "p90_rows", "never", "before_onset"],
            delays(arguments.drifts, pool),
        )
        write(
            arguments.folder / "monitor_levels.csv",
            ["monitor", "streams", "ever_alarmed", "level", "bound", "holds"],
            false_alarms(arguments.streams, arguments.delayed, pool),
        )


if __name__ == "__main__":
    main()
