"""What a monitor does about what it sees: new maps on trial, switches, and a stopgap.

What a monitor says of predictions: those of the map in use, and of those that wait.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import ArrayLike, FloatArray
from veridical.calibrators import Calibrator
from veridical.decisions import adjust_priors
from veridical.decisions.core import check_columns
from veridical.exceptions import invalid
from veridical.inference.core import warn_of
from veridical.monitoring._maps.refit import (
    choose_rows,
    fitted,
    held_out_difference,
    suggestion,
    unfitted,
)
from veridical.monitoring._maps.rows import Columns, KeptRows, RecentRows, happened
from veridical.monitoring._maps.shadow import most_loss, shadow_status, suffices
from veridical.monitoring._maps.signals import priors_of, signals_of
from veridical.monitoring._maps.versions import Made, Versions
from veridical.monitoring._watch.inputs import as_rows, check_rows
from veridical.results import (
    MonitorSignals,
    MonitorStatus,
    MonitorVersions,
    PriorEstimate,
    RefitSuggestion,
    ShadowStatus,
)

if TYPE_CHECKING:
    from veridical.monitoring._store.buckets import Buckets
    from veridical.monitoring._store.pending import Pending
    from veridical.monitoring._store.store import Store


class PredictionActions:
    """The part of a monitor that needs no outcomes; :class:`CalibrationMonitor` is the whole."""

    settings: dict[str, Any]
    _store: Store
    _pending: Pending
    _versions: Versions
    _recent: RecentRows

    if TYPE_CHECKING:

        @property
        def classes(self) -> tuple[Any, ...] | None: ...

    @property
    def current(self) -> Calibrator | None:
        """The fitted map in use; None for predictions as they come."""
        return self._versions.calibrator(self._versions.current)

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
        caller = f"{_CALLER}.calibrate"
        columns = self._columns(caller)
        rows = as_rows(y_prob, columns.labels)
        checked = check_columns(
            rows, labels=columns.labels, pos_label=self._positive_label, caller=caller
        )
        made = columns.calibrated(self.current, checked.p)
        if priors is None:
            return made.astype(np.float64)
        train, deploy = (
            dict(zip(priors.classes, shares.tolist(), strict=True))
            for shares in (priors.train, priors.priors)
        )
        return adjust_priors(
            made, train, deploy, labels=columns.labels, pos_label=self._positive_label
        )

    def prior_correction(self) -> PriorEstimate:
        """Estimate class priors of the predictions that wait, as a stopgap until outcomes come.

        Returns
        -------
        PriorEstimate
            For ``monitor.calibrate(y_prob, priors=...)``. It supposes that nothing but the priors
            has changed and that the map in use was calibrated on the labelled rows of the rolling
            window (see :func:`estimate_priors`); predictions alone cannot show either.
        """
        waiting, kept, columns = self._waiting("prior_correction")
        caller = f"{_CALLER}.prior_correction"
        if len(np.unique(kept.y)) < len(columns.labels):
            hint = "wait for outcomes of every class."
            raise invalid(caller, "monitor", "with labelled rows of every class", "not", hint=hint)
        level = self.settings["confidence_level"]
        labelled = columns.calibrated(self.current, kept.p)
        found = priors_of(waiting, labelled, kept.y, columns, level)
        warn_of(found.notes, caller=caller)
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
        waiting, kept, columns = self._waiting("signals")
        found = signals_of(
            waiting,
            columns.calibrated(self.current, kept.p),
            kept.y,
            columns,
            waiting_since=self._pending.waiting()[1],
            confidence_level=self.settings["confidence_level"],
        )
        warn_of(found.notes, caller=f"{_CALLER}.signals")
        return found

    @property
    def _positive_label(self) -> Any:
        return self.settings["pos_label"]

    def _columns(self, caller: str) -> Columns:
        labels = self.classes
        if labels is None:
            hint = "call `update` first, or pass `labels=` to the monitor."
            raise invalid(caller, "monitor", "one that knows its classes", "none", hint=hint)
        positive = 1
        if len(labels) == 2:
            chosen = self._positive_label
            positive = labels.index(max(labels) if chosen is None else chosen)
        return Columns(labels, positive)

    def _waiting(self, method: str) -> tuple[FloatArray, KeptRows, Columns]:
        """Predictions that wait, as the map in use makes them, and the rolling window."""
        caller = f"{_CALLER}.{method}"
        columns = self._columns(caller)
        n_columns = int(self._store.setting("n_columns") or 1)
        waiting = self._pending.unlabelled(n_columns)
        if not len(waiting):
            hint = "register predictions with `observe` first."
            raise invalid(caller, "monitor", "one with predictions that wait", "none", hint=hint)
        kept = self._recent.read(len(columns.labels)).last(int(self.settings["window"]))
        if not len(kept):
            hint = "wait for outcomes: they are what predictions are compared with."
            raise invalid(caller, "monitor", "one with labelled rows", "none", hint=hint)
        if waiting.ndim == 2 and len(columns.labels) == 2:
            waiting = waiting[:, columns.positive]
        return columns.calibrated(self.current, waiting), kept, columns


_CALLER = "CalibrationMonitor"


class MonitorActions(PredictionActions):
    """The part of a monitor that acts; :class:`CalibrationMonitor` is the whole."""

    _buckets: Buckets

    if TYPE_CHECKING:

        def status(self) -> MonitorStatus: ...

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
        caller = f"{_CALLER}.refit"
        columns = self._columns(caller)
        wanted = None if rows is None else check_rows(rows, "rows", caller)
        empty = unfitted(calibrator, columns)
        with self._store.transaction():
            current = self._versions.calibrator(self._versions.current)
            now = self._now()
            alarmed = self._store.setting("alarmed_at") is not None
            chosen = choose_rows(
                self._recent.read(len(columns.labels)),
                history=self._buckets.history(1) if alarmed else None,
                epoch=self._versions.epoch,
                window=self.settings["window"],
                not_before=self._versions.first_row(self._versions.current),
                wanted=wanted,
            )
        level = self.settings["confidence_level"]
        # Outside of the transaction: fits may take long, and others must be able to count.
        map = fitted(empty, chosen.rows, columns)
        difference = held_out_difference(map, current, chosen.rows, columns, level)
        estimate, low, high = (None,) * 3 if isinstance(difference, str) else difference
        first, n_rows = chosen.rows.first, len(chosen.rows)
        with self._store.transaction():
            about = Made(now, first, n_rows, estimate, low, high, auto_switch)
            version = self._versions.add(map, about, most_loss(self.current, map, columns))
        made = suggestion(version, map, chosen, difference, level)
        warn_of(made.notes, caller=caller)
        return made

    def shadow_status(self) -> ShadowStatus:
        """How the candidate's trial stands; looking costs nothing of the level."""
        version = self._check_candidate("shadow_status")
        return shadow_status(
            version,
            self._versions.current,
            self._versions.trial(version),
            level=self.settings["level"],
            confidence_level=self.settings["confidence_level"],
        )

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
        with self._store.transaction():
            version = self._check_candidate("switch")
            if not (force or suffices(self._versions.trial(version), self.settings["level"])):
                hint = "wait for more outcomes, or pass `force=True`."
                got = f"too little evidence for version {version}: see `shadow_status`"
                caller = f"{_CALLER}.switch"
                raise invalid(caller, "force", "True", got, hint=hint)
            self._versions.switch(self.status(), self._now())
        return self.versions()

    def rollback(self) -> MonitorVersions:
        """Use the map again that the current one replaced; a new epoch begins (see `switch`).

        A candidate is dropped: its trial was against the map that goes.
        """
        with self._store.transaction():
            if self._versions.current is None:
                hint = "there is nothing to go back to; see `versions`."
                got, caller = "predictions as they come", f"{_CALLER}.rollback"
                raise invalid(caller, "monitor", "one with a map", got, hint=hint)
            self._versions.rollback(self.status(), self._now())
        return self.versions()

    def versions(self) -> MonitorVersions:
        """Every map that was fitted, and the epochs with their alarms."""
        return self._versions.listed(self.status())

    def _calibrated(self, sample: Sample) -> Sample:
        """Rows as the map in use sees them, which are the ones that are watched."""
        current = self.current
        if current is None:
            return sample
        p = self._columns(_CALLER).calibrated(current, sample.p)
        if isinstance(sample, BinarySample):
            return replace(sample, p=p, pair=None)
        return replace(sample, p=p, confidence=None, right=None)

    def _learn(self, given: Sample, watched: Sample) -> None:
        """Keep the rows of a counted batch, and let the candidate be tried on them."""
        batch = int(self._store.setting("n_batches") or 1) - 1
        self._recent.add(given, self._versions.epoch, batch)
        version = self._versions.candidate
        if version is None:
            return
        candidate = self._versions.calibrator(version)
        rival = self._columns(_CALLER).calibrated(candidate, given.p)
        trial = self._versions.trial(version)
        trial = trial.scored(happened(watched.p, given.y), happened(rival, given.y))
        self._versions.set_trial(version, trial)
        if self._versions.auto_switch(version) and suffices(trial, self.settings["level"]):
            self._versions.switch(self.status(), self._now())

    def _check_candidate(self, method: str) -> int:
        version = self._versions.candidate
        if version is None:
            hint, caller = "call `refit` first.", f"{_CALLER}.{method}"
            raise invalid(caller, "monitor", "one with a candidate", "none", hint=hint)
        return version

    def _now(self) -> str:
        """Timestamp of the last batch, else its number in this epoch."""
        n_batches = int(self._store.setting("n_batches") or 0)
        ended = self._buckets.history(1).ended
        known = ended[-1] if ended else None
        return known if known is not None else f"batch {n_batches - 1}"
