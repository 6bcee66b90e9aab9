"""Labels that change during a call, by a thread or through a file, never become indices unchecked.

`make sanitize` runs this on loops that are compiled with sanitizers.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import veridical as v

N, FAR = 100_000, 1 << 40


@contextmanager
def _changing(y: np.ndarray) -> Iterator[None]:
    """Let another thread write labels that do not exist, and the right ones again."""
    stop, right = threading.Event(), y.copy()

    def change() -> None:
        while not stop.is_set():
            y[::7] = FAR
            y[:] = right

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("mapped", [False, True], ids=["thread", "file"])
def test_labels_that_change_during_a_call(mapped: bool, n_classes: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(n_classes), N)
    y = rng.integers(0, n_classes, N)
    writer = y
    if mapped:
        y.tofile(tmp_path / "labels")
        writer = np.memmap(tmp_path / "labels", dtype=np.int64, mode="r+")
        y = np.memmap(tmp_path / "labels", dtype=np.int64, mode="r")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with _changing(writer):
            for _ in range(10):
                try:
                    found = v.expected_calibration_error(y, p if n_classes > 2 else p[:, 1])
                except v.exceptions.InvalidInputError:
                    continue
                assert 0 <= found <= 1
    finally:
        sys.setswitchinterval(interval)


def test_bytes_of_booleans_are_no_indices() -> None:
    p, y = np.full(N, 0.5), np.full(N, 255, dtype=np.uint8)
    y[::2] = 0
    assert v.expected_calibration_error(y.view(bool), p) == pytest.approx(0.0)
