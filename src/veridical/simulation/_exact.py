"""Expectations under a fake classifier: over given nodes, or by Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.progress import track
from veridical._core.randomness import check_rng
from veridical._core.typing import FloatArray
from veridical._core.validation import is_integer
from veridical.exceptions import invalid
from veridical.results._fake import ExactValue
from veridical.simulation._conditional import (
    GROUPS,
    GapBins,
    cross_fitted_error,
    grouped_error,
    halved,
    mean_of_groups,
    plain_error,
)

if TYPE_CHECKING:
    from veridical.simulation._fake import FakeClassifier

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
    """

    log_p: FloatArray
    weight: FloatArray


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


def top_truth(p: FloatArray, c: FloatArray) -> FloatArray:
    """True probability of the class that is reported as the most probable."""
    return p[np.arange(len(p)), c.argmax(axis=1)]


def largest(p: FloatArray, c: FloatArray) -> FloatArray:
    """Confidence: the largest reported probability."""
    return c.max(axis=1)


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
    return _figure(meaning, value, error, "monte carlo", count)


def conditional_value(
    fake: FakeClassifier, figure: GapFigure, meaning: Meaning, *, n_draws: int | None, rng: Any
) -> ExactValue:
    """Mean over questions of E|E[d | z]| with (z, d) = figure(p, c)."""
    rules = fake.quadrature_rules()
    if rules is not None:
        return conditional_over(_rows(fake, rules), figure, meaning)
    return _conditional_by_draws(fake, figure, meaning, n_draws=n_draws, rng=rng)


def mean_over(
    rules: list[WeightedRows], figure: RowFigure, meaning: Meaning, *, root: float = 1.0
) -> ExactValue:
    """E[figure(p, c)]^(1 / root) over a coarse and a fine rule, or over one finite population."""
    values = [float(rule.weight @ figure(rule.p, rule.c)) ** (1 / root) for rule in rules]
    return _from_rules(meaning, values, rules)


def conditional_over(rules: list[WeightedRows], figure: GapFigure, meaning: Meaning) -> ExactValue:
    """Mean over questions of E|E[d | z]| over two rules, or over one finite population."""
    values, slack = [], 0.0
    for rule in rules:
        z, d = figure(rule.p, rule.c)
        if len(rules) == 1:
            values.append(grouped_error(z, d, rule.weight))
            continue
        sums = GapBins.by_quantiles(z, _BINS).sums(z, d, rule.weight)
        values.append(plain_error(sums))
        slack = max(abs(values[-1] - plain_error(pairs)) for pairs in halved(sums))
    return _from_rules(meaning, values, rules, slack=slack)


def _conditional_by_draws(
    fake: FakeClassifier, figure: GapFigure, meaning: Meaning, *, n_draws: int | None, rng: Any
) -> ExactValue:
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
    return _figure(meaning, value, error, "monte carlo", count)


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
        log_p = fake.draw_log_truth(size, generator)
        yield index % GROUPS, np.exp(log_p), fake.map.from_log(log_p)


def _rows(fake: FakeClassifier, rules: list[Nodes]) -> list[WeightedRows]:
    return [
        WeightedRows(np.exp(rule.log_p), fake.map.from_log(rule.log_p), rule.weight)
        for rule in rules
    ]


def _from_rules(
    meaning: Meaning, values: list[float], rules: list[WeightedRows], *, slack: float = 0.0
) -> ExactValue:
    method = "finite sum" if len(rules) == 1 else "quadrature"
    error = abs(values[-1] - values[0]) + slack
    return _figure(meaning, values[-1], error, method, len(rules[-1].weight))


def _figure(meaning: Meaning, value: float, error: float, method: str, n: int) -> ExactValue:
    return ExactValue(
        name=meaning.name,
        value=value,
        error=error,
        method=method,
        definition=meaning.definition,
        n_points=n,
    )
