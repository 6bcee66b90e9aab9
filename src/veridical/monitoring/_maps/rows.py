"""The last labelled rows, kept for maps to be fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.sample import Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.monitoring._store.counts import FLOOR
from veridical.monitoring._store.database import Database

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

MOST_ROWS = 20_000
MOST_BYTES = 16_000_000  # of predictions: of a thousand classes, 2,000 rows


@dataclass(frozen=True)
class ModelColumns:
    """How rows of a monitor look to calibrators.

    Attributes
    ----------
    labels : in the order of the columns
    positive : which of two is the positive one, whose probability a single column is
    """

    labels: tuple[Any, ...]
    positive: int

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels by index of the outcome: of two, the positive one last."""
        turned = len(self.labels) == 2 and self.positive == 0
        return self.labels[::-1] if turned else self.labels

    def calibrated(self, calibrator: Calibrator | None, p: FloatArray) -> FloatArray:
        """What a map makes of predictions, in their own shape: (n,) or (n, K)."""
        if calibrator is None:
            return p
        single = p.ndim == 1
        if not single and len(self.labels) == 2:
            p = p[:, self.positive]
        if p.ndim == 1 and calibrator.positive_label != self.classes[1]:
            p = 1 - p  # maps of older stores are about the larger label
        calibrated = calibrator.predict_proba(p)
        known = calibrator.classes_.tolist()
        calibrated = calibrated[:, [known.index(label) for label in self.labels]]
        return calibrated[:, self.positive] if single else calibrated


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows in the order in which they were counted.

    Attributes
    ----------
    first : number of the first of them among all rows ever counted
    y : index of each outcome; of two classes 1 for the positive one
    p : predictions as they came, (n,) of the positive class or (n, K)
    epoch, batch : when each row was counted
    """

    first: int
    y: IntArray
    p: FloatArray
    epoch: IntArray
    batch: IntArray

    def __len__(self) -> int:
        return len(self.y)

    def last(self, n: int) -> KeptRows:
        """The last `n` of them, or all."""
        skip = max(0, len(self) - n)
        return KeptRows(
            self.first + skip, self.y[skip:], self.p[skip:], self.epoch[skip:], self.batch[skip:]
        )


class RecentRows:
    """The table `recent`: the last 20,000 labelled rows or 16 MB of them, whichever is less.

    Predictions are kept as they came, not as a map made them, so that the next map can be fitted
    to them. Whole batches are dropped, so that up to twice as many rows may be in the file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, sample: Sample, epoch: int, batch: int) -> None:
        """Keep a batch, and let go of those that are too old."""
        end = self.n_counted
        limit = _limit(sample.p)
        p = np.ascontiguousarray(sample.p[-limit:], dtype=np.float64)
        y = np.ascontiguousarray(sample.y[-limit:], dtype=np.int32)
        first = end + sample.n - len(y)
        self._database.run(
            "INSERT INTO recent VALUES (?, ?, ?, ?, ?, ?)",
            *(first, epoch, batch, len(y), y.tobytes(), p.tobytes()),
        )
        self._database.run(
            "DELETE FROM recent WHERE first < (SELECT max(first) FROM recent WHERE first <= ?)",
            end + sample.n - limit,
        )

    def read(self, n_classes: int) -> KeptRows:
        """The rows that are kept, oldest first."""
        rows = self._database.rows(
            "SELECT first, epoch, batch, n_rows, y, p FROM recent ORDER BY first"
        )
        sizes = [row[3] for row in rows]
        columns = n_classes if n_classes > 2 else 1
        for _, epoch, batch, n_rows, y_blob, p_blob in rows:
            whole = all(isinstance(each, int) and each >= 0 for each in (epoch, batch, n_rows))
            blobs = isinstance(y_blob, bytes) and isinstance(p_blob, bytes)
            fits = whole and blobs and len(y_blob) == 4 * n_rows
            if not fits or len(p_blob) != 8 * n_rows * columns or not _are_rows(y_blob, p_blob):
                hint = "it was damaged or changed by hand: name another file, or restore a copy."
                expected = "of rows with probabilities and classes"
                raise invalid("CalibrationMonitor", "store", expected, "other ones", hint=hint)
        p = np.frombuffer(b"".join(row[5] for row in rows))
        kept = KeptRows(
            rows[0][0] if rows else 0,
            np.frombuffer(b"".join(row[4] for row in rows), dtype=np.int32).astype(np.intp),
            p.reshape(-1, n_classes) if n_classes > 2 else p,
            np.repeat(np.array([row[1] for row in rows], dtype=np.intp), sizes),
            np.repeat(np.array([row[2] for row in rows], dtype=np.intp), sizes),
        )
        return kept.last(_limit(kept.p))

    @property
    def n_counted(self) -> int:
        """How many rows were ever counted."""
        query = "SELECT first + n_rows FROM recent ORDER BY first DESC LIMIT 1"
        return self._database.value(query) or 0


def _are_rows(y: bytes, p: bytes) -> bool:
    values = np.frombuffer(p)
    possible = bool(((values >= 0) & (values <= 1)).all())
    return possible and bool((np.frombuffer(y, dtype=np.int32) >= 0).all())


def happened(p: FloatArray, y: IntArray) -> FloatArray:
    """Probability given to what happened, kept off zero by `FLOOR`."""
    of_outcome = np.where(y == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(y)), y]
    return np.clip(of_outcome, FLOOR, 1.0)


def _limit(p: FloatArray) -> int:
    row_bytes = 8 * (p.shape[1] if p.ndim == 2 else 1)
    return max(1, min(MOST_ROWS, MOST_BYTES // row_bytes))
