"""What the map of `AutoCalibrator` costs where it is used: latency, bulk, SQL, ONNX, memory.

    python benchmarks/bench_compact.py                          # print the tables
    python benchmarks/bench_compact.py --out docs/evidence/compact.csv

Times are of the processor, on one thread, the best of several turns; ratios are of one run.
Packages that are absent (duckdb, onnxruntime) are left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
BULK, MANY = 1_000_000, 100_000
_SUM = "SELECT sum(calibrated) FROM ({})"


def binary_rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Predictions that are too sure, with a wave in log odds."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2, n)
    truth = 1 / (1 + np.exp(-(0.6 * z + 0.3 * np.sin(z))))
    return 1 / (1 + np.exp(-z)), (rng.random(n) < truth).astype(np.int64)


def several_rows(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of k classes that lean on their neighbours, with bends class by class."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2, (n, k))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    q = np.exp(0.6 * z + 0.2 * np.roll(z, 1, axis=1) + 0.5 * np.sin(2 * z))
    q /= q.sum(axis=1, keepdims=True)
    return p, (rng.random(n)[:, None] > q.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)


def best(run: Callable[[], Any], turns: int = 5, calls: int = 1) -> float:
    """Least processor seconds of a call."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        for _ in range(calls):
            run()
        times.append((time.process_time() - start) / calls)
    return min(times)


def in_duckdb(texts: dict[str, str], p: np.ndarray) -> dict[str, tuple[float, float]]:
    """Seconds of planning, and of planning and running, of queries that give one column."""
    try:
        import duckdb
    except ImportError:
        return {}
    import pyarrow as pa

    base = duckdb.connect()
    base.execute("SET threads = 1")
    given = pa.table({"p": p})
    base.register("given", given)
    base.execute("CREATE TABLE scores AS SELECT * FROM given")
    return {
        name: (
            best(lambda text=text: base.execute(f"EXPLAIN {text}").fetchall()),
            best(
                lambda text=text: base.execute(f"SELECT sum(calibrated) FROM ({text})").fetchall()
            ),
        )
        for name, text in texts.items()
    }


def in_onnx(calibrator: Any, p: np.ndarray) -> tuple[float, int] | None:
    """Time in ONNX Runtime over `predict_proba`, turn by turn, and the size of the graph."""
    try:
        import onnxruntime
    except ImportError:
        return None
    from veridical import to_onnx

    graph = to_onnx(calibrator, one_column=True).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options)
    turns = [
        (
            best(lambda: session.run(None, {"probabilities": p}), 1),
            best(lambda: calibrator.predict_proba(p), 1),
        )
        for _ in range(9)
    ]
    return min(t[0] for t in turns) / min(t[1] for t in turns), len(graph)


def parity(auto: Any, p: np.ndarray, y: np.ndarray) -> Row:
    """How far the one function is from the pool it follows, on a million scores and more."""
    from veridical.calibrators import Calibrator

    pool = Calibrator.from_dict(auto.calibrator_.calibrator.to_dict()).fit(p, y)
    rng, edges = np.random.default_rng(2), auto.calibrator_.edges_
    z = rng.normal(0, 4, BULK // 2)
    marks = [edges, np.nextafter(edges, 0), np.nextafter(edges, 1), p]
    ends = [0.0, 1.0, 5e-324, 1e-310, 1e-200, 1 - 2.0**-53]
    scores = np.concatenate([rng.random(BULK // 2), 1 / (1 + np.exp(-z)), *marks, ends])
    own, other = auto.predict_proba(scores), pool.predict_proba(scores)
    odds = [np.log(each[:, 1]) - np.log(each[:, 0]) for each in (own, other)]
    return {
        "seen_error": float(np.abs(own - other).max()),
        "stated_log_odds_error": auto.calibrator_.max_log_odds_error_,
        "seen_log_odds_error": float(np.abs(odds[0] - odds[1]).max()),
    }


def two_classes(n: int, *, compact: bool) -> Row:
    """Everything about the default, or about the pool of all folds, of n rows."""
    from sklearn.isotonic import IsotonicRegression

    from veridical import AutoCalibrator, BetaCalibrator, to_sql

    p, y = binary_rows(n)
    start = time.process_time()
    auto = AutoCalibrator(compact=compact).fit(p, y)
    fit = time.process_time() - start
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    new = np.random.default_rng(1).random(BULK)
    one, peer_one = (
        best(lambda m=m: m([0.3]), calls=200) for m in (auto.predict_proba, isotonic.predict)
    )
    turns = 5 if compact else 1
    bulk = best(lambda: auto.predict_proba(new), turns)
    peer = best(lambda: isotonic.predict(new))
    row: Row = {
        "classes": 2,
        "rows": n,
        "compact": compact,
        "fit_seconds": fit,
        "maps": len(getattr(auto.calibrator_, "parts_", [1])),
        "pieces": len(getattr(auto.calibrator_, "starts_", [])),
        "max_error": getattr(auto.calibrator_, "max_error_", 0.0),
        "json_bytes": len(json.dumps(auto.calibrator_.to_dict())),
        "one_row_us": 1e6 * one,
        "one_row_ratio": one / peer_one,
        "bulk_seconds": bulk,
        "bulk_ratio": bulk / peer,
    }
    beta = f"SELECT {to_sql(BetaCalibrator().fit(p, y))} AS calibrated FROM scores"
    query = to_sql(auto, table="scores")
    row |= {"sql_bytes": len(query), "sql_expression_bytes": len(to_sql(auto))}
    if compact:
        row |= parity(auto, p, y)
        found = in_duckdb({"beta": beta, "auto": str(query)}, new)
        if found:
            row["sql_plan_ms"] = 1e3 * found["auto"][0]
            row["sql_run_ms"] = 1e3 * found["auto"][1]
            row["sql_ratio"] = found["auto"][1] / found["beta"][1]
        graph = in_onnx(auto, new)
        if graph is not None:
            row["onnx_ratio"], row["onnx_bytes"] = graph
    return row


def ten_classes(n: int = 5_000, k: int = 10) -> Row:
    """A pool of several classes beside one of its maps."""
    from veridical import AutoCalibrator, to_sql
    from veridical.calibrators import StructuredMatrixCalibrator

    p, y = several_rows(n, k)
    start = time.process_time()
    auto = AutoCalibrator().fit(p, y)
    fit = time.process_time() - start
    matrix = StructuredMatrixCalibrator().fit(p, y)
    new, _ = several_rows(MANY, k, seed=1)
    turns = [[best(lambda m=m: m.predict_proba(new), 1) for m in (auto, matrix)] for _ in range(40)]
    bulk, peer = np.min(turns, axis=0).tolist()
    return {
        "classes": k,
        "rows": n,
        "compact": True,
        "fit_seconds": fit,
        "maps": len(getattr(auto.calibrator_, "parts_", [1])),
        "json_bytes": len(json.dumps(auto.calibrator_.to_dict())),
        "bulk_seconds": bulk,
        "bulk_ratio": bulk / peer,
        "sql_bytes": len(to_sql(auto, table="scores")),
    }


def memory(n: int = 1_000_000) -> Row:
    """Memory of a fit beyond its input, as a multiple of the input."""
    from veridical import AutoCalibrator

    p, y = binary_rows(n)
    AutoCalibrator().fit(p[:2000], y[:2000])  # what is imported on the way
    tracemalloc.start()
    AutoCalibrator().fit(p, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "classes": 2,
        "rows": n,
        "compact": True,
        "fit_memory_ratio": peak / (p.nbytes + y.nbytes),
    }


def written(row: Row) -> Row:
    """Figures of four digits."""
    return {name: f"{v:.4g}" if isinstance(v, float) else v for name, v in row.items()}


def main() -> None:
    """Print a line for each task, and write them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    two_classes(200, compact=True)  # what is imported on the way
    tasks: list[Callable[[], Row]] = [
        *(lambda n=n: two_classes(n, compact=True) for n in (300, 1_000, 10_000)),
        lambda: two_classes(1_000, compact=False),
        ten_classes,
        memory,
    ]
    rows = []
    for task in tasks:
        rows.append(task())
        print(
            {
                name: round(v, 4) if isinstance(v, float) and v > 1e-3 else v
                for name, v in rows[-1].items()
            }
        )
    if options.out:
        names = list(dict.fromkeys(name for row in rows for name in row))
        with options.out.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, names)
            writer.writeheader()
            writer.writerows(
                {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
                for row in rows
            )


if __name__ == "__main__":
    main()
