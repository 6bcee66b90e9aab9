"""What a user hands to a monitor, made ready to be counted."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import Any

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.groups import Groups
from veridical._core.data.validation import is_number
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike
from veridical.exceptions import invalid
from veridical.monitoring._store.counts import Tally


def as_rows(values: Any, labels: tuple[Any, ...] | None = None) -> Any:
    """One row alone as a batch of one."""
    if np.ndim(values) == 0 and not hasattr(values, "__array__"):
        return [values]
    flat = labels is not None and len(labels) > 2 and np.ndim(values) == 1
    return [values] if flat else values


def placed(batch: Tally, places: list[int], n_streams: int) -> Tally:
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


def digest_of(sample: Sample, groups: Groups | None) -> str:
    """What a batch holds, in 32 letters."""
    text = hashlib.blake2b(digest_size=16)
    text.update(np.ascontiguousarray(sample.y, dtype=np.int64).tobytes())
    text.update(np.ascontiguousarray(sample.p, dtype=np.float64).tobytes())
    if groups is not None:
        text.update(groups.codes.astype(np.int64).tobytes())
        text.update(json.dumps(groups.keys, default=str).encode())
    return text.hexdigest()


def as_timestamp(value: Any, caller: str) -> str | None:
    """A point in time as text that sorts."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dt.date, np.datetime64)):
        return str(value) if isinstance(value, np.datetime64) else value.isoformat()
    hint = "pass a datetime, a date or text."
    got = f"a {type(value).__name__}"
    raise invalid(caller, "timestamp", "a point in time", got, hint=hint)


def check_rows(value: Any, name: str, caller: str) -> float:
    """Return a number of rows."""
    if not (is_number(value) and value >= 1):
        hint = "the number of rows, for example 5000."
        raise invalid(caller, name, "a number of rows, at least 1", repr(value), hint=hint)
    return float(value)


def as_ids(ids: ArrayLike, n_rows: int, caller: str) -> list[str]:
    """Names of predictions as text, each once."""
    names = [str(name) for name in np.atleast_1d(to_numpy(ids, caller=caller, param="id")).tolist()]
    if len(names) != n_rows:
        hint = "pass one id per row."
        raise invalid(caller, "id", f"{n_rows} ids", f"{len(names)}", hint=hint)
    if len(set(names)) < len(names):
        again = next(name for i, name in enumerate(names) if name in names[:i])
        hint = "give every prediction an id of its own."
        raise invalid(caller, "id", "distinct ids", f"{again!r} twice", hint=hint)
    return names
