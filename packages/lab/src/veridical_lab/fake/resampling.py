"""Whether consistency resampling says what section 3.3 says it does.

Whether calibrating logits is better than calibrating the logarithms of probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical import calibrators as maps
from veridical.curves import reliability_curve
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError
from veridical.simulation import DirichletFakeClassifier, PowerMap, fake_classifier_for
from veridical.simulation.core import draw_labels
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import drawn, share_of
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray
from veridical_lab.fake.contestants import distorted, what_is_left

_ROWS, _CLASSES, _LEVEL = 500, 3, 0.05
_FULL_BIN = 5  # rows from which limits of a bin say something
_CELL = 10  # repetitions a cell


def show_resampling(lab: Laboratory, page: Page) -> None:
    """Level and power of the test, and how often the limits of a bin hold what they should."""
    cells = 2 if lab.quick else 50
    draws = 100 if lab.quick else 500
    plans = [
        {"kind": kind, "cell": cell, "resamples": draws}
        for kind in ("calibrated", "over-confident")
        for cell in range(cells)
    ]
    found = lab.map("resampling", _repeat, plans)
    page.section("Labels drawn from the predictions")
    null, other = found[:cells], found[cells:]
    total = cells * _CELL
    level = sum(sum(one["rejected"]) for one in null) / total
    power = sum(sum(one["rejected"]) for one in other) / total
    bins = int(sum(sum(one["bins"]) for one in null))
    outside = sum(sum(one["outside"]) for one in null) / bins
    page.text(
        f"""Section 3.3 assesses an ECE by labels drawn as if the classifier were calibrated. A
        calibrated and an over-confident fake classifier (power 2), {_ROWS} rows, {_CLASSES}
        classes, {total} repetitions of {draws} resamples each."""
    )
    # Counts are whole numbers, so limits of bins hold more than they promise; never fewer.
    page.check(f"""
        - Section 3.3, consistency of the estimator | allows to assess whether the observed value of
          the estimator is consistent with strong calibration | {share_of(level, total)} = {_LEVEL}
          ± 0.02 and {share_of(power, total)} as usually | share of calibrated classifiers rejected
          at {_LEVEL}, and of over-confident ones
        - Section 3.3, intervals of bins | allows to compute confidence intervals for the per-bin
          accuracies | {share_of(outside, bins)} <= {_LEVEL} | share of
          {bins:,} bins of {_FULL_BIN} rows or more outside their 95 % limits; they are limits of
          what a calibrated classifier would show, not of its accuracy
    """)


def _repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    fake = distorted(cell["kind"], _CLASSES)
    found: dict[str, list[float]] = {"rejected": [], "bins": [], "outside": []}
    for _ in range(_CELL):
        drawn = fake.sample(_ROWS, rng=rng)
        rows, n = (drawn.y, drawn.y_prob), cell["resamples"]
        test = consistency_test(BinnedError(), *rows, lens="confidence", n_resamples=n, rng=rng)
        curve = reliability_curve(
            *rows, lens="confidence", interval="consistency", n_resamples=n, rng=rng
        )
        assert curve.low is not None
        assert curve.high is not None
        full = curve.count >= _FULL_BIN
        outside = (curve.observed < curve.low) | (curve.observed > curve.high)
        found["rejected"].append(float(test.pvalue <= _LEVEL))
        found["bins"].append(float(full.sum()))
        found["outside"].append(float((outside & full).sum()))
    return found


_CLASSES, _ROWS, _POPULATION = 5, 1000, 10_000
_MAPS = {"temperature": maps.TemperatureCalibrator, "Dirichlet": maps.DirichletCalibrator}
_KEPT = ("double precision", "single precision", "half precision", "three decimals")


def show_rounding(lab: Laboratory, page: Page) -> None:
    """Fit the same map to logits, and to probabilities kept with fewer and fewer digits."""
    cells = [{"repetition": r} for r in range(5 if lab.quick else 30)]
    found = lab.map("rounding", _compare, cells)
    page.section("Logits or probabilities")
    page.text(
        f"""Fake classifiers with {_CLASSES} classes, accuracy 0.9 and the power 2; the logits are
        2 log p. Maps are fitted to {_ROWS:,} rows; {len(cells)} repetitions. The table shows
        expected log loss above that of the same map fitted to logits, whose logarithms of
        probabilities are exact."""
    )
    loss = {key: np.array([one[key] for one in found]) for key in found[0]}
    base = {name: loss[f"{name}, logits"] for name in _MAPS}
    page.table(
        {
            "probabilities kept in": list(_KEPT),
            **{
                name: [float((loss[f"{name}, {kept}"] - base[name]).mean()) for kept in _KEPT]
                for name in _MAPS
            },
        },
        digits=6,
    )
    same = float(np.abs(loss["Dirichlet, double precision"] - base["Dirichlet"]).max())
    apart = float(np.abs(loss["matrix, logits"] - base["Dirichlet"]).max())
    page.check(f"""Section 5.2, theory | matrix scaling of logits and Dirichlet calibration are
        theoretically equivalent | {apart} < 1e-6 | largest difference of expected log loss: a
        matrix sees the common offset of a row's logits, which softmax removes, unless its rows have
        one sum; fitted to normalised logits the difference is {same:.1g}, the floor under
        probabilities smaller than any seen""")
    worse = loss["Dirichlet, single precision"] - loss["matrix, logits"]
    page.check(f"""Section 5.2, practice | in practice matrix scaling performs slightly better,
        presumably due to rounding errors | {drawn(worse)} > 0 | expected log loss after Dirichlet
        calibration of probabilities in single precision less that after matrix scaling of
        logits""")


def _compare(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    alpha = fake_classifier_for(0.9, 0.0, n_classes=_CLASSES).alpha
    fake = DirichletFakeClassifier(alpha, map=PowerMap(2.0))
    log_truth = fake.draw_log_truth(_ROWS + _POPULATION, rng)
    logits, truth, report = 2 * log_truth, np.exp(log_truth), fake.map.from_log(log_truth)
    y = draw_labels(truth, rng)
    labels = list(range(_CLASSES))
    fits: list[tuple[str, maps.Calibrator, FloatArray]] = [
        ("matrix, logits", maps.MatrixCalibrator(input="logit", labels=labels), logits)
    ]
    for name, kind in _MAPS.items():
        fits.append((f"{name}, logits", kind(input="logit", labels=labels), logits))
        fits += [(f"{name}, {kept}", kind(labels=labels), _round(report, kept)) for kept in _KEPT]
    return {
        name: what_is_left(
            truth[_ROWS:], calibrator.fit(x[:_ROWS], y[:_ROWS]).predict_proba(x[_ROWS:])
        )["log loss"]
        for name, calibrator, x in fits
    }


def _round(p: FloatArray, kept: str) -> FloatArray:
    """Keep fewer digits, and let rows sum to one again."""
    match kept:
        case "single precision":
            p = p.astype(np.float32).astype(np.float64)
        case "half precision":
            p = p.astype(np.float16).astype(np.float64)
        case "three decimals":
            p = p.round(3)
    return p / p.sum(axis=1, keepdims=True)
