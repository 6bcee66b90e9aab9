"""What parts of a monitor keep under a name, as JSON."""

from __future__ import annotations

import json
from typing import Any

from veridical.exceptions import invalid
from veridical.monitoring._store.database import Database


def read_state(database: Database, name: str) -> Any:
    """What was kept under a name; None if nothing. Whoever asks checks what it is."""
    text = database.value("SELECT value FROM states WHERE name = ?", name)
    if text is None:
        return None
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        hint = "it was damaged or changed by hand: name another store, or restore a copy."
        got = f"{name!r} that is no JSON"
        raise invalid("CalibrationMonitor", "store", "of states", got, hint=hint) from error


def write_state(database: Database, name: str, value: Any, *, lasting: bool) -> None:
    """Keep what JSON can hold; what does not last is about the map in use (see `Store`)."""
    database.run(
        "INSERT INTO states VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
        " SET lasting = excluded.lasting, value = excluded.value",
        name,
        int(lasting),
        json.dumps(value, separators=(",", ":")),
    )


def drop_state(database: Database, name: str) -> None:
    """Forget what was kept under a name."""
    database.run("DELETE FROM states WHERE name = ?", name)
