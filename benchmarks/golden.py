"""Guard for refactoring: record what the public functions return, and compare with the record.

    python benchmarks/golden.py write tests/golden      # record the figures and texts of today
    python benchmarks/golden.py compare tests/golden    # exit status 1 if anything differs
    python benchmarks/golden.py compare tests/golden --numbers    # texts may differ

Numbers may differ by a relative 1e-12 (absolute 1e-14), texts not at all. The record belongs to
one set of package versions: another NumPy or another processor may sum in another order, and
fitted calibrators then differ by more. `compare` prints the versions if they are not the same.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

RELATIVE, ABSOLUTE = 1e-12, 1e-14
# Longer arrays are recorded by every 50th value and by checksums, so that the folder stays below
# 1.5 MB (1.2 MB with a limit of 200 values). A higher limit shows where an array differs.
LONGEST, STEP = 200, 50
FIGURES, ERRORS = "figures.json.gz", "errors.json"
TIMES = ("seconds",)  # AutoCalibrator records how long each candidate took
PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "narwhals")
MISSING = "(nothing)"


def main() -> int:
    """Write the record to a folder or compare with the one there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--numbers", action="store_true", help="compare numbers only, not texts")
    parser.add_argument("--times", action="store_true", help="print CPU seconds per call")
    parser.add_argument("--most", type=int, default=200, help="differences to print; default: 200")
    options = parser.parse_args()
    folder = options.folder.resolve()
    started = time.process_time()
    record = make_record(times=options.times)
    print(f"{describe(record)}; {time.process_time() - started:.0f} CPU seconds")
    if options.action == "write":
        return write(record, folder)
    return compare(record, folder, numbers_only=options.numbers, most=options.most)


def make_record(*, times: bool = False) -> dict[str, Any]:
    """Run every case in a temporary working folder, so that no path enters the record."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            record = {
                "environment": environment(),
                "figures": figures(times=times),
                "errors": errors(),
            }
        finally:
            os.chdir(here)
        text = json.dumps(record).replace(str(Path(folder).resolve()), "FOLDER")
    return json.loads(text)  # tuples are lists now, as in the file


def environment() -> dict[str, str]:
    """Versions that figures may depend on in the last digits."""
    versions = {package: version(package) for package in PACKAGES}
    return {"Python": platform.python_version(), "machine": platform.machine()} | versions


def figures(*, times: bool) -> dict[str, Any]:
    """Results of every call on every input; a cell that does not apply says why."""
    from golden_calls import CALLS, INPUTS, NOT_APPLICABLE
    from golden_inputs import make_inputs

    inputs = make_inputs()
    if tuple(inputs) != INPUTS or set(CALLS) != set(NOT_APPLICABLE):
        raise AssertionError("the table of cases does not name every input and every call")
    record: dict[str, Any] = {}
    for call_name, call in CALLS.items():
        for input_name, data in inputs.items():
            cell = f"{call_name} | {input_name}"
            if input_name in NOT_APPLICABLE[call_name]:
                record[cell] = {"not applicable": NOT_APPLICABLE[call_name][input_name]}
                continue
            started = time.process_time()
            record[cell] = outcome(lambda call=call, data=data: call(data))
            if times:
                print(f"{time.process_time() - started:7.2f} s  {cell}", flush=True)
    return record


def errors() -> dict[str, Any]:
    """Messages of every bad call."""
    from golden_errors import make_bad_calls

    return {name: outcome(call) for name, call in make_bad_calls().items()}


def outcome(call: Any) -> dict[str, Any]:
    """Result or error of a call, and the warnings it raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            entry = {"result": plain(call())}
        except Exception as error:  # any error belongs in the record: `write` refuses wrong ones
            entry = {"error": {"type": type(error).__name__, "text": str(error)}}
            for name in ("caller", "param", "expected", "got", "hint"):
                if hasattr(error, name):
                    entry["error"][name] = getattr(error, name)
    entry["warnings"] = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    return entry


def plain(value: Any) -> Any:
    """Convert a result to values that JSON has."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items() if key not in TIMES}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, list | tuple):
        return thinned([plain(entry) for entry in value])
    if value is None or isinstance(value, bool | int | float | str):
        return value
    message = f"no JSON for {type(value).__name__}: {value!r}"
    raise TypeError(message)


def thinned(values: list[Any]) -> Any:
    """Every 50th value and checksums, if a list of numbers or texts is long.

    A checksum of floats is a sum with fixed positive weights, not a hash of the bytes: a hash would
    report a difference in the last bit, which the tolerance allows.
    """
    if len(values) <= LONGEST or any(isinstance(value, dict | list) for value in values):
        return values
    entry: dict[str, Any] = {"length": len(values), "every 50th": values[::STEP]}
    if any(isinstance(value, float) for value in values):
        array = np.array([math.nan if value is None else value for value in values], dtype=float)
        finite = np.where(np.isfinite(array), array, 0.0)
        weights = 1 + np.random.default_rng(0).random(len(values))
        entry["weighted sum of sizes"] = math.fsum(weights * np.abs(finite))
        entry["negative"] = int((array < 0).sum())
        entry["not finite"] = int((~np.isfinite(array)).sum())
    else:
        entry["SHA-256"] = hashlib.sha256(json.dumps(values).encode()).hexdigest()
    return entry


def describe(record: dict[str, Any]) -> str:
    """Number of cells and messages in a record."""
    cells = record["figures"].values()
    left_out = sum("not applicable" in cell for cell in cells)
    messages = sum("error" in entry for entry in record["errors"].values())
    return (
        f"{len(cells) - left_out} calls recorded, {left_out} not applicable;"
        f" {len(record['errors'])} bad calls, {messages} of them with an error"
    )


def write(record: dict[str, Any], folder: Path) -> int:
    """Write the record, unless a call that should run has failed."""
    failures = {
        cell: entry["error"] for cell, entry in record["figures"].items() if "error" in entry
    }
    if failures:
        for cell, error in failures.items():
            print(f"{cell}\n    {error['type']}: {error['text']}")
        print(f"{len(failures)} calls failed; nothing was written")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    rest = {name: record[name] for name in ("environment", "figures")}
    text = json.dumps(rest, indent=0).encode()
    compressed = gzip.compress(text, compresslevel=9, mtime=0)  # the same bytes every time
    (folder / FIGURES).write_bytes(compressed)
    messages = json.dumps(record["errors"], indent=1, ensure_ascii=False)
    (folder / ERRORS).write_text(messages + "\n", encoding="utf-8")
    sizes = {name: (folder / name).stat().st_size for name in (FIGURES, ERRORS)}
    print(", ".join(f"{folder / name}: {size:,} bytes" for name, size in sizes.items()))
    return 0


def read(folder: Path) -> dict[str, Any]:
    """Record in a folder."""
    record = json.loads(gzip.decompress((folder / FIGURES).read_bytes()))
    record["errors"] = json.loads((folder / ERRORS).read_text(encoding="utf-8"))
    return record


def compare(record: dict[str, Any], folder: Path, *, numbers_only: bool, most: int) -> int:
    """Print what differs from the record in a folder; the exit status is 1 if anything does."""
    before = read(folder)
    for name, was in before.pop("environment").items():
        if (now := record["environment"].get(name)) != was:
            print(f"note: {name} was {was} and is {now}; last digits may differ")
    after = {name: record[name] for name in before}
    listed = [
        difference
        for difference in differences(before, after, "")
        if not numbers_only or not all(isinstance(side, str) for side in difference[1:])
    ]
    for path, old, new in listed[:most]:
        print(f"{path}\n    before: {shorten(old)}\n    after:  {shorten(new)}")
    if len(listed) > most:
        print(f"... and {len(listed) - most} more")
    print(f"{len(listed)} differences" if listed else "no differences")
    return 1 if listed else 0


def differences(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Path, old value and new value of whatever is not the same."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{path} / {key}" if path else key
            yield from differences(before.get(key, MISSING), after.get(key, MISSING), inner)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path} (length)", len(before), len(after)
        for index, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from differences(old, new, f"{path}[{index}]")
    elif not same(before, after):
        yield path, before, after


def same(before: Any, after: Any) -> bool:
    """Whether two values agree: numbers within the tolerance, everything else exactly."""
    if isinstance(before, float) or isinstance(after, float):
        if not all(isinstance(side, int | float) for side in (before, after)):
            return False
        if math.isnan(before) or math.isnan(after):
            return math.isnan(before) and math.isnan(after)
        return math.isclose(before, after, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(before) is type(after) and before == after


def shorten(value: Any, longest: int = 600) -> str:
    """Text of a value that fits a few lines."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text):,} characters)"


if __name__ == "__main__":
    sys.exit(main())
