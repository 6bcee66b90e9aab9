"""Tests of calibration with kernels: by draws, bootstrap, blocks, bounds, or at chosen places."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from veridical._core.data.randomness import Draws, check_draws
from veridical._core.data.validation import check_option
from veridical._core.numeric import gram
from veridical._core.resampling.redraw import most_draws
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, IntArray, WeightType
from veridical.exceptions import InvalidInputError, invalid
from veridical.inference._draws.monte_carlo import Finding, announced, monte_carlo_pvalue
from veridical.inference._kernel.many_rows import EXACT_UP_TO, feature_null, in_cells, is_plain
from veridical.inference._kernel.nulls import (
    ObservedTrials,
    Similarity,
    bootstrap_null,
    consistency_null,
    doubts_of,
    observed_trials,
    similarity_of,
)
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import Induced, RawData
from veridical.miscalibration import KernelError, UCMEError
from veridical.results import CalibrationTest
from veridical.results.library import answers_in_kind

_BOUND = 2.0  # |h| <= 2: a kernel of at most 1 times the product of residuals of length sqrt(2)
_FEW_BLOCKS = 50


def block_test(sample: Sample, by: Similarity, block_size: int) -> Finding:
    """One-sided z-test of the mean of the estimates of the blocks."""
    from scipy.special import ndtr

    n_blocks = sample.n // block_size
    if n_blocks < 2:
        hint, got = "use smaller blocks.", f"{block_size} for {sample.n} rows"
        raise invalid(_CALLER, "block_size", "half the rows at most", got, hint=hint)
    sums, pairs = gram.block_sums(sample, block_size, by.kernel, by.bandwidth)
    mean = float(sums.sum() / pairs.sum())
    # A ratio of sums if blocks weigh differently; else the usual standard error.
    spread = float(np.square(sums - mean * pairs).sum()) * n_blocks / (n_blocks - 1)
    error = math.sqrt(spread) / float(pairs.sum())
    z = mean / error if error > 0 else math.copysign(math.inf, mean) if mean else 0.0
    notes: tuple[str, ...] = ()
    if n_blocks < _FEW_BLOCKS:
        notes = (f"{n_blocks} blocks: the normal approximation wants {_FEW_BLOCKS} or more",)
    return Finding(z, float(ndtr(-z)), "standard normal, one-sided", notes)


def distribution_free(sample: Sample, error: KernelError) -> Finding:
    """Upper bound of the p-value, at any sample size."""
    estimate, size = error.measure(sample), sample.size
    if error.estimator == "biased":
        excess = max(0.0, math.sqrt(size * estimate / _BOUND) - 1)
        exponent = excess**2 / 2
    else:
        # An average of estimates is bounded like one over disjoint pairs (Hoeffding 1963, 5.7).
        b = error.block_size
        pairs = sample.n // b * (b // 2) if error.estimator == "block" else int(size) // 2
        exponent = pairs * max(0.0, estimate) ** 2 / (2 * _BOUND**2)
    return Finding(estimate, math.exp(-exponent), f"bound free of the distribution, B = {_BOUND:g}")


_NEGLIGIBLE = 1e-8  # share of the largest variance below which a direction is rounding


def embedding_null(
    trials: ObservedTrials,
    places: FloatArray,
    classes: list[int],
    similarity: Similarity,
    draws: Draws,
) -> tuple[float, FloatArray]:
    """Quadratic form d' C^+ d of the outcomes, and of outcomes drawn from the predictions.

    d_j is the sum over rows of w k(p_i, t_j) (1[y_i = u_j] - p_{i u_j}), C its covariance given
    the predictions if these are calibrated. O(n m (R + m)), memory O(n m).
    """
    values = gram.kernel_values(trials.p, places, similarity.kernel, similarity.bandwidth)
    column = np.asarray(classes)

    variance, directions = np.linalg.eigh(_covariance(trials, values, column))
    kept = variance > max(float(variance[-1]), 0.0) * _NEGLIGIBLE
    whiten = directions[:, kept] / np.sqrt(variance[kept])

    def statistic(charge: FloatArray) -> FloatArray:
        sums = np.empty((len(places), charge.shape[2]))
        for k in np.unique(column):
            sums[column == k] = values[:, column == k].T @ charge[:, k]
        return np.square(whiten.T @ sums).sum(axis=0)

    null = np.empty(draws.n_resamples)
    for which, charge, _ in trials.drawn(draws, "kernel test"):
        null[which] = statistic(charge)
    return float(statistic(trials.observed()[0])[0]), null


def _covariance(trials: ObservedTrials, values: FloatArray, column: IntArray) -> FloatArray:
    """Sum over rows of w^2 k(p, t_j) k(p, t_l) (1[u_j = u_l] p_{u_j} - p_{u_j} p_{u_l})."""
    chance = trials.p.reshape(len(values), -1)[:, column]
    share = (trials.mass * trials.weight)[:, None]
    joint = (values * chance * share).T @ values
    joint[column[:, None] != column] = 0.0
    return joint - (values * chance * share).T @ (values * chance)


_CALLER = "kernel_test"
_FEW_TO_BOOTSTRAP = 2000
_METHODS = ("consistency", "bootstrap", "asymptotic-block", "distribution-free", "ucme")
_UNBIASED, _EMBEDDING = KernelError(), UCMEError()


@answers_in_kind
def kernel_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    method: Literal[
        "consistency", "bootstrap", "asymptotic-block", "distribution-free", "ucme"
    ] = "consistency",
    kernel: gram.Kernel = "laplacian",
    bandwidth: float | Literal["median"] = "median",
    estimator: Literal["unbiased", "biased", "block"] = "unbiased",
    block_size: int = 2,
    test_predictions: ArrayLike | None = None,
    test_targets: ArrayLike | None = None,
    lens: Any = None,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> CalibrationTest:
    r"""Test calibration with a kernel: do residuals of similar predictions agree?

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    method : {"consistency", "bootstrap", "asymptotic-block", "distribution-free", "ucme"}
        Where the null distribution comes from, see Notes. The default holds its level at any n.
    kernel, bandwidth
        As in :class:`KernelError`: the name of a kernel, or a function.
    estimator : {"unbiased", "biased", "block"}, default "unbiased"
        Estimate that "distribution-free" bounds; the other methods have their own.
    block_size : int >= 2, default 2
        Rows in a block, where there are blocks.
    test_predictions, test_targets : array-like, optional
        Where "ucme" looks, as in :class:`UCMEError`.
    lens : lens, name or callable, optional
        Default the binary lens for two classes and, unlike elsewhere, the whole vector
        ("canonical") for more: kernels test it without bins. Not "classwise".
    n_resamples : int, default 1000
        Draws of "consistency", "bootstrap" and "ucme".
    rng : int, Generator or None
        Seed; the same seed gives the same numbers.
    weight_type : {"importance", "frequency"}
        What weights mean; frequencies must be whole numbers where outcomes are drawn.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

    Returns
    -------
    CalibrationTest
        `statistic` is the unbiased SKCE (or the `estimator` asked for), the z-value of the
        blocks, or the quadratic form of "ucme". `pvalue` is small for large statistics.

    Notes
    -----
    The null hypothesis is that outcomes are independent draws from the predictions, which must
    not have been fitted to these outcomes. With :math:`h_{ij} = k(p_i, p_j) \langle e_i, e_j
    \rangle` of :class:`KernelError`:

    - "consistency": outcomes drawn from the predictions, the unbiased SKCE taken anew. Exact
      given the predictions, up to the number of draws, for at most 2,000 rows (or a kernel of
      your own, whatever the number: O(n^2 K R)). Of more rows, scalars are drawn in 2,000 narrow
      cells, and vectors are compared by 200 features of the kernel (Nyström), which is a kernel of
      its own with its own null distribution; of more than 8,000 rows the draws are of so many
      random ones. Compare both by `evidence/kernel_many_rows.py`. O(n) and a second or two
      for the draws. Any weights, though weights or groups that decide how
      outcomes are drawn cost O(n R).
    - "bootstrap": the unbiased SKCE against a bootstrap of the degenerate U-statistic with
      multinomial weights [3]_. Asymptotic: of calibrated samples of 100 predictions from
      Beta(0.5, 5) it rejects about 8 % at the level 5 %; below 2,000 rows there is a warning.
      O(n R) for scalars, O(n^2 (K + R)) for vectors. No importance weights.
    - "asymptotic-block": one-sided z-test of the mean of the block estimates [1]_. O(n K
      block_size) time, so for very many rows; less powerful, and it depends on the order of the
      rows. No frequencies.
    - "distribution-free": bounds that hold at any n [1]_ but are far from sharp. With t the
      estimate and B = 2, which bounds \|h\| for the kernels here: for "biased"
      :math:`\exp(-\max(0, \sqrt{n t / B} - 1)^2 / 2)` (theorem H.2); for "unbiased" and "block"
      :math:`\exp(-m \max(0, t)^2 / (2 B^2))` (H.3, H.4) with m = floor(n / 2) pairs, or
      floor(n / b) floor(b / 2) of blocks of b. The biased estimate is the one to use: its
      threshold shrinks as 1 / n, the others' as 1 / sqrt(n).
    - "ucme": :math:`d^\top C^{+} d` with d_j the sum of kernel-weighted residuals at place j of
      :class:`UCMEError` [2]_ and C its covariance under the null, which the predictions decide;
      null by draws, exact as above. (Hotelling's statistic has the sample covariance instead, as
      in CalibrationTests.jl, and rejects far too often, even against its F distribution: 56 %
      instead of 5 % of calibrated samples of 100 uniform predictions at ten places.)
      O(n m (R + m)) for m places.

    References
    ----------
    .. [1] Widmann, Lindsten & Zachariah (2019), Calibration tests in multi-class classification,
       arXiv 1910.11385.
    .. [2] Widmann, Lindsten & Zachariah (2021), Calibration tests beyond classification,
       arXiv 2210.13355.
    .. [3] Hušková & Janssen (1993), Annals of Statistics 21, 1811-1823,
       doi 10.1214/aos/1176349399.

    Examples
    --------
    Four successes where a half was predicted: all 12 pairs agree, h = 2 * 0.5 * 0.5. Of 16 ways
    for the outcomes to fall 2 are as extreme, so the p-value is near 1/8.

    >>> test = kernel_test([1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5], rng=0)
    >>> test.statistic, 0.09 < test.pvalue < 0.16
    (0.5, True)
    >>> kernel_test([1] * 100, [0.5] * 100, method="distribution-free").pvalue  # exp(-50 / 32)
    0.209611387151...
    """
    check_option(_CALLER, "method", method, _METHODS)
    check_option(_CALLER, "estimator", estimator, ("unbiased", "biased", "block"))
    if estimator != "unbiased" and method != "distribution-free":
        hint = 'other estimates are for `method="distribution-free"`.'
        expected = f"'unbiased' for {method!r}"
        raise invalid(_CALLER, "estimator", expected, repr(estimator), hint=hint)
    if method == "distribution-free" and callable(kernel):
        hint = 'use `method="consistency"`, which is exact for any kernel.'
        raise invalid(_CALLER, "kernel", "known, and thus bounded, here", "a function", hint=hint)
    blocks = method == "asymptotic-block"
    error = KernelError(kernel, bandwidth, "block" if blocks else estimator, block_size)
    embedding = UCMEError(test_predictions, test_targets, kernel, bandwidth)
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER, whole=True)
    test = kernel_core(induced, method=method, error=error, embedding=embedding, draws=draws)
    return announced(test, induced, caller=_CALLER)


def kernel_core(
    induced: Induced,
    *,
    draws: Draws,
    method: str = "consistency",
    error: KernelError = _UNBIASED,
    embedding: UCMEError = _EMBEDDING,
) -> CalibrationTest:
    """The test of checked data; `embedding` is the figure of "ucme", `error` that of the others."""
    problem = induced.problem
    if isinstance(problem, ClasswiseProblem):
        hint = 'test the whole vector with "canonical", or each class with `ClassSpecific`.'
        raise invalid(_CALLER, "lens", "of one problem", "'classwise'", hint=hint)
    _check_size(problem)
    _check_weights(problem, method, error.estimator)

    by = similarity_of(problem, error.kernel, error.bandwidth)
    if method == "asymptotic-block":
        found = block_test(problem, by, int(error.block_size))
    elif method == "distribution-free":
        found = distribution_free(problem, error)
    else:
        found = _resampled(problem, method, by, embedding, draws)
    figure = embedding if method == "ucme" else error
    definition = f"{figure.name}: {figure.definition}"
    return found.test(induced, "Kernel calibration test", definition)


def _resampled(
    sample: Sample, method: str, by: Similarity, embedding: UCMEError, draws: Draws
) -> Finding:
    """Observed statistic against those of resamples."""
    trials = observed_trials(sample, caller=_CALLER)
    if trials.redraw is not None:
        draws = most_draws(draws, trials.redraw.n)
    words = f"{draws.n_resamples} {trials.said}"
    if method == "ucme":
        places, classes = embedding.places(sample)
        observed, null = embedding_null(trials, places, classes, by, draws)
    elif method == "bootstrap":
        observed, null = bootstrap_null(sample, by, draws)
        words = f"bootstrap of the degenerate U-statistic, {draws.n_resamples} resamples"
    else:
        observed, null, of_what = _consistency(trials, by, draws)
        words += of_what
    # Equal up to rounding: sums cancel from the size of single terms.
    scale = float(np.abs(null).max()) + abs(observed)
    pvalue = monte_carlo_pvalue(observed, null, tolerance=1e-12 * scale)
    notes = doubts_of(trials)
    if method == "bootstrap" and sample.size < _FEW_TO_BOOTSTRAP:
        notes += (
            f"{sample.size:.4g} rows are few for the bootstrap, which then rejects too often for"
            ' rare outcomes: use method="consistency"',
        )
    return Finding(observed, pvalue, words, notes, draws.n_resamples)


def _consistency(
    trials: ObservedTrials, by: Similarity, draws: Draws
) -> tuple[float, FloatArray, str]:
    """Observed statistic and null sample, exact for few rows, and in words how it is not."""
    if len(trials.p) <= EXACT_UP_TO or not isinstance(by.kernel, str):
        return (*consistency_null(trials, by, draws), "")
    if trials.width > 1:
        observed, null, words = feature_null(trials, by, draws)
        return observed, null, f", {words}"
    if not is_plain(trials):
        return (*consistency_null(trials, by, draws), "")
    observed = consistency_null(trials, by, Draws(0, draws.rng))[0]
    return observed, consistency_null(in_cells(trials), by, draws)[1], ""


def _check_size(sample: Sample) -> None:
    rows = sample.size if sample.weight_type == "frequency" else sample.n
    if rows < 2:
        hint = "a pair of rows is the least to compare."
        raise invalid(_CALLER, "y_true", "two rows or more", "one", hint=hint)


def _check_weights(sample: Sample, method: str, estimator: str) -> None:
    """Raise where a method has no meaning for these weights, or for rows that belong together."""
    if sample.clusters is not None and method not in ("consistency", "ucme"):
        hint = 'use `method="consistency"`, which redraws outcomes by groups.'
        got = "rows that depend on each other"
        raise invalid(_CALLER, "groups", f"unset for {method!r}", got, hint=hint)
    if sample.weight is None:
        return
    if sample.weight_type == "frequency":
        if method == "asymptotic-block" or estimator == "block":
            hint = "repeat the rows and shuffle them, or use another method."
            raise _weights_error("without frequencies, since blocks depend on rows", hint)
    elif method == "bootstrap":
        hint = 'use `method="consistency"`.'
        raise _weights_error("frequencies or none for the bootstrap", hint)
    elif method == "distribution-free" and estimator != "biased":
        hint = 'use `estimator="biased"`, whose bound holds with the effective size.'
        raise _weights_error("frequencies or none for this bound", hint)


def _weights_error(expected: str, hint: str) -> InvalidInputError:
    return invalid(_CALLER, "sample_weight", expected, "weights", hint=hint)
