"""An earlier look at a monitor, as its page keeps it, and what has changed since."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical.exceptions import invalid
from veridical.results import Result

if TYPE_CHECKING:
    from veridical.report._monitor.monitor import MonitorReport
    from veridical.results import StreamEvidence

_CALLER = "monitor_report"
FAMILIES = {
    "all": "all rows", "region": "scores", "class": "class", "group": "group", "vector": "",
}  # fmt: skip
_IN_PAGE = re.compile(r'<script type="application/json" id="look">(.{1,200000}?)</script>', re.S)
_LARGEST = 100_000_000  # bytes of a page that is read


@dataclass(frozen=True, kw_only=True, repr=False)
class MonitorLook(Result):
    """What was known at a look, small enough to be part of its page.

    Attributes
    ----------
    store_id : of the store; stores of before have none
    epoch : of the map that was watched
    n_samples, n_batches, n_waiting : rows and batches counted, predictions that waited
    up_to : timestamp of the last batch, "" if it had none
    alarm : whether there was an alarm
    max_e_value : largest evidence
    deviation, low, high : of the rolling window; None before the first row
    blamed : names of the parts that were to blame
    broken : promises that were broken
    """

    store_id: str | None
    epoch: int
    n_samples: int
    n_batches: int
    n_waiting: int
    up_to: str
    alarm: bool
    max_e_value: float
    deviation: float | None
    low: float | None
    high: float | None
    blamed: tuple[str, ...]
    broken: tuple[str, ...]


def look_of(report: MonitorReport) -> MonitorLook:
    """What the next page will compare itself with."""
    status = report.status
    window = status.estimates[1] if len(status.estimates) > 1 else None
    return MonitorLook(
        store_id=report.store_id,
        epoch=report.versions.epochs[-1].epoch,
        n_samples=status.n_samples,
        n_batches=status.n_batches,
        n_waiting=report.n_waiting,
        up_to=report.history.ended[-1] if report.history is not None else "",
        alarm=status.alarm,
        max_e_value=status.max_e_value,
        deviation=None if window is None else window.deviation,
        low=None if window is None else window.low,
        high=None if window is None else window.high,
        blamed=tuple(_part(s) for s in status.streams if s.alarmed_at is not None),
        broken=tuple(each.promised for each in status.promises if each.broken),
    )


def _part(stream: StreamEvidence) -> str:
    """How a part of the rows is called on the page."""
    return f"{FAMILIES[stream.family]} {stream.name}".strip()


def embedded(look: MonitorLook) -> str:
    """As part of a page: data, which nothing in it can end."""
    text = json.dumps(look.to_dict()).replace("<", "\\u003c")
    return f'<script type="application/json" id="look">{text}</script>'


def read_look(source: Any) -> MonitorLook:
    """An earlier look: a report, or the file (.html, .json) that one was saved to."""
    from veridical.report._monitor.monitor import MonitorReport

    if isinstance(source, MonitorLook):
        return source
    if isinstance(source, MonitorReport):
        return look_of(source)
    if not isinstance(source, (str, os.PathLike)):
        hint = "pass an earlier report, or the .html or .json it was saved to."
        got = f"a {type(source).__name__}"
        raise invalid(_CALLER, "since", "an earlier look", got, hint=hint)
    path = Path(source)
    if path.is_file() and path.stat().st_size <= _LARGEST:
        try:
            text = path.read_text(encoding="utf-8")
            if path.suffix.lower() == ".json":
                return look_of(MonitorReport.from_dict(json.loads(text)))
            found = _IN_PAGE.search(text)
            if found is not None:
                return _checked(MonitorLook.from_dict(json.loads(found[1])))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
            pass  # whatever it is, it is no page of a monitor
    hint = "name the .html or .json that `veridical monitor report` has written."
    raise invalid(_CALLER, "since", "an earlier page", repr(str(path)), hint=hint)


def _checked(look: MonitorLook) -> MonitorLook:
    numbers = (look.epoch, look.n_samples, look.n_batches, look.n_waiting)
    texts = (look.up_to, *look.blamed, *look.broken)
    sound = all(isinstance(each, int) for each in numbers)
    sound = sound and all(isinstance(each, str) for each in texts)
    sound = sound and all(
        each is None or isinstance(each, (int, float))
        for each in (look.max_e_value, look.deviation, look.low, look.high)
    )
    if not sound:
        raise ValueError("not written by a monitor")
    return look


def continues(before: MonitorLook, now: MonitorLook) -> bool:
    """Whether both are of one store, and time has not gone back."""
    if before.store_id != now.store_id or before.epoch > now.epoch:
        return False
    return before.epoch < now.epoch or before.n_samples <= now.n_samples


def news(before: MonitorLook, now: MonitorLook) -> Iterator[str]:
    """What has happened between two looks, a sentence each, the gravest first."""
    anew = now.epoch > before.epoch
    if now.alarm and (anew or not before.alarm):
        yield "There is an alarm that was not there before."
    for name in now.broken:
        if anew or name not in before.broken:
            yield f"Broken since then: {name}."
    new = [name for name in now.blamed if anew or name not in before.blamed]
    if new:
        listed = ", ".join(new[:5]) + (f" and {len(new) - 5} more" if len(new) > 5 else "")
        yield f"Newly to blame: {listed}."
    if anew:
        yield "Another map was put in place: evidence and windows began anew."
    if now.n_samples == before.n_samples and not anew:
        yield "No row was counted since then."
