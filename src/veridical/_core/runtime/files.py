"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to a temporary file beside `path`, then rename it into place.

    What is no file (a pipe, a device) is written to as it is.
    """
    target = Path(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        with target.open("w", encoding="utf-8") as stream:
            stream.write(text)
        return
    with whole_file(target) as temporary, temporary.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place if all goes well; links are followed."""
    target = Path(os.path.realpath(path))
    check_folder(target)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "A folder, not a file to write", str(path))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes a private file; give the result the permissions a plain open() would leave.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def check_folder(target: Path) -> None:
    """Raise if there is no folder to write to."""
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder to write to", str(target.parent))
