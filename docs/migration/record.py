"""Record what other packages answer on the example files, for the pages on coming from them.

Run with the packages installed, each in an environment of its own if they disagree about versions:

    python docs/migration/record.py netcal torchmetrics uncertainty-calibration
    python docs/migration/record.py pycalib
"""

from __future__ import annotations

import csv
import importlib
import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"

# Package -> modules whose names are used, and the calls as users write them.
# y, p: the forest's labels and probabilities; Y, P: those of ten digits, O one-hot; q: 0.3.
CALLS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "netcal": (
        ("netcal.metrics", "netcal.scaling", "netcal.binning"),
        (
            "ECE(15).measure(p, y)",
            "ECE(10).measure(p, y)",
            "ECE(15).measure(P, Y)",
            "ECE(15, equal_intervals=False).measure(p, y)",
            "MCE(15).measure(p, y)",
            "ACE(15).measure(p, y)",
            "MMCE().measure(p, y)",
            "LogisticCalibration().fit(p, y).transform(q)",
            "BetaCalibration().fit(p, y).transform(q)",
            "IsotonicRegression().fit(p, y).transform(q)",
            "HistogramBinning(10).fit(p, y).transform(q)",
            "TemperatureScaling().fit(p, y).transform(q)",
        ),
    ),
    "torchmetrics": (
        ("torch", "torchmetrics.functional.classification"),
        (
            "binary_calibration_error(tensor(p), tensor(y), n_bins=15)",
            "binary_calibration_error(tensor(p), tensor(y), n_bins=15, norm='max')",
            "binary_calibration_error(tensor(p), tensor(y), n_bins=15, norm='l2')",
            "multiclass_calibration_error(tensor(P), tensor(Y), num_classes=10, n_bins=15)",
            "multiclass_calibration_error(tensor(P), tensor(Y), num_classes=10, norm='l2')",
        ),
    ),
    "uncertainty-calibration": (
        ("calibration",),
        (
            "get_ece(p, y)",
            "get_ece(P, Y)",
            "get_ece_em(p, y)",
            "get_calibration_error(p, y)",
            "get_calibration_error(p, y, p=1, debias=False)",
            "get_calibration_error(P, Y)",
            "lower_bound_scaling_ce(p, y)",
            "lower_bound_scaling_ce(P, Y)",
        ),
    ),
    "pycalib": (
        ("pycalib.metrics", "pycalib.models"),
        (
            "binary_ECE(y, p)",
            "binary_MCE(y, p)",
            "binary_ECE(y, p, power=2)",
            "conf_ECE(O, P)",
            "classwise_ECE(O, P)",
            "classwise_MCE(O, P)",
            "ECE(O, P)",
            "full_ECE(O, P)",
            "full_ECE(O, 0.98 * P + 0.002)",
            "brier_score(O, P)",
            "cross_entropy(O, P)",
            "IsotonicCalibration().fit(p, y).predict_proba(q)[:, 1]",
            "BetaCalibration().fit(p, y).predict(q)",
            "BinningCalibration(10).fit(p, y).predict_proba(q)[:, 1]",
            "SigmoidCalibration().fit(p, y).predict_proba(q)[:, 1]",
            "LogisticCalibration().fit(np.c_[1 - p, p], y)",
        ),
    ),
}


def main() -> None:
    """Record the packages named on the command line; those not named stay as they are."""
    path = HERE / "recorded.json"
    recorded = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    warnings.simplefilter("ignore")  # theirs
    for package in sys.argv[1:]:
        modules, calls = CALLS[package]
        space = _examples()
        for module in modules:
            space |= vars(importlib.import_module(module))
        answers = {call: _answer(call, dict(space)) for call in calls}
        recorded[package] = {"version": version(package), "answers": answers}
    path.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _examples() -> dict[str, Any]:
    forest = _columns("forest.csv", (0, 1))
    digits = _columns("digits.csv", range(11))
    labels = digits[:, 0].astype(int)
    return {
        "np": np, "y": forest[:, 0].astype(int), "p": forest[:, 1], "q": np.array([0.3]),
        "Y": labels, "P": digits[:, 1:], "O": np.eye(10)[labels],
    }  # fmt: skip


def _columns(name: str, columns: Any) -> np.ndarray:
    with (EXAMPLES / name).open(newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return np.array([[float(row[column]) for column in columns] for row in rows])


def _answer(call: str, space: dict[str, Any]) -> float | str:
    """Return the number, or what the call raises."""
    try:
        found = eval(call, space)
        return float(np.asarray(found).ravel()[0])
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
