"""Watching calibration while predictions and outcomes come in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from veridical._core.data.options import check_integer
from veridical._core.data.reading import Missing, Reading, Scale
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid, warn_of
from veridical.monitoring._judge.estimates import rolling, window_curves
from veridical.monitoring._judge.promise import looks_of, promise_status
from veridical.monitoring._watch import alarms, counting, maps, promises
from veridical.monitoring._watch.memory import CALLER, Memory, check_settings
from veridical.results import (
    MonitorHistory,
    MonitorSignals,
    MonitorStatus,
    MonitorUpdate,
    MonitorVersions,
    PriorEstimate,
    PromiseStatus,
    RefitSuggestion,
    ReliabilityCurve,
    RiskThreshold,
    ShadowStatus,
)

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator


class CalibrationMonitor:
    """Watches calibration batch by batch, with alarms that hold their level over all time.

    Parameters
    ----------
    path : str, path or None
        A SQLite file that keeps the state; it is made if it is not there. None keeps the state in
        memory. Several processes may use one file. An address keeps it in PostgreSQL, which
        services on several machines share: ``postgresql://user@host/database?schema=churn`` (see
        Notes). Nothing else in this library uses a network.
    labels : array-like, optional
        Classes in the order of the columns of predictions. Default: those of the first batch.
    pos_label : object, optional
        The positive class of two, which a single column is about; default the larger label, or
        the last of ordered ones.
    level : float, optional
        Chance that a calibrated model ever raises the alarm, however long it is watched and
        however often it is looked at; default 0.05.
    window, half_life : float, optional
        Rows of the rolling window, and rows after which a row counts half in the weighted one;
        default 5000.
    confidence_level : float, optional
        Of the limits of the estimates: all windows, at all times, together; default 0.95.
    online : bool, optional
        Let a map learn from every outcome (:class:`OnlineCalibrator`): `calibrate` returns what it
        makes of them, `status` what it has saved. May begin and end at any time; default False.
    read_only : bool, default False
        Look at a store that is there, as it is at this moment: for dashboards and people who may
        not write to it. Whatever would change it is refused.

    Notes
    -----
    **PostgreSQL** needs psycopg. The schema (default "veridical") holds one store and is made if
    it is not there. A password is never shown, but better kept in ``~/.pgpass`` or PGPASSWORD than
    in the address. Writers wait for each other, readers for nobody; ``read_only=True`` is for
    roles that have no more than USAGE of the schema and SELECT on its tables.

    **Settings** are kept in the store. What is left out, or None, is as the store has it; the
    defaults above are those of a new store. A value that differs from the store's is an error;
    `pos_label` can be said until the first rows are there.

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

    **Online.** The map that learns sits on top of the map in use, and begins anew with another one;
    alarms are about the latter. It is judged by what it said before a batch, or observation.

    At most 512 buckets keep the past, coarser the older. Predictions are read as 1e-6 off 0 and 1.

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
        level: float | None = None,
        window: float | None = None,
        half_life: float | None = None,
        confidence_level: float | None = None,
        online: bool | None = None,
        read_only: bool = False,
    ) -> None:
        asked = check_settings(
            labels=labels,
            pos_label=pos_label,
            level=level,
            window=window,
            half_life=half_life,
            confidence_level=confidence_level,
            online=online,
        )
        self._memory = Memory(path, asked, read_only=read_only)

    @property
    def path(self) -> str:
        """The file, ":memory:", or the address without its password."""
        return self._memory.store.path

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the store by name: labels, pos_label, level, window and so on."""
        return self._memory.settings

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Labels in the order of the columns; None before the first batch without `labels`."""
        return self._memory.classes

    @property
    def current(self) -> Calibrator | None:
        """The fitted map in use; None for predictions as they come."""
        return self._memory.current

    def __repr__(self) -> str:
        return f"CalibrationMonitor({self.path!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._memory.store.close()

    def update(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        timestamp: Any = None,
        by: ArrayLike | None = None,
        batch_id: str | None = None,
        allow_reversed: bool = False,
        scale: Scale = "probability",
        missing: Missing = "error",
        normalize: bool = False,
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
        allow_reversed : bool, default False
            Count a first batch of two classes even if it ranks backwards (an area under the ROC
            curve below one half by four standard errors). It is refused otherwise, unless the
            monitor was told `pos_label`: most likely the predictions are of the other class.
        scale, missing, normalize
            How values are read, as in :func:`evaluate`; what was dropped is in `notes`.

        Returns
        -------
        MonitorUpdate
            Whether there is an alarm, and the evidence. See `status` for all the rest.
        """
        return counting.update(
            self._memory,
            y_true,
            y_prob,
            timestamp=timestamp,
            by=by,
            batch_id=batch_id,
            allow_reversed=allow_reversed,
            reading=Reading(scale, missing, normalize),
        )

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
        counting.observe(self._memory, id, y_prob, timestamp=timestamp, by=by)

    def resolve(
        self, id: ArrayLike, y_true: ArrayLike, *, allow_reversed: bool = False
    ) -> MonitorUpdate:
        """Register outcomes of predictions, in any order; counts the cohorts that are complete.

        Parameters
        ----------
        id : array-like
            Names given to `observe`. An outcome may come before its prediction, or twice.
        y_true : array-like
            What happened.
        allow_reversed : bool, default False
            As in `update`.
        """
        return counting.resolve(self._memory, id, y_true, allow_reversed=allow_reversed)

    def mature(
        self, until: Any, *, missing: Any = None, allow_reversed: bool = False
    ) -> MonitorUpdate:
        """Wait no longer for outcomes of predictions made up to a time; count what is known.

        Parameters
        ----------
        until : datetime, date or str
            Cohorts observed up to then (compared as text, so ISO 8601 throughout) are counted.
        missing : label, optional
            What happened where no outcome came, e.g. no fraud where none was reported. Default:
            such rows are left out, which is right if being known does not depend on the outcome.
        allow_reversed : bool, default False
            As in `update`.
        """
        return counting.mature(self._memory, until, missing, allow_reversed=allow_reversed)

    def status(self) -> MonitorStatus:
        """Everything known at this look; looking costs nothing of the level."""
        with self._memory.store.reading():
            return replace(self._memory.status(), promises=promises.promises_of(self._memory))

    def history(self) -> MonitorHistory:
        """What happened so far, bucket by bucket, for tables and timelines."""
        self._check_rows_seen("history")
        buckets = self._memory.buckets
        return rolling(buckets.history(1), buckets.sums_of_p(), self.settings)

    def curves(self, *, n_bins: int = 10) -> dict[str, ReliabilityCurve]:
        """Reliability curves of the rolling window, "now", and of everything before it, "before".

        Windows consist of whole buckets. Rows are placed by the mean prediction of their cell of
        width 1/32 in log odds, so that a row near the edge of a bin may be counted next door; of
        three or more classes it is the confidence that is drawn.
        """
        hint = "10 to 20 bins are read most easily."
        check_integer(f"{CALLER}.curves", "n_bins", n_bins, hint=hint)
        self._check_rows_seen("curves")
        with self._memory.store.reading():
            columns = self._memory.columns(f"{CALLER}.curves")
            window = self.settings["window"]
            return window_curves(self._memory.buckets, window, columns.classes, n_bins)

    def promise(self, promise: RiskThreshold) -> PromiseStatus:
        """Whether what :func:`risk_threshold` promised is still kept; looking costs nothing.

        Parameters
        ----------
        promise : RiskThreshold
            Found on other rows, of "error", or of "fdr" or "fnr" for two classes.

        Returns
        -------
        PromiseStatus
            Risk since the start and in the rolling window, with limits that hold at every look:
            `broken` and `kept` are what they show. Rows are placed as in `curves`.
        """
        self._check_rows_seen("promise")
        caller = f"{CALLER}.promise"
        classes = self._memory.columns(caller).classes
        with self._memory.store.reading():
            looks = looks_of(self._memory.buckets, self.settings)
            return promise_status(looks, promise, self.settings, classes, caller=caller)

    def watch(
        self, *, risk: RiskThreshold | None = None, require: str | Sequence[str] = ()
    ) -> tuple[PromiseStatus, ...]:
        """Watch a promise, or requirements such as "ece < 0.05", from now on with every batch.

        Parameters
        ----------
        risk : RiskThreshold, optional
            A promise, as `promise` takes it.
        require : str or sequence of str, optional
            Requirements in the language of :func:`check_requirements`: ``ece < 0.05`` (of 15 bins;
            of three or more classes, of the confidence), ``deviation < 0.02`` (the size of mean
            outcome minus mean prediction) or ``risk(0.8).high < 0.05`` (wrong answers where the
            most probable class has at least 0.8).

        Returns
        -------
        tuple of PromiseStatus
            All that is watched, as `promises` returns it.

        Notes
        -----
        Promises are kept in the store. Limits hold at every look, for all rows since the start and
        the rolling window alike: something is *kept* while the upper limit of the rolling window
        meets it, *broken* from the first batch after which a lower limit does not, and *not shown
        either way* in between. What is true is ever called broken with probability at most
        1 - `confidence_level`, each promise for itself. After `switch` all begin anew.
        """
        promises.watch(self._memory, risk, require)
        return self.promises()

    def unwatch(self) -> None:
        """Watch no promise and no requirement any more."""
        promises.forget(self._memory)

    def promises(self) -> tuple[PromiseStatus, ...]:
        """All that `watch` was told of, at this look; looking costs nothing."""
        with self._memory.store.reading():
            return promises.promises_of(self._memory)

    def calibrate(self, y_prob: ArrayLike, *, priors: PriorEstimate | None = None) -> FloatArray:
        """Predictions of the map in use.

        Parameters
        ----------
        y_prob : array-like of shape (n,) or (n, K)
            The model's own predictions, as `update` takes them.
        priors : PriorEstimate, optional
            What `prior_correction` returned: probabilities are then moved to these priors.

        Returns
        -------
        ndarray
            Of the shape of `y_prob`.
        """
        return maps.calibrate(self._memory, y_prob, priors)

    def prior_correction(self) -> PriorEstimate:
        """Estimate class priors of the predictions that wait, as a stopgap until outcomes come.

        Returns
        -------
        PriorEstimate
            For ``monitor.calibrate(y_prob, priors=...)``. It supposes that nothing but the priors
            has changed and that the map in use was calibrated on the labelled rows of the rolling
            window (see :func:`estimate_priors`); predictions alone cannot show either.
        """
        found = maps.prior_correction(self._memory)
        warn_of(found.notes, caller=f"{CALLER}.prior_correction")
        return found

    def signals(self) -> MonitorSignals:
        """What predictions that wait for outcomes say by themselves.

        Returns
        -------
        MonitorSignals
            Distance of their scores to those of the rolling window, priors, and accuracy as
            estimated from confidences. Descriptive: no alarm is made of it, and p-value and
            limits are for one look.
        """
        found = maps.signals(self._memory)
        warn_of(found.notes, caller=f"{CALLER}.signals")
        return found

    def refit(
        self,
        calibrator: str | Calibrator = "beta",
        *,
        rows: float | None = None,
        auto_switch: bool = False,
    ) -> RefitSuggestion:
        r"""Fit a new map to recent outcomes and put it on trial; nothing is switched to.

        Parameters
        ----------
        calibrator : str or Calibrator, default "beta"
            A name such as "beta", "temperature" or "auto", or a calibrator to be fitted anew.
        rows : int, optional
            Fit to so many of the last rows. Default: after an alarm those since the estimated
            change, else the rolling window, but none from before the rows that the map in use was
            fitted to.
        auto_switch : bool, default False
            Switch by itself as soon as the trial suffices (see `switch`).

        Returns
        -------
        RefitSuggestion
            With the difference in log loss to the map in use, on held-out rows.

        Notes
        -----
        Maps are fitted to the model's own predictions. The last 20,000 labelled rows are kept for
        that, or 16 MB of predictions if that is less.

        **Trial.** Every batch from now on is scored by both maps. `shadow_status` tells the
        evidence that the new one has the lower log loss on average, rows cut to 2 nats. If it has
        not, at any time, the chance that the evidence ever suffices is at most `level`, for any
        stream of rows and however often it is looked at; of each candidate, not of all together:
        who refits twenty times at 0.05 expects a wrong switch if no candidate is any better.
        A candidate that was not switched to is dropped for the new one.
        """
        found, map_notes = maps.refit(self._memory, calibrator, rows=rows, auto_switch=auto_switch)
        warn_of(map_notes)
        warn_of(found.notes, caller=f"{CALLER}.refit")
        return found

    def shadow_status(self) -> ShadowStatus:
        """How the candidate's trial stands; looking costs nothing of the level."""
        return maps.trial_status(self._memory)

    def switch(self, *, force: bool = False) -> MonitorVersions:
        """Use the candidate from now on.

        Parameters
        ----------
        force : bool, default False
            Even if its trial does not suffice.

        Notes
        -----
        A new epoch begins. `update` and `observe` still take the model's own predictions; what is
        watched is what the map in use makes of them. Evidence, estimates and history start from
        nothing, so `level` is the chance of a false alarm in each epoch; what was known of
        earlier ones, their alarms too, stays in `versions`. Predictions that wait are counted
        under the map in use when they are.
        """
        maps.switch(self._memory, force=force)
        return self.versions()

    def rollback(self) -> MonitorVersions:
        """Use the map again that the current one replaced; a new epoch begins (see `switch`).

        A candidate is dropped: its trial was against the map that goes.
        """
        maps.rollback(self._memory)
        return self.versions()

    def versions(self) -> MonitorVersions:
        """Every map that was fitted, and the epochs with their alarms."""
        return self._memory.versions.listed(self.status())

    def _check_rows_seen(self, method: str) -> None:
        if not self._memory.store.n_batches:
            caller = f"{CALLER}.{method}"
            raise invalid(caller, "monitor", "one with rows", "none", hint="call `update` first.")


def tell_alarms(monitor: CalibrationMonitor, command: Sequence[str]) -> list[str]:
    """Run a command for every alarm that nobody was told of yet; returns what did not work."""
    return alarms.tell_alarms(monitor._memory, monitor.status(), command)


@contextmanager
def one_moment(monitor: CalibrationMonitor) -> Iterator[Memory]:
    """What is read within is of one moment, whatever others write meanwhile."""
    with monitor._memory.store.reading():
        yield monitor._memory
