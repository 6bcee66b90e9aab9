"""Doubts an evaluation tells about."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from veridical import VeridicalWarning, evaluate


def calibrated(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


def test_a_sound_evaluation_has_no_notes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(*calibrated(1000)).notes == ()


def test_predictions_that_tell_nothing_are_said_to_be_beyond_help():
    y, p = calibrated(2000)
    with pytest.warns(VeridicalWarning, match="near 0.5"):
        e = evaluate(np.random.default_rng(9).permutation(y), p)
    (note,) = e.notes
    assert abs(e.auc - 0.5) < 0.05
    assert f"AUC {e.auc:.3f} is near 0.5" in note
    assert "calibration cannot help with that" in note


@pytest.mark.filterwarnings("ignore:evaluate. .*(rows a bin|bins asked for)")
def test_reversed_predictions_raise_the_question_of_the_positive_class():
    y, p = calibrated(2000)
    with pytest.warns(VeridicalWarning, match="Reversed: the prediction looks like the prob") as w:
        e = evaluate(1 - y, p)
    assert e.verdict.kind == "reversed"
    assert str(w[0].message) == f"evaluate: {e.verdict.headline}"
    few = np.random.default_rng(0).permutation(2000)[:14]  # too few to be sure
    with pytest.warns(VeridicalWarning, match="below 0.5: is the right class taken as positive"):
        e = evaluate(1 - y[few], p[few])
    assert e.verdict.kind != "reversed"
    assert e.notes[0].endswith("See `pos_label`")  # the warning adds the full stop


def test_few_rows_a_bin_are_said_to_bias_binned_errors():
    with pytest.warns(VeridicalWarning, match=r"4\.\d rows a bin on average: binned errors"):
        evaluate(*calibrated(70))


def test_an_infinite_log_score_is_explained():
    y, p = calibrated(1000)
    p[0], y[0] = 0.0, 1
    with pytest.warns(VeridicalWarning, match="something happened that was given probability 0"):
        e = evaluate(y, p)
    assert e.scores["log"] == math.inf
    assert e.decompositions[1].miscalibration == math.inf


def test_absent_classes_are_named_and_of_many_the_first():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(10), 500)
    y = p[:, :2].argmax(axis=1)
    with pytest.warns(
        VeridicalWarning, match=r"8 of 10 classes did not occur: 2, 3, 4, 5, 6, \.\."
    ):
        evaluate(y, p, n_bins=4)


def test_doubts_of_a_binning_say_which_figure_they_belong_to():
    y, p = [0, 1, 1, 0] * 100, [0.2, 0.2, 0.8, 0.8] * 100
    y[0] = 1
    with (
        pytest.warns(
            VeridicalWarning, match="ECE equal-mass: 15 equal-mass bins asked for, 2 made"
        ),
        pytest.warns(VeridicalWarning, match="near 0.5"),
    ):
        evaluate(y, p)


def test_every_note_is_also_a_warning_once():
    y, p = calibrated(60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        e = evaluate(1 - y, p)
    assert [str(w.message) for w in caught] == [f"evaluate: {note}." for note in e.notes]
    assert len(set(e.notes)) == len(e.notes) >= 2


def test_a_guess_of_columns_is_a_note_but_no_warning():
    y, p = calibrated(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        e = evaluate(pd.DataFrame({"label": y, "p": p}))
    assert e.notes == ("guessed y='label', prob='p'; pass others if that is wrong",)
    assert "note: guessed y='label', prob='p'; pass others if that is wrong" in str(e)
