"""Words shared by the packages that bin: the norms, the scores, the settings of a case."""

from __future__ import annotations

from typing import Any

FORMULA: dict[Any, str] = {
    1: "sum over bins of n_b / n |mean outcome - mean score|",
    2: "square root of the sum over bins of n_b / n (mean outcome - mean score)^2",
    "max": "largest |mean outcome - mean score| over non-empty bins",
}
SCORE = {
    "binary": "score = probability of class 1, outcome = y",
    "confidence": "score = largest probability, outcome = 1 if its class is the true one",
    "classwise": "for each class k, score = p_k, outcome = 1{y = k}",
}


def closed_for(name: str, side: str) -> str:
    """Side on which bins are closed, or "either" where no value of the input is on an edge."""
    return "either" if name.startswith("clear") else side


def binned(
    lens: str,
    n_bins: int,
    *,
    closed: str,
    binning: str = "uniform",
    norm: Any = 1,
    debias: bool = False,
) -> dict[str, Any]:
    """Settings of a binned error; the error is the p-th root for p-norms, over classes too."""
    return {
        "lens": lens,
        "binning": binning,
        "n_bins": n_bins,
        "closed": closed,
        "norm": norm,
        "debias": debias,
    }
