"""From observed and expected counts to the outcome of a chi-square test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.validation import check_option
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.inference._draws.groups import chi_square, two_columns
from veridical.inference._draws.monte_carlo import Finding, monte_carlo_pvalue
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import Induced

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


def judge(
    cells: Cells,
    *,
    df: int,
    null: str,
    n_resamples: int,
    simulate: Callable[[], FloatArray] | None,
) -> Finding:
    """Compare the statistic with its null distribution.

    Parameters
    ----------
    cells : Cells
    df : int
        Degrees of freedom.
    null : {"auto", "asymptotic", "monte-carlo"}
    n_resamples : int
        How many statistics `simulate` returns.
    simulate : callable or None
        Draws null statistics; None where the null hypothesis is not simple.
    """
    observed = cells.statistic
    if observed == np.inf:
        note = "an outcome occurred that was given probability zero: calibration is impossible"
        return Finding(observed, 0.0, "exact", (note,))
    if df == 0:
        note = "every prediction is certain and came true: there is nothing to test"
        return Finding(observed, 1.0, "exact", (note,))
    enough = _FEW if df > 2 else _FEW_ALONE
    if simulate is not None and (
        null == "monte-carlo" or (null == "auto" and cells.smallest < enough)
    ):
        words = f"Monte Carlo, {n_resamples} draws"
        return Finding(observed, monte_carlo_pvalue(observed, simulate()), words, (), n_resamples)
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
