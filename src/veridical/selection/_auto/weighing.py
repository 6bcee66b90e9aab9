"""How much each map counts, judged by predictions of rows it was not fitted to."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.numeric.simplex import simplex_weights
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.calibrators import Calibrator
from veridical.calibrators.core import (
    CheckedRows,
    Notes,
    fit_part,
    fresh_part,
    held_out_masses,
    row_masses,
    rows_of_mass,
    smallest_share,
)
from veridical.calibrators.judging import RidgePath, fit_path
from veridical.exceptions import invalid
from veridical.inference.intervals import make_units, standard_error


def pool_weights(
    given: FloatArray, weight: FloatArray, pseudo_rows: float | FloatArray
) -> FloatArray:
    """Maximise sum_i w_i log(given_i . v) + sum_m a_m log v_m over the simplex.

    `given` (n, M) holds what each of M maps gave to the outcome, `weight` sums to the sample size
    and a are the `pseudo_rows`, of a single number M equal parts: as if that many more rows had
    been best foretold by each map, which keeps weights off zero where rows are few. As such rows
    they are handed to `simplex_weights`: each is certain under its map and impossible under the
    others.

    Examples
    --------
    Two maps, each right about its half of four rows: alike by symmetry.

    >>> import numpy as np
    >>> given = np.array([[0.9, 0.5], [0.9, 0.5], [0.5, 0.9], [0.5, 0.9]])
    >>> pool_weights(given, np.ones(4), 5.0).round(6).tolist()
    [0.5, 0.5]
    """
    n_maps = given.shape[1]
    # a common factor of a row changes nothing, and keeps tiny probabilities from underflowing
    scaled = given / given.max(axis=1, keepdims=True)
    likelihoods = np.concatenate([scaled, np.eye(n_maps)])
    imagined = np.full(n_maps, pseudo_rows / n_maps) if np.ndim(pseudo_rows) == 0 else pseudo_rows
    counts = np.concatenate([weight, imagined])
    return simplex_weights(likelihoods, counts / counts.sum()).weights


@dataclass(frozen=True)
class Fold:
    """Rows, how much of each is held out, and which of several partitions the fold belongs to."""

    rows: CheckedRows
    mass: FloatArray
    partition: int

    @property
    def kept(self) -> CheckedRows:
        """Rows to fit to: copied when they are asked for, so that one copy is there at a time."""
        return rows_of_mass(self.rows, row_masses(self.rows) - self.mass)

    @cached_property
    def held(self) -> CheckedRows:
        """Rows held out."""
        return rows_of_mass(self.rows, self.mass)


@dataclass(frozen=True)
class CrossFit:
    """What one candidate said about rows it was not fitted to.

    Attributes
    ----------
    given : (m, K) array of held-out probabilities, fold after fold
    own : what the map of the first fold gave to the outcomes it was fitted to, in that same order
    maps : fitted map of every fold
    seconds : time taken
    notes : what the fits leave in doubt
    path : of a ridge that was fitted with others, where those of the first fold ended
    """

    given: FloatArray
    own: FloatArray
    maps: tuple[Calibrator, ...]
    seconds: float
    notes: Notes = ()
    path: RidgePath | None = None


def make_folds(
    rows: CheckedRows, partitions: Sequence[int], enough: float = math.inf
) -> list[Fold]:
    """Folds of several partitions of the same rows, given by their numbers of folds.

    Of each partition the first ones, two at least, that hold `enough` rows out.
    """
    found: list[Fold] = []
    for number, n_folds in enumerate(partitions):
        seen = 0.0
        for count, mass in enumerate(held_out_masses(rows, n_folds, seed=number)):
            if count > 1 and seen >= enough:
                break
            seen += float(mass.sum())
            found.append(Fold(rows, mass, number))
    return found


_Result = TypeVar("_Result")


def result_or_reason(attempt: Callable[[], _Result]) -> _Result | LeftOut:
    """Return what an attempt with a candidate returns, or why these rows do not allow it.

    Refused rows, wrong predictions and failed arithmetic leave a candidate out, and the evidence
    shows the reason. Other errors, such as a `TypeError`, are mistakes in a program and are raised.
    """
    try:
        return attempt()
    except (ValueError, ArithmeticError) as error:  # `LinAlgError` is a `ValueError`
        first_line = str(error).partition("\n")[0]
        return LeftOut(f"cannot be fitted or applied to parts of these rows ({first_line})")


def checked_predictions(map: Calibrator, values: FloatArray) -> FloatArray:
    """Predictions of a candidate; raises unless all of them are probabilities."""
    p = map.predict_proba(values)
    wrong = ~((p >= 0) & (p <= 1))  # also true for NaN
    if wrong.any():
        got = f"{p[wrong][0]} ({np.count_nonzero(wrong)} of {p.size} values)"
        hint = "the calibrator has an error, or its formula overflows for these rows."
        raise invalid(type(map).__name__, "predict_proba", "in [0, 1]", got, hint=hint)
    return p


def cross_fit(
    part: Calibrator,
    folds: Sequence[Fold],
    steps: Iterator[int],
    *,
    until: float | None = None,
    rivals: Sequence[FloatArray] = (),
) -> CrossFit | LeftOut:
    """Fit a copy of `part` to every fold's kept rows, or say why it was given up.

    `steps` is advanced once a fold: it draws the progress bar. `until` is a time of
    `time.perf_counter` at which the last fold would have to be done. `rivals` are what others said
    of all rows held out: as soon as the first folds have held out enough, they are compared.
    """
    start = time.perf_counter()
    given: list[FloatArray] = []
    maps: list[Calibrator] = []
    notes: Notes = ()
    looked = _first_look(folds)
    for fold in folds:
        if until is not None and _would_end(start, len(maps), len(folds)) > until:
            return LeftOut("time was up")
        next(steps, None)
        map = fresh_part(part)
        notes += fit_part(map, fold.kept)
        given.append(checked_predictions(map, fold.held.values))
        maps.append(map)
        if rivals and len(maps) == looked and _is_behind(given, folds[:looked], rivals):
            return LeftOut("others do better on the first rows held out")
    if not maps:
        return LeftOut("too few rows to hold any out")
    seconds = time.perf_counter() - start
    own = _given_to_own(maps[0], folds)
    return CrossFit(np.concatenate(given), own, tuple(maps), seconds, notes)


def _first_look(folds: Sequence[Fold]) -> int:
    """Number of folds after which a costly candidate is looked at."""
    seen = np.cumsum([len(fold.held.y) for fold in folds])
    whole = int(sum(fold.partition == 0 for fold in folds))
    return min(int(np.searchsorted(seen, _ROWS_OF_A_LOOK)) + 1, whole)


def _is_behind(
    given: Sequence[FloatArray], folds: Sequence[Fold], rivals: Sequence[FloatArray]
) -> bool:
    """Whether mean log loss on the first folds is higher than that of the best other map."""
    own = _loss(given, folds)
    return own > min(_loss([p], folds) for p in rivals) + _BEHIND


def _loss(given: Sequence[FloatArray], folds: Sequence[Fold]) -> float:
    """Mean log loss on the first folds of what was said of their rows, and maybe of others."""
    p, y = np.concatenate(given), np.concatenate([fold.held.y for fold in folds])
    weight = [fold.held.weight for fold in folds if fold.held.weight is not None]
    losses = -np.log(np.maximum(p[np.arange(len(y)), y], _LEAST))
    return float(np.average(losses, weights=np.concatenate(weight) if weight else None))


def cross_fit_path(
    parts: Sequence[Calibrator],
    folds: Sequence[Fold],
    steps: Iterator[int],
    *,
    until: float | None = None,
) -> list[CrossFit | LeftOut]:
    """Fit copies of structured matrices that differ in their ridges to every fold's kept rows.

    The first fold is fitted from afar, all others from there. `parts` come with the strongest ridge
    first. As soon as the first folds have held out enough rows, weaker ridges than one that is
    worse than the one before are given up, unless folds are of several partitions: of so few rows
    the first folds tell too little.
    """
    start = time.perf_counter()
    given: list[list[FloatArray]] = [[] for _ in parts]
    maps: list[list[Calibrator]] = [[] for _ in parts]
    first: RidgePath | None = None
    notes: Notes = ()
    looked = 0 if any(fold.partition for fold in folds) else _first_look(folds)
    alive = list(parts)
    for number, fold in enumerate(folds):
        if until is not None and _would_end(start, number, len(folds)) > until:
            return [LeftOut("time was up")] * len(parts)
        for _ in parts:
            next(steps, None)
        own = [fresh_part(part) for part in alive]
        path = fit_path(own, fold.kept, first.among(own) if first else None, roughly=True)
        notes += path.notes
        first = first or path
        for said, kept, part in zip(given, maps, own, strict=False):
            said.append(checked_predictions(part, fold.held.values))
            kept.append(part)
        if number + 1 == looked:
            losses = [_loss(said, folds[:looked]) for said in given]
            alive = alive[: _before_a_rise(losses)]
    if not folds:
        return [LeftOut("too few rows to hold any out")] * len(parts)
    seconds = (time.perf_counter() - start) / len(parts)
    fits: list[CrossFit | LeftOut] = [
        CrossFit(
            np.concatenate(said),
            _given_to_own(kept[0], folds),
            tuple(kept),
            seconds,
            notes if number == 0 else (),
            first,
        )
        for number, (said, kept) in enumerate(zip(given, maps, strict=True))
        if number < len(alive)
    ]
    worse = LeftOut("a stronger ridge does better on the first rows held out")
    return [*fits, *[worse] * (len(parts) - len(alive))]


def _before_a_rise(losses: Sequence[float]) -> int:
    """How many losses come before one that is higher than the last by much."""
    rises = (i for i, (one, other) in enumerate(pairwise(losses), 1) if other > one + _RISES)
    return next(rises, len(losses))


def others_of_first(folds: Sequence[Fold]) -> list[Fold]:
    """Folds whose rows the map of the first one is fitted to."""
    return [fold for fold in folds[1:] if fold.partition == folds[0].partition]


def _given_to_own(map: Calibrator, folds: Sequence[Fold]) -> FloatArray:
    """What the map of the first fold gave to the outcomes of rows it was fitted to."""
    said = [(checked_predictions(map, f.held.values), f.held.y) for f in others_of_first(folds)]
    return np.concatenate([p[np.arange(len(y)), y] for p, y in said]) if said else np.empty(0)


def _would_end(start: float, done: int, n_folds: int) -> float:
    """When all folds would be done at the speed so far."""
    now = time.perf_counter()
    return now if done == 0 else start + (now - start) * n_folds / done


_LEAST = 1e-12  # smaller probabilities of what happened count as this
_ROWS_OF_A_LOOK = 400
_BEHIND = 0.005  # nats
_RISES = 0.02  # nats


@dataclass(frozen=True)
class Judge:
    """Scores of held-out predictions.

    Attributes
    ----------
    y : class indices of the held-out rows, fold after fold
    weight : their weights
    by_frequency : whether a weight is a number of repetitions
    size : number of independent rows, or groups, of one partition that were held out
    floor : what a probability of zero counts as, should its outcome happen all the same
    ends : where each partition of the rows ends; each contains rows once, of few all of them
    fold : number of the fold that holds each row out
    contradicted : whether something happened that the model had given no probability
    n_classes : of predictions
    groups : what each row belongs to; None: to itself
    own : the model's predictions (m, K); None for scores
    part : of the rows that these stand for
    """

    y: IntArray
    weight: FloatArray
    by_frequency: bool
    size: float
    floor: float
    ends: tuple[int, ...]
    fold: IntArray
    contradicted: bool = False
    n_classes: int = 2
    groups: IntArray | None = None
    own: FloatArray | None = None
    part: float = 1.0

    @classmethod
    def of(cls, folds: Sequence[Fold], rows: CheckedRows, own: FloatArray | None) -> Judge:
        """Judge of what is held out in `folds` of `rows`, `own` being the model's predictions."""
        held = [fold.held for fold in folds]
        weights = [np.ones(len(r.y)) if r.weight is None else r.weight for r in held]
        counts = np.bincount([f.partition for f in folds], [len(r.y) for r in held])
        seen = counts[0] / sum(len(r.y) for r in (held[0], folds[0].kept)) if held else 1.0
        y = np.concatenate([r.y for r in held]) if held else rows.y[:0]
        return cls(
            y,
            np.concatenate(weights) if held else np.empty(0),
            rows.weight is not None and rows.weight_type == "frequency",
            rows.units * min(float(seen), 1.0),
            _LEAST if own is None or not own.size else stand_in(own),
            tuple(np.cumsum(counts).astype(int).tolist()),
            np.repeat(np.arange(len(held)), [len(r.y) for r in held]),
            own is not None and bool(np.any(own[np.arange(len(y)), y] == 0)),
            len(rows.classes),
            _groups_of(held),
            own,
        )

    def among(self, rows: BoolArray) -> Judge:
        """Judge of some rows of a partition that stand for all of it.

        Means are of these rows; how surely they are known, and so what is made of them, is as of
        all rows. Otherwise a judgement of what all rows lead to would be that of a smaller sample.
        """
        inside = self.weight[: self.ends[0]].sum()  # partitions hold the same rows
        counts = [int(rows[a:b].sum()) for a, b in pairwise((0, *self.ends))]
        ends = tuple(np.cumsum([n for n in counts if n]).tolist())
        return replace(
            self,
            y=self.y[rows],
            weight=self.weight[rows],
            part=float(self.weight[rows].sum() / inside),
            ends=ends,
            fold=self.fold[rows],
            groups=None if self.groups is None else self.groups[rows],
            own=None if self.own is None else self.own[rows],
        )

    @property
    def fitted(self) -> slice:
        """Rows that the map of the first fold was fitted to."""
        return slice(int(np.sum(self.fold == self.fold[0])), self.ends[0])

    @property
    def weights(self) -> FloatArray:
        """Weights that sum to the sample size."""
        return self.weight * (self.size / float(self.weight.sum()))

    def outcome(self, p: FloatArray) -> FloatArray:
        """Probability given to what happened.

        Once a zero has happened all zeros count as the floor, and rows are divided by what they
        then sum to: otherwise a model would be paid for its zeros and not charged for them.
        """
        given = self._raw(p)
        if np.all(given > 0):
            return np.maximum(given, _LEAST)
        filled = np.where(given > 0, np.maximum(given, _LEAST), self.floor)
        return filled / (1 + self.floor * np.count_nonzero(p == 0, axis=1))

    def surprises(self, p: FloatArray) -> int:
        """How many held-out outcomes had been given no probability, in one partition."""
        return int(np.sum(self._raw(p)[: self.ends[0]] == 0)) if self.ends else 0

    def _raw(self, p: FloatArray) -> FloatArray:
        return p[np.arange(len(self.y)), self.y]

    def brier(self, p: FloatArray) -> float:
        """Mean Brier score: of the positive class for two classes, summed over more."""
        given = self._raw(p)
        if p.shape[1] == 2:
            return self.mean((1 - given) ** 2)
        return self.mean(np.einsum("ij,ij->i", p, p) - 2 * given + 1)

    def mean(self, values: FloatArray) -> float:
        """Weighted mean over the rows."""
        return float(np.average(values, weights=self.weight))

    def optimism(self, own: FloatArray, held_out: FloatArray) -> float:
        """How much better the first map does on its own rows than other maps did there."""
        part = self.fitted
        gain = np.log(np.where(own > 0, own, self.floor)) - np.log(held_out[part])
        return max(float(np.average(gain, weights=self.weight[part])), 0.0)

    def mean_and_error(self, values: FloatArray) -> tuple[float, float]:
        """Weighted mean and its standard error.

        Partitions hold the same rows, so more of them do not make the error smaller: its square is
        the mean of those of single partitions.
        """
        squares, start = [], 0
        for end in self.ends:
            part = slice(start, end)
            groups = None
            if self.groups is not None:
                _, groups = np.unique(self.groups[part], return_inverse=True)
            units = make_units(
                values[part], self.weight[part], by_frequency=self.by_frequency, groups=groups
            )
            squares.append(standard_error(units) ** 2)
            start = end
        return self.mean(values), float(np.sqrt(self.part * np.mean(squares)))

    def certainty(self, values: FloatArray) -> float:
        """How many standard errors the mean is above zero."""
        mean, error = self.mean_and_error(values)
        return mean / error if error > 0 else float(np.sign(mean)) * np.inf if mean else 0.0


def _groups_of(held: Sequence[CheckedRows]) -> IntArray | None:
    groups = [part.groups for part in held if part.groups is not None]
    return np.concatenate(groups) if groups else None


def stand_in(p: FloatArray) -> float:
    """Half the smallest positive probability, within bounds: what a zero may have been.

    One impossible outcome that happens would otherwise decide every comparison. Zeros that nothing
    contradicts stay zeros.
    """
    return min(max(smallest_share(p), _LEAST), 1 / (4 * p.shape[1]))
