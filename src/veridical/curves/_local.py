"""Local calibration errors."""

from __future__ import annotations

from typing import Any

from veridical._core.typing import ArrayLike, WeightType
from veridical.curves._reliability import reliability_curve
from veridical.results import ReliabilityCurve


def local_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    lens: Any = None,
    bandwidth: float | str | None = None,
    kernel: str | None = None,
    interval: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> ReliabilityCurve:
    r"""How far observed frequencies are from the prediction, prediction by prediction.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.
    lens, bandwidth, kernel, interval, confidence_level, n_resamples, rng, weight_type
        As in :func:`reliability_curve` with ``method="density"``.

    Returns
    -------
    ReliabilityCurve
        Its `gap` is the local calibration error :math:`P(Y = 1 \mid s) - s` at `predicted`; `at`
        reads the calibrated probability of single predictions.

    References
    ----------
    .. [1] Posocco & Bonnefoy (2021), arXiv 2109.03480, Definition 6 and section 4.4.

    Examples
    --------
    Nothing happens around 0.25, everything around 0.75.

    >>> curve = local_calibration_error([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75], bandwidth=0.02)
    >>> curve.at([0.25, 0.75]).observed.round(6).tolist()
    [0.0, 1.0]
    """
    return reliability_curve(
        y_true,
        y_prob,
        lens=lens,
        method="density",
        bandwidth=bandwidth,
        kernel=kernel,
        interval=interval,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
