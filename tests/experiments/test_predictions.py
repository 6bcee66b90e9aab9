"""Predictions from files: what is read, and what is said of files that cannot be."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical_lab._frame import predictions as _predictions
from veridical_lab._frame.predictions import digits_predictions, read_predictions

SCRIPT = Path(__file__).parents[2] / "examples" / "make_digits_network.py"
ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.25, 0.5, 0.25]])


def archive(folder, **arrays):
    path = folder / "net.npz"
    np.savez(path, **arrays)
    return path


def read(path):
    return read_predictions(path, caller="run_experiment")


def test_example_is_an_over_confident_network_in_hundred_thousandths():
    digits = digits_predictions()
    parts = digits.p * 100_000
    assert np.abs(parts - parts.round()).max() < 1e-6
    assert (parts.round().sum(axis=1) == 100_000).all()
    assert parts.min() > 0.5  # no probability is zero: scores stay finite
    right = (digits.p.argmax(axis=1) == digits.y).mean()
    assert 0.03 < digits.p.max(axis=1).mean() - right < 0.1
    assert sorted(set(digits.y.tolist())) == list(range(10))


def test_example_is_small():
    assert _predictions._SHIPPED.stat().st_size < 80_000


def test_rounding_of_the_example_keeps_sums_and_order():
    if not SCRIPT.exists():
        pytest.skip("the examples are not installed")
    in_parts = runpy.run_path(str(SCRIPT))["in_parts"]
    rng = np.random.default_rng(0)
    p = np.vstack([rng.dirichlet(np.full(10, 0.1), 50), np.eye(10)[:1]])
    parts = in_parts(p)
    assert (parts.sum(axis=1) == 100_000).all()
    assert parts.min() >= 1
    assert np.abs(parts / 100_000 - p).max() < 1.1e-4
    assert parts[-1].tolist() == [99_991] + [1] * 9


def test_archive_of_single_precision_is_divided_by_its_sums(tmp_path):
    single = (ROWS * [[1.0], [1.0004], [0.9996]]).astype(np.float32)
    found = read(archive(tmp_path, predictions=single, ground_truth=np.array([0, 2, 1])))
    assert found.name == "net"
    assert found.y.tolist() == [0, 2, 1]
    assert found.p.dtype == np.float64
    assert np.abs(found.p.sum(axis=1) - 1).max() < 1e-15
    assert np.abs(found.p - ROWS).max() < 1e-7


def test_double_precision_is_used_as_it_is(tmp_path):
    found = read(archive(tmp_path, predictions=ROWS, ground_truth=np.array([0, 2, 1])))
    assert np.array_equal(found.p, ROWS)


def test_a_class_may_be_absent_from_an_archive(tmp_path):
    found = read(archive(tmp_path, predictions=ROWS, ground_truth=np.array([2, 2, 0])))
    assert found.y.tolist() == [2, 2, 0]


def test_table_with_named_classes(tmp_path):
    path = tmp_path / "pets.v2.csv"
    path.write_text("label,p_dog,p_cat,p_ant\ncat,0.7,0.2,0.1\ndog,0.1,0.1,0.8\n")
    found = read(path)
    assert found.name == "pets.v2"
    assert found.p.tolist() == [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]
    assert found.y.tolist() == [1, 0]


def test_one_column_is_the_second_of_two_classes(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("y_true,prob\n1,0.75\n0,0.5\n")
    found = read(path)
    assert found.p.tolist() == [[0.25, 0.75], [0.5, 0.5]]
    assert found.y.tolist() == [1, 0]


def test_parquet(tmp_path):
    import polars as pl

    path = tmp_path / "net.parquet"
    columns = {f"p_{k}": ROWS[:, k] for k in range(3)}
    pl.DataFrame({"label": [0, 2, 1], **columns}).write_parquet(path)
    assert np.array_equal(read(path).p, ROWS)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"predictions": ROWS, "labels": np.arange(3)}, "with 'ground_truth'; got 'predictions',"),
        ({"predictions": ROWS, "ground_truth": np.array([0, None, 1])}, "of plain arrays"),
        ({"predictions": ROWS * 2, "ground_truth": np.arange(3)}, "`y_prob` must be"),
        ({"predictions": ROWS, "ground_truth": np.arange(2)}, "3 rows for 2 labels"),
        ({"predictions": ROWS, "ground_truth": np.array([7, 8, 8])}, "label"),
    ],
)
def test_archives_that_cannot_be_used(tmp_path, arrays, said):
    with pytest.raises(InvalidInputError) as caught:
        read(archive(tmp_path, **arrays))
    message = str(caught.value)
    assert message.startswith("run_experiment, net.npz: ")
    assert said in message
    assert "\nHint: " in message


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 torn"])
def test_files_that_are_no_archive(tmp_path, content):
    path = tmp_path / "net.npz"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"net\.npz: `data` must be a NumPy archive"):
        read(path)


def test_a_lone_array_is_no_archive(tmp_path):
    path = tmp_path / "net.npz"
    with path.open("wb") as stream:
        np.save(stream, ROWS)
    with pytest.raises(InvalidInputError, match=r"np\.savez"):
        read(path)


def test_other_endings_are_named(tmp_path):
    path = tmp_path / "net.xlsx"
    path.write_bytes(b"x")
    with pytest.raises(InvalidInputError, match=r"net\.xlsx"):
        read(path)
