"""Rows that belong together: what is said of them, and what every function makes of them."""

import json
import math

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from veridical import (
    InvalidInputError,
    calibration_tests,
    check_requirements,
    compare,
    decision_curve,
    equivalence_test,
    evaluate,
    make_report,
    reliability_curve,
    required_sample_size,
)
from veridical.cli.main import main
from veridical.inference import detectable_error

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")


def clustered(n_groups=20, rows=20, correlation=0.3, seed=0):
    """Calibrated predictions; outcomes of a group go together (a Gaussian copula)."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), rows)
    p = rng.random(len(group))
    common, own = rng.standard_normal(n_groups)[group], rng.standard_normal(len(group))
    u = ndtr(math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own)
    return (u < p).astype(int), p, group


@pytest.fixture(scope="module")
def rows():
    return clustered()


def width(interval):
    return interval.high - interval.low


def test_groups_widen_every_limit_and_the_note_says_by_how_much(rows):
    y, p, group = rows
    alone, together = (evaluate(y, p, groups=g, n_resamples=99) for g in (None, group))
    assert together.error("ECE").null_mean > alone.error("ECE").null_mean
    assert width(together.error("ECE")) > width(alone.error("ECE"))
    assert (together.curve.high - together.curve.low > alone.curve.high - alone.curve.low).all()
    note = next(note for note in together.notes if "in 20 groups" in note)
    assert "400 rows" in note
    assert float(note.split("design effect ")[1].rstrip(")")) > 1.5


def test_every_row_a_group_of_its_own_changes_nothing(rows):
    y, p, _ = rows
    plain, own = (evaluate(y, p, groups=g, n_resamples=99) for g in (None, np.arange(len(y))))
    assert own.errors == plain.errors
    assert own.verdict == plain.verdict


def test_a_column_is_the_same_as_an_array(rows):
    y, p, group = rows
    frame = pl.DataFrame({"y": y, "p": p, "patient": [f"no {g}" for g in group]})
    found = evaluate(frame, y="y", prob="p", groups="patient", n_resamples=99)
    assert found.errors == evaluate(y, p, groups=group, n_resamples=99).errors
    lazy = evaluate(frame.lazy(), y="y", prob="p", groups="patient", n_resamples=99)
    assert lazy.errors == found.errors
    with pytest.raises(InvalidInputError, match='`engine` must be "auto" or "memory" here'):
        evaluate(frame.lazy(), y="y", prob="p", groups="patient", engine="pushdown")


def test_one_group_is_refused(rows):
    y, p, group = rows
    with pytest.raises(InvalidInputError, match="`groups` must be more than one group"):
        evaluate(y, p, groups=np.zeros(len(y)))
    with pytest.raises(InvalidInputError, match="free of missing values"):
        evaluate(y, p, groups=np.where(group == 3, np.nan, group))
    with pytest.raises(InvalidInputError, match="a column or one key per row"):
        evaluate(y, p, groups="patient")


def test_verdict_is_one_everywhere(rows):
    y, p, group = rows
    options = {"groups": group, "n_resamples": 99, "rng": 0}
    verdict = evaluate(y, p, **options).verdict
    assert calibration_tests(y, p, **options).verdict.text == verdict.text
    gate = check_requirements(y, p, requirements="ece.high < 0.5", **options)
    assert gate.verdict.text == verdict.text
    assert compare({"a": p, "b": p}, y, **options).evaluations[0].verdict.text == verdict.text
    report = make_report(y, p, groups=group, n_resamples=99, rng=0)
    assert verdict.headline in report.headline


def test_equivalence_counts_groups(rows):
    y, p, group = rows
    together = equivalence_test(y, p, groups=group, delta=0.2)
    assert together.upper > equivalence_test(y, p, delta=0.2).upper
    with pytest.raises(InvalidInputError, match='`groups` must be unset for method="band"'):
        equivalence_test(y, p, groups=group, method="band")


def test_design_effects_multiply_rows():
    alone, wider = (required_sample_size(0.05, design_effect=d).n for d in (1.0, 2.5))
    assert wider == math.ceil(2.5 * alone)
    same = detectable_error(wider, design_effect=2.5).delta
    assert same == pytest.approx(detectable_error(alone).delta, rel=1e-2)
    assert "design effect 2.5" in str(required_sample_size(0.05, design_effect=2.5))
    with pytest.raises(InvalidInputError, match="`design_effect` must be a number of at least 1"):
        required_sample_size(0.05, design_effect=0.5)


def test_limits_of_net_benefit_are_those_of_sums_over_groups(rows):
    y, p, group = rows
    curve = decision_curve(y, p, thresholds=[0.3], groups=group)
    value = np.where(p >= 0.3, np.where(y == 1, 1.0, -0.3 / 0.7), 0.0)
    sums = [(value - value.mean())[group == g].sum() / len(y) for g in range(20)]
    error = math.sqrt(20 / 19 * sum(s * s for s in sums))
    assert curve.net_benefit[0] == pytest.approx(value.mean())
    assert curve.high[0] - curve.net_benefit[0] == pytest.approx(1.959963984540054 * error)
    known = decision_curve(y, p, thresholds=[0.3], groups=group, prevalence=0.2)
    plain = decision_curve(y, p, thresholds=[0.3], prevalence=0.2)
    assert known.net_benefit[0] == pytest.approx(plain.net_benefit[0])


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_limits_of_curves_cover(correlation):
    """95 % limits at five bins of 60 samples; 300 limits, correlated within samples."""
    held = 0.0
    for seed in range(60):
        y, p, group = clustered(20, 50, correlation, seed)
        curve = reliability_curve(y, p, groups=group, n_bins=5)
        held += float(np.mean((curve.low <= curve.predicted) & (curve.predicted <= curve.high)))
    assert held / 60 > 0.91
    with pytest.raises(InvalidInputError, match="`interval` must be one that knows groups"):
        reliability_curve(y, p, groups=group, interval="bootstrap")


def test_signs_of_groups_are_named():
    y, p, _ = clustered(20, 50)
    assert any("neighbouring rows are wrong together" in note for note in evaluate(y, p).notes)
    order = np.random.default_rng(0).permutation(len(y))
    assert not any("`groups`" in note for note in evaluate(y[order], p[order]).notes)
    shared = np.random.default_rng(1).random(100)[np.repeat(np.arange(100), 5)]
    outcome = (np.random.default_rng(2).random(500) < shared).astype(int)
    notes = evaluate(outcome, shared).notes
    assert any("80 % of the rows have the prediction of the row before" in note for note in notes)


@pytest.mark.parametrize("order", ["outcome", "prediction"])
def test_sorted_rows_are_no_sign_of_groups(order):
    y, p, _ = clustered(20, 50, 0.0)
    rows = np.argsort(y if order == "outcome" else p, kind="stable")
    assert not any("`groups`" in note for note in evaluate(y[rows], p[rows]).notes)


def test_command_line(tmp_path, rows, capsys):
    y, p, group = rows
    path = tmp_path / "rows.csv"
    pl.DataFrame({"y": y, "p": p, "patient": group}).write_csv(path)
    assert main(["evaluate", str(path), "--groups", "patient", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = evaluate(y, p, groups=group, rng=0)
    ece = next(error for error in found["errors"] if error["name"] == "ECE")
    assert ece["null_mean"] == pytest.approx(expected.error("ECE").null_mean)
    for command in (["test"], ["check", "--require", "ece.high < 0.9"]):
        assert main([command[0], str(path), *command[1:], "--groups", "patient"]) == 0
        assert "in 20 groups" in " ".join(capsys.readouterr().out.split())
