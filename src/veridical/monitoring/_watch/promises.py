"""Promises and requirements that a monitor watches, and when they were first broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from veridical.exceptions import VeridicalError, invalid
from veridical.monitoring._judge.promise import Look, looks_of, promise_status
from veridical.monitoring._judge.requirement import read_requirement, requirement_status
from veridical.monitoring._watch.memory import CALLER, Memory
from veridical.results import PromiseStatus, RiskThreshold

_STATE = "promises"
_MOST = 100  # promises of one store


def watch(memory: Memory, risk: RiskThreshold | None, require: str | Sequence[str]) -> None:
    """Keep promises and requirements in the store; those that are there stay as they are."""
    caller = f"{CALLER}.watch"
    texts = [require] if isinstance(require, str) else list(require)
    if risk is None and not texts:
        hint = "pass `risk=` what `risk_threshold` found, or `require='ece < 0.05'`."
        raise invalid(caller, "risk", "a promise, or `require` a requirement", "None", hint=hint)
    asked: list[dict[str, Any]] = []
    for text in texts:
        asked.append({"require": read_requirement(text, caller=caller).text})
    if risk is not None:
        classes = memory.columns(caller).classes
        promise_status((), risk, memory.settings, classes, caller=caller)  # or refuse
        asked.append({"risk": risk.to_dict()})
    with memory.store.transaction():
        kept = _kept(memory)
        known = [{name: each[name] for name in each if name != "broken"} for each in kept]
        kept += [each for each in asked if each not in known]
        if len(kept) > _MOST:
            hint = "start another store."
            raise invalid(
                caller, "require", f"at most {_MOST} of a store", str(len(kept)), hint=hint
            )
        _keep(memory, kept)
        note_broken(memory)


def forget(memory: Memory) -> None:
    """Watch none of them any more."""
    with memory.store.transaction():
        _keep(memory, [])


def promises_of(memory: Memory) -> tuple[PromiseStatus, ...]:
    """Everything that is watched, at this look."""
    kept = _kept(memory)
    looks = looks_of(memory.buckets, memory.settings) if kept else ()
    return tuple(_looked_at(memory, each, looks) for each in kept)


def note_broken(memory: Memory) -> tuple[PromiseStatus, ...]:
    """Write down what is broken at this look, in a transaction; returns all that is watched."""
    kept = _kept(memory)
    looks = looks_of(memory.buckets, memory.settings) if kept else ()
    every, changed = [], False
    for each in kept:
        found = _looked_at(memory, each, looks)
        if found.broken_now and found.broken_at is None:
            each["broken"] = {"at": memory.now(), "epoch": memory.versions.epoch}
            found, changed = replace(found, broken_at=each["broken"]["at"]), True
        every.append(found)
    if changed:
        _keep(memory, kept)
    return tuple(every)


def broken_promises(promises: Sequence[PromiseStatus]) -> tuple[str, ...]:
    """Those that are broken, in a sentence each."""
    return tuple(each.headline for each in promises if each.broken)


def _looked_at(memory: Memory, kept: dict[str, Any], looks: Sequence[Look]) -> PromiseStatus:
    caller = f"{CALLER}.promises"
    if "require" in kept:
        classes = memory.classes or ()
        found = requirement_status(looks, kept["require"], memory.settings, classes)
    else:
        promise = RiskThreshold.from_dict(kept["risk"])
        classes = memory.columns(caller).classes
        found = promise_status(looks, promise, memory.settings, classes, caller=caller)
    broken = kept.get("broken") or {"epoch": None}
    now = broken["epoch"] == memory.versions.epoch
    return replace(found, broken_at=broken["at"]) if now else found


def _kept(memory: Memory) -> list[dict[str, Any]]:
    """What the store keeps, which anyone may have written to."""
    kept = memory.store.state(_STATE) or []
    if not isinstance(kept, list) or not all(_is_promise(each) for each in kept):
        hint = "it was damaged or changed by hand: name another store, or restore a copy."
        raise invalid(CALLER, "store", "of promises that were made", "others", hint=hint)
    return kept


def _is_promise(each: Any) -> bool:
    if not isinstance(each, dict) or not each.keys() <= {"risk", "require", "broken"}:
        return False
    broken = each.get("broken")
    if broken is not None and not (
        isinstance(broken, dict)
        and isinstance(broken.get("at"), str)
        and isinstance(broken.get("epoch"), int)
    ):
        return False
    try:
        if "require" in each:
            return "risk" not in each and bool(read_requirement(each["require"], caller=CALLER))
        return bool(RiskThreshold.from_dict(each["risk"]).found)
    except (VeridicalError, TypeError, ValueError, KeyError, AttributeError):
        return False


def _keep(memory: Memory, promises: list[dict[str, Any]]) -> None:
    memory.store.set_state(_STATE, promises, lasting=True)
