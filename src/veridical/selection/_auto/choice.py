"""Candidates tried on held-out rows, and what becomes of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.runtime.progress import track
from veridical._core.typing import FloatArray
from veridical.calibrators import (
    AveragedCalibrator,
    Calibrator,
    CompactCalibrator,
    IdentityCalibrator,
    MixingCalibrator,
)
from veridical.calibrators.core import (
    CheckedRows,
    Notes,
    fit_part,
    fresh_part,
    has_formula,
    held_out_masses,
    rows_of_mass,
)
from veridical.calibrators.judging import fit_path, paths_of
from veridical.selection._auto import gate, pruning, weighing
from veridical.selection._auto.candidates import Candidate

_MOST_ROWS = 50_000
_MOST_VALUES = 500_000
_FEW_ROWS = 600  # up to here one partition is too noisy a judge
_SOME_ROWS = 2_000
_ENOUGH_ROWS = 2_000  # of more classes: so many held out tell the weights well enough
_MANY_ROWS = 5_000  # from here on five folds of two classes tell as much as ten
_FAR_OFF = 1e-3  # in probability: a pool that is worse followed stays a pool
_WORTH_ITS_COST = 1e-3  # nats on held-out rows, and one standard error
_NEGLIGIBLE = 1e-3  # weights below this are not worth their map


@dataclass(frozen=True)
class TriedCandidate:
    """A candidate and what came of it; `fit` is None if it was not tried to the end."""

    name: str
    calibrator: Calibrator
    fit: weighing.CrossFit | None
    note: str = ""
    safe: bool = False
    jumps: bool = False
    costly: bool = False
    time: float = 0.0
    imagined: float = 0.25


@dataclass(frozen=True)
class CalibratorChoice:
    """Everything that was tried and the map that was made of it.

    Attributes
    ----------
    calibrator : fitted to classes 0..K-1
    tried : candidates in order, the identity not among them
    weights : share of each of them in the result
    identity : held-out probabilities of the identity (n, K); None for scores
    identity_weight : share of the identity
    judge : scores of held-out predictions
    partitions : numbers of folds
    n_used : rows that took part in the comparison
    notes : what the fits leave in doubt
    """

    calibrator: Calibrator
    tried: tuple[TriedCandidate, ...]
    weights: FloatArray
    identity: FloatArray | None
    identity_weight: float
    judge: weighing.Judge
    partitions: tuple[int, ...]
    n_used: int
    notes: Notes = ()

    @property
    def fitted(self) -> list[tuple[int, weighing.CrossFit]]:
        """Candidates that were tried to the end, with their numbers."""
        return [(i, each.fit) for i, each in enumerate(self.tried) if each.fit is not None]


def choose(
    candidates: Sequence[Candidate],
    rows: CheckedRows,
    *,
    input: str,
    strategy: str,
    max_seconds: float | None,
    compact: bool = True,
    every_fold: bool = False,
) -> CalibratorChoice:
    """Cross-fit the candidates, weigh or select them, and fit what was chosen.

    With `every_fold` all folds are held out in turn, also where fewer tell enough.
    """
    used = _thinned(rows)
    enough = np.inf if every_fold or len(rows.classes) == 2 else _ENOUGH_ROWS
    folds = weighing.make_folds(used, _partitions(used), enough)
    deadline = None if max_seconds is None else time.perf_counter() + max_seconds
    steps = iter(track(len(candidates) * len(folds), "trying calibrators"))
    parts = [
        fresh_part(c.calibrator, input=input, weight_type=rows.weight_type) for c in candidates
    ]
    fits = _cross_fits(parts, [c.costly for c in candidates], folds, steps, deadline)
    tried = []
    notes: Notes = ()
    for c, part, fit in zip(candidates, parts, fits, strict=True):
        if isinstance(fit, LeftOut):
            tried.append(TriedCandidate(c.name, part, None, str(fit)))
        else:
            kind = (c.safe, c.jumps, c.costly, c.time, c.imagined)
            tried.append(TriedCandidate(c.name, part, fit, "", *kind))
            notes += fit.notes
    model = _identity(rows, input)
    alone = model if input == "score" else _without_zeros(model, rows)
    identity = None if input == "score" else _own_predictions(model, folds)
    judge = weighing.Judge.of(folds, used, identity)
    start = CalibratorChoice(
        alone,
        tuple(tried),
        np.zeros(len(tried)),
        identity,
        1.0,
        judge,
        tuple(np.bincount([fold.partition for fold in folds]).tolist()),
        len(used.y),
        notes,
    )
    return _with_map(_weighed(start, strategy), rows, used, compact=compact)


def _cross_fits(
    parts: Sequence[Calibrator],
    costly: Sequence[bool],
    folds: Sequence[weighing.Fold],
    steps: Iterator[int],
    deadline: float | None,
) -> list[weighing.CrossFit | LeftOut]:
    """What each candidate says of rows held out; matrices of several ridges are fitted together.

    One that is costly is given up after some folds if others, which come before it, do better.
    """
    found: dict[int, weighing.CrossFit | LeftOut] = {}
    paths = {path[0]: path for path in paths_of(parts)}
    for number, part in enumerate(parts):
        until = deadline if number else None  # the first is always tried
        if number in paths:
            path = paths[number]
            path.sort(key=lambda i: -parts[i].get_params()["strength"])
            fits = weighing.result_or_reason(
                partial(
                    weighing.cross_fit_path, [parts[i] for i in path], folds, steps, until=until
                )
            )
            if isinstance(fits, LeftOut):
                fits = [fits] * len(path)
            found.update(zip(path, fits, strict=True))
        elif number not in found:
            rivals = [f for f in found.values() if isinstance(f, weighing.CrossFit)]
            given = [fit.given for fit in rivals] if costly[number] else []
            found[number] = weighing.result_or_reason(
                partial(weighing.cross_fit, part, folds, steps, until=until, rivals=given)
            )
    return [found[number] for number in range(len(parts))]


def _identity(rows: CheckedRows, input: str) -> Calibrator:
    kind = "logit" if input == "score" else input
    identity = fresh_part(IdentityCalibrator(), input=kind, weight_type=rows.weight_type)
    fit_part(identity, rows)
    return identity


def _without_zeros(identity: Calibrator, rows: CheckedRows) -> Calibrator:
    """The identity, or, where it says that something is impossible, mixed with 1 / K.

    A zero that was not contradicted in n rows is worth 1 / (n + 2), as by Laplace's rule.
    """
    if (identity.predict_proba(rows.values) > 0).all():
        return identity
    guarded = MixingCalibrator(IdentityCalibrator(), mix=1 / (rows.size + 2))
    guarded = fresh_part(guarded, input=identity.input, weight_type=rows.weight_type)
    fit_part(guarded, rows)
    return guarded


def _own_predictions(identity: Calibrator, folds: Sequence[weighing.Fold]) -> FloatArray:
    """Predictions of held-out rows as they came, fold after fold."""
    own = [identity.predict_proba(fold.held.values) for fold in folds]
    return np.concatenate(own) if own else np.empty((0, len(identity.classes_)))


def _thinned(rows: CheckedRows) -> CheckedRows:
    """Rows enough to compare maps on, spread evenly over classes and predictions."""
    most = min(_MOST_ROWS, max(_SOME_ROWS, _MOST_VALUES // len(rows.classes)))
    if len(rows.y) <= most:
        return rows
    parts = held_out_masses(rows, -(-len(rows.y) // most), even_classes=True)
    return rows_of_mass(rows, next(iter(parts)))


def _partitions(rows: CheckedRows) -> tuple[int, ...]:
    if rows.units <= _FEW_ROWS:
        return (10, 10, 10)
    return (10,) if rows.units <= (_MANY_ROWS if len(rows.classes) == 2 else _SOME_ROWS) else (5,)


class Shares(NamedTuple):
    """Weight of each candidate that was tried, and of the identity in the result."""

    maps: FloatArray
    identity: float

    def given(self, maps: FloatArray, own: FloatArray | None) -> FloatArray:
        """What the result gives to outcomes, from what maps (n, M) and the model gave."""
        return maps @ self.maps + (0.0 if own is None else self.identity * own)


def shares_of(
    judge: weighing.Judge,
    given: FloatArray,
    own: FloatArray | None,
    tried: Sequence[TriedCandidate],
    strategy: str,
    *,
    shipped: bool = True,
) -> Shares:
    """What is made of candidates, from what they (n, M) and the model gave to the outcomes.

    Shares that are not `shipped` but judged keep maps that say next to nothing. Which of them go
    follows how far maps are from the model, and maps of other rows are the further from it the
    more these agree with the rows to be judged: what is left would seem better than it is.
    """
    if strategy == "select":
        return _selected(judge, given, own)
    return _pooled(judge, given, own, tried, shipped=shipped)


def _pooled(
    judge: weighing.Judge,
    given: FloatArray,
    own: FloatArray | None,
    tried: Sequence[TriedCandidate],
    *,
    shipped: bool,
) -> Shares:
    """Weights of the maps that cost little, unless all together are better by more than noise."""
    cheap = [number for number, each in enumerate(tried) if not each.costly]
    every = _pooled_at_any_cost(judge, given, own, tried, shipped=shipped)
    if not cheap or len(cheap) == len(tried):
        return every
    some = [tried[i] for i in cheap]
    found = _pooled_at_any_cost(judge, given[:, cheap], own, some, shipped=shipped)
    without = Shares(np.zeros(len(tried)), found.identity)
    without.maps[cheap] = found.maps
    if not np.delete(every.maps, cheap).any():
        return without
    gain = np.log(every.given(given, own)) - np.log(without.given(given, own))
    mean, error = judge.mean_and_error(gain)
    return every if mean > max(_WORTH_ITS_COST, error) else without


def _pooled_at_any_cost(
    judge: weighing.Judge,
    given: FloatArray,
    own: FloatArray | None,
    tried: Sequence[TriedCandidate],
    *,
    shipped: bool,
) -> Shares:
    """Weights of least held-out loss, what stands by mixed in, then of as few maps as say it."""
    imagined = np.array([each.imagined for each in tried])
    maps = weighing.pool_weights(given, judge.weights, imagined)
    maps[maps < _NEGLIGIBLE] = 0.0
    maps /= maps.sum()
    if own is None:
        return Shares(_lean(judge, given, maps, tried, shipped=shipped), 0.0)
    safe = next((i for i, each in enumerate(tried, 1) if each.safe), 0)
    every = np.column_stack([own, given])
    weights = _beside_the_model(judge, every, maps, safe, sound=safe > 0)
    if safe and judge.certainty(np.log(every @ weights) - np.log(own)) <= gate.SHOWN_WORSE:
        weights = _beside_the_model(judge, every, maps, safe, sound=False)
    if shipped and pruning.hardly_changes(every, weights, judge.weight) and not judge.contradicted:
        return Shares(np.zeros(len(maps)), 1.0)
    weights = _lean(judge, every, weights, tried, shipped=shipped)
    return Shares(weights[1:], float(weights[0]))


def _beside_the_model(
    judge: weighing.Judge, every: FloatArray, maps: FloatArray, safe: int, *, sound: bool
) -> FloatArray:
    """Weights of the model, first in `every`, and of the maps, of which `safe` stands by."""
    own = every[:, 0]
    share = gate.identity_share(judge, every[:, 1:] @ maps, own, sound=sound)
    weights = np.append(share, (1 - share) * maps)
    if safe and share > 0:
        kept, moved = gate.standby(judge, own, every[:, safe])
        weights[0] = share * kept
        weights[safe] += share * moved
    return weights


def _lean(
    judge: weighing.Judge,
    given: FloatArray,
    weights: FloatArray,
    tried: Sequence[TriedCandidate],
    *,
    shipped: bool,
) -> FloatArray:
    """Without maps that are not worth shipping: of two classes smooth ones cost nothing."""
    model = [0.0] * (len(weights) - len(tried))  # comes first, if it takes part
    if judge.n_classes > 2:
        times = np.array([*model, *(each.time for each in tried)])
        if shipped:
            return pruning.without_needless(given, weights, judge.weight, times)
        return pruning.without_needless(given, weights, judge.weight, times, same=0.0)
    if not shipped:
        return weights
    jumps = np.array([*model, *(each.jumps for each in tried)], dtype=bool)
    return pruning.without_jumps(given, weights, judge.weight, jumps)


def _selected(judge: weighing.Judge, given: FloatArray, own: FloatArray | None) -> Shares:
    """Take the simplest map within one standard error of the best, the identity being simplest."""
    own = None if judge.contradicted else own  # its log loss is infinite
    losses = -np.log(given if own is None else np.column_stack([own, given]))
    best = int(np.argmin([judge.mean(column) for column in losses.T]))
    near = (judge.mean_and_error(column - losses[:, best]) for column in losses.T)
    number = next(i for i, (excess, error) in enumerate(near) if excess <= error)
    weights = np.eye(losses.shape[1])[number]
    return Shares(weights, 0.0) if own is None else Shares(weights[1:], float(weights[0]))


def _weighed(choice: CalibratorChoice, strategy: str) -> CalibratorChoice:
    """With the weights of everything that was tried to the end."""
    fitted = choice.fitted
    if not fitted:
        return choice
    given = np.column_stack([choice.judge.outcome(fit.given) for _, fit in fitted])
    own = None if choice.identity is None else choice.judge.outcome(choice.identity)
    tried = [choice.tried[i] for i, _ in fitted]
    shares = shares_of(choice.judge, given, own, tried, strategy)
    weights = np.zeros(len(choice.tried))
    weights[[i for i, _ in fitted]] = shares.maps
    return replace(choice, weights=weights, identity_weight=shares.identity)


def _with_map(
    choice: CalibratorChoice, rows: CheckedRows, used: CheckedRows, *, compact: bool
) -> CalibratorChoice:
    """With its map: each candidate fitted once to all rows, or the maps of the folds averaged."""
    if choice.identity_weight == 1:
        return choice
    kept = [(w, t) for w, t in zip(choice.weights.tolist(), choice.tried, strict=True) if w > 0]
    notes = choice.notes
    alone = len(kept) == 1 and choice.identity_weight == 0
    fits: list[Notes | LeftOut] = [LeftOut("fitted to folds only")] * len(kept)
    if alone or compact or choice.n_used < len(rows.y):
        fits = _fitted_to_all([each for _, each in kept], rows, used)
    if alone and not isinstance(fits[0], LeftOut):
        return replace(choice, calibrator=kept[0][1].calibrator, notes=notes + fits[0])
    parts: list[Calibrator] = []
    weights: list[float] = []
    for (weight, each), found in zip(kept, fits, strict=True):
        maps = list(each.fit.maps) if each.fit is not None else []
        if not isinstance(found, LeftOut):
            maps, notes = [each.calibrator], notes + found
        parts += maps
        weights += [weight / len(maps)] * len(maps)
    if choice.identity_weight > 0:
        parts.append(choice.calibrator)
        weights.append(choice.identity_weight)
    classes = np.arange(len(rows.classes))
    pool = AveragedCalibrator.of_fitted(parts, np.asarray(weights), classes)
    return replace(choice, calibrator=_followed(pool) if compact else pool, notes=notes)


def _fitted_to_all(
    tried: Sequence[TriedCandidate], rows: CheckedRows, used: CheckedRows
) -> list[Notes | LeftOut]:
    """Fit candidates to all rows, ridges from where they ended in the first fold.

    Each has to predict the rows that took part in the comparison; the reason if one cannot.
    """
    parts = [each.calibrator for each in tried]
    fits: dict[int, Notes] = {}
    for path in paths_of(parts):
        fit, ridges = tried[path[0]].fit, [parts[i] for i in path]
        if fit is not None and fit.path is not None:
            start = fit.path.among(ridges)
            joint_fit = weighing.result_or_reason(partial(fit_path, ridges, rows, start))
            if not isinstance(joint_fit, LeftOut):
                fits.update({i: joint_fit.notes if i == path[0] else () for i in path})

    def fitted(number: int) -> Notes:
        notes = fits[number] if number in fits else fit_part(parts[number], rows)
        weighing.checked_predictions(parts[number], used.values)
        return notes

    return [weighing.result_or_reason(partial(fitted, number)) for number in range(len(parts))]


def _followed(pool: Calibrator) -> Calibrator:
    """A pool of two classes as one function; the pool itself where no function follows it."""
    if len(pool.classes_) > 2 or not has_formula(pool):
        return pool
    found = CompactCalibrator.of_fitted(pool)
    return found if found.max_error_ <= _FAR_OFF else pool
