"""Fixtures shared by every test: data from fixed seeds, and optional libraries."""

from __future__ import annotations

import gc
import os
import sys

# Workers share the cores: threads of the linear algebra of each would wait for those of others,
# and those of OpenMP (trees, neighbours) burn a core while they wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Jobs of a second do not win back what Java's second compiler and its parallel collectors cost.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SPARK = f'--driver-java-options "{_JAVA}" --conf "spark.executor.extraJavaOptions={_JAVA}"'
os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"{_SPARK} pyspark-shell")
# Spark's workers would take the first python3 of the path, which may lack this one's packages.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed import Shell, install
from needs import lacking, needed
from postgres_server import NoServer, PostgresServer, postgres_server as _started
from xdist.scheduler import LoadScopeScheduling

_CHROMIUM = Path(os.environ.get("VERIDICAL_CHROMIUM", "/usr/bin/chromium"))
_CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass(frozen=True)
class Data:
    """Labels, predictions on a grid of hundredths (so with many ties) and weights."""

    y: np.ndarray
    p: np.ndarray
    w: np.ndarray

    def take(self, rows: Any) -> Data:
        return Data(self.y[rows], self.p[rows], self.w[rows])

    def copy(self) -> Data:
        return Data(self.y.copy(), self.p.copy(), self.w.copy())


@cache
def _binary(n: int = 600) -> Data:
    rng = np.random.default_rng(20240)
    p = rng.beta(1.2, 1.0, n).clip(0.01, 0.99).round(2)
    y = (rng.random(n) < 0.2 + 0.6 * p).astype(np.int64)  # over-confident at both ends
    return Data(y, p, rng.uniform(0.2, 3.0, n))


@cache
def _multiclass(n: int = 600, n_classes: int = 3) -> Data:
    rng = np.random.default_rng(20241)
    p = rng.multinomial(100, rng.dirichlet(np.full(n_classes, 0.9), n)) / 100
    # Over-confident where sure of itself, under-confident elsewhere; zero stays zero, so what is
    # given no chance never happens.
    truth = p ** np.where(p.max(axis=1, keepdims=True) > 0.6, 0.6, 1.8)
    truth /= truth.sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    return Data(y, p, rng.uniform(0.2, 3.0, n))


@pytest.fixture
def binary() -> Data:
    """600 rows of a binary problem, y in {0, 1}; a copy of its own for every test."""
    return _binary().copy()


@pytest.fixture
def multiclass() -> Data:
    """600 rows of a problem with three classes, y in {0, 1, 2}."""
    return _multiclass().copy()


def _simulates(item: pytest.Item) -> bool:
    return "statistical" in item.path.parts


class _ByModule(LoadScopeScheduling):
    """Tests of a module on one worker, so that what they share is made once.

    Those on Spark share a Java machine, those on Dask two processes.
    """

    def _split_scope(self, nodeid: str) -> str:
        for engine in ("spark", "dask"):
            if engine in nodeid.rpartition("/")[2]:
                return engine
        return super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Hand modules to workers."""
    return _ByModule(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Look for no garbage among tests, which live as long as the session."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# What takes long comes first: at the end a worker would wait for the other.
_LONG = ("spark", "dask", "experiments/", "docs/", "browser/", "report/", "test_battery", "common/")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every seventh long simulation is sample enough; VERIDICAL_ALL_SLOW=1 runs all of them."""
    items.sort(key=lambda item: not any(word in item.nodeid for word in _LONG))
    if os.environ.get("VERIDICAL_ALL_SLOW") == "1":
        return
    slow = [item for item in items if item.get_closest_marker("slow") or _simulates(item)]
    left_out = {item for place, item in enumerate(slow) if place % 7}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def need() -> Callable[[str], Any]:
    """Import a library the tests can do without: skip, or fail if VERIDICAL_REQUIRE_ALL=1."""
    return needed


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Programs of the installed wheel: one environment for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    return install(base if worker_id == "master" else base.parent)


@pytest.fixture
def shell(programs: Path, tmp_path: Path) -> Shell:
    """An empty folder, and commands that run there as new processes of the installed wheel."""
    return Shell(programs, tmp_path)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for the tests of a module: as long as it runs, no other event loop can."""
    playwright = needed("playwright.sync_api").sync_playwright
    if not _CHROMIUM.exists():
        lacking(f"there is no Chromium at {_CHROMIUM}")
    with playwright() as started:
        launched = started.chromium.launch(executable_path=str(_CHROMIUM), args=_CHROMIUM_FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server of its own, reached by a socket in a temporary folder."""
    try:
        with _started("fsync=off") as server:
            yield server
    except NoServer as error:
        lacking(str(error))
