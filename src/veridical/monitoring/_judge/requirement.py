"""Requirements that must hold at every look, from counts: the calibration error, and others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.evaluation.core import Rule, read_rule
from veridical.exceptions import invalid
from veridical.monitoring._judge.estimates import BETS, radius
from veridical.monitoring._judge.promise import Look, risk_within, windows_of
from veridical.monitoring._store.counts import centres
from veridical.results import PromiseStatus

N_BINS = 15  # as `evaluate` counts the calibration error
FIGURES = ("ece", "deviation", "risk")
_COST = -np.log1p(-BETS) - BETS
_HALVINGS = 40


def read_requirement(text: str, *, caller: str) -> Rule:
    """A requirement of the gate's language that can be answered at every look.

    Examples
    --------
    >>> read_requirement("ece < 0.05", caller="watch").limit
    0.05
    """
    rule = read_rule(text, caller=caller)
    quantity = rule.quantity
    answered = (
        quantity.name in FIGURES
        and quantity.field in ("value", "high")
        and rule.wants_less
        and rule.minus is None
        and rule.scope != "groups"
        and rule.limit is not None
        and 0 < rule.limit < 1
    )
    if not answered:
        hint = "write 'ece < 0.05', 'deviation < 0.02' (its size) or 'risk(0.8).high < 0.05'."
        expected = "of a figure with limits that hold at every look, below a number in (0, 1)"
        raise invalid(caller, "require", expected, repr(text), hint=hint)
    return rule


def requirement_status(
    looks: Sequence[Look], text: str, settings: dict[str, Any], classes: tuple[Any, ...]
) -> PromiseStatus:
    """A figure since the start and in the rolling window, with limits that hold at every look.

    A requirement is about the true figure of the rows that came, so ``ece.high`` and ``ece`` ask
    for the same here: it is kept where the upper limit is below, broken where the lower one is not.
    """
    rule = read_requirement(text, caller="CalibrationMonitor")
    name, argument = rule.quantity.name, rule.quantity.argument

    def found(look: Look) -> tuple[float, float, float, float] | None:
        if name == "risk":
            at_most = min(max(rule.limit or 0.0, 0.0), 1.0)
            above = float(argument or 0.0)
            return risk_within(look, "error", above, at_most, several=len(classes) > 2)
        size, wide = abs(look.deviation), float(radius([look.squared], look.level)[0])
        if name == "ece":
            return (look.n_rows, *ece_limits(look.cells, look.squared, 2 * look.level))
        n = look.n_rows
        return n, size / n, max(size - wide, 0.0) / n, min((size + wide) / n, 1.0)

    return PromiseStatus(
        risk=name,
        at_most=float(rule.limit or 0.0),
        threshold=argument if isinstance(argument, float) else None,
        windows=windows_of(looks, found),
        confidence_level=settings["confidence_level"],
        requirement=text,
    )


def ece_limits(cells: FloatArray, squared: float, level: float) -> tuple[float, float, float]:
    r"""Observed calibration error and limits of the true one that hold at every look.

    Parameters
    ----------
    cells : array of shape (C, 3)
        Rows without and with the outcome and the sum of their predictions, by cell.
    squared : float
        :math:`V`, the sum of (y - p)^2.
    level : float
        Chance that the limits ever miss.

    Notes
    -----
    With :math:`M_b` the sum of y - r over the rows of bin b, r being the true conditional
    probability, :math:`\exp(\lambda \sum_b s_b M_b - \psi(\lambda) V)` is a supermartingale for
    every fixed choice of signs s, as the bin of a row is known before its outcome (see `radius`).
    The mean over all choices of signs and over fixed :math:`\lambda`,

    .. math:: E = \mathrm{mean}_\lambda \prod_b \cosh(\lambda M_b) e^{-\psi(\lambda) V},

    is one too, and stays below 1 / level (Ville). Of all :math:`M` within that bound the sum of
    :math:`|M_b|` is largest where all are equal, since log E is convex and symmetric in them; so
    the true error is at most the observed one plus that sum. What can be taken off the observed
    error is largest where all :math:`|M_b|` are equal or as large as the bin's own deviation.

    Bins are `N_BINS` of equal width, edges moved to those of the cells (1/32 in log odds), so that
    a row's bin depends on nothing but its prediction.

    Examples
    --------
    >>> cells = np.zeros((len(centres()), 3))
    >>> cells[100] = 500, 0, 500 * centres()[100]  # near 0, and never happened
    >>> value, low, high = ece_limits(cells, 0.0, 0.05)
    >>> bool(low == 0.0 and value < high < 0.05)
    True
    """
    place = np.minimum((centres() * N_BINS).astype(np.intp), N_BINS - 1)
    rows = np.bincount(place, cells[:, 0] + cells[:, 1], N_BINS)
    sums = np.abs(np.bincount(place, cells[:, 1] - cells[:, 2], N_BINS))[rows > 0]
    n, total = float(rows.sum()), float(sums.sum())

    def excess(each: FloatArray) -> float:
        """Log of the evidence against deviations of chance this large, minus what it may be."""
        logs = _log_cosh(np.multiply.outer(BETS, each)).sum(axis=1) - _COST * squared
        return float(np.logaddexp.reduce(logs)) - math.log(len(BETS)) + math.log(level)

    top = 1.0
    while excess(np.full(len(sums), top)) < 0:
        top *= 2
    equal = _root(lambda size: excess(np.full(len(sums), size)), top)
    capped = 0.0
    if excess(sums) >= 0:  # chance alone does not explain all of it
        most = _root(lambda size: excess(np.minimum(sums, size)), float(sums.max()))
        capped = total - float(np.minimum(sums, most).sum())
    return total / n, capped / n, min((total + len(sums) * equal) / n, 1.0)


def _log_cosh(x: FloatArray) -> FloatArray:
    return np.logaddexp(x, -x) - math.log(2)


def _root(function: Any, high: float) -> float:
    """Where an increasing function of numbers from 0 on meets 0, from above."""
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) >= 0 else (middle, high)
    return high
