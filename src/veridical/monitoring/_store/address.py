"""Addresses of stores in PostgreSQL, with passwords that nobody is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from veridical._core.runtime.optional import require
from veridical._core.runtime.text import without_password
from veridical.exceptions import invalid

SCHEMA = "veridical"  # where the tables are, unless the address names another schema
_BEGINNINGS = ("postgresql://", "postgres://")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# What the client is asked for where the address does not say: that it notices a cut line.
_DEFAULTS = {
    "application_name": "veridical",
    "connect_timeout": "30",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}


@dataclass(frozen=True, repr=False)
class Address:
    """Where a store in PostgreSQL is.

    Attributes
    ----------
    options : what the client connects with; with the password, and never shown
    schema : that the tables are in
    name : the address without the password, for people
    """

    options: dict[str, Any]
    schema: str
    name: str

    def __repr__(self) -> str:
        return f"Address({self.name!r})"

    def hidden(self, text: str) -> str:
        """A message of the client without the password."""
        secrets = [self.options.get(name) for name in ("password", "sslpassword")]
        for secret in filter(None, secrets):
            text = text.replace(secret, "***")
        return text


def is_address(path: Any) -> bool:
    """Whether a path is an address of PostgreSQL; other addresses are refused.

    Examples
    --------
    >>> is_address("postgresql://me@example.org/models"), is_address("store.sqlite")
    (True, False)
    """
    if not isinstance(path, str):
        return False
    if not path.startswith(_BEGINNINGS) and _SCHEME.match(path):
        hint = "postgresql://user@host/database, or a file."
        got = repr(without_password(path))
        raise invalid("CalibrationMonitor", "path", "a file or an address", got, hint=hint)
    return path.startswith(_BEGINNINGS)


def exists(path: Any) -> bool:
    """Whether a store may be at a path: a file that is there, or any address."""
    return is_address(path) or Path(path).is_file()


def read_address(text: str) -> Address:
    """The parts of an address.

    The query may name a `schema`, in which the tables are; all else is for the client.
    """
    conninfo = require("psycopg.conninfo", extra="postgres", purpose="A store in PostgreSQL")
    base, _, query = text.partition("?")
    place, _, rest = base.partition("://")[2].partition("/")
    parts = [part for part in query.split("&") if part]
    schemas = [unquote(part[7:]) for part in parts if part.startswith("schema=")]
    others = "&".join(part for part in parts if not part.startswith("schema="))
    hint = 'write "@", "/", "?" and "#" of a password as %40, %2F, %3F and %23.'
    unread = invalid("CalibrationMonitor", "path", "an address", "one not to be read", hint=hint)
    if place.count("@") > 1 or "@" in rest or "#" in text:
        raise unread  # a password that is not quoted; its rest would be taken for a host
    try:
        options = conninfo.conninfo_to_dict(base + ("?" + others if others else ""))
    except Exception:  # its message may quote the password
        options = None
    if options is None:
        raise unread
    schema = schemas[-1] if schemas else SCHEMA
    if not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        hint = "small letters, digits and _, for example ?schema=churn_model."
        raise invalid("CalibrationMonitor", "schema", "a simple name", repr(schema), hint=hint)
    return Address(_DEFAULTS | options, schema, _name(options, schema))


def _name(options: dict[str, Any], schema: str) -> str:
    """The address as people are shown it."""
    user = f"{options['user']}@" if "user" in options else ""
    host, port = str(options.get("host", "")), str(options.get("port", "")).strip(",")
    folder = f"host={host}&" if host.startswith("/") else ""
    place = "" if folder else host + (f":{port}" if port else "")
    return f"postgresql://{user}{place}/{options.get('dbname', '')}?{folder}schema={schema}"
