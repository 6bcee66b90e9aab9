"""Whether a promise about the rows answered is still kept, from counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.monitoring._judge.estimates import radius, window_levels
from veridical.monitoring._store.buckets import Buckets
from veridical.results import PromiseStatus, PromiseWindow, RiskThreshold


def promise_status(
    buckets: Buckets,
    promise: RiskThreshold,
    settings: dict[str, Any],
    classes: tuple[Any, ...],
    *,
    caller: str,
) -> PromiseStatus:
    """Risk since the start and in the rolling window, with limits that hold at every look.

    Which rows are answered is known before their outcomes, so that the limits of `radius` hold for
    the sum of their risks, with `at_most` as the guess that squares are taken from.
    """
    if not isinstance(promise, RiskThreshold) or not promise.found or promise.risk == "cost":
        hint = "pass what `risk_threshold` found for errors, false alarms or misses."
        got = (
            f"{type(promise).__name__}" if not isinstance(promise, RiskThreshold) else promise.risk
        )
        raise invalid(caller, "promise", "a promise that was found, of a share", got, hint=hint)
    several = len(classes) > 2
    own, theirs = ([str(label) for label in each] for each in (classes, promise.classes))
    if promise.risk == "error":  # whichever class is the most probable
        own, theirs = sorted(own), sorted(theirs)
    if theirs and own != theirs:
        hint = "make the promise with the labels and the `pos_label` of the store."
        got, expected = f"{theirs}", f"about the classes {own}, of two the positive one last"
        raise invalid(caller, "promise", expected, got, hint=hint)
    wanted = ("error",) if several else ("error", "fdr", "fnr")
    if promise.risk not in wanted:
        hint = "of several classes the store counts the most probable one."
        raise invalid(caller, "promise", 'of risk "error"', repr(promise.risk), hint=hint)
    history = buckets.history(1)
    window = settings["window"]
    remaining = np.cumsum(history.n_rows[::-1])[::-1]
    first = max(0, int(np.flatnonzero(remaining >= min(window, remaining[0]))[-1]))
    levels = window_levels(history.ordinal[-1] + 1, (1 - settings["confidence_level"]) / 2)
    found = []
    for start, text, cells in (
        (0, "since the start", buckets.cells()),
        (first, f"last {remaining[first]:,.0f} rows", buckets.cells(last_rows=window)),
    ):
        n, lost = _counted(cells, promise, several=several)
        if n > 0:
            squared = lost * (1 - promise.at_most) ** 2 + (n - lost) * promise.at_most**2
            wide = float(radius([squared], levels[history.ordinal[start]])[0]) / n
            low, high = max(lost / n - wide, 0.0), min(lost / n + wide, 1.0)
            found.append(PromiseWindow(window=text, n_rows=n, risk=lost / n, low=low, high=high))
    return PromiseStatus(
        risk=promise.risk,
        at_most=promise.at_most,
        threshold=promise.threshold,
        windows=tuple(found),
        confidence_level=settings["confidence_level"],
    )


def _counted(cells: FloatArray, promise: RiskThreshold, *, several: bool) -> tuple[float, float]:
    """Rows that a promise counts, and losses among them; a cell is where its mean is."""
    negative, positive, total = cells.T
    rows = negative + positive
    held = rows > 0
    negative, positive = negative[held], positive[held]
    score = total[held] / rows[held]
    above = score >= promise.threshold
    if promise.risk == "fnr":
        return float(positive.sum()), float(positive[~above].sum())
    n, lost = float((negative + positive)[above].sum()), float(negative[above].sum())
    if promise.risk == "error" and not several:  # the other class may be sure, too
        below = 1 - score >= promise.threshold
        n += float((negative + positive)[below & ~above].sum())
        lost += float(positive[below & ~above].sum())
    return n, lost
