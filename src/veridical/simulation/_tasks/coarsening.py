"""Calibrated classifiers of any sharpness: the truth, averaged over cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import check_probabilities, check_weight, float_array
from veridical._core.typing import Array, ArrayLike, FloatArray
from veridical.exceptions import invalid
from veridical.simulation._tasks.gaussian import GaussianMixtureTask, check_rows

Statistic = Callable[[FloatArray], Array]


def coarsen(
    posterior: ArrayLike, cells: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> FloatArray:
    r"""Replace true probabilities by their mean in each cell, which leaves them calibrated.

    Parameters
    ----------
    posterior : array-like of shape (n,) or (n, K)
        True probabilities of the rows.
    cells : array-like of shape (n,)
        Cell of each row: any labels. Whatever is known of a row may decide its cell, except its
        outcome.
    sample_weight : array-like of shape (n,), optional
        Only the proportions matter; rows of weight zero count nowhere and get the mean of their
        cell, which must hold another row.

    Returns
    -------
    ndarray of the shape of `posterior`
        Equal within each cell.

    Notes
    -----
    For any h, :math:`g(X) = P(Y \mid h(X))` is calibrated [1]_: one cell a row gives the posterior
    itself, one cell for all gives the prior. Here P is the law that draws one of these rows and
    then its outcome from its posterior. Time O(n log n + n K).

    References
    ----------
    .. [1] Vaicenavicius et al. (2019), Evaluating model calibration in classification,
       Proposition 1, arXiv 1902.06977.

    Examples
    --------
    >>> coarsen([0.125, 0.375, 0.5], ["left", "left", "right"])
    array([0.25, 0.25, 0.5 ])
    """
    caller = "coarsen"
    given = float_array(posterior, caller=caller, param="posterior").astype(np.float64)
    p = check_probabilities(given, caller=caller, param="posterior")
    names = _check_cells(cells, len(p), caller)
    weight = check_weight(sample_weight, len(p), caller=caller)
    weight = np.ones(len(p)) if weight is None else weight
    _, index = np.unique(names, return_inverse=True)
    mass = np.bincount(index, weight)
    if not mass.all():
        hint = "drop the rows of weight zero."
        raise invalid(caller, "sample_weight", "positive in each cell", "an empty one", hint=hint)
    weighted = weight[:, None] * p.reshape(len(p), -1)
    return _cell_means(index, weighted, mass)[index].reshape(p.shape)


@dataclass(frozen=True, eq=False)
class CoarsenedClassifier:
    r"""Calibrated classifier that only sees a statistic of the features: P(Y | h(X)).

    Made by `from_edges` (exact) or `from_statistic` (by drawing), called like any classifier.

    Attributes
    ----------
    cells : (C,) values of the statistic, ascending
    table : (C, K) probabilities answered in each cell
    mass : (C,) probability of each cell
    standard_error : (C, K) of `table`; zeros where it is exact
    statistic : function of the features that names the cell
    prior : (K,) what is answered in a cell that is not in the table

    Notes
    -----
    Vaicenavicius et al. (2019), Proposition 1, arXiv 1902.06977: calibrated whatever the
    statistic. What is lost is sharpness: by the law of total variance the Brier score exceeds that
    of the posterior by the mean variance of the posterior within the cells.

    Examples
    --------
    Two normals at -1 and 1, cut at zero: right with probability 0.8413 on both sides.

    >>> task = GaussianMixtureTask([-1, 1], [1, 1], [0, 1])
    >>> CoarsenedClassifier.from_edges(task, [0.0])([-2.0, 0.5]).round(4)
    array([[0.8413, 0.1587],
           [0.1587, 0.8413]])
    """

    cells: Array
    table: FloatArray
    mass: FloatArray
    standard_error: FloatArray
    statistic: Statistic = field(repr=False)
    prior: FloatArray

    @classmethod
    def from_edges(cls, task: GaussianMixtureTask, edges: ArrayLike) -> Self:
        """Cut the one feature of a task at `edges` (cells are right-closed); exact.

        Without edges the classifier answers the prior.
        """
        caller = "from_edges"
        cut = np.array(edges, dtype=np.float64)
        if cut.ndim != 1 or not np.isfinite(cut).all():
            hint = "give the places to cut at, in ascending order."
            raise invalid(caller, "edges", "finite, 1-d", f"{edges!r}", hint=hint)
        joint = task.interval_mass(np.concatenate([[-np.inf], cut, [np.inf]]))
        mass = joint.sum(axis=1)
        held = np.flatnonzero(mass > 0)  # beyond some forty deviations there is none
        table = joint[held] / mass[held, None]

        def cell_of(x: FloatArray) -> Array:
            return np.searchsorted(cut, task.check_features(x, caller=cls.__name__)[:, 0])

        return cls(held, table, mass[held], np.zeros_like(table), cell_of, task.prior)

    @classmethod
    def from_statistic(
        cls,
        task: GaussianMixtureTask,
        statistic: Statistic,
        *,
        n_draws: int = 1_000_000,
        rng: Any = None,
    ) -> Self:
        """Average the posterior over drawn rows in each cell of `statistic`, (n, d) to (n,).

        Means of posteriors, not of outcomes, so the error is small; it is in `standard_error`. Use
        statistics with far fewer values than `n_draws`. Cells never drawn answer the prior.
        """
        caller = "from_statistic"
        n_draws = check_rows(n_draws, caller=caller, param="n_draws")
        sample = task.sample(n_draws, rng=check_rng(rng, caller=caller))
        names = _check_cells(statistic(sample.x), n_draws, caller)
        cells, index, count = np.unique(names, return_inverse=True, return_counts=True)
        table = _cell_means(index, sample.posterior, count)
        variance = _cell_means(index, (sample.posterior - table[index]) ** 2, count)
        error = np.sqrt(variance / np.maximum(count - 1, 1)[:, None])
        error[count == 1] = np.inf  # one row says nothing of the spread
        return cls(cells, table, count / n_draws, error, statistic, task.prior)

    def __call__(self, x: ArrayLike) -> FloatArray:
        """Probabilities (n, K) of the cells the features are in."""
        features = float_array(x, caller=type(self).__name__, param="x").astype(np.float64)
        if features.ndim == 1:
            features = features[:, None]
        names = _check_cells(self.statistic(features), len(features), type(self).__name__)
        place = np.minimum(np.searchsorted(self.cells, names), len(self.cells) - 1)
        known = self.cells[place] == names
        return np.where(known[:, None], self.table[place], self.prior)


def _cell_means(index: Array, values: FloatArray, count: Array) -> FloatArray:
    return np.column_stack([np.bincount(index, column) for column in values.T]) / count[:, None]


def _check_cells(cells: Any, n: int, caller: str) -> Array:
    names = to_numpy(cells, caller=caller, param="cells")
    if names.shape != (n,):
        hint = "name one cell a row."
        raise invalid(caller, "cells", f"of shape ({n},)", f"shape {names.shape}", hint=hint)
    if missing_values(names).any():
        hint = "a row that belongs nowhere can have a cell of its own."
        raise invalid(caller, "cells", "free of missing values", "missing ones", hint=hint)
    return names
