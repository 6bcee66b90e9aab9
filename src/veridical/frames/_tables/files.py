"""Files: found by path or glob, counted, and read with only the columns that are wanted."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Mapping
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from veridical._core.runtime.files import whole_file
from veridical.exceptions import InvalidInputError, VeridicalError, invalid
from veridical.frames._tables.columns import missing_column, nearest
from veridical.frames._tables.csv import read_csv, scan_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from veridical._core.typing import Array


FileKind: TypeAlias = Literal["CSV", "TSV", "Parquet", "Arrow", "JSON Lines"]

ENDINGS: dict[str, FileKind] = {
    ".csv": "CSV",
    ".csv.gz": "CSV",
    ".tsv": "TSV",
    ".tsv.gz": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
    ".jsonl": "JSON Lines",
    ".ndjson": "JSON Lines",
}


def find_files(
    source: str | os.PathLike[str], *, caller: str, param: str
) -> tuple[list[Path], FileKind]:
    """Return the files, sorted by name, and what they hold; they exist and are not empty."""
    if "://" in os.fspath(source):
        hint = "download the file first; nothing is read from the network."
        raise invalid(caller, param, "a file on this machine", repr(source), hint=hint)
    path = Path(source).expanduser()
    if path.is_dir():
        hint = f"name a file, or several with a glob such as {str(path / '*.parquet')!r}."
        raise invalid(caller, param, "a file", f"the folder {str(path)!r}", hint=hint)
    if path.exists():
        paths = [path]
    elif glob.has_magic(str(path)):
        found = (Path(name) for name in glob.glob(str(path), recursive=True))  # noqa: PTH207 - `**`
        paths = sorted(one for one in found if one.is_file())
        if not paths:
            raise _not_found(path, "a pattern that matches files", caller=caller, param=param)
    else:
        raise _not_found(path, "an existing file", caller=caller, param=param)
    kinds = {_kind(one, caller=caller, param=param): one for one in paths}
    if len(kinds) > 1:
        got = " and ".join(repr(one.name) for one in kinds.values())
        hint = "match one kind of file, e.g. with '*.parquet'."
        raise invalid(caller, param, "files of one kind", got, hint=hint)
    if "JSON Lines" in kinds:  # a part without rows has no header either
        paths = [one for one in paths if one.stat().st_size] or paths
    for one in paths:
        if one.stat().st_size == 0:
            raise empty_file(one, "0 bytes", caller=caller, param=param)
    return paths, next(iter(kinds))


def empty_file(path: Path, got: str, *, caller: str, param: str) -> InvalidInputError:
    """Build the error for a file without data."""
    hint = "check the step that wrote the file."
    return invalid(caller, param, "a file with rows", f"{got} in {str(path)!r}", hint=hint)


def _kind(path: Path, *, caller: str, param: str) -> FileKind:
    name = path.name.lower()
    for ending, kind in ENDINGS.items():
        if name.endswith(ending):
            return kind
    hint = "save the data as CSV or Parquet, or read it yourself and pass the frame."
    raise invalid(
        caller, param, f"a file ending in {', '.join(ENDINGS)}", repr(str(path)), hint=hint
    )


def _not_found(path: Path, expected: str, *, caller: str, param: str) -> InvalidInputError:
    folder = path.parent
    hint = f"check the path; it is read from {str(Path.cwd())!r}."
    if folder.is_dir():
        near = nearest(path.name, sorted(one.name for one in folder.iterdir() if one.is_file()))
        if near:
            hint = f"did you mean {str(folder / near)!r}?"
    elif not glob.has_magic(str(folder)):
        hint = f"the folder {str(folder)!r} does not exist."
    return invalid(caller, param, expected, repr(str(path)), hint=hint)


# Written at both ends of a file.
_MARKS: dict[FileKind, tuple[bytes, ...]] = {"Parquet": (b"PAR1", b"PARE"), "Arrow": (b"ARROW1",)}


def read_names(path: Path, kind: FileKind, *, caller: str, param: str) -> list[str]:
    """Return the column names of one file."""
    with readable(path, kind, caller=caller, param=param):
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
            guard=lambda path: readable(path, kind, caller=caller, param=param),
        )
    else:
        frames = []
        for path in paths:
            with readable(path, kind, caller=caller, param=param):
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
    if kind == "JSON Lines":
        return _scan_json_lines(path)
    return scan_text(path, separator="," if kind == "CSV" else "\t")


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_NUMBERS = (b"NaN", b"Infinity")  # as Python's json writes them, which JSON does not know


def _scan_json_lines(path: Path) -> pl.LazyFrame:
    """Open JSON Lines; what JSON does not know is read as a blank.

    All lines are asked for types: a label may be missing for long.
    """
    import polars as pl

    with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
        odd = data[:3] == _BYTE_ORDER_MARK or any(data.find(word) >= 0 for word in _NO_NUMBERS)
    if not odd:
        return pl.scan_ndjson(glob.escape(str(path)), infer_schema_length=None)
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        try:
            rows += [json.loads(line, parse_constant=lambda name: None)] if line.strip() else []
        except ValueError as error:
            msg = f"line {number}: {error}"
            raise pl.exceptions.ComputeError(msg) from error
    return pl.DataFrame(rows, infer_schema_length=None).lazy()


@contextmanager
def readable(path: Path, kind: FileKind, *, caller: str, param: str) -> Iterator[None]:
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
        if kind in ("CSV", "TSV", "JSON Lines"):
            return sum(path.stat().st_size for path in paths) >= LARGE * _BYTES_A_ROW
        return sum(count_rows(path, kind) for path in paths) >= LARGE
    except (VeridicalError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False


def count_rows(path: Path, kind: FileKind) -> int:
    """Rows of a file; Parquet and Arrow files know them without being read."""
    import polars as pl

    with readable(path, kind, caller="count_rows", param="path"):
        return int(scan_file(path, kind).select(pl.len()).collect().item())


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
