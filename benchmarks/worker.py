"""A process that times one call at a time, for the benchmark that drives it.

Started as `python worker.py {numpy,fast,peer}`; reads one JSON request a line, answers one line.
Modes are processes because they differ in what can be imported: in mode `numpy` numba cannot.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import tracemalloc
from typing import Any

_find_spec = importlib.util.find_spec


class _Blocked:
    """A finder that refuses to import numba."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == "numba":
            msg = f"No module named {name!r}"
            raise ModuleNotFoundError(msg, name=name)


def hide_numba() -> None:
    """Make numba look as if it were not installed; must come before importing veridical."""
    sys.meta_path.insert(0, _Blocked())

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name.partition(".")[0] == "numba" else _find_spec(name, package)

    importlib.util.find_spec = find_spec


class Worker:
    """Keeps one sample and the contenders made ready for it."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.calls: dict[str, Any] = {}
        self.sample: Any = None

    def prepare(self, n_rows: int, n_classes: int) -> dict[str, Any]:
        """Draw the sample that the next calls are about."""
        from data import make_sample

        self.calls, self.sample = {}, None
        self.sample = make_sample(n_rows, n_classes)
        return {"input_bytes": self.sample.nbytes}

    def warm(self, kind: str, contender: str) -> dict[str, Any]:
        """Import what a contender needs and run it once, untimed."""
        from contenders import PEERS, VERIDICAL

        make = VERIDICAL[kind] if contender == "veridical" else PEERS[kind][contender]
        try:
            call = make(self.sample)
        except ModuleNotFoundError:
            return {"status": "not installed"}
        self.calls[contender] = call
        return {"status": "ok", "value": call()}

    def time(self, contender: str) -> dict[str, Any]:
        """Run a contender once."""
        call = self.calls[contender]
        start = time.perf_counter()
        call()
        return {"seconds": time.perf_counter() - start}

    def memory(self, contender: str) -> dict[str, Any]:
        """Peak of what Python and NumPy allocate during one call, beyond the input."""
        tracemalloc.start()
        self.calls[contender]()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return {"peak_bytes": peak}

    def facts(self) -> dict[str, Any]:
        """Whether the mode is what it claims to be."""
        return {"mode": self.mode, "numba_loaded": "numba" in sys.modules}


def main() -> None:
    """Answer requests until the input ends."""
    mode = sys.argv[1]
    if mode == "numpy":
        hide_numba()
    answers, sys.stdout = sys.stdout, sys.stderr  # what a package prints is not an answer
    worker = Worker(mode)
    for line in sys.stdin:
        request = json.loads(line)
        method = getattr(worker, request.pop("do"))
        try:
            answer = method(**request)
        except Exception as error:  # one contender that fails must not end the benchmark
            answer = {"status": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
