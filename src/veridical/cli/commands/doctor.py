"""``veridical doctor``: what is installed, and how to install what is not."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from veridical import __version__
from veridical._core.runtime.optional import packages_of_extra
from veridical.cli.shared import output
from veridical.cli.shared.parser import Parser

_CORE = ("numpy", "scipy", "scikit-learn", "narwhals", "polars", "rich")
_FRAMES = ("pandas", "pyarrow")
# Each extra of the package: what it is for, and what it installs.
EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "report": ("the HTML report", ()),
    "studio": ("the web app", ("starlette", "uvicorn")),
    "plots": ("figures", ("matplotlib",)),
    "duckdb": ("DuckDB tables", ("duckdb", "pyarrow")),
    "spark": ("Spark tables", ("pyspark",)),
    "dask": ("Dask tables", ("dask", "distributed")),
    "postgres": ("a monitor's store in PostgreSQL", ("psycopg",)),
    "onnx": ("export to ONNX", ("onnx",)),
    "torch": ("export to PyTorch", ("torch",)),
}
# What other packages bring: purpose, packages, and what to install.
_OTHERS = {
    "ibis": ("PostgreSQL tables", ("ibis-framework", "psycopg"), '"ibis-framework[postgres]"'),
}
_SECONDS = 10  # Java may take to say its version

_EPILOG = """\
examples:
  veridical doctor
  veridical doctor --format json

Nothing is imported: versions are those that the package manager has written down.
"""


@dataclass(frozen=True)
class Extra:
    """One optional part.

    Attributes
    ----------
    name, purpose : the extra, and what it is for
    packages : version of each package, None if it is missing
    install : the command that installs it
    """

    name: str
    purpose: str
    packages: dict[str, str | None]
    install: str

    @property
    def found(self) -> bool:
        """Whether all of its packages are there."""
        return None not in self.packages.values()


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = "Show what is installed, and how to install what is missing."
    parser.epilog = _EPILOG
    output.add_text_or_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what was found."""
    found = examine()
    if arguments.format == "json":
        print(json.dumps(found, indent=2))
    else:
        output.show(_in_words(found))
    return 0


def examine() -> dict[str, Any]:
    """Everything found, as JSON-safe data."""
    extras = [
        Extra(name, purpose, _versions(packages), _install(" ".join(_wanted(name, packages))))
        for name, (purpose, packages) in EXTRAS.items()
    ]
    extras += [
        Extra(name, purpose, _versions(packages), _install(what))
        for name, (purpose, packages, what) in _OTHERS.items()
    ]
    return {
        "veridical": __version__,
        "folder": str(Path(__file__).parents[2]),
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "packages": _versions(_CORE),
        "frames": _versions(_FRAMES),
        "extras": [asdict(extra) | {"found": extra.found} for extra in extras],
        "java": java_version(),
    }


def java_version() -> str | None:
    """First line of what Java says of itself, None without Java."""
    home = os.environ.get("JAVA_HOME")
    of_home = None if home is None else shutil.which("java", path=str(Path(home) / "bin"))
    java = of_home or shutil.which("java")
    if java is None:
        return None
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = (said.stderr or said.stdout).splitlines()
    return lines[0].strip() if said.returncode == 0 and lines else None


def _versions(packages: tuple[str, ...]) -> dict[str, str | None]:
    return {package: _version(package) for package in packages}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _wanted(extra: str, packages: tuple[str, ...]) -> list[str]:
    """Packages of an extra as pip takes them: a checkout's name is on no index."""
    return [f'"{each}"' for each in packages_of_extra(extra)] or list(packages)


def _install(what: str) -> str:
    return f"{Path(sys.executable).stem} -m pip install {what}"


def _in_words(found: dict[str, Any]) -> str:
    lines = [
        f"veridical {found['veridical']} in {found['folder']}",
        f"Python {found['python']} at {found['executable']}, {found['platform']},"
        f" {found['cores']} cores",
        "",
        f"  needed    {_listed(found['packages'])}",
        f"  frames    {_listed(found['frames'])}",
        "",
    ]
    for extra in found["extras"]:
        mark = "found" if extra["found"] else "missing"
        lines.append(
            f"  {mark:<8}  {extra['name']:<9} {extra['purpose']:<26} {_listed(extra['packages'])}"
        )
    lines.append(
        f"  {'found' if found['java'] else 'missing':<8}  {'java':<9} {'for Spark':<26}"
        f" {found['java'] or 'install a JDK, version 17 or later'}"
    )
    broken = [name for name, version in found["packages"].items() if version is None]
    missing = [extra["install"] for extra in found["extras"] if not extra["found"]]
    if broken:
        missing.insert(0, _install(" ".join(broken)))
    if missing:
        lines += ["", "to install what is missing:", *(f"  {command}" for command in missing)]
    return "\n".join(lines)


def _listed(packages: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {version or '(missing)'}" for name, version in packages.items())
