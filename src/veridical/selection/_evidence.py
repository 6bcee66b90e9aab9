"""The table that shows why a calibrator was chosen."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.calibrators._wrapping import CheckedRows
from veridical.results import CandidateEvidence, Evidence
from veridical.selection._choice import Choice, Tried

_FEW_ROWS = 50


def evidence_of(choice: Choice, rows: CheckedRows, strategy: str, level: float) -> Evidence:
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

    def __init__(self, choice: Choice, level: float) -> None:
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

    def candidate(self, each: Tried, weight: float) -> CandidateEvidence:
        if each.fit is None:
            return _untried(each.name, each.note)
        return self.row(
            each.name, each.fit.given, weight=weight, chosen=weight > 0, note=self._why(weight),
            seconds=each.fit.seconds,
        )  # fmt: skip

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
        candidate=name, log_loss=None, brier=None, difference=None, low=None, high=None,
        weight=weight, chosen=chosen, note=note, seconds=0.0,
    )  # fmt: skip


def _verdict(choice: Choice, result: CandidateEvidence) -> str:
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


def _notes(choice: Choice, rows: CheckedRows) -> tuple[str, ...]:
    notes = []
    if rows.size < _FEW_ROWS:
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
