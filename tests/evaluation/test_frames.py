"""Frames and files in, columns named or guessed."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from veridical import InvalidInputError, evaluate

BUILD = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


@pytest.fixture(params=list(BUILD))
def build(request):
    return BUILD[request.param]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    p = rng.random(500).round(4)
    y = (rng.random(500) < p).astype(int)
    w = rng.integers(0, 3, 500)
    return {"id": list(range(500)), "label": y.tolist(), "p": p.tolist(), "w": w.tolist()}


@pytest.fixture
def several():
    rng = np.random.default_rng(1)
    p = rng.dirichlet([0.6, 0.8, 1.0], 600)
    y = np.array(["cat", "dog", "eel"])[[rng.choice(3, p=row) for row in p]]
    return y, p


def without_notes(e):
    data = e.to_dict()
    del data["notes"]
    return data


def test_every_frame_gives_the_evaluation_of_its_arrays(build, data):
    y = pd.Series(data["label"], name="label")  # the name is used in words
    expected = evaluate(y, data["p"])
    assert evaluate(build(data), y="label", prob="p", engine="memory") == expected
    options = {"n_bins": 8, "engine": "memory"}
    weighted = evaluate(build(data), y="label", prob="p", sample_weight="w", **options)
    assert weighted == evaluate(y, data["p"], sample_weight=data["w"], n_bins=8)


def test_series_of_every_library_are_arrays(data):
    expected = evaluate(data["label"], data["p"])
    for y, p in (
        (pd.Series(data["label"]), pd.Series(data["p"])),
        (pl.Series(data["label"]), pl.Series(data["p"])),
        (pa.chunked_array([data["label"]]), pa.chunked_array([data["p"]])),
    ):
        assert evaluate(y, p) == expected


def test_columns_are_guessed_and_the_guess_is_said(build, data):
    e = evaluate(build(data), engine="memory")
    assert e.notes[0] == "guessed y='label', prob='p'; pass others if that is wrong"
    assert without_notes(e) == without_notes(
        evaluate(build(data), y="label", prob="p", engine="memory")
    )


def test_only_what_is_missing_is_guessed(data):
    data["y"] = data["label"]
    frame = pl.DataFrame(data)
    with pytest.raises(InvalidInputError, match="`y` must be given where the data leave a doubt"):
        evaluate(frame)
    assert evaluate(frame, y="y").notes == ("guessed prob='p'; pass others if that is wrong",)
    assert evaluate(frame, y="y", prob="p").notes == ()


def test_columns_without_usual_names_are_found_by_their_values(data):
    e = evaluate(pl.DataFrame({"happened": data["label"], "column": data["p"]}))
    assert e.scores == evaluate(data["label"], data["p"]).scores
    assert e.notes[0].startswith("guessed y='happened', prob='column'")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_labels_are_matched_with_column_suffixes_whatever_their_order(build, several, order):
    y, p = several
    names = ["cat", "dog", "eel"]
    frame = build({"kind": y.tolist()} | {f"p_{names[k]}": p[:, k].tolist() for k in order})
    e = evaluate(frame, y="kind", prob="p_*", n_resamples=0)
    assert e.classes == tuple(names[k] for k in order)
    expected = evaluate(y, p, n_resamples=0)
    assert e.scores["brier"] == pytest.approx(expected.scores["brier"])
    assert e.error("ECE").value == pytest.approx(expected.error("ECE").value)
    given = evaluate(frame, y="kind", prob=[f"p_{name}" for name in names], n_resamples=0)
    assert given.classes == ("cat", "dog", "eel")


@pytest.fixture(params=[*BUILD, "duckdb"])
def frame_of(request, need):
    if request.param != "duckdb":
        yield BUILD[request.param]
        return
    with need("duckdb").connect() as connection:

        def relation(columns):
            connection.register("rows", pa.table(columns))
            return connection.table("rows")

        yield relation


@pytest.mark.parametrize(
    ("classes", "missing"), [(("cat", "dog", "eel"), 1), ((1, 2, 3), 0), ((1, 2, 3), 2)]
)
@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")  # of the class that is absent
def test_a_class_that_is_absent_is_known_by_the_name_of_its_column(
    frame_of, several, classes, missing
):
    y, p = several
    kept = y != ("cat", "dog", "eel")[missing]
    index, p = np.unique(y, return_inverse=True)[1][kept], p[kept]
    y = np.array(classes)[index]
    columns = {f"p_{name}": p[:, k] for k, name in enumerate(classes)}
    found = evaluate(frame_of({"y": y, **columns}), y="y", prob=list(columns), n_resamples=0)
    expected = evaluate(y, p, labels=classes, n_resamples=0)
    assert found.classes == expected.classes == classes
    assert found.scores == pytest.approx(expected.scores)
    assert found.error("ECE").value == pytest.approx(expected.error("ECE").value)


def test_a_class_that_is_absent_is_asked_for_where_no_column_names_it(frame_of, several):
    y, p = several
    y, p = y[y != "dog"], p[y != "dog"]
    columns = {name: p[:, k] for k, name in enumerate(("first", "second", "third"))}
    for given in ((y, p), (frame_of({"y": y, **columns}),)):
        names = {"y": "y", "prob": list(columns)} if len(given) == 1 else {}
        with pytest.raises(InvalidInputError, match="3 classes when `labels` is not given"):
            evaluate(*given, **names)


def test_integer_suffixes_name_their_classes(several):
    y, p = several
    codes = np.searchsorted(["cat", "dog", "eel"], y)
    frame = pl.DataFrame({"label": codes, "p_2": p[:, 2], "p_0": p[:, 0], "p_1": p[:, 1]})
    e = evaluate(frame)
    assert e.classes == (0, 1, 2)  # numbered columns are put in order
    assert e.scores["log"] == pytest.approx(evaluate(codes, p).scores["log"])


def test_given_labels_come_before_column_suffixes(several):
    y, p = several
    frame = pl.DataFrame({"kind": y, "p_a": p[:, 0], "p_b": p[:, 1], "p_c": p[:, 2]})
    e = evaluate(frame, y="kind", prob="p_*", labels=["cat", "dog", "eel"])
    assert e.scores["brier"] == pytest.approx(evaluate(y, p).scores["brier"])


@pytest.mark.parametrize("columns", [("p_no", "p_yes"), ("p_yes", "p_no")])
def test_the_positive_class_is_the_larger_label_whatever_the_order_of_columns(data, columns):
    p = np.array(data["p"])
    y = np.where(np.array(data["label"]) == 1, "yes", "no")
    both = {"p_no": 1 - p, "p_yes": p}
    frame = pl.DataFrame({"label": y} | {name: both[name] for name in columns})
    e = evaluate(frame, y="label", prob="p_*")
    assert e.classes[1] == "yes"
    assert e.mean_predicted == pytest.approx(p.mean())
    assert e.base_rate[1] == pytest.approx(np.mean(y == "yes"))


def test_categories_and_booleans_are_labels(data):
    frame = pd.DataFrame(data)
    expected = evaluate(frame, y="label", prob="p")
    frame["label"] = frame["label"].map({0: "no", 1: "yes"}).astype("category")
    e = evaluate(frame, y="label", prob="p")
    assert e.classes == ("no", "yes")
    assert e.error("ECE").value == expected.error("ECE").value
    frame["label"] = frame["label"] == "yes"
    assert evaluate(frame, y="label", prob="p").classes == (False, True)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "parquet", "arrow"])
def test_every_kind_of_file_gives_the_evaluation_of_its_frame(tmp_path, data, kind):
    frame = pl.DataFrame(data)
    path = tmp_path / f"predictions.{kind}"
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "arrow":
        frame.write_ipc(path)
    else:
        text = frame.write_csv(separator="\t" if kind == "tsv" else ",")
        with (gzip.open if kind.endswith("gz") else open)(path, "wt") as stream:
            stream.write(text)
    expected = evaluate(frame, y="label", prob="p", sample_weight="w", n_bins=8)
    for source in (path, str(path)):
        e = evaluate(source, y="label", prob="p", sample_weight="w", n_bins=8)
        assert e == expected
    assert evaluate(path).notes[0] == "guessed y='label', prob='p'; pass others if that is wrong"


def test_several_files_are_one_table(tmp_path, data):
    frame = pl.DataFrame(data)
    frame[:123].write_parquet(tmp_path / "part-0.parquet")
    frame[123:].write_parquet(tmp_path / "part-1.parquet")
    e = evaluate(tmp_path / "part-*.parquet", y="label", prob="p")
    assert e == evaluate(frame, y="label", prob="p")


def test_single_precision_columns_stay_single(build, data):
    p = np.array(data["p"], dtype=np.float32)
    frame = BUILD["polars"]({"label": data["label"], "p": pl.Series(p, dtype=pl.Float32)})
    if build is pd.DataFrame:
        frame = frame.to_pandas()
    elif build is pa.table:
        frame = frame.to_arrow()
    elif build is pl.LazyFrame:
        frame = frame.lazy()
    y = pd.Series(data["label"], name="label")
    assert evaluate(frame, y="label", prob="p", engine="memory") == evaluate(y, p)


@pytest.mark.parametrize(
    ("options", "param", "hint"),
    [
        ({"y": "lable", "prob": "p"}, "y", "did you mean 'label'"),
        ({"y": "label", "prob": "pp"}, "prob", "did you mean 'p'"),
        ({"y": "label", "prob": "q_*"}, "prob", "name one of the columns"),
        ({"y": "label", "prob": "p", "sample_weight": "wt"}, "sample_weight", "did you mean 'w'"),
        ({"y": "label", "prob": "p", "by": "regin"}, "by", ""),
        ({"y": "label", "prob": "p", "by": ["regin"]}, "by", ""),
        ({"y": "label", "prob": "p", "by": ["id", "regin"]}, "by", ""),
    ],
    ids=str,
)
def test_a_missing_column_is_named_with_the_columns_there_are(build, data, options, param, hint):
    with pytest.raises(InvalidInputError, match=f"evaluate: `{param}` must be") as error:
        evaluate(build(data), **options)
    message = str(error.value)
    assert "'id', 'label', 'p', 'w'" in message
    assert hint in message


def test_missing_values_in_a_column_are_refused(build, data):
    missing = dict(data) | {"p": [None, *data["p"][1:]]}
    with pytest.raises(InvalidInputError, match="`y_prob` must be finite"):
        evaluate(build(missing), y="label", prob="p")
    missing = dict(data) | {"label": [None, *data["label"][1:]]}
    with pytest.raises(InvalidInputError, match="`y_true` must be free of missing values"):
        evaluate(build(missing), y="label", prob="p")


def test_a_file_that_is_not_there_is_named(tmp_path):
    (tmp_path / "predictions.csv").write_text("label,p\n0,0.5\n")
    with pytest.raises(InvalidInputError, match=r"did you mean .*predictions\.csv"):
        evaluate(tmp_path / "prediction.csv")
