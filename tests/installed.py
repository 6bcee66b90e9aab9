"""Both wheels in an environment of their own, and commands that run there as users type them."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What a user's shell does not set: the sources, and settings of the test run.
_UNSET = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "COLUMNS", "PYTEST_ADDOPTS")


def install(shared: Path) -> Path:
    """Build both wheels and install them once for all workers; return the folder of programs.

    Other packages come from the environment of the tests. Its own installation of veridical is
    not visible: Python reads no `.pth` files in a folder that a `.pth` file names.
    """
    home = shared / "installed"
    with (shared / "installed.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "ready").exists():
            shutil.rmtree(home, ignore_errors=True)
            _build(home)
            (home / "ready").touch()
    return home / "venv" / "bin"


def _build(home: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wheel = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(home)]
    _checked([*pip, *wheel, str(ROOT), str(ROOT / "packages" / "lab")])
    _checked([sys.executable, "-m", "venv", "--without-pip", str(home / "venv")])
    wheels = [str(path) for path in home.glob("*.whl")]
    target = ["--python", str(home / "venv" / "bin" / "python")]
    _checked([*pip, *target, "install", "--no-deps", "--no-index", *wheels])
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")


def _checked(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in _UNSET}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Shell:
    """Runs commands in one folder, each as a new process of the installed wheel."""

    programs: Path
    folder: Path

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
        path = os.pathsep.join([str(self.programs), str(self.folder), os.environ["PATH"]])
        return kept | {"PATH": path, "HOME": str(self.folder), "BROWSER": "true"}

    def do(self, command: str) -> Done:
        """Run a line of a shell."""
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment(), timeout=120,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    def run(self, command: str, code: int = 0) -> str:
        """Run a line of a shell that has to end with this exit code; return what it prints."""
        done = self.do(command)
        assert done.code == code, f"exit code {done.code} of {command}\n{done.out}{done.err}"
        assert "Traceback" not in done.err, f"{command}\n{done.err}"
        return done.out

    def python(self, code: str) -> str:
        """Run a script in a new process; return what it prints."""
        done = subprocess.run(
            [self.programs / "python", "-"], input=code, cwd=self.folder, env=self.environment(),
            timeout=120, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{code}\n{done.stderr}"
        return done.stdout
