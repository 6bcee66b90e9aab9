"""The histogram of probability vectors by hand."""

import numpy as np
import pytest

from veridical.calibrators._steps.histogram import HistogramCalibrator, SimplexHistogramCalibrator
from veridical.exceptions import InvalidInputError
from veridical.export import load


def test_frequencies_of_a_cell_by_hand():
    p = [[0.6, 0.2, 0.2], [0.7, 0.1, 0.2], [0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]
    calibrator = SimplexHistogramCalibrator(n_bins=2, laplace=2).fit(p, [0, 2, 1, 2])
    # Two rows above 1/2 for class 0, of classes 0 and 2, mean prediction (0.65, 0.15, 0.2).
    got = calibrator.predict_proba([[0.55, 0.4, 0.05]])[0]
    np.testing.assert_allclose(got, [(1 + 1.3) / 4, 0.3 / 4, (1 + 0.4) / 4], atol=1e-9)
    # One where no class is above 1/2.
    got = calibrator.predict_proba([[0.3, 0.3, 0.4]])[0]
    np.testing.assert_allclose(got, [1 / 3, (1 + 0.6) / 3, 0.4 / 3], atol=1e-9)


def test_files_written_when_the_first_class_had_no_bins_predict_as_they_did(tmp_path):
    text = (
        '{"veridical": "0.1.0", "format": 1, "calibrator": "SimplexHistogramCalibrator",'
        ' "parameters": {"input": "probability", "labels": null, "laplace": 0.0, "n_bins": 2,'
        ' "weight_type": "importance"}, "fitted": {"positive_index_": 1, "floor_": 0.0,'
        ' "keys_": {"array": [0, 0, 0, 1], "shape": [2, 2], "dtype": "<i8"},'
        ' "values_": {"array": [0.25, 0.25, 0.5, 0.0, 0.5, 0.5], "shape": [2, 3],'
        ' "dtype": "<f8"}, "classes_": {"array": [0, 1, 2], "shape": [3], "dtype": "<i8"}}}'
    )
    (tmp_path / "old.json").write_text(text, encoding="utf-8")
    calibrator = load(tmp_path / "old.json")
    new = [[0.6, 0.2, 0.2], [0.4, 0.3, 0.3], [0.1, 0.2, 0.7], [0.1, 0.8, 0.1]]
    expected = [[0.25, 0.25, 0.5], [0.25, 0.25, 0.5], [0, 0.5, 0.5], [0.1, 0.8, 0.1]]
    np.testing.assert_allclose(calibrator.predict_proba(new), expected, atol=1e-9)


def test_cells_without_rows_leave_predictions_alone():
    p = [[0.6, 0.2, 0.2], [0.5, 0.3, 0.2]]
    calibrator = SimplexHistogramCalibrator(n_bins=2).fit(p, [0, 2], None)
    new = [[0.1, 0.2, 0.7], [0.1, 0.8, 0.1]]
    np.testing.assert_allclose(calibrator.predict_proba(new), new, atol=1e-9)


def test_two_classes_are_a_histogram():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(int)
    cells = SimplexHistogramCalibrator(n_bins=10, laplace=0).fit(p, y).predict_proba(p)
    bins = HistogramCalibrator(n_bins=10, strategy="uniform", laplace=0).fit(p, y).predict_proba(p)
    np.testing.assert_allclose(cells, bins, atol=1e-9)


def test_edges_belong_to_the_cell_below():
    p = [[0.3, 0.7], [0.29, 0.71]]
    calibrator = SimplexHistogramCalibrator(n_bins=10, laplace=0).fit(p, [0, 1])
    np.testing.assert_allclose(calibrator.predict_proba(p), [[1, 0], [0, 1]])


def test_guard_keeps_every_class_possible():
    p = [[0.6, 0.2, 0.2], [0.6, 0.2, 0.2]]
    assert SimplexHistogramCalibrator(laplace=0).fit(p, [0, 0]).predict_proba(p).min() == 0
    guarded = SimplexHistogramCalibrator().fit(p, [0, 0]).predict_proba(p)[0]
    np.testing.assert_allclose(guarded, [2.6 / 3, 0.2 / 3, 0.2 / 3], atol=1e-9)


def test_integer_weights_are_repetitions():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 60)
    y, w = rng.integers(0, 3, 60), rng.integers(1, 4, 60)
    weighted = SimplexHistogramCalibrator(weight_type="frequency").fit(p, y, w)
    repeated = SimplexHistogramCalibrator().fit(np.repeat(p, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.predict_proba(p), repeated.predict_proba(p), atol=1e-12)


def test_bad_number_of_bins_is_refused():
    with pytest.raises(InvalidInputError, match="SimplexHistogramCalibrator: `n_bins`"):
        SimplexHistogramCalibrator(n_bins="sqrt").fit([0.2, 0.8], [0, 1])
