"""Reliability curves by bins."""

from __future__ import annotations

from typing import Any, Literal

from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, WeightType
from veridical._core.validation import check_level, check_option, check_sample
from veridical.binning import Binning, QuantileBins, UniformBins
from veridical.curves._summary import curve_from_summary
from veridical.exceptions import invalid
from veridical.lenses import resolve_lens
from veridical.results import ReliabilityCurve
from veridical.summaries import summarise

_INTERVALS = ("binomial", "wilson", "clopper-pearson")


def reliability_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    lens: Any = None,
    method: Literal["bins"] = "bins",
    n_bins: Any = 15,
    strategy: Literal["uniform", "quantile"] = "uniform",
    binning: Binning | None = None,
    interval: str | None = "binomial",
    confidence_level: float = 0.95,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> ReliabilityCurve:
    """Observed frequency against prediction, bin by bin.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.
    lens : lens, name or callable, optional
        Must induce one binary problem; default the binary lens for two classes, confidence for
        more. `Pooled()` gives the single averaged classwise diagram of the survey, section 2.3.
    method : {"bins"}
        How the curve is estimated.
    n_bins : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins.
    strategy : {"uniform", "quantile"}
        Bins of equal width or of equal mass.
    binning : Binning, optional
        Any other bins; overrides `n_bins` and `strategy`.
    interval : {"binomial", "wilson", "clopper-pearson"} or None
        Limits of the observed frequency, treating the predictions as fixed; "binomial" is
        Wilson's. For weighted data n is the effective size of the bin.
    confidence_level : float, default 0.95
        Nominal coverage, each bin by itself.
    weight_type : {"importance", "frequency"}
        What weights mean for the intervals.

    Returns
    -------
    ReliabilityCurve
        Only bins that hold rows.

    Examples
    --------
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2, interval=None)
    >>> curve.predicted.round(3).tolist(), curve.observed.tolist()
    ([0.3, 0.7], [0.5, 1.0])
    """
    caller = "reliability_curve"
    check_option(caller, "method", method, ("bins",))
    level = check_level(caller, confidence_level)
    if interval is not None:
        check_option(caller, "interval", interval, _INTERVALS)
    if binning is None:
        check_option(caller, "strategy", strategy, ("uniform", "quantile"))
        binning = UniformBins(n_bins) if strategy == "uniform" else QuantileBins(n_bins)
    sample = check_sample(
        y_true,
        y_prob,
        caller=caller,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
    chosen = resolve_lens(lens, sample, caller=caller)
    problem = chosen.induce(sample)
    if not isinstance(problem, BinarySample):
        hint = "use `ClassSpecific(label)` for one class, or `Pooled()` for all in one diagram."
        got = chosen.name
        raise invalid(caller, "lens", "one that induces a single binary problem", got, hint=hint)
    return curve_from_summary(
        summarise(problem, binning),
        lens=chosen.name,
        definition=binning.name,
        interval="wilson" if interval == "binomial" else interval,
        confidence_level=level,
    )
