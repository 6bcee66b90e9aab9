"""What is read lies in the folder, what is uploaded is bounded, and errors are explained."""

from __future__ import annotations

import gzip
import json
import os

import polars as pl
import pytest

from veridical.exceptions import InvalidInputError
from veridical.studio._data.files import parse_size
from veridical.studio._server.server import check_places

PAGE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def outside(tmp_path_factory, studio):
    """A table beside the folder, and links to it in the folder."""
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    secret.write_text("y,p\n0,0.5\n1,0.5\n")
    (studio.settings.folder / "link.csv").symlink_to(secret)
    (studio.settings.folder / "away").symlink_to(secret.parent, target_is_directory=True)
    return secret


@pytest.mark.parametrize("how", ["absolute", "dots", "link", "folder", "empty", "zero", "long",
                                 "hidden-dots", "backslash"])  # fmt: skip
def test_files_elsewhere_are_not_read(studio, outside, refused, how):
    folder = studio.settings.folder
    name = {
        "absolute": str(outside),
        "dots": os.path.relpath(outside, folder),
        "link": "link.csv",
        "folder": "away/secret.csv",
        "empty": "",
        "zero": "ill.csv\0",
        "long": "a" * 5000 + ".csv",
        "hidden-dots": f"ill.csv/../../{outside.parent.name}/secret.csv",
        "backslash": "..\\secret.csv",
    }[how]
    found = refused(studio.client.post("/api/open", json={"name": name}), 404)
    assert "chosen folder" in found["error"]


def test_the_list_shows_tables_of_the_folder_only(studio, outside):
    below = studio.settings.folder / "below"
    below.mkdir(exist_ok=True)
    (below / "more.parquet").write_bytes(b"x")
    (below / "notes.txt").write_text("x")
    (studio.settings.folder / ".hidden.csv").write_text("y,p\n")
    names = [file["name"] for file in studio.get("files")["files"]]
    assert names == ["animals.csv", "ill.csv", "below/more.parquet"]


def test_a_declared_size_over_the_limit_is_refused_before_anything_is_sent(studio, refused):
    headers = {"Content-Length": str(2 * 10**9)}
    answer = studio.client.put("/api/upload?name=big.csv", content=b"y,p\n", headers=headers)
    found = refused(answer, 413)
    assert "2 GB" in found["error"]
    assert "100 kB" in found["error"]
    assert "--max-upload" in found["hint"]
    assert not list(studio.settings.workspace.glob("upload-*"))


def test_a_stream_that_does_not_end_is_cut(studio, refused):
    sent = []

    def chunks():
        for _ in range(1000):
            sent.append(1)
            yield b"0,0.5\n" * 1000

    found = refused(studio.client.put("/api/upload?name=big.csv", content=chunks()), 413)
    assert "over the limit of 100 kB" in found["error"]
    assert not list(studio.settings.workspace.glob("upload-*"))


HOSTILE = [f"{PAGE}.csv", "../../evil.csv", "..\\evil.csv", "a" * 5000 + ".csv", ".csv",
           "=cmd|' /C calc'!A0.csv", "\u202egpj.csv"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_name_nothing_but_the_table(studio, name):
    body = f"label,p,{PAGE}\n1,0.5,{PAGE}\n0,0.25,=1+1\n".encode()
    answer = studio.client.put("/api/upload", params={"name": name}, content=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["columns"] == ["label", "p", PAGE]
    assert found["rows"][1][2] == "=1+1"  # as it stands in the file
    paths = [p for p in studio.settings.workspace.rglob("*") if p.is_file()]
    assert paths
    assert all(path.parent.parent == studio.settings.workspace for path in paths)
    assert all(path.name.replace("-", "").replace("_", "").isascii() for path in paths)


def test_only_the_last_few_tables_are_kept(studio):
    for _ in range(5):
        studio.client.put("/api/upload?name=a.csv", content=b"label,p\n1,0.5\n0,0.25\n")
    assert len(list(studio.settings.workspace.rglob("*.csv"))) <= 3


@pytest.mark.parametrize(("name", "body", "said"), [
    ("cut.parquet", b"PAR1" + b"\0" * 100, "Parquet"),
    ("empty.csv", b"", "0 bytes"),
    ("picture.png", b"\x89PNG", "no table"),
    ("noending", b"y,p\n", "no table"),
])  # fmt: skip
def test_files_that_are_no_tables_are_explained(studio, refused, name, body, said):
    answer = studio.client.put("/api/upload", params={"name": name}, content=body)
    found = refused(answer, answer.status_code)
    assert answer.status_code in (400, 415)
    assert said in found["error"]
    assert name in found["error"] or "no table" in said or "0 bytes" in said
    assert str(studio.settings.workspace) not in found["error"]
    assert found["hint"]


def test_a_truncated_parquet_is_explained(studio, refused, tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "whole.parquet"
    pl.DataFrame({"y": [0, 1] * 500, "p": [0.25, 0.75] * 500}).write_parquet(path)
    body = path.read_bytes()[: path.stat().st_size // 2]
    answer = studio.client.put("/api/upload?name=cut.parquet", content=body)
    found = refused(answer, 400)
    assert "readable Parquet" in found["error"]
    assert not list(studio.settings.workspace.rglob("cut.parquet"))


def test_a_csv_of_a_continental_office(studio):
    body = "\ufefflabel;p\r\n1;0,75\r\n0;0,25\r\n1;0,5\r\n".encode()
    found = studio.client.put("/api/upload?name=office.csv", content=body).json()
    assert found["guess"]["prob"] == ["p"]
    studio.post("use", id=found["id"], y="label", prob=["p"])
    brier = studio.get("figures")["scores"][0]["value"]
    assert brier == pytest.approx((0.25**2 + 0.25**2 + 0.5**2) / 3)


def test_a_body_that_is_no_json_is_refused(studio, refused):
    for body in (b"", b"[1]", b"{", b"\xff"):
        refused(studio.client.post("/api/open", content=body), 400)
    refused(studio.client.post("/api/open", content=b" " * 10_000_001), 413)


def test_where_a_start_reads_from(tmp_path, monkeypatch):
    table = tmp_path / "data" / "a.csv"
    table.parent.mkdir()
    table.write_text("y,p\n")
    monkeypatch.chdir(tmp_path)
    assert check_places(None, None) == (tmp_path, None)
    assert check_places(table, None) == (table.parent, "a.csv")
    assert check_places(table, tmp_path) == (tmp_path, "data/a.csv")
    for file, folder in ((table, tmp_path / "data" / "none"), (tmp_path / "no.csv", None)):
        with pytest.raises(InvalidInputError, match="studio"):
            check_places(file, folder)
    (tmp_path / "other").mkdir()
    with pytest.raises(InvalidInputError, match="in the folder"):
        check_places(table, tmp_path / "other")


@pytest.mark.parametrize("text", ["", "many", "-1MB", "0", "1TB2"])
def test_sizes_that_are_none(text):
    with pytest.raises(InvalidInputError, match="max_upload"):
        parse_size(text)


def test_what_unpacks_to_more_than_the_limit_is_refused(studio, refused):
    packed = gzip.compress(b"y,p\n" + b"0,0.5\n1,0.5\n" * 20_000)
    assert len(packed) < 10_000
    found = refused(studio.client.put("/api/upload?name=zeros.csv.gz", content=packed), 413)
    assert "over the limit of 100 kB" in found["error"]
    assert not list(studio.settings.workspace.rglob("zeros*"))


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv.gz"])
def test_more_rows_than_memory_holds_are_refused(studio, refused, monkeypatch, ending):
    monkeypatch.setattr("veridical.studio._data.files._MOST_ROWS", 1000)
    path = studio.settings.folder / f"many.{ending}"
    frame = pl.DataFrame({"y": [0, 1] * 600, "p": [0.5] * 1200})
    if ending == "csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        (frame.write_parquet if ending == "parquet" else frame.write_ipc)(path)
    found = refused(studio.client.post("/api/open", json={"name": path.name}), 413)
    path.unlink()
    assert "over 1,000 rows" in found["error"]
    assert "veridical report" in found["hint"]


WRONG = [True, 1, 1e308, "p", [1], [["p"]], {"p": 1}, 10**400]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: str(value)[:20])
def test_wrong_types_are_bad_requests(studio, refused, wrong):
    table = studio.use("ill.csv", "state", ["p"])
    known = {"id": table["id"], "y": "state", "prob": ["p"]}
    for path, body in (("labels", known), ("use", known), ("fit", {"methods": ["platt"]})):
        field = "methods" if path == "fit" else "prob"
        answer = studio.client.post(f"/api/{path}", content=json.dumps({**body, field: wrong}))
        assert "list of names" in refused(answer, 400)["error"]
    answer = studio.client.post(
        "/api/fit", content=json.dumps({"methods": ["platt"], "folds": 10**400})
    )
    assert "folds" in refused(answer, 400)["error"]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "1", "", "null"])
def test_what_is_no_json_object_is_a_bad_request(studio, refused, text):
    assert "JSON" in refused(studio.client.post("/api/use", content=text), 400)["error"]
