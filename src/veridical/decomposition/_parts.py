"""The parts of a mean score, by recalibrating within groups of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.pava import IsotonicFit, isotonic_fit
from veridical._core.sample import BinarySample, Sample, weighted_mean
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import Binning
from veridical.scores import ScoringRule
from veridical.summaries import Summary, VectorSummary, summarise


@dataclass(frozen=True)
class Parts:
    """Parts of a mean score; see `Decomposition`."""

    score: float
    miscalibration: float
    refinement: float
    uncertainty: float
    within_bin: float = 0.0
    within_bin_variance: float | None = None
    within_bin_covariance: float | None = None


def isotonic_parts(
    sample: BinarySample,
    rule: ScoringRule,
    fit: IsotonicFit | None = None,
    score: float | None = None,
) -> Parts:
    """CORP: the recalibrated prediction c is the isotonic fit (Dimitriadis et al. 2021).

    MCB = S(p) - S(c), DSC = S(mean y) - S(c), UNC = S(mean y). Within a block of the fit the
    observed frequency equals c, so S(c) is the mean entropy of c.
    """
    fit = isotonic_fit(sample.pooled) if fit is None else fit
    score = rule.mean(sample) if score is None else score
    fitted, weight = fit.blocks()
    refinement = float(weight @ rule.entropy(fitted) / weight.sum())
    uncertainty = float(rule.entropy(_base(sample))[0])
    return Parts(score, max(score - refinement, 0.0), refinement, uncertainty)


def unique_parts(sample: Sample, rule: ScoringRule) -> Parts:
    """Recalibrate by the frequencies among rows with the same prediction (Kull & Flach 2015)."""
    frequency, prediction, share = _group_by_prediction(sample)[:3]
    miscalibration = float(share @ rule.divergence(prediction, frequency))
    refinement = float(share @ rule.entropy(frequency))
    uncertainty = float(rule.entropy(_base(sample))[0])
    return Parts(rule.mean(sample), miscalibration, refinement, uncertainty)


def _group_by_prediction(sample: Sample) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Class frequencies, prediction and share of each distinct prediction, and each row's group."""
    p = sample.p
    if p.ndim == 1:
        values, group = np.unique(p, return_inverse=True)
    else:
        values, group = np.unique(p, axis=0, return_inverse=True)
    group = group.reshape(-1)
    n_groups, w = len(values), sample.weight
    weight = np.bincount(group, weights=w, minlength=n_groups).astype(np.float64)
    if p.ndim == 1:
        hits = sample.y if w is None else w * sample.y
        frequency = np.bincount(group, weights=hits, minlength=n_groups) / weight
    else:
        n_classes = p.shape[1]
        key = group * n_classes + sample.y
        hits = np.bincount(key, weights=w, minlength=n_groups * n_classes)
        frequency = hits.reshape(n_groups, n_classes) / weight[:, None]
    return frequency, values.astype(np.float64), weight / weight.sum(), group


def recalibrate_rows(sample: Sample, method: str, binning: Binning) -> FloatArray:
    """Recalibrated prediction c of every row, as the method of the decomposition defines it."""
    if method == "unique":
        frequency, _, _, group = _group_by_prediction(sample)
        return frequency[group]
    if method == "isotonic":
        assert isinstance(sample, BinarySample)
        return isotonic_fit(sample.pooled).at(sample.p)
    summary = summarise(sample, binning)
    if isinstance(summary, Summary):
        return summary.mean_y[0][summary.partitions[0].assign(sample.p)]
    return summary.mean_y[summary.partition.assign(sample.p)]


def binned_parts(sample: Sample, rule: ScoringRule, binning: Binning) -> Parts:
    """Murphy's decomposition by bins, with what bins hide (Stephenson et al. 2008)."""
    summary = summarise(sample, binning, rules=(rule.name,))
    mean_p, mean_y, share, score = _bin_means(summary, rule)
    miscalibration = float(share @ rule.divergence(mean_p, mean_y))
    refinement = float(share @ rule.entropy(mean_y))
    uncertainty = float(rule.entropy(_base(sample))[0])
    hidden = np.isinf(score) and np.isinf(miscalibration)  # both infinite: nothing left to explain
    within = 0.0 if hidden else score - miscalibration - refinement
    if rule.name != "brier":
        return Parts(score, miscalibration, refinement, uncertainty, within)
    # Mean of sum_k p_k^2 within bins minus that of the bin means: sum of w p - w p (1 - p).
    squares = summary.sum_wp - summary.sum_wpq
    if isinstance(summary, Summary):
        squares = squares[0][summary.occupied[0]]
        total = summary.sum_w[0].sum()
        variance = float(squares.sum() / total - share @ mean_p**2)
    else:
        total = summary.sum_w.sum()
        variance = float(squares.sum() / total - share @ (mean_p**2).sum(axis=1))
    return Parts(
        score, miscalibration, refinement, uncertainty, within, variance, variance - within
    )


def _bin_means(
    summary: Summary | VectorSummary, rule: ScoringRule
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    scores = summary.scores[rule.name]
    if isinstance(summary, Summary):
        held = summary.occupied[0]
        score = float(scores[0].sum() / summary.sum_w[0].sum())
        return summary.mean_p[0, held], summary.mean_y[0, held], summary.share[0, held], score
    score = float(scores.sum() / summary.sum_w.sum())
    return summary.mean_p, summary.mean_y, summary.share, score


def _base(sample: Sample) -> FloatArray:
    """Base rate as a batch of one prediction."""
    if isinstance(sample, BinarySample):
        return np.array([weighted_mean(sample.y, sample.weight)])
    counts = np.bincount(sample.y, weights=sample.weight, minlength=len(sample.classes))
    return (counts / counts.sum())[None, :]
