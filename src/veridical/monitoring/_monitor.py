"""Watching calibration while predictions and outcomes come in."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import os
from typing import Any, Self

import numpy as np

from veridical._core.groups import Groups, group_rows
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike
from veridical._core.validation import check_level, check_sample, is_number
from veridical.exceptions import invalid
from veridical.monitoring._buckets import Buckets
from veridical.monitoring._evidence import exp_or_inf
from veridical.monitoring._status import combined_log_e, status_of
from veridical.monitoring._store import Store
from veridical.monitoring._streams import batch_streams
from veridical.monitoring._tally import Tally
from veridical.results._monitoring import MonitorStatus, MonitorUpdate

_CALLER = "CalibrationMonitor"
_SETTINGS = ("labels", "pos_label", "level", "window", "half_life", "confidence_level")


class CalibrationMonitor:
    """Watches calibration batch by batch, with alarms that hold their level over all time.

    Parameters
    ----------
    path : str, path or None
        A SQLite file that keeps the state; it is made if it is not there. None keeps the state in
        memory. Several processes may use one file.
    labels : array-like, optional
        Classes in the order of the columns of predictions. Default: those of the first batch.
    pos_label : object, optional
        The positive class of two; default the larger label.
    level : float, default 0.05
        Chance that a calibrated model ever raises the alarm, however long it is watched and
        however often it is looked at.
    window, half_life : float, default 5000
        Rows of the rolling window, and rows after which a row counts half in the weighted one.
    confidence_level : float, default 0.95
        Of the limits of the estimates: all windows, at all times, together.

    Notes
    -----
    **Alarm.** For all rows, for each range of scores, each class (three or more, up to 50) and
    each group, a gambler bets against the predictions (see `EProcess`); the alarm is raised when
    a weighted mean of their wealth, with weights fixed beforehand, reaches 1 / `level`. Under
    calibration that happens with probability at most `level`, ever (Ville's inequality). A part
    of the rows is blamed by name when its own wealth times its weight reaches 1 / `level`; the
    chance that any part is ever blamed wrongly is at most `level` too.

    **Order.** The hypothesis is that outcomes are as frequent as predicted given everything known
    before. Rows must come in an order that does not depend on their outcomes: frauds that are
    reported before all else look like miscalibration, and are, in that order.

    Memory does not grow with the stream: the past is kept in at most 512 buckets, coarser the
    older they are. A prediction beyond 1e-6 of 0 or 1 is read as that far off.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> monitor = CalibrationMonitor()
    >>> print(monitor.update(rng.random(1000) < p[:1000], p[:1000]).alarm)  # calibrated
    False
    >>> print(monitor.update(rng.random(1000) < p[1000:] ** 2, p[1000:]).alarm)  # and no longer
    True
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        labels: ArrayLike | None = None,
        pos_label: Any = None,
        level: float = 0.05,
        window: float = 5000,
        half_life: float = 5000,
        confidence_level: float = 0.95,
    ) -> None:
        given = {
            "labels": None if labels is None else np.asarray(labels).tolist(),
            "pos_label": pos_label,
            "level": check_level(_CALLER, level, "level"),
            "window": _check_rows(window, "window"),
            "half_life": _check_rows(half_life, "half_life"),
            "confidence_level": check_level(_CALLER, confidence_level),
        }
        self._store = Store(path)
        self._buckets = Buckets(self._store.connection)
        with self._store.transaction():
            kept = self._store.setting("monitor")
            if kept is None:
                self._store.set_setting("monitor", json.dumps(given))
        self.settings: dict[str, Any] = given if kept is None else json.loads(kept)
        if kept is not None:
            self._check_same(given)

    @property
    def path(self) -> str:
        """The file, or ":memory:"."""
        return self._store.path

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Labels in the order of the columns; None before the first batch without `labels`."""
        kept = self._store.setting("classes")
        labels = self.settings["labels"] if kept is None else json.loads(kept)
        return None if labels is None else tuple(labels)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()

    def update(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        timestamp: Any = None,
        by: ArrayLike | None = None,
        batch_id: str | None = None,
    ) -> MonitorUpdate:
        """Count a batch of outcomes and the predictions made for them.

        Parameters
        ----------
        y_true, y_prob
            As in :func:`evaluate`: one row or many.
        timestamp : datetime, date or str, optional
            Of the batch; text is taken as it is (ISO 8601 sorts well).
        by : array-like, optional
            Group of each row.
        batch_id : str, optional
            A batch sent again under the same name is not counted twice; other data under a known
            name are an error.

        Returns
        -------
        MonitorUpdate
            Whether there is an alarm, and the evidence. See `status` for all the rest.
        """
        caller = f"{_CALLER}.update"
        labels = self.classes
        sample = check_sample(
            _rows(y_true),
            _rows(y_prob, labels),
            caller=caller,
            labels=labels,
            pos_label=self.settings["pos_label"],
        )
        groups = None if by is None else group_rows([_rows(by)], caller=caller)
        if groups is not None and len(groups.codes) != sample.n:
            hint = "pass one group key per row."
            got = f"{len(groups.codes)} keys for {sample.n} rows"
            raise invalid(caller, "by", "as long as `y_true`", got, hint=hint)
        when = _timestamp(timestamp, caller)
        digest = "" if batch_id is None else _digest(sample, groups)
        with self._store.transaction():
            if batch_id is not None:
                before = self._store.batch_digest(batch_id)
                if before is not None:
                    return self._repeated(sample, batch_id, same=before == digest, caller=caller)
                self._store.add_batch(batch_id, digest, sample.n)
            if labels is None:
                self._store.set_setting("classes", json.dumps(list(sample.columns)))
            return self._count(sample, groups, when)

    def status(self) -> MonitorStatus:
        """Everything known at this look; looking costs nothing of the level."""
        return status_of(self._store, self._buckets, self.settings)

    def _count(self, sample: Sample, groups: Groups | None, when: str | None) -> MonitorUpdate:
        wanted, batch = batch_streams(sample, groups)
        state = self._store.read_streams()
        self._store.open_streams(state, wanted, len(sample.classes))
        place = {stream: i for i, stream in enumerate(state.streams)}
        batch = _placed(batch, [place[stream] for stream in wanted], len(place))
        factors = state.evidence.advance(batch)
        n_batches = int(self._store.setting("n_batches") or 0)
        now = when if when is not None else f"batch {n_batches}"
        threshold = -math.log(self.settings["level"])
        log_e = combined_log_e(state.evidence.log_e, state.shares)
        for i, blamed in enumerate(state.evidence.log_e + np.log(state.shares) >= threshold):
            if blamed and state.alarmed_at[i] is None:
                state.alarmed_at[i] = now
        alarmed = self._store.setting("alarmed_at")
        if alarmed is None and log_e >= threshold:
            self._store.set_setting("alarmed_at", now)
            alarmed = now
        highest = max(log_e, float(self._store.setting("log_max") or 0.0))
        self._store.set_setting("log_max", repr(highest))
        self._store.set_setting("n_batches", str(n_batches + 1))
        self._store.write_streams(state)
        self._buckets.add(batch, factors, state.ids, log_e=log_e, began=when, ended=when)
        return MonitorUpdate(
            n_rows=sample.n,
            n_samples=int(state.evidence.n_rows[0]),
            alarm=alarmed is not None,
            e_value=exp_or_inf(log_e),
        )

    def _repeated(self, sample: Sample, batch_id: str, *, same: bool, caller: str) -> MonitorUpdate:
        if not same:
            hint = "give every batch a name of its own; nothing was counted."
            got = f"other data under the known name {batch_id!r}"
            raise invalid(caller, "batch_id", "new, or the same batch again", got, hint=hint)
        state = self._store.read_streams()
        return MonitorUpdate(
            n_rows=sample.n,
            n_samples=int(state.evidence.n_rows[0]),
            alarm=self._store.setting("alarmed_at") is not None,
            e_value=exp_or_inf(combined_log_e(state.evidence.log_e, state.shares)),
            repeated=True,
        )

    def _check_same(self, given: dict[str, Any]) -> None:
        """A setting that was asked for must be that of the store; what was left out may differ."""
        defaults = {"labels": None, "pos_label": None, "level": 0.05, "window": 5000.0}
        defaults |= {"half_life": 5000.0, "confidence_level": 0.95}
        for name in _SETTINGS:
            if given[name] not in (defaults[name], self.settings[name]):
                hint = "leave it out to go on with the store's, or start another store."
                expected = f"{self.settings[name]!r}, as in {self.path!r}"
                raise invalid(_CALLER, name, expected, repr(given[name]), hint=hint)


def _rows(values: Any, labels: tuple[Any, ...] | None = None) -> Any:
    """One row alone as a batch of one."""
    if np.ndim(values) == 0 and not hasattr(values, "__array__"):
        return [values]
    flat = labels is not None and len(labels) > 2 and np.ndim(values) == 1
    return [values] if flat else values


def _placed(batch: Tally, places: list[int], n_streams: int) -> Tally:
    """The streams of a batch at their places among all."""

    def spread(values: Any) -> Any:
        result = np.zeros((n_streams, *values.shape[1:]))
        result[places] = values
        return result

    return Tally(
        spread(batch.counts),
        spread(batch.sum_p),
        spread(batch.log_likelihood),
        spread(batch.squared),
    )


def _digest(sample: Sample, groups: Groups | None) -> str:
    text = hashlib.blake2b(digest_size=16)
    text.update(np.ascontiguousarray(sample.y, dtype=np.int64).tobytes())
    text.update(np.ascontiguousarray(sample.p, dtype=np.float64).tobytes())
    if groups is not None:
        text.update(groups.codes.astype(np.int64).tobytes())
        text.update(json.dumps(groups.keys, default=str).encode())
    return text.hexdigest()


def _timestamp(value: Any, caller: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dt.date, np.datetime64)):
        return str(value) if isinstance(value, np.datetime64) else value.isoformat()
    hint = "pass a datetime, a date or text."
    got = f"a {type(value).__name__}"
    raise invalid(caller, "timestamp", "a point in time", got, hint=hint)


def _check_rows(value: Any, name: str) -> float:
    if not (is_number(value) and value >= 1):
        hint = "the number of rows, for example 5000."
        raise invalid(_CALLER, name, "a number of rows, at least 1", repr(value), hint=hint)
    return float(value)
