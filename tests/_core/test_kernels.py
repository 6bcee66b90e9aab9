"""Compiled kernels and blocked NumPy give the same; so do narrow and wide matrices."""

from __future__ import annotations

import numpy as np
import pytest

import veridical as v
from veridical._core import loops
from veridical._core.data.validation import check_sample
from veridical._core.numeric import blocks, scan
from veridical.lenses import Classwise

DTYPES = [np.float32, np.float64]
SUMS = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")


@pytest.fixture
def compiled(monkeypatch):
    """Choose whether compiled loops are used, whatever the size of the data."""
    if loops.library() is None:
        pytest.skip("there was no compiler")

    def choose(used):
        monkeypatch.setattr(loops, "_WORTHWHILE", 0 if used else 1 << 60)
        chosen = loops.loops_for(np.zeros(3))
        assert (chosen is not None) == used
        return used

    return choose


def _both(compiled, function):
    """What `function` returns with compiled kernels and without."""
    compiled(True)
    fast = function()
    compiled(False)
    return fast, function()


def _binary(dtype, n=3000):
    """Scores off and on the edges of usual bins, zero and one included."""
    rng = np.random.default_rng(31)
    p = np.concatenate([rng.random(n), rng.integers(0, 101, n) / 100, [0.0, 1.0]]).astype(dtype)
    return (rng.random(len(p)) < p).astype(np.int64), p


def _matrix(dtype, n_classes, n=1500):
    """Rows that sum to one, with ties for the largest value in many."""
    rng = np.random.default_rng(32)
    p = rng.multinomial(20, rng.dirichlet(np.ones(n_classes), n)) / 20
    return rng.integers(0, n_classes, n), p.astype(dtype)


def _assert_same(fast, slow):
    for name in SUMS:
        exact = name in ("count", "sum_w", "sum_w2", "sum_wy")
        np.testing.assert_allclose(
            getattr(fast, name), getattr(slow, name), rtol=0 if exact else 1e-12,
            atol=0 if exact else 1e-9, err_msg=name,
        )  # fmt: skip
    np.testing.assert_allclose(fast.scores["brier"], slow.scores["brier"], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("n_bins", [1, 7, 10, 15, 100])
def test_compiled_sums_by_bin_equal_numpy(compiled, dtype, closed, n_bins):
    sample = check_sample(*_binary(dtype), caller="f")
    bins = v.UniformBins(n_bins, closed=closed)
    _assert_same(*_both(compiled, lambda: v.summarise(sample, bins)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("closed", ["right", "left"])
def test_compiled_sums_by_bin_equal_numpy_on_a_part_of_the_interval(compiled, dtype, closed):
    """Scores far outside the part that is divided belong to the outer bins."""
    sample = check_sample(*_binary(dtype), caller="f")
    for support in ((0.25, 1.0), (0.0, 0.01), (0.9, 0.91)):
        bins = v.UniformBins(9, support=support, closed=closed)
        _assert_same(*_both(compiled, lambda bins=bins: v.summarise(sample, bins)))


@pytest.mark.parametrize("label_type", [bool, np.int8, np.uint8, np.int32, np.int64])
def test_compiled_sums_take_labels_of_every_size(compiled, label_type):
    y, p = _binary(np.float64)
    sample = check_sample(y.astype(label_type), p, caller="f")
    _assert_same(*_both(compiled, lambda: v.summarise(sample, v.UniformBins(15))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("n_classes", [3, 20])
def test_compiled_sums_by_class_and_bin_equal_numpy(compiled, dtype, closed, n_classes):
    problem = Classwise().induce(check_sample(*_matrix(dtype, n_classes), caller="f"))
    for n_bins in (1, 10, 15):
        bins = v.UniformBins(n_bins, closed=closed)
        _assert_same(*_both(compiled, lambda bins=bins: v.summarise(problem, bins)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_classes", [3, 32, 33, 100])
def test_every_way_of_summing_a_matrix_equals_one_class_at_a_time(dtype, n_classes):
    sample = check_sample(*_matrix(dtype, n_classes), caller="f")
    rng = np.random.default_rng(33)
    weighted = check_sample(sample.y, sample.p, caller="f", sample_weight=rng.random(sample.n))
    for each in (sample, weighted):
        for n_bins in (4, 15, 200):
            whole = v.summarise(Classwise().induce(each), v.UniformBins(n_bins))
            for k in (0, 1, n_classes - 1):
                single = v.summarise(v.ClassSpecific(k).induce(each), v.UniformBins(n_bins))
                for name in SUMS:
                    np.testing.assert_allclose(
                        getattr(whole, name)[k], getattr(single, name)[0], rtol=1e-9, atol=1e-9
                    )


def _naive(y, p):
    """Row maxima, and whether the first largest column is the class that occurred."""
    top = np.array([max(row) for row in p.tolist()])
    right = np.array([row.index(max(row)) == k for row, k in zip(p.tolist(), y, strict=True)])
    return top, right


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_classes", [2, 3, 32, 33, 100])
@pytest.mark.parametrize("used", [False, True], ids=["numpy", "compiled"])
def test_the_scan_finds_maxima_and_first_columns(compiled, dtype, n_classes, used):
    compiled(used)
    y, p = _matrix(dtype, n_classes)
    z, q = v.Confidence()(y, p)
    top, right = _naive(y, p)
    assert q.dtype == dtype
    np.testing.assert_array_equal(q, top)
    np.testing.assert_array_equal(z, right)


BAD_ROWS = {
    "nan": [float("nan"), 0.5],
    "negative": [-0.25, 1.25],
    "above one": [1.25, 0.0],
    "short": [0.25123, 0.25],
    "long": [0.75123, 0.75],
}


@pytest.mark.parametrize("bad", BAD_ROWS)
@pytest.mark.parametrize("n_classes", [3, 100], ids=["narrow", "wide"])
@pytest.mark.parametrize("used", [False, True], ids=["numpy", "compiled"])
def test_one_bad_row_is_found_wherever_it_is(compiled, bad, n_classes, used):
    compiled(used)
    n = 2 * scan._BLOCK_VALUES // n_classes + 7  # more than two blocks
    for row in (0, n // 2, n - 1):
        for column in (0, n_classes - 2):
            p = np.zeros((n, n_classes))
            p[:, 0] = 1.0
            p[row, 0] = 0.0
            p[row, column : column + 2] = BAD_ROWS[bad]
            with pytest.raises(v.InvalidInputError, match=rf" at index \(?{row}\b"):
                v.brier_score(np.zeros(n, dtype=int), p)


def test_small_arrays_and_odd_types_are_not_compiled(monkeypatch):
    assert loops.loops_for(np.zeros(1000)) is None
    monkeypatch.setattr(loops, "_WORTHWHILE", 0)
    assert loops.loops_for(np.zeros((4, 4))[:, ::2]) is None
    assert loops.loops_for(np.zeros((4, 4), order="F")) is None
    assert loops.loops_for(np.zeros(4, dtype=">f8")) is None


def test_without_the_compiler_numpy_is_used(monkeypatch):
    monkeypatch.setattr(loops, "_WORTHWHILE", 0)
    monkeypatch.setattr(loops, "library", lambda: None)
    assert loops.loops_for(np.zeros(1000)) is None
    keys = np.array([3, 1, 2], dtype=np.uint64)
    loops.sort_bits(keys)
    assert keys.tolist() == [1, 2, 3]


def test_a_library_that_cannot_be_loaded_is_not_used(tmp_path, monkeypatch):
    (tmp_path / loops.NAME).write_bytes(b"of another machine")
    monkeypatch.setattr(loops, "__file__", str(tmp_path / "loops.py"))
    assert loops.library.__wrapped__() is None


_RANDOM = np.random.default_rng(33)
_UNSORTED = {
    "spread": _RANDOM.random(70_000),
    "near zero": _RANDOM.beta(0.02, 3.0, 70_000),
    "few values": np.round(_RANDOM.random(70_000), 2),
    "one value": np.full(70_000, 0.5),
    "sorted": np.sort(_RANDOM.random(70_000)),
    "falling": np.sort(_RANDOM.random(70_000))[::-1],
    "ends": np.repeat([1.0, 0.0, 5e-324, 1 - 2.0**-53], 20_000),
}


@pytest.mark.parametrize("n", [0, 1, 2, 39, 41, 300, 70_000])
@pytest.mark.parametrize("kind", list(_UNSORTED))
def test_sorted_bits_are_those_of_numpy(compiled, kind, n):
    compiled(True)
    keys = _UNSORTED[kind][:n].copy().view(np.uint64)
    keys <<= np.uint64(1)
    keys |= _RANDOM.integers(0, 2, len(keys)).astype(np.uint64)
    expected = np.sort(keys)
    loops.sort_bits(keys)
    np.testing.assert_array_equal(keys, expected)


@pytest.mark.parametrize("n", [0, 1, blocks.ROWS - 1, blocks.ROWS, 2 * blocks.ROWS + 1])
def test_row_blocks_cover_every_row_once(n):
    rows = np.concatenate([np.arange(n)[block] for block in blocks.row_blocks(n)] or [np.empty(0)])
    np.testing.assert_array_equal(rows, np.arange(n))


def test_figures_do_not_depend_on_where_blocks_end():
    rng = np.random.default_rng(34)
    n = 2 * blocks.ROWS + 5
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    bins = np.minimum((p * 10).astype(int), 9)  # no score is on an edge
    gap = np.abs(np.bincount(bins, weights=y - p)).sum() / n
    assert v.expected_calibration_error(y, p, n_bins=10) == pytest.approx(gap, rel=1e-12)
    assert v.brier_score(y, p) == pytest.approx(np.mean((p - y) ** 2), rel=1e-12)
