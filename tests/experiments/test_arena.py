"""Numbers of others: recorded ones by other means, the quick run, and its verdicts by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from scipy.special import softmax

from veridical_lab import run_experiment
from veridical_lab.arena.program import fitted
from veridical_lab.arena.protocol import _inside, _table
from veridical_lab.arena.recorded import TEST_ROWS, recorded


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return run_experiment("arena", folder=folder, quick=True, n_jobs=1)


@pytest.mark.parametrize("rows", TEST_ROWS, ids=lambda rows: rows.name)
def test_labels_follow_the_tempered_probabilities(rows):
    y, p = rows.draw()
    assert p.shape == (rows.n, rows.n_classes)
    true = softmax(rows.inverse_temperature * np.log(p), axis=1)
    # Every class is as frequent as predicted, within four standard deviations.
    spread = np.sqrt((true * (1 - true)).sum(axis=0))
    count = np.bincount(y, minlength=rows.n_classes)
    assert (np.abs(count - true.sum(axis=0)) < 4 * spread).all()


@pytest.mark.parametrize("rows", TEST_ROWS, ids=lambda rows: rows.name)
def test_recorded_scores_before_calibration_are_those_of_the_formulas(rows):
    y, p = rows.draw()
    before = recorded("probmetrics")["values"][rows.name]["before"]
    assert before["logloss"] == pytest.approx(-np.log(p[np.arange(rows.n), y]).mean(), abs=1e-6)
    assert before["brier"] == pytest.approx(((p - np.eye(rows.n_classes)[y]) ** 2).sum(1).mean())


@pytest.mark.parametrize("name", ["temp-scaling", "isotonic", "cir", "ivap-ovr"])
def test_recorded_values_are_those_of_the_package(name):
    """Runs where probmetrics is installed; the page was made with version 1.3.0."""
    calibrators = pytest.importorskip("probmetrics.calibrators", exc_type=ImportError)
    rows = TEST_ROWS[0]
    y, p = rows.draw()
    theirs = calibrators.get_calibrator(name).fit(p.astype(np.float32), y).predict_proba(p)
    ours = fitted(name, 2).fit(p, y).predict_proba(p)
    np.testing.assert_allclose(theirs, ours, atol=3e-4)
    loss = -np.log(np.asarray(theirs, dtype=float)[np.arange(rows.n), y]).mean()
    found = recorded("probmetrics")["values"][rows.name][name]["logloss"]
    assert loss == pytest.approx(found, abs=2e-5)


def test_published_losses_are_one_an_experiment():
    found = recorded("calarena")
    for name, size in {"cv-binary": 13, "cv-multiclass": 20}.items():
        benchmark = found[name]
        assert len(benchmark["experiments"]) == len(set(benchmark["experiments"])) == size
        assert {len(values) for values in benchmark["log_loss"].values()} == {size}
        assert len(benchmark["classes"]) == size
        assert all(0 < x < 10 for values in benchmark["log_loss"].values() for x in values)


def test_verdicts_on_their_numbers_are_means_and_standard_errors(result):
    found = recorded("calarena")
    two, many = (found[name]["log_loss"] for name in ("cv-binary", "cv-multiclass"))

    def mean(losses, *names):
        return np.mean([losses[name] for name in names], axis=0)

    high = np.array(found["cv-multiclass"]["classes"]) >= 100
    smooth = mean(two, "TS", "Beta", "Quadratic") - mean(two, "Hist-uniform", "Hist-quantile")
    whole = mean(many, "SMS", "TS") - mean(many, "Isotonic", "Hist-quantile")
    expected = {
        "Their numbers, smooth and binned maps": (smooth, -1),
        "Their numbers, 100 and 200 classes": (whole[high], -1),
        "Their numbers, trees, many classes": (mean(many, "LightGBM") - mean(many, "SMS"), 1),
        "Their numbers, trees, two classes": (
            mean(two, "CatBoost", "LightGBM") - mean(two, "Beta"),
            1,
        ),
    }
    for name, (differences, sign) in expected.items():
        fact = result.fact(name)
        error = differences.std(ddof=1) / len(differences) ** 0.5
        assert fact.value == pytest.approx(differences.mean())
        assert fact.checks[0].standard_error == pytest.approx(error)
        distance = sign * differences.mean() / error
        verdict = "reproduced" if distance > 2 else "differs" if distance < -2 else "undecided"
        assert fact.verdict == verdict, name


def test_every_score_of_the_package_is_reproduced(result):
    theirs = [fact for fact in result.facts if fact.origin == "probmetrics 1.3.0"]
    assert len(theirs) == 2 * (9 + 7)  # maps and none, log loss and Brier score
    assert {fact.verdict for fact in theirs} == {"reproduced"}


def test_what_is_run_here_has_a_standard_error(result):
    for name in ("smooth and binned maps", "many classes", "trees, two classes"):
        fact = result.fact(f"Here, {name}")
        assert fact.checks[0].standard_error > 0
    assert result.quick


def test_tables_and_certain_predictions():
    x, y = _table("digits, odd or even")
    assert (x.shape, sorted(set(y))) == ((1797, 64), [0, 1])
    np.testing.assert_allclose(_inside(np.array([[1.0, 0.0]])).sum(), 1)
    assert _inside(np.array([[1.0, 0.0]]))[0, 1] == pytest.approx(1e-6)
