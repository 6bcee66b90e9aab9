"""Fitting to columns of frames, files and queries gives what fitting to arrays gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from calibrators.every_calibrator import BINARY
from sklearn.base import clone

from veridical.calibrators import (
    BetaCalibrator,
    Calibrator,
    DirichletCalibrator,
    EnsembleTemperatureCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    MatrixCalibrator,
    PlattCalibrator,
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
    VennAbersCalibrator,
)
from veridical.calibrators._base import frames as _fit_frame
from veridical.calibrators._softmax.truncated_newton import FullMap
from veridical.exceptions import InvalidInputError, VeridicalWarning

Need = Callable[[str], Any]
NEW = np.linspace(0.005, 0.995, 67)


def _log_odds(calibrator: Calibrator, p: np.ndarray) -> np.ndarray:
    q = calibrator.predict_proba(p)[:, 1]
    return np.log(q / (1 - q))


@pytest.fixture
def table(binary: Any) -> pl.DataFrame:
    return pl.DataFrame({"label": binary.y, "p": binary.p, "w": binary.w, "id": range(600)})


@pytest.fixture
def three_table(multiclass: Any) -> pl.DataFrame:
    columns = {f"p_{k}": multiclass.p[:, k] for k in range(3)}
    return pl.DataFrame({"label": multiclass.y, "w": multiclass.w, **columns})


def test_frames_in_memory_are_fitted_like_arrays(need: Need, binary: Any, table: Any) -> None:
    arrays = BetaCalibrator().fit(binary.p, binary.y, binary.w)
    for frame in (table, table.to_pandas(), table.to_arrow()):
        fitted = BetaCalibrator().fit(frame, "label", "w", prob="p")
        assert (fitted.a_, fitted.b_, fitted.c_) == (arrays.a_, arrays.b_, arrays.c_)
        assert fitted.feature_names_in_.tolist() == ["p"]
        assert not hasattr(fitted, "fitted_on_")
        assert fitted.seen(binary.p, binary.y) > 0.9


def test_small_files_are_read(binary: Any, table: Any, tmp_path: Path) -> None:
    table.write_csv(tmp_path / "rows.csv")
    fitted = PlattCalibrator().fit(tmp_path / "rows.csv", y="label", sample_weight="w")
    arrays = PlattCalibrator().fit(binary.p, binary.y, binary.w)
    assert (fitted.slope_, fitted.intercept_) == (arrays.slope_, arrays.intercept_)


@pytest.mark.parametrize("name", [name for name in BINARY if name != "bbq"])
def test_cells_of_equal_predictions_lose_nothing(name: str, binary: Any, table: Any) -> None:
    """Predictions of two decimals: no cell holds two different ones."""
    arrays = clone(BINARY[name]).fit(binary.p, binary.y)
    fitted = clone(BINARY[name]).fit(table.lazy(), "label")
    assert fitted.fitted_on_ == f"600 rows, pooled in {len(np.unique(binary.p))} cells"
    assert fitted.weight_type == "importance"
    assert not hasattr(fitted, "fingerprint_")
    np.testing.assert_allclose(fitted.predict_proba(NEW), arrays.predict_proba(NEW), atol=1e-7)


@pytest.mark.parametrize("name", ["platt", "beta", "quadratic", "isotonic", "density"])
def test_weights_are_those_of_the_rows(name: str, binary: Any, table: Any) -> None:
    arrays = clone(BINARY[name]).fit(binary.p, binary.y, binary.w)
    fitted = clone(BINARY[name]).fit(table.lazy(), "label", "w")
    np.testing.assert_allclose(fitted.predict_proba(NEW), arrays.predict_proba(NEW), atol=1e-7)


def test_maps_of_all_different_predictions_are_close() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(-1, 2, 20_000)
    p = 1 / (1 + np.exp(-z))
    y = (rng.random(len(z)) < 1 / (1 + np.exp(-0.7 * z - 0.3))).astype(int)
    new = np.quantile(p, np.linspace(0.01, 0.99, 99))
    frame = pl.LazyFrame({"y": y, "p": p})
    for name in ("platt", "beta", "quadratic", "density"):
        arrays = clone(BINARY[name]).fit(p, y)
        fitted = clone(BINARY[name]).fit(frame, "y")
        assert np.abs(_log_odds(fitted, new) - _log_odds(arrays, new)).max() < 1e-4, name
    arrays, fitted = IsotonicCalibrator().fit(p, y), IsotonicCalibrator().fit(frame, "y")
    assert np.abs(fitted.predict_proba(new) - arrays.predict_proba(new)).mean() < 1e-3


def test_bins_of_equal_width_are_exact() -> None:
    rng = np.random.default_rng(4)
    p, y = rng.random(5000), rng.integers(0, 2, 5000)
    arrays = HistogramCalibrator(strategy="uniform", n_bins=7).fit(p, y)
    frame = pl.LazyFrame({"y": y, "p": p})
    fitted = HistogramCalibrator(strategy="uniform", n_bins=7).fit(frame, "y")
    np.testing.assert_allclose(fitted.values_, arrays.values_, rtol=0, atol=1e-12)


def test_two_columns_the_positive_class_first(binary: Any) -> None:
    y = np.where(binary.y == 1, "yes", "no")
    frame = pl.DataFrame({"y": y, "p_yes": binary.p, "p_no": 1 - binary.p})
    arrays = PlattCalibrator().fit(binary.p, binary.y)
    for given in (frame, frame.lazy()):
        fitted = PlattCalibrator().fit(given, "y")
        assert fitted.classes_.tolist() == ["yes", "no"]
        found = fitted.predict_proba(np.column_stack([NEW, 1 - NEW]))[:, 0]
        np.testing.assert_allclose(found, arrays.predict_proba(NEW)[:, 1], atol=1e-7)
        q = fitted.transform(given).lazy().collect()
        np.testing.assert_allclose(
            q["calibrated_yes"], arrays.predict_proba(binary.p)[:, 1], atol=1e-7
        )


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_temperature_from_sums_of_the_engine(
    need: Need, multiclass: Any, three_table: Any, engine: str, weight: str | None
) -> None:
    arrays = TemperatureCalibrator().fit(multiclass.p, multiclass.y, weight and multiclass.w)
    lazy = three_table.lazy()
    if engine == "duckdb":
        lazy = need("duckdb").connect().from_arrow(three_table.to_arrow())
    fitted = TemperatureCalibrator().fit(lazy, "label", weight)
    assert fitted.temperature_ == pytest.approx(arrays.temperature_, rel=1e-8)
    assert fitted.mix_ == pytest.approx(arrays.mix_, rel=1e-12)
    assert fitted.floor_ == arrays.floor_
    assert fitted.fitted_on_ == "all 600 rows, by sums of an engine"
    np.testing.assert_allclose(
        fitted.predict_proba(multiclass.p), arrays.predict_proba(multiclass.p), atol=1e-8
    )


MAPS = [
    VectorCalibrator(),
    VectorCalibrator(penalty="odir", strength=0.1),
    MatrixCalibrator(),
    DirichletCalibrator(penalty="l2"),
    StructuredVectorCalibrator(),
    StructuredMatrixCalibrator(weight_type="frequency"),
    StructuredMatrixCalibrator(features="extended", pseudo_rows=0),
]


@pytest.mark.parametrize("map", MAPS, ids=repr)
@pytest.mark.parametrize("weight", [None, "w"])
def test_maps_of_several_classes_from_gradients_of_the_engine(
    multiclass: Any, three_table: Any, map: Any, weight: str | None
) -> None:
    arrays = clone(map).fit(multiclass.p, multiclass.y, weight and multiclass.w)
    fitted = clone(map).fit(three_table.lazy(), "label", weight)
    assert fitted.fitted_on_ == "all 600 rows, by sums of an engine"
    assert fitted.n_iter_ == arrays.n_iter_
    np.testing.assert_allclose(fitted.coef_, arrays.coef_, atol=1e-7)
    np.testing.assert_allclose(fitted.intercept_, arrays.intercept_, atol=1e-7)
    np.testing.assert_allclose(
        fitted.predict_proba(multiclass.p), arrays.predict_proba(multiclass.p), atol=1e-8
    )


def test_maps_of_too_many_parameters_are_fitted_to_a_sample(
    monkeypatch: pytest.MonkeyPatch, three_table: Any
) -> None:
    monkeypatch.setattr(FullMap, "exact_up_to", 11)  # three classes have twelve
    monkeypatch.setattr(_fit_frame, "_SAMPLE_ROWS", 300)
    with pytest.warns(VeridicalWarning, match="a stratified sample of 300 of 600 rows"):
        MatrixCalibrator().fit(three_table.lazy(), "label")


def test_temperature_where_there_is_no_optimum() -> None:
    """Never right, always right, and nothing said: the cases of the class's notes."""
    rows = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    equal = np.full((4, 3), 1 / 3)
    for p, y in ((rows, [2, 2, 0, 0]), (rows, [0, 1, 2, 2]), (equal, [0, 1, 2, 2])):
        frame = pl.LazyFrame({"y": y, **{f"p_{k}": p[:, k] for k in range(3)}})
        fitted, arrays = TemperatureCalibrator().fit(frame, "y"), TemperatureCalibrator().fit(p, y)
        assert fitted.temperature_ == pytest.approx(arrays.temperature_, rel=1e-8)


def test_other_maps_are_fitted_to_a_sample(
    monkeypatch: pytest.MonkeyPatch, multiclass: Any, three_table: Any
) -> None:
    everything = EnsembleTemperatureCalibrator().fit(three_table.lazy(), "label")  # few enough
    arrays = EnsembleTemperatureCalibrator().fit(multiclass.p, multiclass.y)
    np.testing.assert_allclose(everything.weights_, arrays.weights_, atol=1e-6)
    assert not hasattr(everything, "fitted_on_")
    monkeypatch.setattr(_fit_frame, "_SAMPLE_ROWS", 300)
    with pytest.warns(VeridicalWarning, match="a stratified sample of 300 of 600 rows"):
        fitted = EnsembleTemperatureCalibrator().fit(three_table.lazy(), "label")
    assert fitted.fitted_on_ == "a stratified sample of 300 of 600 rows"
    assert Calibrator.from_dict(fitted.to_dict()).fitted_on_ == fitted.fitted_on_
    fitted.fit(multiclass.p, multiclass.y)
    assert not hasattr(fitted, "fitted_on_")


def test_a_sample_weighs_classes_as_the_rows_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine rows of ten are negative and half of the sample is: one bin has to say 1 in 10."""
    monkeypatch.setattr(_fit_frame, "_SAMPLE_ROWS", 200)
    frame = pl.LazyFrame({"y": [0] * 900 + [1] * 100, "z": [0.0] * 1000})
    map = HistogramCalibrator(n_bins=1, laplace=0, input="logit")
    with pytest.warns(VeridicalWarning, match="sample of 200 of 1,000"):
        map.fit(frame, "y", prob="z")
    assert map.predict_proba([0.0])[0, 1] == pytest.approx(0.1, abs=1e-12)


def test_folds_are_made_of_rows(table: Any, binary: Any) -> None:
    arrays = VennAbersCalibrator(cv=3).fit(binary.p, binary.y)
    fitted = VennAbersCalibrator(cv=3).fit(table.lazy(), "label")
    np.testing.assert_array_equal(fitted.predict_proba(NEW), arrays.predict_proba(NEW))


def test_what_cannot_be_fitted_is_refused(table: Any, three_table: Any) -> None:
    with pytest.raises(InvalidInputError, match="'label' with predictions of type list"):
        PlattCalibrator().fit([0.5, 0.5], "label")
    with pytest.raises(InvalidInputError, match="name the column of labels as well"):
        PlattCalibrator().fit([0.5, 0.5], [0, 1], prob="p")
    with pytest.raises(InvalidInputError, match=r"name its column"):
        PlattCalibrator().fit(table, "label", np.ones(600))
    for frame in (table, table.lazy()):
        with pytest.raises(InvalidInputError, match="did you mean 'label'"):
            PlattCalibrator().fit(frame, "lable")
        with pytest.raises(InvalidInputError, match="a column of the data"):
            PlattCalibrator().fit(frame, "label", prob="q")
    for frame in (three_table, three_table.lazy()):
        with pytest.raises(InvalidInputError, match="OneVsRestCalibrator"):
            PlattCalibrator().fit(frame, "label")
    with pytest.raises(InvalidInputError, match=r"\[0, 1\]"):
        PlattCalibrator().fit(pl.LazyFrame({"y": [0, 1], "p": [0.5, 1.5]}), "y")
