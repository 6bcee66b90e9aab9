"""The past in a bounded number of buckets: neighbouring batches, coarser the older they are."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np

from veridical._core.typing import FloatArray
from veridical.monitoring._store.counts import N_CELLS, Tally

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

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

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
        c = self._connection
        last = c.execute(
            "SELECT id, ordinal, n_batches, n_rows FROM buckets ORDER BY id DESC LIMIT 1"
        ).fetchone()
        counts, sum_p = batch.counts[0], batch.sum_p[0]
        rows = float(batch.rows[0])
        if last is None or last[3] >= _FULL:
            ordinal = 0 if last is None else last[1] + last[2]
            bucket = c.execute(
                "INSERT INTO buckets (ordinal, n_batches, n_rows, began, ended, log_e, counts,"
                " sum_p, predicted) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)",
                (ordinal, rows, began, ended, log_e, *_cell_values(counts, sum_p, sum_p)),
            ).lastrowid
        else:
            bucket = last[0]
            self._grow(bucket, (1, rows, ended, log_e), counts, sum_p)
        assert bucket is not None
        for i in np.flatnonzero(batch.rows):
            sums = (float(batch.rows[i]), float(batch.deviation[i]), float(batch.squared[i]))
            self._add_stream(bucket, ids[i], sums, factors[i])
            c.execute(
                "UPDATE streams SET deviation = deviation + ?, squared = squared + ? WHERE id = ?",
                (*sums[1:], ids[i]),
            )
        if c.execute("SELECT count(*) FROM buckets").fetchone()[0] > MOST_BUCKETS:
            self._halve()

    def history(self, stream: int) -> History:
        """Everything known of one stream, bucket by bucket; zeros where it had no rows."""
        rows = self._connection.execute(
            "SELECT b.ordinal, b.began, b.ended, b.log_e, coalesce(s.n_rows, 0),"
            " coalesce(s.deviation, 0), coalesce(s.squared, 0), s.factors FROM buckets b"
            " LEFT JOIN bucket_streams s ON s.bucket = b.id AND s.stream = ? ORDER BY b.id",
            (stream,),
        ).fetchall()
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
        for rows, counts, sum_p in self._connection.execute(
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
        rows = self._connection.execute(
            "SELECT id, n_rows, deviation, squared FROM streams WHERE n_rows > 0"
        )
        return {stream: (n, deviation, squared) for stream, n, deviation, squared in rows}

    def sums_of_p(self) -> FloatArray:
        """Sum of predictions of each bucket, oldest first."""
        rows = self._connection.execute("SELECT predicted FROM buckets ORDER BY id").fetchall()
        return np.array(rows, dtype=np.float64).reshape(-1)

    def _cells(self, bucket: int) -> tuple[FloatArray, FloatArray]:
        counts, sum_p = self._connection.execute(
            "SELECT counts, sum_p FROM buckets WHERE id = ?", (bucket,)
        ).fetchone()
        return np.frombuffer(counts).reshape(N_CELLS, 2), np.frombuffer(sum_p)

    def _grow(
        self,
        bucket: int,
        more: tuple[int, float, str | None, float],
        counts: FloatArray,
        sum_p: FloatArray,
    ) -> None:
        """Add batches, rows, end, evidence and cells to a bucket."""
        before = self._cells(bucket)
        self._connection.execute(
            "UPDATE buckets SET n_batches = n_batches + ?, n_rows = n_rows + ?,"
            " ended = coalesce(?, ended), log_e = ?, counts = ?, sum_p = ?,"
            " predicted = predicted + ? WHERE id = ?",
            (*more, *_cell_values(before[0] + counts, before[1] + sum_p, sum_p), bucket),
        )

    def _add_stream(
        self, bucket: int, stream: int, sums: tuple[float, float, float], factors: FloatArray
    ) -> None:
        before = self._connection.execute(
            "SELECT factors FROM bucket_streams WHERE bucket = ? AND stream = ?", (bucket, stream)
        ).fetchone()
        if before is None:
            self._connection.execute(
                "INSERT INTO bucket_streams VALUES (?, ?, ?, ?, ?, ?)",
                (bucket, stream, *sums, factors.tobytes()),
            )
            return
        self._connection.execute(
            "UPDATE bucket_streams SET n_rows = n_rows + ?, deviation = deviation + ?,"
            " squared = squared + ?, factors = ? WHERE bucket = ? AND stream = ?",
            (*sums, (np.frombuffer(before[0]) + factors).tobytes(), bucket, stream),
        )

    def _halve(self) -> None:
        """Join neighbours of the older half, so that what is recent stays sharp."""
        c = self._connection
        ids = [row[0] for row in c.execute("SELECT id FROM buckets ORDER BY id")]
        older = ids[: len(ids) // 2 // 2 * 2]
        for keep, gone in zip(older[::2], older[1::2], strict=True):
            later = c.execute(
                "SELECT n_batches, n_rows, ended, log_e FROM buckets WHERE id = ?", (gone,)
            ).fetchone()
            self._grow(keep, later, *self._cells(gone))
            for stream, *sums, factors in c.execute(
                "SELECT stream, n_rows, deviation, squared, factors FROM bucket_streams"
                " WHERE bucket = ?",
                (gone,),
            ).fetchall():
                self._add_stream(keep, stream, tuple(sums), np.frombuffer(factors))
            c.execute("DELETE FROM buckets WHERE id = ?", (gone,))


def _cell_values(
    counts: FloatArray, sum_p: FloatArray, added: FloatArray
) -> tuple[bytes, bytes, float]:
    """Columns `counts` and `sum_p` of a bucket, and what is added to `predicted`."""
    return counts.tobytes(), sum_p.tobytes(), float(added.sum())
