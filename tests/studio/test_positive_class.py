"""Loans end "good" or "bad", a column is the probability of "bad": one class everywhere."""

from __future__ import annotations

import sqlite3

import numpy as np
import polars as pl
import pytest
from markup import rows_of
from sklearn.metrics import brier_score_loss

import veridical
from veridical.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")

N = 1300  # enough for one partition into folds, of halves too


@pytest.fixture(scope="module")
def loans():
    """Over-confident probabilities of default, and what happened."""
    rng = np.random.default_rng(20)
    p = rng.beta(0.7, 1.6, N).round(6).clip(1e-4, 0.9999)
    bad = rng.random(N) < 1 / (1 + np.exp(-0.6 * np.log(p / (1 - p))))
    return pl.DataFrame({"Status": np.where(bad, "bad", "good"), "PD": p})


@pytest.fixture
def credit(studio, loans):
    """The studio with the loans in use, and "bad" as the positive class."""
    loans.write_csv(studio.settings.folder / "credit.csv")
    opened = studio.post("open", name="credit.csv")
    known = studio.post("labels", id=opened["id"], y="Status", prob=["PD"])
    assert known["labels"] == ["bad", "good"]
    studio.post("use", id=opened["id"], y="Status", prob=["PD"], positive=0)
    return studio


def picked(studio, method):
    """What is said of the fit, and of the map once it is chosen."""
    known = studio.fitted(method, folds=2)
    return known, studio.post("pick", method=method)


def downloaded(studio, what, **query):
    answer = studio.client.get(f"/api/download/{what}", params=query)
    assert answer.status_code == 200, answer.text
    return answer


def test_every_download_is_what_the_table_says(credit, loans, tmp_path, need):
    p, happened = loans["PD"].to_numpy(), (loans["Status"] == "bad").to_numpy()
    _, chosen = picked(credit, "auto")
    table = pl.read_csv(downloaded(credit, "predictions").content)
    calibrated = table["calibrated"].to_numpy()
    assert calibrated[happened].mean() > calibrated[~happened].mean() + 0.1  # of "bad"
    assert brier_score_loss(happened, calibrated) < 0.2
    [shown] = [s["value"] for s in chosen["after"]["scores"] if s["name"] == "brier"]
    assert shown == pytest.approx(brier_score_loss(happened, calibrated), abs=1e-9)

    module: dict = {}
    source = downloaded(credit, "python").text
    exec(source, module)
    some = slice(None, None, 20)
    rows = [module["calibrate"](each) for each in p[some].tolist()]
    assert module["CLASSES"] == ["bad", "good"]
    assert np.array(rows)[:, 0] == pytest.approx(calibrated[some], abs=1e-12)
    assert "or one number, the probability that Status = bad" in module["calibrate"].__doc__

    for dialect in ("sqlite", "duckdb"):
        text = downloaded(credit, "sql", dialect=dialect).text
        assert "/* probability that Status = bad */" in text
        base = sqlite3.connect(":memory:") if dialect == "sqlite" else need("duckdb").connect()
        base.execute('CREATE TABLE loans (i INTEGER, "PD" DOUBLE)')
        base.executemany("INSERT INTO loans VALUES (?, ?)", list(enumerate(p[some].tolist())))
        found = base.execute(f"SELECT {text} FROM loans ORDER BY i").fetchall()
        base.close()
        assert [row[0] for row in found] == pytest.approx(calibrated[some].tolist(), abs=1e-12)

    path = tmp_path / "map.json"
    path.write_bytes(downloaded(credit, "json").content)
    loaded = veridical.load(path)
    assert (loaded.pos_label, loaded.outcome_name_) == ("bad", "Status")
    assert loaded.predict_proba(p)[:, 0] == pytest.approx(calibrated, abs=1e-12)
    loans.write_csv(tmp_path / "new.csv")
    asked = ["apply", str(path), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv")]
    assert main([*asked, "--pos-label", "bad"]) == 0
    assert pl.read_csv(tmp_path / "out.csv")["calibrated"].to_list() == pytest.approx(
        calibrated.tolist(), abs=1e-12
    )


def test_the_graph_is_what_the_table_says(credit, loans, need):
    runtime = need("onnxruntime")
    picked(credit, "isotonic")
    table = pl.read_csv(downloaded(credit, "predictions").content)
    content = downloaded(credit, "onnx").content
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {session.get_inputs()[0].name: loans["PD"].to_numpy()})
    assert found[:, 0] == pytest.approx(table["calibrated"].to_numpy(), abs=1e-12)
    said = session.get_modelmeta().custom_metadata_map
    assert said["veridical.positive"] == '"bad"'
    assert "probability that Status = bad" in said["veridical.columns"]


def test_diagrams_show_one_class_and_name_it(credit, loans):
    observed = float((loans["Status"] == "bad").mean())
    known, _ = picked(credit, "platt")
    live, held = credit.get("live"), known["result"]["charts"]["platt"]
    for chart in (live["chart"], held):
        assert "probability that Status = bad" in chart["title"]
    assert live["means"]["observed"] == pytest.approx(observed)
    for chart in (live["chart"], held):
        assert "predicted probability of Status = bad" in chart["html"]
        points = [
            row for row in rows_of(chart["html"]) if row.get("series", "") in ("", "as given")
        ]
        count, share = (
            np.array([float(row[name].replace(",", "")) for row in points])
            for name in ("rows", "observed")
        )
        assert count.sum() == N
        assert float(count @ share) / N == pytest.approx(observed, abs=1e-4)
    after = credit.get("live", stage="after")
    assert after["means"]["observed"] == pytest.approx(observed)


def test_the_class_is_suggested_by_order_and_by_name(studio, loans):
    grade = loans["Status"].cast(pl.Enum(["good", "bad"]))
    frame = loans.with_columns(Status=grade, p_good=1 - loans["PD"])
    frame.write_parquet(studio.settings.folder / "credit.parquet")
    opened = studio.post("open", name="credit.parquet")
    known = studio.post("labels", id=opened["id"], y="Status", prob=["PD"])
    assert (known["labels"], known["positive"]) == (["good", "bad"], 1)
    known = studio.post("labels", id=opened["id"], y="Status", prob=["p_good"])
    assert known["labels"][known["positive"]] == "good"
    used = studio.post("use", id=opened["id"], y="Status", prob=["PD"], positive=1)
    assert used["classes"] == ["good", "bad"]
