"""Real engines, each started once: DuckDB, Ibis, Dask processes, Spark here and as a cluster."""

from __future__ import annotations

import itertools
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engines.engine_frames import Columns, make_frame
from needs import lacking, needed

_LOOPBACK = "127.0.0.1"


@pytest.fixture
def frame_of(request: pytest.FixtureRequest) -> Callable[[str, Columns], Any]:
    """Make a frame of an engine from NumPy columns."""

    def make(engine: str, columns: Columns) -> Any:
        return make_frame(engine, columns, request.getfixturevalue)

    return make


@pytest.fixture(scope="session")
def duckdb_connection() -> Iterator[Any]:
    """A database in memory that is not DuckDB's default one."""
    with _need("duckdb").connect() as connection:
        yield connection


@pytest.fixture(scope="session")
def ibis_table() -> Iterator[Callable[[Any], Any]]:
    """Make an Ibis table, on DuckDB, of an arrow table."""
    ibis = _need("ibis")
    numbers = itertools.count()
    with _need("duckdb").connect() as connection:
        backend = ibis.duckdb.from_connection(connection)

        def make(table: Any) -> Any:
            name = f"t{next(numbers)}"
            connection.register("arrow_table", table)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow_table")
            connection.unregister("arrow_table")
            return backend.table(name)

        yield make


@pytest.fixture(scope="session")
def dask_cluster() -> Iterator[Any]:
    """Two worker processes on this machine; Dask frames are computed there while it lives."""
    distributed = _need("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=f"{_LOOPBACK}:0",
        host=_LOOPBACK,
    )
    with cluster, distributed.Client(cluster):
        yield cluster


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Spark in this process, with two threads."""
    session = spark_session("local[2]")
    yield session
    session.stop()


def spark_session(master: str) -> Any:
    """Start a session that talks to nothing beyond this machine."""
    _need_java()
    sql = _need("pyspark.sql")
    os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    session = (
        sql.SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", _LOOPBACK)
        .config("spark.driver.bindAddress", _LOOPBACK)
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.executor.memory", "512m")  # what a worker of the cluster has
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


@pytest.fixture
def spark_cluster(tmp_path: Path) -> tuple[str, dict[str, str]]:
    """Address of a cluster whose executor is a process of its own, and where a job finds it.

    Whoever asks for it makes it, below the folder that Spark is in: one with links to the files.
    """
    _need_java()
    home = tmp_path / "spark"
    home.mkdir()
    for part in Path(_need("pyspark").__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    found = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": _LOOPBACK}
    found["SPARK_SCALA_VERSION"] = "2.13"  # else a source tree is looked for
    return "local-cluster[1,1,512]", {**os.environ, **found}


def _need(module: str) -> Any:
    """Import an engine, or skip; fail where every engine must be there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a library says of its own imports
        return needed(module)


def _need_java() -> None:
    if shutil.which("java") is None:
        lacking("Java, which Spark needs, is not installed")
