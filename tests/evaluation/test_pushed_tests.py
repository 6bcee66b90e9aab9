"""Tests of calibration and comparisons from sums, against those of the rows."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from veridical import InvalidInputError, calibration_tests, compare
from veridical.evaluation._figures.summary import grid_summary

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
N = 3000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(11)
    a = rng.beta(1.0, 1.3, N).clip(0.001, 0.999)
    a[:300] = rng.integers(1, 10, 300) / 10
    y = (rng.random(N) < a).astype(int)
    b = np.clip(0.8 * a + 0.1 + rng.normal(0, 0.05, N), 0.001, 0.999)
    return pl.DataFrame(
        {
            "y": y,
            "a": a,
            "b": b,
            "c": (b * b).astype(np.float32),
            "w": rng.gamma(2.0, 1.0, N) * (rng.random(N) < 0.9),
            "g": rng.choice(["x", "y", "z"], N),
        }
    )


@pytest.fixture(params=["polars", "duckdb"])
def lazy(request, need):
    if request.param == "polars":
        return lambda frame: frame.lazy()
    duckdb = need("duckdb")
    return lambda frame: duckdb.from_arrow(frame.to_arrow())


def test_the_battery_of_a_query_is_that_of_its_rows(lazy, frame):
    options = {"y": "y", "prob": "a", "by": "g", "n_bins": 10, "rng": 5, "n_resamples": 200}
    expected = calibration_tests(frame, **options)
    found = calibration_tests(lazy(frame), **options)
    assert found.names == expected.names
    assert found.n_samples == expected.n_samples == N
    assert found.lens == "binary"
    for name in found.names:
        one, other = found.test(name), expected.test(name)
        assert one.n_samples == other.n_samples
        assert one.method == other.method
        if name == "t-cal":  # looks at bins finer than cells
            continue
        fine = name == "hosmer-lemeshow"  # percentiles move by a row or two of a cell
        assert one.statistic == pytest.approx(other.statistic, rel=0.1 if fine else 1e-3, abs=1e-3)
        assert one.pvalue == pytest.approx(other.pvalue, abs=0.06 if fine else 1e-3)
    consistency = found.test("consistency")
    assert consistency.statistic == pytest.approx(expected.test("consistency").statistic, abs=1e-12)
    assert consistency.pvalue == expected.test("consistency").pvalue  # the same draws
    assert found.groups.names == ("x", "y", "z")
    np.testing.assert_allclose(found.groups.statistics, expected.groups.statistics, atol=1e-12)
    np.testing.assert_allclose(found.groups.adjusted, expected.groups.adjusted, atol=1e-12)
    assert found.groups.n_samples == expected.groups.n_samples
    assert any("made from sums by 10 bins" in note for note in found.notes)


def test_weighted_rows(frame):
    options = {"y": "y", "prob": "b", "sample_weight": "w", "n_bins": 10}
    expected = calibration_tests(frame, **options)
    found = calibration_tests(frame.lazy(), **options)
    assert found.n_samples == expected.n_samples == (frame["w"] > 0).sum()
    p, y, w = (frame[name].to_numpy() for name in ("b", "y", "w"))
    # Spiegelhalter's z by its formula: the sum of w (y - p)(1 - 2p), over its deviation.
    z = (w * (y - p) * (1 - 2 * p)).sum() / math.sqrt((w**2 * (1 - 2 * p) ** 2 * p * (1 - p)).sum())
    assert found.test("spiegelhalter").statistic == pytest.approx(z, rel=1e-4)
    one, other = found.test("consistency"), expected.test("consistency")
    assert one.statistic == pytest.approx(other.statistic, abs=1e-12)
    assert one.pvalue == pytest.approx(other.pvalue, abs=0.05)  # 1000 draws each
    assert found.test("cox").statistic == pytest.approx(expected.test("cox").statistic, rel=0.01)
    assert found.slope.estimate == pytest.approx(expected.slope.estimate, abs=1e-3)
    assert any("T-Cal was left out" in note for note in found.notes)


def test_classes_one_by_one(multiclass):
    names = ["p_0", "p_1", "p_2"]
    frame = pl.DataFrame({"y": multiclass.y, **dict(zip(names, multiclass.p.T, strict=True))})
    expected = calibration_tests(frame, y="y", prob=names)
    found = calibration_tests(frame.lazy(), y="y", prob=names)
    assert found.lens == "confidence"
    assert found.classes.names == (0, 1, 2)
    np.testing.assert_allclose(found.classes.statistics, expected.classes.statistics, atol=1e-12)
    for one, other in zip(found.classes.pvalues, expected.classes.pvalues, strict=True):
        assert one == pytest.approx(other, abs=5 * math.sqrt(0.5 / 1000))
    assert found.classes.correction == "holm"
    assert any("engine='memory'" in note for note in found.notes)
    with pytest.raises(InvalidInputError, match="of one problem for sums"):
        calibration_tests(frame.lazy(), y="y", prob=names, lens="classwise")


def test_a_summary_is_tested_like_its_rows(frame):
    summary = grid_summary(frame, y="y", prob="b", n_bins=10)
    options = {"n_bins": 10, "n_resamples": 200}
    expected = calibration_tests(frame, y="y", prob="b", **options)
    found = calibration_tests(summary, **options)
    assert found.rejected
    assert expected.rejected
    assert found.verdict.kind == expected.verdict.kind
    # A summary does not know what its columns were called; these are called "y", as by default.
    assert found.verdict.text.split("(")[0] == expected.verdict.text.split("(")[0]
    kernel = calibration_tests(
        summary, n_bins="cv", tests=["consistency", "kernel"], n_resamples=50
    )
    assert kernel.test("kernel").n_samples == N
    assert kernel.test("consistency").pvalue == pytest.approx(1 / 51)


def without_notes(comparison):
    return {key: value for key, value in comparison.to_dict().items() if key != "notes"}


def assert_differences_alike(found, expected):
    assert len(found.differences) == len(expected.differences)
    for one, other in zip(found.differences, expected.differences, strict=True):
        assert (one.first, one.second) == (other.first, other.second)
        a, b = one.difference, other.difference
        squared = a.estimator.startswith("squared")
        for name in ("estimator", "definition", "lens", "n_samples", "method"):
            assert getattr(a, name) == getattr(b, name)
        for name in ("estimate", "first", "second"):
            assert getattr(a, name) == pytest.approx(getattr(b, name), abs=1e-12)
        if squared:  # sums do not know the pairs of rows whose noise is counted twice
            assert b.width - 1e-12 <= a.width <= 1.5 * b.width
            continue
        for name in ("low", "high"):  # of scores: normal from sums, of a bounded variable from rows
            within = 0.15 * (b.high - b.low)
            assert getattr(a, name) == pytest.approx(getattr(b, name), abs=within)


MODELS = {"first": "a", "second": "b", "third": "c"}


def test_models_are_compared_where_they_are(lazy, frame):
    arrays = {name: frame[column].to_numpy() for name, column in MODELS.items()}
    options = {"n_bins": 10, "n_resamples": 100}
    expected = compare(arrays, frame["y"].to_numpy(), **options)
    assert without_notes(compare(MODELS, frame, y="y", **options)) == without_notes(expected)
    found = compare(MODELS, lazy(frame), y="y", **options)
    assert_differences_alike(found, expected)
    assert found.n_samples == N
    for one, other in zip(found.evaluations, expected.evaluations, strict=True):
        assert one.error("ECE").value == pytest.approx(other.error("ECE").value, abs=1e-12)
        assert one.error("ECE").pvalue == other.error("ECE").pvalue
    for test, other in zip(found.tests, expected.tests, strict=True):
        assert test.statistic == pytest.approx(other.statistic, abs=1e-12)
        assert test.n_samples == N
    assert any("made from sums" in note for note in found.notes)


def test_weighted_models_and_a_reference(lazy, frame):
    options = {"y": "y", "sample_weight": "w", "reference": "second", "n_bins": 5}
    options |= {"n_resamples": 50}
    expected = compare(MODELS, frame, **options)
    assert_differences_alike(compare(MODELS, lazy(frame), **options), expected)


def test_the_other_class_may_be_the_positive_one(frame):
    """Ties at one half go to the first column; probabilities are of the label asked for."""
    half = frame.with_columns(a=pl.col("a").round(1), b=pl.col("b").round(1).clip(0.1, 0.9))
    options = {"y": "y", "pos_label": 0, "n_bins": 4, "n_resamples": 20}
    expected = compare({"a": "a", "b": "b"}, half, **options)
    assert_differences_alike(compare({"a": "a", "b": "b"}, half.lazy(), **options), expected)


def test_two_columns_a_model(frame):
    both = frame.with_columns(a_0=1 - pl.col("a"), a_1=pl.col("a"), b_0=1 - pl.col("b"), b_1="b")
    models = {"a": ["a_0", "a_1"], "b": ["b_0", "b_1"]}
    options = {"y": "y", "n_resamples": 20, "n_bins": "sqrt"}
    expected = compare(models, both, **options)
    found = compare(models, both.lazy(), **options)
    for one, other in zip(found.differences, expected.differences, strict=True):
        # Bins of the errors come from cells here, scores from rows.
        within = 1e-4 if "squared" in one.difference.estimator else 1e-12
        assert one.difference.estimate == pytest.approx(other.difference.estimate, abs=within)


def test_what_sums_cannot_compare_reads_the_rows(frame):
    options = {"y": "y", "groups": "g", "n_resamples": 20}
    expected = compare(MODELS, frame, **options)
    assert compare(MODELS, frame.lazy(), **options).to_dict() == expected.to_dict()
    with pytest.raises(
        InvalidInputError, match='`engine` must be "auto" or "memory" here; got groups'
    ):
        compare(MODELS, frame, **options, engine="pushdown")
    with pytest.raises(InvalidInputError, match="`predictions` must be names of columns"):
        compare({"a": frame["a"], "b": "b"}, frame, y="y")
    with pytest.raises(InvalidInputError, match="`y_true` must be a frame or a file if `y`"):
        compare({"a": "a", "b": "b"}, [0, 1], y="y")
    with pytest.raises(InvalidInputError, match="did you mean"):
        compare({"a": "a", "b": "bb"}, frame.lazy(), y="y")
