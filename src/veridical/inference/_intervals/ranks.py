"""Several methods on several data sets: Friedman's test and Nemenyi's critical difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from veridical._core.data.validation import check_level, check_option, float_array
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid, warn_of
from veridical.results import RankComparison
from veridical.results.library import answers_in_kind

_CALLER = "mean_ranks"
_FEW = 10  # data sets below which the F distribution is a rough guide (Demsar 2006, 3.2.2)


@answers_in_kind
def mean_ranks(
    scores: Mapping[str, ArrayLike] | ArrayLike,
    *,
    methods: Sequence[str] | None = None,
    better: Literal["smaller", "larger"] = "smaller",
    confidence_level: float = 0.95,
) -> RankComparison:
    r"""Rank methods on every data set and ask which mean ranks differ.

    Parameters
    ----------
    scores : mapping of str to array-like, or array-like of shape (n_datasets, n_methods)
        One score per method and data set; a mapping holds the column of each method.
    methods : sequence of str, optional
        Names of the columns of an array.
    better : {"smaller", "larger"}
        Which scores get the first ranks; losses and calibration errors are better when smaller.
    confidence_level : float, default 0.95
        Of the critical difference, for all pairs at once.

    Returns
    -------
    RankComparison
        With `mean_rank`, the p-value of Friedman's test in the form of Iman and Davenport, the
        `critical_difference` of Nemenyi's test and `alike`, the groups it cannot tell apart.

    Notes
    -----
    With mean ranks :math:`R_j` of k methods on N data sets [1]_

    .. math:: \chi^2 = \frac{12 N}{k (k + 1)} \Big(\sum_j R_j^2 - \frac{k (k+1)^2}{4}\Big),\quad
        F = \frac{(N - 1) \chi^2}{N (k - 1) - \chi^2},\quad
        CD = q \sqrt{\frac{k (k + 1)}{6 N}}

    where F has k - 1 and (k - 1)(N - 1) degrees of freedom and q is the quantile of the
    studentised range divided by :math:`\sqrt 2`. Tied scores share their mean rank; chi-square
    and CD are not corrected for ties, so both are conservative with many. The p-value is never
    below :math:`(k!)^{1 - N}`, the chance that all data sets agree on one order.

    Data sets are the sample here: they must be independent, and what holds for them says nothing
    about one of them. Whether two methods are told apart depends on which others are ranked.
    Time O(N k log k).

    References
    ----------
    .. [1] Demsar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7,
       1-30, section 3.2. https://jmlr.org/papers/v7/demsar06a.html

    Examples
    --------
    Two methods, ten data sets, the first better on eight: mean ranks 1.2 and 1.8, and CD is the
    normal quantile 1.96 over the root of 10.

    >>> r = mean_ranks({"a": [1] * 8 + [3] * 2, "b": [2] * 10})
    >>> r.mean_rank, round(r.chi_square, 4), round(r.critical_difference, 4)
    ((1.2, 1.8), 3.6, 0.6198)
    """
    check_option(_CALLER, "better", better, ("smaller", "larger"))
    level = check_level(_CALLER, confidence_level)
    table, names = _check_table(scores, methods)
    n, k = table.shape

    from scipy.stats import f, rankdata, studentized_range

    mean = rankdata(table if better == "smaller" else -table, axis=1).mean(axis=0)
    # The sum of squares about the middle rank: the same as in the notes, without cancellation.
    chi_square = 12 * n / (k * (k + 1)) * float(((mean - (k + 1) / 2) ** 2).sum())
    left = n * (k - 1) - chi_square
    agree = left <= 1e-9 * n * (k - 1)  # every data set has the same order
    statistic = math.inf if agree else (n - 1) * chi_square / left
    tail = 0.0 if agree else float(f.sf(statistic, k - 1, (k - 1) * (n - 1)))
    q = float(studentized_range.ppf(level, k, np.inf)) / math.sqrt(2)
    notes: tuple[str, ...] = ()
    if n < _FEW:
        notes = (f"only {n} data sets: the p-value and the critical difference are approximate",)
    warn_of(notes, caller=_CALLER)
    return RankComparison(
        methods=names,
        mean_rank=tuple(mean.tolist()),
        statistic=statistic,
        chi_square=chi_square,
        pvalue=max(tail, math.exp((1 - n) * math.lgamma(k + 1))),
        critical_difference=q * math.sqrt(k * (k + 1) / (6 * n)),
        confidence_level=level,
        n_datasets=n,
        better=better,
        notes=notes,
    )


def _check_table(
    scores: Mapping[str, ArrayLike] | ArrayLike, methods: Sequence[str] | None
) -> tuple[FloatArray, tuple[str, ...]]:
    """Scores as (n_datasets, n_methods) and the names of the columns."""
    if isinstance(scores, Mapping):
        names = tuple(str(name) for name in scores)
        columns = [
            float_array(values, caller=_CALLER, param="scores") for values in scores.values()
        ]
        if len({column.shape for column in columns}) > 1 or any(c.ndim != 1 for c in columns):
            hint = "give every method one score per data set."
            got = ", ".join(str(column.shape) for column in columns)
            raise invalid(_CALLER, "scores", "columns of one length", f"shapes {got}", hint=hint)
        table = np.column_stack(columns) if columns else np.empty((0, 0))
    else:
        table = float_array(scores, caller=_CALLER, param="scores")
        wide = table.shape[1] if table.ndim == 2 else 0
        names = tuple(str(i) for i in range(wide)) if methods is None else tuple(map(str, methods))
    if table.ndim != 2 or min(table.shape) < 2:
        hint = "pass one row per data set and one column per method."
        got = f"shape {table.shape}"
        raise invalid(
            _CALLER, "scores", "two methods or more on two data sets or more", got, hint=hint
        )
    if len(names) != table.shape[1] or len(set(names)) < len(names):
        hint = "name every column once, or pass a mapping of name to scores."
        got = f"{len(names)} names for {table.shape[1]} columns"
        raise invalid(_CALLER, "methods", "a different name for each column", got, hint=hint)
    if np.isnan(table).any():
        row, column = np.argwhere(np.isnan(table))[0]
        hint = "leave out data sets on which a method has no score."
        got = f"NaN for {names[column]!r} on data set {row}"
        raise invalid(_CALLER, "scores", "without NaN", got, hint=hint)
    return table.astype(np.float64), names
