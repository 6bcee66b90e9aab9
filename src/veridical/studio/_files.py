"""Files of the chosen folder, and uploads."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from veridical.frames._paths import _ENDINGS
from veridical.studio._answers import Refused
from veridical.studio._settings import shown_size

_MOST_FILES, _MOST_FOLDERS = 500, 200
_LONGEST_NAME = 200


def files_in(folder: Path) -> list[dict[str, Any]]:
    """Tables in a folder and the folders below, by name; hidden ones are left out."""
    found: list[dict[str, Any]] = []
    for count, (place, folders, names) in enumerate(os.walk(folder)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if name.startswith(".") or ending_of(name) is None or path.is_symlink():
                continue
            shown = path.relative_to(folder).as_posix()
            found.append({"name": shown, "size": shown_size(path.stat().st_size)})
        if len(found) >= _MOST_FILES or count >= _MOST_FOLDERS:
            break
    return found[:_MOST_FILES]


def file_in(folder: Path, name: str) -> Path:
    """The file of that name; refused if it lies elsewhere once links are followed."""
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        inside = path.is_relative_to(root) and path.is_file()
    except (OSError, ValueError):  # a name too long, or one with a zero in it
        inside = False
    if not inside:
        hint = f"files are read from {root} and its folders only."
        raise Refused(404, f"there is no file {name[:_LONGEST_NAME]!r} in the chosen folder", hint)
    return path


def ending_of(name: str) -> str | None:
    """The ending that says what a file holds, or None."""
    return next((ending for ending in _ENDINGS if name.lower().endswith(ending)), None)


async def keep_upload(
    chunks: AsyncIterator[bytes], name: str, declared: str | None, *, target: Path, limit: int
) -> Path:
    """Write an upload into the folder `target`, which is made; refuse what is too large.

    Of the name only letters, digits and the ending are used.
    """
    ending = ending_of(name)
    if ending is None:
        hint = f"upload a file ending in {', '.join(_ENDINGS)}."
        raise Refused(415, f"{name[:_LONGEST_NAME]!r} is no table that can be read", hint)
    if declared is not None and declared.isdigit():
        _check_size(int(declared), limit)
    target.mkdir()
    path = target / (safe_stem(name[: -len(ending)]) + ending)
    written = 0
    try:
        with path.open("xb") as stream:
            async for chunk in chunks:
                written += len(chunk)
                _check_size(written, limit)
                stream.write(chunk)
    except BaseException:
        drop(path)
        raise
    return path


def drop(path: Path) -> None:
    """Delete an upload and the folder made for it."""
    path.unlink(missing_ok=True)
    path.parent.rmdir()


def safe_stem(name: str) -> str:
    """Letters that every system takes in a file name.

    Examples
    --------
    >>> safe_stem("../a b<c>"), safe_stem("…")
    ('a-b-c', 'table')
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60].strip("-") or "table"


def _check_size(size: int, limit: int) -> None:
    if size <= limit:
        return
    hint = (
        "start `veridical studio FILE`, which reads the file where it is, or raise the limit with"
        " --max-upload."
    )
    message = f"an upload of {shown_size(size)} is over the limit of {shown_size(limit)}"
    raise Refused(413, message, hint)
