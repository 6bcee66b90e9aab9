"""The format of a reference file: where it comes from, its inputs, its cases."""

from __future__ import annotations

import json
import platform
import re
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from recording.inputs import Input

COMMAND = "python tests/reference/record_peers.py"

# Absolute tolerances: sums in another order, or a computation in single precision.
DOUBLE = 1e-12
SINGLE = 1e-6


@dataclass(frozen=True)
class Case:
    """One recorded call.

    `quantity` and `settings` name what is computed in this project's vocabulary, `definition` says
    in words what the package does, `call` is what was executed (y, p and w are the input's).
    """

    name: str
    input: str
    quantity: str
    settings: dict[str, Any]
    call: str
    definition: str
    output: Any
    tolerance: float = DOUBLE
    extra: dict[str, Any] = field(default_factory=dict)


def write_reference(
    path: Path, package: str, inputs: dict[str, Input], cases: list[Case], notes: list[str]
) -> None:
    """Write the reference file of one package, with the inputs that its cases use."""
    used = {case.input for case in cases}
    content = {
        "source": package,
        "version": version(package),
        "command": COMMAND,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "notes": notes,
        "inputs": {name: sample.to_json() for name, sample in inputs.items() if name in used},
        "cases": [_to_json(case) for case in cases],
    }
    text = re.sub(r"\[[^\[\]{}\"]*\]", _on_one_line, json.dumps(content, indent=1))
    path.write_text(text + "\n", encoding="utf-8")


def _to_json(case: Case) -> dict[str, Any]:
    fields = asdict(case)
    return fields | fields.pop("extra")


def _on_one_line(numbers: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", numbers[0]).replace("[ ", "[").replace(" ]", "]")
