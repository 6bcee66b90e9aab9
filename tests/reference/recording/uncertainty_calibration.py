"""Plug-in and debiased errors of uncertainty-calibration."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from recording.cases import Case
from recording.definitions import FORMULA, SCORE, binned
from recording.inputs import SEED, Input

PACKAGE = "uncertainty-calibration"
NOTES = [
    "A bin with a single row counts as 0 in the unbiased square error; every bin has two or more "
    "rows wherever a debiased value is recorded.",
    "mode='marginal' is (mean over classes of e_k^p)^(1/p), where a debiased e_k is cut at 0 "
    "before the mean.",
    "get_calibration_error_uncertainties passes a fraction where its bootstrap expects a "
    "percentage, so its intervals are wrong; they are not recorded.",
    "normal_debiased_ce draws from the global generator of NumPy: here a seeded Generator takes "
    "its place, and the value is a mean over calls with its standard error.",
]

MODES = {"binary": "top-label", "confidence": "top-label", "classwise": "marginal"}
UNIFORM = "edges k / B, bins closed on the right, the first one on both sides"
EQUAL_MASS = (
    "rows sorted by score and cut into B runs of n / B rows, edges half-way between runs, "
    "bins closed on the right"
)
FIXED_EDGES = [0.2, 0.4, 0.6, 0.8, 1.0]  # upper edges, as the package wants them
UNBIASED_SQUARE = (
    "sum over bins of n_b / n [(mean outcome - mean score)^2 - "
    "mean outcome (1 - mean outcome) / (n_b - 1)], no root, may be negative"
)
NORMAL_DEBIASED = (
    "2 e - mean of e*, where e is the plug-in error (p-th root of the sum over bins of n_b / n "
    "|mean outcome - mean score|^p) and e* the same with each bin's mean outcome drawn from a "
    "normal around it with variance mean outcome (1 - mean outcome) / n_b"
)
CALLS, RESAMPLES = 400, 1000


def record(inputs: dict[str, Input]) -> list[Case]:
    """Record uniform, equal-mass and fixed-edge errors."""
    cases = [
        _ece(name, inputs[name], lens, n_bins)
        for name, lens, n_bins in [
            ("clear_binary", "binary", 10),
            ("clear_binary", "binary", 15),
            ("dyadic_binary", "binary", 8),
            ("tied_binary", "binary", 10),
            ("clear_multiclass", "confidence", 10),
            ("clear_multiclass", "confidence", 15),
            ("clear_multiclass", "classwise", 10),
            ("clear_multiclass", "classwise", 15),
        ]
    ]
    for lens in ("confidence", "classwise"):
        sample = inputs["clear_multiclass"]
        cases.append(_equal_mass("clear_multiclass", sample, lens, norm=1, debias=False))
        cases.append(_equal_mass("clear_multiclass", sample, lens, norm=2, debias=False))
        cases.append(_equal_mass("clear_multiclass", sample, lens, norm=2, debias=True))
    for name in ("clear_binary", "tied_binary"):
        cases += _fixed_edges(name, inputs[name])
    return cases


def _ece(name: str, sample: Input, lens: str, n_bins: int) -> Case:
    from calibration.utils import get_ece

    mode = MODES[lens]
    over_classes = "; unweighted mean over classes" if lens == "classwise" else ""
    return Case(
        name=f"get_ece {name} {lens} {n_bins}",
        input=name,
        quantity="binned_error",
        settings=binned(lens, n_bins, closed="right"),
        call=f"calibration.utils.get_ece(p, y, num_bins={n_bins}, mode={mode!r})",
        definition=f"{FORMULA[1]}{over_classes}; {SCORE[lens]}; {UNIFORM}",
        output=float(get_ece(sample.y_prob, sample.y_true, num_bins=n_bins, mode=mode)),
    )


def _equal_mass(name: str, sample: Input, lens: str, *, norm: int, debias: bool) -> Case:
    from calibration.utils import get_calibration_error, get_ece_em

    p, y, mode = sample.y_prob, sample.y_true, MODES[lens]
    if norm == 1:
        call = f"calibration.utils.get_ece_em(p, y, mode={mode!r})"
        value = get_ece_em(p, y, mode=mode)
    else:
        call = f"calibration.utils.get_calibration_error(p, y, p=2, debias={debias}, mode={mode!r})"
        value = get_calibration_error(p, y, p=2, debias=debias, mode=mode)
    formula = f"square root of max(0, {UNBIASED_SQUARE})" if debias else FORMULA[norm]
    if lens == "classwise":
        formula = f"({formula}) for each class, then (mean over classes of e_k^p)^(1/p)"
    return Case(
        name=f"equal mass {name} {lens} norm {norm}{' debiased' if debias else ''}",
        input=name,
        quantity="binned_error",
        settings=binned(lens, 15, closed="right", binning="quantile", norm=norm, debias=debias),
        call=call + "  # 15 bins",
        definition=f"{formula}; {SCORE[lens]}; {EQUAL_MASS}",
        output=float(value),
    )


def _fixed_edges(name: str, sample: Input) -> list[Case]:
    from calibration import utils

    table = utils.bin(list(zip(sample.y_prob, sample.y_true, strict=True)), FIXED_EDGES)
    binning = f"calibration.utils.bin(list(zip(p, y)), {FIXED_EDGES})"

    def case(
        quantity: str,
        norm: int,
        debias: Any,
        call: str,
        definition: str,
        value: float,
        **more: Any,
    ) -> Case:
        return Case(
            name=f"{call.split('(')[0]} {name} norm {norm}",
            input=name,
            quantity=quantity,
            settings=binned("binary", 5, closed="right", norm=norm, debias=debias)
            | {"edges": [0.0, *FIXED_EDGES], "bin_counts": [len(rows) for rows in table]},
            call=f"calibration.utils.{call.replace('bins', binning, 1)}",
            definition=f"{definition}; {SCORE['binary']}; {UNIFORM}",
            output=value,
            **more,
        )

    cases = [
        case(
            "binned_error",
            norm,
            False,
            f"plugin_ce(bins, power={norm})",
            FORMULA[norm],
            float(utils.plugin_ce(table, power=norm)),
        )
        for norm in (1, 2)
    ]
    square = float(utils.unbiased_square_ce(table))
    cases.append(
        case("squared_error", 2, True, "unbiased_square_ce(bins)", UNBIASED_SQUARE, square)
    )
    root = float(utils.unbiased_l2_ce(table))
    definition = f"square root of max(0, {UNBIASED_SQUARE})"
    cases.append(case("binned_error", 2, True, "unbiased_l2_ce(bins)", definition, root))
    for norm in (1, 2):
        mean, error = _normal_debiased(table, norm)
        cases.append(
            case(
                "binned_error",
                norm,
                "normal",
                f"normal_debiased_ce(bins, power={norm}, resamples={RESAMPLES})",
                NORMAL_DEBIASED,
                mean,
                tolerance=5 * error,
                extra={"standard_error": error, "resamples": CALLS * RESAMPLES},
            )
        )
    return cases


def _normal_debiased(table: list[np.ndarray], norm: int) -> tuple[float, float]:
    from calibration.utils import normal_debiased_ce

    rng = np.random.default_rng([SEED, norm])
    with patch.object(np.random, "normal", rng.normal):
        values = [normal_debiased_ce(table, power=norm, resamples=RESAMPLES) for _ in range(CALLS)]
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(CALLS))
