"""Whether a promise about the rows answered is still kept, from counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.monitoring._judge.estimates import radius, window_levels
from veridical.monitoring._store.buckets import Buckets
from veridical.results import PromiseStatus, PromiseWindow, RiskThreshold


def promise_status(
    looks: Sequence[Look],
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

    def found(look: Look) -> tuple[float, float, float, float] | None:
        return risk_within(look, promise.risk, promise.threshold, promise.at_most, several=several)

    return PromiseStatus(
        risk=promise.risk,
        at_most=promise.at_most,
        threshold=promise.threshold,
        windows=windows_of(looks, found),
        confidence_level=settings["confidence_level"],
    )


@dataclass(frozen=True, eq=False)
class Look:
    """Rows of a window, and the chance that limits made for them may ever miss on one side.

    Attributes
    ----------
    window : which rows, in words
    cells : rows without and with the outcome and sums of predictions, by cell
    n_rows, deviation, squared : sums of 1, y - p and (y - p)^2
    level : one-sided; those of all windows that ever begin sum to less than what is allowed
    """

    window: str
    cells: FloatArray
    n_rows: float
    deviation: float
    squared: float
    level: float


def looks_of(buckets: Buckets, settings: dict[str, Any]) -> tuple[Look, ...]:
    """All rows since the start, and the rolling window; none before the first row."""
    history = buckets.history(1)
    if not len(history.n_rows):
        return ()
    window = settings["window"]
    remaining = np.cumsum(history.n_rows[::-1])[::-1]
    first = max(0, int(np.flatnonzero(remaining >= min(window, remaining[0]))[-1]))
    levels = window_levels(history.ordinal[-1] + 1, (1 - settings["confidence_level"]) / 2)
    return tuple(
        Look(
            text,
            cells,
            float(remaining[start]),
            float(history.deviation[start:].sum()),
            float(history.squared[start:].sum()),
            float(levels[history.ordinal[start]]),
        )
        for start, text, cells in (
            (0, "since the start", buckets.cells()),
            (first, f"last {remaining[first]:,.0f} rows", buckets.cells(last_rows=window)),
        )
    )


def windows_of(
    looks: Sequence[Look], found: Callable[[Look], tuple[float, float, float, float] | None]
) -> tuple[PromiseWindow, ...]:
    """Windows with rows, value, lower and upper limit; without those that have no row for it."""
    values = [(look.window, found(look)) for look in looks]
    return tuple(
        PromiseWindow(window=text, n_rows=each[0], risk=each[1], low=each[2], high=each[3])
        for text, each in values
        if each is not None
    )


def risk_within(
    look: Look, risk: str, threshold: float, at_most: float, *, several: bool
) -> tuple[float, float, float, float] | None:
    """Rows that a risk counts, the risk, and its limits."""
    n, lost = _counted(look.cells, risk, threshold, several=several)
    if n == 0:
        return None
    squared = lost * (1 - at_most) ** 2 + (n - lost) * at_most**2
    wide = float(radius([squared], look.level)[0]) / n
    return n, lost / n, max(lost / n - wide, 0.0), min(lost / n + wide, 1.0)


def _counted(
    cells: FloatArray, risk: str, threshold: float, *, several: bool
) -> tuple[float, float]:
    """Rows that a promise counts, and losses among them; a cell is where its mean is."""
    negative, positive, total = cells.T
    rows = negative + positive
    held = rows > 0
    negative, positive = negative[held], positive[held]
    score = total[held] / rows[held]
    above = score >= threshold
    if risk == "fnr":
        return float(positive.sum()), float(positive[~above].sum())
    n, lost = float((negative + positive)[above].sum()), float(negative[above].sum())
    if risk == "error" and not several:  # the other class may be sure, too
        below = 1 - score >= threshold
        n += float((negative + positive)[below & ~above].sum())
        lost += float(positive[below & ~above].sum())
    return n, lost
