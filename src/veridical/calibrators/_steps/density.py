"""The reliability curve of kernel densities as a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.options import check_flag
from veridical._core.data.randomness import check_resamples
from veridical._core.data.schema import Fields, Number, Numbers, Relations
from veridical._core.data.validation import check_level, check_option, is_integer
from veridical._core.formula import Logistic, Nodes, interpolation
from veridical._core.numeric.density import (
    KERNELS,
    choose_bandwidth,
    grid_mass,
    roughness,
    score_density,
)
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, FloatArray
from veridical.calibrators._base.bases import BinaryCalibrator, WeightedOutcomes
from veridical.calibrators._base.nodes import outputs_from_positive, positive_value
from veridical.calibrators._base.scales import BinaryScores
from veridical.calibrators._steps.pieces import check_laplace, mix
from veridical.curves.core import CELLS, check_bandwidth
from veridical.exceptions import invalid

_GRID = 512  # steps at least; a power of two, so that its points are exact


@dataclass(kw_only=True, eq=False, repr=False)
class DensityCalibrator(BinaryCalibrator):
    r"""P(positive | score) by Bayes' rule from kernel densities: a smooth map, with intervals.

    Parameters
    ----------
    bandwidth : {"silverman", "scott", "isj"} or float, default "silverman"
        Standard deviation of the kernel on the scale of probabilities, or the rule for it; at
        least 1/200.
    kernel : {"triweight", "gaussian", "cosine"}, default "triweight"
        Shape of the kernel.
    monotone : bool, default False
        Replace the curve by the non-decreasing one closest to it, weighted by the density.
    laplace : float, default 1
        Imagined rows of each class, which keep the map off 0 and 1, and twice as many as predicted
        beside the rows that a kernel reaches; 0 turns the guard off.
    n_resamples : int, default 500
        Resamples of `predict_interval`.
    random_state : int or None
        Seed of `predict_interval`: the same seed gives the same intervals.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; scores are read as logits.
    labels : array-like, optional
        Classes in column order.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    bandwidth_ : float
        Standard deviation of the kernel.
    mass_ : array of shape (2, g + 1)
        Share of the rows at equally spaced points of [0, 1], by outcome.
    curve_ : array of shape (g + 1,)
        Probabilities at these points; linear between them.
    size_ : float
        Sample size.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    With :math:`\hat f` the density of all scores and :math:`\hat f_1` that of positive rows, both
    reflected at 0 and 1 and with the same bandwidth (001 section 4.4),

    .. math:: g(s) = \hat P(y = 1)\, \hat f_1(s) / \hat f(s)

    Where no kernel reaches, the map is interpolated, or constant beyond the outermost scores. The
    guard is twofold, with a = `laplace`. Where the kernel counts m rows, g becomes
    (m g + 2 a s) / (m + 2 a): two imagined rows that happen as predicted speak up where few others
    do, as at high scores of rare events. Then (n g + a) / (n + 2 a) keeps it off 0 and 1. A
    bandwidth pulls steep parts of the curve towards their surroundings: scores crowded near 0 or 1
    are told apart badly. `SplineCalibrator` is the better choice there.

    Time O(n + g log g).

    Examples
    --------
    Scores half a unit apart do not see each other: frequencies 1/2 and 1.

    >>> p, y = [0.25, 0.25, 0.75, 0.75], [0, 1, 1, 1]
    >>> map = DensityCalibrator(bandwidth=0.05, laplace=0).fit(p, y)
    >>> map.predict_proba([0.25, 0.75])[:, 1].round(6).tolist()
    [0.5, 1.0]
    """

    _fitted = Fields(
        bandwidth_=Number(above=0, high=1e6),
        size_=Number(above=0),
        mass_=Numbers(2, "g", low=0),
        curve_=Numbers("g", low=0, high=1, least=2),
    )

    bandwidth: float | str = "silverman"
    kernel: str = "triweight"
    monotone: bool = False
    laplace: float = 1.0
    n_resamples: int = 500
    random_state: int | None = None

    def predict_interval(self, y_prob: ArrayLike, *, confidence_level: float = 0.95) -> FloatArray:
        """Percentile bootstrap interval of each probability of the positive class, shape (n, 2).

        Each is for one prediction, not for all at once, and for the smoothed curve: what the
        bandwidth smooths away is not in it. Rows are drawn as points of the grid, with the
        bandwidth kept. Time O(n_resamples g log g + n).
        """
        level = check_level(type(self).__name__, confidence_level)
        scores = self._checked_scores(y_prob)
        rng = np.random.default_rng(self.random_state)
        share = self.mass_.reshape(-1) / self.mass_.sum()
        draws = max(1, round(self.size_))
        curves = np.empty((self.n_resamples, len(self.curve_)))
        for i in track(self.n_resamples, "resampling the calibration map"):
            curves[i] = self._curve(rng.multinomial(draws, share).reshape(2, -1).astype(np.float64))
        tails = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return np.column_stack([np.interp(scores.p, self._grid(), tail) for tail in tails])

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield "mass_", float(self.mass_.sum()) > 0, "positive somewhere"

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_bandwidth(caller, "density", self.bandwidth)
        check_option(caller, "kernel", self.kernel, KERNELS)
        check_laplace(caller, self.laplace)
        check_resamples(self.n_resamples, caller=caller)
        check_flag(caller, "monotone", self.monotone)
        seed: Any = self.random_state
        if seed is not None and not (is_integer(seed) and seed >= 0):
            hint = "a seed is kept with the calibrator, so it is a number."
            raise invalid(caller, "random_state", "an integer or None", repr(seed), hint=hint)

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> None:
        sample = BinarySample(
            y=rows.y, p=scores.p, weight=rows.weight, weight_type=self.weight_type
        )
        width = check_bandwidth(type(self).__name__, "density", self.bandwidth)
        if isinstance(width, str):
            width = choose_bandwidth(sample, width)
        self.bandwidth_, self.size_ = max(float(width), 1 / CELLS), rows.size
        steps = len(self._density(sample, _GRID).grid) - 1
        self.mass_ = grid_mass(sample, steps)
        self.curve_ = self._curve(self.mass_)

    def _map(self, scores: BinaryScores) -> FloatArray:
        return np.interp(scores.p, self._grid(), self.curve_)

    def _grid(self) -> FloatArray:
        steps = self.mass_.shape[1] - 1
        return np.arange(steps + 1) / steps

    def _density(self, sample: BinarySample, steps: int) -> Any:
        return score_density(sample, bandwidth=self.bandwidth_, kernel=self.kernel, n_grid=steps)

    def _curve(self, mass: FloatArray) -> FloatArray:
        """Guarded curve on the grid from weights at its points."""
        grid = self._grid()
        y = np.repeat(np.array([0, 1], dtype=np.uint8), len(grid))
        nodes = BinarySample(y=y, p=np.tile(grid, 2), weight=mass.reshape(-1))
        density = self._density(nodes, len(grid) - 1)
        known = np.flatnonzero(np.isfinite(density.frequency))
        values = density.frequency[known]
        if self.laplace:
            rows = self.size_ * density.density[known] * self.bandwidth_ / roughness(self.kernel)
            imagined = 2 * self.laplace
            values = (rows * values + imagined * grid[known]) / (rows + imagined)
        if self.monotone:
            from scipy.optimize import isotonic_regression

            fit = isotonic_regression(values, weights=density.density[known])
            values = np.clip(fit.x, 0.0, 1.0)
        return mix(np.interp(grid, grid[known], values), self.size_, self.laplace)

    def _formula(self, inputs: Nodes) -> Nodes:
        value = positive_value(self, inputs)
        p = value if self.input == "probability" else Logistic(value)
        grid = np.arange(len(self.curve_)) / (len(self.curve_) - 1)
        return outputs_from_positive(self, interpolation(p, grid, self.curve_))
