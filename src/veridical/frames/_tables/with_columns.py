"""The table of a file with more columns, written to another file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from veridical._core.runtime.files import check_folder, whole_file
from veridical.exceptions import invalid
from veridical.frames._tables.columns import listed
from veridical.frames._tables.csv import scan_text
from veridical.frames._tables.files import (
    FileKind,
    check_columns,
    find_files,
    first_line,
    read_files,
    scan_file,
)

if TYPE_CHECKING:
    import polars as pl

    from veridical._core.typing import Array

_WRITTEN: dict[str, FileKind] = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
_SEPARATORS: dict[FileKind, str] = {"CSV": ",", "TSV": "\t"}


def check_target(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, caller: str
) -> None:
    """Raise unless `target` is a table that can be written, and none of the files of `source`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     _ = path.write_text("p")
    ...     check_target(path, path, caller="apply")
    Traceback (most recent call last):
        ...
    veridical.exceptions.InvalidInputError: apply: `output` must be another file than the input; ...
    """
    kind_of(target, caller=caller)
    check_apart(source, target, caller=caller)


def check_apart(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, caller: str
) -> None:
    """Raise if `target` cannot be, or would destroy one of the files of `source`."""
    paths, _ = find_files(source, caller=caller, param="FILE")
    wanted = Path(target).expanduser()
    check_folder(wanted)
    if wanted.exists() and any(wanted.samefile(path) for path in paths):
        hint = "nothing is written over its own input: name another file."
        raise invalid(caller, "output", "another file than the input", repr(str(target)), hint=hint)


def check_new_columns(names: Sequence[str], available: Sequence[str], *, caller: str) -> None:
    """Raise if a column to be added is there already."""
    taken = [name for name in names if name in available]
    if taken or len(set(names)) < len(names):
        hint = "choose other names with --prefix."
        got = f"{listed(taken)} in the input" if taken else f"repeated names: {listed(names)}"
        raise invalid(caller, "prefix", "one that makes new columns", got, hint=hint)


def write_with_columns(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    added: Mapping[str, Array],
    *,
    caller: str,
) -> None:
    r"""Write all columns of a file, or of several, and then those in `added`.

    Parameters
    ----------
    source : str or path
        CSV, Parquet or Arrow; a glob for several files, which are put one below the other.
    target : str or path
        Where to: CSV (.csv, .tsv), Parquet (.parquet, .pq) or Arrow (.arrow, .feather, .ipc), by
        its ending. It is written whole or not at all.
    added : mapping of str to ndarray of shape (n_rows,)
        New columns.
    caller : str
        Who asks: it opens the error message.

    Notes
    -----
    Rows keep their order. From text to text, cells are copied as they stand ("007" remains so);
    from text to Parquet or Arrow, columns get the types of `open_table`. Rows are streamed, except
    from text to Parquet or Arrow, where the table is held in memory.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, new = Path(folder) / "old.csv", Path(folder) / "new.csv"
    ...     _ = old.write_text("id,p\n007,0.50\n008,0.2\n")
    ...     write_with_columns(old, new, {"q": np.array([0.25, 0.125])}, caller="apply")
    ...     new.read_text().split()
    ['id,p,q', '007,0.50,0.25', '008,0.2,0.125']
    """
    import polars as pl

    kind = kind_of(target, caller=caller)
    frame = _lazy(source, as_text=kind in _SEPARATORS, caller=caller)
    plain = {k: v.tolist() if v.dtype == object else v for k, v in added.items()}
    new = pl.DataFrame(plain, nan_to_null=True, strict=False)  # a blank cell, not "NaN"
    wide = pl.concat([frame, new.lazy()], how="horizontal")
    # polars is given an open file: threads that it leaves behind after an error would otherwise
    # make the temporary file again by its name.
    with whole_file(Path(target).expanduser()) as temporary, temporary.open("wb") as stream:
        try:
            if kind == "Parquet":
                wide.sink_parquet(stream)
            elif kind == "Arrow":
                wide.sink_ipc(stream)
            else:
                wide.sink_csv(stream, separator=_SEPARATORS[kind])
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            got = f"{str(source)!r}, where copying stops with: {first_line(error)}"
            hint = "write the file again."
            raise invalid(caller, "FILE", "a table that can be copied", got, hint=hint) from error


def _lazy(source: str | os.PathLike[str], *, as_text: bool, caller: str) -> pl.LazyFrame:
    import polars as pl

    paths, kind = find_files(source, caller=caller, param="FILE")
    names = check_columns(paths, kind, None, caller=caller, param="FILE")
    if kind not in _SEPARATORS:
        parts = [scan_file(path, kind).select(names) for path in paths]
        return pl.concat(parts, how="vertical_relaxed")
    if as_text:
        return pl.concat(
            scan_text(path, separator=_SEPARATORS[kind]).select(names) for path in paths
        )
    return read_files(paths, kind, None, caller=caller, param="FILE").lazy()


def kind_of(target: str | os.PathLike[str], *, caller: str) -> FileKind:
    kind = _WRITTEN.get(Path(target).suffix.lower())
    if kind is None:
        hint = "the ending says in what form to write."
        raise invalid(
            caller,
            "output",
            f"a file ending in {', '.join(_WRITTEN)}",
            repr(str(target)),
            hint=hint,
        )
    return kind
