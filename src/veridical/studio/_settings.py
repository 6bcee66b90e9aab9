"""What a studio may read, and how much it takes."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from veridical.exceptions import invalid

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Settings:
    """Limits of one studio.

    Attributes
    ----------
    folder : files are read from here and below, and from nowhere else
    workspace : private folder for uploads and downloads; deleted when the studio ends
    port : of the server on this machine
    max_upload : largest upload in bytes
    token : what the browser must show; new at every start
    """

    folder: Path
    workspace: Path
    port: int
    max_upload: int = 500 * 10**6
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers keep those of all ports of a machine together."""
        return f"veridical_studio_{self.port}"

    @property
    def address(self) -> str:
        """Where the browser is to go first."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


def parse_size(text: str) -> int:
    """Read a number of bytes such as "500MB".

    Examples
    --------
    >>> parse_size("500MB"), parse_size("1.5 gb"), parse_size("2000")
    (500000000, 1500000000, 2000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?B)?", text.strip().upper())
    size = 0 if found is None else round(float(found[1]) * _UNITS[found[2] or "B"])
    if size <= 0:
        hint = "write for instance 500MB or 2GB."
        raise invalid("studio", "max_upload", "a size", repr(text), hint=hint)
    return size


def shown_size(n_bytes: int) -> str:
    """Bytes for people.

    Examples
    --------
    >>> shown_size(500_000_000), shown_size(1_500), shown_size(12)
    ('500 MB', '1.5 kB', '12 bytes')
    """
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes} bytes"
