"""A process that times one call at a time, for the benchmark that drives it.

Started as `python worker.py {numpy,fast,peer}`; reads one JSON request a line, answers one line.
Modes are processes: in mode `numpy` the library has no compiled loops.
"""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from typing import Any


def hide_loops() -> None:
    """Let NumPy do what compiled loops would, as where there was no compiler."""
    from veridical._core import loops

    loops.library = lambda: None


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
        from veridical._core import loops

        return {"mode": self.mode, "compiled": loops.library() is not None}


def main() -> None:
    """Answer requests until the input ends."""
    mode = sys.argv[1]
    if mode == "numpy":
        hide_loops()
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
