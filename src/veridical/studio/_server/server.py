"""Start the studio: one process, this machine only, one browser."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import threading
import warnings
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical._core.runtime.optional import require
from veridical.exceptions import VeridicalWarning, invalid

if TYPE_CHECKING:
    import uvicorn

_CALLER = "studio"
_HOST = "127.0.0.1"


def serve(
    file: str | os.PathLike[str] | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    port: int = 0,
    open_browser: bool = True,
    max_upload: int = 500_000_000,
) -> None:
    """Run the studio until it is interrupted.

    Parameters
    ----------
    file : str or path, optional
        CSV, Parquet or Arrow file to open at the start.
    folder : str or path, optional
        Files are read from here and below only; default that of `file`, else the current one.
    port : int, default 0
        Port on 127.0.0.1; 0 takes a free one.
    open_browser : bool, default True
        Whether to open the address, which is printed in any case.
    max_upload : int, default 500,000,000
        Largest upload in bytes.

    Notes
    -----
    The server answers this machine only, and only a browser that was given the token in the address
    that is printed. Uploads are kept in a private temporary folder, which is deleted at the end.
    """
    for module in ("starlette", "uvicorn"):
        require(module, extra="studio", purpose="veridical studio")
    root, first = check_places(file, folder)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as after a restart
        try:
            listener.bind((_HOST, port))
            listener.listen()  # who comes before the server is ready waits
        except (OSError, OverflowError) as error:
            hint = "leave it out for a free one."
            got = f"{port} ({error})"
            raise invalid(_CALLER, "port", "a free port", got, hint=hint) from error
        with tempfile.TemporaryDirectory(prefix="veridical-studio-") as workspace:
            _run(listener, root, first, Path(workspace), max_upload, open_browser=open_browser)


def check_places(
    file: str | os.PathLike[str] | None, folder: str | os.PathLike[str] | None
) -> tuple[Path, str | None]:
    """Folder to read from, and the name within it of the file to open first."""
    path = None if file is None else Path(file).expanduser()
    if path is not None and not path.is_file():
        hint = "name a CSV, Parquet or Arrow file, or leave it out and choose one in the browser."
        raise invalid(_CALLER, "FILE", "an existing file", repr(str(file)), hint=hint)
    chosen = path.parent if path is not None and folder is None else Path(folder or ".")
    root = chosen.expanduser().resolve()
    if not root.is_dir():
        hint = "name a folder that exists."
        raise invalid(_CALLER, "folder", "a folder", repr(str(folder)), hint=hint)
    if path is None:
        return root, None
    if not path.resolve().is_relative_to(root):
        hint = "leave --folder out, or name one that holds the file."
        got = f"{str(file)!r} outside of {str(root)!r}"
        raise invalid(_CALLER, "FILE", "in the folder", got, hint=hint)
    return root, path.resolve().relative_to(root).as_posix()


def _run(
    listener: socket.socket,
    root: Path,
    first: str | None,
    workspace: Path,
    max_upload: int,
    *,
    open_browser: bool,
) -> None:
    import uvicorn

    from veridical.studio._data.files import Settings
    from veridical.studio._server.app import create_app

    settings = Settings(root, workspace, listener.getsockname()[1], max_upload)
    app = create_app(settings, first)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,  # a browser that keeps its connection is not waited for
        )
    )
    print(f"veridical studio: {settings.address}", flush=True)
    print("Only this machine can open it. Stop with Ctrl-C.", flush=True)
    if open_browser:
        threading.Timer(0.3, webbrowser.open, [settings.address]).start()
    with warnings.catch_warnings(), _ended_by_signals(server):  # both put the old way back
        warnings.showwarning = _show_others
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        finally:
            app.state.session.end()


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let a request to end, or a terminal that is closed, end the server and not the process.

    The server raises again what it was ended by once it is done; a process that dies of it would
    leave the uploads behind.
    """

    def end(number: int, frame: object) -> None:
        server.should_exit = True

    kinds = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        kinds = []  # signals reach the main thread only
    before = [(kind, signal.signal(kind, end)) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in before:
            signal.signal(kind, handler)


def _show_others(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Doubts are shown with the figures they are about; a terminal behind a browser is no place."""
    if not issubclass(category, VeridicalWarning):
        print(f"veridical studio: warning: {message}", file=sys.stderr)
