"""Maps of folds averaged, or one map fitted to all rows: held-out log loss of either pool.

    python benchmarks/league/refits.py CACHE OUT.csv --splits 2

CACHE is the folder of predictions that `run.py --stage predictions` fills. Weights are those of
`AutoCalibrator`, found once a cell; only what they are given to differs:

- folds: every map of every fold
- refit: one fit to all rows for each candidate
- steps: the maps of folds where a candidate jumps or bends at rows, one fit for the others
- mean: of several classes, parameters of linear maps averaged over folds, the others refitted
- compact: what `AutoCalibrator()` predicts: "refit", of two classes as one function
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from predictions import N_SPLITS, Pair, all_pairs, usable_sizes
from trials import FLOOR, MANY_CLASSES

from veridical.calibrators import Calibrator
from veridical.calibrators.core import CheckedRows, fit_part, fresh_part
from veridical.selection._auto.candidates import default_candidates
from veridical.selection._auto.choice import CalibratorChoice, choose

STEPS = ("centred isotonic", "venn-abers", "histogram", "one-vs-rest isotonic")
AVERAGED = ("coef_", "intercept_", "inverse_temperature_", "input_mix_", "weights_", "mix_")
FIELDS = ("half", "data", "model", "n_classes", "split", "n", "pool", "log_loss", "brier")


def rows_of(p: np.ndarray, y: np.ndarray) -> CheckedRows:
    """Checked rows as `AutoCalibrator` gets them in the league."""
    values = p[:, 1] if p.shape[1] == 2 else p
    return CheckedRows(values, y.astype(np.intp), None, "importance", tuple(range(p.shape[1])))


def mean_of(maps: tuple[Calibrator, ...]) -> Calibrator | None:
    """One map with the mean parameters of several; None if its parameters are no plain arrays."""
    if not hasattr(maps[0], "inverse_temperature_"):
        return None
    found: Any = fresh_part(maps[0])
    vars(found).update(vars(maps[0]))
    for name in AVERAGED:
        if hasattr(found, name):
            value = np.mean([getattr(each, name) for each in maps], axis=0)
            setattr(found, name, value if np.ndim(value) else float(value))
    found.floor_ = float(np.min([each.floor_ for each in maps]))  # type: ignore[attr-defined]
    return found


def pools(choice: CalibratorChoice, rows: CheckedRows, values: np.ndarray) -> dict[str, np.ndarray]:
    """What each pool says of the values."""
    names = ["folds", "refit", "steps"] + (["mean"] if len(rows.classes) > 2 else [])
    own = choice.calibrator.predict_proba(values)
    identity = values if values.ndim == 2 else np.column_stack([1 - values, values])
    found = dict.fromkeys(names, choice.identity_weight * identity)
    for weight, tried in zip(choice.weights.tolist(), choice.tried, strict=True):
        if weight == 0 or tried.fit is None:
            continue
        folds = np.mean([each.predict_proba(values) for each in tried.fit.maps], axis=0)
        once = fresh_part(tried.calibrator)
        fit_part(once, rows)
        refit = once.predict_proba(values)
        mean = mean_of(tried.fit.maps) if "mean" in found else None
        parts = {"folds": folds, "refit": refit, "steps": folds if tried.name in STEPS else refit}
        parts["mean"] = refit if mean is None else mean.predict_proba(values)
        for name in found:
            found[name] = found[name] + weight * parts[name]
    return {**found, "compact": own}


def run_pair(pair: Pair, path: Path, splits: int) -> list[dict[str, Any]]:
    """Figures of all cells of a pair."""
    found = []
    with np.load(path) as stored:
        for split in range(min(splits, N_SPLITS)):
            names = ("p_cal", "y_cal", "p_test", "y_test")
            p_cal, y_cal, p_test, y_test = (stored[f"{name}_{split}"] for name in names)
            n_classes = p_cal.shape[1]
            if n_classes > MANY_CLASSES and split:
                continue
            for n in usable_sizes(y_cal, n_classes):
                rows = rows_of(p_cal[:n], y_cal[:n])
                candidates = default_candidates(n_classes, rows.size, "probability", "pool")
                choice = choose(
                    candidates, rows, input="probability", strategy="pool", max_seconds=None
                )
                test = p_test[:, 1] if n_classes == 2 else p_test
                for name, p in pools(choice, rows, test).items():
                    truth = p[np.arange(len(y_test)), y_test]
                    brier = ((p**2).sum(axis=1) - 2 * truth + 1).mean()
                    loss = -np.log(np.maximum(truth, FLOOR)).mean()
                    cell = (pair.half, pair.data, pair.model, n_classes, split, n, name)
                    figures = (f"{loss:.8f}", f"{brier / (2 if n_classes == 2 else 1):.8f}")
                    found.append(dict(zip(FIELDS, (*cell, *figures), strict=True)))
    return found


def main() -> None:
    """Write a line for each cell and pool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--half", choices=["tune", "report"], default="tune")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with options.out.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS)
        writer.writeheader()
        for pair in all_pairs():
            path = pair.path(options.cache)
            if pair.half == options.half and path.exists():
                writer.writerows(run_pair(pair, path, options.splits))
                stream.flush()


if __name__ == "__main__":
    main()
