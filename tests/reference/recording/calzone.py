"""Calibration errors and Spiegelhalter's test of calzone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recording.cases import Case
from recording.definitions import FORMULA, SCORE, binned, closed_for

if TYPE_CHECKING:
    from recording.inputs import Input

PACKAGE = "calzone-tool"
NOTES = [
    "Bins are open on the left, the first one too: a score of exactly 0 is in no bin and is lost; "
    "no input has one.",
    "is_equal_freq=True takes the smallest score as first edge, so the smallest row is in no bin; "
    "it is not recorded.",
]

BINS = "edges linspace(0, 1, B + 1), bins closed on the right"
SPIEGELHALTER = "z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p)), two-sided normal p-value"


def record(inputs: dict[str, Input]) -> list[Case]:
    """Record ECE and MCE with uniform bins, and the test on the binary sample."""
    settings = [
        ("clear_binary", "binary", 10),
        ("clear_binary", "binary", 15),
        ("dyadic_binary", "binary", 8),
        ("clear_multiclass", "confidence", 10),
        ("clear_multiclass", "confidence", 15),
    ]
    cases = []
    for name, lens, n_bins in settings:
        cases += _errors(name, inputs[name], lens, n_bins)
    return [*cases, _spiegelhalter("clear_binary", inputs["clear_binary"])]


def _errors(name: str, sample: Input, lens: str, n_bins: int) -> list[Case]:
    from calzone.metrics import calculate_ece_mce
    from calzone.utils import reliability_diagram

    target = 1 if lens == "binary" else None
    observed, predicted, _, counts = reliability_diagram(
        sample.y_true, sample.matrix, num_bins=n_bins, class_to_plot=target
    )
    errors = calculate_ece_mce(observed, predicted, counts)
    columns = "np.column_stack([1 - p, p])" if lens == "binary" else "p"
    return [
        Case(
            name=f"{metric} {name} {lens} {n_bins}",
            input=name,
            quantity="binned_error",
            settings=binned(lens, n_bins, closed=closed_for(name, "right"), norm=norm),
            call=f"o, c, _, n = calzone.utils.reliability_diagram(y, {columns}, "
            f"num_bins={n_bins}, class_to_plot={target}); "
            f"calzone.metrics.calculate_ece_mce(o, c, n)[{index}]",
            definition=f"{FORMULA[norm]}; {SCORE[lens]}; {BINS}",
            output=float(errors[index]),
        )
        for index, (metric, norm) in enumerate([("ece", 1), ("mce", "max")])
    ]


def _spiegelhalter(name: str, sample: Input) -> Case:
    from calzone.metrics import spiegelhalter_z_test

    statistic, pvalue = spiegelhalter_z_test(sample.y_true, sample.matrix, class_to_calculate=1)
    return Case(
        name=f"spiegelhalter_z_test {name}",
        input=name,
        quantity="spiegelhalter_test",
        settings={"lens": "binary"},
        call="calzone.metrics.spiegelhalter_z_test(y, np.column_stack([1 - p, p]))",
        definition=SPIEGELHALTER,
        output={"statistic": float(statistic), "pvalue": float(pvalue)},
    )
