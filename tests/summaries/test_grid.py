"""The table of sufficient statistics: sums, merging, saving."""

from __future__ import annotations

import datetime as dt
import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from veridical import InvalidInputError, SmoothError, UniformBins
from veridical.binning import QuantileBins
from veridical.evaluation._figures.summary import grid_summary
from veridical.summaries._grid.grid import GridSummary

SUMS = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")


@pytest.fixture
def data():
    """Ties at edges of ten bins, certain predictions, and weights of which some are zero."""
    rng = np.random.default_rng(7)
    p = np.concatenate([np.arange(11) / 10, [0.7] * 20, rng.random(400), rng.beta(0.1, 5, 100)])
    y = (rng.random(len(p)) < p).astype(int)
    w = rng.integers(0, 4, len(p)) / 2
    return y, p, w


def naive_sums(y, p, w, n_bins, dtype=float):
    """Sums by bin in exact arithmetic, row by row; edges k/B rounded to the type of the scores."""
    edges = [dtype(k / n_bins) for k in range(n_bins + 1)]
    sums = {name: [Fraction(0)] * n_bins for name in SUMS}
    for yi, pi, wi in zip(y, p, w, strict=True):
        if wi == 0:
            continue
        b = next(k for k in range(n_bins) if dtype(pi) <= edges[k + 1])
        q, weight = Fraction(float(pi)), Fraction(float(wi))
        values = (1, weight, weight**2, weight * q, weight * int(yi), weight * q * (1 - q))
        for name, value in zip(SUMS, values, strict=True):
            sums[name][b] += value
    return {name: np.array([float(v) for v in values]) for name, values in sums.items()}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_bins", "coarser"), [(10, 10), (10, 5), (15, 3)])
def test_sums_of_its_bins_are_exact(data, dtype, weighted, n_bins, coarser):
    y, p, w = data
    p = p.astype(dtype)
    summary = grid_summary(y, p, n_bins=n_bins, sample_weight=w if weighted else None)
    found = summary.summary(UniformBins(coarser))
    expected = naive_sums(y, p, w if weighted else np.ones(len(p)), coarser, dtype)
    for name in SUMS:
        np.testing.assert_allclose(getattr(found, name)[0], expected[name], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.count[0], expected["count"])


def test_rows_that_stand_for_all_lie_within_a_cell_of_theirs(data):
    y, p, _ = data
    summary = grid_summary(y, p)
    z, q, count = summary.arrays()
    assert count.sum() == len(p)
    assert count[z == 1].sum() == y.sum()
    # Sorted, both lists pair up: as cells do not overlap, no row moved further than their width.
    written_out = np.sort(np.repeat(q, count.astype(int)))
    assert np.abs(written_out - np.sort(p)).max() <= 1 / summary.resolution
    inner = (np.sort(p) > 1e-15) & (np.sort(p) < 1)  # beyond, one cell is left
    odds = [np.log(v[inner] / (1 - v[inner])) for v in (written_out, np.sort(p))]
    assert np.abs(odds[0] - odds[1]).max() <= 64 / summary.resolution
    assert count[q == 0.5].sum() == (p == 0.5).sum()  # alone in its cell


def test_frequencies_of_weighted_rows_sum_to_their_effective_number(data):
    y, p, w = data
    _, _, frequency = grid_summary(y, p, sample_weight=w).arrays()
    assert frequency.sum() == pytest.approx(w.sum() ** 2 / (w**2).sum(), rel=1e-12)


def test_any_estimator_takes_the_rows_that_stand_for_all(data):
    y, p, _ = data
    z, q, count = grid_summary(y, p).arrays()
    found = SmoothError()(z, q, sample_weight=count, weight_type="frequency")
    assert found == pytest.approx(SmoothError()(y, p), abs=1e-4)


def test_equal_mass_bins_come_from_cells(data):
    y, p, _ = data
    summary = grid_summary(y, p).summary(QuantileBins(4))
    edges = summary.partitions[0].edges
    count = np.histogram(p, edges)[0]
    assert summary.count.sum() == len(p)
    assert np.abs(summary.count[0] - count).max() <= 2  # rows of one cell


def parts(data, n=3):
    y, p, w = data
    group = np.array(["b", "a", "c"])[np.arange(len(y)) % 3]
    for k in range(n):
        rows = np.arange(len(y)) % n == k
        yield grid_summary(y[rows], p[rows], sample_weight=w[rows], by=group[rows], n_bins=10)


def test_parts_merge_into_the_whole(data):
    y, p, w = data
    group = np.array(["b", "a", "c"])[np.arange(len(y)) % 3]
    whole = grid_summary(y, p, sample_weight=w, by=group, n_bins=10)
    first, second, third = parts(data)
    assert first.groups == ("b",)
    merged = first.merge(second).merge(third)
    assert merged.groups == whole.groups == ("a", "b", "c")
    assert merged.n_samples == whole.n_samples == (w > 0).sum()
    for name in ("group", "bin", "cell", "outcome", "count", "rows", "class_count"):
        np.testing.assert_array_equal(getattr(merged.table, name), getattr(whole.table, name))
    for name in ("sum_w", "sum_w2", "sum_wp", "sum_wp2", "sum_w2pq", "class_weight"):
        np.testing.assert_allclose(
            getattr(merged.table, name), getattr(whole.table, name), rtol=1e-12
        )
    for rule, sums in whole.table.scores.items():
        np.testing.assert_allclose(merged.table.scores[rule], sums, rtol=1e-12)


def test_merging_is_commutative_and_for_counts_associative(data):
    first, second, third = parts(data)
    assert first + second == second + first
    left, right = (first + second) + third, first + (second + third)
    np.testing.assert_array_equal(left.table.count, right.table.count)
    np.testing.assert_allclose(left.table.sum_wp, right.table.sum_wp, rtol=1e-14)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"n_bins": 5}, "n_bins"),
        ({"pos_label": 0}, "positive"),
        ({"lens": "confidence"}, "problems"),
        ({"resolution": 1024}, "resolution"),
        ({"by": ["x"] * 4}, "with groups"),
        ({"labels": [1, 0], "pos_label": 1}, "classes"),
    ],
    ids=str,
)
def test_only_what_was_made_alike_is_merged(other, what):
    y, p = [0, 1, 1, 0], [0.2, 0.4, 0.9, 0.3]
    with pytest.raises(InvalidInputError, match=f"merge: `other` must be.*{what}"):
        grid_summary(y, p).merge(grid_summary(y, p, **other))
    with pytest.raises(InvalidInputError, match="must be a GridSummary"):
        grid_summary(y, p).merge(None)


def test_a_group_by_itself_is_the_summary_of_its_rows(data):
    y, p, _ = data
    group = np.arange(len(y)) % 2
    both = grid_summary(y, p, by=group)
    assert both.group(1) == grid_summary(y[group == 1], p[group == 1])
    with pytest.raises(KeyError, match="is not a group; there is"):
        both.group(2)


KEYS = [3, "x", True, dt.date(2026, 1, 2), dt.datetime(2026, 1, 2, 3), ("a", 1)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_what_is_written_is_read_back(tmp_path, key):
    frame = pl.DataFrame({"y": ["no", "yes", "yes"], "p": [0.25, 1.0, 0.0]})  # an infinite score
    several = key if isinstance(key, tuple) else (key,)
    frame = frame.with_columns(*(pl.lit(k).alias(f"by{i}") for i, k in enumerate(several)))
    summary = grid_summary(frame, y="y", prob="p", by=[f"by{i}" for i in range(len(several))])
    path = tmp_path / "summary.parquet"
    summary.to_parquet(path)
    for again in (
        GridSummary.from_dict(summary.to_dict()),
        GridSummary.from_json(summary.to_json()),
        GridSummary.from_parquet(path),
    ):
        assert again == summary
        assert again.table.groups == (key,)
        assert again.table.scores["log"][0] == np.inf
    assert [file.name for file in tmp_path.iterdir()] == ["summary.parquet"]


def test_another_version_and_other_files_are_refused(tmp_path):
    data = grid_summary([0, 1], [0.2, 0.7]).to_dict()
    with pytest.raises(InvalidInputError, match="must be of format version 1; got version 2"):
        GridSummary.from_dict(data | {"version": 2})
    with pytest.raises(InvalidInputError, match="a table of sufficient statistics; got something"):
        GridSummary.from_json(json.dumps({"classes": [0, 1]}))
    short = data | {"entries": data["entries"] | {"count": [1.0]}}
    with pytest.raises(InvalidInputError, match="`count` must be an array of shape"):
        GridSummary.from_dict(short)
    with pytest.raises(InvalidInputError, match="an existing file"):
        GridSummary.from_parquet(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("no parquet")
    with pytest.raises(InvalidInputError, match="a readable Parquet file"):
        GridSummary.from_parquet(tmp_path / "text.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(InvalidInputError, match="a file of a summary"):
        GridSummary.from_parquet(tmp_path / "other.parquet")


def test_it_says_what_it_is_about():
    summary = grid_summary([0, 1, 1, 1], [0.2, 0.4, 0.9, 0.3], by=["<x>", "y", "y", "y"])
    text = str(summary)
    assert "Table of sufficient statistics of 4 rows" in text
    assert "0 0.2500, 1 0.7500" in text
    assert "15 of equal width" in text
    assert "&lt;x&gt;" in summary._repr_html_()
    assert repr(summary) == "<GridSummary of 4 rows>"


def test_three_classes_hold_the_confidence_and_every_class(multiclass):
    summary = grid_summary(multiclass.y, multiclass.p, n_bins=10)
    assert summary.problems == ("confidence", 0, 1, 2)
    top = multiclass.p.argmax(axis=1)
    right = (top == multiclass.y).astype(int)
    confidence = multiclass.p[np.arange(600), top]
    expected = naive_sums(right, confidence, np.ones(600), 10)
    np.testing.assert_allclose(
        summary.summary(UniformBins(10), "confidence").sum_wy[0], expected["sum_wy"]
    )
    classes = summary.summary(UniformBins(10), "classwise")
    for k in range(3):
        expected = naive_sums(multiclass.y == k, multiclass.p[:, k], np.ones(600), 10)
        np.testing.assert_array_equal(classes.count[k], expected["count"])
        np.testing.assert_allclose(classes.sum_wp[k], expected["sum_wp"], atol=1e-12)
    with pytest.raises(InvalidInputError, match="`problem` must be one there is"):
        summary.cells("binary")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": "sqrt"}, "`n_bins` must be a positive integer"),
        ({"resolution": 100}, "`resolution` must be a multiple of 64"),
        ({"lens": "canonical"}, "`lens` must be one that sums answer"),
        ({"engine": "spark"}, "`engine` must be"),
    ],
    ids=str,
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InvalidInputError, match=f"grid_summary: {message}"):
        grid_summary([0, 1], [0.2, 0.7], **options)
