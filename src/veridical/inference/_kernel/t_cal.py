"""The minimax test of calibration over bins of every width, whose sums are those of finer ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.options import check_flag
from veridical._core.data.randomness import Draws, check_draws
from veridical._core.data.validation import is_number
from veridical._core.resampling.redraw import most_draws
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, IntArray, WeightType
from veridical.exceptions import invalid
from veridical.inference._draws.monte_carlo import Finding, announced, monte_carlo_pvalue
from veridical.inference._kernel.nulls import ObservedTrials, doubts_of, observed_trials
from veridical.inference._kernel.t_cal_bins import bins_of
from veridical.inference._kernel.t_cal_rows import RowTree
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import Induced, RawData
from veridical.results import CalibrationTest
from veridical.results.library import answers_in_kind


class _Merge(NamedTuple):
    """What happens to cells from one scale to the next, a cell being named by its first entry.

    Attributes
    ----------
    before, mass_before : cells of several rows that are about to grow
    rounds : pairs (into, from) to merge; rounds one after the other, pairs of a round at once
    after, mass_after : cells that have grown
    """

    before: IntArray
    mass_before: FloatArray
    rounds: list[tuple[IntArray, IntArray]]
    after: IntArray
    mass_after: FloatArray


class CellTree:
    """Cells of equally wide bins (on every axis of vectors) at several scales.

    Every entry is merged away once at most, so all scales together cost a few passes.

    Parameters
    ----------
    trials : entries, each a cell to begin with
    scales : bins on an axis, the finest first; cells of one must be unions of those before it
    """

    def __init__(self, trials: ObservedTrials, scales: list[int]) -> None:
        self.scales = scales
        self._trials = trials
        self._several = np.flatnonzero(trials.count > 1)
        self._merges = list(_merges(trials, scales))

    def errors(self, charge: FloatArray, square: FloatArray) -> FloatArray:
        """T of every scale and resample, from sums of entries (n, k, R) and (n, R).

        1 / W sum over cells of (|sum of charges|^2 - sum of squares) / W_B.
        """
        return self._pairs(charge, square, power=1) / float(self._trials.expected_mass.sum())

    def variances(self) -> FloatArray:
        """Var T of every scale for a calibrated model with these predictions.

        2 / W^2 sum over cells of sum_{i != j} w_i^2 w_j^2 tr(C_i C_j) / W_B^2, with the covariance
        C of the outcome of a row.
        """
        trials = self._trials
        squared = trials.expected_square
        p, variances = trials.p, np.zeros(len(self.scales))
        for k in range(trials.width):  # one row of all covariances at a time
            if p.ndim == 1:
                row = (p * (1 - p))[:, None]
            else:
                row = -p[:, k, None] * p
                row[:, k] += p[:, k]
            each = trials.weight**2 if trials.redraw is None else squared
            square = squared * each * np.square(row).sum(axis=1)
            charge = (squared[:, None] * row)[:, :, None]
            variances += self._pairs(charge, square[:, None], power=2)[:, 0]
        return 2 * variances / float(trials.expected_mass.sum()) ** 2

    def _pairs(self, charge: FloatArray, square: FloatArray, *, power: int) -> FloatArray:
        """Sums over cells of sum_{i != j} <c_i, c_j> / mass^power, (scales, R)."""
        sums, (_, width, size) = charge.copy(), charge.shape
        pairs = np.zeros((len(sums), size))  # within each cell; none within a row
        several = self._several
        pairs[several] = np.square(sums[several]).sum(axis=1) - square[several]
        value = (1 / self._trials.expected_mass[several] ** power) @ pairs[several]
        values = np.empty((len(self.scales), size))
        for level, merge in enumerate(self._merges):
            value = value - (1 / merge.mass_before**power) @ pairs[merge.before]
            for into, other in merge.rounds:
                first, second = sums[into], sums[other]
                cross = first[:, 0] * second[:, 0]
                for k in range(1, width):
                    cross += first[:, k] * second[:, k]
                cross *= 2
                cross += pairs[other]
                pairs[into] += cross
                first += second
                sums[into] = first
            value = value + (1 / merge.mass_after**power) @ pairs[merge.after]
            values[level] = value
        return values


def _merges(trials: ObservedTrials, scales: list[int]) -> Iterator[_Merge]:
    """Which cells merge at each scale."""
    axes = trials.p[:, None] if trials.p.ndim == 1 else trials.p
    cells, mass, several = np.arange(len(axes)), trials.expected_mass.copy(), trials.count > 1
    for m in scales:
        bins = bins_of(axes[cells], m)
        order = np.lexsort(bins.T)
        cells, bins = cells[order], bins[order]
        new = np.concatenate([[True], (bins[1:] != bins[:-1]).any(axis=1)])
        group = np.cumsum(new) - 1
        grows = np.bincount(group)[group] > 1
        members, heads = cells[grows], cells[grows & new]
        before = members[several[members]]
        mass_before, rounds = mass[before], list(_rounds(members, group[grows]))
        if len(members):
            mass[heads] = np.add.reduceat(mass[members], np.flatnonzero(new[grows]))
        several[heads] = True
        yield _Merge(before, mass_before, rounds, heads, mass[heads])
        cells = np.sort(cells[new])


def _rounds(members: IntArray, group: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Merge neighbours within groups, then those that are left, until one of each is."""
    while True:
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        rank = np.arange(len(group)) - np.repeat(starts, np.diff(starts, append=len(group)))
        odd = rank % 2 == 1
        if not odd.any():
            return
        yield members[np.flatnonzero(odd) - 1], members[odd]
        members, group = members[~odd], group[~odd]


_CALLER = "t_cal_test"


@answers_in_kind
def t_cal_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    adaptive: bool = True,
    smoothness: float | None = None,
    lens: Any = None,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> CalibrationTest:
    r"""T-Cal: test calibration with the debiased squared error over bins of several widths.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    adaptive : bool, default True
        Whether to look at 2, 4, 8, ... bins (an axis) and take the strongest evidence.
    smoothness : float > 0, optional
        Hölder smoothness s of the calibration function, which decides the number of bins
        floor(n^{2 / (4 s + K - 1)}); needed if not `adaptive`, else it must be None.
    lens : lens, name or callable, optional
        Default the binary lens for two classes, confidence for more. "canonical" uses cells of
        the simplex; not "classwise".
    n_resamples : int, default 1000
        How many times outcomes are drawn.
    rng : int, Generator or None
        Seed; the same seed gives the same numbers.
    weight_type : {"importance", "frequency"}
        What weights mean; frequencies must be whole numbers.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

    Returns
    -------
    CalibrationTest
        `statistic` is the largest of the standardised errors (in standard deviations under the
        null); `definition` says at how many bins it was found.

    Notes
    -----
    With residuals e of the rows (scalars, or vectors of K classes), the error on m bins B an axis

    .. math:: T_m = \frac1n \sum_{B \ne \emptyset} \frac1{n_B} \sum_{i \ne j \in B}
        \langle e_i, e_j \rangle

    estimates the squared L2 calibration error, with mean zero for a calibrated model (the
    debiased plug-in estimator of [1]_, `plugin_ece` of its code). The adaptive test of [1]_ looks
    at :math:`m = 2^b, b = 1, ..., \lfloor \frac{2}{K - 1} \log_2(n / \sqrt{\log n}) \rfloor`.
    There each m has its own critical value at the level over the number of scales; here the
    largest :math:`T_m / \mathrm{sd}(T_m)`, with the exact standard deviation given the
    predictions, is compared with its own distribution under outcomes drawn from the predictions,
    which wastes no level. The p-value is exact given the predictions, up to the number of draws.

    Use it for gaps that change their sign along the prediction. Of 400 uniform predictions, true
    frequencies that swing by 0.2 about them four times (ten times) are found in 83 % (48 %) of
    samples at 5 %, by :func:`joint_test` in 52 % (14 %), by :func:`kernel_test` in 9 % and by
    :func:`cox_test` in 3 to 6 %. For what is wrong in level or spread it is not the test to take,
    since it looks for any shape: over-confidence by T = 1.5 is found in 61 %, by Cox and the joint
    test in 89 and 91 %; from 2,000 rows on the difference is gone.

    Optimal in rate against deviations that are smooth functions of the prediction; for those
    that no bins resolve (predictions that hardly repeat, with an erratic truth) no test has
    power. Bins are equally wide and right-closed; cells of the simplex are the cubes of
    `SimplexBins`, where [1]_ takes simplices of equal volume: the same rate, other constants.
    Cells multiply with every class, so for many classes a scale or two is all there is.

    Weights: pairs count w_i w_j, bins their weight; n is the effective size.

    Time O(n K R) however many scales there are (bins of one scale are unions of those of the
    next, so sums are added, never taken anew), and O(n K^2) once for each scale; memory O(n K).
    Beyond 4,096 rows of one probability each, drawn errors are known to about 1e-4 of their
    standard deviation (single precision; compiled loops are in double precision).

    References
    ----------
    .. [1] Lee, Huang, Hassani & Dobriban (2023), T-Cal: An optimal test for the calibration of
       predictive models, JMLR 24(335), arXiv 2203.01850; code at github.com/dh7401/T-Cal.

    Examples
    --------
    Four rows in one bin, residuals 1/2: T = (4^2 - 4) / 4 * (1/4) / 4 = 3/16 and, with variances
    1/4, sd^2 = 2 (4^2 - 4) / 4^2 * (1/16) / 4^2 = 3/512. Of 16 outcomes 2 are as extreme.

    >>> test = t_cal_test([1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5], rng=0)
    >>> round(test.statistic**2 * 3 / 512, 12) == (3 / 16) ** 2, 0.09 < test.pvalue < 0.16
    (True, True)
    """
    _check_smoothness(adaptive, smoothness)
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER)
    test = t_cal_core(induced, smoothness=smoothness, draws=draws)
    return announced(test, induced, caller=_CALLER)


def t_cal_core(
    induced: Induced, *, draws: Draws, smoothness: float | None = None
) -> CalibrationTest:
    """The test of checked data, over all scales unless a smoothness decides the one."""
    problem = induced.problem
    if isinstance(problem, ClasswiseProblem):
        hint = 'test the whole vector with "canonical", or each class with `ClassSpecific`.'
        raise invalid(_CALLER, "lens", "of one problem", "'classwise'", hint=hint)
    trials = observed_trials(problem, caller=_CALLER)
    if trials.redraw is not None:
        draws = most_draws(draws, trials.redraw.n)
    scales = _scales(problem, smoothness)
    rows = _many_rows(trials)
    deviation, observed, null = (
        _of_entries(trials, scales, draws) if rows is None else _of_rows(rows, scales, draws)
    )
    usable = np.isfinite(deviation)
    best = int(observed.argmax())
    notes = doubts_of(trials)
    if not usable.any():
        notes += ("no two rows with uncertain outcomes share a bin, so nothing can be tested",)
    at = f", found at {scales[best]} bins" if len(scales) > 1 else ""
    bins = f"{scales[0]} bins" if len(scales) == 1 else f"{scales[-1]} to {scales[0]} bins"
    axis = " an axis" if trials.width > 1 else ""
    statistic, words = (
        float(observed[best]),
        f"{draws.n_resamples} {trials.said}",
    )
    # Of the size of standard deviations: rounding is far below.
    pvalue = monte_carlo_pvalue(statistic, null, tolerance=1e-9)
    definition = f"standardised debiased squared error, {bins}{axis}{at}"
    found = Finding(statistic, pvalue, words, notes, draws.n_resamples)
    return found.test(induced, "T-Cal", definition)


class _Null(NamedTuple):
    """Standard deviations of the errors by scale, standardised errors, and the largest drawn."""

    deviation: FloatArray
    observed: FloatArray
    null: FloatArray


def _of_entries(trials: ObservedTrials, scales: list[int], draws: Draws) -> _Null:
    tree = CellTree(trials, scales)
    deviation = _deviation(tree.variances())
    observed = tree.errors(*trials.observed())[:, 0] / deviation
    null = np.empty(draws.n_resamples)
    for which, charge, square in trials.drawn(draws, "T-Cal"):
        null[which] = (tree.errors(charge, square) / deviation[:, None]).max(axis=0)
    return _Null(deviation, observed, null)


def _of_rows(rows: tuple[FloatArray, FloatArray], scales: list[int], draws: Draws) -> _Null:
    p, y = rows
    tree = RowTree(p, scales)
    deviation = _deviation(tree.variances())
    null = np.empty(draws.n_resamples)
    for which, errors in tree.drawn(draws):
        null[which] = (errors / deviation[:, None]).max(axis=0)
    return _Null(deviation, tree.errors(y) / deviation, null)


def _deviation(variances: FloatArray) -> FloatArray:
    """Standard deviations, infinite where nothing can vary."""
    return np.where(variances > 0, np.sqrt(variances), math.inf)


def _many_rows(trials: ObservedTrials) -> tuple[FloatArray, FloatArray] | None:
    """Predictions and outcomes of more than 4,096 rows, sorted; None if rows are not all alike.

    Rows of one prediction with several outcomes may come in any order. Where few predictions
    repeat much, their numbers are drawn at once instead.
    """
    count, weight = trials.count, trials.weight
    n = float(count.sum())
    plain = trials.redraw is None and trials.width == 1 and bool((weight == weight[0]).all())
    if not plain or n <= MANY_ROWS or n > _MOST_COPIES * len(count):
        return None
    copies = count.astype(np.intp)
    first = np.repeat(np.cumsum(copies) - copies, copies)
    happened = np.arange(len(first)) - first < np.repeat(trials.counts, copies)
    return np.repeat(trials.p, copies), happened.astype(np.float64)


def _check_smoothness(adaptive: object, smoothness: Any) -> None:
    caller, hint = _CALLER, "pass `adaptive=False, smoothness=1.0`, or neither."
    check_flag(caller, "adaptive", adaptive, hint=hint)
    if adaptive:
        if smoothness is not None:
            raise invalid(caller, "smoothness", "None if adaptive", repr(smoothness), hint=hint)
    elif not (is_number(smoothness) and smoothness > 0):
        raise invalid(caller, "smoothness", "a number > 0", repr(smoothness), hint=hint)


def _scales(sample: Sample, smoothness: float | None) -> list[int]:
    """Numbers of bins on an axis, from the finest on."""
    n, axes = max(sample.size, 2.0), 1 if sample.p.ndim == 1 else sample.p.shape[1] - 1
    if smoothness is not None:
        return [max(1, math.floor(n ** (2 / (4 * smoothness + axes)) + 1e-9))]
    # The logarithm vanishes at n = 1; from n = 3 on it exceeds one.
    finest = math.floor(2 / axes * math.log2(n / math.sqrt(max(math.log(n), 1.0))))
    return [2**b for b in range(max(1, min(finest, _DEEPEST)), 0, -1)]


MANY_ROWS, _MOST_COPIES = 4096, 4
_DEEPEST = 50  # doublings that a double still tells apart
