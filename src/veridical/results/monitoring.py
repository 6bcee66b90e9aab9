"""What a monitor finds: evidence, new maps and their trial, and signs that need no outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veridical._core.runtime.text import WIDTH, table_lines, wrapped
from veridical._core.typing import FloatArray
from veridical.results._forms.html import html_fold, html_headline, html_list, html_table
from veridical.results._forms.text import note_lines
from veridical.results.base import ArrayResult, Result, columns_of, field_names, say_pvalue
from veridical.results.decisions import PriorEstimate
from veridical.results.risk import PromiseStatus
from veridical.results.selection import OnlineStatus

_STREAM_HEADER = ("part", "rows", "e-value", "largest", "blamed from", "deviation")


@dataclass(frozen=True, kw_only=True, repr=False)
class MonitorUpdate(Result):
    """What one batch did.

    Attributes
    ----------
    n_rows : rows of the batch
    n_samples : rows of all batches so far
    alarm : whether there was ever an alarm, this batch included
    e_value : evidence against calibration after the batch
    repeated : the batch had come before and was not counted again
    broken : promises and requirements that are shown to be broken, a sentence each
    notes : what was done to its values when they were read
    """

    n_rows: int
    n_samples: int
    alarm: bool
    e_value: float
    repeated: bool = False
    broken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def _text(self) -> str:
        again = ", sent before and not counted again" if self.repeated else ""
        state = "ALARM" if self.alarm else "no alarm"
        rows = f"{self.n_rows:,} rows{again}; {self.n_samples:,} in all"
        said = "".join(f"\n  {text}" for text in self.broken)
        said += "".join(f"\n  note: {note}" for note in self.notes)
        return f"{rows}: {state}, e = {self.e_value:.4g}{said}"


@dataclass(frozen=True, kw_only=True, repr=False)
class MonitorEstimate(Result):
    """Calibration in the large over a window, with limits that hold at every look.

    Attributes
    ----------
    window : which rows, in words
    n_rows : how many
    mean_predicted, mean_observed : weighted as the window says
    deviation : mean_observed - mean_predicted
    low, high : confidence sequence of the mean true deviation over these rows
    """

    window: str
    n_rows: float
    mean_predicted: float
    mean_observed: float
    deviation: float
    low: float
    high: float

    def _text(self) -> str:
        return (
            f"{self.window}: predicted {self.mean_predicted:.4f}, observed"
            f" {self.mean_observed:.4f}, deviation {self.deviation:+.4f}"
            f" ({self.low:+.4f} to {self.high:+.4f})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class StreamEvidence(Result):
    """Evidence of one watched part of the rows.

    Attributes
    ----------
    family, name : which rows
    n_rows : how many
    e_value, max_e_value : evidence now, and its largest value ever
    threshold : value of `max_e_value` from which this part alone is to blame, corrected for the
        number of parts
    alarmed_at : when that was, None if never
    deviation, low, high : mean outcome minus mean prediction, with limits that hold at every look
    direction : what seems wrong, in words
    """

    family: str
    name: str
    n_rows: float
    e_value: float
    max_e_value: float
    threshold: float
    alarmed_at: str | None
    deviation: float
    low: float
    high: float
    direction: str


@dataclass(frozen=True, kw_only=True, repr=False)
class MonitorStatus(Result):
    """Everything a monitor knows at this look.

    Attributes
    ----------
    n_samples, n_batches : rows and batches so far
    level : chance of a false alarm, ever
    alarm : whether the evidence has ever reached 1 / `level`
    alarmed_at : when: the timestamp given with the batch, else its number
    e_value, max_e_value : evidence now and its largest value
    pvalue : 1 / `max_e_value`, valid at any time
    direction : what seems wrong, in words; None without an alarm
    since, since_low, since_high : when it seems to have begun (batch or timestamp) and the
        interval of beginnings that explain the data nearly as well; None without an alarm
    estimates : calibration in the large since the start, in the rolling and the weighted window
    streams : evidence of each part of the rows, most evidence first
    verdict : the same in one sentence
    notes : doubts in words
    promises : what is watched besides, at this look
    event : what the predictions are of, in words; "" before the first batch
    online : the map that learns from every outcome; None without one
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("alarmed_at", "direction")

    n_samples: int
    n_batches: int
    level: float
    alarm: bool
    alarmed_at: str | None
    e_value: float
    max_e_value: float
    pvalue: float
    direction: str | None
    since: str | None
    since_low: str | None
    since_high: str | None
    estimates: tuple[MonitorEstimate, ...]
    streams: tuple[StreamEvidence, ...]
    verdict: str
    notes: tuple[str, ...] = ()
    promises: tuple[PromiseStatus, ...] = ()
    event: str = ""
    online: OnlineStatus | None = None

    def _text(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """The verdict, calibration in the large, and the evidence of each part."""
        lines = [*wrapped(self.verdict, width, indent=0), ""]
        if self.online is not None:
            lines += [*wrapped(self.online.verdict, width, indent=0), ""]
        for estimate in self.estimates:
            lines += wrapped(str(estimate), width, hanging=2)
        words, drop = ("part", "deviation"), ("blamed from",)
        table = table_lines(_STREAM_HEADER, self._rows(), width=width, words=words, drop=drop)
        lines += ["", *table]
        if any(stream.alarmed_at is not None for stream in self.streams):
            lines.append("  * enough to blame this part alone")
        for promise in self.promises:
            lines += ["", *wrapped(promise.headline, width, indent=0)]
            lines += [line for each in promise.lines() for line in wrapped(each, width)]
        return "\n".join([*lines, *note_lines(self.notes, width=width)])

    def _repr_html_(self) -> str:
        learnt = () if self.online is None else (self.online,)
        estimates = html_list((*learnt, *self.estimates))
        table = html_fold("Parts of the rows", html_table(_STREAM_HEADER, self._rows()))
        promises = html_list([each.headline for each in self.promises]) if self.promises else ""
        return html_headline(self.verdict, estimates, promises, table, notes=self.notes)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                f"{s.family} {s.name}".strip(),
                f"{s.n_rows:,.0f}",
                f"{s.e_value:.4g}",
                f"{s.max_e_value:.4g}" + ("*" if s.alarmed_at is not None else ""),
                f"{s.threshold:.4g}",
                f"{s.deviation:+.4f} ({s.low:+.4f} to {s.high:+.4f})",
            )
            for s in self.streams
        ]

    def _columns(self) -> dict[str, list[object]]:
        return columns_of(self.streams, field_names(StreamEvidence))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MonitorHistory(ArrayResult):
    """What happened, bucket by bucket (neighbouring batches, coarser the older they are).

    Attributes
    ----------
    n_rows : rows up to the end of each bucket
    ended : timestamp of its last batch, "" where none was given
    predicted, observed : mean prediction and share of positives in the bucket
    deviation, low, high : mean deviation of the rolling window that ends there, and its limits
    log_e : log of the evidence after it
    """

    n_rows: FloatArray
    ended: tuple[str, ...]
    predicted: FloatArray
    observed: FloatArray
    deviation: FloatArray
    low: FloatArray
    high: FloatArray
    log_e: FloatArray

    def __len__(self) -> int:
        return len(self.n_rows)

    def _text(self) -> str:
        if not len(self):
            return "history of no rows"
        last = f"deviation {self.deviation[-1]:+.4f} ({self.low[-1]:+.4f} to {self.high[-1]:+.4f})"
        rows = f"history of {self.n_rows[-1]:,.0f} rows in {len(self)} buckets"
        return f"{rows}: {last} in the last window, log evidence {self.log_e[-1]:.4g}"

    def _columns(self) -> dict[str, list[object]]:
        return {name: list(getattr(self, name)) for name in field_names(self)}


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def _text(self) -> str:
        return "\n".join([self.verdict, *note_lines(self.notes, apart=False)])


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def _text(self) -> str:
        return "\n".join([self.verdict, *note_lines(self.notes, apart=False)])


@dataclass(frozen=True, kw_only=True, repr=False)
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


@dataclass(frozen=True, kw_only=True, repr=False)
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


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def _text(self) -> str:
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
        return columns_of(self.versions, field_names(CalibratorVersion))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
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

    def _text(self) -> str:
        since = "" if self.waiting_since is None else f" since {self.waiting_since}"
        lines = [
            f"{self.n_waiting:,} predictions wait for outcomes{since}; compared with"
            f" {self.n_labelled:,} labelled rows by {self.score}",
            "",
            f"  distribution of scores: KS distance {self.ks_distance:.4f}"
            f" ({say_pvalue(self.ks_pvalue)} for this look alone), PSI {self.psi:.4f}"
            f" ({self.psi_noise:.4f} by chance)",
            f"  accuracy, if still calibrated: {self.estimated_accuracy:.4f} ({self.low:.4f} to"
            f" {self.high:.4f}); of labelled rows {self.labelled_accuracy:.4f}, estimated"
            f" {self.labelled_estimated:.4f}; corrected by that {self.corrected_accuracy:.4f}",
        ]
        if self.priors is not None:
            shares = zip(*self._priors().values(), strict=True)
            lines += [
                f"  share of {label}: {before:.4f}, now {now:.4f} ({low:.4f} to {high:.4f}) if"
                " only priors changed"
                for label, before, now, low, high in shares
            ]
        return "\n".join([*lines, *note_lines(self.notes, apart=False)])

    def _priors(self) -> dict[str, list[Any]]:
        p = self.priors
        assert p is not None
        first = 1 if len(p.classes) == 2 else 0  # the other share says the same
        shares = {"train": p.train, "prior": p.priors, "low": p.low, "high": p.high}
        table: dict[str, list[Any]] = {"class": [repr(label) for label in p.classes[first:]]}
        return table | {name: values.tolist()[first:] for name, values in shares.items()}

    def _columns(self) -> dict[str, list[Any]]:
        """One row, without the priors: those have a table of their own."""
        return columns_of([self], field_names(self, without=("priors", "notes")))
