"""How much of the model's own predictions stays: what says that they are wrong, and how surely."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.selection._auto.weighing import Judge, pool_weights

_IMAGINED_TWO, _IMAGINED_MORE = (2.4, 0.6), (2.0, 1.0)  # of the model and of the map near it
_HARDLY = 0.01  # shares of the identity that are not worth the words
_CAUTION_OF_GAINS, _CAUTION_OF_SCORES = 0.9, 2.5  # deviates
_AT_LEAST_TWO, _AT_LEAST_MORE = 0.25, 0.3  # of maps that are known to be sound
_WORSE = -1.0
SHOWN_WORSE = -3.0  # standard errors: then sound maps get no more than what speaks for them
_ENOUGH = 5.0  # variance of the outcomes of the rarest class, per parameter of a class
_SOME = 2.5  # less of it: maps know hardly more than the model
_SMALLEST = 1e-12  # logarithms of smaller probabilities are those of this
_SINGULAR = 1e-10  # directions with so little of the largest variance are none


def identity_share(
    judge: Judge, pooled: FloatArray, identity: FloatArray, *, sound: bool = False
) -> float:
    """Share of what stands by in the result, from what pool and identity gave to the outcomes.

    Two things speak for the pool: its gain on rows held out, in standard errors less 0.9, and the
    score test of the model's own predictions (`score_certainty`), less 2.5. The larger is taken for
    a normal deviate, and the share is the probability beyond it. The gain alone is a weak witness:
    where a model is nearly right it grows half as fast as the deviate of the test. At most one half
    if the model's zeros have happened: then no outcome costs log 2 more than in the pool.

    Maps that are known to be `sound` get a quarter all the same, 0.3 of three classes or more. To
    second order a share s of them costs s^2 of what they cost where the model is right, and leaves
    (1 - s)^2 of what it loses where it is wrong: a sixteenth for nearly half. Of others the model
    keeps all if they were worse by a standard error and the test finds nothing.
    """
    from scipy.special import ndtr

    gain = judge.certainty(np.log(pooled) - np.log(identity))
    scores = score_certainty(judge) - _CAUTION_OF_SCORES
    share = float(ndtr(-max(gain - _CAUTION_OF_GAINS, scores)))
    if sound:
        least = _AT_LEAST_TWO if judge.n_classes == 2 else _AT_LEAST_MORE
        share = min(share, 1 - least * min(_left_to_chance(judge) / _SOME, 1.0))
    if judge.contradicted and share >= _HARDLY:
        return min(share, 0.5)
    if (gain <= _WORSE and scores <= 0 and not sound) or share > 1 - _HARDLY:
        return 1.0
    return 0.0 if share < _HARDLY else share


def standby(judge: Judge, identity: FloatArray, safe: FloatArray) -> tuple[float, float]:
    """Weights of the model's own predictions and of a map that stays near them.

    What is relied on as far as the pool may be no better: of three imagined rows 2.4 are best
    foretold by the model and 0.6 by the map (of more classes 2 and 1), because a model's
    temperature is rarely right.
    """
    given = np.column_stack([identity, safe])
    imagined = np.array(_IMAGINED_TWO if judge.n_classes == 2 else _IMAGINED_MORE)
    own = float(pool_weights(given, judge.weights, imagined)[0])
    return (1.0, 0.0) if own > 1 - _HARDLY else (0.0, 1.0) if own < _HARDLY else (own, 1 - own)


def score_certainty(judge: Judge) -> float:
    """Normal deviate of Rao's score test that the model's predictions are calibrated.

    Against a temperature and a shift of each class: log P_k = b log p_k + a_k - log of their sum,
    with b = 1 and a = 0. Scores of a row are log p_y less its mean under p, and the residuals of
    all classes but the first; their covariance is that of outcomes drawn from the predictions, of
    rows of different weights wider where more is seen. No fit is needed, and the deviate grows
    twice as fast as that of a gain on rows held out. Minus infinity where the outcomes vary too
    little for it to mean anything, and of groups, whose few sums are no normal deviates.

    References
    ----------
    .. [1] Rao (1948), Large sample tests of statistical hypotheses concerning several parameters
       with applications to problems of estimation, doi 10.1017/S0305004100023987.
    """
    from scipy.special import chdtrc, ndtri

    if judge.own is None or judge.groups is not None or _left_to_chance(judge) < _ENOUGH:
        return -np.inf
    rows = slice(0, judge.ends[0])
    p, y, weight = judge.own[rows], judge.y[rows], judge.weight[rows]
    weight = weight * (judge.size / weight.sum())
    n = len(p)
    log_p = np.log(np.maximum(p, _SMALLEST))
    mean = np.einsum("ij,ij->i", p, log_p)
    residual = -p[:, 1:]
    residual[y > 0, y[y > 0] - 1] += 1.0
    scores = np.column_stack([log_p[np.arange(n), y] - mean, residual]) * weight[:, None]
    total = scores.sum(axis=0)
    # so many independent rows: fewer than there are, where rows are copies
    counts = weight if judge.by_frequency else weight**2 * (judge.size / (weight @ weight))
    covariance = _expected(p, log_p, mean, counts)
    if not (judge.by_frequency or np.ptp(weight) == 0):
        expected = np.maximum(np.diag(covariance), np.finfo(float).tiny)
        wider = np.sqrt(np.maximum(np.einsum("ij,ij->j", scores, scores) / expected, 1.0))
        covariance *= np.outer(wider, wider)
    statistic, df = _quadratic(total, covariance)
    return float(-ndtri(np.clip(chdtrc(df, statistic), 1e-300, 1 - 1e-12)))


def _left_to_chance(judge: Judge) -> float:
    """Variance of the number of rows of the rarest class by the model, per parameter of a class."""
    if judge.own is None or not judge.ends:
        return 0.0
    p, weight = judge.own[: judge.ends[0]], judge.weight[: judge.ends[0]]
    variance = float((weight @ (p * (1 - p))).min() * judge.size / weight.sum())
    return variance * (p.shape[1] - 1) / p.shape[1]


def _expected(p: FloatArray, log_p: FloatArray, mean: FloatArray, weight: FloatArray) -> FloatArray:
    """Covariance of the summed scores if outcomes are drawn from the predictions."""
    away = log_p - mean[:, None]
    others = p[:, 1:]
    covariance = np.empty((p.shape[1], p.shape[1]))
    covariance[0, 0] = weight @ np.einsum("ij,ij,ij->i", p, away, away)
    covariance[0, 1:] = covariance[1:, 0] = weight @ (others * away[:, 1:])
    covariance[1:, 1:] = np.diag(weight @ others) - (others * weight[:, None]).T @ others
    return covariance


def _quadratic(total: FloatArray, covariance: FloatArray) -> tuple[float, int]:
    """Sum of squares of `total` in units of its covariance, and how many directions it has."""
    scale = np.sqrt(np.diag(covariance))
    scale[scale <= _SINGULAR * scale.max()] = 1.0  # what is rounding stays next to nothing
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    kept = values > _SINGULAR * max(values[-1], 0.0)
    along = (total / scale) @ vectors[:, kept]
    return float(along**2 @ (1 / values[kept])), int(kept.sum())
