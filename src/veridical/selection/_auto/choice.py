"""Candidates tried on held-out rows, what becomes of them, and the table that shows why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.runtime.progress import track
from veridical._core.typing import FloatArray
from veridical.calibrators import AveragedCalibrator, Calibrator, IdentityCalibrator
from veridical.calibrators.core import (
    CheckedRows,
    Notes,
    fit_part,
    fit_part_if_possible,
    fresh_part,
    held_out_masses,
    rows_of_mass,
)
from veridical.results import CandidateEvidence, Evidence
from veridical.selection._auto import weighing
from veridical.selection._auto.candidates import Candidate

_MOST_ROWS = 50_000
_MOST_VALUES = 500_000
_FEW_ROWS = 600  # up to here one partition is too noisy a judge
_SOME_ROWS = 2_000
_NEGLIGIBLE = 1e-3  # weights below this are not worth their map


@dataclass(frozen=True)
class TriedCandidate:
    """A candidate and what came of it; `fit` is None if it was not tried to the end."""

    name: str
    calibrator: Calibrator
    basic: bool
    fit: weighing.CrossFit | None
    note: str = ""


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
    def given(self) -> FloatArray:
        """Held-out probabilities of the result, (n, K)."""
        n, n_classes = len(self.judge.y), len(self.calibrator.classes_)
        total = np.zeros((n, n_classes))
        if self.identity is not None:
            total += self.identity_weight * self.identity
        for weight, each in zip(self.weights.tolist(), self.tried, strict=True):
            if weight > 0 and each.fit is not None:
                total += weight * each.fit.given
        return total


def choose(
    candidates: Sequence[Candidate],
    rows: CheckedRows,
    *,
    input: str,
    strategy: str,
    max_seconds: float | None,
) -> CalibratorChoice:
    """Cross-fit the candidates, weigh or select them, and fit what was chosen."""
    used = _thinned(rows)
    folds = weighing.make_folds(used, _partitions(used))
    deadline = None if max_seconds is None else time.perf_counter() + max_seconds
    steps = iter(track(len(candidates) * len(folds), "trying calibrators"))
    tried = []
    notes: Notes = ()
    for number, c in enumerate(candidates):
        part = fresh_part(c.calibrator, input=input, weight_type=rows.weight_type)
        until = deadline if number else None  # the first is always tried
        fit = weighing.cross_fit(part, folds, steps, until=until)
        if isinstance(fit, LeftOut):
            tried.append(TriedCandidate(c.name, part, c.basic, None, str(fit)))
        else:
            tried.append(TriedCandidate(c.name, part, c.basic, fit))
            notes += fit.notes
    alone = _identity(rows, input)
    identity = None if input == "score" else _own_predictions(alone, folds)
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
    return _with_map((_selected if strategy == "select" else _pooled)(start), rows)


def _identity(rows: CheckedRows, input: str) -> Calibrator:
    kind = "logit" if input == "score" else input
    identity = fresh_part(IdentityCalibrator(), input=kind, weight_type=rows.weight_type)
    fit_part(identity, rows)
    return identity


def _own_predictions(identity: Calibrator, folds: Sequence[weighing.Fold]) -> FloatArray:
    """Predictions of held-out rows as they came, fold after fold."""
    own = [identity.predict_proba(fold.held.values) for fold in folds]
    return np.concatenate(own) if own else np.empty((0, len(identity.classes_)))


def _thinned(rows: CheckedRows) -> CheckedRows:
    """Rows enough to compare maps on, spread evenly over classes and predictions."""
    most = min(_MOST_ROWS, max(_SOME_ROWS, _MOST_VALUES // len(rows.classes)))
    if len(rows.y) <= most:
        return rows
    return rows_of_mass(rows, next(iter(held_out_masses(rows, -(-len(rows.y) // most)))))


def _partitions(rows: CheckedRows) -> tuple[int, ...]:
    if rows.size <= _FEW_ROWS:
        return (10, 10, 10)
    return (10,) if len(rows.classes) == 2 or rows.size <= _SOME_ROWS else (5,)


def _outcomes(choice: CalibratorChoice) -> tuple[list[int], FloatArray]:
    """Numbers of the candidates that were tried, and what each gave to the outcomes (n, M)."""
    fits = [(i, each.fit) for i, each in enumerate(choice.tried) if each.fit is not None]
    given = [choice.judge.outcome(fit.given) for _, fit in fits]
    return [i for i, _ in fits], np.column_stack(given) if given else np.empty((0, 0))


def _pooled(choice: CalibratorChoice) -> CalibratorChoice:
    judge = choice.judge
    numbers, given = _outcomes(choice)
    if not numbers:
        return choice
    basic = np.array([choice.tried[i].basic for i in numbers])
    found = weighing.pooled_weights(judge, given, basic)
    found[found < _NEGLIGIBLE] = 0.0
    found /= found.sum()
    share = 0.0
    if choice.identity is not None:
        share = weighing.identity_share(judge, given @ found, judge.outcome(choice.identity))
    weights = np.zeros(len(choice.tried))
    weights[numbers] = found * (1 - share)
    return replace(choice, weights=weights, identity_weight=share)


def _selected(choice: CalibratorChoice) -> CalibratorChoice:
    """Take the simplest map within one standard error of the best, the identity being simplest."""
    judge = choice.judge
    numbers, given = _outcomes(choice)
    if not numbers:
        return choice
    losses = -np.log(given)
    order = list(numbers)
    if choice.identity is not None:
        own = -np.log(judge.outcome(choice.identity))
        losses, order = np.column_stack([own, losses]), [-1, *order]
    best = int(np.argmin([judge.mean(column) for column in losses.T]))
    near = (judge.mean_and_error(column - losses[:, best]) for column in losses.T)
    number = next(i for i, (excess, error) in zip(order, near, strict=True) if excess <= error)
    weights = np.zeros(len(choice.tried))
    if number >= 0:
        weights[number] = 1.0
    return replace(choice, weights=weights, identity_weight=float(number < 0))


def _with_map(choice: CalibratorChoice, rows: CheckedRows) -> CalibratorChoice:
    """With its map: the maps of the folds averaged, or fitted once to all of many rows."""
    if choice.identity_weight == 1:
        return choice
    kept = [(w, t) for w, t in zip(choice.weights.tolist(), choice.tried, strict=True) if w > 0]
    notes = choice.notes
    if len(kept) == 1 and choice.identity_weight == 0:
        only = kept[0][1].calibrator
        notes += fit_part(only, rows)
        return replace(choice, calibrator=only, notes=notes)
    parts: list[Calibrator] = []
    weights: list[float] = []
    for weight, each in kept:
        maps = list(each.fit.maps) if each.fit is not None else []
        if choice.n_used < len(rows.y):
            found = fit_part_if_possible(each.calibrator, rows)
            if found is not None:
                maps, notes = [each.calibrator], notes + found
        parts += maps
        weights += [weight / len(maps)] * len(maps)
    if choice.identity_weight > 0:
        parts.append(choice.calibrator)
        weights.append(choice.identity_weight)
    classes = np.arange(len(rows.classes))
    pool = AveragedCalibrator.of_fitted(parts, np.asarray(weights), classes)
    return replace(choice, calibrator=pool, notes=notes)


_FEW_SHOWN = 50


def evidence_of(
    choice: CalibratorChoice, rows: CheckedRows, strategy: str, level: float
) -> Evidence:
    """Tabulate what was tried, against the identity on the same rows."""
    table = _Table(choice, level)
    entries = [table.identity()] if choice.identity is not None else []
    entries += [
        table.candidate(each, weight)
        for each, weight in zip(choice.tried, choice.weights.tolist(), strict=True)
    ]
    result = table.row(strategy, choice.given, note="the result", chosen=False)
    return Evidence(
        candidates=(*entries, result),
        strategy=strategy,
        verdict=_verdict(choice, result),
        n_samples=len(rows.y),
        n_classes=len(rows.classes),
        partitions=choice.partitions,
        n_used=choice.n_used,
        confidence_level=level,
        notes=_notes(choice, rows),
    )


class _Table:
    """Rows of the table, all against the same losses of the identity."""

    def __init__(self, choice: CalibratorChoice, level: float) -> None:
        from scipy.special import ndtri

        self.choice = choice
        self.judge = choice.judge
        self.wide = float(ndtri((1 + level) / 2))
        own = choice.identity
        self.own = None if own is None else -np.log(self.judge.outcome(own))

    def identity(self) -> CandidateEvidence:
        share = self.choice.identity_weight
        note = "the model's own predictions"
        if share == 1:
            note += "; kept: nothing beats them"
        assert self.choice.identity is not None
        return self.row("identity", self.choice.identity, weight=share, chosen=share > 0, note=note)

    def candidate(self, each: TriedCandidate, weight: float) -> CandidateEvidence:
        if each.fit is None:
            return _untried(each.name, each.note)
        return self.row(
            each.name,
            each.fit.given,
            weight=weight,
            chosen=weight > 0,
            note=self._why(weight),
            seconds=each.fit.seconds,
        )

    def _why(self, weight: float) -> str:
        if weight > 0:
            return ""
        return "not better" if self.choice.identity_weight == 1 else "not needed"

    def row(
        self,
        name: str,
        given: FloatArray,
        *,
        weight: float = 1.0,
        chosen: bool,
        note: str,
        seconds: float = 0.0,
    ) -> CandidateEvidence:
        if not len(given):
            return _untried(name, note, weight=weight, chosen=chosen)
        losses = -np.log(self.judge.outcome(given))
        difference = low = high = None
        if self.own is not None:
            difference, error = self.judge.mean_and_error(losses - self.own)
            low, high = difference - self.wide * error, difference + self.wide * error
        return CandidateEvidence(
            candidate=name,
            log_loss=self.judge.mean(losses),
            brier=self.judge.brier(given),
            difference=difference,
            low=low,
            high=high,
            weight=weight,
            chosen=chosen,
            note=note,
            seconds=seconds,
        )


def _untried(
    name: str, note: str, *, weight: float = 0.0, chosen: bool = False
) -> CandidateEvidence:
    """Entry without figures: nothing was held out."""
    return CandidateEvidence(
        candidate=name,
        log_loss=None,
        brier=None,
        difference=None,
        low=None,
        high=None,
        weight=weight,
        chosen=chosen,
        note=note,
        seconds=0.0,
    )


def _verdict(choice: CalibratorChoice, result: CandidateEvidence) -> str:
    if not len(choice.judge.y):
        return "Leave the model alone: there are too few rows to hold any out."
    if choice.identity_weight == 1:
        return (
            "Leave the model alone: no candidate beats its own predictions on held-out rows beyond "
            "noise."
        )
    used = [each.name for each, w in zip(choice.tried, choice.weights, strict=True) if w > 0]
    what = f"Use {used[0]}" if len(used) == 1 else f"Average {len(used)} maps"
    if result.difference is None:
        return f"{what}: log loss {result.log_loss:.4f} on held-out rows."
    kept = ""
    if choice.identity_weight > 0:
        kept = f" and keep {choice.identity_weight:.0%} of the model's own predictions"
    before = float(result.log_loss or 0.0) - result.difference
    share = f" ({abs(result.difference) / before:.1%} of {before:.4f})" if before > 0 else ""
    change = "lower" if result.difference < 0 else "higher"
    doubt = "" if float(result.low or 0.0) * float(result.high or 0.0) > 0 else " but may be chance"
    return (
        f"{what}{kept}: on held-out rows log loss is {abs(result.difference):.4f} {change}{share}, "
        f"interval {result.low:+.4f} to {result.high:+.4f}{doubt}."
    )


def _notes(choice: CalibratorChoice, rows: CheckedRows) -> tuple[str, ...]:
    notes = []
    if rows.size < _FEW_SHOWN:
        notes.append(f"{rows.size:.0f} rows are few: intervals are rough")
    if choice.n_used < len(rows.y):
        notes.append(f"compared on {choice.n_used:,} rows, then fitted to all {len(rows.y):,}")
    surprises = 0 if choice.identity is None else choice.judge.surprises(choice.identity)
    if surprises:
        what = "outcome" if surprises == 1 else "outcomes"
        notes.append(
            f"the model gave probability 0 to {surprises:,} {what} that happened, so its log loss "
            f"is infinite; here zeros that happened count as {choice.judge.floor:.2g}"
        )
    present = len(np.unique(rows.y))
    if present < len(rows.classes):
        notes.append(f"{len(rows.classes) - present} of {len(rows.classes)} classes do not occur")
    return tuple(notes)
