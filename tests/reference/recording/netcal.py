"""Calibration errors of netcal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recording.cases import Case
from recording.definitions import FORMULA, SCORE, binned, closed_for

if TYPE_CHECKING:
    from recording.inputs import Input

PACKAGE = "netcal"
NOTES = [
    "Whether a problem is binary is decided by the number of distinct labels in the sample, not by "
    "the number of columns: a sample of K > 2 classes that shows only two of them raises.",
    "Scores are clipped to [eps, 1 - eps], so 0 and 1 are in the first and last bin.",
    "Its 'ACE' is the unweighted mean gap over non-empty bins; it is not recorded.",
]

METRICS = {"ECE": 1, "MCE": "max"}
BINS = "edges linspace(0, 1, B + 1), bins closed on the left, the last one on both sides"


def record(inputs: dict[str, Input]) -> list[Case]:
    """Record ECE and MCE for the positive class and for the top label."""
    settings = [
        ("clear_binary", "binary", 10),
        ("clear_binary", "binary", 15),
        ("dyadic_binary", "binary", 8),
        ("clear_multiclass", "confidence", 10),
        ("clear_multiclass", "confidence", 15),
    ]
    return [
        _case(name, inputs[name], lens, n_bins, metric)
        for name, lens, n_bins in settings
        for metric in METRICS
    ]


def _case(name: str, sample: Input, lens: str, n_bins: int, metric: str) -> Case:
    import netcal.metrics

    order = METRICS[metric]
    return Case(
        name=f"{metric} {name} {lens} {n_bins}",
        input=name,
        quantity="binned_error",
        settings=binned(lens, n_bins, closed=closed_for(name, "left"), norm=order),
        call=f"netcal.metrics.{metric}(bins={n_bins}).measure(p, y)",
        definition=f"{FORMULA[order]}; {SCORE[lens]}; {BINS}",
        output=getattr(netcal.metrics, metric)(bins=n_bins).measure(sample.y_prob, sample.y_true),
    )
