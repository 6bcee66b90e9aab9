"""Five maps that learn row by row, and Bayes weights that follow the best of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray, IntArray

FORGETTING = (1.0, 0.999, 0.996)  # what a row counts after the next one came, of three Newton maps
RIDGE = 20.0  # rows that pull the Newton maps to the identity
STEP = 0.1  # beta of the online Newton step
_RADIUS = 1.0  # D of the online Newton step
_FARTHEST = 100.0  # norm that its parameters stay within
N_MAPS = 2 + len(FORGETTING)


@dataclass(eq=False)
class Maps:
    """What the five maps know: their parameters, and how sharply the past determines them.

    In order: the identity, Newton maps with forgetting 1, 0.999 and 0.996, the online Newton step.
    A map of two classes is (slope, level) of log odds; of K it is a factor of the logarithms of
    probabilities and a level for each class.

    Attributes
    ----------
    theta : parameters, shape (5, d); d is 2, or K + 1
    curvature : shape (4, d, d)
        Of the Newton maps the discounted second derivative of the loss, without the ridge; of the
        online Newton step the inverse of its matrix.
    weights : shape (5,), the Bayes weights of the next prediction
    n_rows : rows learnt from
    share_cost : nats that sharing weights may have cost so far, sum of -log(1 - share)
    """

    theta: FloatArray
    curvature: FloatArray
    weights: FloatArray
    n_rows: int = 0
    share_cost: float = 0.0

    @classmethod
    def new(cls, n_classes: int) -> Maps:
        """Five identities of equal weight."""
        d = 2 if n_classes == 2 else n_classes + 1
        theta = np.zeros((N_MAPS, d))
        theta[:, 0] = 1.0
        curvature = np.zeros((N_MAPS - 1, d, d))
        curvature[-1] = np.eye(d) * (STEP * _RADIUS) ** 2
        return cls(theta, curvature, np.full(N_MAPS, 1 / N_MAPS))

    @property
    def bound(self) -> float:
        """Most nats by which the mixture can be behind the best single map (see `mix`)."""
        return math.log(N_MAPS) + self.share_cost

    def predict(self, x: FloatArray) -> FloatArray:
        """Probabilities of each map, (5, n, K), from log odds (n,) or log probabilities (n, K)."""
        if x.ndim == 1:
            from scipy.special import expit

            odds = np.multiply.outer(self.theta[:, 0], x) + self.theta[:, 1:]
            return np.stack([expit(-odds), expit(odds)], axis=2)
        scores = self.theta[:, 0, None, None] * x + self.theta[:, None, 1:]
        return _softmax(scores)

    def mix(self, log_given: FloatArray, *, share: float, rows: int = 1) -> None:
        r"""Bayes' rule, then sharing of weights.

        Parameters
        ----------
        log_given : logarithms of the probabilities that the maps gave to what happened, shape (5,)
        share : what each map passes on to the others a row
        rows : how many rows that was

        Notes
        -----
        Every map passes a share :math:`\alpha_t = \min(\text{share}, 1 / (t + 1))` of its weight
        on to the others in equal parts (fixed share, Herbster & Warmuth 1998, Machine Learning 32,
        151-178). With the log loss, which is mixable with rate 1 (Vovk 1998, Journal of Computer
        and System Sciences 56, 153-173), the total loss of the mixture over n rows exceeds that of
        any sequence of maps with m switches, before rows :math:`t_1, ..., t_m`, by at most

        .. math:: \log N + \sum_j \log \frac{N - 1}{\alpha_{t_j}}
            - \sum_{t < n, t \ne t_j} \log(1 - \alpha_t),

        whatever the rows: that sequence has this prior in the Bayes mixture of all sequences. The
        identity never switches. Against the predictions as they are it is
        :math:`\log 5 - \sum_t \log(1 - \alpha_t)`: about :math:`\log 5 + 10^{-4} n` up to row
        10,000 for a share of 1e-4, and :math:`\log 5 + 1 + \log(n / 10^4)` from there on.
        """
        with np.errstate(divide="ignore"):  # a weight may vanish where nothing is shared
            logs = np.log(self.weights) + log_given
        top = logs.max()
        if np.isfinite(top):  # else no map thought it possible, and none is better than another
            weights = np.exp(logs - top)
            self.weights = weights / weights.sum()
        t = np.arange(self.n_rows + 1, self.n_rows + rows + 1)
        alpha = np.minimum(share, 1 / (t + 1))
        kept = float(np.exp(np.log1p(-alpha * N_MAPS / (N_MAPS - 1)).sum()))
        self.weights = 1 / N_MAPS + kept * (self.weights - 1 / N_MAPS)
        self.share_cost -= float(np.log1p(-alpha).sum())
        self.n_rows += rows


def learn_two(
    maps: Maps, z: FloatArray, y: IntArray, weight: FloatArray | None, share: float | None
) -> FloatArray:
    """Predict each row of two classes and learn from it; probabilities of the positive class.

    Parameters
    ----------
    z, y, weight : log odds, outcomes 0/1 and weights of the rows, in their order
    share : of weights that is passed on; None leaves the weights of the maps as they are

    Notes
    -----
    A loop over plain numbers: about 200,000 rows a second.
    """
    exp, log1p = math.exp, math.log1p
    out = np.empty(len(z))
    newton = [
        [*theta, *(float(c[i]) for i in ((0, 0), (0, 1), (1, 1))), forget]
        for theta, c, forget in zip(
            maps.theta[1:-1].tolist(), maps.curvature[:-1], FORGETTING, strict=True
        )
    ]
    slope, level = maps.theta[-1].tolist()
    i11, i12, i22 = (float(maps.curvature[-1][i]) for i in ((0, 0), (0, 1), (1, 1)))
    w0, w1, w2, w3, w4 = maps.weights.tolist()
    n_rows, cost = maps.n_rows, maps.share_cost
    given = [0.0] * 3
    weights = None if weight is None else weight.tolist()
    for row, (x, happened) in enumerate(zip(z.tolist(), y.tolist(), strict=True)):
        size = 1.0 if weights is None else weights[row]
        q0 = 1 / (1 + exp(-x)) if x > -700 else 0.0
        for k, each in enumerate(newton):
            a, b, c11, c12, c22, forget = each
            odds = a * x + b
            q = 1 / (1 + exp(-odds)) if odds > -700 else 0.0
            given[k] = q
            h = size * q * (1 - q)
            c11, c12, c22 = forget * c11 + h * x * x, forget * c12 + h * x, forget * c22 + h
            pull = (1 - forget) * RIDGE
            slip = size * (q - happened)
            g1, g2 = slip * x + pull * (a - 1), slip + pull * b
            m11, m22 = c11 + RIDGE, c22 + RIDGE
            det = m11 * m22 - c12 * c12
            each[0] = a - (m22 * g1 - c12 * g2) / det
            each[1] = b - (m11 * g2 - c12 * g1) / det
            each[2], each[3], each[4] = c11, c12, c22
        odds = slope * x + level
        q4 = 1 / (1 + exp(-odds)) if odds > -700 else 0.0
        q1, q2, q3 = given
        out[row] = w0 * q0 + w1 * q1 + w2 * q2 + w3 * q3 + w4 * q4
        # Online Newton step: Sherman and Morrison's formula for the inverse.
        slip = size * (q4 - happened)
        g1, g2 = slip * x, slip
        h1, h2 = i11 * g1 + i12 * g2, i12 * g1 + i22 * g2
        scale = 1 / (1 + g1 * h1 + g2 * h2)
        i11, i12, i22 = i11 - scale * h1 * h1, i12 - scale * h1 * h2, i22 - scale * h2 * h2
        slope -= scale * h1 / STEP
        level -= scale * h2 / STEP
        norm = math.hypot(slope, level)
        if norm > _FARTHEST:
            slope, level = slope * _FARTHEST / norm, level * _FARTHEST / norm
        if share is None:
            continue
        if not happened:
            q0, q1, q2, q3, q4 = 1 - q0, 1 - q1, 1 - q2, 1 - q3, 1 - q4
        if size != 1:
            q0, q1, q2, q3, q4 = q0**size, q1**size, q2**size, q3**size, q4**size
        v0, v1, v2, v3, v4 = w0 * q0, w1 * q1, w2 * q2, w3 * q3, w4 * q4
        total = v0 + v1 + v2 + v3 + v4
        if total == 0:  # no map thought it possible, and none is better than another
            v0, v1, v2, v3, v4, total = w0, w1, w2, w3, w4, 1.0
        n_rows += 1
        alpha = min(share, 1 / (n_rows + 1))
        cost -= log1p(-alpha)
        spread = alpha / (N_MAPS - 1)
        keep = (1 - alpha - spread) / total
        w0, w1, w2, w3, w4 = (
            v0 * keep + spread,
            v1 * keep + spread,
            v2 * keep + spread,
            v3 * keep + spread,
            v4 * keep + spread,
        )
    for k, (a, b, c11, c12, c22, _) in enumerate(newton):
        maps.theta[1 + k] = a, b
        maps.curvature[k] = [[c11, c12], [c12, c22]]
    maps.theta[-1] = slope, level
    maps.curvature[-1] = [[i11, i12], [i12, i22]]
    if share is not None:
        maps.weights, maps.n_rows, maps.share_cost = np.array([w0, w1, w2, w3, w4]), n_rows, cost
    return out


def learn_many(
    maps: Maps, x: FloatArray, y: IntArray, weight: FloatArray | None, share: float | None
) -> FloatArray:
    """Predict each row of K classes and learn from it; probabilities (n, K).

    As `learn_two`, with x the logarithms of probabilities. About 10,000 rows a second.
    """
    n, n_classes = x.shape
    out = np.empty((n, n_classes))
    forget = np.array(FORGETTING)[:, None]
    pull = (1 - forget) * RIDGE
    ridge = RIDGE * np.eye(n_classes + 1)
    identity = np.zeros(n_classes + 1)
    identity[0] = 1.0
    theta, curvature = maps.theta, maps.curvature
    inverse = curvature[-1]
    for row in range(n):
        z, happened = x[row], int(y[row])
        size = 1.0 if weight is None else float(weight[row])
        q = _softmax(theta[:, :1] * z + theta[:, 1:])
        out[row] = maps.weights @ q
        slips = size * q[1:]
        slips[:, happened] -= size
        gradient = np.concatenate([(slips @ z)[:, None], slips], axis=1)
        # Second derivative of the Newton maps: covariance of (z_j, e_j) under q.
        p = q[1:-1]
        qz = p * z
        mean = qz.sum(axis=1)
        added = -p[:, :, None] * p[:, None, :]
        added[:, np.arange(n_classes), np.arange(n_classes)] += p
        cross = qz - p * mean[:, None]
        c = curvature[:-1]
        c *= forget[:, :, None]
        c[:, 0, 0] += size * (qz @ z - mean * mean)
        c[:, 0, 1:] += size * cross
        c[:, 1:, 0] += size * cross
        c[:, 1:, 1:] += size * added
        slope = gradient[:-1] + pull * (theta[1:-1] - identity)
        theta[1:-1] -= np.linalg.solve(c + ridge, slope[:, :, None])[:, :, 0]
        g = gradient[-1]
        h = inverse @ g
        scale = 1 / (1 + float(g @ h))
        inverse -= scale * np.multiply.outer(h, h)
        theta[-1] -= (scale / STEP) * h
        norm = float(np.sqrt(theta[-1] @ theta[-1]))
        if norm > _FARTHEST:
            theta[-1] *= _FARTHEST / norm
        if share is not None:
            with np.errstate(divide="ignore"):
                given = size * np.log(q[:, happened])
            maps.mix(given, share=share)
    return out


def _softmax(scores: FloatArray) -> FloatArray:
    """Softmax along the last axis."""
    result = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result /= result.sum(axis=-1, keepdims=True)
    return result
