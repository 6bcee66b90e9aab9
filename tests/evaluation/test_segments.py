"""Segments in evaluations, gates and reports."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from veridical import (
    Evaluation,
    InvalidInputError,
    audit_segments,
    check_requirements,
    evaluate,
    make_report,
)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    sex, region = rng.choice(["f", "m"], 3000), rng.choice(["N", "S"], 3000)
    p = rng.beta(2, 2, 3000)
    y = rng.random(3000) < np.where((sex == "f") & (region == "S"), p**2, p)
    return pl.DataFrame({"sex": sex, "region": region, "y": y.astype(int), "p": p})


def test_auto_searches_all_other_columns(frame):
    found = evaluate(frame, y="y", prob="p", by="auto", n_resamples=199)
    features = frame.select("sex", "region")
    expected = audit_segments(frame["y"], frame["p"], features, n_resamples=199, rng=0)
    assert found.segments.segments == expected.segments
    assert found.groups == ()
    assert found.segments.found[0].name == "sex = f, region = S"
    assert "At least one segment is miscalibrated" in str(found)
    assert "sex = f, region = S" in found.to_text()
    assert "sex = f, region = S" in found._repr_html_()
    assert Evaluation.from_json(found.to_json()) == found
    assert evaluate(frame, y="y", prob="p").segments is None


def test_auto_needs_columns_and_is_not_one(frame):
    with pytest.raises(InvalidInputError, match="arrays") as caught:
        evaluate(frame["y"], frame["p"], by="auto")
    assert "audit_segments" in caught.value.hint
    with pytest.raises(InvalidInputError, match="'auto'") as caught:
        evaluate(frame.with_columns(auto=1), y="y", prob="p", by="auto")
    assert 'by=["auto"]' in caught.value.hint
    named = evaluate(frame.with_columns(auto=pl.lit("a")), y="y", prob="p", by=["auto"])
    assert [key for key, _ in named.groups] == ["a"]


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ("segments.worst.high < 0.35", "met"),
        ("segments.worst.high < 0.05", "not met"),
        ("segments.worst.high < 0.2", "undecided"),
    ],
)
def test_a_gate_asks_for_limits_of_the_whole_search(frame, rule, outcome):
    result = check_requirements(frame, y="y", prob="p", requirements=rule, min_rows=300)
    [check] = result.checks
    assert check.outcome == outcome
    audit = audit_segments(frame, y="y", prob="p", min_rows=300, n_resamples=1000, rng=0)
    assert check.value == pytest.approx(audit.worst.high)
    assert audit.worst.low > 0.05
    assert "segments of at least 300 rows (sex, region" in check.definition
    assert "search p < 0.001" in check.definition


def test_that_nothing_is_found_cannot_be_required(frame):
    for rule in ("segments.p > 0.05", "segments.pvalue > 0.05"):
        with pytest.raises(InvalidInputError) as caught:
            check_requirements(frame, y="y", prob="p", requirements=rule)
        assert "does not show calibration" in caught.value.hint


def test_features_of_arrays_are_given(frame):
    with pytest.raises(InvalidInputError, match="without features"):
        check_requirements(frame["y"], frame["p"], requirements="segments.worst.high < 0.1")
    given = check_requirements(
        frame["y"],
        frame["p"],
        requirements="segments.worst.high < 0.35",
        features=frame.select("sex"),
        min_rows=300,
    )
    assert given.passed


def test_the_report_has_a_section(frame):
    report = make_report(frame, y="y", prob="p", by="auto", n_resamples=99)
    [section] = [each for each in report.sections if each.identifier == "segments"]
    assert section.title == "Is it right for everybody?"
    assert "sex = f, region = S" in report.markdown
    assert "segment-map-0" in report.html
    assert not [each for each in make_report(frame, y="y", prob="p", n_resamples=19).sections
                if each.identifier == "segments"]  # fmt: skip


def test_predictions_of_other_models_are_no_features(frame):
    two = frame.with_columns(q=pl.col("p").sqrt())
    report = make_report(two, y="y", prob={"a": "p", "b": "q"}, by="auto", n_resamples=19)
    for model in report.models:
        assert model.evaluation.segments.features == ("sex", "region")
