"""Options of a curve: how it is estimated and which limits it gets, checked alone and together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.randomness import check_resamples, check_rng
from veridical._core.data.validation import check_level, check_option
from veridical._core.sample import BinarySample
from veridical.binning import Binning, QuantileBins, UniformBins
from veridical.curves._curve.smooth import check_bandwidth, check_kernel
from veridical.exceptions import invalid

BINOMIAL = ("binomial", "wilson", "clopper-pearson")
DRAWN = ("bootstrap", "consistency", "consistency-bootstrap", "percentile")
_INTERVALS = ("auto", *BINOMIAL, *DRAWN, "simultaneous", "pointwise")
SMOOTH = ("density", "smooth")
_USERS = {"binning": ("bins",), "bandwidth": SMOOTH, "kernel": ("density",)}


def check_interval(caller: str, method: str, interval: Any) -> str | None:
    """Return the interval a method gets, None for none; raise if it makes no sense for it."""
    if interval is None:
        return None
    check_option(caller, "interval", interval, _INTERVALS)
    if interval == "auto":
        return "wilson" if method == "bins" else None
    got = f"{interval!r} with method={method!r}"
    if interval in BINOMIAL and method != "bins":
        hint = 'use interval="pointwise": these points are not frequencies of fixed sets of rows.'
        expected = '"pointwise", "bootstrap", "consistency" or None for this method'
        if method == "isotonic":
            hint = 'use interval="pointwise", which holds for every n.'
            expected = '"pointwise", "simultaneous", "bootstrap", "consistency" or None here'
        raise invalid(caller, "interval", expected, got, hint=hint)
    held: dict[str, tuple[str, ...]] = {"simultaneous": ("isotonic",), "percentile": SMOOTH}
    held["pointwise"] = ("isotonic", *SMOOTH)
    if method not in held.get(interval, (method,)):
        hint = 'the band is of a non-decreasing curve: method="isotonic".'
        if interval == "percentile":
            hint = 'it is of smooth curves; use interval="bootstrap".'
        raise invalid(caller, "interval", "another one for this method", got, hint=hint)
    return "wilson" if interval == "binomial" else str(interval)


def check_unused(caller: str, method: str, **options: Any) -> None:
    """Raise if an option was given that the method would ignore."""
    for name, value in options.items():
        if value is not None and method not in _USERS[name]:
            hint = " or ".join(f'method="{user}"' for user in _USERS[name])
            got = f"{value!r} with method={method!r}"
            raise invalid(caller, name, "left out here", got, hint=f"it is for {hint}.")


def check_counts(caller: str, sample: BinarySample) -> None:
    """Raise unless rows can be counted, as bounds for every n need."""
    if sample.weight is not None and sample.weight_type == "importance":
        expected = (
            'left out, or counts with weight_type="frequency", for a band that holds for every n'
        )
        hint = 'use interval="bootstrap" with importance weights.'
        raise invalid(caller, "sample_weight", expected, "importance weights", hint=hint)


_METHODS = ("bins", "isotonic", "density", "smooth")


@dataclass(frozen=True)
class CurveOptions:
    """How a curve is estimated and what limits it gets, checked.

    Attributes
    ----------
    method : "bins", "isotonic", "density" or "smooth"
    binning : bins of "bins", else None
    bandwidth, kernel : of "density" and "smooth"
    interval, level : limits, None for none, and their confidence level
    n_resamples, rng : of limits that are drawn
    """

    method: str
    binning: Binning | None
    bandwidth: float | str
    kernel: str
    interval: str | None
    level: float
    n_resamples: int
    rng: np.random.Generator


def check_curve_options(
    caller: str,
    *,
    method: str,
    n_bins: Any = 15,
    strategy: str = "uniform",
    binning: Binning | None = None,
    bandwidth: float | str | None = None,
    kernel: str | None = None,
    interval: str | None = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
) -> CurveOptions:
    """Raise where options of a curve make no sense, alone or together."""
    check_option(caller, "method", method, _METHODS)
    level = check_level(caller, confidence_level)
    limits = check_interval(caller, method, interval)
    check_unused(caller, method, binning=binning, bandwidth=bandwidth, kernel=kernel)
    generator = check_rng(rng, caller=caller)
    draws = check_resamples(n_resamples, caller=caller)
    if binning is None and method == "bins":
        check_option(caller, "strategy", strategy, ("uniform", "quantile"))
        binning = UniformBins(n_bins) if strategy == "uniform" else QuantileBins(n_bins)
    width = check_bandwidth(caller, method, bandwidth)
    shape = check_kernel(caller, kernel)
    return CurveOptions(method, binning, width, shape, limits, level, draws, generator)
