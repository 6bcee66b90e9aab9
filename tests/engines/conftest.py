"""Real engines, each started once: DuckDB, Ibis, Dask processes, Spark here and as a cluster."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import time
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


@pytest.fixture(scope="session")
def spark_cluster() -> Iterator[str]:
    """A standalone master and two workers, each a process of its own; gives the address."""
    _need_java()
    home = Path(_need("pyspark").__file__).parent
    port = _free_port()
    address = f"spark://{_LOOPBACK}:{port}"
    started: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as folder:

        def start(name: str, *arguments: str) -> None:
            command = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
            command += ["-cp", f"{home / 'jars'}/*"]
            command += [f"org.apache.spark.deploy.{name}", "--host", _LOOPBACK, *arguments]
            with (Path(folder) / f"{len(started)}.log").open("wb") as log:
                environment = {**os.environ, "SPARK_LOCAL_IP": _LOOPBACK, "SPARK_HOME": str(home)}
                environment["SPARK_SCALA_VERSION"] = "2.13"  # else a source tree is looked for
                started.append(
                    subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=environment)
                )

        try:
            start("master.Master", "--port", str(port), "--webui-port", "0")
            _wait_for(port)
            for worker in ("one", "two"):
                work = ["--cores", "1", "--memory", "512m", "--webui-port", "0"]
                start("worker.Worker", *work, "--work-dir", f"{folder}/{worker}", address)
            yield address
        finally:
            for process in reversed(started):
                process.terminate()
            for process in started:
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((_LOOPBACK, port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the Spark master did not start within a minute")


def _need(module: str) -> Any:
    """Import an engine, or skip; fail where every engine must be there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a library says of its own imports
        return needed(module)


def _need_java() -> None:
    if shutil.which("java") is None:
        lacking("Java, which Spark needs, is not installed")
