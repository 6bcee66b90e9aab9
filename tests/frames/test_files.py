"""Parquet and Arrow files, globs, and paths that lead nowhere."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from veridical.exceptions import InvalidInputError
from veridical.frames.tables import column_names, open_table

FRAME = pl.DataFrame({"label": ["b", "a", "b"], "p": [0.5, 0.25, 1.0], "note": ["", "", ""]})
WRITE = {
    ".csv": pl.DataFrame.write_csv,
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".parquet": pl.DataFrame.write_parquet,
    ".pq": pl.DataFrame.write_parquet,
    ".arrow": pl.DataFrame.write_ipc,
    ".feather": pl.DataFrame.write_ipc,
    ".ipc": pl.DataFrame.write_ipc,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".ndjson": pl.DataFrame.write_ndjson,
}


@pytest.fixture(params=list(WRITE))
def ending(request):
    return request.param


def write(frame, path):
    WRITE[path.suffix.lower()](frame, path)
    return path


def labels(table):
    return table.column("label", caller="f", param="y").tolist()


def test_every_kind_of_file_gives_the_same_table(tmp_path, ending):
    path = write(FRAME, tmp_path / f"data{ending}")
    for source in (path, str(path)):
        table = open_table(source, caller="f")
        assert table.columns == ["label", "p", "note"]
        assert labels(table) == ["b", "a", "b"]
        probabilities = table.matrix(["p"], caller="f", param="prob")
        np.testing.assert_array_equal(probabilities, [[0.5], [0.25], [1.0]])


def test_endings_may_be_capitals(tmp_path, ending):
    path = tmp_path / f"DATA{ending.upper()}"
    write(FRAME, path)
    assert open_table(path, caller="f").n_rows == 3


def test_only_the_wanted_columns_are_read_in_the_order_asked_for(tmp_path, ending):
    path = write(FRAME, tmp_path / f"data{ending}")
    assert open_table(path, columns=["p", "label"], caller="f").columns == ["p", "label"]


def test_column_names_of_a_file(tmp_path, ending):
    path = write(FRAME, tmp_path / f"data{ending}")
    assert column_names(path, caller="f") == ["label", "p", "note"]


def test_a_column_missing_in_a_file_is_reported_with_the_nearest(tmp_path, ending):
    path = write(FRAME, tmp_path / f"data{ending}")
    message = r"f: `columns` must be a column of the data; got 'lable' \(columns: 'label', 'p'"
    with pytest.raises(InvalidInputError, match=message) as caught:
        open_table(path, columns=["p", "lable"], caller="f")
    assert "did you mean 'label'?" in str(caught.value)


def test_several_files_become_one_table_in_sorted_order(tmp_path, ending):
    for name, label in (("part-2", "second"), ("part-1", "first"), ("part-3", "third")):
        write(FRAME.with_columns(label=pl.lit(label)), tmp_path / f"{name}{ending}")
    table = open_table(tmp_path / f"part-*{ending}", columns=["label"], caller="f")
    assert labels(table) == ["first"] * 3 + ["second"] * 3 + ["third"] * 3
    assert column_names(str(tmp_path / f"part-*{ending}"), caller="f")[0] == "label"


def test_files_may_hold_their_columns_in_another_order(tmp_path, ending):
    write(FRAME, tmp_path / f"part-1{ending}")
    write(FRAME.select("p", "note", "label"), tmp_path / f"part-2{ending}")
    table = open_table(tmp_path / f"part-?{ending}", caller="f")
    assert table.columns == ["label", "p", "note"]
    assert labels(table) == ["b", "a", "b"] * 2


def test_a_file_without_rows_among_others_does_no_harm(tmp_path, ending):
    write(FRAME.clear(), tmp_path / f"part-1{ending}")
    write(FRAME, tmp_path / f"part-2{ending}")
    table = open_table(tmp_path / f"part-*{ending}", caller="f")
    assert table.column("p", caller="f", param="prob").dtype == np.float64
    assert labels(table) == ["b", "a", "b"]


def test_a_file_that_lacks_a_column_of_the_others_is_named(tmp_path, ending):
    write(FRAME, tmp_path / f"part-1{ending}")
    write(FRAME.drop("p"), tmp_path / f"part-2{ending}")
    message = r"`source` must be files with the same columns; got no column 'p' in .*part-2"
    with pytest.raises(InvalidInputError, match=message):
        open_table(tmp_path / f"part-*{ending}", caller="f")
    assert open_table(tmp_path / f"part-*{ending}", columns=["label"], caller="f").n_rows == 6


def test_a_double_star_searches_folders(tmp_path):
    (tmp_path / "day=1").mkdir()
    write(FRAME, tmp_path / "day=1" / "a.parquet")
    table = open_table(tmp_path / "**" / "*.parquet", caller="f")
    assert table.columns == ["label", "p", "note"]


def test_a_name_with_brackets_that_exists_is_no_pattern(tmp_path, ending):
    path = write(FRAME, tmp_path / f"data[1]{ending}")
    write(FRAME.head(1), tmp_path / f"data1{ending}")
    assert open_table(path, caller="f").n_rows == 3


def test_parquet_and_arrow_keep_categories_float32_and_booleans(tmp_path):
    frame = pl.DataFrame(
        {
            "label": pl.Series(["b", "a"], dtype=pl.Categorical),
            "kind": pl.Series(["x", None], dtype=pl.Enum(["x", "y"])),
            "p": pl.Series([0.5, 0.25], dtype=pl.Float32),
            "flag": [True, False],
        }
    )
    for path in (tmp_path / "data.parquet", tmp_path / "data.arrow"):
        table = open_table(write(frame, path), caller="f")
        assert labels(table) == ["b", "a"]
        assert table.column("kind", caller="f", param="by").tolist() == ["x", None]
        assert table.matrix(["p"], caller="f", param="prob").dtype == np.float32
        assert table.column("flag", caller="f", param="y").dtype == bool


def test_files_whose_numbers_differ_in_width_are_joined(tmp_path):
    write(pl.DataFrame({"p": pl.Series([0.5], dtype=pl.Float32)}), tmp_path / "a1.parquet")
    write(pl.DataFrame({"p": [0.25]}), tmp_path / "a2.parquet")
    table = open_table(tmp_path / "a*.parquet", caller="f")
    assert table.column("p", caller="f", param="prob").tolist() == [0.5, 0.25]


def test_files_whose_types_cannot_be_joined_are_refused(tmp_path):
    enum = pl.Series("label", ["x"], dtype=pl.Enum(["x"])).to_frame()
    write(enum, tmp_path / "a1.parquet")
    write(enum.cast(pl.Enum(["x", "y"])), tmp_path / "a2.parquet")
    with pytest.raises(InvalidInputError, match="must be files whose columns have the same types"):
        open_table(tmp_path / "a*.parquet", caller="f")


def test_an_arrow_stream_is_read_too(tmp_path):
    FRAME.write_ipc_stream(tmp_path / "data.arrow")
    assert column_names(tmp_path / "data.arrow", caller="f") == ["label", "p", "note"]
    assert labels(open_table(tmp_path / "data.arrow", columns=["label"], caller="f")) == list("bab")


def test_a_missing_file_is_reported_with_the_nearest_name(tmp_path):
    write(FRAME, tmp_path / "predictions.csv")
    message = r"(?s)^f: `data` must be an existing file; got '.*predictoins\.csv'\.\nHint: did you "
    with pytest.raises(InvalidInputError, match=message) as caught:
        open_table(tmp_path / "predictoins.csv", caller="f", param="data")
    assert str(caught.value).endswith("predictions.csv'?")


def test_a_missing_file_without_a_near_name_says_where_it_was_sought(tmp_path):
    with pytest.raises(InvalidInputError, match=r"an existing file.*\nHint: check the path; it is"):
        open_table(tmp_path / "zzz.csv", caller="f")


def test_a_missing_folder_is_said_to_be_missing(tmp_path):
    with pytest.raises(
        InvalidInputError, match=r"existing file.*\nHint: the folder .* does not ex"
    ):
        column_names(tmp_path / "nowhere" / "data.csv", caller="f")


def test_a_pattern_that_matches_nothing_is_reported_with_the_nearest_name(tmp_path):
    write(FRAME, tmp_path / "part-1.parquet")
    (tmp_path / "part-9.csv").mkdir()
    message = r"`source` must be a pattern that matches files; got .*\n.*did you mean .*part-1"
    with pytest.raises(InvalidInputError, match=message):
        open_table(tmp_path / "part-*.csv", caller="f")
    with pytest.raises(
        InvalidInputError, match=r"a pattern that matches files.*\n.*check the path"
    ):
        open_table(tmp_path / "*" / "zzz-*.csv", caller="f")


def test_a_folder_is_refused_with_a_pattern_to_use(tmp_path):
    message = r"`source` must be a file; got the folder .*\nHint: .*\*\.parquet"
    with pytest.raises(InvalidInputError, match=message):
        open_table(tmp_path, caller="f")


@pytest.mark.parametrize("name", ["data.xlsx", "data", "data.gz", "data.parquet.gz"])
def test_an_unknown_ending_is_refused_with_those_known(tmp_path, name):
    (tmp_path / name).write_text("y,p\n1,0.5\n")
    message = (
        r"`source` must be a file ending in \.csv, .*\.ndjson; got .*\nHint: save the data as CSV"
    )
    with pytest.raises(InvalidInputError, match=message):
        open_table(tmp_path / name, caller="f")


def test_files_of_two_kinds_are_refused(tmp_path):
    write(FRAME, tmp_path / "part-1.csv")
    write(FRAME, tmp_path / "part-2.parquet")
    message = "must be files of one kind; got 'part-1.csv' and 'part-2.parquet'"
    with pytest.raises(InvalidInputError, match=message):
        open_table(tmp_path / "part-*", caller="f")


def test_an_empty_file_is_refused(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    path.touch()
    with pytest.raises(
        InvalidInputError, match="`source` must be a file with rows; got 0 bytes in"
    ):
        open_table(path, caller="f")


def test_a_file_without_rows_is_refused(tmp_path, ending):
    path = write(FRAME.clear(), tmp_path / f"data{ending}")
    with pytest.raises(
        InvalidInputError, match=r"`source` must be a file with rows; got 0 (rows|bytes) in"
    ):
        open_table(path, caller="f")


@pytest.mark.parametrize(("ending", "kind"), [(".parquet", "Parquet"), (".arrow", "Arrow")])
def test_a_damaged_file_is_refused(tmp_path, ending, kind):
    path = write(FRAME, tmp_path / f"data{ending}")
    path.write_bytes(path.read_bytes()[:-20])
    message = rf"`source` must be a readable {kind} file; got .*data{ending}', whose end is missing"
    with pytest.raises(InvalidInputError, match=message):
        open_table(path, caller="f")
    path.write_bytes(b"this is no table at all")
    message = rf"`source` must be a readable {kind} file; got .*reading stops with: \w"
    with pytest.raises(InvalidInputError, match=message):
        column_names(path, caller="f")


def test_a_panic_of_the_reader_becomes_an_error_message(tmp_path, monkeypatch):
    path = write(FRAME, tmp_path / "data.parquet")

    def panic(*args, **kwargs):
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl, "scan_parquet", panic)
    with pytest.raises(InvalidInputError, match=r"readable Parquet file; .*index out of bounds"):
        open_table(path, caller="f")


def test_a_home_folder_is_understood(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(FRAME, tmp_path / "data.csv")
    assert open_table("~/data.csv", caller="f").n_rows == 3


def test_an_address_on_the_network_is_refused():
    message = r"`source` must be a file on this machine; got 'https://.*\nHint: download the file"
    with pytest.raises(InvalidInputError, match=message):
        open_table("https://example.org/data.csv", caller="f")


def test_json_lines_as_python_writes_them_are_read(tmp_path):
    """NaN, which JSON does not know, is a blank; a byte-order mark is none of the first name."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"label": 1, "p": NaN}\n\n{"label": 0, "p": 0.5}\n')
    table = open_table(path, columns=["label", "p"], caller="f", param="file")
    p = table.column("p", caller="f", param="p")
    assert np.isnan(p[0])
    assert p[1] == 0.5
    path.write_text('{"label": 1, "p": NaN}\n{"label": 0\n')
    with pytest.raises(InvalidInputError, match="line 2"):
        column_names(path, caller="f", param="file")
