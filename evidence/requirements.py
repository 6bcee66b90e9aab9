"""How often limits of the calibration error that a monitor watches ever miss the true one.

python evidence/requirements.py docs/evidence        # 300 streams a law, about two minutes

A stream has 40 batches, five of 30 rows and then of 250, and limits are made after each of them at
0.95. The true error is that of the conditional probabilities of the rows that came, in the same 15
bins. A stream misses above (below) if the true error was ever above the upper (below the lower)
limit; both together may happen to 5 % of the streams at most.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from veridical.monitoring._judge.requirement import N_BINS, ece_limits
from veridical.monitoring._store.counts import N_CELLS, cell_of, centres, clipped, tally

SIZES = [30] * 5 + [250] * 35
PLACE = np.minimum((centres() * N_BINS).astype(int), N_BINS - 1)
Rows = tuple[np.ndarray, np.ndarray]


def expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def over_confident(n: int, done: float, past: float, rng: np.random.Generator) -> Rows:
    odds = rng.normal(0, 2, n)
    return expit(odds), expit(odds / 1.5)


def drifting(n: int, done: float, past: float, rng: np.random.Generator) -> Rows:
    odds = rng.normal(-1, 1.5, n)
    return expit(odds), expit(odds + done)


def reacting(n: int, done: float, past: float, rng: np.random.Generator) -> Rows:
    """The truth leans against what happened so far."""
    p = rng.uniform(0.2, 0.8, n)
    return p, p + np.clip(-past, -0.1, 0.1)


def calibrated(draw: Callable[[np.random.Generator, int], np.ndarray]) -> Callable[..., Rows]:
    def law(n: int, done: float, past: float, rng: np.random.Generator) -> Rows:
        p = draw(rng, n)
        return p, p

    return law


LAWS: dict[str, Callable[..., Rows]] = {
    "calibrated": calibrated(lambda rng, n: rng.random(n)),
    "calibrated; rare": calibrated(lambda rng, n: rng.beta(0.2, 10, n)),
    "calibrated; saturated": calibrated(lambda rng, n: rng.beta(0.05, 0.05, n)),
    "calibrated; three values": calibrated(lambda rng, n: rng.choice([0.1, 0.5, 0.9], n)),
    "over-confident": over_confident,
    "drifting": drifting,
    "reacting to the past": reacting,
}


def stream(law: Callable[..., Rows], seed: int) -> tuple[bool, bool, float, float, float]:
    rng = np.random.default_rng(seed)
    cells, squared, true, n, past = np.zeros((N_CELLS, 3)), 0.0, np.zeros(N_BINS), 0, 0.0
    above = below = False
    for batch, size in enumerate(SIZES):
        p, r = law(size, batch / len(SIZES), past / max(n, 1), rng)
        y = (rng.random(size) < r).astype(int)
        found = tally(y, p)
        cells += np.column_stack([*found.counts[0].T, found.sum_p[0]])
        squared += float(found.squared[0])
        true += np.bincount(PLACE[cell_of(clipped(p))], r - clipped(p), N_BINS)
        n, past = n + size, past + float((y - p).sum())
        _, low, high = ece_limits(cells, squared, 0.05)
        error = float(np.abs(true).sum()) / n
        above, below = above or error > high + 1e-12, below or error < low - 1e-12
    return above, below, error, low, high


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--streams", type=int, default=300)
    asked = parser.parse_args()
    lines = ["law,streams,rows,missed_above,missed_below,true_error,mean_low,mean_high"]
    for name, law in LAWS.items():
        found = np.array([stream(law, seed) for seed in range(asked.streams)], dtype=float)
        above, below, error, low, high = found.mean(axis=0)
        numbers = f"{above:.4f},{below:.4f},{error:.4f},{low:.4f},{high:.4f}"
        lines.append(f"{name},{asked.streams},{sum(SIZES)},{numbers}")
        print(lines[-1], flush=True)
    (asked.folder / "monitor_requirements.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
