"""Weights of a likelihood, and the limit of its ratio."""

from __future__ import annotations

import numpy as np

from veridical._core.sample import Sample
from veridical._core.typing import FloatArray
from veridical.inference._repeats import counts_rows


def likelihood_weight(sample: Sample) -> FloatArray:
    """Weights that sum to the sample size: repetitions, or importance scaled to Kish's size."""
    if sample.weight is None or (sample.weight_type == "importance" and _all_same(sample.weight)):
        return np.ones(sample.n)
    if sample.weight_type == "frequency":
        return sample.weight
    return sample.weight * (sample.size / sample.weight.sum())


def counts_outcomes(sample: Sample) -> bool:
    """Whether the weights of the likelihood are numbers of independent outcomes."""
    same = sample.weight is not None and _all_same(sample.weight)
    return counts_rows(sample) or (sample.weight_type == "importance" and same)


def _all_same(weight: FloatArray) -> bool:
    return bool((weight == weight[0]).all())


def wilks_pvalue(statistic: float, df: int) -> float:
    """Return P(chi-squared with `df` degrees of freedom >= statistic); Wilks' theorem."""
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic))
