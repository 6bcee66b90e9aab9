"""SQL for Spark, and calibrated columns of Spark frames, executed by Spark."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from export import maps

from veridical.export import to_sql

CLOSE = 1e-12
ONE = ("platt", "beta", "uniform", "histogram", "temperature")


def test_one_column_of_probabilities(spark: Any) -> None:
    fitted = [maps.fitted(name) for name in ONE]
    p = maps.hard_scores(maps.fitted("uniform"))
    found = spark([to_sql(each, dialect="spark", columns="p") for each in fitted], {"p": p})
    expected = np.column_stack([each.predict_proba(p)[:, 1] for each in fitted])
    assert np.abs(found - expected).max() < CLOSE


def test_three_classes(spark: Any) -> None:
    rows, fitted = maps.hard_rows(), [maps.fitted_three(n) for n in ("vector", "conditional")]
    table = dict(zip(["a", "b", "c"], rows.T, strict=True))
    texts = [to_sql(each, dialect="spark", columns=["a", "b", "c"]) for each in fitted]
    found = spark([text for each in texts for text in each], table)
    expected = np.column_stack([each.predict_proba(rows) for each in fitted])
    assert np.abs(found - expected).max() < CLOSE


def test_what_predict_proba_refuses_is_null(spark: Any) -> None:
    sql = to_sql(maps.fitted("platt"), dialect="spark", columns="a `b`")
    assert isinstance(sql, str)
    assert sql.startswith("/* probability of 1 */\n")
    refused = np.array([None, 0.25, -0.1, 1.5, float("nan"), float("inf")], dtype=object)
    found = spark([sql], {"a `b`": refused})[:, 0]
    assert np.isnan(found).tolist() == [True, False, True, True, True, True]


@pytest.mark.parametrize("name", ["platt", "isotonic"])
def test_calibrated_columns(spark_session: Any, name: str) -> None:
    """The isotonic map has more pieces than Spark would be given a tree of."""
    calibrator = maps.fitted(name)
    scores = maps.hard_scores(calibrator)
    cells = [(i, p) for i, p in enumerate([*scores.tolist(), None, float("nan"), 1.5])]
    frame = spark_session.createDataFrame(cells, "id INT, p DOUBLE").coalesce(1)
    rows = sorted(calibrator.transform(frame).select("id", "calibrated").collect())
    found = [value for _, value in rows]
    assert found[-3:] == [None] * 3
    expected = calibrator.predict_proba(scores)[:, 1]
    assert np.abs(np.array(found[:-3]) - expected).max() < CLOSE
