"""Reading a curve at single predictions."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from veridical import InvalidInputError, UniformBins, reliability_curve
from veridical.results.curves import CurveReading


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("closed", ["right", "left"])
def test_rows_read_the_frequency_of_their_own_bin(kind, closed):
    y, p, w = oracles.random_rows(kind)
    curve = reliability_curve(y, p, binning=UniformBins(10, closed=closed), sample_weight=w)
    edges = oracles.uniform_edges(10, p.dtype.type)
    bins = oracles.bins_by_edges(p, edges, closed)
    cells = {cell["bin"]: cell for cell in oracles.bin_means(y, p, bins, w)}
    reading = curve.at(p)
    np.testing.assert_allclose(reading.observed, [cells[b]["mean_y"] for b in bins])
    assert reading.count.tolist() == [len(cells[b]["rows"]) for b in bins]
    for b, low, high in zip(bins, reading.low, reading.high, strict=True):
        (i,) = np.flatnonzero(np.abs(curve.lower - b / 10) < 1e-9)
        assert (low, high) == (curve.low[i], curve.high[i])


def test_where_no_bin_holds_rows_the_nearest_one_answers_and_says_so():
    curve = reliability_curve([0, 1, 1, 1], [0.05, 0.06, 0.95, 0.96], n_bins=10)
    reading = curve.at([0.0, 0.1, 0.45, 0.5, 0.55, 0.9, 1.0])
    assert reading.observed.tolist() == [0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0]
    assert reading.count.tolist() == [2, 2, 0, 0, 0, 0, 2]


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_rows_read_their_isotonic_fit(kind):
    y, p, w = oracles.random_rows(kind)
    reading = reliability_curve(y, p, method="isotonic", sample_weight=w).at(p)
    np.testing.assert_allclose(reading.observed, oracles.isotonic(y, p, w), atol=1e-9)
    assert (reading.count > 0).all()
    assert reading.low is None


def test_between_isotonic_blocks_the_nearest_answers():
    curve = reliability_curve([0, 0, 1, 1], [0.2, 0.3, 0.6, 0.7], method="isotonic")
    reading = curve.at([0.0, 0.25, 0.4, 0.5, 0.65, 1.0])
    assert reading.observed.tolist() == [0, 0, 0, 1, 1, 1]
    assert reading.count.tolist() == [0, 2, 0, 0, 2, 0]


def test_between_blocks_a_simultaneous_band_is_that_of_the_neighbours():
    curve = reliability_curve(
        [0] * 20 + [1] * 20, [0.2] * 20 + [0.6] * 20, method="isotonic", interval="simultaneous"
    )
    reading = curve.at([0.1, 0.2, 0.4, 0.6, 0.8])
    assert reading.low.tolist() == [0.0, curve.low[0], curve.low[0], curve.low[1], curve.low[1]]
    assert reading.high.tolist() == [curve.high[0], curve.high[0], curve.high[1], curve.high[1], 1]


@pytest.mark.parametrize("method", ["density", "smooth"])
def test_smooth_curves_are_read_along_lines(method):
    y, p, _ = oracles.random_rows("plain")
    curve = reliability_curve(
        y, p, method=method, bandwidth=0.1, interval="bootstrap", n_resamples=20, rng=0
    )
    x, a, b = curve.predicted, curve.observed, curve.low
    reading = curve.at([x[7], 0.25 * x[7] + 0.75 * x[8], 0.0, 1.0])
    assert reading.observed[:2] == pytest.approx([a[7], 0.25 * a[7] + 0.75 * a[8]])
    assert reading.low[:2] == pytest.approx([b[7], 0.25 * b[7] + 0.75 * b[8]])
    assert reading.observed[2:].tolist() == [a[0], a[-1]]
    assert reading.count[0] == curve.count[7]


def test_a_number_and_an_empty_list_can_be_read():
    curve = reliability_curve([0, 1], [0.2, 0.8], n_bins=2)
    assert curve.at(0.8).observed.tolist() == [1.0]
    assert curve.at(np.float32(0.1)).observed.tolist() == [0.0]
    assert len(curve.at([])) == 0


def test_a_reading_is_a_result():
    reading = reliability_curve([0, 1], [0.2, 0.8], n_bins=2).at([0.25, 0.75])
    assert CurveReading.from_json(reading.to_json()) == reading
    assert reading.to_frame().columns == ["predicted", "observed", "count", "low", "high"]
    assert len(str(reading).splitlines()) == 4
    assert (reading.interval, reading.confidence_level) == ("wilson", 0.95)
    with pytest.raises(ValueError, match="read-only"):
        reading.observed[0] = 0.3


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (1.5, r"at: `p` must be in \[0, 1\]"),
        ([0.2, np.nan], "at: `p` must be finite"),
        ([[0.2, 0.8]], "at: `p` must be a number or of shape"),
        ("0.5", "at: `p` must be"),
    ],
    ids=str,
)
def test_what_is_not_a_probability_cannot_be_read(p, message):
    with pytest.raises(InvalidInputError, match=message):
        reliability_curve([0, 1], [0.2, 0.8]).at(p)
