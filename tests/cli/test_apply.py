"""`veridical apply`: what was saved is what is applied; damaged files are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical.calibrators import (
    BetaCalibrator,
    Calibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    VectorCalibrator,
)
from veridical.cli import main
from veridical.cli.commands import apply as _apply
from veridical.exceptions import InvalidInputError
from veridical.export import load, to_sql
from veridical.frames.tables import open_table

N = 300


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    p = rng.random(N)
    fraud = rng.random(N) < p**2
    pl.DataFrame(
        {
            "id": [f"{i:04d}" for i in range(N)],
            "label": fraud.astype(int),
            "kind": np.where(fraud, "fraud", "ok"),
            "p": p,
            "z": np.log(p / (1 - p)),
        }
    ).write_csv("two.csv")
    several = rng.dirichlet([1.0, 1.0, 1.0], N)
    y = np.array([10, 20, 30])[[rng.choice(3, p=row) for row in several]]
    columns = {f"p_{label}": several[:, k] for k, label in enumerate((10, 20, 30))}
    pl.DataFrame({"y": y, **columns}).write_parquet("three.parquet")
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error; anything but SystemExit is a traceback."""
    try:
        code = main([*map(str, arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def fit(capsys, file, *arguments):
    code, _, err = run(capsys, "calibrate", file, "-o", "c.json", "--folds", "0", *arguments)
    assert (code, err) == (0, "")
    return Calibrator.from_dict(json.loads(Path("c.json").read_text()))


@pytest.mark.parametrize("method", ["auto", "isotonic", "platt"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_applied_is_what_the_calibrator_predicts(capsys, method, ending):
    calibrator = fit(capsys, "two.csv", "--y", "label", "--prob", "p", "--method", method)
    code, out, err = run(capsys, "apply", "c.json", "two.csv", "-o", f"out.{ending}")
    assert (code, err) == (0, "")
    what = "calibrated, the probability that label = 1,"
    assert out == f"300 rows with {what} written to out.{ending}\n"
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[ending]
    found, given = read(f"out.{ending}"), pl.read_csv("two.csv")
    assert found.columns == [*given.columns, "calibrated"]
    assert found["p"].to_list() == given["p"].to_list()
    expected = calibrator.predict_proba(given["p"].to_numpy())[:, 1]
    np.testing.assert_allclose(found["calibrated"].to_numpy(), expected, rtol=0, atol=1e-12)


def test_one_column_a_class_and_blocks_of_rows(capsys, monkeypatch):
    monkeypatch.setattr(_apply, "_BLOCK_VALUES", 1)  # blocks of 256 rows
    calibrator = fit(capsys, "three.parquet", "--prob", "p_*", "--y", "y", "--method", "vector")
    assert isinstance(calibrator, VectorCalibrator)
    frame = pl.read_parquet("three.parquet")
    matrix = frame[["p_10", "p_20", "p_30"]].to_numpy()
    # Columns are found by name wherever they are, and in the order of the fit.
    frame[["p_30", "p_10", "y", "p_20"]].write_csv("turned.csv")
    for options in ([], ["--prob", "p_*"]):
        run(capsys, "apply", "c.json", "turned.csv", "--prefix", "q", "-o", "o.csv", *options)
        found = pl.read_csv("o.csv")
        assert found.columns == ["p_30", "p_10", "y", "p_20", "q_10", "q_20", "q_30"]
        np.testing.assert_allclose(
            found[["q_10", "q_20", "q_30"]].to_numpy(),
            calibrator.predict_proba(matrix),
            rtol=0,
            atol=1e-12,
        )


@pytest.mark.parametrize(("column", "kind"), [("p", "probability"), ("z", "logit")])
def test_a_column_about_the_smaller_label_stays_so(capsys, column, kind):
    options = ["--prob", column, "--method", "beta", "--input", kind]
    fit(capsys, "two.csv", "--y", "kind", "--pos-label", "fraud", *options)
    run(capsys, "apply", "c.json", "two.csv", "-o", "o.csv")
    found = pl.read_csv("o.csv")
    given = found[column].to_numpy()
    # The same rows, told by numbers in which fraud is the larger label.
    expected = BetaCalibrator(input=kind).fit(given, found["label"].to_numpy())
    np.testing.assert_allclose(
        found["calibrated"].to_numpy(), expected.predict_proba(given)[:, 1], atol=1e-7
    )


def test_a_calibrator_saved_in_python_can_be_applied(capsys):
    frame = pl.read_csv("two.csv")
    p, y = frame["p"].to_numpy(), frame["label"].to_numpy()
    calibrator = PlattCalibrator(labels=[1, 0], pos_label=1).fit(p, y)
    Path("c.json").write_text(json.dumps(calibrator.to_dict()))
    code, _, err = run(capsys, "apply", "c.json", "two.csv", "-o", "o.csv")
    assert code == 2
    assert "`--prob` must be given" in err
    code, _, _ = run(capsys, "apply", "c.json", "two.csv", "--prob", "p", "-o", "o.csv")
    assert code == 0
    expected = calibrator.predict_proba(p)[:, 0]
    np.testing.assert_allclose(
        pl.read_csv("o.csv")["calibrated"].to_numpy(), expected, rtol=0, atol=1e-12
    )


def test_files_of_a_glob_are_one_table(capsys):
    calibrator = fit(capsys, "two.csv", "--y", "label", "--prob", "p", "--method", "beta")
    frame = pl.read_csv("two.csv")
    frame[:100].write_parquet("part-0.parquet")
    frame[100:].write_parquet("part-1.parquet")
    run(capsys, "apply", "c.json", "part-*.parquet", "-o", "all.parquet")
    found = pl.read_parquet("all.parquet")
    assert found.drop("calibrated").equals(frame)
    expected = calibrator.predict_proba(frame["p"].to_numpy())[:, 1]
    np.testing.assert_allclose(found["calibrated"].to_numpy(), expected, rtol=0, atol=1e-12)


def check_refusal(capsys, arguments, message, code=2):
    before = {path.name: path.read_bytes() for path in Path.cwd().iterdir() if path.is_file()}
    found, out, err = run(capsys, "apply", *arguments)
    assert (found, out) == (code, "")
    assert err.startswith("veridical")
    assert len(err.splitlines()) == 1, err
    assert message in err
    assert before == {p.name: p.read_bytes() for p in Path.cwd().iterdir() if p.is_file()}


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["c.json", "two.csv"], "required: -o/--output", 2),
        (["c.json", "missing.csv", "-o", "o.csv"], "an existing file", 2),
        (["c.json", "two.csv", "-o", "two.csv"], "another file than the input", 2),
        (["c.json", "two.csv", "-o", "o.json"], "a file ending in .csv", 2),
        (["c.json", "two.csv", "-o", "no/o.csv"], "No such folder", 1),
        (["c.json", "two.csv", "-o", "o.csv", "--prefix", "p"], "got 'p' in the input", 2),
        (["c.json", "two.csv", "-o", "o.csv", "--prob", "q"], "`--prob` must be a column", 2),
        (["c.json", "two.csv", "-o", "o.csv", "--prob", "kind"], "`--prob` must be numeric", 2),
        (["c.json", "three.parquet", "-o", "o.csv"], "`--prob` must be a column", 2),
        (["c.json", "three.parquet", "-o", "o.csv", "--prob", "p_*"], "of 2 classes; got 3", 2),
    ],
)
def test_bad_arguments_are_refused_in_one_line(capsys, arguments, message, code):
    fit(capsys, "two.csv", "--y", "label", "--prob", "p", "--method", "platt")
    check_refusal(capsys, arguments, message, code)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["0.5", "", "0.1"], "`--prob` must be finite; got nan at index 1"),
        (["0.5", "0.2", "1.5"], "`--prob` must be in [0, 1]; got 1.5 at index 2"),
    ],
)
def test_bad_cells_are_refused_as_in_memory(capsys, cells, message):
    calibrator = fit(capsys, "two.csv", "--y", "label", "--prob", "p", "--method", "platt")
    Path("bad.csv").write_text("id,p\n" + "".join(f"a,{cell}\n" for cell in cells))
    strictly = ["--missing", "error"]
    check_refusal(capsys, ["c.json", "bad.csv", "-o", "o.csv", *strictly], message)
    with pytest.raises(ValueError, match="y_prob") as raised:
        calibrator.predict_proba([float(cell) if cell else np.nan for cell in cells])
    assert message.replace("--prob", "y_prob") in str(raised.value)


def test_a_missing_score_gets_a_missing_prediction(capsys):
    """No row is lost, and percentages are read as such."""
    calibrator = fit(capsys, "two.csv", "--y", "label", "--prob", "p", "--method", "platt")
    Path("gaps.csv").write_text("id,p\na,50\nb,\nc,10\n")
    for ending in ("csv", "parquet"):
        command = ["apply", "c.json", "gaps.csv", "--scale", "percent", "-o", f"o.{ending}"]
        code, out, _ = run(capsys, *command)
        assert (code, "1 of them without a prediction" in " ".join(out.split())) == (0, True)
        found = open_table(f"o.{ending}", caller="f").column("calibrated", caller="f", param="p")
        np.testing.assert_allclose(found[[0, 2]], calibrator.predict_proba([0.5, 0.1])[:, 1])
        assert np.isnan(found[1])
    assert Path("o.csv").read_text().splitlines()[2] == "b,,"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "a file with a saved calibrator"),
        (lambda _: "", "a file with a saved calibrator"),
        (lambda _: "[1, 2]", "a saved calibrator; got list"),
        (lambda _: "{}", "a saved calibrator; got dict"),
        (lambda text: text.replace('"format": 1', '"format": 99', 1), "of a known format; got 99"),
        (lambda text: text.replace("PlattCalibrator", "Evil", 1), "that this version knows"),
        (lambda text: text.replace('"shape"', '"shap"'), "`classes_` must be a value as"),
        (lambda text: text[:-2] + ', "column_of": 5}\n', "`column_of` must be one"),
        (
            lambda text: text.replace('"positive_index_": 1', '"positive_index_": 5'),
            "a whole number from 0 up to 1; got 5",
        ),
    ],
)
def test_damaged_calibrators_are_refused_in_one_line(capsys, damage, message):
    fit(capsys, "two.csv", "--y", "label", "--prob", "p", "--method", "platt")
    sealed = Path("c.json").read_text()
    Path("c.json").write_text(sealed.replace('"slope_": ', '"slope_": 1'))
    check_refusal(capsys, ["c.json", "two.csv", "-o", "o.csv"], "got a damaged one")
    data = json.loads(sealed)
    del data["sha256"]  # as in files of before
    whole = json.dumps(data) + "\n"
    damaged = damage(whole)
    assert damaged != whole
    Path("c.json").write_text(damaged)
    check_refusal(capsys, ["c.json", "two.csv", "-o", "o.csv"], message)


def test_other_files_in_place_of_a_calibrator(capsys):
    Path("c.json").write_text(json.dumps(PlattCalibrator().to_dict()))
    check_refusal(capsys, ["c.json", "two.csv", "-o", "o.csv"], "is not fitted")
    check_refusal(capsys, ["three.parquet", "two.csv", "-o", "o.csv"], "a saved calibrator")
    check_refusal(capsys, ["no.json", "two.csv", "-o", "o.csv"], "No such file")


@pytest.mark.parametrize("options", [[], ["--pos-label", "ok"]])
@pytest.mark.parametrize("method", ["beta", "isotonic"])
def test_applied_is_what_python_and_sql_make_of_a_loaded_file(capsys, need, method, options):
    duckdb = need("duckdb")
    pl.read_csv("two.csv").with_columns(p=1 - pl.col("p")).write_csv("ok.csv")  # that of "ok"
    run(capsys, "calibrate", "ok.csv", "-o", "c.json", "--folds", "0", "--y", "kind",
        "--prob", "p", "--method", method, *options)  # fmt: skip
    run(capsys, "apply", "c.json", "ok.csv", "-o", "o.csv")
    applied = pl.read_csv("o.csv")
    loaded = load("c.json")
    p = applied["p"].to_numpy()
    assert loaded.predict_proba(pl.DataFrame({"p": p}))[:, 1] == pytest.approx(
        applied["calibrated"].to_numpy(), abs=1e-12
    )
    expression = to_sql(loaded, dialect="duckdb", columns="p")
    query = f"SELECT {expression} AS q FROM read_csv('o.csv')"
    in_sql = [row[0] for row in duckdb.sql(query).fetchall()]
    assert in_sql == pytest.approx(applied["calibrated"].to_list(), abs=1e-12)
    fitted = BetaCalibrator if method == "beta" else IsotonicCalibrator
    expected = fitted().fit(p, applied["kind"].to_numpy()).predict_proba(p)[:, 1]
    assert in_sql == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.parametrize(("y", "smaller", "larger"), [("kind", "fraud", "ok"), ("label", 0, 1)])
def test_python_and_the_command_line_read_a_map_of_the_smaller_label(capsys, y, smaller, larger):
    pl.read_csv("two.csv").with_columns(
        p=pl.col("p") if y == "kind" else 1 - pl.col("p")
    ).write_csv("smaller.csv")
    run(capsys, "calibrate", "smaller.csv", "-o", "c.json", "--folds", "0", "--y", y,
        "--prob", "p", "--method", "beta", "--pos-label", smaller)  # fmt: skip
    code, out, err = run(capsys, "apply", "c.json", "smaller.csv", "-o", "o.csv")
    assert (code, err) == (0, "")
    assert f"the probability that {y} = {smaller}," in out
    applied = pl.read_csv("o.csv")
    p, happened = applied["p"].to_numpy(), applied[y].to_numpy() == smaller
    expected = BetaCalibrator().fit(p, happened).predict_proba(p)[:, 1]
    assert applied["calibrated"].to_list() == pytest.approx(expected.tolist(), abs=1e-12)
    assert load("c.json").predict_proba(p)[:, 0] == pytest.approx(expected, abs=1e-12)
    told = ["apply", "c.json", "smaller.csv", "-o", "o2.csv", "--pos-label"]
    assert run(capsys, *told, smaller)[0] == 0
    check_refusal(
        capsys, ["c.json", "smaller.csv", "-o", "o3.csv", "--pos-label", str(larger)],
        f"`--pos-label` must be '{smaller}', the class the calibrator was fitted to",
    )  # fmt: skip


def test_files_of_before_there_was_pos_label_are_applied_and_not_loaded(capsys):
    """They hold a map of the larger label, and say which label their one column was about."""
    frame = pl.read_csv("two.csv")
    p, y = frame["p"].to_numpy(), frame["kind"].to_numpy()
    old = BetaCalibrator(labels=["fraud", "ok"]).fit(np.column_stack([p, 1 - p]), y)
    data = old.to_dict()
    del data["parameters"]["pos_label"]
    data["fitted"]["feature_names_in_"] = {"array": ["p"], "shape": [1], "dtype": "<U1"}
    Path("old.json").write_text(json.dumps({**data, "column_of": "fraud"}))
    assert run(capsys, "apply", "old.json", "two.csv", "-o", "o.csv")[0] == 0
    found = pl.read_csv("o.csv")["calibrated"].to_list()
    expected = BetaCalibrator().fit(p, y == "fraud").predict_proba(p)[:, 1]
    assert found == pytest.approx(expected.tolist(), abs=1e-7)
    with pytest.raises(InvalidInputError, match="got one of 'fraud'") as caught:
        load("old.json")
    assert "pos_label='fraud'" in caught.value.hint
    data["fitted"]["positive_index_"] = 1
    Path("old.json").write_text(json.dumps({**data, "column_of": "ok"}))
    assert load("old.json").positive_label == "ok"


def test_columns_are_matched_to_classes_by_name(capsys):
    frame = pl.read_csv("two.csv")
    p, y = frame["p"].to_numpy(), frame["kind"].to_numpy()
    map = BetaCalibrator(pos_label="fraud").fit(p, y)
    Path("c.json").write_text(json.dumps(map.to_dict()))
    frame.with_columns(p_ok=1 - pl.col("p"), p_fraud=pl.col("p")).write_csv("named.csv")
    assert (
        run(capsys, "apply", "c.json", "named.csv", "--prob", "p_ok,p_fraud", "-o", "o.csv")[0] == 0
    )
    found = pl.read_csv("o.csv")["calibrated_fraud"].to_list()
    assert found == pytest.approx(map.predict_proba(p)[:, 0].tolist(), abs=1e-9)
    check_refusal(
        capsys, ["c.json", "named.csv", "--prob", "p_ok", "-o", "o2.csv"],
        "`--pos-label` must be the class the column 'p_ok' is named after",
    )  # fmt: skip
