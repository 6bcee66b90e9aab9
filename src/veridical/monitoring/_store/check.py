"""What stands in a store that was opened: numbers and sizes that belong together, or an error."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from veridical._core.data.schema import (
    LARGEST,
    Fields,
    Label,
    Number,
    Numbers,
    Place,
    Several,
    Text,
    check_fields,
    said,
)
from veridical.monitoring._store.counts import N_CELLS
from veridical.monitoring._store.database import Database
from veridical.monitoring._store.evidence import n_rivals
from veridical.monitoring._store.plan import FAMILIES

_COUNT = Number(low=0, whole=True)
_SUM = Number(low=0)
_TIME = Text(none=True)
_HINT = "it was damaged or changed by hand: name another file, or restore a copy."

# Columns that are read into numbers; ids and keys are the database's.
_TABLES = {
    "streams": Fields(
        family=Text(options=FAMILIES),
        name=Text(),
        share=Number(low=0, high=1),
        n_rows=_SUM,
        log_e=Number(),
        log_max=Number(low=0),
        wealth=Numbers("G", low=-np.inf),  # the logarithm of nothing, before the first bet
        alarmed_at=_TIME,
        deviation=Number(),
        squared=_SUM,
    ),
    "buckets": Fields(
        ordinal=_COUNT,
        n_batches=Number(low=1, whole=True),
        n_rows=_SUM,
        began=_TIME,
        ended=_TIME,
        log_e=Number(),
        predicted=_SUM,
        counts=Numbers(2 * N_CELLS, low=0),
        sum_p=Numbers(N_CELLS, low=0),
    ),
    "bucket_streams": Fields(n_rows=_SUM, deviation=Number(), squared=_SUM, factors=Numbers("G")),
    "cohorts": Fields(observed_at=_TIME, n_rows=_COUNT, n_waiting=_COUNT, counted=_COUNT),
}
_SHARE = Number(above=0, below=1, optional=True)
_SETTINGS = Fields(
    labels=Several(Label(), none=True, optional=True),
    pos_label=Label(none=True, optional=True),
    level=_SHARE,
    window=Number(low=1, optional=True),
    half_life=Number(low=1, optional=True),
    confidence_level=_SHARE,
    online=Label(optional=True),
)
_BLOBS = {"wealth", "counts", "sum_p", "factors"}


def check_store(database: Database) -> None:
    """Raise if a table holds what a monitor would not have written."""
    place = Place(
        "CalibrationMonitor", "store", {"G": n_rivals()}, hint=f"{database.name!r}: {_HINT}"
    )
    n_batches = 0  # in buckets so far
    for table, fields in _TABLES.items():
        order = " ORDER BY id" if table == "buckets" else ""
        for row in database.rows(f"SELECT {', '.join(fields)} FROM {table}{order}"):
            values = dict(zip(fields, row, strict=True))
            for name in _BLOBS & values.keys():
                values[name] = _numbers(values[name], place.at(f"{table}.{name}"))
            check_fields(fields, values, place.at(table))
            if table == "streams":
                _read(values["name"], place.at("streams.name"))
            if table == "buckets":
                _check_bucket(values, place.at(table))
                if values["ordinal"] != n_batches:
                    expected = f"the number of batches before, {n_batches}"
                    raise place.at("buckets.ordinal").wrong(values["ordinal"], expected)
                n_batches += values["n_batches"]
    lost = database.value(
        "SELECT count(*) FROM bucket_streams WHERE bucket NOT IN (SELECT id FROM buckets)"
        " OR stream NOT IN (SELECT id FROM streams)"
    )
    if lost:
        expected = "about buckets and streams of the store"
        raise place.at("bucket_streams").wrong(said(f"{lost} rows of others"), expected)
    _check_waiting(database, place.at("predictions.p"))
    _check_settings(database, place.at("settings"))


def _check_waiting(database: Database, place: Place) -> None:
    """Raise unless predictions that will be counted are probabilities, as many in each."""
    rows = database.rows(
        "SELECT p FROM predictions WHERE cohort IN (SELECT id FROM cohorts WHERE counted = 0)"
    )
    sizes = {len(row[0]) if isinstance(row[0], bytes) else 0 for row in rows}
    if len(sizes) > 1 or 0 in sizes:
        raise place.wrong(said("others"), "tables of doubles of one size")
    values = _numbers(b"".join(row[0] for row in rows), place)
    if not ((values >= 0) & (values <= 1)).all():
        raise place.wrong(said("others"), "probabilities")


def _numbers(blob: Any, place: Place) -> Any:
    if not isinstance(blob, bytes) or len(blob) % 8:
        raise place.wrong(said(type(blob).__name__), "a table of doubles")
    return np.frombuffer(blob)


def _check_bucket(values: dict[str, Any], place: Place) -> None:
    total = float(values["counts"].sum())
    if not np.isclose(total, values["n_rows"], rtol=1e-9, atol=0):
        raise place.at("n_rows").wrong(values["n_rows"], f"the sum of its counts, {total:g}")
    counts = values["counts"].reshape(N_CELLS, 2).sum(axis=1)
    if (values["sum_p"] > counts * (1 + 1e-9)).any():
        raise place.at("sum_p").wrong(said("more"), "at most the counts")


def _check_settings(database: Database, place: Place) -> None:
    """Raise unless settings are the texts of numbers and of a list of labels."""
    for name, text in database.rows("SELECT name, value FROM settings"):
        here = place.at(str(name)[:60])
        if name in ("n_batches", "n_columns"):
            if not (isinstance(text, str) and text.isascii() and text.isdigit()):
                raise here.wrong(text, "a whole number")
        elif name == "log_max":
            _check_number(text, here)
        elif name == "classes":
            classes = _read(text, here)
            if not isinstance(classes, list) or len(classes) < 2:
                raise here.wrong(classes, "a list of labels")
            for index, each in enumerate(classes):
                Label().check(each, here.item(index))
        elif name == "monitor":
            settings = _read(text, here)
            if not isinstance(settings, dict):
                raise here.wrong(text, "a record")
            check_fields(_SETTINGS, settings, here)


def _check_number(text: Any, place: Place) -> None:
    try:
        value = float(text)
    except (TypeError, ValueError) as error:
        raise place.wrong(text, "a number") from error
    Number(low=0, high=LARGEST).check(value, place)


def _read(text: Any, place: Place) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise place.wrong(text, "JSON") from error
