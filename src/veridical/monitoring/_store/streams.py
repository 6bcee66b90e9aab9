"""Streams of rows that are watched, and their evidence, as the store keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray
from veridical.monitoring._store.counts import FAMILIES, Stream, share_of
from veridical.monitoring._store.database import Database
from veridical.monitoring._store.evidence import EProcesses


@dataclass(eq=False)
class StreamState:
    """Streams in the order of their ids, and their evidence."""

    ids: list[int]
    streams: list[Stream]
    shares: FloatArray
    alarmed_at: list[str | None]
    evidence: EProcesses


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
        evidence = EProcesses(len(rows))
        for i, row in enumerate(rows):
            evidence.n_rows[i], evidence.log_e[i], evidence.log_max[i] = row[5:8]
            evidence.wealth[i] = np.frombuffer(row[8])
        return StreamState(
            [row[0] for row in rows],
            [Stream(row[1], row[2]) for row in rows],
            np.array([row[3] for row in rows], dtype=np.float64),
            [row[4] for row in rows],
            evidence,
        )

    def open(self, state: StreamState, wanted: Sequence[Stream], n_classes: int) -> None:
        """Add the streams that are new to the store and to `state`."""
        known = set(state.streams)
        places = dict.fromkeys(FAMILIES, 0)
        for stream in state.streams:
            places[stream.family] += 1
        shares = state.shares.tolist()
        for stream in wanted:
            if stream in known:
                continue
            share = share_of(stream.family, places[stream.family], n_classes)
            places[stream.family] += 1
            shares.append(share)
            state.evidence.add_streams(1)
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
