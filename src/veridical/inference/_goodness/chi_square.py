"""From observed and expected counts to a chi-square test: Pearson's, of distinct predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.randomness import Draws, check_draws
from veridical._core.data.validation import check_option
from veridical._core.resampling.hypothesis import checked_redraw
from veridical._core.resampling.redraw import Redraw
from veridical._core.resampling.rows import counts_rows
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import (
    ArrayLike,
    BoolArray,
    ColumnNames,
    FloatArray,
    IntArray,
    WeightType,
)
from veridical.exceptions import invalid
from veridical.inference._draws.groups import (
    chi_square,
    group_predictions,
    null_chi_squares,
    null_sums,
    pooled_trials,
    redrawn_chi_squares,
    two_columns,
    weight_notes,
)
from veridical.inference._draws.monte_carlo import Finding, announced, monte_carlo_pvalue
from veridical.inference._draws.trials import Trials
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import Induced, RawData
from veridical.results import CalibrationTest
from veridical.results.library import answers_in_kind

NULLS = ("auto", "asymptotic", "monte-carlo")

# Cochran's rule, below which the chi-square distribution is not to be trusted at all.
_TOO_FEW = 5.0
# With binomial groups of five expected successes the test rejects up to 1.6 times too often at
# the 1 % level, with twenty up to 1.15 times; one or two free counts are so coarse that even
# these can be 1.4 times off, and need more.
_FEW = 20.0
_FEW_ALONE = 200.0


def single_problem(induced: Induced, *, caller: str) -> Sample:
    """The single problem to be tested; importance weights that are all the same are dropped."""
    problem = induced.problem
    if isinstance(problem, ClasswiseProblem):
        hint = "test one class at a time with `lens=ClassSpecific(label)`, or lens='canonical'."
        expected, got = "one that induces a single problem", induced.lens.name
        raise invalid(caller, "lens", expected, got, hint=hint)
    w = problem.weight
    if w is not None and problem.weight_type == "importance" and (w == w[0]).all():
        problem = replace(problem, weight=None)
    return problem


@dataclass(frozen=True)
class Cells:
    """Observed and expected counts, (G, K), of groups of rows (by effective size if weighted)."""

    observed: FloatArray
    expected: FloatArray

    @property
    def statistic(self) -> float:
        """Pearson's chi-square; infinite if something happened that was given no chance."""
        return float(chi_square(self.observed, self.expected))

    @property
    def df(self) -> int:
        """Free counts when no parameter was fitted: in each group all possible classes but one."""
        possible = (self.expected > 0).sum(axis=1)
        return int(np.maximum(possible - 1, 0).sum())

    @property
    def smallest(self) -> float:
        """Smallest expected count of what can vary at all."""
        possible = self.expected > 0
        varying = possible & (possible.sum(axis=1, keepdims=True) > 1)
        return float(self.expected[varying].min()) if varying.any() else np.inf


def count_cells(
    sample: BinarySample | MulticlassSample, groups: IntArray, n_groups: int
) -> tuple[Cells, FloatArray]:
    """Counts by group and class, and the factor from sums of weights to effective sizes."""
    w = sample.weight
    n_classes = len(sample.classes)
    columns = two_columns(sample).T if isinstance(sample, BinarySample) else sample.p.T
    expected = np.empty((n_groups, n_classes))
    for k, column in enumerate(columns):
        weighted = column if w is None else column * w
        expected[:, k] = np.bincount(groups, weights=weighted, minlength=n_groups)
    key = groups * n_classes + sample.y
    observed = np.bincount(key, weights=w, minlength=n_groups * n_classes).astype(np.float64)
    scale = np.ones(n_groups)
    if w is not None and sample.weight_type == "importance":
        # Kish's size over the weight: (sum w)^2 / sum w^2 / sum w.
        scale = np.bincount(groups, weights=w) / np.bincount(groups, weights=w * w)
    observed = observed.reshape(n_groups, n_classes) * scale[:, None]
    return Cells(observed, expected * scale[:, None]), scale


def redrawn_cells(
    redraw: Redraw, sample: Sample, groups: IntArray, n_groups: int
) -> tuple[Cells, FloatArray]:
    """The same where labels weigh differently, or rows belong together.

    What is expected must not tell which outcomes were seen, by their weights: rows count with what
    they weigh on average, and residuals are those of the weights they have. `groups` of its rows.
    """
    n_classes = redraw.p.shape[1]
    mean, square = redraw.expected_weight, (redraw.chance * redraw.weight**2).sum(axis=1)
    rows = sample.take(redraw.rows)
    own = np.ones(redraw.n) if rows.weight is None or counts_rows(sample) else rows.weight
    total, squares = (np.bincount(groups, each, minlength=n_groups) for each in (mean, square))
    scale = total / squares
    expected, residual = np.empty((n_groups, n_classes)), np.empty((n_groups, n_classes))
    for k, column in enumerate(redraw.p.T):
        expected[:, k] = np.bincount(groups, mean * column, minlength=n_groups)
        residual[:, k] = np.bincount(groups, own * ((rows.y == k) - column), minlength=n_groups)
    observed = expected + np.where(expected > 0, residual, own.max() * (residual > 0))
    return Cells(observed * scale[:, None], expected * scale[:, None]), scale


def judge(
    cells: Cells,
    *,
    df: int,
    null: str,
    simulate: Callable[[], FloatArray] | None,
    redraw: Redraw | None = None,
) -> Finding:
    """Compare the statistic with its null distribution.

    Parameters
    ----------
    cells : Cells
    df : int
        Degrees of freedom.
    null : {"auto", "asymptotic", "monte-carlo"}
    simulate : callable or None
        Draws null statistics; None where the null hypothesis is not simple.
    redraw : Redraw or None
        How outcomes are drawn if not from the predictions, one by one: no chi-square then.
    """
    observed = cells.statistic
    if observed == np.inf:
        note = "an outcome occurred that was given probability zero: calibration is impossible"
        return Finding(observed, 0.0, "exact", (note,))
    if df == 0:
        note = "every prediction is certain and came true: there is nothing to test"
        return Finding(observed, 1.0, "exact", (note,))
    enough = _FEW if df > 2 else _FEW_ALONE
    few = cells.smallest < enough or redraw is not None
    if simulate is not None and (null == "monte-carlo" or (null == "auto" and few)):
        drawn = simulate()
        words = f"Monte Carlo, {len(drawn)} draws"
        if redraw is not None:
            words = f"{words}: {redraw.said}"
        return Finding(observed, monte_carlo_pvalue(observed, drawn), words, (), len(drawn))
    notes: tuple[str, ...] = ()
    if cells.smallest < _TOO_FEW:
        notes = (
            f"the smallest expected count is {cells.smallest:.2g}, below 5: the chi-square"
            " distribution is a poor approximation",
        )
    from scipy.special import chdtrc

    return Finding(observed, float(chdtrc(df, observed)), f"chi-square, df={df}", notes)


def check_null(null: Any, *, caller: str) -> None:
    """Raise unless `null` names a null distribution."""
    check_option(caller, "null", null, NULLS)


_CALLER = "pearson_test"
_SMALLEST = 1e-300  # never drawn, and its inverse would overflow


@answers_in_kind
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
    groups: Any = None,
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
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

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
    row a group the test has little power: use :func:`hosmer_lemeshow_test`. Cost: a sort, and for
    Monte Carlo the number of distinct predictions times K times `n_resamples`; of more than 8,192
    predictions that do not repeat, those whose part is small are drawn together as one normal
    number, which moves a p-value by less than 0.001.

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
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER, whole=True)
    test = pearson_core(induced, null=null, draws=draws)
    return announced(test, induced, caller=_CALLER)


def pearson_core(induced: Induced, *, draws: Draws, null: str = "auto") -> CalibrationTest:
    """The test of checked data."""
    problem = single_problem(induced, caller=_CALLER)
    groups = group_predictions(problem)
    redraw = checked_redraw(problem, null=null, simple=True, caller=_CALLER)
    if redraw is None:
        cells, scale = count_cells(problem, groups.index, len(groups.starts))
    else:
        index = groups.index[redraw.rows]
        cells, scale = redrawn_cells(redraw, problem, index, len(groups.starts))

    def simulate() -> FloatArray:
        if redraw is not None:
            held = groups.index[redraw.rows]
            return redrawn_chi_squares(redraw, held, scale, cells.expected, draws)
        return _null_statistics(pooled_trials(problem, groups), scale, cells, draws)

    found = judge(cells, df=cells.df, null=null, simulate=simulate, redraw=redraw)
    found = found._replace(notes=found.notes + weight_notes(problem, found.n_resamples))
    definition = f"{len(groups.starts)} distinct predictions"
    return found.test(induced, "Pearson's chi-square test", definition, cells.df)


def _null_statistics(trials: Trials, scale: FloatArray, cells: Cells, draws: Draws) -> FloatArray:
    """Draw statistics; groups are runs of equal predictions.

    The part of a group of one outcome k is 1 / p_k - 2 + sum of p: a value to be added up, much
    faster than counting.
    """
    new: BoolArray = np.zeros(len(trials.p) - 1, dtype=bool)
    for column in trials.p.T:
        new |= column[1:] != column[:-1]
    groups = np.concatenate([[0], np.cumsum(new)])
    alone = np.bincount(groups, weights=trials.count)[groups] == 1
    statistics = np.zeros(draws.n_resamples)
    if alone.any():
        single = _likely_first(trials.take(alone))
        inverse = np.divide(1.0, single.p, out=np.zeros_like(single.p), where=single.p > _SMALLEST)
        value = (inverse - 2 + single.p.sum(axis=1, keepdims=True)) * scale[groups[alone], None]
        statistics += null_sums(single, value, draws)
    if not alone.all():
        held, index = np.unique(groups[~alone], return_inverse=True)
        statistics += null_chi_squares(
            trials.take(~alone), index, scale[held], cells.expected[held], draws
        )
    return statistics


def _likely_first(trials: Trials) -> Trials:
    """Classes of each row by falling probability: sums start small and lose no digits."""
    if trials.p.shape[1] == 2:
        first, second = trials.p.T
        return replace(
            trials, p=np.column_stack([np.maximum(first, second), np.minimum(first, second)])
        )
    return replace(trials, p=-np.sort(-trials.p, axis=1))
