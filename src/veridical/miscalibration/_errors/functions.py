"""One-line calibration errors."""

from __future__ import annotations

from typing import Any, Literal

from veridical._core.data.validation import check_option
from veridical._core.typing import ArrayLike, WeightType
from veridical.binning import Binning, QuantileBins, SweepBins, UniformBins, check_count
from veridical.lenses.reading import RawData
from veridical.miscalibration._errors.base import measure_data
from veridical.miscalibration._errors.binned import BinnedError

Strategy = Literal["uniform", "quantile", "sweep"]


def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: Any = 15,
    strategy: Strategy = "uniform",
    lens: Any = None,
    norm: float | Literal["max"] = 1,
    debias: bool = False,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> float:
    """Mean gap between observed frequency and mean prediction over bins (ECE; lower is better).

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.
    n_bins : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins.
    strategy : {"uniform", "quantile", "sweep"}
        Bins of equal width, of equal mass, or as many equal-mass bins as stay monotone.
    lens : lens, name or callable, optional
        Default the binary lens for two classes, confidence for more.
    norm : float >= 1 or "max"
        1 averages absolute gaps, 2 squared ones (and takes the root).
    debias : bool
        Subtract the bias of estimating with few rows a bin.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Returns
    -------
    float
        In [0, 1]; biased upwards unless debiased. For all variants see `BinnedError`.

    References
    ----------
    .. [1] Naeini, Cooper & Hauskrecht (2015); survey Definitions 1 and 6.

    Examples
    --------
    >>> expected_calibration_error([0, 1, 1, 1], [0.25, 0.25, 0.75, 1.0], n_bins=2)
    0.1875
    """
    caller = "expected_calibration_error"
    estimator = BinnedError(_bins(n_bins, strategy, caller), norm=norm, debias=debias)
    data = RawData(y_true, y_prob, labels=labels, pos_label=pos_label)
    return measure_data(estimator, data.weighted(sample_weight, weight_type), lens, caller=caller)


def maximum_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: Any = 15,
    strategy: Strategy = "uniform",
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> float:
    """Largest gap between observed frequency and mean prediction over bins (MCE).

    Parameters
    ----------
    y_true, y_prob, n_bins, strategy, lens, labels, pos_label, sample_weight, weight_type
        As in :func:`expected_calibration_error`.

    Returns
    -------
    float
        In [0, 1]; lower is better. Dominated by bins with few rows: a bin of one row has a gap of
        p or 1 - p whatever the model, and whole vectors (``lens="canonical"``) are always in such
        cells. Where fewer than ten rows decide the figure, a warning says so. With a classwise lens
        the largest gap of any class.

    References
    ----------
    .. [1] Survey Definitions 2 and 5.

    Examples
    --------
    >>> maximum_calibration_error([0, 1, 1, 1] * 5, [0.25, 0.25, 0.75, 1.0] * 5, n_bins=2)
    0.25
    """
    caller = "maximum_calibration_error"
    estimator = BinnedError(_bins(n_bins, strategy, caller), norm="max")
    data = RawData(y_true, y_prob, labels=labels, pos_label=pos_label)
    return measure_data(estimator, data.weighted(sample_weight, weight_type), lens, caller=caller)


def classwise_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: Any = 15,
    strategy: Strategy = "uniform",
    norm: float | Literal["max"] = 1,
    debias: bool = False,
    aggregate: Literal["norm", "mean", "max"] = "norm",
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> float:
    """Calibration error of every class against the rest, averaged over the classes.

    Parameters
    ----------
    y_true, y_prob, n_bins, strategy, labels, pos_label, sample_weight, weight_type
        As in :func:`expected_calibration_error`.
    norm : float >= 1 or "max"
        Within each class; "max" is the classwise MCE of survey Definition 5.
    debias : bool
        Subtract the bias of estimating with few rows a bin.
    aggregate : {"norm", "mean", "max"}
        Over classes: (mean_k e_k^p)^(1/p), the plain mean, or the worst class.

    Returns
    -------
    float
        In [0, 1]; lower is better. With many classes most bins hold near-zero predictions, so
        the figure is small by construction: compare it with its null level, not between tasks.

    References
    ----------
    .. [1] Kull et al. (2019), arXiv 1910.12656; survey Definitions 3-5.

    Examples
    --------
    >>> classwise_calibration_error([0, 1], [[0.75, 0.25], [0.25, 0.75]], n_bins=1)
    0.0
    """
    caller = "classwise_calibration_error"
    estimator = BinnedError(
        _bins(n_bins, strategy, caller), norm=norm, debias=debias, aggregate=aggregate
    )
    data = RawData(y_true, y_prob, labels=labels, pos_label=pos_label)
    data = data.weighted(sample_weight, weight_type)
    return measure_data(estimator, data, "classwise", caller=caller)


def _bins(n_bins: Any, strategy: str, caller: str) -> Binning:
    check_option(caller, "strategy", strategy, ("uniform", "quantile", "sweep"))
    if strategy == "sweep":
        return SweepBins()
    count = check_count(n_bins, caller=caller)
    return UniformBins(count) if strategy == "uniform" else QuantileBins(count)
