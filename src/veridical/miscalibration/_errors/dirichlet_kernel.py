"""Canonical calibration error by Dirichlet kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from veridical._core.data.validation import check_option, is_number
from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import MulticlassSample, Sample, one_hot
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.lenses import ClasswiseProblem, Problem
from veridical.miscalibration._errors.base import Estimator

_SMALLEST = 1e-7  # probability below which a prediction is taken to be as far out as this
_TILE = 1 << 21  # kernel values held at once
_JUDGED = 500  # predictions at most whose likelihood chooses the bandwidth
_RULES = ("auto", "likelihood")
_GRID = np.concatenate([np.logspace(-5, -1, 15), np.linspace(0.2, 1.0, 5)])
_NARROWEST = 1e-6
_FEW = 20  # distinct predictions that are hardly enough to choose a bandwidth by


@dataclass(frozen=True)
class DirichletKernelError(Estimator):
    r"""Distance between predictions and the outcomes of similar ones, all classes at once.

    Parameters
    ----------
    bandwidth : "auto", "likelihood" or float, default "auto"
        How far predictions may differ to be similar, at least 1e-6. The two rules take the best of
        15 values from 1e-5 to 0.1, equally spaced in logarithms, and 0.2, 0.4, ..., 1 (the authors'
        grid): "auto" the one whose leave-one-out means predict the outcomes best (by their Brier
        score), "likelihood" the one under which predictions are most likely given the others, as
        the authors propose.
    norm : float >= 1, default 1
        1 averages absolute gaps, 2 squared ones (and takes the root).

    Notes
    -----
    What is observed at a prediction is a mean over all other rows,

    .. math:: r_i = \frac{\sum_{j \ne i} k(p_i; p_j)\, y_j}{\sum_{j \ne i} k(p_i; p_j)}, \qquad
        \left(\frac{1}{2n} \sum_i \sum_k |r_{ik} - p_{ik}|^q\right)^{1/q}

    with one-hot :math:`y_j`, the norm q, and :math:`k(\cdot\,; p_j)` the density of a Dirichlet
    distribution with parameters :math:`p_j / h + 1`, which lives on the simplex and has its mode at
    :math:`p_j`. The factor 1/2 makes norm 1 the mean total variation, and any norm that of
    :math:`|r - p|` for two classes; the authors' "Lp error to the power p" is twice the q-th power
    of this. Lower is better; in [0, 1]. Takes the whole prediction: ``lens="canonical"`` for three
    classes or more. For a classwise lens (mean_k e_k^q)^(1/q) over the one-vs-rest problems.

    Bias: consistent if h falls as n grows, slowly enough [1]_. For finite n noise adds (a
    calibrated model reads more than zero; more so the fewer rows are in reach, so with more
    classes), and smoothing adds or takes away, to first order in h: a kernel is about
    :math:`\sqrt{h\, p_k (1 - p_k)}` wide and leans inwards at the border of the simplex. Compare
    with a null level.

    Rules: what is good for the density of predictions need not be for the outcomes. A calibrated
    model with uniform predictions of three classes, n = 1000, reads 0.21 with "likelihood", which
    takes h = 1, and 0.04 with "auto". The likelihood leaves out all rows with the prediction in
    question, not only the row itself: with ties the latter prefers the smallest bandwidth. (The
    authors' program also divides their density by h.) Of more than 500 distinct predictions both
    rules judge 500, evenly spaced in lexicographic order, by means over all rows.

    Probabilities below 1e-7 are taken for 1e-7 where a kernel is read, since its logarithm is not
    defined at 0; its parameters and the error use them as they are. A prediction far from all
    others is compared with the nearest one.

    Weights: rows count by weight in all sums. Left out is the row itself: all of its weight for
    importance weights (scale-free), one count for frequencies (repetition exact).

    Time O(n^2 K) for n distinct predictions, and for a rule up to 20 times 500 n kernels more;
    memory O(n K), kernels in tiles of 16 MB. A null level repeats this for each resample: use a
    number as bandwidth there.

    References
    ----------
    .. [1] Popordanoska, Sayer & Blaschko (2022), A consistent and differentiable Lp canonical
       calibration error estimator, arXiv 2210.07810.

    Examples
    --------
    Equal predictions: outcome 0 is compared with three ones, each 1 with two ones of three.

    >>> error = DirichletKernelError(0.1)([0, 1, 1, 1], [0.5] * 4)
    >>> round(error, 12)  # (1/2 + 3 * 1/6) / 4
    0.25
    """

    bandwidth: float | Literal["auto", "likelihood"] = "auto"
    norm: float = 1

    def __post_init__(self) -> None:
        caller, width, norm = "DirichletKernelError", cast("Any", self.bandwidth), self.norm
        if isinstance(width, str):
            check_option(caller, "bandwidth", width, _RULES)
        elif not (is_number(width) and width >= _NARROWEST):
            hint = '"auto", or a number such as 0.01.'
            expected = f"a rule or >= {_NARROWEST:g}"
            raise invalid(caller, "bandwidth", expected, repr(width), hint=hint)
        if not (is_number(norm) and norm >= 1):
            hint = "1 averages absolute gaps, 2 squared ones."
            raise invalid(caller, "norm", "a number >= 1", repr(norm), hint=hint)

    @property
    def name(self) -> str:
        """Short name."""
        known = {1.0: "Dirichlet-kernel error", 2.0: "Dirichlet-kernel RMS error"}
        return known.get(float(self.norm), f"Dirichlet-kernel L{self.norm:g} error")

    @property
    def definition(self) -> str:
        """Kernel and bandwidth in words."""
        return f"Dirichlet kernel, bandwidth {self.bandwidth}, leave-one-out"

    def measure(self, problem: Problem) -> float:
        """Compare each row with all others."""
        return self.measure_with_doubts(problem)[0]

    def measure_with_doubts(self, problem: Problem) -> tuple[float, list[str]]:
        """Also say if there is little to choose a bandwidth by."""
        if isinstance(problem, ClasswiseProblem):
            each = [self.measure(problem.problem(k)) for k in range(problem.n_problems)]
            return float(np.mean(np.power(each, self.norm)) ** (1 / self.norm)), []
        pooled = _pool(problem)
        doubts = []
        width = self.bandwidth
        if isinstance(width, str):
            width = choose_bandwidth(pooled, width)
            few = f"only {len(pooled.points)} distinct predictions to choose a bandwidth by"
            doubts = [few] * (len(pooled.points) < _FEW)
        means = leave_one_out(pooled, float(width), np.arange(len(pooled.points)))[1]
        gap = np.abs(means - pooled.matrix) ** self.norm
        mean = float(pooled.weight @ gap.sum(axis=1) / pooled.weight.sum()) / 2
        return mean ** (1 / self.norm), doubts


class _Pooled(NamedTuple):
    """Rows, and the distinct predictions among them in lexicographic order."""

    matrix: FloatArray  # (n, K) predictions
    outcome: FloatArray  # (n, K) one-hot
    weight: FloatArray  # (n,)
    own: FloatArray  # (n,) weight that is left out where a row is compared with the others
    points: FloatArray  # (m, K)
    place: IntArray  # (n,) number of a row's point
    mass: FloatArray  # (m, 1 + K): total weight at a point, and by class that occurred


def _pool(sample: Sample) -> _Pooled:
    matrix = sample.matrix.astype(np.float64)
    several = MulticlassSample(y=sample.index, p=matrix, classes=sample.columns)
    outcome = one_hot(several)
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    counted = sample.weight is None or sample.weight_type == "frequency"
    own = np.minimum(weight, 1.0) if counted else weight
    points, place = np.unique(matrix, axis=0, return_inverse=True)
    place = place.reshape(-1)
    mass = np.zeros((len(points), 1 + outcome.shape[1]))
    np.add.at(mass[:, 0], place, weight)
    np.add.at(mass, (place, 1 + sample.index), weight)
    if len(points) == 1 and not (mass[0, 0] > own).all():
        hint = "a row is compared with the others."
        raise invalid("DirichletKernelError", "y_true", "two rows or more", "one", hint=hint)
    return _Pooled(matrix, outcome, weight, own, points, place, mass)


def leave_one_out(pooled: _Pooled, width: float, chosen: IntArray) -> tuple[IntArray, FloatArray]:
    """Rows at the chosen points, and the mean outcome of all other rows there, (rows, K)."""
    number = np.full(len(pooled.points), -1)
    number[chosen] = np.arange(len(chosen))
    rows = np.flatnonzero(number[pooled.place] >= 0)
    place, own = pooled.place[rows], pooled.own[rows]
    rest = pooled.mass[place, 0] - own
    tied = np.zeros(len(pooled.points), dtype=bool)
    tied[place[rest > 0]] = True
    others, same = np.zeros_like(pooled.mass), np.zeros(len(pooled.points))
    for at, logs in _log_kernels(pooled.points, chosen, width):
        here = np.arange(len(at))
        diagonal = logs[here, at]
        logs[here, at] = -np.inf
        peak = np.maximum(logs.max(axis=1), np.where(tied[at], diagonal, -np.inf))
        logs -= peak[:, None]
        others[at] = np.exp(logs, out=logs) @ pooled.mass
        same[at] = np.where(tied[at], np.exp(np.minimum(diagonal - peak, 0.0)), 0.0)
    beside = same[place, None]
    total = others[place, :1] + rest[:, None] * beside
    left = pooled.mass[place, 1:] - own[:, None] * pooled.outcome[rows]
    return rows, (others[place, 1:] + left * beside) / total


def choose_bandwidth(pooled: _Pooled, rule: str) -> float:
    """Best value of the grid; the smallest of equals."""
    n_points = len(pooled.points)
    if n_points == 1:
        return 1.0  # of no consequence
    # Evenly spread over predictions sorted by their largest value: no class comes first.
    spread = np.linspace(0, n_points - 1, min(n_points, _JUDGED)).round().astype(np.intp)
    judged = np.sort(np.argsort(pooled.points.max(axis=1), kind="stable")[spread])
    loss = _brier if rule == "auto" else _minus_likelihood
    losses = [loss(pooled, float(width), judged) for width in _GRID]
    # Rounding must not decide between values that are equally good.
    near = np.asarray(losses) <= min(losses) + 1e-12 * abs(min(losses))
    return float(_GRID[near.argmax()])


def _brier(pooled: _Pooled, width: float, judged: IntArray) -> float:
    rows, means = leave_one_out(pooled, width, judged)
    return float(pooled.weight[rows] @ ((means - pooled.outcome[rows]) ** 2).sum(axis=1))


def _minus_likelihood(pooled: _Pooled, width: float, judged: IntArray) -> float:
    weight, total = pooled.mass[:, 0], 0.0
    for at, logs in _log_kernels(pooled.points, judged, width):
        logs[np.arange(len(at)), at] = -np.inf
        peak = logs.max(axis=1)
        logs -= peak[:, None]
        density = np.exp(logs, out=logs) @ weight / (weight.sum() - weight[at])
        total += float(weight[at] @ (peak + np.log(density)))
    return -total


def _log_kernels(
    points: FloatArray, chosen: IntArray, width: float
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Logarithms of the kernels of all points (columns) at the chosen ones (rows), in tiles.

    One matrix product: log p . p' / h, and one more column for the constant of each kernel.
    """
    from scipy.special import gammaln

    scaled = points / width
    constant = gammaln(scaled + 1).sum(axis=1) - gammaln(scaled.sum(axis=1) + points.shape[1])
    kernels = np.column_stack([scaled, -constant]).T
    for block in row_blocks(len(chosen), max(1, _TILE // len(points))):
        rows = chosen[block]
        logs = np.log(np.maximum(points[rows], _SMALLEST))
        yield rows, np.column_stack([logs, np.ones(len(rows))]) @ kernels
