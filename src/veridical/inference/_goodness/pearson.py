"""Pearson's chi-square test of calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.randomness import Draws, check_draws
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, WeightType
from veridical.inference._draws.groups import (
    group_predictions,
    null_chi_squares,
    null_sums,
    pooled_trials,
    weight_notes,
)
from veridical.inference._draws.monte_carlo import announced
from veridical.inference._draws.trials import Trials
from veridical.inference._goodness.chi_square import (
    Cells,
    check_null,
    count_cells,
    judge,
    single_problem,
)
from veridical.lenses.reading import Induced, RawData
from veridical.results import CalibrationTest

_CALLER = "pearson_test"
_SMALLEST = 1e-300  # never drawn, and its inverse would overflow


def pearson_test(
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
) -> CalibrationTest:
    """Pearson's chi-square test over groups of rows with equal predictions.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Default the binary lens for two classes and, unlike elsewhere, the whole vector
        (``"canonical"``) for more: groups then hold equal probability vectors.
    null : {"auto", "asymptotic", "monte-carlo"}
        The chi-square distribution, or outcomes drawn from the predictions. "auto" draws when
        an expected count is below 20 (200 with one or two degrees of freedom).
    n_resamples : int, default 1000
        Monte-Carlo draws, if any; more make small p-values finer.
    rng : int, Generator or None
        Seed of the draws; the same seed gives the same p-value.
    weight_type : {"importance", "frequency"}
        Frequencies are counts of rows; importance weights count by the effective size of each
        group, (sum w)^2 / sum w^2, so that their scale does not matter.

    Returns
    -------
    CalibrationTest
        `statistic` is the sum over groups and classes of (O - E)^2 / E. Infinite, with p-value
        0, if something occurred that was given probability zero.

    Notes
    -----
    000 section 6, with rows grouped by prediction instead of by features. The predictions are
    taken as given, not fitted on these rows, so the null hypothesis is simple and costs no
    degrees of freedom: each group has as many as classes of positive probability, less one
    (the number of groups times K - 1 where nothing is given probability zero).

    The chi-square distribution fails when groups are small, as they are whenever predictions
    hardly repeat; Monte-Carlo p-values are exact then (to 1 / (n_resamples + 1)), but with one
    row a group the test has little power: use :func:`hosmer_lemeshow_test`. Cost: a sort, and
    for Monte Carlo the number of distinct predictions times K times `n_resamples`.

    Examples
    --------
    Ten rows at 0.5, of which 8 happened: (8 - 5)^2 / 5 + (2 - 5)^2 / 5.

    >>> test = pearson_test([1] * 8 + [0] * 2, [0.5] * 10, n_resamples=9999, rng=0)
    >>> test.statistic, test.df
    (3.6, 1)
    >>> abs(test.pvalue - 112 / 1024) < 0.01  # two-sided binomial probability of 8 or more
    True
    """
    check_null(null, caller=_CALLER)
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    data = RawData(y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label)
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER, whole=True)
    test = pearson_core(induced, null=null, draws=draws)
    return announced(test, induced, caller=_CALLER)


def pearson_core(induced: Induced, *, draws: Draws, null: str = "auto") -> CalibrationTest:
    """The test of checked data."""
    problem = single_problem(induced, caller=_CALLER)
    groups = group_predictions(problem)
    cells, scale = count_cells(problem, groups.index, len(groups.starts))

    def simulate() -> FloatArray:
        return _null_statistics(pooled_trials(problem), scale, cells, *draws)

    found = judge(cells, df=cells.df, null=null, n_resamples=draws.count, simulate=simulate)
    found = found._replace(notes=found.notes + weight_notes(problem, found.n_resamples))
    definition = f"{len(groups.starts)} distinct predictions"
    return found.test(induced, "Pearson's chi-square test", definition, cells.df)


def _null_statistics(
    trials: Trials, scale: FloatArray, cells: Cells, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Draw statistics; groups are runs of equal predictions.

    The part of a group of one outcome k is 1 / p_k - 2 + sum of p: a value to be added up, much
    faster than counting.
    """
    new = (trials.p[1:] != trials.p[:-1]).any(axis=1)
    groups = np.concatenate([[0], np.cumsum(new)])
    alone = np.bincount(groups, weights=trials.count)[groups] == 1
    statistics = np.zeros(n_resamples)
    if alone.any():
        single = _likely_first(trials.take(alone))
        inverse = np.divide(1.0, single.p, out=np.zeros_like(single.p), where=single.p > _SMALLEST)
        value = (inverse - 2 + single.p.sum(axis=1, keepdims=True)) * scale[groups[alone], None]
        statistics += null_sums(single, value, n_resamples, rng)
    if not alone.all():
        held, index = np.unique(groups[~alone], return_inverse=True)
        statistics += null_chi_squares(
            trials.take(~alone), index, scale[held], cells.expected[held], n_resamples, rng
        )
    return statistics


def _likely_first(trials: Trials) -> Trials:
    """Classes of each row by falling probability: sums start small and lose no digits."""
    return replace(trials, p=-np.sort(-trials.p, axis=1))
