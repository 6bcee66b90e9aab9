"""A table with more columns: every form of file, order of rows, cells as they stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical.exceptions import InvalidInputError
from veridical.frames._tables.with_columns import (
    check_new_columns,
    check_target,
    write_with_columns,
)

TEXT = 'id,p,note\n007,0.50,"a, ""b"""\n008,1e-3,\n009,.25,""\n'
ADDED = {"q": np.array([0.1, 1 / 3, 1e-300]), "action": np.array(["no", "yes", "no"])}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(TEXT)
    return tmp_path


def test_text_to_text_copies_cells_as_they_stand():
    write_with_columns("a.csv", "b.csv", ADDED, caller="apply")
    assert Path("b.csv").read_text() == (
        'id,p,note,q,action\n007,0.50,"a, ""b""",0.1,no\n008,1e-3,,0.3333333333333333,yes\n'
        '009,.25,"",1e-300,no\n'
    )


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "tsv"])
@pytest.mark.parametrize("source", ["parquet", "arrow"])
def test_every_form_can_be_written_from_every_form(source, ending):
    frame = pl.DataFrame({"n": [3, 1, 2], "t": ["x", None, "z"], "p": [0.5, 0.25, 1.0]})
    getattr(frame, {"parquet": "write_parquet", "arrow": "write_ipc"}[source])(f"in.{source}")
    write_with_columns(f"in.{source}", f"out.{ending}", ADDED, caller="apply")
    read = {
        "parquet": pl.read_parquet,
        "arrow": pl.read_ipc,
        "csv": pl.read_csv,
        "tsv": lambda path: pl.read_csv(path, separator="\t"),
    }[ending]
    assert read(f"out.{ending}").equals(
        frame.with_columns(**{k: pl.Series(v) for k, v in ADDED.items()})
    )


def test_text_gets_types_in_parquet():
    write_with_columns("a.csv", "b.parquet", {"q": ADDED["q"]}, caller="apply")
    found = pl.read_parquet("b.parquet")
    assert found["p"].to_list() == [0.5, 0.001, 0.25]
    assert found["q"].to_list() == ADDED["q"].tolist()


def test_many_rows_keep_their_order():
    n = 300_000
    pl.DataFrame({"i": np.arange(n)}).write_parquet("many.parquet", row_group_size=10_000)
    write_with_columns("many.parquet", "out.csv", {"j": np.arange(n)}, caller="apply")
    found = pl.read_csv("out.csv")
    assert found["i"].to_list() == found["j"].to_list() == list(range(n))


def test_several_files_are_put_one_below_the_other():
    pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}).write_parquet("part-0.parquet")
    pl.DataFrame({"b": ["z"], "a": [3]}).write_parquet("part-1.parquet")
    write_with_columns("part-*.parquet", "all.parquet", {"q": np.arange(3)}, caller="apply")
    assert pl.read_parquet("all.parquet").rows() == [(1, "x", 0), (2, "y", 1), (3, "z", 2)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_other_columns_that_cannot_be_read_leave_no_file(ending):
    Path("bad.csv").write_text("p,x\n0.5,1\n0.2,2,3,4\n0.1,3\n")
    Path(f"out.{ending}").write_text("precious")
    with pytest.raises(InvalidInputError, match="`FILE` must be a"):
        write_with_columns("bad.csv", f"out.{ending}", {"q": np.arange(3)}, caller="apply")
    assert Path(f"out.{ending}").read_text() == "precious"
    assert sorted(path.name for path in Path.cwd().iterdir()) == [
        "a.csv",
        "bad.csv",
        f"out.{ending}",
    ]


def test_the_input_is_never_the_output(folder):
    Path("link.csv").symlink_to("a.csv")
    for target in ("a.csv", "./a.csv", str(folder / "a.csv"), "link.csv"):
        with pytest.raises(InvalidInputError, match="another file than the input"):
            check_target("*a.csv", target, caller="apply")
    check_target("a.csv", "b.csv", caller="apply")


def test_bad_targets_and_names_are_refused():
    with pytest.raises(InvalidInputError, match="must be a file ending in"):
        check_target("a.csv", "b.xlsx", caller="apply")
    with pytest.raises(FileNotFoundError, match="No such folder"):
        check_target("a.csv", "no/b.csv", caller="apply")
    with pytest.raises(InvalidInputError, match="got 'p' in the input"):
        check_new_columns(["p", "q"], ["id", "p"], caller="apply")
    with pytest.raises(InvalidInputError, match="repeated names"):
        check_new_columns(["q", "q"], ["id", "p"], caller="apply")
