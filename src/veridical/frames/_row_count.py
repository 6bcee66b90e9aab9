"""Whether a file holds so many rows that they are better left there."""

from __future__ import annotations

import os

from veridical.exceptions import VeridicalError
from veridical.frames._paths import find_files
from veridical.frames._read import scan_file

LARGE = 1_000_000
_BYTES_A_ROW = 16  # of text with a label and a probability, at least


def is_large_file(source: str | os.PathLike[str]) -> bool:
    """Whether files hold about a million rows or more, asked without reading them.

    Parquet and Arrow files know; of text the size in bytes decides. What is no readable file is
    not large: whoever opens it will say what is wrong.
    """
    import polars as pl

    try:
        paths, kind = find_files(source, caller="is_large_file", param="source")
        if kind in ("CSV", "TSV"):
            return sum(path.stat().st_size for path in paths) >= LARGE * _BYTES_A_ROW
        counts = (scan_file(path, kind).select(pl.len()).collect().item() for path in paths)
        return sum(counts) >= LARGE
    except (VeridicalError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False
