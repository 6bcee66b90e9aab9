"""Telling somebody of an alarm, once, whoever of several processes sees it first."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from veridical.exceptions import invalid
from veridical.monitoring._watch.memory import CALLER, Memory
from veridical.results import MonitorStatus

_STATE = "told"
_SECONDS = 300  # a command may take; twice that is a process that died while it ran


def tell_alarms(memory: Memory, status: MonitorStatus, command: Sequence[str]) -> list[str]:
    """Run a command for every alarm that nobody was told of yet.

    Parameters
    ----------
    memory : of the monitor
    status : at this look, with what is watched
    command : the program and its arguments; no shell reads them, and the alarm comes to it as JSON
        on standard input. What it prints goes to standard error.

    Returns
    -------
    list of str
        What did not work. Such an alarm is told again by the next who looks.

    Notes
    -----
    An alarm is claimed in a transaction before the command runs, so that of several processes one
    runs it. It runs a second time only if it failed, or if the process was killed before the
    command had ended: then whoever looks ten minutes later runs it again.
    """
    if not command:
        hint = "name the program after --exec, and its arguments after that."
        raise invalid(CALLER, "exec", "a command", "nothing", hint=hint)
    failed = []
    for key, alarm in _claimed(memory, status):
        problem = _run(command, alarm)
        _settle(memory, key, told=problem is None)
        if problem is not None:
            failed.append(f"{alarm['what']}: {problem}")
    return failed


def _alarms(memory: Memory, status: MonitorStatus) -> dict[str, dict[str, Any]]:
    """Everything that somebody should be told of, by a name that stays."""
    epoch = memory.versions.epoch
    facts: dict[str, Any] = {"store": memory.store.path, "epoch": epoch}
    found = {}
    if status.alarm:
        what = {"what": "alarm", "at": status.alarmed_at, "says": status.verdict}
        found[f"{epoch} alarm"] = facts | what | {"status": status.to_dict()}
    for each in status.promises:
        if each.broken:
            promised = json.dumps([each.requirement, each.risk, each.at_most, each.threshold])
            name = hashlib.blake2b(promised.encode(), digest_size=8).hexdigest()
            what = {"what": "broken promise", "at": each.broken_at, "says": each.headline}
            found[f"{epoch} {name}"] = facts | what | {"promise": each.to_dict()}
    return found


def _claimed(memory: Memory, status: MonitorStatus) -> list[tuple[str, dict[str, Any]]]:
    """Alarms that are for this process to tell."""
    alarms = _alarms(memory, status)
    if not alarms:
        return []
    now = dt.datetime.now(dt.UTC)
    with memory.store.transaction():
        known = _known(memory)
        mine = [
            (key, alarm)
            for key, alarm in alarms.items()
            if key not in known or _is_stale(known[key], now)
        ]
        for key, _ in mine:
            known[key] = now.isoformat()  # being told since then
        if mine:
            memory.store.set_state(_STATE, known, lasting=True)
    return mine


def _is_stale(since: str | None, now: dt.datetime) -> bool:
    if since is None:  # told
        return False
    try:
        # a clock that was wrong may have written a time to come
        return abs((now - dt.datetime.fromisoformat(since)).total_seconds()) > 2 * _SECONDS
    except (ValueError, TypeError):
        return True


def _settle(memory: Memory, key: str, *, told: bool) -> None:
    with memory.store.transaction():
        known = _known(memory)
        known[key] = None
        if not told:
            del known[key]
        memory.store.set_state(_STATE, known, lasting=True)


def _known(memory: Memory) -> dict[str, str | None]:
    """Alarms by name: None once told, else since when somebody is telling."""
    known = memory.store.state(_STATE) or {}
    if not isinstance(known, dict):
        hint = "it was damaged or changed by hand: name another store, or restore a copy."
        raise invalid(CALLER, "store", "of alarms that were told", "others", hint=hint)
    return known


def _run(command: Sequence[str], alarm: dict[str, Any]) -> str | None:
    """Run the command; returns what went wrong."""
    try:
        done = subprocess.run(
            list(command),
            input=json.dumps(alarm).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]!r} took more than {_SECONDS} seconds"
    except OSError as error:
        return f"{command[0]!r} could not be run: {error.strerror or error}"
    sys.stderr.write(done.stdout.decode(errors="replace"))
    return None if done.returncode == 0 else f"{command[0]!r} ended with code {done.returncode}"
