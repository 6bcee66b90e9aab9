"""Results lose nothing on the way through JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import veridical as v
from veridical._core.sample import BinarySample, MulticlassSample

# Random samples are small: doubts about them are justified and not the point.
pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

BINARY, MULTICLASS = st.from_type(BinarySample), st.from_type(MulticlassSample)
# NumPy's text drops trailing null characters; surrogates are not text.
CHARACTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
TEXT = st.text(CHARACTERS, min_size=1, max_size=5)
few = settings(max_examples=25)  # an evaluation takes milliseconds


def evaluate(*data, **options):
    return v.evaluate(*data, n_resamples=5, **options)


def assert_lossless(result):
    text = result.to_json()
    again = type(result).from_json(text)
    assert again == result
    assert again.to_json() == text
    assert type(result).from_dict(result.to_dict()) == result
    assert str(again) == str(result)
    json.loads(text, parse_constant=pytest.fail)  # no NaN or Infinity, which are not JSON
    return again


@few
@given(BINARY, st.integers(1, 20))
def test_a_binary_evaluation_survives_json(sample, n_bins):
    result = evaluate(sample.y, sample.p, n_bins=n_bins, sample_weight=sample.weight)
    again = assert_lossless(result)
    assert again.classes == result.classes
    assert again.scores == result.scores
    np.testing.assert_array_equal(again.curve.observed, result.curve.observed)
    assert again._repr_html_() == result._repr_html_()


@few
@given(MULTICLASS, st.sampled_from([None, "classwise", "canonical", "pooled"]))
def test_a_multiclass_evaluation_survives_json(sample, lens):
    assert_lossless(evaluate(sample.y, sample.p, n_bins=3, lens=lens))


@settings(max_examples=12)
@given(BINARY, st.data())
def test_an_evaluation_by_groups_survives_json(sample, data):
    keys = data.draw(st.lists(TEXT, min_size=1, max_size=3, unique=True))
    rows = st.lists(st.sampled_from(keys), min_size=sample.n, max_size=sample.n)
    by = np.array(data.draw(rows), dtype=object)
    result = evaluate(sample.y, sample.p, by=by, n_bins=4)
    again = assert_lossless(result)
    assert [key for key, _ in again.groups] == sorted(set(by))
    assert sum(group.n_samples for _, group in again.groups) == sample.n
    for key, group in result.groups:
        rows = by == key
        alone = evaluate(sample.y[rows], sample.p[rows], n_bins=4)
        assert group.figures() == alone.figures()


@few
@given(BINARY, st.lists(TEXT, min_size=2, max_size=2, unique=True))
def test_labels_survive_json(sample, labels):
    y = np.array(labels, dtype=object)[sample.y]
    result = evaluate(y, sample.p, labels=labels, pos_label=labels[1])
    assert assert_lossless(result).classes == tuple(labels)  # the positive one is the last
    if labels[1] == max(labels):
        assert evaluate(y, sample.p, labels=labels) == result
    else:  # the order of labels may be meant either way
        with pytest.raises(v.InvalidInputError, match="`pos_label` must be given"):
            evaluate(y, sample.p, labels=labels)


@given(BINARY, st.sampled_from([None, "wilson", "clopper-pearson"]))
def test_a_curve_survives_json(sample, interval):
    curve = v.reliability_curve(sample.y, sample.p, interval=interval)
    again = assert_lossless(curve)
    np.testing.assert_array_equal(again.count, curve.count)
    assert (again.low is None) == (interval is None)


@given(BINARY, st.sampled_from([None, "wilson", "clopper-pearson"]))
def test_limits_of_a_curve_hold_what_was_observed(sample, interval):
    curve = v.reliability_curve(sample.y, sample.p, interval=interval, sample_weight=sample.weight)
    assert curve.count.sum() == sample.n
    assert (curve.count > 0).all()
    assert ((curve.predicted >= 0) & (curve.predicted <= 1 + 1e-12)).all()
    np.testing.assert_array_equal(curve.gap, curve.observed - curve.predicted)
    if interval is not None:
        assert (curve.low <= curve.observed + 1e-12).all()
        assert (curve.high >= curve.observed - 1e-12).all()
        assert ((curve.low >= 0) & (curve.high <= 1)).all()


@given(BINARY, st.sampled_from(["brier", "log", "spherical", "zero-one"]))
def test_a_decomposition_survives_json(sample, rule):
    d = v.decompose(sample.y, sample.p, rule=rule, method="isotonic")
    again = assert_lossless(d)
    assert again.score == d.score


@few
@given(MULTICLASS)
def test_every_figure_of_a_table_is_in_the_evaluation(sample):
    result = evaluate(sample.y, sample.p, n_bins=3)
    frame = result.to_frame()
    figure = ["quantity", "definition", "lens", "n_samples", "value"]
    assert frame.columns == ["group", *figure, "null_mean", "null_q95", "low", "high", "pvalue"]
    assert frame["value"].to_list() == [value for *_, value in result.figures()]
    for measured in result.errors:
        assert result.error(measured.name) is measured
