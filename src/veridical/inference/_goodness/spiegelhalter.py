"""Spiegelhalter's z test."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws, check_draws
from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical._core.resampling.hypothesis import checked_redraw
from veridical._core.resampling.redraw import most_draws
from veridical._core.resampling.rows import counts_rows
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, IntArray, WeightType
from veridical.inference._draws.groups import null_sums, pooled_trials, weight_notes
from veridical.inference._draws.monte_carlo import Finding, announced, monte_carlo_pvalue
from veridical.inference._goodness.chi_square import check_null, single_problem
from veridical.lenses.reading import Induced, RawData
from veridical.results import CalibrationTest
from veridical.results.library import answers_in_kind

_CALLER = "spiegelhalter_test"
# No outcome may move z by more than this for the normal distribution to be used by "auto". It
# bounds skewness by 0.1, excess kurtosis by 0.01 and the steps of a discrete null by 0.1, which
# keeps the error of the level at 1 % to about a seventh of it.
_LARGEST_STEP = 0.1
# Beyond this step (a few dozen to a few hundred rows) simulated levels are up to twice nominal.
_DOUBTFUL_STEP = 0.5
# Predictions that are 1/K in all digits have a variance of rounding errors.
_DUST = 1e-12


@answers_in_kind
def spiegelhalter_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    null: str = "auto",
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> CalibrationTest:
    """Spiegelhalter's test: is the Brier score what the predictions themselves lead to expect?

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Default the binary lens for two classes and, unlike elsewhere, the whole vector
        (``"canonical"``) for more.
    null : {"auto", "asymptotic", "monte-carlo"}
        The standard normal distribution, or outcomes drawn from the predictions. "auto" draws
        when a single outcome can move z by more than 0.1.
    n_resamples : int, default 1000
        Monte-Carlo draws, if any; more make small p-values finer.
    rng : int, Generator or None
        Seed of the draws; the same seed gives the same p-value.
    weight_type : {"importance", "frequency"}
        Frequencies are counts of rows. With importance weights w the variance is the sum of
        w^2 times that of a row, so that their scale does not matter.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

    Returns
    -------
    CalibrationTest
        `statistic` is z, above zero if the Brier score is worse than expected (over-confident
        predictions), below if better; the p-value is two-sided.

    Notes
    -----
    Spiegelhalter (1986), doi 10.1002/sim.4780050506: z is the sum of (y - p)(1 - 2p), the excess
    of the Brier score over its expectation, over its standard deviation if p is right, the root
    of the sum of (1 - 2p)^2 p (1 - p). For K classes the excess is 2 (s - p_y) with s the sum of
    squared probabilities, and its variance 4 (sum p_k^3 - s^2), exact for each row.

    Errors that leave the mean Brier score alone are not found: too high at some predictions and
    too low at others, or any at all at p = 1/2. Rows with p in {0, 1/2, 1} have no variance. If
    all rows are such, z is infinite and the p-value 0 when an outcome contradicts a certain
    prediction, else z is 0 and the p-value 1, with a warning. Cost: one pass, O(n K); for Monte
    Carlo the number of distinct predictions times K times `n_resamples`.

    Examples
    --------
    At p = 0.2 a success adds 0.8 * 0.6, a failure -0.2 * 0.6, with variance 0.36 * 0.16: z is
    (0.48 - 3 * 0.12) / sqrt(4 * 0.0576).

    >>> round(spiegelhalter_test([1, 0, 0, 0], [0.2] * 4, rng=0).statistic, 12)
    0.25
    """
    check_null(null, caller=_CALLER)
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER, whole=True)
    test = spiegelhalter_core(induced, null=null, draws=draws)
    return announced(test, induced, caller=_CALLER)


def spiegelhalter_core(induced: Induced, *, draws: Draws, null: str = "auto") -> CalibrationTest:
    """The test of checked data."""
    problem = single_problem(induced, caller=_CALLER)
    excess = _measure(problem)
    statistic, notes = _standardised(excess)
    redraw = checked_redraw(problem, null=null, simple=True, caller=_CALLER)
    drawn = None
    if notes:
        pvalue, words = (1.0 if statistic == 0 else 0.0), "exact"
    elif redraw is not None and null != "asymptotic":
        some, none = most_draws(draws, redraw.n), np.zeros(redraw.n, dtype=np.intp)
        values = redraw.weight * redraw.by_class(_class_values(redraw.p))
        sums = redraw.sums(values, none, 1, some, "null distribution")[:, 0]
        pvalue, drawn = monte_carlo_pvalue(abs(excess.total), np.abs(sums)), len(sums)
        words = f"Monte Carlo, {drawn} draws: {redraw.said}"
        notes = weight_notes(problem, drawn)
    elif null == "monte-carlo" or (null == "auto" and excess.step > _LARGEST_STEP):
        trials = pooled_trials(problem)
        sums = null_sums(trials, _class_values(trials.p), draws)
        pvalue = monte_carlo_pvalue(abs(excess.total), np.abs(sums))
        words, drawn = f"Monte Carlo, {draws.n_resamples} draws", draws.n_resamples
        notes = weight_notes(problem, draws.n_resamples)
    else:
        from scipy.special import ndtr

        pvalue, words = float(2 * ndtr(-abs(statistic))), "standard normal"
        if excess.step > _DOUBTFUL_STEP:
            notes = (
                f"one outcome can move z by {excess.step:.2g}: the normal distribution is a poor"
                " approximation",
            )
    found = Finding(statistic, pvalue, words, notes, drawn)
    return found.test(induced, "Spiegelhalter's test", "excess of the Brier score")


class _Excess(NamedTuple):
    """Sum over rows of s - p_y: the excess of the Brier score (half of it for K > 2)."""

    total: float
    variance: float  # if the predictions are right
    largest: float  # most that one outcome can change the total by
    mass: float  # sums of what multiplies rows in the total and in the variance
    mass_of_variance: float

    @property
    def step(self) -> float:
        """Most that one outcome can change z by."""
        return self.largest / math.sqrt(self.variance)


def _standardised(excess: _Excess) -> tuple[float, tuple[str, ...]]:
    """Z, and a note if it has no variance."""
    if excess.variance > excess.mass_of_variance * _DUST**2:
        return excess.total / math.sqrt(excess.variance), ()
    if excess.total > excess.mass * _DUST:
        note = "an outcome occurred that was given probability zero: calibration is impossible"
        return math.inf, (note,)
    note = (
        "no prediction lets the Brier score vary (all are certain, or even among the classes"
        " they allow): there is nothing to test"
    )
    return 0.0, (note,)


def _measure(sample: Sample) -> _Excess:
    """One pass over the rows, block by block."""
    sums, largest = np.zeros(4), 0.0
    n_columns = 1 if sample.p.ndim == 1 else sample.p.shape[1]
    per_row = _binary_rows if sample.p.ndim == 1 else _vector_rows
    whole = counts_rows(sample)
    for block in row_blocks(sample.n, max(256, ROWS // n_columns)):
        p = sample.p[block].astype(np.float64, copy=False)
        excess, variance, reach = per_row(p, sample.y[block])
        if sample.weight is None:
            sums += excess.sum(), variance.sum(), len(p), len(p)
        else:
            w = sample.weight[block]
            in_variance = w if sample.weight_type == "frequency" else w * w
            sums += excess @ w, variance @ in_variance, w.sum(), in_variance.sum()
            reach = reach if whole else reach * w
        largest = max(largest, float(reach.max()))
    total, spread, mass, mass_of_variance = sums.tolist()
    return _Excess(total, spread, largest, mass, mass_of_variance)


def _binary_rows(p: FloatArray, y: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Excess of each row, its variance, and the difference between its two possible values."""
    slope = 1 - 2 * p
    excess = y - p
    excess *= slope
    variance = p - p * p
    variance *= slope
    variance *= slope
    return excess, variance, np.abs(slope, out=slope)


def _vector_rows(p: FloatArray, y: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for probability vectors."""
    values = _class_values(p)
    variance = np.einsum("ij,ij->i", p, values * values) / np.einsum("ij->i", p)
    # Column by column: rows are too short for NumPy to reduce fast.
    reach = reduce(np.maximum, p.T) - reduce(np.minimum, p.T)
    return values[np.arange(len(p)), y], variance, reach


def _class_values(p: FloatArray) -> FloatArray:
    """S - p_k for each class k, with s the expectation of p_y (rows sum to one but for dust)."""
    s = np.einsum("ij,ij->i", p, p) / np.einsum("ij->i", p)
    return s[:, None] - p
