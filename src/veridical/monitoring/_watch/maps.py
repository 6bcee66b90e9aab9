"""What a monitor does about what it sees: new maps on trial, switches, and a stopgap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import ArrayLike, FloatArray
from veridical.decisions.core import check_columns, move_priors
from veridical.exceptions import invalid
from veridical.monitoring._maps.refit import (
    choose_rows,
    fitted,
    held_out_difference,
    suggestion,
    unfitted,
)
from veridical.monitoring._maps.rows import KeptRows, ModelColumns, happened
from veridical.monitoring._maps.shadow import most_loss, shadow_status, suffices
from veridical.monitoring._maps.signals import priors_of, signals_of
from veridical.monitoring._maps.versions import FitRecord
from veridical.monitoring._watch.memory import CALLER, Memory, as_rows, check_rows
from veridical.results import MonitorSignals, PriorEstimate, RefitSuggestion, ShadowStatus

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator


def calibrated(memory: Memory, sample: Sample) -> Sample:
    """Rows as the map in use sees them, which are the ones that are watched."""
    current = memory.current
    if current is None:
        return sample
    p = memory.columns(CALLER).calibrated(current, sample.p)
    if isinstance(sample, BinarySample):
        return replace(sample, p=p, pair=None)
    return replace(sample, p=p, confidence=None, right=None)


def learn(memory: Memory, own: Sample, watched: Sample) -> None:
    """Keep the rows of a counted batch, and try the candidate on them.

    Parameters
    ----------
    memory : of the monitor
    own : outcomes and the model's own predictions
    watched : the same rows with predictions of the map in use
    """
    versions = memory.versions
    memory.recent.add(own, versions.epoch, memory.store.n_batches - 1)
    version = versions.candidate
    if version is None:
        return
    rival = memory.columns(CALLER).calibrated(versions.calibrator(version), own.p)
    trial = versions.trial(version).scored(happened(watched.p, own.y), happened(rival, own.y))
    versions.set_trial(version, trial)
    if versions.auto_switch(version) and suffices(trial, memory.settings["level"]):
        versions.switch(memory.status(), memory.now())


def refit(
    memory: Memory, calibrator: str | Calibrator, *, rows: float | None, auto_switch: bool
) -> tuple[RefitSuggestion, tuple[str, ...]]:
    """Fit a map to recent rows and put it on trial; what the fits leave in doubt comes beside."""
    caller = f"{CALLER}.refit"
    versions, columns = memory.versions, memory.columns(caller)
    wanted = None if rows is None else check_rows(rows, "rows", caller)
    empty = unfitted(calibrator, columns)
    with memory.store.transaction():
        current, now = memory.current, memory.now()
        alarmed = memory.store.alarmed_at is not None
        chosen = choose_rows(
            memory.recent.read(len(columns.labels)),
            history=memory.buckets.history(1) if alarmed else None,
            epoch=versions.epoch,
            window=memory.settings["window"],
            not_before=versions.first_row(versions.current),
            wanted=wanted,
        )
    level = memory.settings["confidence_level"]
    # Outside of the transaction: fits may take long, and others must be able to count.
    map = fitted(empty, chosen.rows, columns)
    held_out = held_out_difference(map, current, chosen.rows, columns, level)
    estimate, low, high = held_out.limits or (None, None, None)
    with memory.store.transaction():
        origin = FitRecord(
            now, chosen.rows.first, len(chosen.rows), estimate, low, high, auto_switch
        )
        version = versions.add(map, origin, most_loss(memory.current, map, columns))
    return suggestion(version, map, chosen, held_out, level), held_out.map_notes


def trial_status(memory: Memory) -> ShadowStatus:
    """How the candidate's trial stands."""
    version = _check_candidate(memory, "shadow_status")
    return shadow_status(
        version,
        memory.versions.current,
        memory.versions.trial(version),
        level=memory.settings["level"],
        confidence_level=memory.settings["confidence_level"],
    )


def switch(memory: Memory, *, force: bool) -> None:
    """Use the candidate from now on."""
    with memory.store.transaction():
        version = _check_candidate(memory, "switch")
        trial = memory.versions.trial(version)
        if not (force or suffices(trial, memory.settings["level"])):
            hint = "wait for more outcomes, or pass `force=True`."
            got = f"too little evidence for version {version}: see `shadow_status`"
            caller = f"{CALLER}.switch"
            raise invalid(caller, "force", "True", got, hint=hint)
        memory.versions.switch(memory.status(), memory.now())


def rollback(memory: Memory) -> None:
    """Use the map again that the current one replaced."""
    with memory.store.transaction():
        if memory.versions.current is None:
            hint = "there is nothing to go back to; see `versions`."
            got, caller = "predictions as they come", f"{CALLER}.rollback"
            raise invalid(caller, "monitor", "one with a map", got, hint=hint)
        memory.versions.rollback(memory.status(), memory.now())


def _check_candidate(memory: Memory, method: str) -> int:
    version = memory.versions.candidate
    if version is None:
        hint, caller = "call `refit` first.", f"{CALLER}.{method}"
        raise invalid(caller, "monitor", "one with a candidate", "none", hint=hint)
    return version


def calibrate(memory: Memory, y_prob: ArrayLike, priors: PriorEstimate | None) -> FloatArray:
    """Predictions of the map in use, moved to other priors if there are any."""
    caller = f"{CALLER}.calibrate"
    columns = memory.columns(caller)
    rows = as_rows(y_prob, columns.labels)
    positive = columns.classes[1] if len(columns.labels) == 2 else None
    own = check_columns(rows, labels=columns.labels, pos_label=positive, caller=caller)
    p = columns.calibrated(memory.current, own.p)
    if memory.online is not None:
        p = columns.calibrated(memory.online.map, p)
    if priors is None:
        return p.astype(np.float64)
    train, deploy = (
        dict(zip(priors.classes, shares.tolist(), strict=True))
        for shares in (priors.train, priors.priors)
    )
    return move_priors(replace(own, p=p), train, deploy, caller=caller, params=("priors",) * 2)


def prior_correction(memory: Memory) -> PriorEstimate:
    """Class priors of the predictions that wait."""
    caller = f"{CALLER}.prior_correction"
    waiting, kept, columns = _waiting(memory, caller)
    if len(np.unique(kept.y)) < len(columns.labels):
        hint = "wait for outcomes of every class."
        raise invalid(caller, "monitor", "with labelled rows of every class", "not", hint=hint)
    labelled = columns.calibrated(memory.current, kept.p)
    return priors_of(waiting, labelled, kept.y, columns, memory.settings["confidence_level"])


def signals(memory: Memory) -> MonitorSignals:
    """What predictions that wait for outcomes say by themselves."""
    waiting, kept, columns = _waiting(memory, f"{CALLER}.signals")
    return signals_of(
        waiting,
        columns.calibrated(memory.current, kept.p),
        kept.y,
        columns,
        waiting_since=memory.pending.waiting()[1],
        confidence_level=memory.settings["confidence_level"],
    )


def _waiting(memory: Memory, caller: str) -> tuple[FloatArray, KeptRows, ModelColumns]:
    """Predictions that wait, as the map in use makes them, and the rolling window."""
    columns = memory.columns(caller)
    waiting = memory.pending.unlabelled(memory.store.n_columns)
    if not len(waiting):
        hint = "register predictions with `observe` first."
        raise invalid(caller, "monitor", "one with predictions that wait", "none", hint=hint)
    kept = memory.recent.read(len(columns.labels)).last(int(memory.settings["window"]))
    if not len(kept):
        hint = "wait for outcomes: they are what predictions are compared with."
        raise invalid(caller, "monitor", "one with labelled rows", "none", hint=hint)
    if waiting.ndim == 2 and len(columns.labels) == 2:
        waiting = waiting[:, columns.positive]
    return columns.calibrated(memory.current, waiting), kept, columns
