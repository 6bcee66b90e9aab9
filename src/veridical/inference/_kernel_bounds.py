"""Kernel tests without resampling: a normal approximation, and bounds that always hold."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veridical._core import gram
from veridical._core.sample import Sample
from veridical.exceptions import invalid
from veridical.inference._kernel_nulls import Similarity
from veridical.miscalibration import KernelError

_BOUND = 2.0  # |h| <= 2: a kernel of at most 1 times the product of residuals of length sqrt(2)
_FEW_BLOCKS = 50


class Outcome(NamedTuple):
    """What a kernel test found, and where its null distribution comes from."""

    statistic: float
    pvalue: float
    null: str
    notes: tuple[str, ...] = ()
    n_resamples: int | None = None


def block_test(sample: Sample, by: Similarity, block_size: int) -> Outcome:
    """One-sided z-test of the mean of the estimates of the blocks."""
    from scipy.special import ndtr

    n_blocks = sample.n // block_size
    if n_blocks < 2:
        hint, got = "use smaller blocks.", f"{block_size} for {sample.n} rows"
        raise invalid("kernel_test", "block_size", "half the rows at most", got, hint=hint)
    sums, pairs = gram.block_sums(sample, block_size, by.kernel, by.bandwidth)
    mean = float(sums.sum() / pairs.sum())
    # A ratio of sums if blocks weigh differently; else the usual standard error.
    spread = float(np.square(sums - mean * pairs).sum()) * n_blocks / (n_blocks - 1)
    error = math.sqrt(spread) / float(pairs.sum())
    z = mean / error if error > 0 else math.copysign(math.inf, mean) if mean else 0.0
    notes: tuple[str, ...] = ()
    if n_blocks < _FEW_BLOCKS:
        notes = (f"{n_blocks} blocks: the normal approximation wants {_FEW_BLOCKS} or more",)
    return Outcome(z, float(ndtr(-z)), "standard normal, one-sided", notes)


def distribution_free(sample: Sample, error: KernelError) -> Outcome:
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
    return Outcome(estimate, math.exp(-exponent), f"bound free of the distribution, B = {_BOUND:g}")
