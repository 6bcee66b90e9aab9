"""Whether consistency resampling says what section 3.3 says it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical.curves import reliability_curve
from veridical.experiments._fake_distortions import distorted
from veridical.experiments._laboratory import Cell, Laboratory
from veridical.experiments._page import Page
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError

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
    slack = 3 * (_LEVEL * (1 - _LEVEL) / total) ** 0.5
    page.claim(
        "Section 3.3, consistency of the estimator",
        "allows to assess whether the observed value of the estimator is consistent with strong "
        "calibration",
        holds=abs(level - _LEVEL) <= slack and power > 0.8, value=level,
        reason=f"share of calibrated classifiers rejected at {_LEVEL}, within {slack:.3f} of it; "
        f"of over-confident ones {power:.2f}",
    )  # fmt: skip
    page.claim(
        "Section 3.3, intervals of bins",
        "allows to compute confidence intervals for the per-bin accuracies",
        # Counts are whole numbers, so limits hold more than they promise; never fewer.
        holds=outside <= _LEVEL + 3 * (_LEVEL * (1 - _LEVEL) / bins) ** 0.5, value=outside,
        reason=f"share of {bins:,} bins of {_FULL_BIN} rows or more outside their 95 % limits; "
        "they are limits of what a calibrated classifier would show, not of its accuracy",
    )  # fmt: skip


def _repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    fake = distorted(cell["kind"], _CLASSES)
    found: dict[str, list[float]] = {"rejected": [], "bins": [], "outside": []}
    for _ in range(_CELL):
        drawn = fake.sample(_ROWS, rng=rng)
        test = consistency_test(
            BinnedError(), drawn.y, drawn.y_prob, lens="confidence",
            n_resamples=cell["resamples"], rng=rng,
        )  # fmt: skip
        curve = reliability_curve(
            drawn.y, drawn.y_prob, lens="confidence", interval="consistency",
            n_resamples=cell["resamples"], rng=rng,
        )  # fmt: skip
        assert curve.low is not None
        assert curve.high is not None
        full = curve.count >= _FULL_BIN
        outside = (curve.observed < curve.low) | (curve.observed > curve.high)
        found["rejected"].append(float(test.pvalue <= _LEVEL))
        found["bins"].append(float(full.sum()))
        found["outside"].append(float((outside & full).sum()))
    return found
