"""Log loss of a softmax that is linear in its parameters, with its derivatives, over some rows.

Like the kernel it needs NumPy and nothing of this library: Spark sends it to its workers as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

_ROWS = 1 << 10  # a block: what the Hessian is made of stays in cache
INDEX, VALUE = "v_index", "v_value"


@dataclass(frozen=True, kw_only=True)
class SoftmaxMap:
    """Scores W x + b, or v * x + b, of features x of a row of probabilities.

    Attributes
    ----------
    floor : what probabilities are raised to
    inverse, mix : x is log((1 - mix) softmax(inverse log p) + mix / K); plain log p if None
    least_rest : x goes on with e = exp(x) and log(1 - e), which is raised to this, if not None
    full : whether there is a matrix W
    theta : rows of (W | b) one after the other, or v and b
    """

    floor: float
    inverse: float | None
    mix: float
    least_rest: float | None
    full: bool
    theta: Any

    def features(self, p: Any) -> Any:
        """Features of rows, (n, m)."""
        z = np.log(np.maximum(p, self.floor))
        if self.inverse is not None:
            z *= self.inverse
            z -= z.max(axis=1, keepdims=True)
            if self.mix:
                np.exp(z, out=z)
                z *= ((1 - self.mix) / z.sum(axis=1))[:, None]
                z += self.mix / z.shape[1]
                np.log(z, out=z)
            else:
                z -= np.log(np.exp(z).sum(axis=1))[:, None]
        if self.least_rest is None:
            return z
        e = np.exp(z)
        return np.hstack([z, e, np.log(np.maximum(1 - e, self.least_rest))])


def softmax_sums(p: list[Any], code: Any, weight: Any, asked: SoftmaxMap) -> Any:
    """Sums over rows, one after the other in one array.

    Of weights, of losses, of squared features, of the gradient and of the Hessian of the loss: with
    P the softmax of the scores, the gradient has P - onehot(y), the Hessian diag(P) - P P'.
    """
    total: Any = 0.0
    for start in range(0, len(code), _ROWS):
        at = slice(start, start + _ROWS)
        own = np.column_stack([np.asarray(one[at], dtype=np.float64) for one in p])
        w = np.ones(len(own)) if weight is None else np.asarray(weight[at], dtype=np.float64)
        total = total + _block(asked.features(own), np.asarray(code[at], dtype=np.intp), w, asked)
    return total


def _block(x: Any, y: Any, w: Any, asked: SoftmaxMap) -> Any:
    theta = np.asarray(asked.theta, dtype=np.float64)
    n, m = x.shape
    k = len(theta) // (m + 1) if asked.full else m
    ones = np.hstack([x, np.ones((n, 1))])
    scores = ones @ theta.reshape(k, m + 1).T if asked.full else x * theta[:k] + theta[k:]
    scores -= scores.max(axis=1, keepdims=True)
    target = scores[np.arange(n), y]
    share = np.exp(scores)
    mass = share.sum(axis=1)
    share /= mass[:, None]
    loss = float(w @ (np.log(mass) - target))
    residual = share * w[:, None]
    weighted = residual.copy()
    residual[np.arange(n), y] -= w
    root = share * np.sqrt(w)[:, None]
    if asked.full:
        gradient = (residual.T @ ones).ravel()
        spread = (root[:, :, None] * ones[:, None, :]).reshape(n, -1)
        hessian = -(spread.T @ spread)
        for j in range(k):
            own = slice(j * (m + 1), (j + 1) * (m + 1))
            hessian[own, own] += (ones * weighted[:, j, None]).T @ ones
    else:
        gradient = np.concatenate([np.einsum("ij,ij->j", residual, x), residual.sum(axis=0)])
        spread = np.hstack([root * x, root])
        hessian = -(spread.T @ spread)
        i = np.arange(k)
        first = np.einsum("ij,ij->j", weighted, x)
        hessian[i, i] += np.einsum("ij,ij,ij->j", weighted, x, x)
        hessian[i, i + k] += first
        hessian[i + k, i] += first
        hessian[i + k, i + k] += weighted.sum(axis=0)
    squares = np.einsum("i,ij,ij->j", w, x, x)
    return np.concatenate([[float(w.sum()), loss], squares, gradient, hessian.ravel()])


def softmax_in_arrow(
    asked: SoftmaxMap, names: tuple[str, ...], code: str, weight: str | None
) -> Any:
    """Return a function from Arrow batches to one of sums, each with its number."""

    def sum_up(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        total: Any = None
        for batch in batches:
            if batch.num_rows:
                columns = {
                    name: batch.column(name).to_numpy(zero_copy_only=False)
                    for name in (*names, code, *([] if weight is None else [weight]))
                }
                p, w = [columns[name] for name in names], columns.get(weight or "")
                found = softmax_sums(p, columns[code], w, asked)
                total = found if total is None else total + found
        if total is not None:
            numbers = np.arange(len(total))
            yield pa.RecordBatch.from_pydict({INDEX: pa.array(numbers), VALUE: pa.array(total)})

    return sum_up
