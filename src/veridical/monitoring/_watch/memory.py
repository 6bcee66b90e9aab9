"""What a monitor keeps: its settings and the tables of its store."""

from __future__ import annotations

import datetime as dt
import json
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.faults import Option
from veridical._core.data.labels import check_text
from veridical._core.data.validation import check_level, check_sample, is_number
from veridical._core.sample import Sample
from veridical.exceptions import invalid
from veridical.monitoring._judge.status import status_of
from veridical.monitoring._maps.online import STATE, OnlineMap, online_status, read_online
from veridical.monitoring._maps.rows import ModelColumns, RecentRows
from veridical.monitoring._maps.versions import Versions
from veridical.monitoring._store.address import exists
from veridical.monitoring._store.buckets import Buckets
from veridical.monitoring._store.pending import Pending
from veridical.monitoring._store.store import Store
from veridical.monitoring._store.streams import Streams
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
    "online": False,
}


def check_rows(value: Any, name: str, caller: str) -> float:
    """Return a number of rows."""
    if not (is_number(value) and value >= 1):
        hint = "the number of rows, for example 5000."
        raise invalid(caller, name, "a number of rows, at least 1", repr(value), hint=hint)
    return float(value)


def _check_online(online: Any) -> bool:
    if not isinstance(online, (bool, np.bool_)):
        hint = "True to let a map learn from every outcome."
        raise invalid(CALLER, "online", "True or False", repr(online), hint=hint)
    return bool(online)


def _check_label(label: Any, param: str) -> Any:
    """Return a label that a store can keep: a whole number, a boolean or text."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str):
        check_text([value], caller=CALLER, param=param)
        return value
    if isinstance(value, bool) or (is_number(value) and float(value).is_integer()):
        return value
    dated = isinstance(value, (dt.date, np.datetime64))
    hint = "turn dates that are classes into strings." if dated else "pass class labels."
    expected = "of integers, booleans or strings" if param == "labels" else "a label"
    raise invalid(CALLER, param, expected, repr(value), hint=hint)


def _check_labels(labels: Any) -> list[Any]:
    """Return classes, two or more, each once."""
    given = [labels] if isinstance(labels, (str, bytes)) else np.asarray(labels).tolist()
    values = [
        _check_label(each, "labels") for each in (given if isinstance(given, list) else [given])
    ]
    if len(values) < 2 or len(set(values)) < len(values):
        hint = "name every class once, in the order of the columns."
        raise invalid(CALLER, "labels", "two or more different labels", repr(values), hint=hint)
    return values


def check_settings(**asked: Any) -> dict[str, Any]:
    """Settings that the user asks for; what is None is as the store has it and left out."""
    checks: dict[str, Callable[[Any], Any]] = {
        "labels": _check_labels,
        "pos_label": lambda label: _check_label(label, "pos_label"),
        "level": lambda level: check_level(CALLER, level, "level"),
        "window": lambda rows: check_rows(rows, "window", CALLER),
        "half_life": lambda rows: check_rows(rows, "half_life", CALLER),
        "confidence_level": lambda level: check_level(CALLER, level),
        "online": _check_online,
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
        The file, or an address of PostgreSQL; None keeps everything in memory.
    asked : dict
        Settings that the user asks for: those of a new store, which otherwise has `DEFAULTS`. A
        store that is there keeps its own, and others are refused.
    read_only : bool, default False
        Look at the store as it is at this moment, and refuse whatever would change it.

    Attributes
    ----------
    store : transactions, settings, names of batches and states
    streams : what is watched, and the evidence
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
        if read_only and (path is None or not exists(path)):
            hint = "leave it out to start a store."
            got = "none" if path is None else repr(os.fspath(path))
            raise invalid(CALLER, "path", "an existing store to read only", got, hint=hint)
        self._read_only = read_only
        self.store = Store(path, read_only=read_only)
        database = self.store.database
        self.streams = Streams(database)
        self.buckets = Buckets(database)
        self.pending = Pending(database)
        self.versions = Versions(database)
        self.recent = RecentRows(database)
        try:
            if self.store.setting("monitor") is None:
                self._begin(DEFAULTS | asked)
            self.settings: dict[str, Any] = self._read_settings()
            self._check_same(asked)
            database.sealed = read_only
        except BaseException:
            self.store.close()
            raise

    def _begin(self, settings: dict[str, Any]) -> None:
        """Write the settings of a new store, unless another process was first."""
        with self.store.transaction():
            if self.store.setting("monitor") is None:
                self.store.set_setting("monitor", json.dumps(settings))
                self.store.set_setting("store_id", secrets.token_hex(16))

    def _read_settings(self) -> dict[str, Any]:
        """Settings of the store; those of before know fewer."""
        return DEFAULTS | json.loads(self.store.setting("monitor") or "")

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

    def refresh(self) -> tuple[Any, ...]:
        """Read the settings again: what rows are checked against, which others may have said."""
        self.settings = self._read_settings()
        return self.classes, self.settings["pos_label"]

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
            found = status_of(self.store, self.buckets, self.settings)
            learnt = self.online
            return found if learnt is None else replace(found, online=online_status(learnt))

    @property
    def online(self) -> OnlineMap | None:
        """The map that learns by itself; None without one, or before its first rows."""
        return read_online(self.store) if self.settings["online"] else None

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
            if name == "online" and value != kept and not self._read_only:
                with self.store.transaction():  # it may begin, and end, at any time
                    self.settings["online"] = value
                    self.store.set_setting("monitor", json.dumps(self.settings))
                    self.store.drop_state(STATE)
                continue
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
