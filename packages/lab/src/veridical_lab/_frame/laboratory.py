"""Where an experiment works: cells run in parallel, kept on disk, and drawn from one seed."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from veridical import __version__
from veridical._core.runtime.files import write_whole
from veridical._core.runtime.progress import track
from veridical._core.runtime.threads import one_blas_thread
from veridical.exceptions import VeridicalWarning

# Random numbers depend on this, so it must not change with releases: pages would change with it.
_STREAMS = "0.1.0"
Cell = Mapping[str, Any]
Work = Callable[[Cell, np.random.Generator], dict[str, Any]]


@dataclass(frozen=True)
class Laboratory:
    """What one run of an experiment may use.

    Attributes
    ----------
    name : of the experiment
    quick : whether the run is to be short
    seed : of every random number
    n_jobs : processes
    store : folder of finished cells, None to keep none
    data : files of predictions given by the user
    """

    name: str
    quick: bool = False
    seed: int = 0
    n_jobs: int = 1
    store: Path | None = None
    data: tuple[Path, ...] = ()

    def rng(self, *names: str) -> np.random.Generator:
        """Return random numbers of their own for a part of the experiment."""
        return _generator(self._digest("/".join(names), {}))

    def map(self, what: str, work: Work, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """Return ``work(cell, rng)`` of every cell, in order.

        `work` is a function of a module, a cell holds plain values, and the answer is a dictionary
        of numbers, texts and lists. Each cell has random numbers of its own, so the result depends
        neither on the number of processes nor on which cells were finished earlier.
        """
        keys = [self._digest(what, cell) for cell in cells]
        done = {key: known for key in keys if (known := self._load(key)) is not None}
        left = [(key, cell) for key, cell in zip(keys, cells, strict=True) if key not in done]
        results = self._compute(work, left)
        for index in track(len(left), f"{self.name}: {what}"):
            key = left[index][0]
            text = next(results)
            self._keep(key, text)
            done[key] = json.loads(text)
        return [done[key] for key in keys]

    def _compute(self, work: Work, left: Sequence[tuple[str, Cell]]) -> Iterator[str]:
        if self.n_jobs == 1 or len(left) < 2:
            return (_one(work, key, cell) for key, cell in left)
        from sklearn.utils.parallel import Parallel, delayed

        pool = Parallel(n_jobs=self.n_jobs, return_as="generator")
        return pool(delayed(_one)(work, key, cell) for key, cell in left)

    def _digest(self, what: str, cell: Cell) -> str:
        """Key of a cell, from which its random numbers come."""
        described = [_STREAMS, self.name, self.quick, self.seed, what, dict(cell)]
        text = json.dumps(described, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _load(self, key: str) -> dict[str, Any] | None:
        if self.store is None or not (path := self.store / _file_name(key)).exists():
            return None
        return json.loads(path.read_text(encoding="utf-8"))

    def _keep(self, key: str, text: str) -> None:
        if self.store is not None:
            self.store.mkdir(parents=True, exist_ok=True)
            write_whole(self.store / _file_name(key), text)


@contextmanager
def without_doubts() -> Iterator[None]:
    """A simulation meets every statistical doubt there is, thousands of times: say none."""
    with warnings.catch_warnings(action="ignore", category=VeridicalWarning):
        yield


def _one(work: Work, key: str, cell: Cell) -> str:
    """Return the result of one cell as it is kept, so that kept and fresh ones are the same."""
    with one_blas_thread(), without_doubts():
        return json.dumps(work(cell, _generator(key)), default=_plain)


def _file_name(key: str) -> str:
    """Name of a finished cell's file; other code would not find it."""
    return f"{key[:32]}-{_code()}.json"


@cache
def _code() -> str:
    """Fingerprint of the version and of the experiments' own code."""
    digest = hashlib.sha256(__version__.encode())
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _generator(key: str) -> np.random.Generator:
    return np.random.default_rng(int(key, 16))


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers and arrays into those of JSON."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    msg = f"a cell's result holds {type(value).__name__}, which JSON does not know"
    raise TypeError(msg)
