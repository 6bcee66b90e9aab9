"""Expectations under a fake classifier: over given nodes, or by Monte Carlo.

E|E[d | z]| where (z, d) can be drawn: the form of every calibration error under a lens.

For the confidence lens z = max c and d = p_argmax(c) - z; for class k z = c_k and d = p_k - c_k.
The outcome is replaced by its probability, so what is left of the noise is the spread of the truth
among rows that report the same z, which is none where z tells the truth.

Within a bin of z in which the gap E[d | z] keeps its sign, E|E[d | z]| is |E[d]| exactly: narrow
bins lose only where the gap changes sign. Noise adds where it is close to zero. Taking the sign of
a bin from other draws than those it is multiplied with gives a figure that is never too large on
average, the plain one is never too small but for the bins; the truth is between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import is_integer
from veridical._core.runtime.progress import track
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.results import ExactValue

if TYPE_CHECKING:
    from veridical.simulation._fakes.fake import FakeClassifier


_STUDENT = 2.093  # 97.5 % quantile with 19 degrees of freedom
_PILOT = 50_000  # rows that place the bins
GROUPS = 20  # of draws: one more than these degrees of freedom


@dataclass(frozen=True)
class GapBins:
    """Overlapping bins of z for each of J questions: rows are shared linearly by two bins.

    Sharing keeps the sums of a regular grid of nodes from jumping as nodes cross an edge.

    Attributes
    ----------
    knots : list of arrays
        Centres of the bins for each question, increasing; a value of z with much mass is one.
    n_bins : int
        Bins of each question, some possibly empty.
    """

    knots: list[FloatArray]
    n_bins: int

    @classmethod
    def by_quantiles(cls, z: FloatArray, n_bins: int) -> GapBins:
        """Bins that hold about as many rows of `z`, of shape (n, J), each."""
        some = z[:: len(z) // _PILOT | 1]  # an odd step is no multiple of the rows of a grid
        levels = np.linspace(0, 1, n_bins)
        knots = np.quantile(some, levels, axis=0, method="lower")  # values that do occur
        return cls([np.unique(knots[:, j]) for j in range(z.shape[1])], n_bins)

    def sums(self, z: FloatArray, d: FloatArray, weight: FloatArray | None = None) -> FloatArray:
        """Sum of d in each bin, of shape (J, n_bins)."""
        if weight is not None:
            d = d * weight[:, None]
        total = np.zeros((len(self.knots), self.n_bins + 1))
        for j, knots in enumerate(self.knots):
            lower, share = _between(z[:, j], knots)
            upper_part = d[:, j] * share
            total[j] += np.bincount(lower, d[:, j] - upper_part, self.n_bins + 1)
            total[j] += np.bincount(lower + 1, upper_part, self.n_bins + 1)
        return total[:, :-1]


def _between(z: FloatArray, knots: FloatArray) -> tuple[IntArray, FloatArray]:
    """Knot at or below each value, and how far on it is towards the next one, from 0 to 1.

    A quotient of differences, not a slope: knots may be closer than a slope can express.
    """
    if len(knots) == 1:
        return np.zeros(len(z), dtype=np.intp), np.zeros(len(z))
    lower = np.clip(np.searchsorted(knots, z, side="right") - 1, 0, len(knots) - 2)
    share = (z - knots[lower]) / (knots[lower + 1] - knots[lower])
    return lower, np.clip(share, 0.0, 1.0)


def plain_error(sums: FloatArray) -> float:
    """Mean over questions of the summed absolute gaps; `sums` are already shares of the whole."""
    return float(np.abs(sums).sum(axis=1).mean())


def halved(sums: FloatArray) -> list[FloatArray]:
    """Sums of pairs of neighbouring bins, in both ways to pair them."""
    n = sums.shape[-1]
    starts = (np.arange(0, n, 2), np.concatenate([[0], np.arange(1, n, 2)]))
    return [np.add.reduceat(sums, start, axis=-1) for start in starts]


def cross_fitted_error(sums: FloatArray) -> tuple[float, float]:
    """Error and its half width from sums of shape (GROUPS, J, n_bins), as shares of each group.

    The half width is that of a 95 % interval over groups, plus the distance to the plain figure
    and to the figure with half as many bins: noise in the signs, and bins that are too wide.
    """
    value, spread = _cross_fit(sums)
    width = max(abs(value - _cross_fit(pairs)[0]) for pairs in halved(sums))
    bias = abs(plain_error(sums.mean(axis=0)) - value)
    return value, spread + bias + width


def _cross_fit(sums: FloatArray) -> tuple[float, float]:
    others = np.sign(sums.sum(axis=0) - sums)
    return mean_of_groups((others * sums).sum(axis=2).mean(axis=1))


def mean_of_groups(values: FloatArray) -> tuple[float, float]:
    """Mean of independent group means and the half width of its 95 % interval."""
    return float(values.mean()), _STUDENT * float(values.std(ddof=1)) / len(values) ** 0.5


def grouped_error(z: FloatArray, d: FloatArray, weight: FloatArray) -> float:
    """Exact error of finitely many rows: those that report the same z are pooled."""
    total = 0.0
    for j in range(z.shape[1]):
        _, group = np.unique(z[:, j], return_inverse=True)
        total += float(np.abs(np.bincount(group, weights=weight * d[:, j])).sum())
    return total / z.shape[1]


def _in_bins(z: FloatArray, weight: FloatArray, n_bins: int) -> FloatArray:
    """Number of the bin of equal mass that each value is in, column by column; ties stay together.

    A value is where the middle of its own mass is.
    """
    result = np.empty_like(z)
    for j in range(z.shape[1]):
        _, group = np.unique(z[:, j], return_inverse=True)
        mass = np.bincount(group, weights=weight)
        middle = np.cumsum(mass) - mass / 2
        result[:, j] = np.floor(middle / mass.sum() * n_bins)[group]
    return result


_CELLS = 1 << 21  # probabilities in memory at a time
_BINS = 256
_MOST_DRAWS, _FEWEST_DRAWS = 1_000_000, 20_000
_ALL_CELLS = 20_000_000  # probabilities drawn in all, unless the user asks for more

# From (true rows, reported rows) to one number per row, or to (z, d) of shape (n, J) each.
RowFigure = Callable[[FloatArray, FloatArray], FloatArray]
GapFigure = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Nodes:
    """Points of the simplex and their weights, which sum to one.

    Attributes
    ----------
    log_p : array of shape (n, K)
    weight : array of shape (n,)
    c : array of shape (n, K)
        What is reported there; None if the map says so.
    """

    log_p: FloatArray
    weight: FloatArray
    c: FloatArray | None = None


@dataclass(frozen=True)
class WeightedRows:
    """True and reported rows of shape (n, K), and their weights, which sum to one."""

    p: FloatArray
    c: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class Meaning:
    """Name and definition of a figure."""

    name: str
    definition: str

    def exact(self, value: float, error: float, method: str, n: int | None = None) -> ExactValue:
        """The figure, found by this method over `n` points."""
        return ExactValue(
            name=self.name,
            value=value,
            error=error,
            method=method,
            definition=self.definition,
            n_points=n,
        )


def top_truth(p: FloatArray, c: FloatArray) -> FloatArray:
    """True probability of the class that is reported as the most probable."""
    return p[np.arange(len(p)), c.argmax(axis=1)]


def largest(p: FloatArray, c: FloatArray) -> FloatArray:
    """Confidence: the largest reported probability."""
    return c.max(axis=1)


def surprise(p: FloatArray, c: FloatArray) -> FloatArray:
    """Expected log loss of a row."""
    with np.errstate(divide="ignore"):
        return -np.where(p > 0, p * np.log(np.where(p > 0, c, 1.0)), 0.0).sum(axis=1)


def confidence_gap(p: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Confidence, and by how much the truth exceeds it."""
    z = c.max(axis=1)
    return z[:, None], (top_truth(p, c) - z)[:, None]


def class_gaps(p: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Reported probability of each class, and by how much the truth exceeds it."""
    return c, p - c


def total_variation(p: FloatArray, c: FloatArray) -> FloatArray:
    """Half the sum of absolute differences."""
    return np.abs(p - c).sum(axis=1) / 2


def mean_value(
    fake: FakeClassifier, figure: RowFigure, meaning: Meaning, *, n_draws: int | None, rng: Any
) -> ExactValue:
    """E[figure(p, c)]."""
    rules = fake.quadrature_rules()
    if rules is not None:
        return mean_over(_rows(fake, rules), figure, meaning)
    values = np.zeros(GROUPS)
    count = 0
    for group, p, c in _draws(fake, n_draws, rng):
        values[group] += float(figure(p, c).sum())
        count += len(p)
    value, error = mean_of_groups(values * GROUPS / count)
    return meaning.exact(value, error, "monte carlo", count)


def conditional_value(
    fake: FakeClassifier, figure: GapFigure, meaning: Meaning, *, n_draws: int | None, rng: Any
) -> ExactValue:
    """Mean over questions of E|E[d | z]| with (z, d) = figure(p, c)."""
    rules = fake.quadrature_rules()
    if rules is not None:
        return conditional_over(_rows(fake, rules), figure, meaning, n_pools=fake.n_pools)
    bins = None
    count = 0
    for group, p, c in _draws(fake, n_draws, rng):
        z, d = figure(p, c)
        if bins is None:
            bins = GapBins.by_quantiles(z, _BINS)
            sums = np.zeros((GROUPS, z.shape[1], _BINS))
        sums[group] += bins.sums(z, d)
        count += len(p)
    value, error = cross_fitted_error(sums * (GROUPS / count))
    return meaning.exact(value, error, "monte carlo", count)


def mean_over(
    rules: list[WeightedRows], figure: RowFigure, meaning: Meaning, *, root: float = 1.0
) -> ExactValue:
    """E[figure(p, c)]^(1 / root) over a coarse and a fine rule, or over one finite population."""
    values = [float(rule.weight @ figure(rule.p, rule.c)) ** (1 / root) for rule in rules]
    return _from_rules(meaning, values, rules)


def conditional_over(
    rules: list[WeightedRows], figure: GapFigure, meaning: Meaning, *, n_pools: int | None = None
) -> ExactValue:
    """Mean over questions of E|E[d | z]| over two rules, or over one finite population.

    Rows of a population are pooled where they report the same, or in `n_pools` bins of equal mass.
    """
    values, slack = [], 0.0
    for rule in rules:
        z, d = figure(rule.p, rule.c)
        if n_pools is not None:
            coarse, fine = (
                grouped_error(_in_bins(z, rule.weight, n), d, rule.weight)
                for n in (n_pools, 2 * n_pools)
            )
            return meaning.exact(coarse, abs(fine - coarse), "finite sum", len(z))
        if len(rules) == 1:
            values.append(grouped_error(z, d, rule.weight))
            continue
        sums = GapBins.by_quantiles(z, _BINS).sums(z, d, rule.weight)
        values.append(plain_error(sums))
        slack = max(abs(values[-1] - plain_error(pairs)) for pairs in halved(sums))
    return _from_rules(meaning, values, rules, slack=slack)


def _draws(
    fake: FakeClassifier, n_draws: int | None, rng: Any
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """True and reported rows in blocks of equal size, the same number for each group."""
    caller = type(fake).__name__
    if n_draws is None:
        n_draws = min(_MOST_DRAWS, max(_FEWEST_DRAWS, _ALL_CELLS // fake.n_classes))
    if not (is_integer(n_draws) and n_draws >= 1000):
        hint = "the error falls with the square root; 1,000,000 draws give about 0.0003."
        raise invalid(caller, "n_draws", "an integer of at least 1000", repr(n_draws), hint=hint)
    generator = check_rng(rng, caller=caller)
    rounds = -(-n_draws * fake.n_classes // (_CELLS * GROUPS))
    size = -(-n_draws // (rounds * GROUPS))
    for index in track(rounds * GROUPS, "drawing from the fake classifier"):
        log_p, c = fake.draw_rows(size, generator)
        yield index % GROUPS, np.exp(log_p), c


def _rows(fake: FakeClassifier, rules: list[Nodes]) -> list[WeightedRows]:
    reported = [fake.map.from_log(rule.log_p) if rule.c is None else rule.c for rule in rules]
    return [
        WeightedRows(np.exp(rule.log_p), c, rule.weight)
        for rule, c in zip(rules, reported, strict=True)
    ]


def _from_rules(
    meaning: Meaning, values: list[float], rules: list[WeightedRows], *, slack: float = 0.0
) -> ExactValue:
    method = "finite sum" if len(rules) == 1 else "quadrature"
    error = abs(values[-1] - values[0]) + slack
    return meaning.exact(values[-1], error, method, len(rules[-1].weight))
