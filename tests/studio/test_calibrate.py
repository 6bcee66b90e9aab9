"""From a fit to files: what is downloaded gives the figures that were shown."""

from __future__ import annotations

import inspect
import sqlite3
import threading

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import brier_score_loss, log_loss

import veridical
import veridical.report
from veridical.calibrators import PlattCalibrator
from veridical.calibrators.core import check_rows
from veridical.cli import main
from veridical.evaluation.core import held_out
from veridical.studio._data.fit import Fit
from veridical.studio._data.session import Dataset

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def shown(picked, stage, name):
    return next(s["value"] for s in picked[stage]["scores"] if s["name"] == name)


@pytest.fixture(params=[0, 1], ids=["p of the smaller label", "p of the larger label"])
def two_classes(request, studio, ill):
    """Data in use with a calibrator chosen; outcomes of the class that `p` is about."""
    studio.use("ill.csv", "state", ["p"], positive=request.param)
    known = studio.fitted("platt", "isotonic")
    label = ("ill", "well")[request.param]
    return known, label, (ill["state"] == label).astype(int), ill["p"]


def test_held_out_figures_are_those_of_the_command_line(two_classes, ill):
    known, label, y, p = two_classes
    assert known["state"] == "done"
    rows = {row["method"]: row for row in known["result"]["rows"]}
    assert list(rows) == ["as given", "platt", "isotonic"]
    assert rows["as given"]["log"] == close(log_loss(y, p))
    checked = check_rows(
        p, ill["state"], None, input="probability", labels=["ill", "well"], pos_label=label,
        weight_type="importance", caller="test",
    )  # fmt: skip
    map = PlattCalibrator(labels=["ill", "well"], pos_label=label).fit(p, ill["state"])
    wanted = held_out(map, checked, n_folds=3, lens=None, n_bins=15).result
    assert rows["platt"]["log"] == close(wanted.evaluation("after").scores["log"])
    gap = wanted.difference("after", "before", "log")
    assert rows["platt"]["difference"]["value"] == close(gap.estimate)


def test_the_downloaded_calibrator_gives_the_figures_shown(studio, two_classes, tmp_path):
    _, label, y, p = two_classes
    picked = studio.post("pick", method="platt")
    path = tmp_path / "map.json"
    path.write_bytes(studio.client.get("/api/download/json").content)
    loaded = veridical.load(path)
    assert (loaded.pos_label, loaded.positive_label) == (label, label)
    calibrated = loaded.predict_proba(p)[:, loaded.classes_.tolist().index(label)]
    assert shown(picked, "after", "log") == close(log_loss(y, calibrated))
    assert shown(picked, "after", "brier") == close(brier_score_loss(y, calibrated))
    assert shown(picked, "before", "log") == close(log_loss(y, p))


def test_the_chosen_map_is_said_in_words(studio, two_classes, tmp_path):
    _, label, _, _ = two_classes
    picked = studio.post("pick", method="platt")
    path = tmp_path / "map.json"
    path.write_bytes(studio.client.get("/api/download/json").content)
    assert picked["explanation"] == veridical.load(path).explain()
    assert f"the probability that state = {label}" in picked["explanation"]


@pytest.mark.parametrize("what", ["json", "sql", "python", "onnx"])
def test_a_file_is_run_before_it_is_shipped(studio, two_classes, what, need):
    need("onnx")
    studio.post("pick", method="isotonic")
    asked = {"what": what} | ({"dialect": "sqlite"} if what == "sql" else {})
    made = studio.client.get("/api/checked", params=asked).json()
    assert made["target"] == what
    assert made["n_scores"] == 10_000
    assert made["max_error"] <= 1e-12
    assert made["lines"][0].startswith("IsotonicCalibrator as")


def test_predictions_keep_the_table(studio, two_classes, tmp_path, ill):
    _, label, _, p = two_classes
    studio.post("pick", method="isotonic")
    answer = studio.client.get("/api/download/predictions")
    assert answer.headers["content-disposition"] == 'attachment; filename="ill-calibrated.csv"'
    table = pl.read_csv(answer.content)
    assert table.columns == ["state", "p", "w", "g", "calibrated"]
    assert table["state"].to_list() == ill["state"].tolist()
    path = tmp_path / "map.json"
    path.write_bytes(studio.client.get("/api/download/json").content)
    loaded = veridical.load(path)
    wanted = loaded.predict_proba(p)[:, loaded.classes_.tolist().index(label)]
    assert table["calibrated"].to_numpy() == pytest.approx(wanted, abs=1e-12)
    source = studio.settings.folder / "ill.csv"
    assert main(["apply", str(path), str(source), "-o", str(tmp_path / "applied.csv")]) == 0
    applied = pl.read_csv(tmp_path / "applied.csv")["calibrated"]
    assert applied.to_numpy() == pytest.approx(wanted, abs=1e-12)
    assert not list(studio.settings.workspace.glob("calibrat*"))  # sent and deleted


def test_sql_and_python_give_the_same(studio, ill):
    studio.use("ill.csv", "state", ["p"], positive=1)
    studio.fitted("platt")
    studio.post("pick", method="platt")
    table = pl.read_csv(studio.client.get("/api/download/predictions").content)
    text = studio.client.get("/api/download/sql", params={"dialect": "sqlite"}).text
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (p REAL)")
    base.executemany("INSERT INTO t VALUES (?)", [(x,) for x in ill["p"].tolist()[:50]])
    got = [row[0] for row in base.execute(f"SELECT {text} FROM t")]
    base.close()
    assert got == pytest.approx(table["calibrated"].to_list()[:50], abs=1e-12)
    module: dict = {}
    exec(studio.client.get("/api/download/python").text, module)
    first = float(ill["p"][0])
    assert module["calibrate"](first)[1] == close(table["calibrated"][0])


def test_onnx_gives_the_same(studio, ill, need, monkeypatch):
    runtime = need("onnxruntime")
    writer = pytest.importorskip("veridical.export._tensors.onnx").to_onnx
    monkeypatch.setattr("veridical.export.to_onnx", writer, raising=False)
    studio.use("ill.csv", "state", ["p"], positive=1)
    studio.fitted("platt")
    studio.post("pick", method="platt")
    assert studio.get("state")["onnx"]
    answer = studio.client.get("/api/download/onnx")
    assert answer.status_code == 200, answer.text
    session = runtime.InferenceSession(answer.content, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    got = session.run(None, {name: ill["p"]})[0]
    table = pl.read_csv(studio.client.get("/api/download/predictions").content)
    assert np.asarray(got)[:, 1] == pytest.approx(table["calibrated"].to_numpy(), abs=1e-9)


def test_several_classes(studio, animals, tmp_path):
    prob = ["p_cat", "p_dog", "p_fox"]
    studio.use("animals.csv", "label", prob)
    assert studio.fitted("temperature")["state"] == "done"
    picked = studio.post("pick", method="temperature")
    path = tmp_path / "map.json"
    path.write_bytes(studio.client.get("/api/download/json").content)
    p = np.column_stack([animals[name] for name in prob])
    calibrated = veridical.load(path).predict_proba(p)
    assert shown(picked, "after", "log") == close(log_loss(animals["label"], calibrated))
    # The page that evaluates can look at calibrated predictions, too.
    after = studio.get("figures", stage="after")
    assert next(s["value"] for s in after["scores"] if s["name"] == "log") == close(
        log_loss(animals["label"], calibrated)
    )


def test_the_report_is_about_the_columns_in_use(studio, monkeypatch):
    studio.use("ill.csv", "state", ["p"], positive=0, weight="w", by="g")
    called = {}

    def make_report(source, *, path, **options):  # the real one takes seconds
        called.update(options, source=source)
        path.write_text("<!doctype html>")

    monkeypatch.setattr("veridical.studio._api.download.make_report", make_report)
    answer = studio.client.get("/api/download/report")
    assert answer.text == "<!doctype html>"
    assert answer.headers["content-disposition"] == 'attachment; filename="ill-report.html"'
    parameters = inspect.signature(veridical.report.make_report).parameters
    assert set(called) <= {"source", *parameters}
    assert called["source"] == studio.settings.folder / "ill.csv"
    assert (called["y"], called["prob"], called["pos_label"]) == ("state", ["p"], "ill")
    assert (called["sample_weight"], called["by"]) == ("w", "g")


def test_a_fit_can_be_cancelled(studio, monkeypatch):
    studio.use("ill.csv", "state", ["p"], positive=0)
    held = threading.Event()
    step = Fit._step

    def waiting(self, what):
        held.wait(10)
        step(self, what)

    monkeypatch.setattr(Fit, "_step", waiting)
    studio.post("fit", methods=["platt"], folds=3)
    again = studio.client.post("/api/fit", json={"methods": ["platt"], "folds": 3})
    assert again.status_code == 409
    assert studio.get("state")["current"]["name"] == "ill.csv"  # the server goes on answering
    assert studio.client.delete("/api/fit").json()["state"] == "cancelled"
    held.set()
    assert studio.get("fit")["state"] == "cancelled"
    thread = studio.client.app.state.session.fit._thread
    thread.join(10)
    assert not thread.is_alive()
    data: Dataset = studio.client.app.state.session.data
    assert data.fitted == {}


@pytest.mark.parametrize("body", [{}, {"methods": []}, {"methods": ["magic"]},
                                  {"methods": ["platt"], "folds": 1}])  # fmt: skip
def test_odd_fits_are_explained(studio, refused, body):
    studio.use("ill.csv", "state", ["p"], positive=0)
    assert refused(studio.client.post("/api/fit", json=body), 400)["hint"]


def test_without_a_calibrator_there_is_nothing_to_download(studio, refused):
    studio.use("ill.csv", "state", ["p"], positive=0)
    for what in ("json", "sql", "python", "predictions"):
        refused(studio.client.get(f"/api/download/{what}"), 409)
    refused(studio.client.get("/api/checked", params={"what": "sql"}), 409)
    refused(studio.client.get("/api/checked", params={"what": "pickle"}), 400)
    refused(studio.client.post("/api/pick", json={"method": "platt"}), 409)
    refused(studio.client.get("/api/download/password"), 400)
