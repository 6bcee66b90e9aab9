"""The binned calibration error of relplot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recording.cases import Case
from recording.definitions import SCORE, binned, closed_for

if TYPE_CHECKING:
    from recording.inputs import Input

PACKAGE = "relplot"
NOTES = [
    "A score of exactly 1.0 goes to a bin of its own after the last; no input has one.",
    "Bins are the integer part of p / (1 / B), so rounding can put a value on an edge on the wrong "
    "side (0.3 / 0.1 = 2.9999999999999996); only edges that are multiples of 1/8 are recorded.",
]

FORMULA = (
    "sum over bins of |sum of (score - outcome)| / n, which is "
    "the sum of n_b / n |mean outcome - mean score|"
)
BINS = "bin = int(score / (1 / B)), closed on the left"


def record(inputs: dict[str, Input]) -> list[Case]:
    """Record binnedECE for the positive class and for the top label."""
    settings = [
        ("clear_binary", "binary", 10),
        ("clear_binary", "binary", 15),
        ("dyadic_binary", "binary", 8),
        ("clear_multiclass", "confidence", 10),
        ("clear_multiclass", "confidence", 15),
    ]
    return [_case(name, inputs[name], lens, n_bins) for name, lens, n_bins in settings]


def _case(name: str, sample: Input, lens: str, n_bins: int) -> Case:
    from relplot.metrics import binnedECE, multiclass_logits_to_confidences

    score, outcome, data = sample.y_prob, sample.y_true, "p, y"
    if lens == "confidence":
        score, outcome = multiclass_logits_to_confidences(score, outcome, probs=True)
        data = "*relplot.metrics.multiclass_logits_to_confidences(p, y, probs=True)"
    return Case(
        name=f"binnedECE {name} {lens} {n_bins}",
        input=name,
        quantity="binned_error",
        settings=binned(lens, n_bins, closed=closed_for(name, "left")),
        call=f"relplot.metrics.binnedECE({data}, nbins={n_bins})",
        definition=f"{FORMULA}; {SCORE[lens]}; {BINS}",
        output=float(binnedECE(score, outcome, nbins=n_bins)),
    )
