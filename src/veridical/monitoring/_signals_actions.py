"""What a monitor says of predictions: those of the map in use, and of those that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical.calibrators import Calibrator
from veridical.decisions import adjust_priors
from veridical.decisions._class_numbers import check_columns
from veridical.exceptions import invalid
from veridical.inference._doubts import warn_of
from veridical.monitoring._inputs import as_rows
from veridical.monitoring._refit_rows import Columns, KeptRows, RecentRows
from veridical.monitoring._signals import priors_of, signals_of
from veridical.monitoring._versions import Versions
from veridical.results._monitor_action import MonitorSignals
from veridical.results._priors import PriorEstimate

if TYPE_CHECKING:
    from veridical.monitoring._pending import Pending
    from veridical.monitoring._store import Store

_CALLER = "CalibrationMonitor"


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
