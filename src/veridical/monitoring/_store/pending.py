"""Predictions that wait for their outcomes, and outcomes that came first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.monitoring._store.counts import name_of
from veridical.monitoring._store.database import Database

_AT_ONCE = 500  # names in one question to the store
KEPT = 1_000_000  # counted predictions that are still known when sent again
_TIDIED = 1000  # cohorts from one look at what may be forgotten to the next


@dataclass(frozen=True, eq=False)
class Cohort:
    """Predictions that were made together.

    Attributes
    ----------
    observed_at : timestamp, if one was given
    p : predictions with an outcome, shape (n,) or (n, K)
    y : their outcomes
    by : their groups, None without
    """

    observed_at: str | None
    p: FloatArray
    y: list[Any]
    by: list[Any] | None


class Pending:
    """The tables `cohorts`, `predictions` and `outcomes` of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def observe(
        self,
        ids: Sequence[str],
        p: FloatArray,
        groups: Sequence[Any] | None,
        observed_at: str | None,
        *,
        caller: str,
    ) -> int | None:
        """Register predictions as one cohort; those sent before are left as they are.

        Returns the number of the cohort, None if all were known.
        """
        database = self._database
        known = self._known("predictions", "p", ids)
        new = []
        for i, name in enumerate(ids):
            blob = np.asarray(p[i], dtype=np.float64).tobytes()
            if name not in known:
                known[name] = blob
                new.append((i, name, blob))
            elif known[name] != blob:
                hint = "give every prediction an id of its own; nothing was registered."
                got = f"another prediction for the known id {name!r}"
                raise invalid(caller, "id", "new, or the same prediction again", got, hint=hint)
        if not new:
            return None
        cohort = database.insert(
            "cohorts", observed_at=observed_at, n_rows=len(new), n_waiting=len(new)
        )
        database.run_many(
            "INSERT INTO predictions (id, cohort, p, grp) VALUES (?, ?, ?, ?)",
            [
                (name, cohort, blob, None if groups is None else name_of(groups[i]))
                for i, name, blob in new
            ],
        )
        early = self._known("outcomes", "outcome", [name for _, name, _ in new])
        self._settle(early)
        database.run_many("DELETE FROM outcomes WHERE id = ?", [(name,) for name in early])
        return cohort

    def resolve(self, ids: Sequence[str], y: Sequence[Any], *, caller: str) -> None:
        """Register outcomes; those of predictions yet to come are kept for them."""
        waiting = self._known("predictions", "outcome", ids)
        early = self._known("outcomes", "outcome", ids)
        settled, kept = {}, {}
        for name, label in zip(ids, y, strict=True):
            outcome = name_of(label)
            before = waiting.get(name, early.get(name))
            if before is not None:
                if before != outcome:
                    hint = "an outcome that was counted cannot be taken back; nothing was changed."
                    got = f"{label!r} after {json.loads(before)!r} for {name!r}"
                    expected = "the same outcome again, or the first"
                    raise invalid(caller, "y_true", expected, got, hint=hint)
                continue
            if name in waiting:
                waiting[name] = settled[name] = outcome
            else:
                early[name] = kept[name] = outcome
        self._settle(settled)
        self._database.run_many("INSERT INTO outcomes VALUES (?, ?)", kept.items())

    def complete(self) -> list[int]:
        """Cohorts all of whose outcomes are known and that were not counted, oldest first."""
        rows = self._database.rows(
            "SELECT id FROM cohorts WHERE n_waiting = 0 AND counted = 0 ORDER BY id"
        )
        return [row[0] for row in rows]

    def mature(self, until: str) -> list[int]:
        """Cohorts observed up to that time that were not counted, oldest first."""
        rows = self._database.rows(
            "SELECT id FROM cohorts WHERE counted = 0 AND observed_at <= ? ORDER BY id", until
        )
        return [row[0] for row in rows]

    def assume(self, cohort: int, label: Any) -> None:
        """Give every prediction of a cohort that still waits this outcome."""
        self._database.run(
            "UPDATE predictions SET outcome = ? WHERE cohort = ? AND outcome IS NULL",
            name_of(label),
            cohort,
        )

    def take(self, cohort: int, n_columns: int) -> Cohort:
        """The rows of a cohort whose outcomes are known; from now on it counts as counted."""
        database = self._database
        observed_at = database.value("SELECT observed_at FROM cohorts WHERE id = ?", cohort)
        known = database.rows(
            "SELECT p, outcome, grp FROM predictions"
            " WHERE cohort = ? AND outcome IS NOT NULL ORDER BY id",
            cohort,
        )
        database.run("UPDATE cohorts SET counted = 1 WHERE id = ?", cohort)
        if cohort % _TIDIED == 0:
            self._forget()
        grouped = bool(known) and known[0][2] is not None
        by = [json.loads(row[2]) for row in known] if grouped else None
        y = [json.loads(row[1]) for row in known]
        return Cohort(observed_at, _predictions(known, n_columns), y, by)

    def waiting(self) -> tuple[int, str | None]:
        """How many predictions wait for their outcome, and since when the oldest."""
        ((n, since),) = self._database.rows(
            "SELECT coalesce(sum(n_waiting), 0), min(observed_at) FROM cohorts WHERE counted = 0"
        )
        return int(n), since

    def unlabelled(self, n_columns: int) -> FloatArray:
        """Predictions that wait, (n,) or (n, K)."""
        rows = self._database.rows(
            "SELECT p FROM predictions WHERE outcome IS NULL AND cohort IN"
            " (SELECT id FROM cohorts WHERE counted = 0) ORDER BY id"
        )
        return _predictions(rows, n_columns)

    def _forget(self) -> None:
        """Drop the oldest counted cohorts, so that the store does not grow with the stream."""
        old = self._database.value(
            "SELECT max(id) FROM (SELECT id, sum(n_rows) OVER (ORDER BY id DESC) AS kept"
            " FROM cohorts WHERE counted = 1) AS counted WHERE kept > ?",
            KEPT,
        )
        if old is not None:
            gone = "(SELECT id FROM cohorts WHERE counted = 1 AND id <= ?)"
            self._database.run(f"DELETE FROM predictions WHERE cohort IN {gone}", old)
            self._database.run(f"DELETE FROM cohorts WHERE id IN {gone}", old)

    def _settle(self, outcomes: Mapping[str, str]) -> None:
        """Give predictions that wait their outcomes."""
        self._database.run_many(
            "UPDATE predictions SET outcome = ? WHERE id = ?",
            [(outcome, name) for name, outcome in outcomes.items()],
        )
        known = self._known("predictions", "cohort", list(outcomes))
        self._database.run_many(
            "UPDATE cohorts SET n_waiting = n_waiting - ? WHERE id = ?",
            [(n, cohort) for cohort, n in Counter(known.values()).items()],
        )

    def _known(self, table: str, column: str, ids: Sequence[str]) -> dict[str, Any]:
        """Values of the ids that are there."""
        found: dict[str, Any] = {}
        for first in range(0, len(ids), _AT_ONCE):
            some = list(ids[first : first + _AT_ONCE])
            query = f"SELECT id, {column} FROM {table} WHERE id IN ({', '.join('?' * len(some))})"
            found.update(self._database.rows(query, *some))
        return found


def _predictions(rows: list[tuple[Any, ...]], n_columns: int) -> FloatArray:
    """Predictions of rows that begin with them, (n,) or (n, K)."""
    p = np.frombuffer(b"".join(row[0] for row in rows))
    return p.reshape(-1, n_columns) if n_columns > 1 else p
