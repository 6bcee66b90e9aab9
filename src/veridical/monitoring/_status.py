"""From the store to what a look shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.monitoring._buckets import Buckets, History
from veridical.monitoring._change import change_point
from veridical.monitoring._estimates import estimates_of, overall_limits
from veridical.monitoring._evidence import exp_or_inf
from veridical.monitoring._store import Store, StreamState
from veridical.results._monitoring import MonitorEstimate, MonitorStatus, StreamEvidence
from veridical.results._test import format_pvalue


def combined_log_e(log_e: FloatArray, shares: FloatArray) -> float:
    """Log of the weighted mean of the streams' evidence; what none has claimed counts as 1."""
    idle = max(0.0, 1.0 - float(shares.sum()))
    logs = log_e + np.log(shares)
    return float(np.logaddexp.reduce(np.append(logs, math.log(idle) if idle else -math.inf)))


def status_of(store: Store, buckets: Buckets, settings: dict[str, Any]) -> MonitorStatus:
    """Read the store and say what is known."""
    state = store.read_streams()
    level = float(settings["level"])
    log_max = float(store.setting("log_max") or 0.0)
    log_e = combined_log_e(state.evidence.log_e, state.shares) if state.ids else 0.0
    alarmed_at = store.setting("alarmed_at")
    totals = buckets.totals()
    streams = tuple(
        _stream(state, i, totals[id], settings) for i, id in enumerate(state.ids) if id in totals
    )
    estimates: tuple[MonitorEstimate, ...] = ()
    direction = None
    since: tuple[str | None, str | None, str | None] = (None, None, None)
    if state.ids:
        history = buckets.history(state.ids[0])
        estimates = estimates_of(
            history,
            buckets.sums_of_p(),
            window=settings["window"],
            half_life=settings["half_life"],
            confidence_level=settings["confidence_level"],
        )
        if alarmed_at is not None:
            direction = state.evidence.direction(0)
            since = _since(history)
    ordered = tuple(sorted(streams, key=lambda s: -s.max_e_value / s.threshold))
    highest = exp_or_inf(log_max)
    return MonitorStatus(
        n_samples=int(state.evidence.n_rows[0]) if state.ids else 0,
        n_batches=int(store.setting("n_batches") or 0),
        level=level,
        alarm=alarmed_at is not None,
        alarmed_at=alarmed_at,
        e_value=exp_or_inf(log_e),
        max_e_value=highest,
        pvalue=math.exp(-log_max),
        direction=direction,
        since=since[0],
        since_low=since[1],
        since_high=since[2],
        estimates=estimates,
        streams=ordered,
        verdict=_verdict(alarmed_at, direction, since, highest, ordered),
    )


def _stream(
    state: StreamState, i: int, sums: tuple[float, float, float], settings: dict[str, Any]
) -> StreamEvidence:
    deviation, low, high = overall_limits(*sums, settings["confidence_level"])
    stream, evidence = state.streams[i], state.evidence
    return StreamEvidence(
        family=stream.family,
        name="" if stream.family == "all" else str(stream).split(" ", 1)[1],
        n_rows=float(evidence.n_rows[i]),
        e_value=exp_or_inf(float(evidence.log_e[i])),
        max_e_value=exp_or_inf(float(evidence.log_max[i])),
        threshold=1 / (settings["level"] * float(state.shares[i])),
        alarmed_at=state.alarmed_at[i],
        deviation=deviation,
        low=low,
        high=high,
        direction=evidence.direction(i) if evidence.n_rows[i] else "",
    )


def _since(history: History) -> tuple[str | None, str | None, str | None]:
    found = change_point(history.factors)
    if found is None:
        return None, None, None

    def named(bucket: int) -> str:
        return history.began[bucket] or f"batch {history.ordinal[bucket]}"

    return named(found.batch), named(found.low), named(found.high)


def _verdict(
    alarmed_at: str | None,
    direction: str | None,
    since: tuple[str | None, str | None, str | None],
    highest: float,
    streams: tuple[StreamEvidence, ...],
) -> str:
    p = format_pvalue(1 / max(highest, 1.0))
    if alarmed_at is None:
        return f"No alarm: largest evidence {highest:.4g}, p = {p} at any time."
    text = f"Alarm at {alarmed_at}: {direction}"
    if since[0] is not None:
        text += f", since about {since[0]}"
        if since[1] != since[2]:
            text += f" (between {since[1]} and {since[2]})"
    blamed = [s for s in streams if s.alarmed_at is not None and s.family in ("class", "group")]
    if blamed:
        text += "; to blame: " + ", ".join(f"{s.family} {s.name}" for s in blamed[:5])
    return f"{text}; largest evidence {highest:.4g}, p = {p} at any time."
