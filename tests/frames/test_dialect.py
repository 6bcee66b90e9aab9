"""Text tables as spreadsheets and other countries write them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.frames._tables.with_columns import write_with_columns
from veridical.frames.tables import column_names, open_table

PLAIN = "label,p,name\n1,0.5,a\n0,0.25,b\n1,0.75,c\n"
SEMICOLONS = "label;p;name\n1;0,5;a\n0;0,25;b\n1;0,75;c\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        content = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (PLAIN, "data.csv"),
        (PLAIN, "data.csv.gz"),
        (PLAIN.replace(",", ";"), "data.csv"),
        (PLAIN.replace(",", "\t"), "data.csv"),
        (PLAIN.replace(",", "|"), "data.csv"),
        (PLAIN, "data.tsv"),
        (PLAIN.replace("\n", "\r\n"), "data.csv"),
        (PLAIN.replace("\n", "\r"), "data.csv"),
        (SEMICOLONS, "data.csv"),
        (SEMICOLONS, "data.csv.gz"),
        (SEMICOLONS.replace(";", "\t"), "data.csv"),
        ("sep=;\n" + SEMICOLONS, "data.csv"),
        (PLAIN.encode("utf-8-sig"), "data.csv"),
        (SEMICOLONS.encode("utf-8-sig"), "data.csv"),
        (PLAIN.encode("utf-16"), "data.csv"),
        (SEMICOLONS.encode("utf-16"), "data.csv.gz"),
        (PLAIN.replace("0.5,", '"0,5",').replace("0.25", '"0,25"').replace("0.75", ".75"),
         "data.csv"),
    ],
)  # fmt: skip
def test_the_same_table_is_read_however_it_is_written(write, content, name):
    path = write(content, name)
    assert column_names(path, caller="f") == ["label", "p", "name"]
    table = open_table(path, caller="f")
    np.testing.assert_array_equal(table.column("label", caller="f", param="y"), [1, 0, 1])
    np.testing.assert_array_equal(
        table.column("p", caller="f", param="prob"), np.array([0.5, 0.25, 0.75])
    )
    assert table.column("name", caller="f", param="by").tolist() == ["a", "b", "c"]


def test_a_comma_in_a_comma_separated_file_may_separate_thousands(write):
    table = open_table(write('y,income\n1,"1,234"\n0,"2,500"\n'), caller="f")
    assert table.column("income", caller="f", param="y").tolist() == ["1,234", "2,500"]


def test_decimal_commas_below_the_sniffed_rows_are_read(write):
    content = "y;p\n" + "1;1\n" * 12_000 + "0;0,5\n" * 3
    p = open_table(write(content), caller="f").column("p", caller="f", param="prob")
    assert p.sum() == 12_001.5


def test_text_below_sniffed_decimal_commas_makes_a_column_of_text(write):
    content = "y;p\n" + "1;0,5\n" * 12_000 + "0;many\n"
    p = open_table(write(content), caller="f").column("p", caller="f", param="prob")
    assert p[0] == "0,5"
    assert p[-1] == "many"


def test_a_name_in_quotes_may_hold_quotes_and_separators(write):
    path = write('label,"p ""yes""","a;b"\n1,0.5,x\n0,0.25,y\n')
    assert column_names(path, caller="f") == ["label", 'p "yes"', "a;b"]
    values = open_table(path, columns=['p "yes"'], caller="f")
    assert values.column('p "yes"', caller="f", param="prob").tolist() == [0.5, 0.25]


def test_the_usual_separator_is_kept_where_another_would_fit_too(write):
    path = write("label,p;q\n1,0.5;x\n0,0.25;y\n")
    assert column_names(path, caller="f") == ["label", "p;q"]


def test_another_separator_is_taken_where_only_it_fits_every_row(write):
    path = write("label;p, raw\n1;0.5\n0;0.25\n")
    assert column_names(path, caller="f") == ["label", "p, raw"]


def test_files_of_a_glob_may_be_written_differently(write):
    write(PLAIN, "part-0.csv")
    path = write(SEMICOLONS, "part-1.csv")
    table = open_table(path.parent / "part-*.csv", caller="f")
    p = table.column("p", caller="f", param="prob")
    # One file has decimal points and the other commas: that one cell is "0,5" says enough.
    np.testing.assert_array_equal(p, [0.5, 0.25, 0.75] * 2)


def test_cells_of_a_semicolon_file_are_copied_as_they_stand(write, tmp_path):
    target = tmp_path / "new.csv"
    write_with_columns(write(SEMICOLONS), target, {"q": np.array([0.5, 0.125, 1.0])}, caller="f")
    assert target.read_text().splitlines()[:2] == ["label,p,name,q", '1,"0,5",a,0.5']
    np.testing.assert_array_equal(
        open_table(target, caller="f").column("p", caller="f", param="prob"), [0.5, 0.25, 0.75]
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (PLAIN.encode("utf-16-le"), "zero bytes in the header"),
        (PLAIN.encode("utf-16")[:-1], "UTF-16 that is cut short"),
    ],
)
def test_text_that_cannot_be_read_is_refused_with_the_encoding_to_use(write, content, why):
    with pytest.raises(InvalidInputError, match=rf"{why}.*\nHint: save the file as UTF-8"):
        open_table(write(content), caller="f")
