"""A test of calibration that may be looked at after every row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veridical._core.data.validation import check_level, check_option
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, ColumnNames
from veridical.exceptions import invalid
from veridical.inference._draws.monte_carlo import announced
from veridical.inference._sequential.process import ALTERNATIVES, Alternative, EProcess, check_lag
from veridical.lenses.reading import Induced, RawData
from veridical.results import SequentialTest
from veridical.results.library import answers_in_kind

_CALLER = "sequential_test"


@answers_in_kind
def sequential_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lag: int = 1,
    alternative: Alternative = "two-sided",
    level: float = 0.05,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> SequentialTest:
    r"""Test calibration in the order of the rows, with a level that holds at every look.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label
        As in :func:`evaluate`: arrays, or a frame or file with column names; rows in the order in
        which outcomes became known.
    lag : int, default 1
        The outcome of a row is known before the prediction of the row `lag` later is made: 1 for
        forecasts of the next event, h for forecasts h steps ahead.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater" tests that outcomes are never more frequent than predicted, "less" that they are
        never less frequent, "two-sided" that they are exactly as frequent.
    level : float, default 0.05
        Chance of a false alarm over all time: the alarm is where evidence reaches 1 / `level`.
    lens : lens, name or callable, optional
        One that induces a single binary problem of the same rows; default the binary lens for two
        classes, confidence for more.
    sample_weight : None
        Weights are refused: a row is one bet, and what a fraction of an outcome or a repeated
        outcome would pay has no fair price.

    Returns
    -------
    SequentialTest
        With `e_value`, `max_e_value`, `pvalue`, `path`, `alarm_at` and `direction`.

    Notes
    -----
    The hypothesis is :math:`E(Y_t \mid p_t, \text{all known when } p_t \text{ was made}) = p_t`.
    A gambler bets against it on a fixed family of recalibrations; the wealth, an e-process, has
    mean at most 1 under the hypothesis, and by Ville's inequality exceeds 20 ever with
    probability at most 0.05, in finite samples, however predictions are made and whatever decides
    when to stop [1]_. See `EProcess` for the bets, and for what holds with a lag above 1: `pvalue`,
    `path` and `alarm_at` hold at every look (they are guarded, as the correction of [1]_ asks
    [2]_), while `e_value` is an e-value if the number of rows was fixed, or the decision to stop
    was taken `lag` - 1 rows before the end.

    The price of looking at all times is power: a test with n fixed needs fewer rows. A large
    p-value is no evidence of calibration; see `equivalence_test`. A prediction of exactly 0 or 1
    that does not come true gives infinite evidence at once.

    Detection takes time: of 200 series of uniform predictions whose log odds were shifted by 0.5
    from row 2,000 on, half had an alarm within 480 rows of it and nine in ten within 770; for
    log odds too large by a factor of 1.5, within 540 and 910. With lag 5 it took about 2.4 times
    as long, since each stream learns alone. Time O(n), about 2.5 seconds for a million rows.

    References
    ----------
    .. [1] Henzi & Ziegel (2022), Valid sequential inference on probability forecast performance,
       Biometrika 109, 647-663, arXiv 2103.08402; Arnold, Henzi & Ziegel (2023), Sequentially
       valid tests for forecast calibration, arXiv 2109.11761.
    .. [2] Correction to [1], Biometrika 109, 1181-1182 (2022).

    Examples
    --------
    >>> print(sequential_test([0, 1, 0, 1], [0.0, 1.0, 0.0, 1.0]))  # nothing to bet on
    sequential test: no alarm, e = 1, largest 1, p = 1.0000 at any time (alarm from 20; binary,
    lag 1, n=4)
    """
    lag = check_lag(lag, caller=_CALLER)
    check_option(_CALLER, "alternative", alternative, ALTERNATIVES)
    level = check_level(_CALLER, level, "level")
    if sample_weight is not None:
        hint = (
            "a row is one bet and cannot count for less or more; repeat or drop rows yourself if"
            " that is what they mean."
        )
        raise invalid(_CALLER, "sample_weight", "left out", "weights", hint=hint)
    data = RawData(y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label)
    induced = data.through(lens, caller=_CALLER)
    test = sequential_core(induced, lag=lag, alternative=alternative, level=level)
    return announced(test, induced, caller=_CALLER)


def sequential_core(
    induced: Induced,
    *,
    lag: int = 1,
    alternative: Alternative = "two-sided",
    level: float = 0.05,
) -> SequentialTest:
    """The test of checked data."""
    problem = _check_problem(induced)
    process = EProcess(lag=lag, alternative=alternative)
    path = process.advance(problem.y, problem.p)
    reached = np.flatnonzero(path >= -math.log(level))
    alarm_at = int(reached[0]) if len(reached) else None
    notes = _doubts(problem)
    return SequentialTest(
        statistic=_exp(process.log_max),
        pvalue=math.exp(-process.log_max),
        method="sequential test",
        null="Ville's inequality, at every row",
        definition=f"e-process of bets on recalibrations, {alternative}, lag {lag}",
        lens=induced.lens.name,
        n_samples=problem.n,
        notes=notes,
        e_value=_exp(process.log_e),
        max_e_value=_exp(process.log_max),
        path=path,
        alarm_at=alarm_at,
        level=level,
        direction=None if alarm_at is None else process.direction,
        lag=lag,
        alternative=alternative,
    )


def _check_problem(induced: Induced) -> BinarySample:
    problem = induced.problem
    if not isinstance(problem, BinarySample):
        hint = "use the binary or confidence lens, or `ClassSpecific(label)`."
        expected = "one that induces a single binary problem"
        raise invalid(_CALLER, "lens", expected, induced.lens.name, hint=hint)
    if problem.n != induced.sample.n:
        hint = "several rows of one event are not bets one after another."
        got = f"{problem.n} rows from {induced.sample.n}"
        raise invalid(_CALLER, "lens", "one row for one row", got, hint=hint)
    return problem


def _doubts(problem: BinarySample) -> tuple[str, ...]:
    refuted = int(((problem.p == 0) & (problem.y == 1) | (problem.p == 1) & (problem.y == 0)).sum())
    if not refuted:
        return ()
    rows = "prediction" if refuted == 1 else "predictions"
    return (f"{refuted} {rows} of exactly 0 or 1 did not come true, which settles the test",)


def _exp(value: float) -> float:
    """Exponential, infinite where a float cannot hold it."""
    return math.exp(value) if value < 709 else math.inf
