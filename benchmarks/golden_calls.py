"""Calls of the golden record: one function per public operation, and where it does not apply.

Each call takes an `Input` and returns {name: result}. A result is anything that `golden.plain`
can convert: an object with `to_dict`, an array, a number, a text, or a mapping of these.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from golden_inputs import PARQUET, Input

import veridical as v
from veridical.cli import main as run_command

# 100 draws keep the whole record under 90 CPU seconds; a slip in a figure shows with any number.
DRAWS = {"n_resamples": 100, "rng": 0}
DATE = "2024-01-31"  # of the report, which would otherwise show none


def _by(data: Input) -> dict[str, Any]:
    return {} if data.by is None else {"by": data.by}


def _select(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in names}


def _with_text(**results: Any) -> dict[str, Any]:
    """Results, each followed by the text that `print` shows for it."""
    return {
        key: value
        for name, result in results.items()
        for key, value in ((name, result), (f"{name}, as text", str(result)))
    }


def evaluate(data: Input) -> dict[str, Any]:
    options = {**data.columns, **data.engine, **data.options, **_by(data)}
    return _with_text(evaluation=v.evaluate(*data.rows, **options, **DRAWS))


def calibration_tests(data: Input) -> dict[str, Any]:
    options = {**data.columns, **data.engine, **data.options, **_by(data)}
    return _with_text(tests=v.calibration_tests(*data.rows, **options, **DRAWS))


def compare(data: Input) -> dict[str, Any]:
    if data.table is None:
        predictions, rows = {"model": data.p, "challenger": data.challenger}, data.y
    else:
        predictions, rows = {"model": "p", "challenger": "challenger"}, data.table
    options = {**_select(data.columns, "y"), **data.engine, **data.options}
    return _with_text(comparison=v.compare(predictions, rows, **options, **DRAWS))


def make_report(data: Input) -> dict[str, Any]:
    options = {**data.columns, **data.engine, **data.options, **_by(data)}
    report = v.make_report(*data.rows, **options, **DRAWS, date=DATE)
    return {"report": _without_versions(report.to_dict()), "report, as text": str(report)}


def _without_versions(report: dict[str, Any]) -> dict[str, Any]:
    """Drop the versions of the packages: they are recorded once, for the whole record."""
    settings = {key: value for key, value in report["settings"].items() if key != "versions"}
    return {**report, "settings": settings}


def auto_calibrator(data: Input) -> dict[str, Any]:
    calibrator = v.AutoCalibrator(**_select(data.options, "weight_type"))
    fit_options = _select(data.options, "sample_weight", "groups")
    if data.table is None:
        calibrator.fit(data.p, data.y, **fit_options)
    else:
        calibrator.fit(data.table, **data.columns)
    return {
        "predictions": calibrator.predict_proba(data.p[:40]),
        "predictions at a grid": calibrator.predict_proba(_grid(data)),
        "calibrator": calibrator,
        "explanation": calibrator.explain(),
        "evidence, as text": str(calibrator.evidence_),
    }


def _grid(data: Input) -> np.ndarray:
    """Predictions to be calibrated: from 0 to 1, or vectors towards every corner."""
    if data.p.ndim == 1:
        return np.linspace(0, 1, 41)
    corners = np.eye(data.n_classes)
    shares = np.array([0.0, 0.1, 0.5, 0.9, 0.999, 1.0])[:, None, None]
    return (shares * corners + (1 - shares) / data.n_classes).reshape(-1, data.n_classes)


def monitor(data: Input) -> dict[str, Any]:
    with v.CalibrationMonitor(labels=np.unique(data.y)) as watcher:
        updates = []
        for index in range(5):
            batch = np.arange(index * len(data.y) // 5, (index + 1) * len(data.y) // 5)
            segments = {} if data.by is None else {"by": data.by[batch]}
            update = watcher.update(
                data.y[batch], data.p[batch], timestamp=f"2024-01-{index + 1:02d}", **segments
            )
            updates += [update, str(update)]
        status = watcher.status()
        return {
            "updates": updates,
            "history": watcher.history(),
            "curves": watcher.curves(),
            **_with_text(status=status),
        }


REQUIREMENTS = [
    "ece < 0.05",
    "ece.high < 0.2",
    "brier < 0.25",
    "log.high < 1",
    "calibrated",
    "cox().pvalue > 0.01",
    "equivalence(0.1).pvalue < 0.05",
]


def check_requirements(data: Input) -> dict[str, Any]:
    options = {**data.columns, **data.engine, **data.options, **_by(data)}
    gate = v.check_requirements(*data.rows, requirements=REQUIREMENTS, **options, **DRAWS)
    return _with_text(gate=gate)


def _costs(data: Input) -> np.ndarray:
    """Cost per action and class: a mistake costs more the farther the classes are apart."""
    index = np.arange(data.n_classes)
    distance = np.abs(index[:, None] - index[None, :]).astype(float)
    return np.where(index[:, None] < index[None, :], 3 * distance, distance)


def decide(data: Input) -> dict[str, Any]:
    return {
        **_with_text(decisions=v.decide(data.p, _costs(data))),
        "with abstention": v.decide(data.p, _costs(data), abstain_cost=0.4),
    }


def expected_cost(data: Input) -> dict[str, Any]:
    resampled = v.expected_cost(
        data.y, data.p, _costs(data), method="percentile", **data.options, **DRAWS
    )
    analytic = v.expected_cost(data.y, data.p, _costs(data), **data.options)
    return {**_with_text(analytic=analytic), "percentile": resampled}


def cost_threshold(data: Input) -> dict[str, Any]:
    return {
        "one": v.cost_threshold(1.0, 4.0),
        "several": v.cost_threshold([1.0, 2.0, 5.0], [1.0, 1.0, 0.5], cost_tp=0.1, cost_tn=0.05),
        "priors": v.prior_threshold(0.5, [0.01, 0.1, 0.5], threshold=0.3),
        "adjusted": v.adjust_priors(data.p, 0.5, 0.1),
    }


def cost_curve(data: Input) -> dict[str, Any]:
    options = {**data.columns, **_select(data.options, "sample_weight")}
    return _with_text(curve=v.cost_curve(*data.rows, **options))


def decision_curve(data: Input) -> dict[str, Any]:
    return _with_text(curve=v.decision_curve(*data.rows, **data.columns, **data.options))


def risk_threshold(data: Input) -> dict[str, Any]:
    options = {**data.columns, **data.options, "at_most": 0.2, "confidence": 0.8}
    return _with_text(threshold=v.risk_threshold(*data.rows, **options))


def audit_segments(data: Input) -> dict[str, Any]:
    features: Any = data.features if data.table is None else list(data.features)
    options = {**data.columns, **data.engine, **data.options}
    audit = v.audit_segments(*data.rows, features=features, **options, **DRAWS)
    return _with_text(audit=audit)


def estimate_rate(data: Input) -> dict[str, Any]:
    if data.table is not None:
        columns = {"y": "y_first_half", "prob": "p"}
        return _with_text(rate=v.estimate_rate(data.table, **columns, rng=0))
    half = len(data.y) // 2
    rate = v.estimate_rate(data.y[:half], data.p[:half], data.p[half:], **data.options, rng=0)
    return _with_text(rate=rate)


def scores_and_errors(data: Input) -> dict[str, Any]:
    """Scores and calibration errors as floats, for every lens that suits the input."""
    weight = _select(data.options, "sample_weight")
    weights = _select(data.options, "sample_weight", "weight_type")
    scores = (v.brier_score, v.log_loss, v.spherical_score, v.zero_one_loss)
    figures: dict[str, Any] = {score.__name__: score(data.y, data.p, **weight) for score in scores}
    lenses = ["binary"] if data.n_classes == 2 else ["confidence", "classwise"]
    estimators = [
        v.BinnedError(),
        v.BinnedError(v.QuantileBins(10), norm=2, debias=True),
        v.BinnedError(assignment="linear"),
        v.BinnedError(v.SweepBins()),
        v.DensityError(),
        v.SmoothError(),
        v.IsotonicError(),
        v.CumulativeError(),
        v.CumulativeError(statistic="kuiper"),
        v.LoessError(),
    ]
    for lens in lenses:
        for estimator in estimators:
            name = f"{estimator!r}, {lens}"
            figures[name] = estimator(data.y, data.p, lens=lens, **weights)
    if data.n_classes > 2:
        figures["canonical"] = v.expected_calibration_error(
            data.y, data.p, lens="canonical", **weight
        )
    figures["kernel"] = v.KernelError()(data.y, data.p, **weights)
    figures["maximum"] = v.maximum_calibration_error(data.y, data.p, **weight)
    figures["classwise"] = v.classwise_calibration_error(data.y, data.p, **weight)
    return figures


def curves_and_parts(data: Input) -> dict[str, Any]:
    """Reliability curves by every method, and decompositions of every score."""
    options = {**data.columns, **_select(data.options, "sample_weight", "weight_type", "groups")}
    parts = _select(options, "sample_weight", "weight_type", "y", "prob")
    curves = {
        f"curve, {method}": v.reliability_curve(*data.rows, method=method, **options, **DRAWS)
        for method in ("bins", "isotonic", "density", "smooth")
    }
    # Only the binomial limits know clusters.
    intervals = ["binomial"] if "groups" in options else ["binomial", "bootstrap", "consistency"]
    for interval in intervals:
        curves[f"curve, {interval} interval"] = v.reliability_curve(
            *data.rows, interval=interval, **options, **DRAWS
        )
    return curves | {
        f"decomposition, {rule}": v.decompose(*data.rows, rule=rule, **parts)
        for rule in ("brier", "log", "spherical", "zero-one")
    }


def single_tests(data: Input) -> dict[str, Any]:
    """Tests, intervals and null levels that are called by name."""
    rows, options = data.rows, {**data.columns, **data.options}
    measure = v.BinnedError()
    results = {
        "consistency": v.consistency_test(measure, *rows, **options, **DRAWS),
        "interval": v.bootstrap_interval(measure, *rows, **options, **DRAWS),
        "null level": v.null_level(measure, *rows, **options, **DRAWS),
        "equivalence": v.equivalence_test(*rows, **options),
        "spiegelhalter": v.spiegelhalter_test(*rows, **options, **DRAWS),
        "hosmer_lemeshow": v.hosmer_lemeshow_test(*rows, **options, **DRAWS),
        "pearson": v.pearson_test(*rows, **options, **DRAWS),
        "cox": v.cox_test(*rows, **options, **DRAWS),
        "kernel": v.kernel_test(*rows, **options, **DRAWS),
    }
    return _with_text(**results)


def sequential_test(data: Input) -> dict[str, Any]:
    return _with_text(test=v.sequential_test(*data.rows, **data.columns))


CALIBRATORS = {
    "two": [
        v.PlattCalibrator(),
        v.BetaCalibrator(),
        v.IsotonicCalibrator(),
        v.HistogramCalibrator(),
        v.SplineCalibrator(),
        v.VennAbersCalibrator(),
        v.BBQCalibrator(),
        v.NearIsotonicCalibrator(),
        v.QuadraticCalibrator(),
        v.ScalingBinningCalibrator(),
        v.DensityCalibrator(),
    ],
    "several": [
        v.VectorCalibrator(),
        v.MatrixCalibrator(),
        v.DirichletCalibrator(),
        v.StructuredVectorCalibrator(),
        v.StructuredMatrixCalibrator(),
        v.OneVsRestCalibrator(v.BetaCalibrator()),
    ],
    "any": [v.TemperatureCalibrator(), v.EnsembleTemperatureCalibrator()],
}


def calibrators(data: Input) -> dict[str, Any]:
    """Predictions of every calibrator at a grid, and its explanation."""
    kind = "two" if data.n_classes == 2 else "several"
    results = {}
    for calibrator in CALIBRATORS[kind] + CALIBRATORS["any"]:
        calibrator.set_params(weight_type=data.options.get("weight_type", "importance"))
        calibrator.fit(data.p, data.y, **_select(data.options, "sample_weight"))
        name = type(calibrator).__name__
        results[name] = calibrator.predict_proba(_grid(data))
        results[f"{name}, explanation"] = calibrator.explain()
    return results


COMMANDS = {
    "evaluate": "evaluate {file} --y y --prob p --n-resamples 100 --seed 0",
    "test": "test {file} --y y --prob p --n-resamples 100 --seed 0",
    "check": "check {file} --y y --prob p --n-resamples 100 --seed 0 --require 'ece.high < 0.2'",
    "report": "report {file} --y y --prob p --n-resamples 100 --seed 0 --date 2024-01-31"
    " -o page.html --json page.json",
}


def commands(data: Input) -> dict[str, Any]:
    """What commands print, and the JSON file of the report."""
    results: dict[str, Any] = {}
    for name, line in COMMANDS.items():
        results[name] = run_in_process(line.format(file=PARQUET))
    report = json.loads(Path("page.json").read_text(encoding="utf-8"))
    results["report.json"] = _without_versions(report)
    return results


def run_in_process(line: str) -> dict[str, Any]:
    """Exit status and printed text of a command, in a terminal of fixed width."""
    import shlex

    out, err = io.StringIO(), io.StringIO()
    os.environ["COLUMNS"] = "100"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status: Any = run_command(shlex.split(line))
        except SystemExit as ending:  # of the argument parser
            status = ending.code
    return {"status": status, "printed": out.getvalue(), "notes": err.getvalue()}


CALLS: dict[str, Callable[[Input], dict[str, Any]]] = {
    "evaluate": evaluate,
    "calibration_tests": calibration_tests,
    "compare": compare,
    "make_report": make_report,
    "AutoCalibrator": auto_calibrator,
    "CalibrationMonitor": monitor,
    "check_requirements": check_requirements,
    "decide": decide,
    "expected_cost": expected_cost,
    "cost_threshold": cost_threshold,
    "cost_curve": cost_curve,
    "decision_curve": decision_curve,
    "risk_threshold": risk_threshold,
    "audit_segments": audit_segments,
    "estimate_rate": estimate_rate,
    "scores and errors": scores_and_errors,
    "curves and decompositions": curves_and_parts,
    "single tests": single_tests,
    "sequential_test": sequential_test,
    "calibrators": calibrators,
    "commands": commands,
}

INPUTS = (
    "two classes, 40 rows",
    "two classes, 4,000 rows",
    "ties",
    "rare events",
    "three classes",
    "ten saturated classes",
    "importance weights",
    "frequency weights",
    "per-label weights",
    "clusters",
    "by",
    "lazy frame",
    "Parquet, pushdown",
    "saved summary",
)
WEIGHTED = ("importance weights", "frequency weights", "per-label weights")
TABLES = ("lazy frame", "Parquet, pushdown")
SUMMARY = ("saved summary",)


def _because(reason: str, *inputs: Iterable[str]) -> dict[str, str]:
    return {name: reason for names in inputs for name in names}


_NO_WEIGHT_TYPE = _because("takes no weight_type", ("frequency weights",))
_NO_WEIGHT = _because("takes no weights", WEIGHTED)
_NO_CLUSTERS = _because("takes no groups", ("clusters",))
_NO_BY = _because("takes no by", ("by",))
_ARRAYS_ONLY = _because("takes arrays only", TABLES, SUMMARY)
_ROWS_ONLY = _because("needs rows, not sums of them", SUMMARY)
_ONCE = "reads no rows; recorded once"

# Every cell (call, input) that is left out, with the reason. All other cells must run.
NOT_APPLICABLE: dict[str, dict[str, str]] = {
    "evaluate": {},
    "calibration_tests": {},
    "compare": _NO_BY | _because("sums do not pair the rows of two models", SUMMARY),
    "make_report": _NO_WEIGHT_TYPE,
    "AutoCalibrator": _NO_BY | _ROWS_ONLY,
    "CalibrationMonitor": _NO_WEIGHT | _NO_CLUSTERS | _ARRAYS_ONLY,
    "check_requirements": _NO_WEIGHT_TYPE,
    "decide": _NO_WEIGHT | _NO_CLUSTERS | _NO_BY | _ARRAYS_ONLY,
    "expected_cost": _NO_BY | _ARRAYS_ONLY,
    "cost_threshold": _because(_ONCE, INPUTS[1:]),
    "cost_curve": _NO_WEIGHT_TYPE | _NO_CLUSTERS | _NO_BY | _ROWS_ONLY,
    "decision_curve": _NO_BY | _ROWS_ONLY,
    "risk_threshold": _NO_BY | _ROWS_ONLY,
    "audit_segments": _NO_BY | _ROWS_ONLY,
    "estimate_rate": _NO_WEIGHT_TYPE | _NO_BY | _ROWS_ONLY,
    "scores and errors": _NO_CLUSTERS | _NO_BY | _ARRAYS_ONLY,
    "curves and decompositions": _NO_BY | _ROWS_ONLY,
    "single tests": _NO_BY | _ROWS_ONLY,
    "sequential_test": _NO_WEIGHT | _NO_CLUSTERS | _NO_BY | _ROWS_ONLY,
    "calibrators": _NO_CLUSTERS | _NO_BY | _ARRAYS_ONLY,
    "commands": _because("reads a file", INPUTS[:12], SUMMARY),
}
