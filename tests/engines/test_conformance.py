"""The same call on every engine gives the answer of arrays: evaluate, test, fit, apply, refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engines.engine_frames import ENGINES

import veridical as v
from veridical.frames.tables import open_table

LAZY = [engine for engine in ENGINES if engine not in ("pandas", "polars", "pyarrow")]
# From a few rows, with doubts about them that are not the point here.
pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")


def _data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    n = 900
    p = rng.beta(0.8, 0.9, n).round(3)
    p[:4] = [0.0, 1.0, 0.5, 0.7]
    y = (rng.random(n) < 0.15 + 0.7 * p).astype(np.int64)
    return {
        "label": y,
        "p": p,
        "w": rng.integers(0, 3, n).astype(np.float64),
        "site": np.array(["north", "south"])[rng.integers(0, 2, n)].astype(object),
    }


DATA = _data()
BINNED = ("ECE", "RMSCE", "MCE", "ECE debiased", "RMSCE debiased")


@pytest.fixture(scope="module")
def in_memory() -> v.Evaluation:
    y, p, site = DATA["label"], DATA["p"], DATA["site"]
    return v.evaluate(y, p, by=site, n_resamples=99)


@pytest.mark.parametrize("engine", ENGINES)
def test_evaluate(engine: str, frame_of: Any, in_memory: v.Evaluation) -> None:
    frame = frame_of(engine, DATA)
    found = v.evaluate(frame, y="label", prob="p", by="site", n_resamples=99)
    for mine, theirs in ((found, in_memory), *_groups(found, in_memory)):
        assert mine.n_samples == theirs.n_samples
        assert mine.scores == pytest.approx(theirs.scores, rel=1e-9)
        assert mine.curve.count.tolist() == theirs.curve.count.tolist()
        for name in BINNED:
            one, other = mine.error(name), theirs.error(name)
            assert one.value == pytest.approx(other.value, abs=1e-9)
            assert one.low == (None if other.low is None else pytest.approx(other.low, abs=1e-9))
            assert one.null_mean == pytest.approx(other.null_mean, rel=0.15)
        # Scores of three decimals are cells of their own: nothing is moved.
        assert mine.auc == pytest.approx(theirs.auc, abs=1e-9)
        assert mine.slope is not None
        assert theirs.slope is not None
        assert mine.slope.estimate == pytest.approx(theirs.slope.estimate, rel=1e-6)


def _groups(found: v.Evaluation, expected: v.Evaluation) -> list[tuple[Any, Any]]:
    assert [key for key, _ in found.groups] == [key for key, _ in expected.groups]
    return [(a, b) for (_, a), (_, b) in zip(found.groups, expected.groups, strict=True)]


@pytest.mark.parametrize("engine", LAZY)
def test_weighted_tests(engine: str, frame_of: Any) -> None:
    frame = frame_of(engine, DATA)
    options: dict[str, Any] = {"tests": ["spiegelhalter", "cox"], "n_resamples": 99, "rng": 0}
    found = v.calibration_tests(frame, y="label", prob="p", sample_weight="w", **options)
    y, p, w = DATA["label"], DATA["p"], DATA["w"]
    expected = v.calibration_tests(y, p, sample_weight=w, **options)
    for mine, theirs in zip(found.tests, expected.tests, strict=True):
        assert mine.statistic == pytest.approx(theirs.statistic, rel=1e-2)


@pytest.mark.parametrize("engine", ENGINES)
def test_fit_and_transform(engine: str, frame_of: Any) -> None:
    frame = frame_of(engine, DATA)
    fitted = v.PlattCalibrator().fit(frame, y="label", prob="p")
    expected = v.PlattCalibrator().fit(DATA["p"], DATA["label"])
    assert fitted.slope_ == pytest.approx(expected.slope_, rel=1e-5)
    made = open_table(fitted.transform(frame, prob="p", names=["q"]), caller="test")
    order = np.argsort(made.column("p", caller="test", param="p"), kind="stable")
    got = np.asarray(made.column("q", caller="test", param="q"), dtype=np.float64)[order]
    np.testing.assert_allclose(
        got, fitted.predict_proba(np.sort(DATA["p"]))[:, 1], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("value", [1.5, np.nan, None])
def test_bad_rows_are_refused_as_in_memory(engine: str, value: Any, frame_of: Any) -> None:
    p = DATA["p"].astype(object) if value is None else DATA["p"].copy()
    p[[3, 8]] = value
    frame = frame_of(engine, {"label": DATA["label"], "p": p})
    with pytest.raises(v.InvalidInputError) as found:
        v.evaluate(frame, y="label", prob="p")
    plain = np.array([np.nan if x is None else x for x in p], dtype=np.float64)
    with pytest.raises(v.InvalidInputError) as expected:
        v.evaluate(DATA["label"], plain)
    assert _without_place(found.value) == _without_place(expected.value)
    assert "(2 of 900" in str(found.value)


def _without_place(error: Exception) -> tuple[str, str]:
    """What was expected, and the hint; where it was is told by number, or by example."""
    first, hint = str(error).splitlines()[:2]
    return first.split("; got")[0], hint
