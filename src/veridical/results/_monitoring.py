"""What a monitor says."""

from __future__ import annotations

from dataclasses import dataclass, fields
from html import escape
from typing import ClassVar

from veridical._core.typing import FloatArray
from veridical.results._base import Result
from veridical.results._text import html_table


@dataclass(frozen=True, kw_only=True)
class MonitorUpdate(Result):
    """What one batch did.

    Attributes
    ----------
    n_rows : rows of the batch
    n_samples : rows of all batches so far
    alarm : whether there was ever an alarm, this batch included
    e_value : evidence against calibration after the batch
    repeated : the batch had come before and was not counted again
    """

    n_rows: int
    n_samples: int
    alarm: bool
    e_value: float
    repeated: bool = False

    def __str__(self) -> str:
        again = ", sent before and not counted again" if self.repeated else ""
        state = "ALARM" if self.alarm else "no alarm"
        rows = f"{self.n_rows:,} rows{again}; {self.n_samples:,} in all"
        return f"{rows}: {state}, e = {self.e_value:.4g}"


@dataclass(frozen=True, kw_only=True)
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

    def __str__(self) -> str:
        return (
            f"{self.window}: predicted {self.mean_predicted:.4f}, observed"
            f" {self.mean_observed:.4f}, deviation {self.deviation:+.4f}"
            f" ({self.low:+.4f} to {self.high:+.4f})"
        )


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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

    def __str__(self) -> str:
        lines = [self.verdict, ""]
        lines += [f"  {estimate}" for estimate in self.estimates]
        header = f"  {'part':<28}{'rows':>12}{'e-value':>13}{'largest':>13}{'blamed from':>13}"
        lines += ["", f"{header}  deviation"]
        lines += [
            f"  {row[0][:27]:<28}{row[1]:>12}{row[2]:>13}{row[3]:>13}{row[4]:>13}  {row[5]}"
            for row in self._rows()
        ]
        lines += ["", *(f"  note: {note}" for note in self.notes)] if self.notes else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ["part", "rows", "e-value", "largest", "blamed from", "deviation"]
        return f"<p>{escape(self.verdict)}</p>" + html_table(head, self._rows())

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
        names: tuple[str, ...] = ("family", "name", "n_rows", "e_value", "max_e_value", "threshold")
        names += ("alarmed_at", "deviation", "low", "high", "direction")
        return {name: [getattr(s, name) for s in self.streams] for name in names}


@dataclass(frozen=True, kw_only=True, eq=False)
class MonitorHistory(Result):
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

    def _columns(self) -> dict[str, list[object]]:
        return {f.name: list(getattr(self, f.name)) for f in fields(self)}
