"""Priors of largest likelihood for many weightings of the same rows at once."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.decisions._prior_em import fit_priors

_TOLERANCE = 1e-9
_MAX_STEPS = 12


def fit_priors_many(
    p: FloatArray, weights: FloatArray, train: FloatArray, start: FloatArray
) -> FloatArray:
    """Priors (R, K) for weights (R, n) of the rows and training shares (R, K).

    Newton steps for all weightings together, as long as their priors stay positive; those that
    leave the simplex or do not converge are fitted one by one. O(R n K^2) a step.
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    priors = np.tile(start, (len(weights), 1))
    open_ = np.arange(len(weights))
    failed = []
    for _ in range(_MAX_STEPS):
        scale = train[open_]
        mixture = p @ (priors[open_] / scale).T
        pulled = np.divide(shares[open_].T, mixture, where=mixture > 0, out=np.zeros(mixture.shape))
        pull = (p.T @ pulled).T / scale
        moving = np.abs(pull - 1).max(axis=1) > _TOLERANCE
        open_, scale, pull = open_[moving], scale[moving], pull[moving]
        if not len(open_):
            break
        curved = np.divide(
            pulled[:, moving], mixture[:, moving], where=mixture[:, moving] > 0,
            out=np.zeros((len(p), len(open_))),
        )  # fmt: skip
        curvature = np.stack([((p * p[:, k : k + 1]).T @ curved).T for k in range(p.shape[1])], 1)
        curvature /= scale[:, :, None] * scale[:, None, :]
        ridge = 1e-13 * np.trace(curvature, axis1=1, axis2=2)[:, None, None]
        aim = np.linalg.solve(curvature + ridge * np.eye(p.shape[1]), (2 * pull - 1)[..., None])
        aim = aim[..., 0] / aim.sum(axis=1)
        inside = (aim > 0).all(axis=1)
        priors[open_[inside]] = aim[inside]
        failed.append(open_[~inside])
        open_ = open_[inside]
    for index in np.concatenate([*failed, open_]):
        kept = np.flatnonzero(shares[index])
        fit = fit_priors(p[kept], shares[index][kept], train[index], start=start)
        priors[index] = fit.priors
    return priors
