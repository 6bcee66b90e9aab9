"""The command: a process that answers this machine only and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from veridical.cli.shared.parser import Parser
from veridical.exceptions import InvalidInputError, MissingDependencyError
from veridical.studio import serve

_START = "from veridical.studio import serve;serve({file!r}, open_browser=False, max_upload=1000)"


def parsed(*words):
    return Parser(module="studio").parse_args(words)


def test_arguments(monkeypatch):
    called = {}
    monkeypatch.setattr(
        "veridical.studio.serve", lambda file, **rest: called.update(rest, file=file)
    )
    arguments = parsed("a.csv", "--port", "8080", "--no-browser", "--max-upload", "2GB")
    assert arguments.run(arguments) == 0
    wanted = {"file": "a.csv", "folder": None, "port": 8080, "open_browser": False}
    assert called == wanted | {"max_upload": 2 * 10**9}


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "starlette>=[\d.]+" "uvicorn>='):
        serve(open_browser=False)


def test_odd_ports_are_explained(tmp_path):
    for port in (-1, 70_000):
        with pytest.raises(InvalidInputError, match="port"):
            serve(folder=tmp_path, port=port, open_browser=False)


@pytest.mark.skipif(os.name != "posix", reason="stopped by a signal")
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_process_from_start_to_end(tmp_path, ended_by):
    table = tmp_path / "a.csv"
    table.write_text("y,p\n0,0.5\n1,0.5\n")
    private = tmp_path / "private"
    private.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", _START.format(file=str(table))],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(private)},
    )
    try:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", process.stdout.readline())
        assert found
        with urllib.request.urlopen(found[0], timeout=30) as answer:
            assert answer.status == 200
            cookie = answer.headers["set-cookie"].split(";")[0]
        [workspace] = private.glob("veridical-studio-*")
        assert workspace.stat().st_mode & 0o077 == 0  # nobody else reads it
        address = f"http://127.0.0.1:{found[1]}/api/upload?name=big.csv"
        upload = urllib.request.Request(address, b"x" * 2000, {"Cookie": cookie}, method="PUT")
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(upload, timeout=30)
        assert refusal.value.code == 413
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/api/state", timeout=30)
        assert refusal.value.code == 403
        refusal.value.close()
        kept = urllib.request.Request(
            address.replace("big", "small"),
            b"y,p\n0,0.5\n1,0.5\n",
            {"Cookie": cookie},
            method="PUT",
        )
        with urllib.request.urlopen(kept, timeout=30) as answer:
            assert answer.status == 200
        assert list(workspace.rglob("small.csv"))
        with socket.create_connection(("127.0.0.1", int(found[1]))) as gone:  # ends in mid-sentence
            head = f"PUT /api/upload?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{found[1]}\r\n"
            gone.sendall(f"{head}Cookie: {cookie}\r\nContent-Length: 900\r\n\r\ny,p".encode())
        process.send_signal(ended_by)
        assert process.wait(30) == 0
        assert "Traceback" not in process.stdout.read()
        assert list(private.iterdir()) == []
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
