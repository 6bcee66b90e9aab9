"""How batches and cohorts are counted: evidence, buckets, alarms."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.classes import arranged_as
from veridical._core.data.groups import Groups, group_rows
from veridical._core.data.labels import check_text
from veridical._core.data.reading import AS_IT_IS, Reading, read_rows
from veridical._core.data.validation import check_probabilities, float_array, is_integer
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import ArrayLike
from veridical.evaluation.core import is_reversed
from veridical.evaluation.data import SampleSource
from veridical.exceptions import invalid
from veridical.lenses import Binary
from veridical.monitoring._maps.online import learn_online, remember_online
from veridical.monitoring._store.counts import batch_streams
from veridical.monitoring._store.evidence import exp_or_inf
from veridical.monitoring._watch.maps import calibrated, learn
from veridical.monitoring._watch.memory import CALLER, Memory, as_rows
from veridical.monitoring._watch.promises import broken_promises, note_broken, promises_of
from veridical.results import MonitorUpdate


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows to be counted, checked.

    Attributes
    ----------
    sample : outcomes and the model's own predictions
    groups : group of each row, if there are groups
    when : timestamp
    cohort : number of the cohort, if outcomes came after predictions were registered
    """

    sample: Sample
    groups: Groups | None
    when: str | None
    cohort: int | None = None


def update(
    memory: Memory,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    timestamp: Any,
    by: ArrayLike | None,
    batch_id: str | None,
    allow_reversed: bool,
    reading: Reading = AS_IT_IS,
) -> MonitorUpdate:
    """Check a batch and count it, unless it is known by its name."""
    caller = f"{CALLER}.update"
    batch_id = _as_name(batch_id, caller)
    when = _as_timestamp(timestamp, caller)
    while True:
        known = memory.refresh()
        batch, notes = _read_batch(
            memory, y_true, y_prob, by, when, reading, allow_reversed=allow_reversed
        )
        with memory.store.transaction():
            if memory.refresh() == known:
                return replace(_count_once(memory, batch, batch_id, caller), notes=notes)
            # The first batch of another process came in between: what it says holds for this one.


def _read_batch(
    memory: Memory,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    by: ArrayLike | None,
    when: str | None,
    reading: Reading,
    *,
    allow_reversed: bool,
) -> tuple[Batch, tuple[str, ...]]:
    """Rows, checked against what the store knows, and what was done to them."""
    caller = f"{CALLER}.update"
    rows = read_rows(
        as_rows(y_true),
        as_rows(y_prob, memory.classes),
        None,
        reading.checked(caller=caller),
        caller=caller,
    )
    sample = memory.checked(rows.y_true, rows.y_prob, caller=caller, option="scale")
    if not allow_reversed:
        _check_direction(memory, sample, caller)
    groups = _check_by(by, sample.n if rows.left is None else len(rows.left), "y_true", caller)
    if groups is not None and rows.left is not None:
        groups = groups.kept(rows.left, caller)
    return Batch(sample, groups, when), (*rows.notes, *sample.notes)


def _count_once(memory: Memory, batch: Batch, batch_id: str | None, caller: str) -> MonitorUpdate:
    """Count a batch, unless it is known by its name; within a transaction."""
    store, sample = memory.store, batch.sample
    if batch_id is not None:
        digest = _digest_of(sample, batch.groups)
        before = store.batch_digest(batch_id)
        if before == digest:
            return last_update(memory, sample.n, repeated=True)
        if before is not None:
            hint = "give every batch a name of its own; nothing was counted."
            got = f"other data under the known name {batch_id!r}"
            raise invalid(caller, "batch_id", "new, or the same batch again", got, hint=hint)
        store.add_batch(batch_id, digest, sample.n)
    if memory.classes is None:
        store.set_setting("classes", json.dumps(list(sample.columns)))
    if isinstance(sample, BinarySample) and memory.settings["pos_label"] is None:
        positive = sample.classes[1]  # of ordered labels, or by the name of the column
        if positive != max(sample.classes):
            memory.set_positive(positive)
    return count(memory, batch)


def observe(
    memory: Memory, id: ArrayLike, y_prob: ArrayLike, *, timestamp: Any, by: ArrayLike | None
) -> None:
    """Check predictions without outcomes and keep them as a cohort."""
    caller = f"{CALLER}.observe"
    labels = memory.classes
    if labels is None:
        hint = "pass `labels=` to the monitor: predictions alone do not name the classes."
        raise invalid(caller, "labels", "known before outcomes are", "None", hint=hint)
    rows = float_array(as_rows(y_prob, labels), caller=caller, param="y_prob")
    p = check_probabilities(rows, caller=caller, rounded=True)
    if p.ndim == 2 and p.shape[1] != len(labels):
        hint = f"one column for each of {list(labels)[:6]}."
        got = f"{p.shape[1]} columns"
        raise invalid(caller, "y_prob", f"{len(labels)} columns", got, hint=hint)
    p = arranged_as(p, y_prob, labels, caller=caller)
    names = _as_ids(id, len(p), caller)
    groups = _check_by(by, len(p), "y_prob", caller)
    keys = None if groups is None else [groups.keys[code] for code in groups.codes]
    when = _as_timestamp(timestamp, caller)
    with memory.store.transaction():
        memory.store.set_setting("n_columns", str(p.shape[1] if p.ndim == 2 else 1))
        cohort = memory.pending.observe(names, p, keys, when, caller=caller)
        if cohort is not None and memory.online is not None:
            remember_online(memory.store, memory.online, cohort)
        count_cohorts(memory, memory.pending.complete())


def _check_direction(memory: Memory, sample: Sample, caller: str) -> None:
    """Refuse a first batch that ranks backwards, unless the positive class was named."""
    told = memory.settings["pos_label"] is not None
    if told or memory.store.n_batches or not isinstance(sample, BinarySample):
        return
    rows = SampleSource(sample, Binary())
    area = rows.areas[1]
    if not is_reversed(rows, area):
        return
    negative, positive = sample.classes
    got = f"predictions that rank it backwards (AUC {area:.2f})"
    hint = (
        f"if they are of {negative!r}, start a monitor with pos_label={negative!r} (`--pos-label"
        f" {negative}`); if all is as it should be, pass allow_reversed=True (`--allow-reversed`)."
    )
    raise invalid(caller, "y_prob", f"the probability of {positive!r}", got, hint=hint)


def resolve(
    memory: Memory, id: ArrayLike, y_true: ArrayLike, *, allow_reversed: bool
) -> MonitorUpdate:
    """Check outcomes, keep them, and count the cohorts that are complete."""
    caller = f"{CALLER}.resolve"
    outcomes = np.atleast_1d(np.asarray(as_rows(y_true))).tolist()
    classes = memory.classes
    for outcome in outcomes:
        _check_class(outcome, classes, "y_true", caller)
    names = _as_ids(id, len(outcomes), caller)
    with memory.store.transaction():
        memory.pending.resolve(names, outcomes, caller=caller)
        cohorts = memory.pending.complete()
        n_rows = count_cohorts(memory, cohorts, allow_reversed=allow_reversed)
        return last_update(memory, n_rows)


def mature(memory: Memory, until: Any, missing: Any, *, allow_reversed: bool) -> MonitorUpdate:
    """Count the cohorts observed up to a time, whatever is known of them."""
    caller = f"{CALLER}.mature"
    when = _as_timestamp(until, caller)
    if when is None:
        hint = "pass the time up to which cohorts are counted."
        raise invalid(caller, "until", "a point in time", "None", hint=hint)
    if missing is not None:
        _check_class(missing, memory.classes, "missing", caller)
    with memory.store.transaction():
        cohorts = memory.pending.mature(when)
        n_rows = count_cohorts(memory, cohorts, missing, allow_reversed=allow_reversed)
        return last_update(memory, n_rows)


def _as_name(batch_id: Any, caller: str) -> str | None:
    """The name of a batch as text; a whole number is one, too."""
    if is_integer(batch_id) and abs(batch_id) < _LARGEST:
        return str(batch_id)
    if batch_id is None or isinstance(batch_id, str):
        check_text([batch_id], caller=caller, param="batch_id")
        return batch_id
    hint = 'e.g. batch_id="2026-03-04".'
    raise invalid(caller, "batch_id", "text", repr(batch_id), hint=hint)


_LARGEST = 2**63


def _as_timestamp(value: Any, caller: str) -> str | None:
    """A point in time as text that sorts."""
    if value is None or isinstance(value, str):
        check_text([value], caller=caller, param="timestamp")
        return value
    if isinstance(value, (dt.date, np.datetime64)) and value == value:  # NaT is no time
        return str(value) if isinstance(value, np.datetime64) else value.isoformat()
    hint = "pass a datetime, a date or text."
    got = f"a {type(value).__name__}"
    raise invalid(caller, "timestamp", "a point in time", got, hint=hint)


def _as_ids(ids: ArrayLike, n_rows: int, caller: str) -> list[str]:
    """Names of predictions as text, each once."""
    given = np.atleast_1d(to_numpy(ids, caller=caller, param="id")).tolist()
    names = [_as_id(each, caller) for each in given]
    if len(names) != n_rows:
        hint = "pass one id per row."
        raise invalid(caller, "id", f"{n_rows} ids", f"{len(names)}", hint=hint)
    if len(set(names)) < len(names):
        again = next(name for i, name in enumerate(names) if name in names[:i])
        hint = "give every prediction an id of its own."
        raise invalid(caller, "id", "distinct ids", f"{again!r} twice", hint=hint)
    return names


def _as_id(value: Any, caller: str) -> str:
    """A name as text; 2.0, which a column of numbers with a blank makes of 2, is 2."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    named = isinstance(value, (str, int, float, dt.date, UUID)) and not isinstance(value, bool)
    if not named or value != value:  # blanks differ from themselves
        hint = "give every prediction a name: text or a whole number."
        raise invalid(caller, "id", "names of predictions", repr(value), hint=hint)
    check_text([value], caller=caller, param="id")
    return str(value)


def _digest_of(sample: Sample, groups: Groups | None) -> str:
    """What a batch holds, in 32 letters."""
    text = hashlib.blake2b(digest_size=16)
    text.update(np.ascontiguousarray(sample.y, dtype=np.int64).tobytes())
    text.update(np.ascontiguousarray(sample.p, dtype=np.float64).tobytes())
    if groups is not None:
        text.update(groups.codes.astype(np.int64).tobytes())
        text.update(json.dumps(groups.keys, default=str).encode())
    return text.hexdigest()


def _check_by(by: ArrayLike | None, n_rows: int, data: str, caller: str) -> Groups | None:
    """Group of each row of the parameter `data`."""
    groups = None if by is None else group_rows([as_rows(by)], caller=caller)
    if groups is not None and len(groups.codes) != n_rows:
        hint = "pass one group key per row."
        got = f"{len(groups.codes)} keys for {n_rows} rows"
        raise invalid(caller, "by", f"as long as `{data}`", got, hint=hint)
    return groups


def _check_class(label: Any, classes: tuple[Any, ...] | None, param: str, caller: str) -> None:
    if classes is None or label not in classes:
        hint = f"the classes of this monitor are {list(classes or ())[:6]}."
        raise invalid(caller, param, "one of the classes", repr(label), hint=hint)


def count(memory: Memory, batch: Batch) -> MonitorUpdate:
    """Advance the evidence by a batch, raise alarms, and keep what is needed of its rows."""
    store = memory.store
    watched = calibrated(memory, batch.sample)
    streams, tally = batch_streams(watched, batch.groups)
    state = memory.streams.read()
    memory.streams.open(state, streams, len(watched.classes))
    place = {stream: i for i, stream in enumerate(state.streams)}
    tally = tally.placed([place[stream] for stream in streams], len(place))
    factors = state.evidence.advance(tally)
    if state.vectors is not None and isinstance(watched, MulticlassSample):
        state.vectors.advance(watched)
    n_batches = store.n_batches
    now = batch.when if batch.when is not None else f"batch {n_batches}"
    threshold = -math.log(memory.settings["level"])
    log_e = state.log_e
    for i, blamed in enumerate(state.evidence.log_e + np.log(state.shares) >= threshold):
        if blamed and state.alarmed_at[i] is None:
            state.alarmed_at[i] = now
    state.blame_vectors(threshold, now)
    alarm = store.alarmed_at is not None
    if not alarm and log_e >= threshold:
        store.set_setting("alarmed_at", now)
        alarm = True
    store.set_setting("log_max", repr(max(log_e, store.log_max)))
    store.set_setting("n_batches", str(n_batches + 1))
    memory.streams.write(state)
    memory.buckets.add(tally, factors, state.ids, log_e=log_e, began=batch.when, ended=batch.when)
    broken = broken_promises(note_broken(memory))
    if memory.settings["online"]:
        learn_online(store, watched, memory.columns(CALLER), now, cohort=batch.cohort)
    learn(memory, batch.sample, watched)
    return MonitorUpdate(
        n_rows=batch.sample.n,
        n_samples=int(state.evidence.n_rows[0]),
        alarm=alarm,
        e_value=exp_or_inf(log_e),
        broken=broken,
    )


def count_cohorts(
    memory: Memory, cohorts: list[int], missing: Any = None, *, allow_reversed: bool = False
) -> int:
    """Count cohorts, oldest first; returns their rows.

    Where `missing` is a label, it is the outcome of predictions whose outcome never came; without
    it such rows are left out.
    """
    n_rows, n_columns = 0, memory.store.n_columns
    for number in cohorts:
        if missing is not None:
            memory.pending.assume(number, missing)
        cohort = memory.pending.take(number, n_columns)
        if not cohort.y:
            continue
        sample = memory.checked(cohort.y, cohort.p, caller=CALLER)
        if not allow_reversed:
            _check_direction(memory, sample, CALLER)
        groups = None if cohort.by is None else group_rows([cohort.by], caller=CALLER)
        n_rows += count(memory, Batch(sample, groups, cohort.observed_at, number)).n_rows
    return n_rows


def last_update(memory: Memory, n_rows: int, *, repeated: bool = False) -> MonitorUpdate:
    """The state after `n_rows` rows were counted, or were found to be known."""
    state = memory.streams.read()
    return MonitorUpdate(
        n_rows=n_rows,
        n_samples=int(state.evidence.n_rows[0]) if state.ids else 0,
        alarm=memory.store.alarmed_at is not None,
        e_value=exp_or_inf(state.log_e) if state.ids else 1.0,
        repeated=repeated,
        broken=broken_promises(promises_of(memory)),
    )
