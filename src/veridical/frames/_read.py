"""Files into one polars frame, with only the columns that are wanted."""

from __future__ import annotations

import glob
from contextlib import contextmanager
from typing import TYPE_CHECKING

from veridical.exceptions import invalid
from veridical.frames._csv import read_csv, scan_text
from veridical.frames._names import missing_column
from veridical.frames._paths import FileKind, empty_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl


# Written at both ends of a file.
_MARKS: dict[FileKind, tuple[bytes, ...]] = {"Parquet": (b"PAR1", b"PARE"), "Arrow": (b"ARROW1",)}


def read_names(path: Path, kind: FileKind, *, caller: str, param: str) -> list[str]:
    """Return the column names of one file."""
    with _readable(path, kind, caller=caller, param=param):
        return scan_file(path, kind).collect_schema().names()


def read_files(
    paths: Sequence[Path],
    kind: FileKind,
    columns: Sequence[str] | None,
    *,
    caller: str,
    param: str,
) -> pl.DataFrame:
    """Return the rows of all files, in the order given."""
    import polars as pl

    wanted = check_columns(paths, kind, columns, caller=caller, param=param)
    if kind in ("CSV", "TSV"):
        frame = read_csv(
            paths,
            wanted,
            separator="," if kind == "CSV" else "\t",
            guard=lambda path: _readable(path, kind, caller=caller, param=param),
        )
    else:
        frames = []
        for path in paths:
            with _readable(path, kind, caller=caller, param=param):
                frames.append(scan_file(path, kind).select(wanted).collect())
        try:
            frame = pl.concat(frames, how="vertical_relaxed")
        except pl.exceptions.PolarsError as error:
            got = first_line(error)
            hint = "write the files with the same column types."
            expected = "files whose columns have the same types"
            raise invalid(caller, param, expected, got, hint=hint) from error
    if len(frame) == 0:
        raise empty_file(paths[0], "0 rows", caller=caller, param=param)
    return frame


def check_columns(
    paths: Sequence[Path],
    kind: FileKind,
    columns: Sequence[str] | None,
    *,
    caller: str,
    param: str,
) -> list[str]:
    """Return the columns to read, which are in every file."""
    names = read_names(paths[0], kind, caller=caller, param=param)
    wanted = names if columns is None else list(dict.fromkeys(columns))
    for name in wanted:
        if name not in names:
            raise missing_column(name, names, caller=caller, param="columns")
    for path in paths[1:]:
        absent = set(wanted).difference(read_names(path, kind, caller=caller, param=param))
        if absent:
            first = min(absent, key=wanted.index)
            got = f"no column {first!r} in {str(path)!r}, while {str(paths[0])!r} has it"
            hint = "match only files of the same table."
            raise invalid(caller, param, "files with the same columns", got, hint=hint)
    return wanted


def scan_file(path: Path, kind: FileKind) -> pl.LazyFrame:
    import polars as pl

    if kind == "Parquet":
        return pl.scan_parquet(glob.escape(str(path)), hive_partitioning=False)
    if kind == "Arrow":
        with path.open("rb") as stream:
            is_file_format = stream.read(6) == b"ARROW1"
        if is_file_format:
            return pl.scan_ipc(glob.escape(str(path)))
        return pl.read_ipc_stream(path).lazy()
    return scan_text(path, separator="," if kind == "CSV" else "\t")


@contextmanager
def _readable(path: Path, kind: FileKind, *, caller: str, param: str) -> Iterator[None]:
    """Turn what polars says about a file into an error of this library."""
    import polars as pl

    try:
        yield
    except pl.exceptions.NoDataError as error:
        raise empty_file(path, "no header", caller=caller, param=param) from error
    # Some damaged files make polars panic, which is no `Exception`.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        got = f"{str(path)!r}, where reading stops with: {first_line(error)}"
        hint = "write the file again, or read it yourself and pass the frame."
        if _is_cut_short(path, kind):
            got = f"{str(path)!r}, whose end is missing"
            hint = "copy or write the file again; it is cut short, or something else by this name."
        if "utf-8" in str(error).lower():
            hint = "save the file as UTF-8."
        raise invalid(caller, param, f"a readable {kind} file", got, hint=hint) from error


def _is_cut_short(path: Path, kind: FileKind) -> bool:
    """Whether a file lacks the mark that ends its kind."""
    marks: dict[FileKind, tuple[bytes, ...]] = {
        "Parquet": (b"PAR1", b"PARE"),
        "Arrow": (b"ARROW1",),
    }
    if kind not in marks:
        return False
    try:
        with path.open("rb") as stream:
            starts = stream.read(6).startswith(marks[kind])
            stream.seek(-min(6, path.stat().st_size), 2)
            return starts and not stream.read().endswith(marks[kind])
    except OSError:
        return False


def first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")[:200]
