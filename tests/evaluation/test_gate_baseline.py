"""Requirements about differences from what was measured before."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from veridical import BrierScore, bootstrap_interval, evaluate
from veridical.evaluation._gate.gate import check_requirements as check
from veridical.exceptions import InvalidInputError
from veridical.results.gate import GateBaseline, GateFigure

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

Z = 1.959963984540054  # 97.5 % quantile of the standard normal


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    p = rng.random(2000)
    return (rng.random(2000) < p).astype(int), p


def value(requirement, *arguments, **options):
    return check(*arguments, requirements=requirement, **options).checks[0].value


def baseline(**figures):
    """A baseline with these (value, low, high)."""
    return GateBaseline(
        figures=tuple(
            GateFigure(name=name, value=v, low=low, high=high, unbiased=name != "ece",
                       definition="15 equal-width bins" if name == "ece" else "mean score",
                       lens="binary" if name == "ece" else "whole prediction", n_samples=100)
            for name, (v, low, high) in figures.items()
        ),
        classes=("0", "1"), lens="binary", n_samples=100, confidence_level=0.95, version="0",
    )  # fmt: skip


def test_a_stored_baseline_is_of_independent_rows(rows):
    y, p = rows
    scores = (p - y) ** 2
    old, error = 0.2, 0.01
    known = baseline(brier=(old, old - Z * error, old + Z * error), ece=(0.02, 0.01, 0.03))
    new = bootstrap_interval(BrierScore(), y, p)
    up = math.hypot(Z * error, new.high - scores.mean())
    down = math.hypot(Z * error, scores.mean() - new.low)
    options = {"against": known}
    middle = scores.mean() - old
    assert value("brier - baseline.brier < 1", y, p, **options) == pytest.approx(middle)
    assert value("difference(brier).value < 1", y, p, **options) == pytest.approx(middle)
    assert value("difference(brier).high < 1", y, p, **options) == pytest.approx(middle + up)
    assert value("difference(brier).low < 1", y, p, **options) == pytest.approx(middle - down)
    # A calibration error may lie above its limits: the cautious ones are those of both.
    ece = evaluate(y, p).error("ECE")
    found = value("difference(ece).high < 1", y, p, **options)
    assert found == pytest.approx(ece.high - 0.01)
    with pytest.raises(InvalidInputError, match="'value', 'low' or 'high'"):
        check(y, p, requirements="difference(brier).pvalue < 1", **options)


def test_limits_of_a_difference_are_recovered_from_those_of_each():
    from veridical.evaluation._gate.figures import unpaired_change

    def proportion(positive, n):
        """With Wilson's limits."""
        p = positive / n
        middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
        return GateFigure(name="accuracy", value=p, low=middle - half, high=middle + half,
                          unbiased=True, definition="", lens="", n_samples=n)  # fmt: skip

    change = unpaired_change(proportion(56, 70), proportion(48, 80), caller="f")
    # statsmodels 0.15.0, confint_proportions_2indep(56, 70, 48, 80, method="newcomb").
    assert change.value == pytest.approx(0.2)
    assert change.low == pytest.approx(0.05243147240236498)
    assert change.high == pytest.approx(0.33387265403690614)


def test_what_was_measured_is_the_next_baseline(rows, tmp_path):
    y, p = rows
    part = np.where(np.arange(len(y)) % 2, "a", "b")
    first = check(y, p, requirements=[], by=part)
    path = tmp_path / "baseline.json"
    path.write_text(first.measured.to_json())
    assert GateBaseline.from_json(path.read_text()) == first.measured
    again = check(y, p, requirements=["log - baseline.log >= 0"], by=part, against=path)
    assert [each.value for each in again.checks] == [0, 0, 0]
    assert "2,000 rows, taken as independent" in again.compared
    other = np.where(part == "a", "a", "c")
    unknown = check(y, p, requirements=["difference(log).high < 1"], by=other, against=path)
    assert [each.passed for each in unknown.checks] == [True, True, False]
    assert "with the same groups" in unknown.checks[2].reason


def test_an_evaluation_is_a_baseline_of_what_it_holds(rows, tmp_path):
    path = tmp_path / "evaluation.json"
    path.write_text(evaluate(*rows).to_json())
    assert check(*rows, requirements="ece - baseline.ece <= 0", against=path).passed
    assert check(*rows, requirements="difference(log).high < 1", against=path).passed
    old = evaluate(*rows).to_dict()
    del old["limits"]  # as earlier versions wrote it
    path.write_text(json.dumps(old))
    message = "'log' without limits in the baseline"
    with pytest.raises(InvalidInputError, match=message):
        check(*rows, requirements="difference(log).high < 1", against=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 10}, "figures of the same definition"),
        ({"confidence_level": 0.9}, "with limits at 0.95; got limits at 0.9"),
        ({"labels": ["no", "yes"]}, "of classes 0, 1; got classes no, yes"),
    ],
)
def test_a_baseline_of_something_else_is_refused(rows, options, message):
    y, p = rows
    labels = options.get("labels")
    known = check(y if labels is None else np.array(labels)[y], p, requirements=[], **options)
    with pytest.raises(InvalidInputError, match=message):
        check(y, p, requirements="ece - baseline.ece < 1", against=known.measured)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "null", '{"figures": 3}', '{"figures": [{}]}', '{"n_samples": 1}',
     '{"figures": [], "classes": "ab"}'],
)  # fmt: skip
def test_a_file_that_is_no_baseline_is_refused(rows, tmp_path, text):
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match="a readable JSON file of a baseline"):
        check(*rows, requirements="ece < 1", against=path)


def test_a_number_of_a_baseline_that_is_text_is_refused(rows, tmp_path):
    known = check(*rows, requirements=[]).measured
    path = tmp_path / "baseline.json"
    path.write_text(known.to_json().replace('"value": ', '"value": [] , "old": ', 1))
    with pytest.raises(InvalidInputError, match="neither a baseline nor an evaluation"):
        check(*rows, requirements="ece < 1", against=path)
    with pytest.raises(InvalidInputError, match=r"missing.json.*No such file"):
        check(*rows, requirements="ece < 1", against=tmp_path / "missing.json")


def test_one_baseline_is_enough(rows):
    with pytest.raises(InvalidInputError, match="`against_prob` must be unset with `against`"):
        check(*rows, requirements=[], against=baseline(), against_prob=rows[1])
