"""How much a figure differs from that of a baseline."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from veridical._core.sample import MulticlassSample, Sample
from veridical.binning import UniformBins
from veridical.evaluation._gate_figures import SCORES
from veridical.exceptions import InvalidInputError, invalid
from veridical.inference import difference_of
from veridical.lenses import Binary, Canonical, Confidence, Induced, Lens
from veridical.miscalibration import BinnedError
from veridical.results._gate import GateFigure

PAIRED = (*SCORES, "accuracy", "squared_rmsce")


class Change(NamedTuple):
    """A difference, new minus old."""

    value: float | None
    low: float | None
    high: float | None
    pvalue: float | None
    definition: str


def paired_change(
    name: str, pair: tuple[Sample, Sample], lens: Lens, n_bins: Any, level: float, *, caller: str
) -> Change:
    """Difference on the same rows, from the differences row by row."""
    if name not in PAIRED:
        hint = f"on the same rows there are differences of {', '.join(PAIRED)}."
        got = f"{name!r}"
        raise invalid(caller, "requirements", "of figures that can be paired", got, hint=hint)
    if name == "squared_rmsce":
        through: Lens = lens
        if isinstance(lens.induce(pair[0]), MulticlassSample):
            through = Confidence()
        estimator: Any = BinnedError(UniformBins("sqrt" if n_bins == "cv" else n_bins), norm=2)
    else:
        through = Binary() if len(pair[0].classes) == 2 else Canonical()
        estimator = SCORES["zero_one" if name == "accuracy" else name]
    first, second = (Induced(each, through, through.induce(each)) for each in pair)
    try:
        found = difference_of(
            estimator, (first, second), None, "analytic", level, 1, np.random.default_rng(0)
        )
    except InvalidInputError as error:  # an infinite score
        return Change(None, None, None, None, str(error).splitlines()[0])
    if name == "accuracy":
        found = found.reversed()
    what = {"accuracy": "accuracy", "squared_rmsce": f"{found.estimator}, {found.definition}"}
    definition = f"{what.get(name, found.definition)}, new minus old on the same rows"
    return Change(found.estimate, found.low, found.high, found.pvalue, definition)


def unpaired_change(new: GateFigure, old: GateFigure, *, caller: str) -> Change:
    """Difference of two figures of independent rows, from their own limits."""
    for figure, whose in ((new, "these rows"), (old, "the baseline")):
        if not figure.has_limits:
            hint = "write the baseline with --save-baseline; it keeps the limits of scores too."
            got = f"{figure.name!r} without limits in {whose}"
            raise invalid(caller, "requirements", "of figures with limits", got, hint=hint)
    value = None
    if new.value is not None and old.value is not None:
        value = new.value - old.value
    if value is None or not math.isfinite(value):
        return Change(None, None, None, None, f"{new.name}, new minus baseline")
    if new.unbiased and old.unbiased:
        low, high = _recovered(new, old, value)
        how = "limits for independent rows"
    else:
        low, high = _cautious(new, old)
        how = "cautious limits: those of the new one less the opposite ones of the baseline"
    return Change(value, low, high, None, f"{new.name}, new minus baseline; {how}")


def _recovered(new: GateFigure, old: GateFigure, value: float) -> tuple[float, float]:
    """Limits of a difference of independent estimates from the limits of each.

    Zou & Donner (2008), doi 10.1002/sim.3095 (MOVER); for symmetric limits it adds variances.
    """
    up = math.hypot(_gap(new.high, new.value), _gap(old.value, old.low))
    down = math.hypot(_gap(new.value, new.low), _gap(old.high, old.value))
    return value - down, value + up


def _cautious(new: GateFigure, old: GateFigure) -> tuple[float, float]:
    """Limits that hold whenever those of both figures do.

    A plug-in calibration error is biased upwards and may lie above its own limits, so variances
    cannot be recovered from them.
    """
    return _gap(new.low, old.high), _gap(new.high, old.low)


def _gap(a: float | None, b: float | None) -> float:
    assert a is not None
    assert b is not None
    return a - b
