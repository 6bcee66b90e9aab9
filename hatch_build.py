"""Compiles the loops in C when a wheel is built, if there is a compiler; NumPy does else.

python hatch_build.py   # beside the sources, for work on them
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

PACKAGE = Path("src")
SOURCES = ("veridical/_core/rows.c", "veridical/frames/_grid/kernel.c")
FOLDER = "veridical/_core"
NAME = "_loops.dll" if sys.platform == "win32" else "_loops.so"
# Rounding is that of IEEE: nothing lets a compiler reorder sums, or round a product and a sum once.
FLAGS = ("-O3", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared", "-fvisibility=hidden")


def compile_kernel(root: Path, target: Path) -> bool:
    """Compile the loops; False if there is no compiler, or it fails."""
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None or os.environ.get("VERIDICAL_NO_COMPILER"):
        return False
    sources = [str(root / PACKAGE / source) for source in SOURCES]
    command = [*compiler.split(), *FLAGS, "-o", str(target), *sources, "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return False
    if done.returncode:
        print(f"loops were not compiled, NumPy is used instead: {done.stderr[:500]}")
    return done.returncode == 0


def _platform() -> str:
    """The platform a wheel with compiled code is for."""
    if sys.platform == "darwin":
        release = platform.mac_ver()[0].split(".")[0]
        return f"macosx_{release}_0_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand
    pass
else:

    class KernelHook(BuildHookInterface):  # type: ignore[misc, type-arg]
        """Puts the compiled loops into a wheel, which is then for one platform."""

        PLUGIN_NAME = "custom"

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Compile before the wheel is put together."""
            if self.target_name != "wheel":
                return
            root = Path(self.root)
            if version == "editable":
                compile_kernel(root, root / PACKAGE / FOLDER / NAME)
                return
            target = Path(tempfile.mkdtemp()) / NAME
            if compile_kernel(root, target):
                build_data["force_include"][str(target)] = f"{FOLDER}/{NAME}"
                build_data["pure_python"] = False
                build_data["tag"] = f"py3-none-{_platform()}"


if __name__ == "__main__":
    here = Path(__file__).parent
    sys.exit(0 if compile_kernel(here, here / PACKAGE / FOLDER / NAME) else 1)
