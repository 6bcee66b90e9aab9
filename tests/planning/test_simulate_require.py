"""Requirements read off tables written by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.results.planning import DecisionValue, Requirements, RequirementTable

ERRORS = (0.0, 0.04, 0.08)
VALUES = {  # cost 1 without a model
    0.7: (-0.99, -1.0, -1.2),
    0.8: (-0.90, -0.94, -0.98),
    0.9: (-0.5, -0.6, -0.7),
    0.95: (-0.3, -0.4, None),
}


def table(values=VALUES, *, kind="cost", baseline=-1.0, models=(), direction="over"):
    grid = [
        DecisionValue(
            name="", accuracy=accuracy, ece=ece, n_samples=100, n_repeats=5,
            **({"reason": "impossible"} if value is None else {
                "value": value, "low": value - 0.01, "high": value + 0.01, "baseline": baseline,
                "gain": value - baseline, "gain_low": 0.0, "gain_high": 1.0, "calibrated": -0.1,
                "loss": 0.1, "loss_low": 0.0, "loss_high": 0.2,
            }),
        )
        for accuracy, row in values.items()
        for ece, value in zip(ERRORS, row, strict=True)
    ]  # fmt: skip
    return RequirementTable(
        grid=tuple(grid), models=tuple(models), process="costs", kind=kind, direction=direction,
        n_classes=2, class_shares=(0.5, 0.5), confidence_level=0.95,
    )  # fmt: skip


def model(name="now", value=-0.8):
    return DecisionValue(
        name=name, accuracy=0.85, ece=0.05, value=value, low=-0.9, high=-0.7, baseline=-1.0,
        gain=0.2, gain_low=0.1, gain_high=0.3, calibrated=-0.7, loss=0.1, loss_low=0.0,
        loss_high=0.2, basis="recalibrated", n_samples=50,
    )  # fmt: skip


def test_largest_ece_by_interpolation():
    found = table().require(saving=0.05)  # cost 0.95 or less
    assert [row.target for row in found.rows] == pytest.approx([-0.95] * 4)
    assert [row.max_ece for row in found.rows] == [None, pytest.approx(0.05), 0.08, 0.04]
    # Lower limits are 0.01 below the values: -0.91, -0.95 and -0.99.
    assert found.rows[1].safe_ece == pytest.approx(0.04)
    assert [row.bounded for row in found.rows] == [True, True, False, False]
    # Calibrated: -0.99 at 0.7, -0.90 at 0.8, so -0.95 at 0.7 + 0.1 * 4/9.
    assert found.least_accuracy == pytest.approx(0.7 + 0.4 / 9)


def test_sentences():
    found = table().require(saving=0.05)
    goal = "To save 5 % of the cost of deciding without a model at accuracy"
    assert str(found).splitlines() == [
        f"{goal} 0.7 is not possible: even a calibrated classifier (ECE 0) falls short.",
        f"{goal} 0.8, the ECE must stay below 0.05.",
        f"{goal} 0.9, any ECE simulated will do, up to 0.08 (0.1 cannot be reached).",
        f"{goal} 0.95, any ECE simulated will do, up to 0.04 (0.05 cannot be reached).",
        "For a calibrated classifier to save 5 % of the cost of deciding without a model, its"
        " accuracy must be at least 0.744.",
    ]


def test_gains_of_a_value_process():
    values = {0.7: (2.0, 1.5, 1.0), 0.8: (3.0, 2.5, 1.0)}
    found = table(values, kind="value", baseline=1.0).require(saving=0.5)
    assert [row.max_ece for row in found.rows] == pytest.approx([0.04, 0.04 + 0.04 * 1.0 / 1.5])
    assert "To gain 50 % on the value of deciding without a model at" in str(found)
    assert "Every accuracy simulated lets a calibrated classifier gain" in str(found)


def test_goals_relative_to_models_numbers_and_absolute():
    given = table(models=[model()])
    relative = given.require(saving=0.25, relative_to="now")  # 0.8 - 0.2
    assert relative.rows[2].target == pytest.approx(-0.6)
    assert relative.rows[2].max_ece == pytest.approx(0.04)
    assert "save 25 % of the cost of 'now'" in str(relative)
    number = given.require(saving=0.25, relative_to=-0.8)
    assert [r.max_ece for r in number.rows] == [r.max_ece for r in relative.rows]
    absolute = given.require(value=-0.6)
    assert [r.max_ece for r in absolute.rows] == pytest.approx([r.max_ece for r in relative.rows])
    assert "keep the cost at 0.6 a row or less" in str(absolute)
    assert absolute.reference == ""


def test_the_first_failure_counts():
    found = table({0.7: (-0.5, -0.9, -0.5)}).require(value=-0.7)
    assert found.rows[0].max_ece == pytest.approx(0.02)


def test_ruin_is_not_interpolated():
    found = table({0.7: (-0.5, -np.inf, -np.inf)}).require(value=-0.7)
    assert found.rows[0].max_ece == 0


def test_nothing_reaches():
    found = table().require(saving=0.99)
    assert found.least_accuracy is None
    assert [row.max_ece for row in found.rows] == [None] * 4
    assert str(found).endswith(
        "No accuracy simulated lets a calibrated classifier save 99 % of the cost of deciding"
        " without a model."
    )


def test_bounds_of_both_directions():
    assert table().largest_ece(0.9) == pytest.approx(0.1)
    assert table(direction="under").largest_ece(0.9) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "neither"),
        ({"saving": 0.1, "value": 1}, "both"),
        ({"saving": "much"}, "saving"),
        ({"saving": 0.1, "relative_to": "later"}, r"\['baseline', 'now'\]"),
        ({"saving": 0.1, "relative_to": 0.0}, "other than 0"),
    ],
)
def test_refusals(options, match):
    with pytest.raises(InvalidInputError, match=match):
        table(models=[model()]).require(**options)


def test_a_grid_is_needed():
    with pytest.raises(InvalidInputError, match="models only"):
        replace(table(), grid=()).require(saving=0.1)
    with pytest.raises(InvalidInputError, match="no classifier at all"):
        table({0.9: (None, None, None)}).require(saving=0.1)


def test_tables_are_written_and_read_back():
    given = table(models=[model(value=-np.inf)])
    assert RequirementTable.from_dict(json.loads(given.to_json())) == given
    found = given.require(saving=0.05)
    assert Requirements.from_json(found.to_json()) == found
    frame = given.to_frame(backend="pandas")
    assert len(frame) == 13
    assert frame["value"].isna().sum() == 1
    assert frame["name"].tolist() == [""] * 12 + ["now"]
    assert given.values.shape == (4, 3)
    assert np.isnan(given.values[3, 2])
    assert found.to_frame(backend="pandas")["max_ece"].isna().tolist() == [True, *[False] * 3]


def test_words_of_a_table():
    text = str(table(models=[model()]))
    lines = text.splitlines()
    assert lines[0] == "value a row (minus the cost) of: costs"
    assert lines[1].split() == ["accuracy", "0", "0.04", "0.08"]
    assert lines[5].split() == ["0.95", "-0.3", "-0.4", "-"]
    assert "always over-confident, 2 equally frequent classes, 5 x 100 rows" in text
    assert "without a model -1" in lines[6]
    assert "now: accuracy 0.85, ECE 0.05: value -0.8 a row (-0.9 to -0.7)" in text
    assert "(model +0.2, +20.0%), on recalibrated probabilities -0.7" in text
    html = table(models=[model(name="<b>")])._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
