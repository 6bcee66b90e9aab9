"""Streams of rows that are watched, and their evidence, as the store keeps them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray
from veridical.monitoring._store.counts import Stream
from veridical.monitoring._store.database import Database
from veridical.monitoring._store.evidence import EProcesses
from veridical.monitoring._store.plan import (
    FAMILIES,
    FIRST_EDITION,
    STATE as BETS,
    VECTOR,
    Plan,
    read_plan,
)
from veridical.monitoring._store.states import write_state
from veridical.monitoring._store.vectors import STATE as VECTORS, VectorProcess, read_vectors


@dataclass(eq=False)
class StreamState:
    """Streams in the order of their ids, and their evidence.

    Attributes
    ----------
    ids, streams, shares, alarmed_at, evidence : of every stream
    plan : how the stake is divided; None before the first batch
    vectors : bets on whole vectors; None where there are none
    """

    ids: list[int]
    streams: list[Stream]
    shares: FloatArray
    alarmed_at: list[str | None]
    evidence: EProcesses
    plan: Plan | None = None
    vectors: VectorProcess | None = None

    @property
    def log_e(self) -> float:
        """Log of the weighted mean of all evidence; what none has claimed counts as 1."""
        logs, shares = self.evidence.log_e, self.shares
        if self.vectors is not None and self.plan is not None:
            logs = np.append(logs, self.vectors.log_e)
            shares = np.append(shares, self.plan.parts[VECTOR])
        idle = max(0.0, 1.0 - float(shares.sum()))
        logs = logs + np.log(shares)
        return float(np.logaddexp.reduce(np.append(logs, math.log(idle) if idle else -math.inf)))

    def blame_vectors(self, threshold: float, now: str) -> None:
        """Remember when the evidence about whole vectors alone was enough for an alarm."""
        if self.vectors is None or self.plan is None or self.vectors.alarmed_at is not None:
            return
        if self.vectors.log_e + math.log(self.plan.parts[VECTOR]) >= threshold:
            self.vectors.alarmed_at = now


class Streams:
    """The table `streams` of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> StreamState:
        """Every stream and its evidence."""
        rows = self._database.rows(
            "SELECT id, family, name, share, alarmed_at, n_rows, log_e, log_max, wealth"
            " FROM streams ORDER BY id"
        )
        plan = read_plan(self._database)
        if plan is None and rows:
            plan = FIRST_EDITION
        scales = [] if plan is None else [plan.scale(row[1]) for row in rows]
        evidence = EProcesses(scales, edition=2 if plan is None else plan.edition)
        for i, row in enumerate(rows):
            evidence.n_rows[i], evidence.log_e[i], evidence.log_max[i] = row[5:8]
            evidence.wealth[i] = np.frombuffer(row[8])
        return StreamState(
            [row[0] for row in rows],
            [Stream(row[1], row[2]) for row in rows],
            np.array([row[3] for row in rows], dtype=np.float64),
            [row[4] for row in rows],
            evidence,
            plan,
            read_vectors(self._database),
        )

    def open(self, state: StreamState, wanted: Sequence[Stream], n_classes: int) -> None:
        """Add new streams to the store and to `state`; the first batch makes a plan."""
        if state.plan is None:
            groups = sum(stream.family == "group" for stream in wanted)
            state.plan = Plan.of_first_batch(n_classes, groups)
            write_state(self._database, BETS, state.plan.to_state(), lasting=False)
            if state.plan.parts[VECTOR]:
                state.vectors = VectorProcess(n_classes)
        known = set(state.streams)
        places = dict.fromkeys(FAMILIES, 0)
        for stream in state.streams:
            places[stream.family] += 1
        shares = state.shares.tolist()
        for stream in wanted:
            if stream in known:
                continue
            share = state.plan.share(stream.family, places[stream.family], n_classes)
            places[stream.family] += 1
            shares.append(share)
            state.evidence.add_stream(state.plan.scale(stream.family))
            number = self._database.insert(
                "streams",
                family=stream.family,
                name=stream.name,
                share=share,
                n_rows=0.0,
                log_e=0.0,
                log_max=0.0,
                wealth=state.evidence.wealth[-1].tobytes(),
            )
            state.ids.append(number)
            state.streams.append(stream)
            state.alarmed_at.append(None)
        state.shares = np.array(shares)

    def write(self, state: StreamState) -> None:
        """Write the evidence of every stream."""
        e = state.evidence
        numbers = (e.n_rows.tolist(), e.log_e.tolist(), e.log_max.tolist())
        wealth = [each.tobytes() for each in e.wealth]
        self._database.run_many(
            "UPDATE streams SET n_rows = ?, log_e = ?, log_max = ?, wealth = ?, alarmed_at = ?"
            " WHERE id = ?",
            zip(*numbers, wealth, state.alarmed_at, state.ids, strict=True),
        )
        if state.vectors is not None:
            write_state(self._database, VECTORS, state.vectors.to_state(), lasting=False)
