"""Kernel calibration errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from veridical._core.data.labels import find_label
from veridical._core.data.validation import (
    check_option,
    check_probabilities,
    float_array,
    is_integer,
    is_number,
)
from veridical._core.numeric import gram
from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.miscalibration._errors.base import SampleEstimator

_ESTIMATORS = ("unbiased", "biased", "block", "mmce")
_LOCATIONS = 10  # of each class, unless the user gives others


class _KernelEstimator(SampleEstimator):
    """What kernel errors share: a kernel, its bandwidth, and the mean over classwise problems."""

    kernel: gram.Kernel
    bandwidth: float | Literal["median"]

    def _check_kernel(self) -> None:
        caller, width = type(self).__name__, cast("Any", self.bandwidth)
        if callable(self.kernel):
            if width != "median":
                hint = "a kernel of your own knows its bandwidth: leave it out."
                raise invalid(caller, "bandwidth", "unset with a function", repr(width), hint=hint)
            return
        check_option(caller, "kernel", self.kernel, gram.KERNELS)
        if width != "median" and not (is_number(width) and width >= 1e-9):
            hint = 'probabilities are at most 1 apart: "median", or a number such as 0.2.'
            raise invalid(caller, "bandwidth", '"median" or >= 1e-9', repr(width), hint=hint)

    @property
    def _kernel_words(self) -> str:
        if isinstance(self.kernel, str):
            return f"{self.kernel} kernel, bandwidth {self.bandwidth}"
        name = getattr(self.kernel, "__name__", type(self.kernel).__name__)
        return "given kernel" if name == "<lambda>" else f"given kernel {name}"

    def _bandwidth(self, points: FloatArray, mass: FloatArray) -> float:
        if not isinstance(self.kernel, str):
            return 1.0
        if self.bandwidth == "median":
            return gram.median_distance(points, mass, self.kernel)
        return float(self.bandwidth)


@dataclass(frozen=True)
class KernelError(_KernelEstimator):
    r"""Squared kernel calibration error (SKCE): do residuals of similar predictions agree?

    Parameters
    ----------
    kernel : {"laplacian", "gaussian", "total-variation"} or callable, default "laplacian"
        Similarity of two predictions at distance d: exp(-d / bandwidth) with Euclidean d,
        exp(-d^2 / (2 bandwidth^2)), or exp(-d / bandwidth) with the total variation distance,
        which the authors use in their experiments. A callable takes two arrays of predictions,
        (m,) and (n,) of a binary problem or (m, K) and (n, K), and returns the (m, n) matrix of a
        symmetric, positive definite kernel of its own bandwidth.
    bandwidth : "median" or float, default "median"
        "median" is the median distance between two predictions that differ (in the kernel's own
        distance, pairs weighted by w_i w_j); of more than 1000 distinct predictions those at 1000
        evenly spaced places, sorted by their largest probability, stand for all. If that is less
        than a twentieth of the mean distance, as where nearly all predictions are almost 0, pairs
        are also weighted by the variances of their outcomes, p (1 - p) or 1 - sum p_k^2.
    estimator : {"unbiased", "biased", "block", "mmce"}, default "unbiased"
        All pairs without i = j; all pairs with i = j; pairs within blocks of consecutive rows; or
        the maximum mean calibration error, see `KernelError.mmce`.
    block_size : int >= 2, default 2
        Rows in a block; an incomplete last block is left out.

    Notes
    -----
    With the residual :math:`e_i = (1[y_i = k] - p_{ik})_k` of row i,

    .. math:: h_{ij} = k(p_i, p_j)\, \langle e_i, e_j \rangle, \qquad
        \mathrm{SKCE} = E\, h_{ij} \ (i \ne j)

    (the matrix-valued kernel is k times the identity). Lower is better; zero exactly if the model
    is calibrated. There is no natural unit: compare with a null level, not between data sets.

    - "unbiased": mean of h over i < j. In [-2, 2], of mean zero for a calibrated model.
    - "biased": mean of h over all i, j. In [0, 2], too large by (E h_ii - SKCE) / n.
    - "block": mean of the unbiased estimates of the blocks, in linear time; unbiased, with a much
      larger variance. It depends on the order of the rows by construction (shuffle sorted data).

    For a binary problem the distance is :math:`|p - p'|` and h is :math:`2 (y - p)(y' - p')
    k(p, p')`, both as in CalibrationErrors.jl: h counts both classes, the distance is the total
    variation of the two vectors (their Euclidean distance is sqrt(2) times as large).

    Weights: pairs count w_i w_j. "unbiased" is

    .. math:: \frac{\sum_{ij} w_i w_j h_{ij} - \sum_i v_i h_{ii}}{W^2 - \sum_i v_i},
        \qquad W = \sum_i w_i

    with :math:`v_i = w_i^2` for importance weights (scale-free) and :math:`v_i = w_i` for
    frequencies (w copies of a row make w (w - 1) pairs: repetition exact). "biased" obeys both
    laws. "block" sums :math:`w_i w_j h_{ij}` and :math:`w_i w_j` over pairs i < j within blocks;
    repeating rows makes other blocks.

    Time: scalars O(n log n) (for the Gaussian O(n / bandwidth)), exactly, not by approximation;
    vectors O(n^2 K) in tiles, memory O(n K); "block" O(n K block_size). Equal predictions are
    pooled first. A kernel of your own is asked for O(n^2) values, of scalars too. For a classwise
    lens the mean over the classes, each with its own bandwidth.

    References
    ----------
    .. [1] Widmann, Lindsten & Zachariah (2019), Calibration tests in multi-class classification,
       arXiv 1910.11385: SKCE_uq, SKCE_b and, for blocks of two, SKCE_ul.
    .. [2] Kumar, Sarawagi & Jain (2018), Trainable calibration measures for neural networks from
       kernel mean embeddings, PMLR 80, 2805-2814.

    Examples
    --------
    >>> KernelError(bandwidth=1.0)([0, 1], [1.0, 0.0])  # distance 1, opposite errors: -2 exp(-1)
    -0.735758882342884...
    >>> KernelError(bandwidth=1.0, estimator="biased")([0, 1], [1.0, 0.0])  # 1 - exp(-1)
    0.632120558828557...

    A kernel of your own, the cosine of the angle between vectors. Both residuals are
    (1/2, -1/4, -1/4), their product is 3/8, and the angle is nil:

    >>> def cosine(p, q):
    ...     return p @ q.T / np.linalg.norm(p, axis=1)[:, None] / np.linalg.norm(q, axis=1)
    >>> round(KernelError(cosine)([0, 0], [[0.5, 0.25, 0.25]] * 2, lens="canonical"), 6)
    0.375
    """

    kernel: gram.Kernel = "laplacian"
    bandwidth: float | Literal["median"] = "median"
    estimator: str = "unbiased"
    block_size: int = 2

    def __post_init__(self) -> None:
        self._check_kernel()
        check_option("KernelError", "estimator", self.estimator, _ESTIMATORS)
        if not (is_integer(self.block_size) and self.block_size >= 2):
            hint, got = "larger blocks cost more and vary less.", repr(self.block_size)
            raise invalid("KernelError", "block_size", "an integer >= 2", got, hint=hint)

    @classmethod
    def mmce(cls, bandwidth: float | Literal["median"] = 0.2) -> KernelError:
        r"""Maximum mean calibration error of Kumar, Sarawagi & Jain (2018).

        .. math:: \sqrt{\sum_{ij} (y_i - p_i)(y_j - p_j)\, e^{-|p_i - p_j| / 0.2} / n^2}

        The root of half the "biased" statistic, of a binary problem: the paper's is that of
        ``lens="confidence"``. In [0, 1], biased upwards. netcal's bandwidth is 0.4.

        Examples
        --------
        >>> KernelError.mmce()([1, 1], [0.5, 0.5])
        0.5
        """
        return cls(kernel="laplacian", bandwidth=bandwidth, estimator="mmce")

    @property
    def name(self) -> str:
        """Short name."""
        if self.estimator == "mmce":
            return "MMCE"
        return "SKCE" if self.estimator == "unbiased" else f"SKCE {self.estimator}"

    @property
    def definition(self) -> str:
        """Kernel, bandwidth and estimator in words."""
        blocks = f" of {self.block_size} rows" if self.estimator == "block" else ""
        return f"{self._kernel_words}, {self.estimator}{blocks}"

    def measure_sample(self, sample: Sample) -> float:
        """Sum over pairs of rows, or of blocks of them."""
        binary = isinstance(sample, BinarySample)
        if self.estimator == "mmce" and not binary:
            hint, got = 'use lens="confidence" or lens="classwise".', "a vector of classes"
            raise invalid("KernelError", "lens", "one for binary problems", got, hint=hint)
        scale = 2.0 if binary and self.estimator != "mmce" else 1.0
        if self.estimator == "block":
            return scale * self._block_mean(sample)
        points, charge, mass = gram.pooled_residuals(sample)
        bandwidth = self._bandwidth(points, mass)
        total, pairs = gram.pair_sum(points, charge, self.kernel, bandwidth), float(mass.sum()) ** 2
        if self.estimator == "unbiased":
            diagonal, equal = gram.equal_pairs(sample, self.kernel)
            total, pairs = total - diagonal, pairs - equal
            if pairs <= 0:
                hint = 'pass more rows, or use `estimator="biased"`.'
                raise invalid("KernelError", "y_true", "two rows or more", "one", hint=hint)
        value = scale * total / pairs
        return math.sqrt(max(value, 0.0)) if self.estimator == "mmce" else value

    def _block_mean(self, sample: Sample) -> float:
        if sample.n < self.block_size:
            hint, got = "use smaller blocks.", f"{self.block_size} for {sample.n} rows"
            raise invalid("KernelError", "block_size", "at most the number of rows", got, hint=hint)
        bandwidth: float | str = self.bandwidth
        if isinstance(bandwidth, str):
            points, _, mass = gram.pooled_residuals(sample)
            bandwidth = self._bandwidth(points, mass)
        sums, pairs = gram.block_sums(sample, int(self.block_size), self.kernel, float(bandwidth))
        return float(sums.sum() / pairs.sum())


@dataclass(frozen=True)
class UCMEError(_KernelEstimator):
    r"""Unnormalised calibration mean embedding (UCME): kernel-weighted residuals at chosen places.

    Parameters
    ----------
    test_predictions : array-like of shape (m,) or (m, K), optional
        Where to look: probabilities of the positive class for a binary problem, rows of class
        probabilities for a vector. Default: for every class its probabilities 0.05, 0.15, ...,
        0.95 (the other classes sharing the rest equally).
    test_targets : array-like of shape (m,), optional
        The class looked at in each place, named as in `labels`; not needed for a binary problem,
        where both classes give the same square.
    kernel, bandwidth
        As in `KernelError`.

    Notes
    -----
    .. math:: \frac1m \sum_{j=1}^m \Bigl(\frac1n \sum_{i=1}^n k(p_i, t_j)\,
        (1[y_i = u_j] - p_{i u_j})\Bigr)^2

    with weighted means if there are weights: repetition exact, scale-free. Lower is better; in
    [0, 1]; biased upwards by the variance of the inner means, so a calibrated model reads O(1/n).
    Time O(n m K), memory O(n K). For a classwise lens the mean over the classes.

    References
    ----------
    .. [1] Widmann, Lindsten & Zachariah (2021), Calibration tests beyond classification,
       arXiv 2210.13355; the estimator of CalibrationErrors.jl.

    Examples
    --------
    >>> UCMEError([1.0], bandwidth=1.0)([0, 1], [1.0, 0.0])  # (1 - exp(-1))^2 / 4
    0.0998941002...
    """

    test_predictions: Any = None
    test_targets: Any = None
    kernel: gram.Kernel = "laplacian"
    bandwidth: float | Literal["median"] = "median"

    def __post_init__(self) -> None:
        self._check_kernel()
        if self.test_predictions is None and self.test_targets is None:
            return
        caller, param = "UCMEError", "test_predictions"
        given = float_array(self.test_predictions, caller=caller, param=param)
        if given.size == 0:
            raise invalid(caller, param, "non-empty", "no rows", hint="give at least one place.")
        rows = check_probabilities(given, caller=caller, param=param).tolist()
        vectors = isinstance(rows[0], list)
        places = tuple(tuple(row) for row in rows) if vectors else tuple(rows)
        asked = self.test_targets
        targets = () if asked is None else tuple(np.atleast_1d(np.asarray(asked)).tolist())
        if len(targets) != len(places) and (vectors or targets):
            hint = "say which class is looked at in each place."
            expected = f"{len(places)} labels"
            raise invalid(caller, "test_targets", expected, str(len(targets)), hint=hint)
        object.__setattr__(self, "test_predictions", places)
        object.__setattr__(self, "test_targets", targets or None)

    @property
    def name(self) -> str:
        """Short name."""
        return "UCME"

    @property
    def definition(self) -> str:
        """Kernel, bandwidth and number of places in words."""
        given = self.test_predictions
        places = f"{_LOCATIONS} places a class" if given is None else f"{len(given)} places"
        return f"{self._kernel_words}, {places}"

    def measure_sample(self, sample: Sample) -> float:
        """Mean squared residual at the places, weighted by the kernel."""
        places, columns = self.places(sample)
        points, charge, mass = gram.pooled_residuals(sample)
        charge = charge.reshape(len(charge), -1)
        bandwidth = self._bandwidth(points, mass)
        means = np.zeros(len(places))
        for rows in row_blocks(len(points), max(1, 8 * ROWS // len(places))):
            values = gram.kernel_values(places, points[rows], self.kernel, bandwidth)
            means += np.einsum("ji,ij->j", values, charge[rows][:, columns])
        return float(np.mean((means / mass.sum()) ** 2))

    def places(self, sample: Sample) -> tuple[FloatArray, list[int]]:
        """Predictions looked at, and the column of the residual for each."""
        width = 1 if isinstance(sample, BinarySample) else len(sample.classes)
        if self.test_predictions is None:
            return gram.even_places(width, _LOCATIONS)
        places = np.asarray(self.test_predictions, dtype=np.float64)
        if places.shape[1:] != ((width,) if width > 1 else ()):
            hint = "one probability a place for a binary problem, else one for each class."
            expected, got = f"probabilities of {max(width, 2)} classes", f"shape {places.shape}"
            raise invalid("UCMEError", "test_predictions", expected, got, hint=hint)
        if width == 1:
            return places, [0] * len(places)
        named = {"caller": "UCMEError", "param": "test_targets"}
        return places, [find_label(label, sample.classes, **named) for label in self.test_targets]
