"""Proper scores, ranking and binned curves of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recording.cases import Case

if TYPE_CHECKING:
    from recording.inputs import Input

PACKAGE = "scikit-learn"
NOTES = [
    "calibration_curve takes no weights and returns no counts.",
    "strategy='quantile' interpolates percentiles; with ties it can make empty bins, so only "
    "an untied sample whose size is a multiple of the bin count is recorded.",
]

BRIER = {
    False: "mean over rows of (p - y)^2, p the probability of class 1 (scale_by_half='auto')",
    True: "mean over rows of the sum over the K > 2 classes of (p_k - 1{y = k})^2, range 0..2 "
    "(scale_by_half='auto')",
}
LOG_LOSS = "mean over rows of -ln of the probability given to the true class; no value is clipped"
WEIGHTED = "; weighted mean, weights divided by their sum"
AUC = {
    False: "probability that a positive outranks a negative, ties count 1/2 (trapezoid)",
    True: "unweighted mean over classes of the one-vs-rest area (multi_class='ovr', macro)",
}
CURVE = {
    "uniform": "edges linspace(0, 1, B + 1); right-closed bins, the first closed on both sides; "
    "mean outcome and mean prediction of each non-empty bin",
    "quantile": "edges np.percentile (linear interpolation) at k / B; right-closed bins, so n / B "
    "consecutive sorted rows each; mean outcome and mean prediction of each bin",
}


def record(inputs: dict[str, Input]) -> list[Case]:
    """Record scores on every sample, curves on the binary ones."""
    cases = []
    for name in ("clear_binary", "clear_binary_weighted", "tied_binary"):
        cases += _scores(name, inputs[name])
    for name in ("clear_multiclass", "clear_multiclass_weighted"):
        cases += _scores(name, inputs[name])
    for name, n_bins, strategy in [
        ("clear_binary", 10, "uniform"),
        ("clear_binary", 15, "uniform"),
        ("dyadic_binary", 8, "uniform"),
        ("tied_binary", 10, "uniform"),
        ("clear_binary", 10, "quantile"),
        ("clear_binary", 20, "quantile"),
    ]:
        cases.append(_curve(name, inputs[name], n_bins, strategy))
    return cases


def _scores(name: str, sample: Input) -> list[Case]:
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

    y, p, w = sample.y_true, sample.y_prob, sample.sample_weight
    multiclass = p.ndim == 2
    weights = "" if w is None else ", sample_weight=w"
    suffix = "" if w is None else WEIGHTED
    settings: dict[str, Any] = {"weighted": w is not None}
    auc_options = {"multi_class": "ovr", "average": "macro"} if multiclass else {}
    auc_call = ", multi_class='ovr', average='macro'" if multiclass else ""
    return [
        Case(
            f"brier_score {name}",
            name,
            "brier_score",
            settings,
            f"sklearn.metrics.brier_score_loss(y, p{weights})",
            BRIER[multiclass] + suffix,
            float(brier_score_loss(y, p, sample_weight=w)),
        ),
        Case(
            f"log_loss {name}",
            name,
            "log_loss",
            settings,
            f"sklearn.metrics.log_loss(y, p{weights})",
            LOG_LOSS + suffix,
            float(log_loss(y, p, sample_weight=w)),
        ),
        Case(
            f"roc_auc {name}",
            name,
            "roc_auc",
            settings,
            f"sklearn.metrics.roc_auc_score(y, p{auc_call}{weights})",
            AUC[multiclass] + ("" if w is None else "; pairs weighted by the product of weights"),
            float(roc_auc_score(y, p, sample_weight=w, **auc_options)),
        ),
    ]


def _curve(name: str, sample: Input, n_bins: int, strategy: str) -> Case:
    from sklearn.calibration import calibration_curve

    observed, predicted = calibration_curve(
        sample.y_true, sample.y_prob, n_bins=n_bins, strategy=strategy
    )
    return Case(
        f"calibration_curve {name} {strategy} {n_bins}",
        name,
        "reliability_curve",
        {"lens": "binary", "binning": strategy, "n_bins": n_bins, "closed": "right"},
        f"sklearn.calibration.calibration_curve(y, p, n_bins={n_bins}, strategy={strategy!r})",
        CURVE[strategy],
        {"prob_true": observed.tolist(), "prob_pred": predicted.tolist()},
    )
