"""What a monitor suggests and does: new maps, their trial, and signs that need no outcomes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from veridical.results._base import Result
from veridical.results._priors import PriorEstimate


@dataclass(frozen=True, kw_only=True)
class RefitSuggestion(Result):
    """A new map fitted to recent rows, and what it does to rows it was not fitted to.

    Attributes
    ----------
    version : its number; the trial against the current map has begun
    calibrator : its kind
    rows : which rows it was fitted to, in words
    n_rows : how many
    difference : held-out log loss minus that of the current map on the same rows; negative is
        better, None if nothing could be held out
    low, high : its limits at `confidence_level`, for this one look
    confidence_level : of the limits
    verdict : the same in one sentence
    notes : doubts in words
    """

    _number_columns: ClassVar[tuple[str, ...]] = ("difference", "low", "high")

    version: int
    calibrator: str
    rows: str
    n_rows: int
    difference: float | None
    low: float | None
    high: float | None
    confidence_level: float
    verdict: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"  note: {note}" for note in self.notes)])


@dataclass(frozen=True, kw_only=True)
class ShadowStatus(Result):
    """A trial: candidate and current map on the same rows, all of them new to both.

    Attributes
    ----------
    version : of the candidate
    against : version of the current map, None for the predictions as they come
    n_rows : rows both were scored on
    e_value : evidence that the candidate is better on average; may be looked at any time
    threshold : value of `e_value` that suffices, 1 / level
    difference : mean log loss of the candidate minus that of the current map, rows cut as `notes`
        say; negative is better
    low, high : its limits, which hold at every look together
    uncut : the same difference without cutting
    n_cut : rows that were cut
    switch : whether the evidence suffices
    verdict : the same in one sentence
    notes : doubts in words
    """

    _number_columns: ClassVar[tuple[str, ...]] = ("against", "difference", "low", "high", "uncut")

    version: int
    against: int | None
    n_rows: int
    e_value: float
    threshold: float
    difference: float | None
    low: float | None
    high: float | None
    uncut: float | None
    n_cut: int
    switch: bool
    verdict: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"  note: {note}" for note in self.notes)])


@dataclass(frozen=True, kw_only=True)
class CalibratorVersion(Result):
    """One map that was fitted.

    Attributes
    ----------
    version : its number, from 1
    state : "candidate", "current", "replaced" by a later one, "withdrawn" by a rollback, or
        "dropped", a candidate that was never switched to
    calibrator : its kind
    made_at : timestamp of the last batch before, or its number
    n_rows : rows it was fitted to
    difference, low, high : as in `RefitSuggestion`
    n_trial : rows of its trial
    e_value : evidence of the trial at its end, or so far
    """

    _number_columns: ClassVar[tuple[str, ...]] = ("difference", "low", "high")

    version: int
    state: str
    calibrator: str
    made_at: str
    n_rows: int
    difference: float | None
    low: float | None
    high: float | None
    n_trial: int
    e_value: float


@dataclass(frozen=True, kw_only=True)
class MonitorEpoch(Result):
    """A time during which one map was watched.

    Attributes
    ----------
    epoch : its number, from 1
    version : what was watched; None for the predictions as they come
    ended_at : timestamp of its last batch, or its number; None for the one that goes on
    n_samples, n_batches : rows and batches counted
    alarmed_at : when there was an alarm; None if there was none
    max_e_value : largest evidence against calibration
    verdict : what was known at its end
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("ended_at", "alarmed_at")
    _number_columns: ClassVar[tuple[str, ...]] = ("version",)

    epoch: int
    version: int | None
    ended_at: str | None
    n_samples: int
    n_batches: int
    alarmed_at: str | None
    max_e_value: float
    verdict: str


@dataclass(frozen=True, kw_only=True)
class MonitorVersions(Result):
    """Every map that was fitted, and what was watched when.

    Attributes
    ----------
    current : version in use; None for the predictions as they come
    candidate : version on trial; None without
    versions : oldest first
    epochs : oldest first; the last one goes on
    """

    _number_columns: ClassVar[tuple[str, ...]] = ("difference", "low", "high")

    current: int | None
    candidate: int | None
    versions: tuple[CalibratorVersion, ...]
    epochs: tuple[MonitorEpoch, ...]

    def __str__(self) -> str:
        used = "the predictions as they come" if self.current is None else f"version {self.current}"
        lines = [f"In use: {used}", ""]
        lines += [
            f"  version {v.version}: {v.calibrator}, {v.state}; made at {v.made_at} from"
            f" {v.n_rows:,} rows; trial of {v.n_trial:,} rows, e = {v.e_value:.4g}"
            for v in self.versions
        ]
        lines += [""] if self.versions else []
        for e in self.epochs:
            what = "as they come" if e.version is None else f"version {e.version}"
            lines.append(f"  epoch {e.epoch} ({what}), {e.n_samples:,} rows: {e.verdict}")
        return "\n".join(lines)

    def _columns(self) -> dict[str, list[Any]]:
        """One row a version."""
        names = [f.name for f in fields(CalibratorVersion)]
        return {name: [getattr(v, name) for v in self.versions] for name in names}


@dataclass(frozen=True, kw_only=True, eq=False)
class MonitorSignals(Result):
    """What predictions that wait for their outcomes say by themselves.

    None of it is evidence against calibration: scores may move while probabilities stay right, and
    may stay while probabilities go wrong.

    Attributes
    ----------
    n_waiting : predictions that wait
    waiting_since : timestamp of the oldest, where given
    n_labelled : labelled rows they are compared with
    score : what is compared: the probability of the positive class, or the largest one
    ks_distance : largest difference of the distribution functions, 0 to 1
    ks_pvalue : of that distance, for this look alone: looked at often enough, some look has a
        small one without any shift
    psi : population stability index in ten bins that hold a tenth of the labelled rows each
    psi_noise : its mean without any shift, from the numbers of rows
    priors : class priors of the waiting predictions, if only priors have changed; None if a class
        has no labelled row
    estimated_accuracy : mean of the largest probability of the waiting predictions, which is their
        expected accuracy if they are calibrated (survey of classifier calibration, section 5.8)
    low, high : where their accuracy will be, if they are, at `confidence_level`
    labelled_estimated : the same mean of the labelled rows
    labelled_accuracy : their accuracy; the two differ by chance alone if they are calibrated
    corrected_accuracy : `estimated_accuracy` plus that difference, right if predictions that wait
        are as wrong as labelled ones (difference of confidences: Guillory et al. 2021, arXiv
        2107.03315)
    confidence_level : of the limits, for this look alone
    notes : doubts in words
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("waiting_since",)

    n_waiting: int
    waiting_since: str | None
    n_labelled: int
    score: str
    ks_distance: float
    ks_pvalue: float
    psi: float
    psi_noise: float
    priors: PriorEstimate | None
    estimated_accuracy: float
    low: float
    high: float
    labelled_estimated: float
    labelled_accuracy: float
    corrected_accuracy: float
    confidence_level: float
    notes: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MonitorSignals) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        since = "" if self.waiting_since is None else f" since {self.waiting_since}"
        lines = [
            f"{self.n_waiting:,} predictions wait for outcomes{since}; compared with"
            f" {self.n_labelled:,} labelled rows by {self.score}",
            "",
            f"  distribution of scores: KS distance {self.ks_distance:.4f} (p ="
            f" {self.ks_pvalue:.2g} for this look alone), PSI {self.psi:.4f} ({self.psi_noise:.4f}"
            " by chance)",
            f"  accuracy, if still calibrated: {self.estimated_accuracy:.4f} ({self.low:.4f} to"
            f" {self.high:.4f}); of labelled rows {self.labelled_accuracy:.4f}, estimated"
            f" {self.labelled_estimated:.4f}; corrected by that {self.corrected_accuracy:.4f}",
        ]
        if self.priors is not None:
            shown = zip(*self._priors().values(), strict=True)
            lines += [
                f"  share of {label}: {before:.4f}, now {now:.4f} ({low:.4f} to {high:.4f}) if"
                " only priors changed"
                for label, before, now, low, high in shown
            ]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _priors(self) -> dict[str, list[Any]]:
        p = self.priors
        assert p is not None
        first = 1 if len(p.classes) == 2 else 0  # the other share says the same
        shown = (p.train, p.priors, p.low, p.high)
        names = ("train", "prior", "low", "high")
        table: dict[str, list[Any]] = {"class": [repr(label) for label in p.classes[first:]]}
        return table | {k: v.tolist()[first:] for k, v in zip(names, shown, strict=True)}

    def _columns(self) -> dict[str, list[Any]]:
        """One row, without the priors: those have a table of their own."""
        names = [f.name for f in fields(self) if f.name not in ("priors", "notes")]
        return {name: [getattr(self, name)] for name in names}
