"""The status of a monitor: what the store holds, in the library's words for miscalibration."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.labels import shortened
from veridical.lenses import Binary, Confidence
from veridical.lenses.reading import event_of
from veridical.monitoring._judge.estimates import change_point, estimates_of, radius
from veridical.monitoring._store.buckets import Buckets, History
from veridical.monitoring._store.evidence import exp_or_inf
from veridical.monitoring._store.pending import Pending
from veridical.monitoring._store.plan import VECTOR
from veridical.monitoring._store.store import Store
from veridical.monitoring._store.streams import Streams, StreamState
from veridical.monitoring._store.vectors import VectorProcess
from veridical.results import MonitorEstimate, MonitorStatus, StreamEvidence
from veridical.results.base import say_pvalue

_BINARY = {
    "predictions too extreme": "over-confident (predictions too extreme)",
    "predictions not extreme enough": "under-confident (predictions not extreme enough)",
    "outcomes more frequent than predicted": "predictions too low",
    "outcomes less frequent than predicted": "predictions too high",
}
# Of three or more classes the prediction is the confidence, and the outcome that it was right.
_CONFIDENCE = {
    "predictions too extreme": "differences between confidences too large",
    "predictions not extreme enough": "differences between confidences too small",
    "outcomes more frequent than predicted": "under-confident (confidence below accuracy)",
    "outcomes less frequent than predicted": "over-confident (confidence above accuracy)",
}
_WHERE = re.compile(r" where predictions are (between .*)$")


@dataclass(frozen=True)
class Directions:
    """Translates what `EProcesses.direction` says.

    Over-confident means too extreme, a recalibration slope below 1, as everywhere in the library;
    of three or more classes, that the confidence is above the accuracy.

    Attributes
    ----------
    of_confidence : whether rows are seen through their confidence, because of many classes

    Examples
    --------
    >>> says = Directions(of_confidence=False)
    >>> says.of("all", "outcomes less frequent than predicted and predictions too extreme")
    'over-confident (predictions too extreme) and predictions too high'
    >>> more = "outcomes more frequent than predicted"
    >>> says.of("group", f"{more} where predictions are between 0.2 and 0.5")
    'predictions too low between 0.2 and 0.5'
    >>> Directions(of_confidence=True).of("group", more)
    'under-confident (confidence below accuracy)'
    """

    of_confidence: bool

    def of(self, family: str, direction: str) -> str:
        """Direction of a stream of this family; classes are always seen one against the rest."""
        words = _CONFIDENCE if self.of_confidence and family != "class" else _BINARY
        place = _WHERE.search(direction)
        phrases = [words[part] for part in _WHERE.sub("", direction).split(" and ")]
        # The spread of binary predictions, or the level of confidences, comes first.
        phrases.sort(key=lambda text: "-confident" not in text)
        return " and ".join(phrases) + (f" {place[1]}" if place else "")


WHOLE = "whole vectors"  # how the part is called
_MOST_NAMED, _LONGEST = 5, 60  # parts in a sentence, and letters of a name
_LARGEST = 300 * math.log(10)  # beyond, a float has no room for the evidence


def status_of(store: Store, buckets: Buckets, settings: dict[str, Any]) -> MonitorStatus:
    """Say what a store knows; the caller sees to it that all is read at one moment."""
    state = Streams(store.database).read()
    log_max, alarmed_at = store.log_max, store.alarmed_at
    classes = store.classes(settings["labels"]) or ()
    directions = Directions(of_confidence=len(classes) > 2)
    event = watched_event(classes, settings["pos_label"])
    streams = _streams(state, buckets.totals(), settings, directions, classes)
    log_e, direction = 0.0, None
    estimates: tuple[MonitorEstimate, ...] = ()
    since: tuple[str | None, str | None, str | None] = (None, None, None)
    if state.ids:
        log_e = state.log_e
        history = buckets.history(state.ids[0])
        estimates = estimates_of(history, buckets.sums_of_p(), settings)
        if alarmed_at is not None and streams[0].family == VECTOR:
            direction = streams[0].direction  # others may have nothing to say
        elif alarmed_at is not None:
            direction = directions.of("all", state.evidence.direction(0))
            since = _since(history)
    waiting, oldest = Pending(store.database).waiting()
    return MonitorStatus(
        n_samples=int(state.evidence.n_rows[0]) if state.ids else 0,
        n_batches=store.n_batches,
        level=float(settings["level"]),
        alarm=alarmed_at is not None,
        alarmed_at=alarmed_at,
        e_value=exp_or_inf(log_e),
        max_e_value=exp_or_inf(log_max),
        pvalue=math.exp(-log_max),
        direction=direction,
        since=since[0],
        since_low=since[1],
        since_high=since[2],
        estimates=estimates,
        streams=streams,
        verdict=verdict_of(alarmed_at, direction, since, log_max, streams, event),
        event=event,
        notes=(_waiting_note(waiting, oldest),) if waiting else (),
    )


_PROBABILITY = "the probability of "


def watched_event(classes: tuple[Any, ...], positive: Any) -> str:
    """What is watched, in words; "" while classes are not known.

    Examples
    --------
    >>> watched_event(("bad", "good"), "bad"), watched_event((0, 1), None)
    ("the probability of y = 'bad'", 'the probability of y = 1')
    >>> watched_event((0, 1, 2), None)
    'the confidence: that the most probable class is right'
    """
    if not classes:
        return ""
    if len(classes) > 2:
        return f"the confidence: that {event_of(Confidence(), classes)}"
    positive = max(classes) if positive is None else positive
    return _PROBABILITY + event_of(Binary(), (*(c for c in classes if c != positive), positive))


def evidence_words(log_max: float) -> str:
    """Largest evidence and the p-value it makes.

    Examples
    --------
    >>> evidence_words(math.log(40))
    'largest evidence 40, p = 0.0250 at any time'
    """
    if log_max > _LARGEST:
        return "largest evidence above 1e300, p < 1e-300 at any time"
    p = say_pvalue(math.exp(-max(log_max, 0.0)))
    return f"largest evidence {math.exp(log_max):.4g}, {p} at any time"


def verdict_of(
    alarmed_at: str | None,
    direction: str | None,
    since: tuple[str | None, str | None, str | None],
    log_max: float,
    streams: tuple[StreamEvidence, ...],
    event: str = "",
) -> str:
    """Everything in a sentence."""
    if alarmed_at is None:
        return f"No alarm: {evidence_words(log_max)}."
    of_one = f" for {event.removeprefix(_PROBABILITY)}" if event.startswith(_PROBABILITY) else ""
    text = f"Alarm at {alarmed_at}: {direction}{of_one}"
    if since[0] is not None:
        text += f", since about {since[0]}"
        if since[1] != since[2]:
            text += f" (between {since[1]} and {since[2]})"
    named = ("class", "group", VECTOR)
    blamed = [s for s in streams if s.alarmed_at is not None and s.family in named]
    if blamed:
        names = [
            s.name if s.family == VECTOR else f"{s.family} {shortened(s.name, _LONGEST)}"
            for s in blamed[:_MOST_NAMED]
        ]
        text += f"; to blame: {', '.join(names)}"
        if len(blamed) > _MOST_NAMED:
            text += f" and {len(blamed) - _MOST_NAMED} more"
    return f"{text}; {evidence_words(log_max)}."


def _streams(
    state: StreamState,
    totals: dict[int, tuple[float, float, float]],
    settings: dict[str, Any],
    directions: Directions,
    classes: tuple[Any, ...],
) -> tuple[StreamEvidence, ...]:
    """Every part that has rows, the one nearest to being blamed first."""
    places = [i for i, stream in enumerate(state.ids) if stream in totals]
    if not places:
        return ()
    rows, total, squared = np.array([totals[state.ids[i]] for i in places]).T
    deviation = total / rows
    wide = radius(squared, (1 - settings["confidence_level"]) / 2) / rows
    low, high = np.maximum(deviation - wide, -1.0), np.minimum(deviation + wide, 1.0)
    evidence = state.evidence
    nearness = evidence.log_max[places] + np.log(state.shares[places])
    found = []
    for k in np.argsort(-nearness, kind="stable").tolist():
        i = places[k]
        stream = state.streams[i]
        found.append(
            StreamEvidence(
                family=stream.family,
                name="" if stream.family == "all" else str(stream).split(" ", 1)[1],
                n_rows=float(rows[k]),
                e_value=exp_or_inf(float(evidence.log_e[i])),
                max_e_value=exp_or_inf(float(evidence.log_max[i])),
                threshold=1 / (settings["level"] * float(state.shares[i])),
                alarmed_at=state.alarmed_at[i],
                deviation=float(deviation[k]),
                low=float(low[k]),
                high=float(high[k]),
                direction=directions.of(stream.family, evidence.direction(i)),
            )
        )
    if state.vectors is not None and state.plan is not None:
        share = state.plan.parts[VECTOR]
        place = int((nearness > state.vectors.log_max + math.log(share)).sum())
        found.insert(place, _vectors(state.vectors, share, settings, classes))
    return tuple(found)


def _vectors(
    process: VectorProcess, share: float, settings: dict[str, Any], classes: tuple[Any, ...]
) -> StreamEvidence:
    """Evidence about whole vectors; the deviation is that of the second most probable class."""
    deviation, squared = process.sums.tolist()
    mean = deviation / process.n_rows
    wide = float(radius([squared], (1 - settings["confidence_level"]) / 2)[0]) / process.n_rows
    return StreamEvidence(
        family=VECTOR,
        name=WHOLE,
        n_rows=float(process.n_rows),
        e_value=exp_or_inf(process.log_e),
        max_e_value=exp_or_inf(process.log_max),
        threshold=1 / (settings["level"] * share),
        alarmed_at=process.alarmed_at,
        deviation=mean,
        low=max(-1.0, mean - wide),
        high=min(1.0, mean + wide),
        direction=process.direction(classes),
    )


def _since(history: History) -> tuple[str | None, str | None, str | None]:
    found = change_point(history.factors)
    if found is None:
        return None, None, None

    def named(bucket: int) -> str:
        return history.began[bucket] or f"batch {history.ordinal[bucket]}"

    return named(found.batch), named(found.low), named(found.high)


def _waiting_note(n: int, oldest: str | None) -> str:
    wait = "prediction waits for its outcome" if n == 1 else "predictions wait for their outcomes"
    since = "" if oldest is None else f", the oldest since {oldest}"
    return f"{n:,} {wait}{since}"
