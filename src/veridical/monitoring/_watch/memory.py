"""What a monitor keeps: its settings and the tables of its store."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.faults import Option
from veridical._core.data.validation import check_level, check_sample, is_number
from veridical._core.sample import Sample
from veridical.exceptions import invalid
from veridical.monitoring._judge.status import status_of
from veridical.monitoring._maps.rows import ModelColumns, RecentRows
from veridical.monitoring._maps.versions import Versions
from veridical.monitoring._store.buckets import Buckets
from veridical.monitoring._store.pending import Pending
from veridical.monitoring._store.store import Store
from veridical.results import MonitorStatus

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

CALLER = "CalibrationMonitor"

# Settings of a new store, where nothing else is asked for.
DEFAULTS: dict[str, Any] = {
    "labels": None,
    "pos_label": None,
    "level": 0.05,
    "window": 5000.0,
    "half_life": 5000.0,
    "confidence_level": 0.95,
}


def check_rows(value: Any, name: str, caller: str) -> float:
    """Return a number of rows."""
    if not (is_number(value) and value >= 1):
        hint = "the number of rows, for example 5000."
        raise invalid(caller, name, "a number of rows, at least 1", repr(value), hint=hint)
    return float(value)


def check_settings(**asked: Any) -> dict[str, Any]:
    """Settings that the user asks for; what is None is as the store has it and left out."""
    checks: dict[str, Callable[[Any], Any]] = {
        "labels": lambda labels: np.asarray(labels).tolist(),
        "pos_label": lambda label: label,
        "level": lambda level: check_level(CALLER, level, "level"),
        "window": lambda rows: check_rows(rows, "window", CALLER),
        "half_life": lambda rows: check_rows(rows, "half_life", CALLER),
        "confidence_level": lambda level: check_level(CALLER, level),
    }
    return {name: checks[name](value) for name, value in asked.items() if value is not None}


def as_rows(values: Any, labels: tuple[Any, ...] | None = None) -> Any:
    """One row alone as a batch of one."""
    if isinstance(values, (list, tuple)) and any(
        isinstance(each, (list, tuple)) for each in values
    ):
        return values  # rows already; whether they are of one length is for their check
    if np.ndim(values) == 0 and not hasattr(values, "__array__"):
        return [values]
    flat = labels is not None and len(labels) > 2 and np.ndim(values) == 1
    return [values] if flat else values


class Memory:
    """A monitor's store, opened: one object for each group of tables, and the settings.

    Parameters
    ----------
    path : str, path or None
        The file; None keeps everything in memory.
    asked : dict
        Settings that the user asks for: those of a new store, which otherwise has `DEFAULTS`. A
        store that is there keeps its own, and others are refused.
    read_only : bool, default False
        Look at the store as it is at this moment, and refuse whatever would change it.

    Attributes
    ----------
    store : transactions, streams and settings
    buckets : the past
    pending : predictions that wait for outcomes
    versions : maps and epochs
    recent : labelled rows that maps are fitted to
    settings : by the names of `DEFAULTS`
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        asked: dict[str, Any],
        *,
        read_only: bool = False,
    ) -> None:
        if read_only and (path is None or not Path(path).is_file()):
            hint = "leave it out to start a store."
            got = "none" if path is None else repr(os.fspath(path))
            raise invalid(CALLER, "path", "an existing store to read only", got, hint=hint)
        self.store = Store(path, read_only=read_only)
        connection = self.store.connection
        self.buckets = Buckets(connection)
        self.pending = Pending(connection)
        self.versions = Versions(connection)
        self.recent = RecentRows(connection)
        try:
            with self.store.transaction():
                self.versions.prepare()
                kept = self.store.setting("monitor")
                if kept is None:
                    kept = json.dumps(DEFAULTS | asked)
                    self.store.set_setting("monitor", kept)
                    self.store.set_setting("store_id", secrets.token_hex(16))
            self.settings: dict[str, Any] = json.loads(kept)
            self._check_same(asked)
            self.store.sealed = read_only
        except BaseException:
            self.store.close()
            raise

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Labels in the order of the columns; None before the first batch without `labels`."""
        return self.store.classes(self.settings["labels"])

    def checked(self, y_true: Any, y_prob: Any, *, caller: str, option: Option = None) -> Sample:
        """Outcomes and predictions, checked against the classes if they are known."""
        classes, positive = self.classes, self.settings["pos_label"]
        if positive is None and classes is not None and len(classes) == 2 and not self.is_empty:
            positive = max(classes)  # as in the batches before, whatever this one is called
        return check_sample(
            y_true, y_prob, caller=caller, labels=classes, pos_label=positive, option=option
        )

    def columns(self, caller: str) -> ModelColumns:
        """How rows look to calibrators, once the classes are known."""
        labels = self.classes
        if labels is None:
            hint = "call `update` first, or pass `labels=` to the monitor."
            raise invalid(caller, "monitor", "one that knows its classes", "none", hint=hint)
        positive = 1
        if len(labels) == 2:
            chosen = self.settings["pos_label"]
            positive = labels.index(max(labels) if chosen is None else chosen)
        return ModelColumns(labels, positive)

    @property
    def current(self) -> Calibrator | None:
        """The fitted map in use; None for predictions as they come."""
        return self.versions.calibrator(self.versions.current)

    def status(self) -> MonitorStatus:
        """Everything known at this look."""
        with self.store.reading():
            return status_of(self.store, self.buckets, self.settings)

    def now(self) -> str:
        """Timestamp of the last batch, else its number in this epoch."""
        ended = self.buckets.history(1).ended
        last = ended[-1] if ended else None
        return last if last is not None else f"batch {self.store.n_batches - 1}"

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted or registered yet."""
        return self.recent.n_counted == 0 and not self.pending.waiting()[0]

    def set_positive(self, label: Any) -> None:
        """Keep which of two classes a single column is about."""
        self.settings["pos_label"] = label
        self.store.set_setting("monitor", json.dumps(self.settings))

    def _check_same(self, asked: dict[str, Any]) -> None:
        for name, value in asked.items():
            kept = self.settings[name]
            if name == "pos_label":
                if self.is_empty:  # nothing was read as the probability of another class
                    with self.store.transaction():
                        self.set_positive(value)
                    continue
                if kept is None and self.classes is not None and len(self.classes) == 2:
                    kept = max(self.classes)
            if value != kept:
                hint = "leave it out to go on with the store's, or start another store."
                expected = f"{kept!r}, as in {self.store.path!r}"
                raise invalid(CALLER, name, expected, repr(value), hint=hint)
