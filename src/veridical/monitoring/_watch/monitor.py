"""Watching calibration while predictions and outcomes come in."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Self

import numpy as np

from veridical._core.data.groups import Groups, group_rows
from veridical._core.data.validation import (
    check_level,
    check_probabilities,
    check_sample,
    float_array,
    is_integer,
)
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike
from veridical.exceptions import invalid
from veridical.monitoring._judge.estimates import curve_of_cells, rolling
from veridical.monitoring._judge.status import combined_log_e, status_of
from veridical.monitoring._maps.rows import RecentRows
from veridical.monitoring._maps.versions import Versions
from veridical.monitoring._store.buckets import Buckets
from veridical.monitoring._store.counts import batch_streams
from veridical.monitoring._store.evidence import exp_or_inf
from veridical.monitoring._store.pending import Pending
from veridical.monitoring._store.store import Store
from veridical.monitoring._watch.actions import MonitorActions
from veridical.monitoring._watch.inputs import (
    as_ids,
    as_rows,
    as_timestamp,
    check_rows,
    digest_of,
    placed,
)
from veridical.results import MonitorHistory, MonitorStatus, MonitorUpdate, ReliabilityCurve

_CALLER = "CalibrationMonitor"
_SETTINGS = ("labels", "pos_label", "level", "window", "half_life", "confidence_level")


class CalibrationMonitor(MonitorActions):
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

    **Maps.** `refit` fits a calibrator to recent outcomes and tries it beside the map in use;
    `switch` puts it in place. From then on what it makes of the predictions is watched: `update`
    and `observe` are always given the model's own.

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
            "window": check_rows(window, "window", _CALLER),
            "half_life": check_rows(half_life, "half_life", _CALLER),
            "confidence_level": check_level(_CALLER, confidence_level),
        }
        self._store = Store(path)
        self._buckets = Buckets(self._store.connection)
        self._pending = Pending(self._store.connection)
        self._versions = Versions(self._store.connection)
        self._recent = RecentRows(self._store.connection)
        with self._store.transaction():
            self._versions.prepare()
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
            as_rows(y_true),
            as_rows(y_prob, labels),
            caller=caller,
            labels=labels,
            pos_label=self.settings["pos_label"],
        )
        groups = None if by is None else group_rows([as_rows(by)], caller=caller)
        if groups is not None and len(groups.codes) != sample.n:
            hint = "pass one group key per row."
            got = f"{len(groups.codes)} keys for {sample.n} rows"
            raise invalid(caller, "by", "as long as `y_true`", got, hint=hint)
        when = as_timestamp(timestamp, caller)
        digest = "" if batch_id is None else digest_of(sample, groups)
        with self._store.transaction():
            if batch_id is not None:
                before = self._store.batch_digest(batch_id)
                if before is not None:
                    return self._repeated(sample, batch_id, same=before == digest, caller=caller)
                self._store.add_batch(batch_id, digest, sample.n)
            if labels is None:
                self._store.set_setting("classes", json.dumps(list(sample.columns)))
            return self._count(sample, groups, when)

    def observe(
        self,
        id: ArrayLike,
        y_prob: ArrayLike,
        *,
        timestamp: Any = None,
        by: ArrayLike | None = None,
    ) -> None:
        """Register predictions whose outcomes are not known yet.

        Parameters
        ----------
        id : array-like
            A name for each prediction, which `resolve` will use. The same prediction may be sent
            again; another one under a known name is an error.
        y_prob, by, timestamp
            As in `update`. Predictions of one call are a cohort.

        Notes
        -----
        A cohort is counted as a whole, when all of its outcomes are known or `mature` says that
        no more will be waited for. Outcomes that are counted as they come would look wrong where
        one class is known sooner than the other: a fraud may be reported within a day, its
        absence never.
        """
        caller = f"{_CALLER}.observe"
        labels = self.classes
        if labels is None:
            hint = "pass `labels=` to the monitor: predictions alone do not name the classes."
            raise invalid(caller, "labels", "known before outcomes are", "None", hint=hint)
        rows = float_array(as_rows(y_prob, labels), caller=caller, param="y_prob")
        p = check_probabilities(rows, caller=caller)
        if p.ndim == 2 and p.shape[1] != len(labels):
            hint = f"one column for each of {list(labels)[:6]}."
            got = f"{p.shape[1]} columns"
            raise invalid(caller, "y_prob", f"{len(labels)} columns", got, hint=hint)
        names = as_ids(id, len(p), caller)
        groups = None
        if by is not None:
            found = group_rows([as_rows(by)], caller=caller)
            groups = [found.keys[code] for code in found.codes]
        when = as_timestamp(timestamp, caller)
        with self._store.transaction():
            self._store.set_setting("n_columns", str(p.shape[1] if p.ndim == 2 else 1))
            self._pending.observe(names, p, groups, when, caller=caller)
            self._count_cohorts(self._pending.complete())

    def resolve(self, id: ArrayLike, y_true: ArrayLike) -> MonitorUpdate:
        """Register outcomes of predictions, in any order; counts the cohorts that are complete.

        Parameters
        ----------
        id : array-like
            Names given to `observe`. An outcome may come before its prediction, or twice.
        y_true : array-like
            What happened.
        """
        caller = f"{_CALLER}.resolve"
        labels = np.atleast_1d(np.asarray(as_rows(y_true))).tolist()
        known = self.classes
        for label in labels:
            if known is None or label not in known:
                hint = f"the classes of this monitor are {list(known or ())[:6]}."
                raise invalid(caller, "y_true", "one of the classes", repr(label), hint=hint)
        names = as_ids(id, len(labels), caller)
        with self._store.transaction():
            self._pending.resolve(names, labels, caller=caller)
            n_rows = self._count_cohorts(self._pending.complete())
            return self._update_of(n_rows)

    def mature(self, until: Any, *, missing: Any = None) -> MonitorUpdate:
        """Wait no longer for outcomes of predictions made up to a time; count what is known.

        Parameters
        ----------
        until : datetime, date or str
            Cohorts observed up to then (compared as text, so ISO 8601 throughout) are counted.
        missing : label, optional
            What happened where no outcome came, e.g. no fraud where none was reported. Default:
            such rows are left out, which is right if being known does not depend on the outcome.
        """
        caller = f"{_CALLER}.mature"
        when = as_timestamp(until, caller)
        if when is None:
            hint = "pass the time up to which cohorts are counted."
            raise invalid(caller, "until", "a point in time", "None", hint=hint)
        known = self.classes
        if missing is not None and (known is None or missing not in known):
            hint = f"the classes of this monitor are {list(known or ())[:6]}."
            raise invalid(caller, "missing", "one of the classes", repr(missing), hint=hint)
        with self._store.transaction():
            n_rows = self._count_cohorts(self._pending.mature(when), missing)
            return self._update_of(n_rows)

    def status(self) -> MonitorStatus:
        """Everything known at this look; looking costs nothing of the level."""
        return status_of(self._store, self._buckets, self.settings)

    def history(self) -> MonitorHistory:
        """What happened so far, bucket by bucket, for tables and timelines."""
        self._check_rows_seen("history")
        return rolling(
            self._buckets.history(1),
            self._buckets.sums_of_p(),
            window=self.settings["window"],
            confidence_level=self.settings["confidence_level"],
        )

    def curves(self, *, n_bins: int = 10) -> dict[str, ReliabilityCurve]:
        """Reliability curves of the rolling window, "now", and of everything before it, "before".

        Windows consist of whole buckets. Rows are placed by the mean prediction of their cell of
        width 1/32 in log odds, so that a row near the edge of a bin may be counted next door; of
        three or more classes it is the confidence that is drawn.
        """
        caller = f"{_CALLER}.curves"
        if not (is_integer(n_bins) and n_bins >= 1):
            hint = "10 to 20 bins are read most easily."
            raise invalid(caller, "n_bins", "a positive integer", repr(n_bins), hint=hint)
        self._check_rows_seen("curves")
        window = self.settings["window"]
        with self._store.reading():
            parts = {
                "before": self._buckets.cells(skip_rows=window),
                "now": self._buckets.cells(last_rows=window),
            }
        lens = "confidence" if len(self.classes or ()) > 2 else "binary"
        return {
            name: curve_of_cells(cells, n_bins=n_bins, lens=lens)
            for name, cells in parts.items()
            if cells.any()
        }

    def _check_rows_seen(self, method: str) -> None:
        if not int(self._store.setting("n_batches") or 0):
            hint, caller = "call `update` first.", f"{_CALLER}.{method}"
            raise invalid(caller, "monitor", "one with rows", "none", hint=hint)

    def _count(self, sample: Sample, groups: Groups | None, when: str | None) -> MonitorUpdate:
        given, sample = sample, self._calibrated(sample)
        wanted, batch = batch_streams(sample, groups)
        state = self._store.read_streams()
        self._store.open_streams(state, wanted, len(sample.classes))
        place = {stream: i for i, stream in enumerate(state.streams)}
        batch = placed(batch, [place[stream] for stream in wanted], len(place))
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
        self._learn(given, sample)
        return MonitorUpdate(
            n_rows=sample.n,
            n_samples=int(state.evidence.n_rows[0]),
            alarm=alarmed is not None,
            e_value=exp_or_inf(log_e),
        )

    def _count_cohorts(self, cohorts: list[int], missing: Any = None) -> int:
        """Count cohorts, oldest first; returns their rows."""
        n_rows, n_columns = 0, int(self._store.setting("n_columns") or 1)
        for number in cohorts:
            if missing is not None:
                self._pending.assume(number, missing)
            cohort = self._pending.take(number, n_columns)
            if not cohort.y:
                continue
            sample = check_sample(
                cohort.y,
                cohort.p,
                caller=_CALLER,
                labels=self.classes,
                pos_label=self.settings["pos_label"],
            )
            groups = None if cohort.by is None else group_rows([cohort.by], caller=_CALLER)
            n_rows += self._count(sample, groups, cohort.observed_at).n_rows
        return n_rows

    def _repeated(self, sample: Sample, batch_id: str, *, same: bool, caller: str) -> MonitorUpdate:
        if not same:
            hint = "give every batch a name of its own; nothing was counted."
            got = f"other data under the known name {batch_id!r}"
            raise invalid(caller, "batch_id", "new, or the same batch again", got, hint=hint)
        return self._update_of(sample.n, repeated=True)

    def _update_of(self, n_rows: int, *, repeated: bool = False) -> MonitorUpdate:
        state = self._store.read_streams()
        return MonitorUpdate(
            n_rows=n_rows,
            n_samples=int(state.evidence.n_rows[0]) if state.ids else 0,
            alarm=self._store.setting("alarmed_at") is not None,
            e_value=exp_or_inf(combined_log_e(state.evidence.log_e, state.shares)),
            repeated=repeated,
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
