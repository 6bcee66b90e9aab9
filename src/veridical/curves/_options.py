"""Which options of a curve go together."""

from __future__ import annotations

from typing import Any

from veridical._core.sample import BinarySample
from veridical._core.validation import check_option
from veridical.exceptions import invalid

_BINOMIAL = ("binomial", "wilson", "clopper-pearson")
_INTERVALS = ("auto", *_BINOMIAL, "bootstrap", "consistency", "simultaneous", "pointwise")
_USERS = {"binning": ("bins",), "bandwidth": ("density", "smooth"), "kernel": ("density",)}


def check_interval(caller: str, method: str, interval: Any) -> str | None:
    """Return the interval a method gets, None for none; raise if it makes no sense for it."""
    if interval is None:
        return None
    check_option(caller, "interval", interval, _INTERVALS)
    if interval == "auto":
        return "wilson" if method == "bins" else None
    got = f"{interval!r} with method={method!r}"
    if interval in _BINOMIAL and method != "bins":
        hint = "these points are not frequencies of fixed sets of rows; use the bootstrap."
        expected = '"bootstrap", "consistency" or None for this method'
        if method == "isotonic":
            hint = 'use interval="pointwise", which holds for every n.'
            expected = '"pointwise", "simultaneous", "bootstrap", "consistency" or None here'
        raise invalid(caller, "interval", expected, got, hint=hint)
    if interval in ("simultaneous", "pointwise") and method != "isotonic":
        hint = 'the band is of a non-decreasing curve: method="isotonic".'
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
