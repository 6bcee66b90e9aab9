"""Number of functions and files of the package that a call runs through.

    python benchmarks/walk.py           # one line per call
    python benchmarks/walk.py --list    # also the functions, by file

Each call is made twice and the second is counted, so that modules loaded on first use do not count.
Comprehensions, generator expressions and lambdas do not count either: they have no name.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import veridical as v

PACKAGE = Path(v.__file__).parent


def make_calls() -> dict[str, Callable[[], Any]]:
    """Calls on 1,000 rows of two or three classes."""
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, 1000)
    y = (rng.random(1000) < p).astype(int)
    vectors = rng.dirichlet(np.ones(3), 1000)
    classes = (rng.random(1000)[:, None] > vectors.cumsum(axis=1)).sum(axis=1).clip(max=2)
    return {
        "evaluate(y, p), two classes": lambda: v.evaluate(y, p, rng=0),
        "evaluate(y, p), three classes": lambda: v.evaluate(classes, vectors, rng=0),
        "expected_calibration_error(y, p)": lambda: v.expected_calibration_error(y, p),
        "AutoCalibrator().fit(p, y)": lambda: v.AutoCalibrator().fit(p, y),
        "log_loss(y, p)": lambda: v.log_loss(y, p),
    }


def functions_in(call: Callable[[], Any]) -> set[CodeType]:
    """Functions of the package that run during the second of two calls."""
    call()
    codes: set[CodeType] = set()

    def record(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
    folder = f"{PACKAGE}/"
    return {
        code
        for code in codes
        if code.co_filename.startswith(folder) and not code.co_name.startswith("<")
    }


def main() -> None:
    """Print a line per call, and the functions if they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the functions by file")
    options = parser.parse_args()
    warnings.simplefilter("ignore", v.VeridicalWarning)
    for name, call in make_calls().items():
        codes = functions_in(call)
        files = {code.co_filename for code in codes}
        print(f"{name:34} {len(codes):4} functions in {len(files):3} files")
        if options.list:
            for code in sorted(codes, key=lambda code: (code.co_filename, code.co_firstlineno)):
                path = Path(code.co_filename).relative_to(PACKAGE)
                print(f"    {path}:{code.co_firstlineno}  {code.co_qualname}")


if __name__ == "__main__":
    main()
