"""One look at several stores."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from veridical._core.runtime.text import without_password
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.monitoring._judge.estimates import estimate_of, radius
from veridical.monitoring._judge.status import WHOLE, Directions, evidence_words, watched_event
from veridical.monitoring._maps.versions import Versions
from veridical.monitoring._store.address import exists, is_address
from veridical.monitoring._store.buckets import Buckets
from veridical.monitoring._store.counts import ALL, Stream
from veridical.monitoring._store.evidence import exp_or_inf
from veridical.monitoring._store.pending import Pending
from veridical.monitoring._store.plan import VECTOR
from veridical.monitoring._store.store import Store
from veridical.monitoring._store.streams import Streams, StreamState
from veridical.results import MonitorEstimate, MonitorStatus, StreamEvidence

_CALLER = "merge_stores"
_MARK = "this look"  # joint evidence has no timeline: the order across stores is not kept
_HOW = (
    "the evidence is the mean of the stores' e-values, which is evidence whatever the dependence"
    " between stores; limits are corrected for their number"
)


@dataclass(frozen=True, eq=False)
class StoreLook:
    """What one store holds of all its rows."""

    path: str
    settings: dict[str, Any]
    classes: tuple[Any, ...] | None
    state: StreamState
    totals: dict[int, tuple[float, float, float]]
    sum_p: float
    log_e: float
    log_max: float
    n_batches: int
    n_waiting: int
    store_id: str | None
    batches: dict[tuple[str, str], int]

    def holds_the_same(self, other: StoreLook) -> bool:
        """Whether one is a copy of the other; stores of before had no name of their own."""
        mine, theirs = self.state.evidence, other.state.evidence
        return (
            (self.store_id == other.store_id or None in (self.store_id, other.store_id))
            and self.state.streams == other.state.streams
            and self.n_batches == other.n_batches
            and np.array_equal(mine.n_rows, theirs.n_rows)
            and np.array_equal(mine.wealth, theirs.wealth)
            and self.sum_p == other.sum_p
        )

    def is_within(self, other: StoreLook) -> bool:
        """Whether all its rows came in named batches that the other store has, too."""
        named = 0 < self.n_batches == len(self.batches)
        return named and self.batches.keys() <= other.batches.keys()

    @cached_property
    def watched(self) -> dict[Stream, int]:
        """Streams that have rows, and their places."""
        pairs = zip(self.state.streams, self.state.ids, strict=True)
        return {stream: i for i, (stream, id) in enumerate(pairs) if id in self.totals}


def merge_stores(paths: Sequence[str | os.PathLike[str]]) -> MonitorStatus:
    r"""Status of several stores together, such as one for each server or region.

    Parameters
    ----------
    paths : sequence of str or path
        Files or addresses of PostgreSQL: stores of monitors with the same classes, level and
        confidence level. Nothing is written
        to them.

    Returns
    -------
    MonitorStatus
        Rows, batches and sums of deviations are added. There is one estimate, since the start:
        windows of different stores do not end at one moment. `alarmed_at` is "this look" where
        there is an alarm, and `since` is None.

    Notes
    -----
    **Evidence.** The mean of the m stores' e-values is an e-value under any dependence between
    stores (Vovk & Wang 2021, Annals of Statistics 49, 1736-1754), unlike their product. If every
    prediction is right given what all stores saw before it, the mean is an e-process: reaching
    1 / level ever has probability at most `level`. The mean now, and the largest evidence that
    any store ever had divided by m, are both at most its largest value; the larger of them is
    `max_e_value`. The price of joining is thus at most a factor m in evidence.

    A part (group, class, range of scores) has the mean weighted by its shares :math:`s_i` in the
    stores, and is to blame from :math:`m / (level \sum_i s_i)` on, so that all parts together are
    wrongly blamed with probability at most `level`.

    **Limits** are sums of the stores' own, each at 1 / m of the level (union bound).

    **Nothing twice.** A store that holds what another one does (a copy, or batches all of whose
    names and data are there, too) is left out. Single batches in several stores count once among
    rows and batches; what they add to evidence and deviations cannot be taken out again, which
    leaves the evidence valid. `notes` says all of it. Copies of one store that went on apart are
    refused.

    Cost: O(streams) a store; buckets are not read but for one number each.

    Examples
    --------
    >>> import tempfile
    >>> from veridical.monitoring import CalibrationMonitor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a", "b"):
    ...         with CalibrationMonitor(f"{folder}/{name}.sqlite") as monitor:
    ...             _ = monitor.update([0, 1, 1], [0.2, 0.7, 0.9])
    ...     merged = merge_stores([f"{folder}/a.sqlite", f"{folder}/b.sqlite"])
    >>> merged.n_samples, merged.n_batches, merged.alarm
    (6, 2, False)
    """
    every = [_read(path) for path in _checked(paths)]
    _check_alike(every)
    parts, notes = _without_copies(every)
    twice = _counted_twice(parts)
    settings, classes = parts[0].settings, parts[0].classes or ()
    level = float(settings["level"])
    log_e = _log_mean([part.log_e for part in parts])
    log_max = max(log_e, 0.0, max(part.log_max for part in parts) - math.log(len(parts)))
    alarm = log_max >= -math.log(level)
    worst = max(parts, key=lambda part: part.log_max)
    event = watched_event(classes, settings["pos_label"])
    names = dict.fromkeys(stream for part in parts for stream in part.watched)
    directions = Directions(of_confidence=len(classes) > 2)
    streams = [_stream(stream, parts, settings, directions) for stream in names]
    if any(part.state.vectors is not None for part in parts):
        streams.append(_vectors(parts, settings, classes))
    streams.sort(key=lambda s: -s[0])
    direction = None
    if alarm and streams[0][1].family == VECTOR:
        direction = streams[0][1].direction
    elif alarm:
        direction = directions.of("all", worst.state.evidence.direction(0))
    waiting = sum(part.n_waiting for part in parts)
    stores = f"{len(parts)} stores together" if len(parts) > 1 else "one store"
    text = "No alarm"
    if alarm:
        text = f"Alarm: {direction}, of {event}, most in {worst.path!r}"
    if twice:
        rows = f"{sum(twice):,} rows of {len(twice):,} batches are in more than one store"
        notes.append(f"{rows}: they count once here, and in each store's evidence and deviation")
    n_samples = int(sum(part.state.evidence.n_rows[0] for part in parts if part.state.ids))
    return MonitorStatus(
        n_samples=n_samples - sum(twice),
        n_batches=sum(part.n_batches for part in parts) - len(twice),
        level=level,
        alarm=alarm,
        alarmed_at=_MARK if alarm else None,
        e_value=exp_or_inf(log_e),
        max_e_value=exp_or_inf(log_max),
        pvalue=math.exp(-log_max),
        direction=direction,
        since=None,
        since_low=None,
        since_high=None,
        estimates=_since_start(parts, settings),
        streams=tuple(stream for _, stream in streams),
        event=event,
        verdict=f"{text}: {stores}, {evidence_words(log_max)}.",
        notes=(
            _HOW,
            *notes,
            *([f"{waiting:,} predictions wait for their outcomes"] if waiting else []),
        ),
    )


def _checked(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    found = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not found:
        raise invalid(_CALLER, "paths", "at least one store", "none", hint="name the files.")
    real: dict[object, str] = {}
    for each in found:
        path = os.fspath(each)
        if not exists(path):
            hint = "name files that `CalibrationMonitor` has made, or addresses."
            raise invalid(_CALLER, "paths", "existing stores", repr(path), hint=hint)
        if is_address(path):
            key: object = path
        else:
            file = Path(path).stat()  # one file by several names, too
            key = (file.st_dev, file.st_ino)
        if key in real:
            hint, got = "its rows would count twice.", f"{without_password(path)!r} again"
            raise invalid(_CALLER, "paths", "each store once", got, hint=hint)
        real[key] = path
    return list(real.values())


def _without_copies(parts: list[StoreLook]) -> tuple[list[StoreLook], list[str]]:
    """Stores that hold rows of their own, and what is said of the others."""
    kept: list[StoreLook] = []
    notes: list[str] = []
    for part in sorted(parts, key=lambda each: -each.n_batches):
        for other in kept:
            if part.n_batches and (part.holds_the_same(other) or part.is_within(other)):
                notes.append(f"{part.path!r} was left out: {other.path!r} holds all of its rows")
                break
            if part.n_batches and part.store_id is not None and part.store_id == other.store_id:
                hint = "what both were before the copy would count twice; merge one of them."
                got = f"copies that went on apart, {other.path!r} and {part.path!r}"
                raise invalid(_CALLER, "paths", "different stores", got, hint=hint)
        else:
            kept.append(part)
    return [part for part in parts if part in kept], notes


def _counted_twice(parts: list[StoreLook]) -> list[int]:
    """Rows of every batch that a store has and one before it had."""
    seen: set[tuple[str, str]] = set()
    twice = []
    for part in parts:
        twice += [rows for batch, rows in part.batches.items() if batch in seen]
        seen |= part.batches.keys()
    return twice


def _read(path: str) -> StoreLook:
    store = Store(path, read_only=True)
    try:
        with store.reading():
            buckets, state = Buckets(store.database), Streams(store.database).read()
            settings = json.loads(store.setting("monitor") or "null")
            if settings is None:
                hint = "name files that `CalibrationMonitor` has made."
                raise invalid(
                    _CALLER, "paths", "stores", f"{store.path!r}, an empty one", hint=hint
                )
            return StoreLook(
                path=store.path,
                settings=settings,
                classes=store.classes(settings["labels"]),
                state=state,
                totals=buckets.totals(),
                sum_p=float(buckets.sums_of_p().sum()),
                log_e=state.log_e if state.ids else 0.0,
                log_max=store.log_max,
                n_batches=store.n_batches,
                n_waiting=Pending(store.database).waiting()[0],
                store_id=store.setting("store_id"),
                # which of them another map than the first has counted is not kept
                batches=store.batches() if Versions(store.database).epoch == 1 else {},
            )
    finally:
        store.close()


def _check_alike(parts: list[StoreLook]) -> None:
    first = parts[0]
    for part in parts[1:]:
        for name in ("level", "confidence_level", "pos_label"):
            if part.settings[name] != first.settings[name]:
                hint = "merge stores that were made alike."
                expected = f"of one {name}, {first.settings[name]!r} as {first.path!r}"
                got = f"{part.settings[name]!r} in {part.path!r}"
                raise invalid(_CALLER, "paths", expected, got, hint=hint)
        if part.classes and first.classes and part.classes != first.classes:
            hint = "merge stores of one problem."
            got = f"{list(part.classes)!r} in {part.path!r}"
            expected = f"of classes {list(first.classes)!r}"
            raise invalid(_CALLER, "paths", expected, got, hint=hint)


def _stream(
    stream: Stream, parts: list[StoreLook], settings: dict[str, Any], directions: Directions
) -> tuple[float, StreamEvidence]:
    """How near the part is to being blamed, in logs, and what is known of it."""
    held = [(part, part.watched[stream]) for part in parts if stream in part.watched]
    n_stores, level = len(parts), float(settings["level"])
    share = np.log([part.state.shares[i] for part, i in held])
    total = float(np.logaddexp.reduce(share))
    log_now = np.array([part.state.evidence.log_e[i] for part, i in held])
    log_most = np.array([part.state.evidence.log_max[i] for part, i in held])
    now = float(np.logaddexp.reduce(share + log_now)) - total
    most = max(now, float((share + log_most).max()) - total)
    log_threshold = math.log(n_stores / level) - total
    sums = [part.totals[part.state.ids[i]] for part, i in held]
    worst, at = held[int(log_most.argmax())]
    rows, deviation, wide = _limits(sums, n_stores, settings)
    return most - log_threshold, StreamEvidence(
        family=stream.family,
        name="" if stream == ALL else str(stream).split(" ", 1)[1],
        n_rows=rows,
        e_value=exp_or_inf(now),
        max_e_value=exp_or_inf(most),
        threshold=math.exp(log_threshold),
        alarmed_at=_MARK if most >= log_threshold else None,
        deviation=deviation,
        low=max(-1.0, deviation - wide),
        high=min(1.0, deviation + wide),
        direction=directions.of(stream.family, worst.state.evidence.direction(at)),
    )


def _vectors(
    parts: list[StoreLook], settings: dict[str, Any], classes: tuple[Any, ...]
) -> tuple[float, StreamEvidence]:
    """The same of whole vectors; the deviation is that of the second most probable class."""
    held = [
        (part.state.vectors, part.state.plan.parts[VECTOR])
        for part in parts
        if part.state.vectors is not None and part.state.plan is not None
    ]
    share = np.log([share for _, share in held])
    total = float(np.logaddexp.reduce(share))
    log_most = share + [process.log_max for process, _ in held]
    now = float(np.logaddexp.reduce(share + [process.log_e for process, _ in held])) - total
    most = max(now, float(log_most.max()) - total)
    log_threshold = math.log(len(parts) / float(settings["level"])) - total
    sums = [(float(process.n_rows), *process.sums.tolist()) for process, _ in held]
    rows, deviation, wide = _limits(sums, len(parts), settings)
    return most - log_threshold, StreamEvidence(
        family=VECTOR,
        name=WHOLE,
        n_rows=rows,
        e_value=exp_or_inf(now),
        max_e_value=exp_or_inf(most),
        threshold=math.exp(log_threshold),
        alarmed_at=_MARK if most >= log_threshold else None,
        deviation=deviation,
        low=max(-1.0, deviation - wide),
        high=min(1.0, deviation + wide),
        direction=held[int(log_most.argmax())][0].direction(classes),
    )


def _since_start(parts: list[StoreLook], settings: dict[str, Any]) -> tuple[MonitorEstimate, ...]:
    held = [(part, part.watched[ALL]) for part in parts if ALL in part.watched]
    if not held:
        return ()
    sums = [part.totals[part.state.ids[i]] for part, i in held]
    rows, deviation, wide = _limits(sums, len(parts), settings)
    predicted = sum(part.sum_p for part, _ in held) / rows
    return (estimate_of("since the start", rows, predicted, deviation, wide),)


def _limits(
    sums: list[tuple[float, float, float]], n_stores: int, settings: dict[str, Any]
) -> tuple[float, float, float]:
    """Rows, mean deviation and its radius, of sums that each have their own limits."""
    rows, deviation, squared = np.array(sums).T
    each: FloatArray = radius(squared, (1 - settings["confidence_level"]) / 2 / n_stores)
    n = float(rows.sum())
    return n, float(deviation.sum()) / n, float(each.sum()) / n


def _log_mean(logs: list[float]) -> float:
    return float(np.logaddexp.reduce(logs)) - math.log(len(logs))
