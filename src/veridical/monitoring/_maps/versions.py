"""Maps that were fitted, which of them is in use, and what was watched when."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any

from veridical.exceptions import invalid
from veridical.monitoring._maps.shadow import Trial
from veridical.monitoring._store.database import Database
from veridical.monitoring._store.evidence import exp_or_inf
from veridical.results import CalibratorVersion, MonitorEpoch, MonitorStatus, MonitorVersions

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

# What the monitor knows of the map in use; another one is watched from nothing.
_WATCHED = ("bucket_streams", "buckets", "streams")
_SETTINGS = ("alarmed_at", "log_max", "n_batches")
_FIT = ("state", "calibrator", "made_at", "n_rows", "difference", "low", "high")
_SUMMARY = ("n_samples", "n_batches", "alarmed_at", "max_e_value", "verdict")


@dataclass(frozen=True)
class FitRecord:
    """How a map came about.

    Attributes
    ----------
    made_at : when
    first_row, n_rows : which rows it was fitted to, and how many
    difference, low, high : held-out log loss against that of the map in use
    auto_switch : switch by itself once its trial suffices
    """

    made_at: str
    first_row: int
    n_rows: int
    difference: float | None
    low: float | None
    high: float | None
    auto_switch: bool


class Versions:
    """The tables `versions` and `epochs` of a store.

    A version is a "candidate" from its making, "current" once it is switched to, "replaced" when a
    later one is, "withdrawn" when it is rolled back, and "dropped" if another candidate is made or
    the map it is tried against is rolled back before it was switched to.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loaded: dict[int, Calibrator] = {}

    @property
    def epoch(self) -> int:
        """Number of the epoch that goes on."""
        return int(self._database.value("SELECT max(id) FROM epochs"))

    @property
    def current(self) -> int | None:
        """Version in use; None for predictions as they come."""
        return self._in_state("current")

    @property
    def candidate(self) -> int | None:
        """Version on trial."""
        return self._in_state("candidate")

    def calibrator(self, version: int | None) -> Calibrator | None:
        """A fitted map, read once."""
        if version is None:
            return None
        if version not in self._loaded:
            self._loaded[version] = _read(self._value(version, "calibrator"), version)
        return self._loaded[version]

    def add(self, calibrator: Calibrator, origin: FitRecord, most_loss: float) -> int:
        """Put a new candidate on trial; the one before is dropped."""
        self._set_state(self.candidate, "dropped")
        return self._database.insert(
            "versions",
            state="candidate",
            calibrator=json.dumps(calibrator.to_dict()),
            **asdict(origin) | {"auto_switch": int(origin.auto_switch)},
            most_loss=most_loss,
            **dict.fromkeys(("n_trial", "gain", "squared", "uncut", "n_cut"), 0),
        )

    def trial(self, version: int) -> Trial:
        """Sums of a version's trial."""
        (row,) = self._database.rows(
            "SELECT most_loss, n_trial, gain, squared, uncut, n_cut FROM versions WHERE id = ?",
            version,
        )
        return Trial(*row)

    def set_trial(self, version: int, trial: Trial) -> None:
        """Write the sums of a version's trial."""
        self._database.run(
            "UPDATE versions SET n_trial = ?, gain = ?, squared = ?, uncut = ?, n_cut = ?"
            " WHERE id = ?",
            *astuple(trial)[1:],
            version,
        )

    def first_row(self, version: int | None) -> int:
        """First row that a version was fitted to; 0 for predictions as they come."""
        return 0 if version is None else int(self._value(version, "first_row"))

    def auto_switch(self, version: int) -> bool:
        """Whether it is to be switched to without being asked again."""
        return bool(self._value(version, "auto_switch"))

    def switch(self, status: MonitorStatus, now: str) -> None:
        """Use the candidate from now on."""
        before, after = self.current, self.candidate
        self._set_state(before, "replaced")
        self._set_state(after, "current")
        self._database.run("UPDATE versions SET replaced = ? WHERE id = ?", before, after)
        self._next_epoch(after, status, now)

    def rollback(self, status: MonitorStatus, now: str) -> None:
        """Use what the current version replaced; a candidate is dropped."""
        gone = self.current
        assert gone is not None
        again = self._value(gone, "replaced")
        self._set_state(self.candidate, "dropped")
        self._set_state(gone, "withdrawn")
        self._set_state(again, "current")
        self._next_epoch(again, status, now)

    def listed(self, status: MonitorStatus) -> MonitorVersions:
        """Everything, `status` being that of the epoch that goes on."""
        fits = self._records("versions", "version", _FIT)
        *ended, last = self._records("epochs", "epoch", ("version", "ended_at", *_SUMMARY))
        now = MonitorEpoch(**(last | {"ended_at": None} | _summary(status)))
        return MonitorVersions(
            current=self.current,
            candidate=self.candidate,
            versions=tuple(map(self._version, fits)),
            epochs=(*(MonitorEpoch(**epoch) for epoch in ended), now),
        )

    def _records(self, table: str, id: str, columns: tuple[str, ...]) -> list[dict[str, Any]]:
        """Rows of a table by the names of columns, its number under another."""
        found = self._database.rows(f"SELECT id, {', '.join(columns)} FROM {table} ORDER BY id")
        return [dict(zip((id, *columns), row, strict=True)) for row in found]

    def _version(self, row: dict[str, Any]) -> CalibratorVersion:
        trial = self.trial(row["version"])
        name = type(_read(row["calibrator"], row["version"])).__name__
        fitted = row | {"calibrator": name}
        return CalibratorVersion(**fitted, n_trial=trial.n_rows, e_value=exp_or_inf(trial.log_e))

    def _next_epoch(self, version: int | None, status: MonitorStatus, now: str) -> None:
        """Write down what is known, and watch another map from nothing."""
        known = _summary(status) | {"ended_at": now}
        changes = ", ".join(f"{name} = ?" for name in known)
        self._database.run(f"UPDATE epochs SET {changes} WHERE id = ?", *known.values(), self.epoch)
        self._database.insert("epochs", version=version)
        for table in _WATCHED:
            self._database.run(f"DELETE FROM {table}")
        self._database.run("DELETE FROM states WHERE lasting = 0")
        marks = ", ".join("?" * len(_SETTINGS))
        self._database.run(f"DELETE FROM settings WHERE name IN ({marks})", *_SETTINGS)
        self._database.forget()

    def _in_state(self, state: str) -> int | None:
        found: int | None = self._database.value("SELECT id FROM versions WHERE state = ?", state)
        return found

    def _set_state(self, version: int | None, state: str) -> None:
        self._database.run("UPDATE versions SET state = ? WHERE id = ?", state, version)

    def _value(self, version: int, column: str) -> Any:
        return self._database.value(f"SELECT {column} FROM versions WHERE id = ?", version)


def _read(text: Any, version: int) -> Calibrator:
    """The map of a store, which anyone may have written to."""
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        hint = "the store was damaged or changed by hand: restore a copy of it."
        got = f"one of version {version} that is no JSON"
        raise invalid("CalibrationMonitor", "store", "of saved maps", got, hint=hint) from error
    from veridical.calibrators import Calibrator

    return Calibrator.from_dict(data)


def _summary(status: MonitorStatus) -> dict[str, Any]:
    """Columns of an epoch that tell how it went."""
    return {name: getattr(status, name) for name in _SUMMARY}
