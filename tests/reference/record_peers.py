"""Record what other packages compute on small seeded inputs, one JSON file for each package.

Run from the root of the repository, with the packages installed (see README.md beside this file):

    python tests/reference/record_peers.py                  # every installed package
    python tests/reference/record_peers.py netcal relplot   # only these

A package that is not installed is skipped and its file left as it is.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from recording.cases import write_reference
from recording.inputs import make_inputs

PACKAGES = [
    "scikit_learn",
    "torchmetrics",
    "netcal",
    "uncertainty_calibration",
    "relplot",
    "mapie",
    "calzone",
]


def main() -> None:
    """Record the packages named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="package", help=", ".join(PACKAGES))
    chosen = parser.parse_args().packages or PACKAGES
    inputs = make_inputs()
    for name in chosen:
        if name not in PACKAGES:
            parser.error(f"unknown package {name!r}; choose among {', '.join(PACKAGES)}")
        recorder = import_module(f"recording.{name}")
        try:
            installed = version(recorder.PACKAGE)
        except PackageNotFoundError:
            print(f"{recorder.PACKAGE}: not installed, skipped")
            continue
        cases = recorder.record(inputs)
        path = Path(__file__).with_name(f"{name}.json")
        write_reference(path, recorder.PACKAGE, inputs, cases, recorder.NOTES)
        print(f"{recorder.PACKAGE} {installed}: {len(cases)} cases in {path.name}")


if __name__ == "__main__":
    main()
