"""Maps of several classes fitted where the rows are, by sums of gradients: those of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engines.engine_frames import _IBIS, _SPARK, EAGER, ENGINES, make_frame
from sklearn.base import clone

from veridical.calibrators import MatrixCalibrator, StructuredMatrixCalibrator, VectorCalibrator

LABELS = np.array(["ant", "bee", "fly"])
CLUSTERS = ("dask", _SPARK)  # seconds a pass: one map is enough
LAZY = [engine for engine in ENGINES if engine not in (*EAGER, _IBIS, *CLUSTERS)]


def _data(n: int = 500) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1.0, 2.0, 1.0], n)
    q = p ** [[1.5, 1.2, 0.9]] * [[1.0, 0.7, 1.3]]
    q /= q.sum(axis=1, keepdims=True)
    code = (rng.random(n)[:, None] > q.cumsum(axis=1)).sum(axis=1).clip(max=2)
    columns = {f"p_{label}": p[:, k] for k, label in enumerate(LABELS)}
    return {"kind": LABELS[code].astype(object), "w": rng.gamma(2.0, size=n)} | columns


DATA = _data()
PROB = [f"p_{label}" for label in LABELS]
MATRIX = np.column_stack([DATA[name] for name in PROB])


@pytest.mark.parametrize("engine", LAZY)
@pytest.mark.parametrize(
    "map", [VectorCalibrator(), MatrixCalibrator(), StructuredMatrixCalibrator()]
)
def test_fits_are_those_of_arrays(engine: str, map: Any, request: pytest.FixtureRequest) -> None:
    _check_fit(engine, map, request)


@pytest.mark.parametrize("engine", CLUSTERS)
def test_fits_on_clusters_are_those_of_arrays(engine: str, request: pytest.FixtureRequest) -> None:
    _check_fit(engine, StructuredMatrixCalibrator(), request)


def _check_fit(engine: str, map: Any, request: pytest.FixtureRequest) -> None:
    frame = make_frame(engine, DATA, request.getfixturevalue)
    fitted = clone(map).fit(frame, "kind", "w", prob=PROB)
    arrays = clone(map).fit(MATRIX, DATA["kind"], DATA["w"])
    assert fitted.fitted_on_ == "all 500 rows, by sums of an engine"
    assert fitted.classes_.tolist() == LABELS.tolist()
    np.testing.assert_allclose(fitted.coef_, arrays.coef_, atol=1e-6)
    np.testing.assert_allclose(
        fitted.predict_proba(MATRIX), arrays.predict_proba(MATRIX), atol=1e-6
    )
