"""One scan on every engine gives the sums that are written down row by row."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from engines.engine_frames import CHEAP, ENGINES, make_frame
from engines.naive_grid import assert_same_sums, naive_scores, naive_sums

from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.frames._grid.grid import grid_table
from veridical.frames._tables.detect import is_frame, is_lazy
from veridical.frames._tables.open import column_names, open_table

CLASSES = ["bird", "cat", "dog"]


def _data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    n = 240
    p = rng.beta(0.5, 0.7, n).round(2)
    p[:6] = [0.0, 1.0, 0.5, 0.5, 0.7, 1e-300]
    y = (rng.random(n) < p).astype(np.int64)
    y[:6] = [0, 1, 0, 1, 1, 1]
    matrix = rng.dirichlet(np.ones(3), n)
    matrix[0] = [0.25, 0.5, 0.25]
    matrix[1] = [0.5, 0.5, 0.0]  # a tie
    code = (rng.random(n)[:, None] > matrix.cumsum(axis=1)).sum(axis=1).clip(max=2)
    code[1] = 1
    return {
        "y": y,
        "p": p,
        "w": rng.integers(0, 4, n).astype(np.float64),
        "site": np.array(["north", "south"])[rng.integers(0, 2, n)].astype(object),
        "kind": np.array(CLASSES)[code].astype(object),
        "p_dog": matrix[:, 2],
        "p_cat": matrix[:, 1],
        "p_bird": matrix[:, 0],
    }


DATA = _data()
# The columns stand in another order than the sorted labels, and are named after them.
PROB = ["p_dog", "p_cat", "p_bird"]
MATRIX = np.column_stack([DATA[name] for name in PROB])
CODE = np.array([["dog", "cat", "bird"].index(kind) for kind in DATA["kind"]])
# Names that are neither those of classes nor places: what was assumed is said.
TAKEN = "f: columns 'q', 'p' were taken for the classes 0, 1, in this order"


@pytest.mark.parametrize("engine", ENGINES)
def test_binary_sums_by_group_with_weights(engine: str, frame_of: Any) -> None:
    frame = frame_of(engine, DATA)
    assert is_frame(frame)
    assert is_lazy(frame) == (engine not in ("pandas", "polars", "pyarrow"))
    assert column_names(frame, caller="f") == list(DATA)
    table = grid_table(
        frame,
        y="y",
        prob="p",
        sample_weight="w",
        by="site",
        problems=["binary"],
        n_bins=15,
        caller="f",
    )
    y, p, w, site = (DATA[name] for name in ("y", "p", "w", "site"))
    assert table.groups == ("north", "south")
    assert table.classes == (0, 1)
    assert table.positive == 1
    assert_same_sums(table, naive_sums(y, p, problems=["binary"], n_bins=15, w=w, by=site))
    for g, key in enumerate(table.groups):
        at = (site == key) & (w > 0)
        assert table.rows[g] == at.sum()
        assert table.total_w[g] == w[at].sum()
        assert table.total_w2[g] == (w[at] ** 2).sum()
        assert table.class_weight[g].tolist() == [w[at & (y == k)].sum() for k in (0, 1)]
        assert table.class_count[g].tolist() == [(at & (y == k)).sum() for k in (0, 1)]
        for rule, expected in naive_scores(y[at], p[at], w=w[at]).items():
            assert table.scores[rule][g] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("engine", ENGINES)
def test_confidence_of_three_classes(engine: str, frame_of: Any) -> None:
    table = grid_table(
        frame_of(engine, DATA),
        y="kind",
        prob=PROB,
        problems=["confidence"],
        n_bins=10,
        caller="f",
    )
    assert table.classes == ("dog", "cat", "bird")
    assert table.groups == (None,)
    assert_same_sums(table, naive_sums(CODE, MATRIX, problems=["confidence"], n_bins=10))
    assert table.class_count[0].tolist() == np.bincount(CODE).tolist()
    for rule, expected in naive_scores(CODE, MATRIX).items():
        assert table.scores[rule][0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("engine", CHEAP)
def test_a_value_that_is_no_probability_is_found_in_the_scan(engine: str, frame_of: Any) -> None:
    p = DATA["p"].copy()
    p[[7, 9]] = [1.25, np.nan]
    frame = frame_of(engine, {"y": DATA["y"], "p": p})
    with pytest.raises(InvalidInputError) as caught:
        grid_table(frame, y="y", prob="p", problems=["binary"], n_bins=15, caller="f")
    expected = f"nan in column 'p' (1 of 240 rows; for example y={DATA['y'][9]}, p=nan)"
    assert str(caught.value) == (
        f"f: `y_prob` must be finite; got {expected}.\n"
        "Hint: drop or fix the rows without a prediction."
    )


@pytest.mark.parametrize("engine", CHEAP)
def test_every_problem_in_one_scan(engine: str, frame_of: Any) -> None:
    problems = ["confidence", 0, 1, 2]
    table = grid_table(
        frame_of(engine, DATA),
        y="kind",
        prob=PROB,
        sample_weight="w",
        by=["site", "y"],
        problems=problems,
        n_bins=10,
        caller="f",
    )
    keys = list(zip(DATA["site"], DATA["y"].tolist(), strict=True))
    assert table.groups == (("north", 0), ("north", 1), ("south", 0), ("south", 1))
    w = DATA["w"]
    assert_same_sums(table, naive_sums(CODE, MATRIX, problems=problems, n_bins=10, w=w, by=keys))
    for g, key in enumerate(table.groups):
        at = np.array([one == key for one in keys]) & (w > 0)
        assert table.class_weight[g].tolist() == [w[at & (k == CODE)].sum() for k in range(3)]
        for rule, expected in naive_scores(CODE[at], MATRIX[at], w=w[at]).items():
            assert table.scores[rule][g] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("engine", CHEAP)
@pytest.mark.parametrize(("pos_label", "positive"), [(None, 1), (0, 0)])
def test_every_problem_of_a_single_column(
    engine: str, pos_label: int | None, positive: int, frame_of: Any
) -> None:
    problems = ["binary", "confidence", 0, 1]
    table = grid_table(
        frame_of(engine, DATA),
        y="y",
        prob="p",
        pos_label=pos_label,
        problems=problems,
        n_bins=15,
        caller="f",
    )
    y, p = DATA["y"], DATA["p"]
    assert table.positive == positive
    assert_same_sums(table, naive_sums(y, p, problems=problems, n_bins=15, positive=positive))
    for rule, expected in naive_scores(y, p, positive=positive).items():
        assert table.scores[rule][0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("engine", CHEAP)
def test_single_precision_rounds_the_edges_to_it(engine: str, frame_of: Any) -> None:
    p = (np.arange(201) / 200).astype(np.float32)
    y = np.arange(201) % 2
    frame = frame_of(engine, {"y": y, "p": p, "q": 1 - p})
    problems = ["binary", "confidence", 0]
    table = grid_table(frame, y="y", prob="p", problems=problems, n_bins=100, caller="f")
    assert_same_sums(table, naive_sums(y, p, problems=problems, n_bins=100))
    with pytest.warns(VeridicalWarning, match=TAKEN):
        table = grid_table(frame, y="y", prob=["q", "p"], problems=problems, n_bins=100, caller="f")
    pair = np.column_stack([1 - p, p])
    assert_same_sums(table, naive_sums(y, pair, problems=problems, n_bins=100))


@pytest.mark.parametrize("engine", CHEAP)
def test_labels_of_any_kind(engine: str, frame_of: Any) -> None:
    p, happened = np.array([0.125, 0.5, 0.875, 0.75]), np.array([0, 1, 1, 0])
    expected = naive_sums(happened, p, problems=["binary"], n_bins=4)
    for negative, positive in ((False, True), ("no", "yes"), (1.0, 2.0), (-1, 1)):
        values = np.array([negative, positive])[happened]
        if isinstance(negative, str):
            values = values.astype(object)
        table = grid_table(
            frame_of(engine, {"y": values, "p": p}),
            y="y",
            prob="p",
            problems=["binary"],
            n_bins=4,
            caller="f",
        )
        assert table.classes == (negative, positive)
        assert_same_sums(table, expected)


@pytest.mark.parametrize("engine", CHEAP)
def test_what_was_given_no_chance_and_happened_costs_infinitely_much(
    engine: str, frame_of: Any
) -> None:
    columns = {
        "y": np.array([0, 1, 1]),
        "p": np.array([0.0, 0.0, 0.5]),
        "q": np.array([1.0, 1, 0.5]),
    }
    frame = frame_of(engine, columns)
    said = pytest.warns(VeridicalWarning, match=TAKEN)
    for prob, words in (("p", contextlib.nullcontext()), (["q", "p"], said)):
        with words:
            table = grid_table(frame, y="y", prob=prob, problems=["binary"], n_bins=4, caller="f")
        assert table.scores["log"].tolist() == [np.inf]
    fine = frame_of(engine, {name: values[[0, 2]] for name, values in columns.items()})
    for prob in ("p", ["q", "p"]):
        table = grid_table(
            fine, y="y", prob=prob, labels=[0, 1], problems=["binary"], n_bins=4, caller="f"
        )
        assert table.scores["log"].tolist() == pytest.approx([np.log(2)], rel=1e-15)


@pytest.mark.parametrize("engine", CHEAP)
def test_missing_cells_are_found(engine: str, frame_of: Any) -> None:
    text = np.array(["a", "b", None, "b"], dtype=object)
    p = np.array([0.5, 0.25, 0.75, 1.0])
    with pytest.raises(InvalidInputError, match=r"`y_true` must be free of missing .*1 of 4 rows"):
        grid_table(
            frame_of(engine, {"y": text, "p": p}),
            y="y",
            prob="p",
            problems=["binary"],
            n_bins=4,
            caller="f",
        )
    filled = np.array(["a", "b", "a", "b"], dtype=object)
    key = np.array(["u", None, "v", "v"], dtype=object)
    table = grid_table(
        frame_of(engine, {"y": filled, "p": p, "key": key}),
        y="y",
        prob="p",
        by="key",
        problems=["binary"],
        n_bins=4,
        caller="f",
    )
    assert table.groups == ("u", "v", "(missing)")
    assert table.rows.tolist() == [1, 2, 1]
    named = ["u", "(missing)", "v", "v"]
    happened = np.array([0, 1, 0, 1])
    assert_same_sums(table, naive_sums(happened, p, problems=["binary"], n_bins=4, by=named))


def test_open_table_collects_a_query(frame_of: Any) -> None:
    table = open_table(frame_of("duckdb", DATA), columns=["kind", "p"], caller="f")
    assert table.columns == ["kind", "p"]
    np.testing.assert_array_equal(table.column("p", caller="f", param="p"), DATA["p"])


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_spark_workers_without_python_get_a_query(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from veridical.frames._grid import batches

    def cannot(batches: Any) -> Any:
        raise ImportError("no pyarrow here")

    monkeypatch.setattr(batches, "in_arrow", lambda question, columns: cannot)
    columns = {"y": DATA["y"], "p": DATA["p"]}
    frame = make_frame("spark", columns, lambda _: spark)
    table = grid_table(frame, y="y", prob="p", problems=["binary"], n_bins=15, caller="f")
    expected = naive_sums(DATA["y"], DATA["p"], problems=["binary"], n_bins=15)
    assert_same_sums(table, expected)


CLUSTER = """
import json, sys
sys.path[:0] = json.loads(sys.argv[3])
from engines.conftest import spark_session
from veridical.frames._grid.grid import grid_table
session = spark_session(sys.argv[1])
frame = session.read.parquet(sys.argv[2])
table = grid_table(frame, y="y", prob="p", problems=["binary"], n_bins=15, caller="f")
print(json.dumps([table.count.tolist(), table.bin.tolist(), table.sum_wp.sum()]))
session.stop()
"""


def test_a_spark_cluster_needs_nothing_of_this_library_on_its_workers(
    spark_cluster: tuple[str, dict[str, str]], tmp_path: Any
) -> None:
    import polars as pl

    path = tmp_path / "data.parquet"
    pl.DataFrame({"y": DATA["y"], "p": DATA["p"]}).write_parquet(path)
    script = tmp_path / "job.py"
    script.write_text(CLUSTER)
    folders = json.dumps([folder for folder in sys.path if folder.endswith("tests")])
    address, environment = spark_cluster
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), address, str(path), folders],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    count, bins, total = json.loads(done.stdout.splitlines()[-1])
    expected = naive_sums(DATA["y"], DATA["p"], problems=["binary"], n_bins=15)
    assert sum(count) == 240
    assert np.bincount(bins, count, minlength=15).tolist() == [
        sum(sums[0] for key, sums in expected.items() if key[2] == b) for b in range(15)
    ]
    assert total == pytest.approx(DATA["p"].sum(), rel=1e-12)
