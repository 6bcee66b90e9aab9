"""Do the predictions look fitted to the very rows they are judged on?

A map that maximises the likelihood leaves residuals that sum to nothing: an isotonic or histogram
map on each of its values, a logistic one against 1 and the log-odds, a vector or matrix map in
every class. Outcomes that were not looked at hardly ever do that. Maps with a penalty are off by as
much as chance brings and go unnoticed.
"""

from __future__ import annotations

import math

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample, PooledScores
from veridical._core.typing import FloatArray
from veridical.evaluation._data.source import SampleSource, Source

_HARDLY = 1e-6  # chance that is taken for none
_LEAST_VARIANCE = 3.0  # of a count that is near enough to normal
_CLOSE = 1e-4  # standard errors that only a fit comes to
_FEWEST = 50  # distinct predictions, of which sums are not integers by construction
_CLIP = 1e-12


def suspicion(source: Source) -> list[str]:
    """A sentence if the predictions seem to be fitted to these rows, for the notes."""
    if not isinstance(source, SampleSource):
        return []
    how = _of_classes(source.sample) if isinstance(source.sample, MulticlassSample) else None
    if isinstance(source.sample, BinarySample):
        how = _on_values(source.sample) or _along_the_line(source.sample)
    if how is None:
        return []
    return [
        f"{how} more closely than chance allows, as on rows that a calibrator was fitted to: if"
        " these are such rows, new ones will look worse"
    ]


def _on_values(sample: BinarySample) -> str | None:
    """Counts nearer to their expectations, value by value, than chance brings them.

    Their squared standardised distances sum to a chi-square; a count that is right is taken as
    half a row off, because counts are whole numbers. Isotonic maps and histograms leave hardly
    anything, also where they shrink a little.
    """
    from scipy.special import chdtr

    pooled = sample.pooled
    scale = sample.size / float(pooled.weight.sum())
    if float(pooled.weight.max()) * scale < 4 * _LEAST_VARIANCE:  # p (1 - p) is at most 1/4
        return None
    value = pooled.value.astype(np.float64)
    residual = (pooled.positive - pooled.weight * value) * scale
    variance = pooled.weight * value * (1 - value) * scale
    held = variance >= _LEAST_VARIANCE
    m = int(held.sum())
    distance = np.maximum(np.abs(residual[held]), 0.5) ** 2 / variance[held]
    if m == 0 or chdtr(m, float(distance.sum())) > _HARDLY:
        return None
    return f"outcomes agree with the predictions at {m:,} distinct values"


def _along_the_line(sample: BinarySample) -> str | None:
    """Residuals are orthogonal to 1 and the log-odds, as after Platt's map."""
    pooled = sample.pooled
    if len(pooled.value) < _FEWEST:
        return None
    if pooled.alone and not _is_none(*_sums_of_many(pooled)):
        return None
    p = np.clip(pooled.value.astype(np.float64), _CLIP, 1 - _CLIP)
    residual = pooled.positive - pooled.weight * p
    spread = pooled.weight * p * (1 - p)
    if not _is_none(residual, spread):
        return None
    odds = np.log(p) - np.log1p(-p)
    odds = odds - (spread @ odds) / spread.sum()
    if not _is_none(residual * odds, spread * odds**2):
        return None
    return "predictions are right in level and in spread"


def _of_classes(sample: MulticlassSample) -> str | None:
    """Every class occurs as often as predicted, as after maps with an intercept for each."""
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    if sample.n < _FEWEST:
        return None
    happened = np.bincount(sample.y, weight, minlength=len(sample.classes))
    p = sample.p.astype(np.float64, copy=False)
    expected = weight @ p
    spread = np.sqrt(np.maximum(weight**2 @ (p * (1 - p)), 0.0))
    if not (np.abs(happened - expected) < _CLOSE * spread).all():
        return None
    return f"every one of {len(sample.classes):,} classes occurs as often as predicted"


def _sums_of_many(scores: PooledScores) -> tuple[FloatArray, FloatArray]:
    """Sums of residuals and of variances, stretch by stretch."""
    residual, spread = [], []
    for value, weight, positive in scores.blocks():
        p = np.clip(value, _CLIP, 1 - _CLIP)
        residual.append(positive.sum() - (weight * p).sum())
        spread.append((weight * p * (1 - p)).sum())
    return np.array(residual), np.array(spread)


def _is_none(residual: FloatArray, variance: FloatArray) -> bool:
    """Whether a sum is closer to its expectation than chance brings it."""
    total = float(variance.sum())
    return total > 0 and abs(float(residual.sum())) < _CLOSE * math.sqrt(total)
