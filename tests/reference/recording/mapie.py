"""Calibration errors of MAPIE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recording.cases import Case
from recording.definitions import FORMULA, SCORE, binned, closed_for

if TYPE_CHECKING:
    from recording.inputs import Input

PACKAGE = "MAPIE"
NOTES = [
    "num_bins counts edges: num_bins = B + 1 gives B uniform bins, after a first bin that catches "
    "only scores of exactly 0; no input has one.",
    "The argument y_true of expected_calibration_error is whether the prediction is correct.",
    "split_strategy 'quantile' has the same shift and leaves the smallest score alone in a bin; "
    "'array split' depends on the order of the rows. Neither is recorded.",
    "top_label_ece is the unweighted mean over predicted classes; it is not recorded.",
]

BINS = "edges linspace(0, 1, B + 1), bins closed on the right"


def record(inputs: dict[str, Input]) -> list[Case]:
    """Record the uniform ECE of the positive class, the top label and all classes."""
    settings = [
        ("clear_binary", "binary", 10),
        ("clear_binary", "binary", 15),
        ("dyadic_binary", "binary", 8),
        ("clear_multiclass", "confidence", 10),
        ("clear_multiclass", "confidence", 15),
        ("clear_multiclass", "classwise", 10),
        ("clear_multiclass", "classwise", 15),
    ]
    return [_case(name, inputs[name], lens, n_bins) for name, lens, n_bins in settings]


def _case(name: str, sample: Input, lens: str, n_bins: int) -> Case:
    from mapie.metrics.calibration import expected_calibration_error

    outcome, data = sample.y_true, "y, p"
    options: dict[str, object] = {"num_bins": n_bins + 1, "split_strategy": "uniform"}
    shown = f"num_bins={n_bins + 1}, split_strategy='uniform'"
    if lens != "binary":
        outcome, data = sample.correct, "(p.argmax(axis=1) == y).astype(int), p"
    if lens == "classwise":
        options |= {"classwise": True, "class_labels": sample.y_true}
        shown += ", classwise=True, class_labels=y"
    over_classes = "; unweighted mean over classes" if lens == "classwise" else ""
    return Case(
        name=f"expected_calibration_error {name} {lens} {n_bins}",
        input=name,
        quantity="binned_error",
        settings=binned(lens, n_bins, closed=closed_for(name, "right")),
        call=f"mapie.metrics.calibration.expected_calibration_error({data}, {shown})",
        definition=f"{FORMULA[1]}{over_classes}; {SCORE[lens]}; {BINS}",
        output=float(expected_calibration_error(outcome, sample.y_prob, **options)),
    )
