"""The kernel, in NumPy and compiled: the same pieces to the bit, for any batches and threads."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines.engine_frames import make_frame
from engines.naive_grid import bin_number

from veridical._core import loops as loops_in_c
from veridical.frames._grid import batches, kernel, parts
from veridical.frames._grid.compiled import Compiled
from veridical.frames._grid.grid import grid_table, sums_of_query
from veridical.frames._grid.kernel import Kernel, Question, Rows
from veridical.frames._grid.table import GridTable

ROOT = Path(__file__).parents[2]
N = 5000


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    sys.path.insert(0, str(ROOT))
    try:
        from hatch_build import NAME, compile_kernel
    finally:
        sys.path.remove(str(ROOT))
    path = tmp_path_factory.mktemp("compiled") / NAME
    if not compile_kernel(ROOT, path):
        pytest.skip("there is no compiler")
    found = ctypes.CDLL(str(path))
    found.version.restype = ctypes.c_int64
    assert found.version() == loops_in_c._VERSION
    return Compiled(found)


def _question(**changes: Any) -> Question:
    asked: dict[str, Any] = {
        "n_bins": 15, "resolution": 2048, "single": False, "n_classes": 0, "positive": 1,
        "numbers": (1, 0, 2), "tolerance": 1e-6, "weighted": False, "grouped": False,
        "scores": True,
    }  # fmt: skip
    return Question(**asked | changes)


def _values() -> np.ndarray:
    """Predictions of any kind, and all that lie at an edge or a limit, or beside it."""
    rng = np.random.default_rng(4)
    edges = np.concatenate([np.arange(b + 1) / b for b in (3, 10, 15, 100)])
    near = [edges, np.nextafter(edges, 0), np.nextafter(edges, 1)]
    tiny = [0.0, 5e-324, 1e-300, 1e-17, 2.0**-53, 1e-15, 1 - 2.0**-53, 1.0]
    mixed = np.concatenate([*near, tiny, rng.random(N), rng.beta(0.02, 0.02, N)])
    return np.clip(mixed, 0, 1)


@pytest.mark.parametrize("n_bins", [1, 10, 15, 100, 3000])
@pytest.mark.parametrize("resolution", [64, 2048, 16384])
def test_pieces_are_within_their_bins_and_cells_increase(n_bins: int, resolution: int) -> None:
    units = Kernel(_question(n_bins=n_bins, resolution=resolution)).units
    p = np.sort(_values())
    with np.errstate(divide="ignore"):
        found = units.of(p, None, kernel.Work(len(p)), inner=False)
    assert (np.diff(found) >= 0).all()
    assert (np.diff(units.cell) >= 0).all()
    if n_bins <= 100:
        assert units.bin[found].tolist() == [bin_number(x, n_bins) for x in p]
    half = found[p == 0.5]
    assert set(found[p != 0.5]).isdisjoint(half)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 5])
@pytest.mark.parametrize("n_bins", [15, 3000])
def test_compiled_loops_are_those_of_numpy(
    loops: Compiled, n_bins: int, groups: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "_WORTH_TABLES", 1)
    rng = np.random.default_rng(5)
    p = _values()
    w = rng.random(len(p)) if weighted else None
    group = rng.integers(0, groups, len(p)) if groups > 1 else 0
    asked = _question(n_bins=n_bins, weighted=weighted, grouped=groups > 2)
    rows = Rows([p], None, w, group, groups)
    _assert_alike(Kernel(asked).sums(rows), Kernel(asked, loops).sums(rows))
    inner = (p > 1e-3) & (p < 0.999)
    _assert_alike(Kernel(asked).sums(rows.of(inner)), Kernel(asked, loops).sums(rows.of(inner)))


def test_compiled_scores_serve_either_label(
    loops: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "_WORTH_TABLES", 1)
    rng = np.random.default_rng(6)
    p, y = rng.beta(0.5, 0.5, 1001).clip(1e-9, 1 - 1e-9), rng.integers(0, 2, 1001)
    made = Kernel(_question(numbers=(1,)), loops)
    sums = made.sums(Rows([p], None, None, y, 2)).dense[1, :, made.score :]
    length = np.hypot(p, 1 - p)
    for positive in (0, 1):
        h = np.where(y == positive, p, 1 - p)
        log, sphere = (sums[positive, k] + sums[1 - positive, k + 1] for k in (0, 2))
        assert log == pytest.approx(np.log(h).sum(), rel=1e-13)
        assert sphere == pytest.approx((h / length).sum(), rel=1e-13)


@pytest.mark.parametrize("k", [2, 3, 12])
def test_compiled_rows_of_several_classes(
    loops: Compiled, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "_WORTH_TABLES", 1)
    rng = np.random.default_rng(k)
    p = rng.integers(0, 4, (N, k)) + 1e-9  # many equal ones
    p /= p.sum(axis=1, keepdims=True)
    columns, code = list(np.ascontiguousarray(p.T)), rng.integers(0, k, N)
    asked = _question(n_classes=k, numbers=(k, *range(k)))
    rows = Rows(columns, code, None, 0, 1)
    _assert_alike(Kernel(asked).sums(rows), Kernel(asked, loops).sums(rows))
    for row, column, value in ((7, 0, np.nan), (8, 1, 1.5), (N - 1, 1, -0.1)):
        wrong = [one.copy() for one in columns]
        wrong[column][row] = value
        for each in (Kernel(asked), Kernel(asked, loops)):
            assert each.sums(Rows(wrong, code, None, 0, 1)).invalid


def _assert_alike(one: Any, other: Any) -> None:
    assert not one.invalid
    assert not other.invalid
    keys = slice(one.kernel.score)
    np.testing.assert_array_equal(one.dense[0], other.dense[0])
    np.testing.assert_allclose(one.dense[:, :, keys], other.dense[:, :, keys], rtol=1e-12)


def _table(columns: dict[str, np.ndarray], **options: Any) -> GridTable:
    import polars as pl

    options = {"problems": ["binary"], "n_bins": 15, "caller": "f"} | options
    return grid_table(pl.LazyFrame(columns), y="y", **options)


def _same_bits(one: GridTable, other: GridTable) -> bool:
    names = ("count", "sum_wp", "sum_wp2", "cell", "bin", "total_w")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_threads_and_the_engines_batches_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(8)
    columns = {"y": rng.integers(0, 2, N), "p": rng.random(N)}
    monkeypatch.setattr(batches, "CHUNK", 700)
    several = _table(columns, prob="p")
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert _same_bits(several, _table(columns, prob="p"))
    with duckdb.connect() as connection:
        relation = make_frame("duckdb", columns, lambda _: connection)
        found = grid_table(relation, y="y", prob="p", problems=["binary"], n_bins=15, caller="f")
    assert _same_bits(several, found)
    monkeypatch.setattr(batches, "CHUNK", 1 << 18)
    whole = _table(columns, prob="p")
    np.testing.assert_array_equal(several.count, whole.count)
    np.testing.assert_allclose(several.sum_wp, whole.sum_wp, rtol=1e-14)


@pytest.mark.parametrize("dense", [1, 1 << 23])
def test_many_groups_are_kept_as_they_occur(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_MOST_DENSE", dense)
    monkeypatch.setattr(batches, "CHUNK", 600)
    rng = np.random.default_rng(9)
    site = np.array([f"s{k}" for k in range(40)], dtype=object)[rng.integers(0, 40, N)]
    columns = {"y": rng.integers(0, 2, N), "p": rng.random(N), "site": site}
    table = _table(columns, prob="p", by="site")
    assert table.groups == tuple(sorted(set(site)))
    for g, key in enumerate(table.groups):
        at = site == key
        assert table.rows[g] == at.sum()
        assert table.count[table.group == g].sum() == at.sum()
        assert table.sum_wp[table.group == g].sum() == pytest.approx(columns["p"][at].sum())
        brier = ((columns["p"] - columns["y"])[at] ** 2).sum()
        assert table.scores["brier"][g] == pytest.approx(brier, rel=1e-12)


@pytest.mark.parametrize("several", [False, True])
def test_the_query_and_the_kernel_make_one_table(
    several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(10)
    p = rng.dirichlet([0.3, 0.5, 1.0], N)
    p[:3] = [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.4, 0.4]]
    w = rng.integers(0, 3, N).astype(np.float64)
    y = rng.integers(0, 3 if several else 2, N)
    columns = {"y": y, "w": w} | {f"p{k}": p[:, k] for k in range(3)}
    options: dict[str, Any] = {"prob": "p0", "problems": ["binary", "confidence", 0]}
    options["pos_label"] = 1
    if several:
        options = {"prob": ["p0", "p1", "p2"], "problems": ["confidence", 0, 1, 2]}
    found = _table(columns, sample_weight="w", **options)

    def by_query(rows: Any, asked: Any, caller: str) -> Any:
        return sums_of_query(rows, asked, caller=caller)

    monkeypatch.setattr("veridical.frames._grid.grid._sums", by_query)
    expected = _table(columns, sample_weight="w", **options)
    for name in ("group", "problem", "bin", "cell", "outcome", "count"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("sum_w", "sum_w2", "sum_wp", "sum_wp2", "sum_w2pq", "class_weight"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10)
    for rule, value in expected.scores.items():
        assert found.scores[rule] == pytest.approx(value, rel=1e-12)


WORKER = """
import sys
for name in ("veridical", "narwhals", "polars", "scipy"):
    sys.modules[name] = None  # not there
import pickle, numpy as np, pyarrow as pa
run = pickle.loads(open(sys.argv[1], "rb").read())
batch = pa.RecordBatch.from_pydict({"v_label": ["a", "b", "b"], "v_p0": [0.25, 0.5, 1.0]})
[table] = run(iter([batch, batch.slice(0, 1)]))
assert "veridical" not in {m.partition(".")[0] for m, v in sys.modules.items() if v}
counts = dict.fromkeys("ab", 0.0)
for label, count in zip(*(table.column(name).to_pylist() for name in ("v_label", "v_count"))):
    counts[label] += count / 5  # one piece and four scores
print(counts)
"""


def test_a_worker_needs_numpy_and_arrow_only(tmp_path: Path) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    from veridical.frames._grid import worker

    columns = worker.Columns(("v_p0",), None, "v_label", None, ())
    for module in batches.SHIPPED:
        cloudpickle.register_pickle_by_value(module)
    try:
        made = cloudpickle.dumps(worker.in_arrow(_question(numbers=(1,)), columns))
    finally:
        for module in batches.SHIPPED:
            cloudpickle.unregister_pickle_by_value(module)
    path, script = tmp_path / "run.pickle", tmp_path / "run.py"
    path.write_bytes(made)
    script.write_text(WORKER)
    done = subprocess.run(
        [sys.executable, str(script), str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "{'a': 2.0, 'b': 2.0}"
