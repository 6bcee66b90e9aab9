"""The table that shows why an automatic choice was made, on rows that its maps have not seen."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from veridical._core.numeric.optimism import fit_error
from veridical._core.typing import BoolArray, FloatArray
from veridical.calibrators.core import CheckedRows, row_masses
from veridical.results import CandidateEvidence, Evidence
from veridical.selection._auto.choice import CalibratorChoice, TriedCandidate, shares_of

_FEW_SHOWN = 50
FEW_EVENTS = 5  # fewer rows outside the most frequent class show nothing


def evidence_of(
    choice: CalibratorChoice,
    rows: CheckedRows,
    strategy: str,
    level: float,
    *,
    held_out: FloatArray | None = None,
    copies: tuple[str, ...] = (),
) -> Evidence:
    """Tabulate what was tried, against the identity on the same rows.

    `held_out` are the probabilities of `cross_weighted`, where they are known already, and `copies`
    what was found of rows that occur several times.
    """
    table = _Table(choice, level)
    entries = [table.identity()] if choice.identity is not None else []
    entries += [
        table.candidate(each, weight)
        for each, weight in zip(choice.tried, choice.weights.tolist(), strict=True)
    ]
    result = table.result(strategy, held_out)
    return Evidence(
        candidates=(*entries, result),
        strategy=strategy,
        verdict=_verdict(choice, result, few=_events(rows) < FEW_EVENTS),
        n_samples=len(rows.y),
        n_classes=len(rows.classes),
        partitions=choice.partitions,
        n_used=choice.n_used,
        confidence_level=level,
        notes=copies + _notes(choice, rows),
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
        own = self.choice.identity
        return self.row("identity", own, None, weight=share, chosen=share > 0, note=note)

    def result(self, strategy: str, held_out: FloatArray | None) -> CandidateEvidence:
        """The row of what was made of the candidates."""
        choice = self.choice
        given, own = choice.identity, None
        if choice.identity_weight < 1 and choice.fitted:
            given = cross_weighted(choice, strategy) if held_out is None else held_out
            own = in_hindsight(choice)
        elif given is None:
            given = np.empty((0, len(choice.calibrator.classes_)))
        return self.row(strategy, given, own, note="the result", chosen=False)

    def candidate(self, each: TriedCandidate, weight: float) -> CandidateEvidence:
        if each.fit is None:
            return _untried(each.name, each.note)
        return self.row(
            each.name,
            each.fit.given,
            each.fit.own,
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
        own: FloatArray | None,
        *,
        weight: float = 1.0,
        chosen: bool,
        note: str,
        seconds: float = 0.0,
    ) -> CandidateEvidence:
        if not len(given):
            return _untried(name, note, weight=weight, chosen=chosen)
        outcome = self.judge.outcome(given)
        losses = -np.log(outcome)
        difference = low = high = None
        if self.own is not None:
            difference, error = self.judge.mean_and_error(losses - self.own)
            if own is not None:
                optimism = self.judge.optimism(own, outcome)
                error = math.hypot(error, fit_error(optimism, self.judge.size))
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


def in_hindsight(choice: CalibratorChoice) -> FloatArray:
    """What the result of the first fold's maps gave to the outcomes they were fitted to."""
    total = np.zeros(choice.fitted[0][1].own.shape)
    if choice.identity is not None:
        given = choice.judge.outcome(choice.identity)
        total += choice.identity_weight * given[choice.judge.fitted]
    for number, fit in choice.fitted:
        total += choice.weights[number] * fit.own
    return total


def cross_weighted(choice: CalibratorChoice, strategy: str) -> FloatArray:
    """Held-out probabilities of the result, (m, K), with weights that have not seen the rows.

    Of every partition two folds at a time (one, of three folds or fewer) get the weights, and the
    share of the identity, that the outcomes of its other folds give; else weights, and choices more
    so, would seem better than they are.
    """
    judge, fitted = choice.judge, choice.fitted
    given = np.column_stack([judge.outcome(fit.given) for _, fit in fitted])
    own = None if choice.identity is None else judge.outcome(choice.identity)
    tried = [choice.tried[i] for i, _ in fitted]
    total = np.empty((len(judge.y), len(choice.calibrator.classes_)))
    for held, others in _blocks(choice):
        if not others.any():  # one fold is all there is: nothing was seen of others
            others = held
        known = None if own is None else own[others]
        among = judge.among(others)
        shares = shares_of(among, given[others], known, tried, strategy, shipped=False)
        part = np.zeros((int(held.sum()), total.shape[1]))
        if choice.identity is not None:
            part += shares.identity * choice.identity[held]
        for weight, (_, fit) in zip(shares.maps.tolist(), fitted, strict=True):
            if weight > 0:
                part += weight * fit.given[held]
        total[held] = part
    return total


def _blocks(choice: CalibratorChoice) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Rows of two folds of a partition, or one of few, and those of its other folds."""
    fold, first = choice.judge.fold, 0
    for n_folds in choice.partitions:
        inside = (fold >= first) & (fold < first + n_folds)
        together = 2 if n_folds > 3 else 1
        for number in range(first, first + n_folds, together):
            held = inside & (fold >= number) & (fold < number + together)
            yield held, inside & ~held
        first += n_folds


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


def _verdict(choice: CalibratorChoice, result: CandidateEvidence, *, few: bool) -> str:
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
    doubt = ""
    if few or float(result.low or 0.0) <= 0 <= float(result.high or 0.0):
        doubt = " but may be chance; no gain is shown, the model may as well be left alone"
    elif result.difference > 0:
        doubt = "; the model is better left alone"
    return (
        f"{what}{kept}: on held-out rows log loss is {abs(result.difference):.4f} {change}{share}, "
        f"interval {result.low:+.4f} to {result.high:+.4f}{doubt}."
    )


def _notes(choice: CalibratorChoice, rows: CheckedRows) -> tuple[str, ...]:
    notes = []
    if rows.units < _FEW_SHOWN:
        what = "rows" if rows.groups is None else "groups"
        notes.append(f"{rows.units:.0f} {what} are few: intervals are rough")
    if rows.groups is not None:
        notes.append(f"{len(np.unique(rows.groups)):,} groups of rows were kept together")
    if (events := _events(rows)) < FEW_EVENTS:
        what = "row is" if events == 1 else "rows are"
        notes.append(
            f"{events:.0f} {what} not of the most frequent class: too few to say what is gained"
        )
    if choice.n_used < len(rows.y):
        notes.append(f"compared on {choice.n_used:,} rows, then fitted to all {len(rows.y):,}")
    surprises = 0 if choice.identity is None else choice.judge.surprises(choice.identity)
    if surprises:
        what = "outcome" if surprises == 1 else "outcomes"
        notes.append(
            f"the model gave probability 0 to {surprises:,} {what} that happened, so its log loss "
            f"is infinite: it is not left alone; its zeros count as {choice.judge.floor:.2g} here"
        )
    present = len(np.unique(rows.y))
    if present < len(rows.classes):
        notes.append(f"{len(rows.classes) - present} of {len(rows.classes)} classes do not occur")
    return tuple(notes)


def _events(rows: CheckedRows) -> float:
    """Rows, or groups with some, that are not of the most frequent class."""
    counts = np.bincount(rows.y, row_masses(rows))
    if rows.groups is not None:
        return float(len(np.unique(rows.groups[rows.y != counts.argmax()])))
    return float(counts.sum() - counts.max())
