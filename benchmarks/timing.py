"""Fair timing: contenders take turns, one call each, and each keeps its best turn."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


class Process:
    """A `worker.py` of one mode, asked over a pipe."""

    def __init__(self, mode: str) -> None:
        self._child = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        self._child.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        if not answer:
            msg = f"the worker ended with code {self._child.wait()} during {do!r}"
            raise RuntimeError(msg)
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._child.stdin.close()
        self._child.wait()


@dataclass
class Turns:
    """A contender in one mode and the seconds of its turns."""

    contender: str
    mode: str
    status: str = "ok"
    value: float | None = None
    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float | None:
        """The fastest turn: the one least disturbed by whatever else the machine was doing."""
        return min(self.seconds, default=None)


def take_turns(
    processes: dict[str, Process], turns: list[Turns], kind: str, repeats: int, budget: float
) -> None:
    """Time every contender up to `repeats` times, alternating.

    A contender that has used `budget` seconds stops after two turns, so that slow ones do not
    decide how long a benchmark takes.
    """
    for turn in turns:
        answer = processes[turn.mode].ask("warm", kind=kind, contender=turn.contender)
        turn.status, turn.value = answer["status"], answer.get("value")
    for _ in range(repeats):
        for turn in turns:
            spent = len(turn.seconds) >= 2 and sum(turn.seconds) > budget
            if turn.status == "ok" and not spent:
                answer = processes[turn.mode].ask("time", contender=turn.contender)
                if "seconds" in answer:
                    turn.seconds.append(answer["seconds"])
                else:
                    turn.status = answer["status"]


def time_imports(statements: dict[str, str], repeats: int) -> list[Turns]:
    """Time each statement in fresh interpreters, alternating; start-up is not counted."""
    turns = [Turns(name, "fresh process") for name in statements]
    for _ in range(repeats):
        for turn in turns:
            if turn.status == "ok":
                _time_import(turn, statements[turn.contender])
    return turns


def _time_import(turn: Turns, statement: str) -> None:
    code = f"import time; s = time.perf_counter(); {statement}; print(time.perf_counter() - s)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        turn.seconds.append(float(run.stdout.split()[-1]))
        return
    error = run.stderr.strip().splitlines()[-1]
    turn.status = "not installed" if error.startswith("ModuleNotFoundError") else error
