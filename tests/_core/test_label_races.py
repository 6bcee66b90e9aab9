"""Labels that change during a call, by a thread or through a file, never become indices unchecked.

`make sanitize` runs this with AddressSanitizer and UndefinedBehaviorSanitizer.
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
from veridical._core import loops

ROOT, N, FAR = Path(__file__).parents[2], 100_000, 1 << 40


@pytest.fixture(scope="module")
def _compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use loops that are compiled now, by the compiler of the environment."""
    folder = tmp_path_factory.mktemp("loops")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        from hatch_build import NAME, compile_kernel

        if not compile_kernel(ROOT, folder / NAME):
            pytest.skip("there is no compiler")
        patch.setattr(loops, "__file__", str(folder / "loops.py"))
        loops.library.cache_clear()
        assert loops.library() is not None
        yield
    loops.library.cache_clear()


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


@pytest.mark.usefixtures("_compiled")
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


@pytest.mark.usefixtures("_compiled")
def test_bytes_of_booleans_are_no_indices() -> None:
    p, y = np.full(N, 0.5), np.full(N, 255, dtype=np.uint8)
    y[::2] = 0
    assert v.expected_calibration_error(y.view(bool), p) == pytest.approx(0.0)
