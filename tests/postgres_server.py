"""A PostgreSQL server of its own for tests, reached by a socket in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self


class NoServer(Exception):
    """PostgreSQL is not installed, or did not start."""


class PostgresServer:
    """initdb and postgres, as another user where this one is root, whom the server refuses."""

    def __init__(self, folder: str, *settings: str) -> None:
        self.folder = folder
        self._programs = _programs()
        self._settings = settings
        self._options: dict[str, Any] = {
            "cwd": folder,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
            self._options["user"] = "nobody"
        self._server: subprocess.Popen[bytes] | None = None
        made = [f"{self._programs}/initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "tester"]
        made += ["--no-sync", "-E", "UTF8", "--no-locale"]
        subprocess.run(made, check=True, **self._options)
        self.start()

    def start(self) -> Self:
        """Start it, and wait until it answers."""
        command = [f"{self._programs}/postgres", "-D", f"{self.folder}/data", "-k", self.folder]
        for setting in ("listen_addresses=", *self._settings):
            command += ["-c", setting]
        for _ in range(600):
            if self._server is None or self._server.poll() is not None:
                # processes of one that failed may still hold its memory: again, until they end
                self._server = subprocess.Popen(command, **self._options)
            with suppress(RuntimeError):  # it is starting up, or recovers
                if self.psql("SELECT 1") == "1\n":
                    return self
            time.sleep(0.1)
        raise NoServer("the PostgreSQL server did not start")

    def stop(self, how: str = "fast") -> None:
        """Stop it: "fast" in good order, "immediate" as if the machine had failed."""
        if self._server is not None:
            self._server.send_signal({"fast": 2, "immediate": 3}[how])  # SIGINT, SIGQUIT
            self._server.wait(60)
            self._server = None

    def psql(self, script: str, database: str = "postgres") -> str:
        """What its own client prints."""
        command = ["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", self.folder]
        done = subprocess.run(
            [*command, "-U", "tester", database],
            input=script,
            capture_output=True,
            text=True,
            env={**os.environ, "PGCLIENTENCODING": "UTF8"},
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr[:2000])
        return done.stdout

    def address(self, schema: str, user: str = "tester") -> str:
        """Of a store in a schema."""
        return f"postgresql://{user}@/postgres?host={self.folder}&schema={schema}"


@contextmanager
def postgres_server(*settings: str) -> Iterator[PostgresServer]:
    """A server for as long as it is needed."""
    # pytest's own folders are closed to other users
    folder = tempfile.mkdtemp(prefix="veridical-postgres-")
    server = None
    try:
        server = PostgresServer(folder, *settings)
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> str:
    """Folder of initdb and postgres."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists() and shutil.which("psql"):
            return str(place)
    raise NoServer("no PostgreSQL server (initdb, postgres, psql) is installed")
