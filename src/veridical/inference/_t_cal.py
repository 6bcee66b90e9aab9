"""The minimax test of calibration over binnings of every scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veridical._core.randomness import check_resamples, check_rng
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike, WeightType
from veridical._core.validation import is_number
from veridical.exceptions import invalid
from veridical.inference._doubts import warn_of
from veridical.inference._kernel_draws import doubts_of, trials_of
from veridical.inference._monte_carlo import monte_carlo_pvalue
from veridical.inference._t_cal_cells import CellTree
from veridical.lenses import ClasswiseProblem, induce_problem
from veridical.results import CalibrationTest


def t_cal_test(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    adaptive: bool = True,
    smoothness: float | None = None,
    lens: Any = None,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> CalibrationTest:
    r"""T-Cal: test calibration with the debiased squared error over bins of several widths.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.
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

    Optimal in rate against deviations that are smooth functions of the prediction; for those
    that no bins resolve (predictions that hardly repeat, with an erratic truth) no test has
    power. Bins are equally wide and right-closed; cells of the simplex are the cubes of
    `SimplexBins`, where [1]_ takes simplices of equal volume: the same rate, other constants.
    Cells multiply with every class, so for many classes a scale or two is all there is.

    Weights: pairs count w_i w_j, bins their weight; n is the effective size.

    Time O(n K R) however many scales there are (bins of one scale are unions of those of the
    next, so sums are added, never taken anew), and O(n K^2) once for each scale; memory O(n K).

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
    caller = "t_cal_test"
    _check_smoothness(adaptive, smoothness)
    generator = check_rng(rng, caller=caller)
    count = check_resamples(n_resamples, caller=caller)
    induced = induce_problem(
        y_true,
        y_prob,
        caller=caller,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
    problem = induced.problem
    if isinstance(problem, ClasswiseProblem):
        hint = 'test the whole vector with "canonical", or each class with `ClassSpecific`.'
        raise invalid(caller, "lens", "of one problem", "'classwise'", hint=hint)
    trials = trials_of(problem, caller=caller)
    scales = _scales(problem, smoothness)
    tree = CellTree(trials, scales)
    deviation = np.sqrt(tree.variances())
    usable = deviation > 0
    deviation[~usable] = math.inf

    observed = tree.errors(*trials.observed())[:, 0] / deviation
    null = np.empty(count)
    for which, charge, square in trials.drawn(count, generator, "T-Cal"):
        null[which] = (tree.errors(charge, square) / deviation[:, None]).max(axis=0)
    best = int(observed.argmax())
    notes = doubts_of(trials)
    if not usable.any():
        notes += ("no two rows with uncertain outcomes share a bin, so nothing can be tested",)
    warn_of(notes, caller=caller)
    found = f", found at {tree.scales[best]} bins" if len(scales) > 1 else ""
    bins = f"{scales[0]} bins" if len(scales) == 1 else f"{scales[-1]} to {scales[0]} bins"
    axis = " an axis" if trials.width > 1 else ""
    return CalibrationTest(
        statistic=float(observed[best]),
        # Of the size of standard deviations: rounding is far below.
        pvalue=monte_carlo_pvalue(float(observed[best]), null, tolerance=1e-9),
        method="T-Cal",
        null=f"{count} draws of outcomes from the predictions",
        definition=f"standardised debiased squared error, {bins}{axis}{found}",
        lens=induced.lens.name,
        n_samples=induced.sample.n,
        n_resamples=count,
        notes=notes,
    )


def _check_smoothness(adaptive: object, smoothness: Any) -> None:
    caller, hint = "t_cal_test", "pass `adaptive=False, smoothness=1.0`, or neither."
    if not isinstance(adaptive, (bool, np.bool_)):
        raise invalid(caller, "adaptive", "True or False", repr(adaptive), hint=hint)
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


_DEEPEST = 50  # doublings that a double still tells apart
