"""From a path or a glob to files that can be read."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Literal, TypeAlias

from veridical.exceptions import InvalidInputError, invalid
from veridical.frames._names import nearest

FileKind: TypeAlias = Literal["CSV", "TSV", "Parquet", "Arrow"]

_ENDINGS: dict[str, FileKind] = {
    ".csv": "CSV",
    ".csv.gz": "CSV",
    ".tsv": "TSV",
    ".tsv.gz": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
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
    for ending, kind in _ENDINGS.items():
        if name.endswith(ending):
            return kind
    hint = "save the data as CSV or Parquet, or read it yourself and pass the frame."
    raise invalid(
        caller, param, f"a file ending in {', '.join(_ENDINGS)}", repr(str(path)), hint=hint
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
