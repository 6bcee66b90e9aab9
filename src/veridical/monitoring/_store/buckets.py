"""The past in a bounded number of buckets: neighbouring batches, coarser the older they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.monitoring._store.counts import N_CELLS, Tally
from veridical.monitoring._store.database import Database

MOST_BUCKETS = 512
_FULL = 200.0  # rows from which a bucket takes no more


@dataclass(frozen=True, eq=False)
class History:
    """Sums of the buckets of some streams, oldest first.

    Attributes
    ----------
    ordinal : number of the first batch of each bucket, shape (B,)
    began, ended : timestamps of its first and last batch, where given
    log_e : log of the alarm's evidence after it
    n_rows, deviation, squared : shape (B,), of one stream
    factors : shape (B, G), of that stream
    """

    ordinal: list[int]
    began: list[str | None]
    ended: list[str | None]
    log_e: FloatArray
    n_rows: FloatArray
    deviation: FloatArray
    squared: FloatArray
    factors: FloatArray


class Buckets:
    """The tables `buckets` and `bucket_streams` of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        batch: Tally,
        factors: FloatArray,
        ids: list[int],
        *,
        log_e: float,
        began: str | None,
        ended: str | None,
    ) -> None:
        """Add a batch to the last bucket, or to a new one if that is full."""
        database = self._database
        last = database.row(
            "SELECT id, ordinal, n_batches, n_rows FROM buckets ORDER BY id DESC LIMIT 1"
        )
        counts, sum_p = batch.counts[0], batch.sum_p[0]
        rows = float(batch.rows[0])
        if last is None or last[3] >= _FULL:
            bucket = database.insert(
                "buckets",
                ordinal=0 if last is None else last[1] + last[2],
                n_batches=1,
                n_rows=rows,
                began=began,
                ended=ended,
                log_e=log_e,
                counts=counts.tobytes(),
                sum_p=sum_p.tobytes(),
                predicted=float(sum_p.sum()),
            )
        else:
            bucket = last[0]
            self._grow(bucket, (1, rows, ended, log_e), counts, sum_p)
        held = np.flatnonzero(batch.rows)
        sums = np.column_stack([batch.rows, batch.deviation, batch.squared])[held].tolist()
        some = [ids[i] for i in held]
        # Only the first stream, of all rows, is asked for its history; stores of before have all.
        self._add_streams(bucket, some[:1], sums[:1], factors[held[:1]])
        database.run_many(
            "UPDATE streams SET deviation = deviation + ?, squared = squared + ? WHERE id = ?",
            [(*each[1:], number) for each, number in zip(sums, some, strict=True)],
        )
        if database.value("SELECT count(*) FROM buckets") > MOST_BUCKETS:
            self._halve()

    def history(self, stream: int) -> History:
        """Everything known of one stream, bucket by bucket; zeros where it had no rows."""
        rows = self._database.rows(
            "SELECT b.ordinal, b.began, b.ended, b.log_e, coalesce(s.n_rows, 0),"
            " coalesce(s.deviation, 0), coalesce(s.squared, 0), s.factors FROM buckets b"
            " LEFT JOIN bucket_streams s ON s.bucket = b.id AND s.stream = ? ORDER BY b.id",
            stream,
        )
        known = next((row[7] for row in rows if row[7] is not None), b"")
        empty = bytes(len(known))
        factors = np.frombuffer(b"".join(row[7] or empty for row in rows))
        numbers = np.array([row[3:7] for row in rows], dtype=np.float64).reshape(len(rows), 4)
        ordinal, began, ended = ([row[i] for row in rows] for i in range(3))
        by_bucket = factors.reshape(len(rows), -1) if rows else factors.reshape(0, 0)
        log_e, n_rows, deviation, squared = numbers.T
        return History(ordinal, began, ended, log_e, n_rows, deviation, squared, by_bucket)

    def cells(self, *, last_rows: float | None = None, skip_rows: float = 0) -> FloatArray:
        """Counts by cell and outcome and sums of p, (N_CELLS, 3), of whole buckets.

        Parameters
        ----------
        last_rows : at least so many rows from the end; default all
        skip_rows : leave out the buckets that `last_rows` of this size would take
        """
        total = np.zeros((N_CELLS, 3))
        skipped, taken = 0.0, 0.0
        for rows, counts, sum_p in self._database.rows(
            "SELECT n_rows, counts, sum_p FROM buckets ORDER BY id DESC"
        ):
            if skipped < skip_rows:
                skipped += rows
                continue
            total[:, :2] += np.frombuffer(counts).reshape(N_CELLS, 2)
            total[:, 2] += np.frombuffer(sum_p)
            taken += rows
            if last_rows is not None and taken >= last_rows:
                break
        return total

    def totals(self) -> dict[int, tuple[float, float, float]]:
        """Rows, sum of y - p and sum of (y - p)^2 of every stream that has rows, by its id."""
        rows = self._database.rows(
            "SELECT id, n_rows, deviation, squared FROM streams WHERE n_rows > 0"
        )
        return {stream: (n, deviation, squared) for stream, n, deviation, squared in rows}

    def sums_of_p(self) -> FloatArray:
        """Sum of predictions of each bucket, oldest first."""
        rows = self._database.rows("SELECT predicted FROM buckets ORDER BY id")
        return np.array(rows, dtype=np.float64).reshape(-1)

    def _cells(self, bucket: int) -> tuple[FloatArray, FloatArray]:
        found = self._database.row("SELECT counts, sum_p FROM buckets WHERE id = ?", bucket)
        assert found is not None
        return np.frombuffer(found[0]).reshape(N_CELLS, 2), np.frombuffer(found[1])

    def _grow(
        self,
        bucket: int,
        more: tuple[Any, ...],
        counts: FloatArray,
        sum_p: FloatArray,
    ) -> None:
        """Add batches, rows, end, evidence and cells to a bucket."""
        before = self._cells(bucket)
        self._database.run(
            "UPDATE buckets SET n_batches = n_batches + ?, n_rows = n_rows + ?,"
            " ended = coalesce(?, ended), log_e = ?, counts = ?, sum_p = ?,"
            " predicted = predicted + ? WHERE id = ?",
            *more,
            (before[0] + counts).tobytes(),
            (before[1] + sum_p).tobytes(),
            float(sum_p.sum()),
            bucket,
        )

    def _add_streams(
        self, bucket: int, streams: list[int], sums: list[list[float]], factors: FloatArray
    ) -> None:
        """Add rows, deviations and squares of streams, and their log factors, to a bucket."""
        query = "SELECT stream, factors FROM bucket_streams WHERE bucket = ?"
        known: dict[int, bytes] = {row[0]: row[1] for row in self._database.rows(query, bucket)}
        new, more = [], []
        for stream, values, added in zip(streams, sums, factors, strict=True):
            if stream in known:
                total = (np.frombuffer(known[stream]) + added).tobytes()
                more.append((*values, total, bucket, stream))
            else:
                new.append((bucket, stream, *values, added.tobytes()))
        self._database.run_many("INSERT INTO bucket_streams VALUES (?, ?, ?, ?, ?, ?)", new)
        self._database.run_many(
            "UPDATE bucket_streams SET n_rows = n_rows + ?, deviation = deviation + ?,"
            " squared = squared + ?, factors = ? WHERE bucket = ? AND stream = ?",
            more,
        )

    def _halve(self) -> None:
        """Join neighbours of the older half, so that what is recent stays sharp."""
        database = self._database
        ids = [row[0] for row in database.rows("SELECT id FROM buckets ORDER BY id")]
        older = ids[: len(ids) // 2 // 2 * 2]
        for keep, gone in zip(older[::2], older[1::2], strict=True):
            later = database.row(
                "SELECT n_batches, n_rows, ended, log_e FROM buckets WHERE id = ?", gone
            )
            assert later is not None
            self._grow(keep, later, *self._cells(gone))
            streams = database.rows(
                "SELECT stream, factors, n_rows, deviation, squared FROM bucket_streams"
                " WHERE bucket = ?",
                gone,
            )
            factors = [np.frombuffer(row[1]) for row in streams]
            if streams:
                sums = [list(row[2:]) for row in streams]
                self._add_streams(keep, [row[0] for row in streams], sums, np.array(factors))
            database.run("DELETE FROM buckets WHERE id = ?", gone)
