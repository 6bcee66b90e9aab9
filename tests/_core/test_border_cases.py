"""Inputs that NumPy would quietly turn into something else."""

import numpy as np
import pandas as pd
import pytest

import veridical as v
from veridical import InvalidInputError, UniformBins
from veridical._core.runtime.files import write_whole
from veridical._core.sample import BinarySample

HALF = [0.5, 0.5]


@pytest.mark.parametrize(
    ("y", "p", "options", "match"),
    [
        (["a", float("nan")], HALF, {}, "`y_true` must be free of missing values"),
        (["a", 1], HALF, {}, "`y_true` must be labels of one kind"),
        ([1e300, 2e300], HALF, {}, "`y_true` must be class labels"),
        ([2**70, 2**71], HALF, {}, "`y_true` must be class labels"),
        ([0, 1 + 0j], HALF, {}, "`y_true` must be labels that are .*; got complex"),
        ([0, np.inf], HALF, {}, r"got inf at index 1 \(1 of 2"),
        ([0, 1], ["0.5", "0.5"], {}, "`y_prob` must be numeric; got values such as '0.5'"),
        ([0, 1], np.array([0, 1], "M8[s]"), {}, "`y_prob` must be numeric"),
        ([0, 1], [0.5 + 0j, 0.5], {}, "`y_prob` must be numeric"),
        ([0, 1], [10**400, 0.5], {}, "`y_prob` must be numeric"),
        ([0], np.array(0.5), {}, "`y_prob` must be array-like"),
        ([0, 1], [1.0000000000000002, 0.5], {}, "got 1.0000000000000002 at index 0"),
        ([0, 1], HALF, {"sample_weight": ["1", "2"]}, "`sample_weight` must be numeric"),
        ([0, 1], HALF, {"labels": [float("nan"), 1]}, "`labels` must be free of missing"),
        ([0, 1], HALF, {"labels": ["a", 1]}, "`labels` must be labels of one kind"),
        ([0, 1], HALF, {"pos_label": np.array([0, 1])}, "`pos_label` must be one of"),
        ([0, 1], HALF, {"pos_label": pd.NA}, "`pos_label` must be one of the classes"),
        (np.array([0, 1], "M8[s]"), HALF, {"labels": [0, 1]}, "strings; got dates"),
        ([0, 1], [[np.inf, -np.inf, 1], [0.2, 0.3, 0.5]], {}, "`y_prob` must be finite"),
        ([0, 1], np.full((2, 50), 1e308), {}, r"`y_prob` must be in \[0, 1\]"),
        ([0, 1], np.full((2, 5), 3e38, np.float32), {}, r"`y_prob` must be in \[0, 1\]"),
    ],
)
def test_what_is_no_label_or_probability_is_refused(y, p, options, match):
    with pytest.raises(InvalidInputError, match=match):
        v.brier_score(y, p, **options)


@pytest.mark.parametrize("kind", ["u1", "u8", ">i4", "i2"])
def test_integers_of_any_size_and_byte_order_are_classes(kind):
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet([1, 1, 1], 90), rng.integers(0, 3, 90)
    for lens in ("confidence", "classwise", "canonical"):
        plain = v.expected_calibration_error(y, P, lens=lens, n_bins=4)
        assert v.expected_calibration_error(y.astype(kind), P, lens=lens, n_bins=4) == plain


@pytest.mark.parametrize("factor", [1e-200, 1e-310, 1e300])
def test_the_scale_of_weights_may_be_extreme(factor):
    rng = np.random.default_rng(1)
    p = rng.random(300)
    y, w = (rng.random(300) < p).astype(int), rng.uniform(1, 2, 300)
    for options in ({"debias": True}, {"norm": 2, "debias": True}, {"n_bins": "sqrt"}):
        expected = v.expected_calibration_error(y, p, sample_weight=w, **options)
        scaled = v.expected_calibration_error(y, p, sample_weight=w * factor, **options)
        assert scaled == pytest.approx(expected, rel=1e-9)


def test_a_heavy_row_does_not_leave_a_bin_below_the_minimum():
    sample = BinarySample(
        y=np.array([0, 1] * 4 + [1]),
        p=np.array([0.1] * 4 + [0.4] * 4 + [0.9]),
        weight=np.array([1.0] * 8 + [20.0]),
    )
    size = v.summarise(sample, UniformBins(3, min_count=2)).size
    assert (size >= 2).all() or size.shape[1] == 1


def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such folder"):
        write_whole(tmp_path / "nowhere" / "result.txt", "text")


def test_subpackages_are_attributes():
    assert v.scores.RULES[0] == "brier"
    assert v.lenses.Confidence is v.Confidence
