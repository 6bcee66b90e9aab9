"""False alarms of the monitor over all time, and how soon it sees a drift, against other monitors.

python evidence/monitoring.py docs/evidence       # 2,000 streams a level, about half an hour
python evidence/monitoring.py docs/evidence --streams 200 --delayed 20 --drifts 50

A stream has 20,000 rows in 100 batches of 200, and every monitor looks after every batch. Drift
begins at row 5,000. Monitors:

- `ours`: CalibrationMonitor, level 0.05. Its evidence is computed without a store, all batches at a
  time, and agrees with that of a monitor on the first stream of every kind (asserted). Delayed
  labels are known up to four batches later, and cohorts are counted in the order in which they
  are complete, as a monitor does.
- `ours, first edition`: with stakes and bets of the release before whole vectors were watched.
- `one who knows`: a gambler who knows which rival (and group) is right, but not since when: what
  no choice of bets with this plan for onsets can beat by much.
- `hosmer-lemeshow`: the test of each batch (10 equal-mass groups), at 0.05 / 100 looks; with
  groups, of each group, at 0.05 / 1,000.
- `hosmer-lemeshow since start`: of all rows so far, at 0.05 / 100 looks.
- `ece above 0.1`: the ECE (10 bins) of a batch above 0.1; no error control.
- `pit e-process`: evidence that randomised probability integral transforms are not uniform, a
  mixture over beta densities that may begin at any batch (after Arnold, Henzi & Ziegel 2023).
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import ClassVar

import numpy as np
from error_coverage import write
from scipy.stats import beta, binom, chi2

from veridical._core.data.validation import check_sample
from veridical._core.runtime.progress import track
from veridical.inference.core import Bets
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._store.counts import N_CELLS, REGIONS, cell_of, clipped
from veridical.monitoring._store.evidence import EProcesses, log_rivals
from veridical.monitoring._store.plan import FIRST_EDITION, VECTOR, Plan, aside
from veridical.monitoring._store.streams import StreamState
from veridical.monitoring._store.vectors import VectorProcess

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


# Vaicenavicius et al. (2019), Table 1: predictions, and what happens where they are made.
SIX = np.array(
    [
        [0.1, 0.3, 0.6],
        [0.1, 0.6, 0.3],
        [0.3, 0.1, 0.6],
        [0.3, 0.6, 0.1],
        [0.6, 0.1, 0.3],
        [0.6, 0.3, 0.1],
    ]
)
HAPPENED = np.array(
    [
        [0.2, 0.2, 0.6],
        [0.0, 0.7, 0.3],
        [0.2, 0.2, 0.6],
        [0.4, 0.5, 0.1],
        [0.7, 0.0, 0.3],
        [0.5, 0.4, 0.1],
    ]
)


def whole_vectors(batch: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Right in every class and in its confidence, and from some batch on not as a whole."""
    which = rng.integers(0, 6, BATCH)
    return SIX[which], (SIX if batch < ONSET else HAPPENED)[which]


def three_classes(batch: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated."""
    p = rng.dirichlet(np.ones(3), BATCH)
    return p, p


def three_tempered(batch: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes whose truth becomes 1.5 times as timid."""
    p = rng.dirichlet(np.ones(3), BATCH)
    power = p ** (1.0 if batch < ONSET else 1 / 1.5)
    return p, power / power.sum(axis=1, keepdims=True)


DRIFTS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "temperature 1 to 1.5": temperature,
    "prior odds x 2": prior,
    "one group of ten": one_group,
    "gradual temperature": gradual,
}
VECTOR_DRIFTS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "whole vectors, three classes": whole_vectors,
    "temperature, three classes": three_tempered,
}


def stream(drift: Callable[..., np.ndarray], rng: np.random.Generator) -> Iterator[Rows]:
    for batch in range(BATCHES):
        odds = rng.normal(-0.5, 1.5, BATCH)
        group = rng.integers(0, GROUPS, BATCH)
        truth = expit(drift(odds, group, batch))
        yield (rng.random(BATCH) < truth).astype(np.int64), expit(odds), group


def vector_stream(
    drift: Callable[..., tuple[np.ndarray, np.ndarray]], rng: np.random.Generator
) -> Iterator[Rows]:
    for batch in range(BATCHES):
        p, truth = drift(batch, rng)
        y = (rng.random(BATCH)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=2)
        yield y, p, np.zeros(BATCH, dtype=np.int64)


class Games:
    """The evidence of a monitor after every batch, without its store."""

    def __init__(self, *, grouped: bool = False, edition: int = 2) -> None:
        self.grouped, self.edition = grouped, edition

    def first_alarm(self, rows: list[Rows]) -> int | None:
        reached = np.flatnonzero(self.path(rows) >= -np.log(LEVEL))
        return int(reached[0]) if len(reached) else None

    def path(self, rows: list[Rows]) -> np.ndarray:
        """Log evidence after every batch."""
        y, p, group = (np.concatenate([each[i] for each in rows]) for i in range(3))
        batch = np.repeat(np.arange(len(rows)), [len(each[0]) for each in rows])
        labels = (0, 1) if p.ndim == 1 else tuple(range(p.shape[1]))
        n_groups = int(group.max()) + 1 if self.grouped else 0
        plan = FIRST_EDITION
        if self.edition == 2:
            plan = Plan.of_first_batch(len(labels), n_groups)
        right, score = y, p
        if p.ndim == 2:
            right = (p.argmax(axis=1) == y).astype(np.intp)
            score = p.max(axis=1)
        region = np.searchsorted(REGIONS[1:-1], clipped(score), side="left")
        parts = [("all", right, score, 0 * region, 1), ("region", right, score, region, 5)]
        if p.ndim == 2:
            k = len(labels)
            happened = (np.tile(np.arange(k), len(y)) == np.repeat(y, k)).astype(np.intp)
            parts.append(("class", happened, p.reshape(-1), np.tile(np.arange(k), len(y)), k))
        if self.grouped:
            parts.append(("group", right, score, group, n_groups))
        factors, counts, shares, scales = [], [], [], []
        for family, outcome, values, code, n in parts:
            when = batch if len(values) == len(batch) else np.repeat(batch, len(labels))
            found, count = _factors(outcome, values, when * n + code, len(rows) * n)
            factors.append(found.reshape(len(rows), n, -1))
            counts.append(count.reshape(len(rows), n))
            shares += [plan.share(family, j, len(labels)) for j in range(n)]
            scales += [plan.scale(family)] * n
        by_batch, n_rows = np.concatenate(factors, axis=1), np.concatenate(counts, axis=1)
        evidence = EProcesses(scales, edition=plan.edition)
        vectors = VectorProcess(len(labels)) if plan.parts[VECTOR] else None
        state = StreamState([], [], np.array(shares), [], evidence, plan, vectors)
        path = np.empty(len(rows))
        for i, each in enumerate(rows):
            evidence.bet(by_batch[i], n_rows[i])
            if vectors is not None:
                vectors.advance(check_sample(*each[:2], caller="evidence", labels=labels))
            path[i] = state.log_e
        return path


def _factors(
    y: np.ndarray, p: np.ndarray, code: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Log factors of every rival, (n, rivals), and rows, of parts that rows are coded by."""
    p = clipped(p)
    happened, missed = log_rivals()
    cells = np.bincount(2 * (code * N_CELLS + cell_of(p)) + y, minlength=2 * n * N_CELLS)
    cells = cells.reshape(n, N_CELLS, 2).astype(np.float64)
    given = np.log(np.where(y == 1, p, 1 - p))
    gained = cells[:, :, 1] @ happened + cells[:, :, 0] @ missed
    gained -= np.bincount(code, given, minlength=n)[:, None]
    return gained, np.bincount(code, minlength=n).astype(np.float64)


class Delayed(Games):
    """The same where labels are known up to four batches later."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = np.random.default_rng(seed)

    def first_alarm(self, rows: list[Rows]) -> int | None:
        done = [b + int(self.rng.integers(0, 5, len(rows[b][0])).max()) for b in range(len(rows))]
        order = sorted((when, b) for b, when in enumerate(done) if when < len(rows))
        found = super().first_alarm([rows[b] for _, b in order])
        return None if found is None else order[found][0]


class Knows:
    """Bets on one rival from the moment it may have begun; of one group where only that differs."""

    RIVALS: ClassVar = {
        "temperature 1 to 1.5": (0.0, np.exp(-0.4)),
        "prior odds x 2": (0.5, 1.0),
        "one group of ten": (0.5, 1.0),
        "gradual temperature": (0.0, np.exp(-0.2)),
    }

    def __init__(self, drift: str) -> None:
        self.bets = Bets("two-sided")
        shift, slope = self.bets.maps
        wanted = self.RIVALS[drift]
        self.rival = int((np.abs(shift - wanted[0]) + np.abs(slope - wanted[1])).argmin())
        self.group = 3 if drift == "one group of ten" else None
        self.wealth, self.n = -np.inf, 0

    def alarm(self, y: np.ndarray, p: np.ndarray, group: np.ndarray, batch: int) -> bool:
        if self.group is not None:
            y, p = y[group == self.group], p[group == self.group]
        scale, share = (5000, 1.0) if self.group is None else (1000, 1 / GROUPS)
        before, after = (float(aside(n, scale)) for n in (self.n, self.n + len(y)))
        factor = self.bets.log_factors(y, p)[self.rival].sum()
        self.wealth = np.logaddexp(self.wealth, np.log(before - after)) + factor
        self.n += len(y)
        mean = np.logaddexp(np.log(after), self.wealth) + np.log(share)
        return float(np.logaddexp(mean, np.log(1 - share + 1e-300))) >= -np.log(LEVEL)


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
    if isinstance(monitor, Games):
        return monitor.first_alarm(rows)
    for batch, (y, p, group) in enumerate(rows):
        if monitor.alarm(y, p, group, batch):  # type: ignore[attr-defined]
            return batch
    return None


def monitors(seed: int, *, grouped: bool) -> dict[str, object]:
    return {
        "ours": Games(grouped=grouped),
        "ours, first edition": Games(grouped=grouped, edition=1),
        "hosmer-lemeshow": HosmerLemeshow(grouped=grouped),
        "hosmer-lemeshow since start": SinceStart(),
        "ece above 0.1": EceThreshold(),
        "pit e-process": PitProcess(seed),
    }


CONFIGURATIONS: dict[str, Callable[[int], object]] = {
    "ours, all rows": lambda seed: Games(),
    "ours, ten groups": lambda seed: Games(grouped=True),
    "ours, three classes": lambda seed: Games(),
    "ours, delayed labels": Delayed,
}


def alarms_without_drift(seed: int, name: str) -> bool:
    """Whether a monitor ever alarms on one calibrated stream."""
    rng = np.random.default_rng([seed, 1])
    three = "three classes" in name
    rows = list(vector_stream(three_classes, rng) if three else stream(none, rng))
    if name in CONFIGURATIONS:
        monitor = CONFIGURATIONS[name](seed)
    else:
        monitor = monitors(seed, grouped=False)[name]
    if seed == 0 and isinstance(monitor, Games):
        check_agreement(rows, grouped=monitor.grouped)
    return first_alarm(monitor, rows) is not None


def check_agreement(rows: list[Rows], *, grouped: bool) -> None:
    """Raise unless evidence without a store is that of a monitor, with labels in time and late."""
    labels = [0, 1] if rows[0][1].ndim == 1 else [0, 1, 2]
    monitor = CalibrationMonitor(labels=labels, level=LEVEL)
    found = [monitor.update(y, p, by=group if grouped else None).e_value for y, p, group in rows]
    np.testing.assert_allclose(found, np.exp(Games(grouped=grouped).path(rows)), rtol=1e-9)
    late, rng = CalibrationMonitor(labels=labels, level=LEVEL), np.random.default_rng(0)
    waiting: list[tuple[int, str, int]] = []
    alarm = None
    for batch, (y, p, _) in enumerate(rows):
        names = [f"{batch}-{i}" for i in range(len(y))]
        late.observe(names, p)
        waiting += zip(
            (batch + rng.integers(0, 5, len(y))).tolist(), names, y.tolist(), strict=True
        )
        ready = [each for each in waiting if each[0] <= batch]
        waiting = [each for each in waiting if each[0] > batch]
        if late.resolve([w[1] for w in ready], [w[2] for w in ready]).alarm and alarm is None:
            alarm = batch
    if not grouped:
        assert alarm == Delayed(0).first_alarm(rows)


def false_alarms(
    n_streams: int, n_delayed: int, pool: Executor, *, ours: bool
) -> list[list[object]]:
    """Share of calibrated streams that ever alarm."""
    others = [name for name in monitors(0, grouped=False) if name != "ours"]
    others = [name for name in others if not ours or name.startswith("ours")]
    table: list[list[object]] = []
    for name in [*CONFIGURATIONS, *others]:
        n = n_delayed if "delayed" in name else n_streams
        found = pool.map(alarms_without_drift, range(n), repeat(name), chunksize=5)
        share = sum(next(found) for _ in track(n, name)) / n
        bound = binom.ppf(0.999, n, LEVEL) / n
        table.append([name, n, share, LEVEL, bound, share <= bound])
        print(*table[-1], flush=True)
    return table


def first_alarms(seed: int, name: str, ours: bool) -> dict[str, int | None]:  # noqa: FBT001
    """First alarm of every monitor on one stream with a drift."""
    rng = np.random.default_rng([seed, 2])
    if name in VECTOR_DRIFTS:
        rows = list(vector_stream(VECTOR_DRIFTS[name], rng))
        made: dict[str, object] = {"ours": Games(), "ours, first edition": Games(edition=1)}
    else:
        rows = list(stream(DRIFTS[name], rng))
        made = monitors(seed, grouped=name == "one group of ten")
        made = {label: each for label, each in made.items() if not ours or "ours" in label}
        made["one who knows"] = Knows(name)
    if seed == 0:
        check_agreement(rows, grouped=name == "one group of ten")
    return {label: first_alarm(monitor, rows) for label, monitor in made.items()}


def delays(n_streams: int, pool: Executor, *, ours: bool) -> list[list[object]]:
    """Median rows from the onset to the first alarm, of streams without an earlier one."""
    table: list[list[object]] = []
    for name in [*DRIFTS, *VECTOR_DRIFTS]:
        results = pool.map(first_alarms, range(n_streams), repeat(name), repeat(ours), chunksize=5)
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


def kept(path: Path, table: list[list[object]], n_keys: int) -> list[list[object]]:
    """Rows of a table that was written before, those that were made again in their places."""
    if not path.exists():
        return table
    with path.open(newline="", encoding="utf-8") as file:
        old = list(csv.reader(file))[1:]
    new = {tuple(row[:n_keys]): row for row in table}
    found = [new.pop(tuple(row[:n_keys]), row) for row in old]
    return [*found, *new.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--delayed", type=int, default=2000, help="streams with delayed labels")
    parser.add_argument("--drifts", type=int, default=200)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--only", choices=["delays", "levels"])
    parser.add_argument(
        "--ours", action="store_true", help="figures of other monitors are kept as they were"
    )
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.workers) as pool:
        if arguments.only != "levels":
            path = arguments.folder / "monitor_delays.csv"
            found = delays(arguments.drifts, pool, ours=arguments.ours)
            write(
                path,
                ["drift", "monitor", "streams", "median_rows", "p90_rows", "never", "before_onset"],
                kept(path, found, 2) if arguments.ours else found,
            )
        if arguments.only != "delays":
            path = arguments.folder / "monitor_levels.csv"
            found = false_alarms(arguments.streams, arguments.delayed, pool, ours=arguments.ours)
            write(
                path,
                ["monitor", "streams", "ever_alarmed", "level", "bound", "holds"],
                kept(path, found, 1) if arguments.ours else found,
            )


if __name__ == "__main__":
    main()
