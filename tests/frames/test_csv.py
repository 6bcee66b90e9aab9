"""CSV files: types, stray cells, and text that is not what it seems."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from veridical.exceptions import InvalidInputError
from veridical.frames._tables.csv import narrow
from veridical.frames.tables import column_names, open_table


@pytest.fixture
def csv(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def column(source, name):
    return open_table(source, caller="f").column(name, caller="f", param="y")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["0", "1"], [0, 1]),
        (["007", "7", "8"], ["007", "7", "8"]),  # codes: as numbers two of them would be one
        (["007", "008"], [7, 8]),  # of a fixed width
        (["0", "0.5"], [0.0, 0.5]),
        (["1e-3", "NaN"], [0.001, np.nan]),
        (["0", ""], [0.0, np.nan]),
        (['"0.5"', '""'], [0.5, np.nan]),
        ([" 0.5 ", "1"], [0.5, 1.0]),
        (["True", "FALSE"], [True, False]),
        (["true", ""], [True, None]),
        (["cat", ""], ["cat", None]),
        (["1", "a"], ["1", "a"]),
        (["01", "b"], ["01", "b"]),
        (["99999999999999999999", "1"], [1e20, 1.0]),
    ],
    ids=str,
)
def test_a_column_has_the_narrowest_type_that_holds_its_cells(csv, cells, values):
    path = csv("c,other\n" + "".join(f"{cell},x\n" for cell in cells))
    result = column(path, "c")
    np.testing.assert_array_equal(result, np.array(values, dtype=result.dtype))
    assert result.dtype.kind == np.array(values).dtype.kind


def test_a_label_that_turns_to_text_after_20000_rows_is_text_throughout(csv):
    n = 20_000
    rows = [f"{i % 2},{i / n:.5f}" for i in range(n)] + ["unknown,0.5", "01,0.25"]
    path = csv("label,p\n" + "\n".join(rows) + "\n")
    table = open_table(path, columns=["label", "p"], caller="f")
    labels = table.column("label", caller="f", param="y")
    assert labels[:2].tolist() == ["0", "1"]
    assert labels[-2:].tolist() == ["unknown", "01"]
    assert table.column("p", caller="f", param="prob").dtype == np.float64


def test_integers_that_turn_to_fractions_late_are_floats_throughout(csv):
    path = csv("p\n" + "0\n" * 15_000 + "0.5\n")
    result = column(path, "p")
    assert result.dtype == np.float64
    assert result[-1] == 0.5


@pytest.mark.parametrize("before", [0, 2, 15_000])
def test_a_stray_text_in_a_probability_is_named_with_column_and_row(csv, before):
    path = csv("y,p\n" + "1,0.5\n" * before + "0,oops\n1,0.25\n")
    table = open_table(path, caller="f")
    message = rf"`prob` must be numeric; got 'oops' in column 'p' at index {before} \(1 of "
    with pytest.raises(InvalidInputError, match=message):
        table.matrix(["p"], caller="f", param="prob")


def test_several_files_agree_on_the_type_of_a_column(csv, tmp_path):
    csv("label\n01\n2\n", "part-1.csv")
    csv("label\nx\n", "part-2.csv")
    assert column(tmp_path / "part-*.csv", "label").tolist() == ["01", "2", "x"]


def test_compressed_files_are_read(csv):
    assert column(csv("y,p\n1,0.5\n", "data.csv.gz"), "p").tolist() == [0.5]
    assert column(csv("y\tp\n1\t0.5\n", "data.tsv.gz"), "p").tolist() == [0.5]


def test_quoted_separators_line_breaks_and_byte_order_marks_are_understood(csv):
    path = csv(b'\xef\xbb\xbflabel,p\r\n"a,b",0.5\r\n"c\nd",0.25\r\n')
    assert column_names(path, caller="f") == ["label", "p"]
    assert column(path, "label").tolist() == ["a,b", "c\nd"]


def test_a_short_row_has_missing_values(csv):
    np.testing.assert_array_equal(column(csv("y,p\n1,0.5\n0\n"), "p"), [0.5, np.nan])


def test_a_file_of_blank_lines_is_empty(csv):
    with pytest.raises(InvalidInputError, match="`source` must be a file with rows; got no header"):
        open_table(csv("\n\n"), caller="f")


def test_a_row_with_too_many_cells_is_refused(csv):
    path = csv("y,p\n1,0.5\n0,0,5\n")
    with pytest.raises(InvalidInputError, match=r"`source` must be a readable CSV file; .*field"):
        open_table(path, caller="f")


def test_a_row_with_too_many_cells_far_down_is_refused(csv):
    path = csv("y,p\n" + "1,0.5\n" * 50_000 + "0,0,5\n")
    with pytest.raises(InvalidInputError, match=r"`source` must be a readable CSV file; .*field"):
        open_table(path, caller="f")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le", "utf-16-be"])
def test_another_encoding_is_refused_with_the_one_to_use(csv, encoding):
    path = csv("label,p\nné,0.5\n".encode(encoding))
    message = r"`source` must be a readable CSV file; got .*\nHint: save the file as UTF-8"
    with pytest.raises(InvalidInputError, match=message):
        open_table(path, caller="f")


@pytest.mark.parametrize("kept", [30, 2_000, -10])
def test_a_damaged_compressed_file_is_refused(csv, kept):
    rng = np.random.default_rng(0)
    cells = "".join(f"1,{p:.12f}\n" for p in rng.random(60_000))
    path = csv("y,p\n" + cells, "data.csv.gz")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InvalidInputError, match="`source` must be a readable CSV file; got"):
        open_table(path, caller="f")


@pytest.mark.parametrize("commas", [False, True])
def test_columns_of_a_wide_table_are_narrowed_as_if_each_were_alone(commas):
    cells = ["0.5", " 1e-3 ", "2", "-3", "007", "7", "1,5", "", " ", None, "nan", "NA", "inf", "x",
             "true", "False", "+.5", "1_0", "0x1"]  # fmt: skip
    table = pl.DataFrame(
        {f"{i} {j}": [one, other] for i, one in enumerate(cells) for j, other in enumerate(cells)},
        schema_overrides={"9 9": pl.String},
    )
    found = narrow(table, decimal_commas=commas)
    assert set(found.dtypes) == {pl.Int64, pl.Float64, pl.Boolean, pl.String}
    for column in table.iter_columns():
        expected = narrow(column.to_frame(), decimal_commas=commas)
        assert_frame_equal(found.select(column.name), expected)
