"""Reliability curves by bins."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from veridical import (
    ClassSpecific,
    InvalidInputError,
    QuantileBins,
    ReliabilityCurve,
    SweepBins,
    UniformBins,
    reliability_curve,
)


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("weight_type", ["importance", "frequency"])
def test_points_are_the_means_of_a_loop_over_bins(kind, weight_type):
    y, p, w = oracles.random_rows(kind)
    curve = reliability_curve(y, p, n_bins=9, sample_weight=w, weight_type=weight_type)
    edges = oracles.uniform_edges(9, p.dtype.type)
    cells = oracles.bin_means(y, p, oracles.bins_by_edges(p, edges), w, weight_type)
    assert len(curve) == len(cells)
    for i, cell in enumerate(cells):
        assert curve.lower[i] == cell["bin"] / 9
        assert curve.upper[i] == (cell["bin"] + 1) / 9
        assert curve.count[i] == len(cell["rows"])
        assert curve.weight[i] == pytest.approx(cell["mass"])
        assert curve.predicted[i] == pytest.approx(cell["mean_p"])
        assert curve.observed[i] == pytest.approx(cell["mean_y"])
        assert curve.gap[i] == pytest.approx(cell["mean_y"] - cell["mean_p"], abs=1e-12)
        low, high = oracles.wilson(cell["mean_y"], cell["size"], 0.95)
        assert curve.low[i] == pytest.approx(low, abs=1e-7)
        assert curve.high[i] == pytest.approx(high, abs=1e-7)


def test_empty_bins_are_absent():
    curve = reliability_curve([0, 1, 1], [0.05, 0.06, 0.95], n_bins=10)
    assert curve.lower.tolist() == [0.0, 0.9]
    assert curve.count.tolist() == [2, 1]
    assert np.isfinite(curve.predicted).all()


@pytest.mark.parametrize("binning", [QuantileBins(4), SweepBins(), UniformBins(20, min_count=9)])
def test_any_binning_gives_a_curve(binning):
    y, p, _ = oracles.random_rows("plain")
    curve = reliability_curve(y, p, binning=binning)
    assert curve.definition == binning.name
    assert curve.count.sum() == len(y)
    assert (curve.predicted >= curve.lower).all()
    assert (curve.predicted <= curve.upper).all()


def test_quantile_strategy_is_the_quantile_binning():
    y, p, _ = oracles.random_rows("plain")
    assert reliability_curve(y, p, n_bins=5, strategy="quantile") == reliability_curve(
        y, p, binning=QuantileBins(5)
    )


def test_a_curve_of_one_class_of_several():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 100)
    y = rng.integers(0, 3, 100)
    curve = reliability_curve(y, p, lens=ClassSpecific(2), n_bins=5)
    assert curve.lens == "class 2"
    one = reliability_curve((y == 2).astype(int), p[:, 2], n_bins=5)
    np.testing.assert_allclose(curve.observed, one.observed)


def test_the_curve_says_how_it_was_made():
    curve = reliability_curve([0, 1] * 10, [0.2, 0.8] * 10, n_bins=2, confidence_level=0.9)
    assert (curve.lens, curve.method, curve.definition) == ("binary", "bins", "2 equal-width bins")
    assert (curve.interval, curve.confidence_level, curve.n_samples) == ("wilson", 0.9, 20)


def test_without_interval_there_are_no_limits():
    curve = reliability_curve([0, 1], [0.2, 0.8], interval=None)
    assert curve.low is None
    assert curve.high is None
    assert curve.confidence_level is None
    assert "wilson" not in str(curve)


def test_arrays_of_a_curve_cannot_be_changed():
    curve = reliability_curve([0, 1], [0.2, 0.8])
    with pytest.raises(ValueError, match="read-only"):
        curve.observed[0] = 0.5


@pytest.mark.parametrize("interval", ["wilson", "clopper-pearson", None])
def test_a_curve_survives_json(interval):
    y, p, w = oracles.random_rows("weighted")
    curve = reliability_curve(y, p, sample_weight=w, interval=interval)
    back = ReliabilityCurve.from_json(curve.to_json())
    assert back == curve
    np.testing.assert_array_equal(back.observed, curve.observed)


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
def test_the_table_of_a_curve_has_one_row_a_bin_and_fixed_columns(backend):
    y, p, _ = oracles.random_rows("plain")
    columns = ["lower", "upper", "count", "weight", "predicted", "observed", "gap", "low", "high"]
    for interval in ("wilson", None):
        curve = reliability_curve(y, p, n_bins=5, interval=interval)
        table = curve.to_frame(backend=backend)
        names = table.column_names if backend == "pyarrow" else list(table.columns)
        assert names == columns
        assert len(table) == len(curve)


def test_the_text_of_a_curve_has_one_line_a_bin():
    y, p, _ = oracles.random_rows("plain")
    curve = reliability_curve(y, p, n_bins=5)
    lines = str(curve).splitlines()
    assert len(lines) == 2 + len(curve)
    assert "95% wilson" in lines[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "isotonik"}, "`method` must be one of"),
        ({"interval": "wald"}, "`interval` must be one of"),
        ({"strategy": "kmeans"}, "`strategy` must be one of"),
        ({"confidence_level": 95}, "`confidence_level` must be between 0 and 1"),
        ({"confidence_level": 0}, "`confidence_level` must be between 0 and 1"),
        ({"n_bins": 0}, "`n_bins` must be a positive integer"),
        ({"lens": "classwise"}, "single binary problem"),
        ({"weight_type": "freq"}, "`weight_type` must be one of"),
    ],
    ids=str,
)
def test_bad_options_are_refused(options, message):
    y, p = [0, 1, 0], [[0.5, 0.25, 0.25]] * 3
    with pytest.raises(InvalidInputError, match=message):
        reliability_curve(y, p, **options)


def test_binomial_is_wilson():
    y, p, _ = oracles.random_rows("plain")
    assert reliability_curve(y, p, interval="binomial") == reliability_curve(
        y, p, interval="wilson"
    )
