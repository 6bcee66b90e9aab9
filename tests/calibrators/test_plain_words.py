"""What is said of frames that went through another map, and of labels of thousands of letters."""

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from veridical.calibrators import IsotonicCalibrator, TemperatureCalibrator
from veridical.exceptions import InvalidInputError, invalid


def _rows():
    rng = np.random.default_rng(0)
    p = rng.random(100)
    return p, (rng.random(100) < p).astype(int)


def test_a_frame_through_a_pipeline_is_refused_with_the_way_out():
    p, y = _rows()
    steps = make_pipeline(TemperatureCalibrator(), IsotonicCalibrator())
    with pytest.raises(InvalidInputError, match="'calibrated' beside 'p'") as caught:
        steps.fit(pl.DataFrame({"p": p}), y)
    assert "ChainedCalibrator" in caught.value.hint
    assert steps.fit(p[:, None], y).predict_proba(p[:3, None]).shape == (3, 2)


def test_labels_of_thousands_of_letters_are_cut():
    p, y = _rows()
    map = TemperatureCalibrator().fit(p, np.where(y == 1, "b" * 5000, "a" * 5000))
    for text in (map.explain(), str(map.inverse(0.4))):
        assert "b" * 60 in text
        assert "b" * 61 not in text
    error = invalid("f", "x", "e" * 5000, "g" * 5000, hint="h" * 5000)
    assert len(str(error)) < 1300
