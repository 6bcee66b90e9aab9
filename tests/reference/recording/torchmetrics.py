"""Calibration errors of torchmetrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recording.cases import DOUBLE, SINGLE, Case
from recording.definitions import FORMULA, SCORE, binned, closed_for

if TYPE_CHECKING:
    from recording.inputs import Input

PACKAGE = "torchmetrics"
NOTES = [
    "A score of exactly 1.0 goes to a bin of its own after the last; no input has one.",
    "The binary form computes in the dtype of the scores (float64 here) and takes the probability "
    "of class 1, not the confidence of the prediction. The multiclass form casts confidences to "
    "float32, hence the larger tolerance.",
    "The multiclass form also accumulates counts and sums in float32, which stop growing at 2^24: "
    "with 4e7 equal confidences of 0.75, half of them correct, it returns 0 and not 0.25.",
    "The norm called l2 takes the square root; debiasing exists in the code but cannot be reached.",
]

NORMS = {"l1": 1, "l2": 2, "max": "max"}
BINS = "edges torch.linspace(0, 1, B + 1), bins closed on the left"


def record(inputs: dict[str, Input]) -> list[Case]:
    """Record the three norms for the positive class and for the top label."""
    settings = [
        ("clear_binary", "binary", 10),
        ("clear_binary", "binary", 15),
        ("dyadic_binary", "binary", 8),
        ("clear_multiclass", "confidence", 10),
        ("clear_multiclass", "confidence", 15),
    ]
    return [
        _case(name, inputs[name], lens, n_bins, norm)
        for name, lens, n_bins in settings
        for norm in NORMS
    ]


def _case(name: str, sample: Input, lens: str, n_bins: int, norm: str) -> Case:
    import torch
    from torchmetrics.functional.classification import (
        binary_calibration_error,
        multiclass_calibration_error,
    )

    p, y = torch.from_numpy(sample.y_prob), torch.from_numpy(sample.y_true)
    if lens == "binary":
        function, classes = "binary_calibration_error", ""
        value = binary_calibration_error(p, y, n_bins=n_bins, norm=norm)
    else:
        function, classes = "multiclass_calibration_error", f"num_classes={p.shape[1]}, "
        value = multiclass_calibration_error(p, y, p.shape[1], n_bins=n_bins, norm=norm)
    order = NORMS[norm]
    return Case(
        name=f"calibration_error {name} {lens} {norm} {n_bins}",
        input=name,
        quantity="binned_error",
        settings=binned(lens, n_bins, closed=closed_for(name, "left"), norm=order),
        call=f"torchmetrics.functional.classification.{function}"
        f"(p, y, {classes}n_bins={n_bins}, norm={norm!r})",
        definition=f"{FORMULA[order]}; {SCORE[lens]}; {BINS}",
        output=float(value),
        tolerance=SINGLE if lens == "confidence" else DOUBLE,
    )
