"""A store in PostgreSQL: the same answers as a file, many writers, cut lines, roles, passwords."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from postgres_server import PostgresServer

from veridical.cli import main
from veridical.exceptions import InvalidInputError, VeridicalError
from veridical.monitoring import CalibrationMonitor, merge_stores
from veridical.monitoring._store import postgres as _postgres, tables as _tables
from veridical.monitoring._store.address import read_address
from veridical.report import monitor_report

SECRET = "s3cr3t-and-long"


def rows(seed: int, n: int = 250, power: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**power).astype(int), p


@pytest.fixture
def server(need: Callable[[str], Any], postgres_server: PostgresServer) -> PostgresServer:
    need("psycopg")
    return postgres_server


@pytest.fixture
def address(server: PostgresServer) -> Iterator[str]:
    """Of a schema that does not exist yet."""
    schema = f"test_{secrets.token_hex(8)}"
    yield server.address(schema)
    server.psql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def schema_of(address: str) -> str:
    return address.partition("schema=")[2]


def lived(monitor: CalibrationMonitor) -> CalibrationMonitor:
    """Everything that a monitor may do, once."""
    for i in range(8):
        by = np.random.default_rng(i).choice(["a", "b", "é", "x" * 300], 250)
        monitor.update(*rows(i, power=2), by=by, batch_id=f"{i}", timestamp=f"{i:03d}")
    monitor.refit("beta")
    for i in range(8, 12):
        monitor.update(*rows(i, power=2), timestamp=f"{i:03d}")
    monitor.switch(force=True)
    monitor.observe(["u", "v", "é"], [0.1, 0.9, 0.5], timestamp="020")
    monitor.resolve(["v", "w"], [1, 0])  # one of them before its prediction
    monitor.observe(["w", "x"], [0.3, 0.4], by=["a", "b"], timestamp="021")
    monitor.mature("020", missing=0)
    monitor.rollback()
    monitor.update(*rows(20))
    return monitor


def test_a_life_in_postgres_is_that_in_a_file(address: str, tmp_path: Path):
    with (
        lived(CalibrationMonitor(address, labels=[0, 1], window=1000)) as shared,
        lived(CalibrationMonitor(tmp_path / "m.sqlite", labels=[0, 1], window=1000)) as file,
    ):
        assert shared.status() == file.status()
        assert shared.versions() == file.versions()
        assert shared.history().to_dict() == file.history().to_dict()
        assert shared.curves()["now"].to_dict() == file.curves()["now"].to_dict()
        pages = [monitor_report(each) for each in (shared, file)]
    own = {"source": "", "store_id": ""}
    assert pages[0].to_dict() | own == pages[1].to_dict() | own
    with CalibrationMonitor(address) as again:
        assert again.settings["window"] == 1000
        assert again.status() == pages[1].status
    merged = merge_stores([address, tmp_path / "m.sqlite"])
    assert merged.n_samples == 500  # of the epochs that go on


def test_many_buckets_are_halved_alike(address: str, monkeypatch: pytest.MonkeyPatch):
    from veridical.monitoring._store import buckets

    monkeypatch.setattr(buckets, "MOST_BUCKETS", 8)
    with CalibrationMonitor(address) as shared, CalibrationMonitor() as memory:
        for i in range(20):
            for each in (shared, memory):
                each.update(*rows(i), by=["a", "b"] * 125 if i % 3 else None)
        assert shared.status() == memory.status()
        assert shared.history().to_dict() == memory.history().to_dict()


def test_four_writers_count_every_batch_once(address: str):
    def send(first: int) -> None:
        with CalibrationMonitor(address, labels=[0, 1]) as monitor:  # all of them make the schema
            for i in [*range(first, 24, 4), *range(24)]:  # its own, and then everybody's again
                monitor.update(*rows(i), timestamp=f"{i}", batch_id=f"{i}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    with CalibrationMonitor(address) as monitor:
        order = [int(text) for text in monitor.history().ended]
        assert sorted(order) == list(range(24))
        serial = CalibrationMonitor(labels=[0, 1])
        for i in order:
            serial.update(*rows(i), timestamp=f"{i}")
        assert monitor.status() == serial.status()


@pytest.mark.parametrize("kind", ["file", "postgres"])
def test_what_the_first_of_two_says_holds_for_the_other(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "m.sqlite" if kind == "file" else request.getfixturevalue("address")
    from veridical.monitoring._watch import counting

    read, other = counting._read_batch, []

    def overtaken(*arguments: Any, **options: Any) -> Any:
        found = read(*arguments, **options)
        if not other:
            other.append("came")
            with CalibrationMonitor(path) as first:
                first.update(["a", "b", "c"] * 20, np.full((60, 3), 1 / 3))
        return found

    with CalibrationMonitor(path) as late:
        monkeypatch.setattr(counting, "_read_batch", overtaken)
        with pytest.raises(InvalidInputError):  # two classes, where the store has three by now
            late.update([0, 1] * 30, [0.5] * 60)
        assert late.classes == ("a", "b", "c")
        assert late.status().n_samples == 60


def cut(server: PostgresServer) -> None:
    server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'veridical'"
    )


def test_a_cut_line_loses_nothing_and_counts_nothing_twice(
    address: str, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    with CalibrationMonitor(address) as monitor:
        monitor.update(*rows(0), batch_id="0")
        cut(server)  # in between: nobody notices
        assert monitor.status().n_samples == 250
        cut(server)
        assert monitor.update(*rows(1), batch_id="1").n_samples == 500
        before = monitor.status()
        with monkeypatch.context() as patch:  # in the middle of a batch

            def severed(*_: object, **__: object) -> None:
                cut(server)
                monitor._memory.store.set_setting("n_batches", "7")

            patch.setattr(monitor._memory.buckets, "add", severed)
            with pytest.raises(VeridicalError, match="send it again under the same batch_id"):
                monitor.update(*rows(2), batch_id="2")
        assert monitor.status() == before
        database = monitor._memory.store.database
        with monkeypatch.context() as patch:  # after the server took it, before it could say so
            commit = database._commit

            def unheard() -> None:
                commit()
                cut(server)
                database._sent("SELECT 1")

            patch.setattr(database, "_commit", unheard)
            with pytest.raises(VeridicalError, match="whole or not at all"):
                monitor.update(*rows(2), batch_id="2")
        again = monitor.update(*rows(2), batch_id="2")
        assert again.repeated
        assert again.n_samples == 750


def test_a_server_that_is_gone_is_told_in_words_whatever_is_asked(
    address: str, monkeypatch: pytest.MonkeyPatch
):
    with CalibrationMonitor(address) as monitor:
        monitor.update(*rows(0), batch_id="0")
        database = monitor._memory.store.database
        elsewhere = database._address.options | {"host": "/nowhere"}
        monkeypatch.setattr(database, "_address", replace(database._address, options=elsewhere))
        database._connection.close()
        for ask in (monitor.status, monitor.versions, lambda: monitor.update(*rows(1)),
                    lambda: monitor.classes, lambda: monitor.observe(["a"], [0.2])):  # fmt: skip
            with pytest.raises(VeridicalError, match="that the server runs"):
                ask()
        monkeypatch.undo()
        assert monitor.update(*rows(1), batch_id="1").n_samples == 500  # and back again


def test_who_waits_in_vain_is_told_so(address: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_postgres, "_PATIENCE", 0.2)
    with CalibrationMonitor(address) as one, CalibrationMonitor(address) as other:
        with one._memory.store.transaction():
            with pytest.raises(VeridicalError, match="another process is writing; try again"):
                other.update(*rows(0))
            assert other.status().n_samples == 0  # reading goes on
        assert other.update(*rows(0)).n_samples == 250


def test_an_error_within_leaves_nothing_of_the_batch(address: str, monkeypatch: pytest.MonkeyPatch):
    with CalibrationMonitor(address) as monitor:
        monitor.update(*rows(0), batch_id="0")
        before = monitor.status()

        def stop(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(monitor._memory.buckets, "add", stop)
            with pytest.raises(KeyboardInterrupt):
                monitor.update(*rows(1), batch_id="1")
        assert monitor.status() == before
        with pytest.raises(VeridicalError, match="without the character 0"):
            monitor.update(*rows(1), batch_id="a\0b")
        assert monitor.status() == before
        assert not monitor.update(*rows(1), batch_id="1").repeated


def test_a_role_that_may_only_read(address: str, server: PostgresServer, tmp_path: Path):
    schema, looks = schema_of(address), address.replace("tester@", "dashboard@")
    server.psql("DROP ROLE IF EXISTS dashboard; CREATE ROLE dashboard LOGIN")
    with pytest.raises(VeridicalError, match="there is no store at"):
        CalibrationMonitor(looks, read_only=True)
    with pytest.raises(VeridicalError, match="permission denied"):
        CalibrationMonitor(looks)
    with CalibrationMonitor(address) as monitor:
        monitor.update(*rows(0))
        with pytest.raises(VeridicalError, match="Hint: ask for the rights"):
            CalibrationMonitor(looks, read_only=True)
        server.psql(
            f"GRANT USAGE ON SCHEMA {schema} TO dashboard;"
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO dashboard"
        )
        with CalibrationMonitor(looks, read_only=True) as looking:
            assert looking.status() == monitor.status()
            assert looking.history().n_rows.tolist() == [250]
            monitor.update(*rows(1))
            assert looking.status().n_samples == 500  # a server is looked at as it is
            with pytest.raises(VeridicalError, match="for reading only"):
                looking.update(*rows(2))
            monitor_report(looking).save(tmp_path / "page.html")
        assert merge_stores([looks]).n_samples == 500
        with (
            CalibrationMonitor(looks) as bold,
            pytest.raises(VeridicalError, match="permission denied"),
        ):
            bold.update(*rows(2))
        assert monitor.status().n_samples == 500
    server.psql(f"DROP SCHEMA {schema} CASCADE; DROP ROLE dashboard")


def test_a_schema_of_another_program_is_left_as_it_is(address: str, server: PostgresServer):
    schema = schema_of(address)
    server.psql(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.settings (name TEXT, value TEXT)")
    for read_only in (False, True):
        with pytest.raises(VeridicalError, match="holds 'settings' of another program"):
            CalibrationMonitor(address, read_only=read_only)
    tables = f"SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace"
    assert server.psql(tables) == "settings\n"
    assert server.psql(f"SELECT count(*) FROM {schema}.settings") == "0\n"


def test_tables_of_an_earlier_version_are_brought_up_to_date(
    address: str, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    schema = schema_of(address)
    with CalibrationMonitor(address) as monitor:
        monitor.update(*rows(0))
        before = monitor.status()
    server.psql(
        f"DROP TABLE {schema}.states;"
        f"UPDATE {schema}.veridical_monitor SET value = '2' WHERE name = 'version'"
    )
    with pytest.raises(VeridicalError, match="as somebody who may write"):
        CalibrationMonitor(address, read_only=True)
    with monkeypatch.context() as patch:  # one that fails leaves the old ones

        def half(database: Any) -> None:
            database.define("CREATE TABLE colours (name TEXT)")
            database.run("INSERT INTO colours VALUES (?, ?)", "red", "blue")

        patch.setitem(_tables._MIGRATIONS, 2, half)
        with pytest.raises(VeridicalError, match="could not be used"):
            CalibrationMonitor(address)
    with CalibrationMonitor(address) as monitor:
        assert monitor.status() == before
        assert "colours" not in monitor._memory.store.database.columns()
        assert monitor.update(*rows(1)).n_samples == 500
    version = f"SELECT value FROM {schema}.veridical_monitor WHERE name = 'version'"
    assert server.psql(version) == f"{_tables.VERSION}\n"
    server.psql(f"UPDATE {schema}.veridical_monitor SET value = '99' WHERE name = 'version'")
    with pytest.raises(VeridicalError, match="install a newer veridical"):
        CalibrationMonitor(address)


def test_a_password_is_never_shown(
    address: str,
    server: PostgresServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.DEBUG)
    secret = address.replace("tester@", f"tester:{SECRET}@")
    shown = []
    with CalibrationMonitor(secret) as monitor:
        monitor.update(*rows(0))
        page = monitor_report(monitor)
        shown += [repr(monitor), monitor.path, page.html, page.to_json(), page.markdown]
        shown += [repr(monitor._memory.store.database._address), str(monitor.settings)]
        with pytest.raises(VeridicalError) as caught:
            monitor.update(*rows(0), batch_id="a\0")
        cut(server)
    shown += ["".join(traceback.format_exception(caught.value))]
    shown += [merge_stores([secret]).verdict]
    refused = [
        secret.replace("schema=", "schema=No "),
        secret.replace("tester:", "nobody-of-that-name:"),
        secret.replace("@/postgres", "@127.0.0.1:1/postgres"),
        secret.replace("@/postgres", "@/absent"),
        f"postgresql://tester:{SECRET}@{SECRET}@127.0.0.1/postgres",  # an @ that is not quoted
        f"postgresql://tester:a/{SECRET}@127.0.0.1/postgres",
        f"postgresql://tester:1?{SECRET}@127.0.0.1:1/postgres",
        f"postgresql://tester:{SECRET}%@127.0.0.1/postgres",
        f"postgresql://127.0.0.1:1/postgres?user=tester&password={SECRET}",
        f"postgresql://127.0.0.1:x/postgres?user=tester&password={SECRET}",
        f"postgres://tester:{SECRET}@127.0.0.1:1",
        f"mysql://tester:{SECRET}@127.0.0.1/db",
    ]
    for each in refused:
        for read_only in (False, True):
            with pytest.raises(VeridicalError) as caught:
                CalibrationMonitor(each, read_only=read_only)
            shown.append("".join(traceback.format_exception(caught.value)))
        with pytest.raises(VeridicalError) as caught:
            merge_stores([each, each])
        shown.append("".join(traceback.format_exception(caught.value)))
    commands = [["status", secret], ["status", secret, secret], ["init", secret], [secret]]
    commands += [["update", secret, "absent.csv"], ["report", secret, "-o", "page.pdf"]]
    commands += [["status", each] for each in refused] + [["status", "--bad", secret]]
    for command in commands:
        with pytest.raises(SystemExit) if command[0] == secret else _nothing():
            assert main(["monitor", *command]) is not None
    output = capsys.readouterr()
    shown += [output.out, output.err, caplog.text]
    for text in shown:
        assert SECRET not in text
    assert "tester@" in monitor.path  # but who and where is


class _nothing:
    """A command that may return or stop."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, *_: object) -> bool:
        return kind is SystemExit


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("postgresql://me:pw@h:5433/d?schema=m", "postgresql://me@h:5433/d?schema=m"),
        ("postgres://h/d", "postgresql://h/d?schema=veridical"),
        ("postgresql://a,b/d?sslmode=require", "postgresql://a,b/d?schema=veridical"),
        ("postgresql:///d?host=/run/x&password=q", "postgresql:///d?host=/run/x&schema=veridical"),
    ],
)
def test_addresses_without_their_password(need: Callable[[str], Any], address: str, name: str):
    need("psycopg")
    assert read_address(address).name == name


def test_commands_take_addresses(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data, page = tmp_path / "rows.csv", tmp_path / "page.html"
    y, p = rows(0, 600)
    data.write_text("label,p\n" + "".join(f"{a},{b:.4f}\n" for a, b in zip(y, p, strict=True)))
    columns = ["--y", "label", "--prob", "p"]
    assert main(["monitor", "update", address, str(data), *columns]) == 2
    assert "monitor init" in capsys.readouterr().err
    assert main(["monitor", "init", address, "--labels", "0,1"]) == 0
    assert main(["monitor", "init", address]) == 2
    assert main(["monitor", "update", address, str(data), *columns, "--batch-id", "a"]) == 0
    assert main(["monitor", "update", address, str(data), *columns, "--batch-id", "a"]) == 0
    assert "not counted again; 600 in all" in capsys.readouterr().out
    assert main(["monitor", "status", address, "--format", "prometheus"]) == 0
    assert "veridical_rows 600.0" in capsys.readouterr().out
    assert main(["monitor", "report", address, "-o", str(page)]) == 0
    assert "schema=" in page.read_text()
