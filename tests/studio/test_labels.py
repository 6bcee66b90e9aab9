"""Labels of every kind in a file give the studio the number of the plain 0/1 arrays."""

from __future__ import annotations

import numpy as np
import pytest
from label_kinds import KINDS, P3, Y3, P, Y, brier, cell_of

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")


@pytest.mark.parametrize("container", ["CSV", "Parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_number(studio, kind, container):
    cell = cell_of(kind, container, studio.settings.folder)
    opened = studio.post("open", name=cell.table.name)
    asked = {"y": "y", "prob": list(cell.kind.columns)}
    known = studio.post("labels", id=opened["id"], **asked)["labels"]
    if "pos_label" in cell.options:
        asked["positive"] = known.index(str(cell.options["pos_label"]))
    if "labels" in cell.options:
        asked["labels"] = [known.index(label) for label in cell.options["labels"]]
    used = studio.post("use", id=opened["id"], **asked)
    if len(cell.kind.columns) == 1:
        assert used["classes"] == [str(label) for label in cell.kind.labels]  # the positive last
    scores = {score["name"]: score["value"] for score in studio.get("figures")["scores"]}
    assert scores["brier"] == pytest.approx(brier(kind), rel=1e-9)


def test_labels_are_listed_in_the_order_their_type_declares(studio):
    cell = cell_of("three ordered", "Parquet", studio.settings.folder)
    opened = studio.post("open", name=cell.table.name)
    found = studio.post("labels", id=opened["id"], y="y", prob=list(cell.kind.columns))
    assert found["labels"] == ["lo", "mid", "hi"]


def test_values_are_read_as_asked(studio):
    gaps = np.where(np.arange(len(P)) == 5, np.nan, 100 * P)
    lines = [f"{y},{'' if p != p else p}" for y, p in zip(Y, gaps, strict=True)]
    (studio.settings.folder / "percent.csv").write_text("\n".join(["y,p", *lines]))
    used = studio.use("percent.csv", "y", ["p"], scale="percent", missing="drop")
    assert used["rows"] == len(P) - 1
    scores = {score["name"]: score["value"] for score in studio.get("figures")["scores"]}
    kept = np.arange(len(P)) != 5
    assert scores["brier"] == pytest.approx(np.mean((P - Y)[kept] ** 2), rel=1e-9)
    answer = studio.client.post("/api/use", json={"id": used["id"], "y": "y", "prob": ["p"]})
    assert answer.status_code == 400
    rounded = P3.round(1)
    rows = [",".join(map(str, (y, *row))) for y, row in zip(Y3, rounded, strict=True)]
    (studio.settings.folder / "rounded.csv").write_text("\n".join(["y,p0,p1,p2", *rows]))
    studio.use("rounded.csv", "y", ["p0", "p1", "p2"], normalize=True)
    scores = {score["name"]: score["value"] for score in studio.get("figures")["scores"]}
    shares = rounded / rounded.sum(axis=1, keepdims=True)
    expected = np.mean(((shares - np.eye(3)[Y3]) ** 2).sum(axis=1))
    assert scores["brier"] == pytest.approx(expected, rel=1e-9)
