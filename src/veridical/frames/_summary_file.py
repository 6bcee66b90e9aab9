"""Arrays of one length and a text beside them, in one Parquet file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from veridical._core.files import whole_file
from veridical.exceptions import invalid
from veridical.frames._read import first_line

if TYPE_CHECKING:
    from veridical._core.typing import Array

# A column, not Parquet's own key-value pairs: every library and engine reads columns.
_TEXT = "about"


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Array], *, about: str) -> None:
    """Write columns to a Parquet file, whole or not at all; `about` stands in the first row."""
    import polars as pl

    length = len(next(iter(arrays.values())))
    text = pl.Series(_TEXT, [about, *[None] * (length - 1)], dtype=pl.String)
    frame = pl.DataFrame([*(pl.Series(name, values) for name, values in arrays.items()), text])
    with whole_file(path) as temporary:
        frame.write_parquet(temporary)


def read_arrays(path: str | os.PathLike[str], *, caller: str) -> tuple[dict[str, Array], str]:
    """Read back what `write_arrays` wrote."""
    import polars as pl

    hint = "pass a file that `to_parquet` of a summary wrote."
    if not Path(path).is_file():
        raise invalid(caller, "path", "an existing file", repr(os.fspath(path)), hint=hint)
    try:
        frame = pl.read_parquet(os.fspath(path), glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        got = f"{os.fspath(path)!r}, where reading stops with: {first_line(error)}"
        raise invalid(caller, "path", "a readable Parquet file", got, hint=hint) from error
    if _TEXT not in frame.columns or not len(frame) or frame[_TEXT].dtype != pl.String:
        got = f"{os.fspath(path)!r}, which has the columns {frame.columns[:8]}"
        raise invalid(caller, "path", "a file of a summary", got, hint=hint)
    about = frame[_TEXT][0]
    arrays = {name: frame[name].to_numpy() for name in frame.columns if name != _TEXT}
    return arrays, about or ""
