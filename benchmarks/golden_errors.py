"""Bad calls of the golden record: the message of each is recorded in full.

The first table crosses the functions that take labels and predictions with bad data. The second
lists options, calibrators, monitors, frames, decisions and commands one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from golden_calls import run_in_process
from golden_inputs import softmax

import veridical as v

NAN, INF = float("nan"), float("inf")
Call = Callable[[], Any]

Y, P = [0, 1, 1, 0], [0.2, 0.6, 0.7, 0.4]
Y3 = [0, 1, 2, 1]
P3 = [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]]
FRAME = pl.DataFrame({"label": Y, "score": P, "site": ["a", "b", "a", "b"]})
FEW = {"n_resamples": 20, "rng": 0}

# name: (labels, predictions, options)
BAD_DATA: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "NaN": (Y, [0.2, NAN, 0.7, 0.4], {}),
    "infinite": (Y, [0.2, INF, 0.7, -INF], {}),
    "outside [0, 1]": (Y, [0.2, -3.5, 2.0, 0.4], {}),
    "percentages": (Y, [20, 60, 70, 40], {}),
    "rows do not sum to one": (Y3, [*P3[:3], [0.512, 0.3, 0.1]], {}),
    "NaN in a matrix": (Y3, [*P3[:3], [0.5, 0.3, NAN]], {}),
    "labels and predictions swapped": (P, Y, {}),
    "lengths differ": (Y, P[:3], {}),
    "empty": ([], [], {}),
    "matrix of labels": (np.eye(4)[:, :3], P3, {}),
    "three labels, one column": (Y3, P, {}),
    "label not among labels": (Y3, P3, {"labels": [0, 1, 5]}),
    "repeated labels": (Y3, P3, {"labels": [0, 1, 1]}),
    "missing label": ([0, None, 1, 0], P, {}),
    "negative weight": (Y, P, {"sample_weight": [1, -2, 1, 1]}),
    "NaN weight": (Y, P, {"sample_weight": [1, NAN, 1, 1]}),
    "all weights zero": (Y, P, {"sample_weight": [0, 0, 0, 0]}),
    "too few weights": (Y, P, {"sample_weight": [1, 1]}),
    "one class only": ([1, 1, 1, 1], P, {}),
    "unknown pos_label": (Y, P, {"pos_label": 7}),
}
ON_ROWS: dict[str, Callable[..., Any]] = {
    "evaluate": partial(v.evaluate, **FEW),
    "calibration_tests": partial(v.calibration_tests, **FEW),
    "check_requirements": partial(v.check_requirements, requirements="ece < 0.5", **FEW),
    "compare": lambda y, p, **options: v.compare({"a": p, "b": p}, y, **options, **FEW),
    "log_loss": v.log_loss,
    "expected_calibration_error": v.expected_calibration_error,
    "BinnedError": v.BinnedError(),
    "reliability_curve": v.reliability_curve,
    "decompose": v.decompose,
    "consistency_test": partial(v.consistency_test, v.BinnedError(), **FEW),
    "decision_curve": v.decision_curve,
    "risk_threshold": v.risk_threshold,
    "grid_summary": v.grid_summary,
}


def make_bad_calls() -> dict[str, Call]:
    """Every bad call by its name; a call that is accepted gives "no error" and its warnings."""
    crossed = {
        f"{function_name} | {data_name}": partial(function, y, p, **options)
        for function_name, function in ON_ROWS.items()
        for data_name, (y, p, options) in BAD_DATA.items()
    }
    listed = _options() | _calibrators() | _frames() | _decisions() | _others()
    calls = {name: partial(_call, call) for name, call in (crossed | listed).items()}
    return calls | _commands()


def _call(call: Call) -> str:
    call()
    return "no error"


def _options() -> dict[str, Call]:
    def on_rows(function: Callable[..., Any], **options: Any) -> Call:
        return partial(function, Y, P, **options)

    return {
        "evaluate | unknown lens": on_rows(v.evaluate, lens="confidnce"),
        "evaluate | unknown weight_type": on_rows(v.evaluate, weight_type="frequncy"),
        "evaluate | unknown engine": on_rows(v.evaluate, engine="spark"),
        "evaluate | unknown scale": on_rows(v.evaluate, scale="percnt"),
        "evaluate | unknown missing": on_rows(v.evaluate, missing="skip"),
        "evaluate | no bins": on_rows(v.evaluate, n_bins=0),
        "evaluate | unknown rule for bins": on_rows(v.evaluate, n_bins="sqr"),
        "evaluate | confidence_level of 95": on_rows(v.evaluate, confidence_level=95),
        "evaluate | negative draws": on_rows(v.evaluate, n_resamples=-1),
        "evaluate | text as rng": on_rows(v.evaluate, rng="seed"),
        "evaluate | too few subgroups": on_rows(v.evaluate, by=["a", "b"]),
        "evaluate | too few clusters": on_rows(v.evaluate, groups=[1, 2, 3]),
        "evaluate | binary lens for three classes": partial(v.evaluate, Y3, P3, lens="binary"),
        "evaluate | class of the lens": partial(v.evaluate, Y3, P3, lens=v.ClassSpecific(9)),
        "calibration_tests | unknown test": on_rows(v.calibration_tests, tests=["coxx"]),
        "calibration_tests | level of 5": on_rows(v.calibration_tests, level=5),
        "compare | one model": partial(v.compare, {"a": P}, Y),
        "compare | no mapping": partial(v.compare, P, Y),
        "compare | unknown reference": partial(v.compare, {"a": P, "b": P}, Y, reference="c"),
        "compare | lengths of models differ": partial(v.compare, {"a": P, "b": P[:3]}, Y),
        "check_requirements | no comparison": on_rows(v.check_requirements, requirements="ece"),
        "check_requirements | unknown figure": on_rows(
            v.check_requirements, requirements="ecee < 0.1"
        ),
        "check_requirements | unknown limit": on_rows(
            v.check_requirements, requirements="ece.upper < 0.1"
        ),
        "check_requirements | nothing": on_rows(v.check_requirements, requirements=[]),
        "reliability_curve | unknown method": on_rows(v.reliability_curve, method="bin"),
        "reliability_curve | unknown interval": on_rows(v.reliability_curve, interval="wilson"),
        "reliability_curve | unknown strategy": on_rows(v.reliability_curve, strategy="equal"),
        "decompose | unknown rule": on_rows(v.decompose, rule="brierr"),
        "decompose | unknown method": on_rows(v.decompose, method="bin"),
        "equivalence_test | delta": on_rows(v.equivalence_test, delta="ten"),
        "equivalence_test | method": on_rows(v.equivalence_test, method="bands"),
        "sequential_test | weights": on_rows(v.sequential_test, sample_weight=[1, 2, 1, 1]),
        "bootstrap_interval | unknown method": partial(
            v.bootstrap_interval, v.BinnedError(), Y, P, method="bcaa"
        ),
        "null_level | no estimator": partial(v.null_level, "ece", Y, P),
        "BinnedError | norm": lambda: v.BinnedError(norm=0.5)(Y, P),
        "BinnedError | assignment": lambda: v.BinnedError(assignment="soft")(Y, P),
        "DensityError | bandwidth": lambda: v.DensityError(bandwidth=-1)(Y, P),
        "KernelError | kernel": lambda: v.KernelError(kernel="gauss")(Y, P),
        "CumulativeError | statistic": lambda: v.CumulativeError(statistic="kolmogorov")(Y, P),
        "UniformBins | none": lambda: v.UniformBins(0),
        "UniformBins | closed": lambda: v.UniformBins(5, closed="both"),
        "TopK | none": partial(v.evaluate, Y3, P3, lens=v.TopK(0)),
        "scorer | unknown": partial(v.scorer, "ecce"),
        "required_sample_size | error": partial(v.required_sample_size, -0.1),
    }


def _calibrators() -> dict[str, Call]:
    platt = v.PlattCalibrator().fit(P, Y)
    vector = v.VectorCalibrator().fit(P3, Y3)
    kinds = [v.PlattCalibrator, v.BetaCalibrator, v.IsotonicCalibrator, v.HistogramCalibrator]
    kinds += [v.SplineCalibrator, v.TemperatureCalibrator, v.VectorCalibrator, v.AutoCalibrator]
    bad_calls: dict[str, Call] = {}
    for kind in kinds:
        name = kind.__name__
        bad_calls |= {
            f"{name} | unfitted": partial(kind().predict_proba, P),
            f"{name} | one class only": partial(kind().fit, P, [1, 1, 1, 1]),
            f"{name} | NaN": partial(kind().fit, [0.2, NAN, 0.7, 0.4], Y),
            f"{name} | outside [0, 1]": partial(kind().fit, [0.2, -3.5, 2.0, 0.4], Y),
            f"{name} | lengths differ": partial(kind().fit, P[:3], Y),
            f"{name} | swapped": partial(kind().fit, Y, P),
            f"{name} | negative weight": partial(kind().fit, P, Y, [1, -1, 1, 1]),
        }
    return bad_calls | {
        "PlattCalibrator | three columns at predict": partial(platt.predict_proba, P3),
        "VectorCalibrator | two columns at predict": partial(
            vector.predict_proba, [[0.5, 0.5], [0.2, 0.8]]
        ),
        "VectorCalibrator | one column at predict": partial(vector.predict_proba, P),
        "PlattCalibrator | NaN at predict": partial(platt.predict_proba, [0.1, NAN]),
        "PlattCalibrator | unknown input": lambda: v.PlattCalibrator(input="logits").fit(P, Y),
        "PlattCalibrator | three classes": partial(v.PlattCalibrator().fit, P3, Y3),
        "HistogramCalibrator | no bins": lambda: v.HistogramCalibrator(n_bins=0).fit(P, Y),
        "AutoCalibrator | unknown strategy": lambda: v.AutoCalibrator(strategy="best").fit(P, Y),
        "AutoCalibrator | subnormal probabilities": _subnormal_probabilities,
        "Calibrator | format": partial(v.Calibrator.from_dict, {"format": 99}),
        "save | unfitted": partial(v.save, v.PlattCalibrator(), "map.json"),
        "load | missing file": partial(v.load, "missing.json"),
        "to_sql | unknown dialect": partial(v.to_sql, platt, dialect="oracl", columns="p"),
        "to_sql | unfitted": partial(v.to_sql, v.PlattCalibrator(), columns="p"),
        "to_python | unfitted": partial(v.to_python, v.PlattCalibrator()),
    }


def _subnormal_probabilities() -> Any:
    """Valid rows with probabilities down to 5e-324, which one candidate turns into NaN today."""
    rng = np.random.default_rng(6)
    p = softmax(rng.normal(0, 300, (600, 10)))
    classes = (rng.random(600)[:, None] > (0.7 * p + 0.03).cumsum(axis=1)).sum(axis=1).clip(max=9)
    return v.AutoCalibrator().fit(p, classes)


def _frames() -> dict[str, Call]:
    names = {"y": "label", "prob": "score"}
    return {
        "evaluate | missing y column": partial(v.evaluate, FRAME, y="labl", prob="score"),
        "evaluate | missing prob column": partial(v.evaluate, FRAME, y="label", prob="scores"),
        "evaluate | missing by column": partial(v.evaluate, FRAME, **names, by="region"),
        "evaluate | missing weight column": partial(
            v.evaluate, FRAME, **names, sample_weight="weight"
        ),
        "evaluate | frame without names": partial(v.evaluate, FRAME),
        "evaluate | names with arrays": partial(v.evaluate, Y, P, **names),
        "evaluate | missing file": partial(v.evaluate, "missing.parquet", **names),
        "evaluate | unknown ending": partial(v.evaluate, "rows.docx", **names),
        "evaluate | lazy, missing column": partial(v.evaluate, FRAME.lazy(), y="label", prob="q"),
        "evaluate | text as predictions": partial(v.evaluate, FRAME, y="label", prob="site"),
        "evaluate | empty frame": partial(v.evaluate, FRAME.head(0), **names),
        "calibration_tests | missing column": partial(
            v.calibration_tests, FRAME, y="label", prob="q"
        ),
        "compare | missing column": partial(v.compare, {"a": "score", "b": "q"}, FRAME, y="label"),
        "decision_curve | missing column": partial(v.decision_curve, FRAME, y="label", prob="q"),
        "audit_segments | missing feature": partial(
            v.audit_segments, FRAME, features=["age"], **names
        ),
        "make_report | missing column": partial(v.make_report, FRAME, y="label", prob="q"),
    }


def _decisions() -> dict[str, Call]:
    return {
        "decide | costs of three classes": partial(v.decide, P, np.ones((3, 3))),
        "decide | NaN cost": partial(v.decide, P, [[0, NAN], [1, 0]]),
        "decide | NaN": partial(v.decide, [0.2, NAN], [[0, 1], [1, 0]]),
        "decide | outside [0, 1]": partial(v.decide, [0.2, 1.7], [[0, 1], [1, 0]]),
        "decide | names of actions": partial(v.decide, P, [[0, 1], [1, 0]], actions=["go"]),
        "expected_cost | lengths differ": partial(v.expected_cost, Y, P[:3], [[0, 1], [1, 0]]),
        "expected_cost | unknown method": partial(
            v.expected_cost, Y, P, [[0, 1], [1, 0]], method="normal"
        ),
        "cost_threshold | negative": partial(v.cost_threshold, -1.0, 2.0),
        "cost_threshold | no cost": partial(v.cost_threshold, 0.0, 0.0),
        "prior_threshold | outside": partial(v.prior_threshold, 0.5, 1.5),
        "adjust_priors | sum": partial(v.adjust_priors, P3, [0.3, 0.3, 0.3], [0.2, 0.3, 0.5]),
        "estimate_priors | unknown method": partial(v.estimate_priors, P, method="emm"),
        "cost_curve | lengths differ": partial(v.cost_curve, Y, P[:3]),
        "decision_curve | thresholds": partial(v.decision_curve, Y, P, thresholds=[0.5, 1.5]),
        "risk_threshold | at_most": partial(v.risk_threshold, Y, P, at_most=1.5),
        "risk_threshold | unknown risk": partial(v.risk_threshold, Y, P, risk="errors"),
    }


def _monitor() -> v.CalibrationMonitor:
    watcher = v.CalibrationMonitor()
    watcher.update(Y, P)
    return watcher


def _others() -> dict[str, Call]:
    return {
        "audit_segments | no features": partial(v.audit_segments, Y, P),
        "audit_segments | lengths differ": partial(v.audit_segments, Y, P, {"age": [1, 2]}),
        "audit_segments | depth": partial(v.audit_segments, Y, P, {"age": Y}, depth=0),
        "estimate_rate | no unlabelled rows": partial(v.estimate_rate, Y, P),
        "estimate_rate | NaN": partial(v.estimate_rate, Y, P, [0.2, NAN]),
        "estimate_rate | unknown method": partial(v.estimate_rate, Y, P, P, method="ppi"),
        "make_report | empty": partial(v.make_report, [], []),
        "make_report | NaN": partial(v.make_report, Y, [0.2, NAN, 0.7, 0.4]),
        "make_report | ending": partial(v.make_report, Y, P, path="report.docx", **FEW),
        "CalibrationMonitor | level": partial(v.CalibrationMonitor, level=5),
        "CalibrationMonitor | no rows yet": lambda: v.CalibrationMonitor().status(),
        "CalibrationMonitor | NaN": lambda: v.CalibrationMonitor().update(Y, [0.2, NAN, 0.7, 0.4]),
        "CalibrationMonitor | new label": lambda: _monitor().update([0, 5], [0.1, 0.2]),
        "CalibrationMonitor | other classes": lambda: _monitor().update(Y3, P3),
        "CalibrationMonitor | unknown id": lambda: _monitor().resolve(["x"], [1]),
        "CalibrationMonitor | no signals": lambda: _monitor().signals(),
        "CalibrationMonitor | nothing to switch": lambda: _monitor().switch(),
        "GridSummary | text": partial(v.GridSummary.from_json, "{}"),
        "evaluation | unknown figure": lambda: v.evaluate(Y, P, **FEW)["ecee"],
        "veridical | unknown name": lambda: v.evalute,
    }


def _commands() -> dict[str, Call]:
    """Commands on a small file; the text on the error stream is the result."""
    FRAME.write_csv("small.csv")
    lines = {
        "missing file": "evaluate missing.csv",
        "missing column": "evaluate small.csv --y labl --prob score",
        "missing prob column": "evaluate small.csv --y label --prob q",
        "unknown lens": "evaluate small.csv --y label --prob score --lens confidnce",
        "unknown command": "evalute small.csv",
        "unknown option": "evaluate small.csv --bin 10",
        "text as a number": "evaluate small.csv --y label --prob score --n-bins many",
        "requirement": "check small.csv --y label --prob score --require ece",
        "report ending": "report small.csv --y label --prob score --json page.txt",
    }
    return {f"command | {name}": partial(run_in_process, line) for name, line in lines.items()}
