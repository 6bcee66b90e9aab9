"""Why an automatic calibrator chose what it chose, and what one that learns by itself was worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veridical._core.runtime.text import WIDTH, table_lines, wrapped
from veridical.results._forms.names import find_name
from veridical.results._forms.text import note_lines, number_or_blank
from veridical.results.base import Result, columns_of, field_names


@dataclass(frozen=True, kw_only=True, repr=False)
class CandidateEvidence(Result):
    """One candidate on rows it was not fitted to.

    Attributes
    ----------
    candidate : name
    log_loss, brier : mean scores of held-out predictions; None if it was not tried
    difference, low, high : log loss minus that of the identity on the same rows; negative is
        better. The interval is of what the map, or the result that is shipped, does to new rows: it
        counts that rows of a fold helped to fit the maps of the others
    weight : share in the result
    chosen : whether the result contains it
    note : why, or why not
    seconds : time spent on it
    """

    candidate: str
    log_loss: float | None
    brier: float | None
    difference: float | None
    low: float | None
    high: float | None
    weight: float
    chosen: bool
    note: str
    seconds: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Evidence(Result):
    """Candidates of an `AutoCalibrator` on held-out rows, and what was made of them.

    Attributes
    ----------
    candidates : one entry each; the first is the identity, the last the result
    strategy : "pool" or "select"
    verdict : the decision in words
    n_samples, n_classes : of the rows it was fitted to
    partitions : numbers of folds of the partitions used
    n_used : rows that took part in the comparison
    confidence_level : of the intervals
    notes : doubts in words
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("candidate", "note")
    _number_columns: ClassVar[tuple[str, ...]] = ("log_loss", "brier", "difference", "low", "high")
    _header: ClassVar[tuple[str, ...]] = (
        "candidate",
        "log loss",
        "brier",
        "difference",
        "interval",
        "weight",
        "seconds",
        "note",
    )

    candidates: tuple[CandidateEvidence, ...]
    strategy: str
    verdict: str
    n_samples: int
    n_classes: int
    partitions: tuple[int, ...]
    n_used: int
    confidence_level: float
    notes: tuple[str, ...] = ()

    def candidate(self, name: str) -> CandidateEvidence:
        """Return one entry; KeyError lists the names."""
        known = {each.candidate: each for each in reversed(self.candidates)}  # the first one wins
        return known[find_name(name, reversed(known), caller="candidate")]

    def __getitem__(self, name: str) -> CandidateEvidence:
        """One entry, by its name."""
        return self.candidate(name)

    def _text(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """The decision, then a line for each candidate, in the order of `candidates`."""
        lines = [*wrapped(self._headline(), width, indent=0, hanging=2), ""]
        lines += [*wrapped(self.verdict, width), ""]
        drop, below = ("seconds", "brier", "log loss"), _WORDS[-1]
        lines += table_lines(
            self._header, self._rows(), width=width, words=_WORDS, drop=drop, below=below
        )
        return "\n".join([*lines, *note_lines(self.notes, width=width)])

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.candidates, field_names(CandidateEvidence))

    def _headline(self) -> str:
        folds = " + ".join(str(n) for n in self.partitions)
        rows = f"{self.n_used:,} of {self.n_samples:,}" if self.n_used < self.n_samples else ""
        return (
            f"Evidence from {rows or f'{self.n_samples:,}'} rows of {self.n_classes} classes, "
            f"held out in {folds} folds ({self.strategy})"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                c.candidate,
                number_or_blank(c.log_loss, ".5f"),
                number_or_blank(c.brier, ".5f"),
                number_or_blank(c.difference, "+.5f"),
                "" if c.low is None else f"{c.low:+.5f} to {c.high:+.5f}",
                f"{c.weight:.3f}" if c.chosen else "",
                f"{c.seconds:.2f}",
                c.note,
            )
            for c in self.candidates
        ]


_WORDS = ("candidate", "note")


@dataclass(frozen=True, kw_only=True, repr=False)
class OnlineStatus(Result):
    """What a map that learns from every outcome does today, and what it was worth so far.

    Attributes
    ----------
    since : when it began to learn: timestamp or number of a batch
    n_rows : rows it has learnt from
    given : predictions; of two classes of the positive one, of more classes of any one while the
        others share the rest equally
    low, high : what becomes of each; they differ where classes do
    event : what the predictions are of, in words
    gain : nats saved against predictions as they come, measured by what was said before outcomes
        were known; negative: it has cost so much
    most_cost : nats that it can have cost at most; None where no bound holds, since outcomes came
        in batches or late
    leading : which of its maps has the largest weight, in words
    leading_weight : that weight
    leading_since : since when
    verdict : the same in one sentence
    """

    since: str
    n_rows: int
    given: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    event: str
    gain: float
    most_cost: float | None
    leading: str
    leading_weight: float
    leading_since: str
    verdict: str

    def _text(self) -> str:
        return self.verdict
