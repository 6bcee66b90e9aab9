"""The review of Panchenko (2021) and its fake classifiers, against values from outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import dirichlet

from veridical_lab import run_experiment
from veridical_lab._frame.facts import ExperimentResult
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page
from veridical_lab.fake.contestants import (
    BY_LABEL,
    _label_parameters,
    distorted,
    draw,
    what_is_left,
)
from veridical_lab.fake.convergence import _rows_needed
from veridical_lab.fake.lemma import _finite
from veridical_lab.fake.network import _difference, _rows_to_win, show_networks

PICTURES = ("small-network", "digits-reliability", "convergence", "benchmark", "lemma")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="module")
def result(folder: Path) -> ExperimentResult:
    return run_experiment("fake", folder=folder, quick=True, n_jobs=1)


def test_two_classes_have_the_integral(result: ExperimentResult) -> None:
    # The larger p is uniform on [1/2, 1], and the power 3 reports p^3 / (p^3 + (1 - p)^3).
    confidence = quad(lambda p: 2 * p**3 / (p**3 + (1 - p) ** 3), 0.5, 1)[0]
    accuracy = result.fact("Section 6, power 3, K = 2, accuracy")
    ece = result.fact("Section 6, power 3, K = 2, ECE")
    assert accuracy.value == pytest.approx(0.75, abs=1e-9)
    assert ece.value == pytest.approx(confidence - 0.75, abs=1e-7)
    assert (accuracy.verdict, ece.verdict) == ("reproduced", "reproduced")


def test_three_classes_have_the_mean_of_many_draws(result: ExperimentResult) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(3), 400_000)
    cubed = p**3 / (p**3).sum(axis=1, keepdims=True)
    gap = cubed.max(axis=1) - p.max(axis=1)
    ece = result.fact("Section 6, power 3, K = 3, ECE").value
    assert ece == pytest.approx(gap.mean(), abs=4 * gap.std() / len(gap) ** 0.5)
    accuracy = result.fact("Section 6, power 3, K = 3, accuracy").value
    assert accuracy == pytest.approx(11 / 18, abs=1e-9)  # E max of three uniform spacings


def test_kyles_two_conventions_contradict_each_other(result: ExperimentResult) -> None:
    # Outputs of kyle's exact module, recorded: 0.8914 and 0.8208, which are mean confidences.
    for k, recorded in ((2, 0.8914), (3, 0.8208)):
        fact = result.fact(f"Section 6, power 3, K = {k}, accuracy by kyle's exact module")
        assert (fact.verdict, fact.printed) == ("differs", recorded)
        assert f"E max c = {recorded}" in fact.reason


def test_examples_in_words(result: ExperimentResult) -> None:
    always_right = result.fact("Section 1.1, always right with confidence 1/K + 0.01, ECE")
    assert always_right.value == pytest.approx(1 - 0.1 - 0.01)
    # Every row of the example has two components off by 0.1: total variation 0.1.
    assert result.fact("Section 2.1, classwise calibrated").value == pytest.approx(0.1)
    assert result.fact("Section 2.1, conditioning").verdict == "reproduced"
    assert result.fact("Sections 4 and 6, adjustable").value < 4.5


def test_lemma(result: ExperimentResult) -> None:
    for name in (
        "Lemma 1 i",
        "Lemma 1 i, its proof",
        "Lemma 1 ii",
        "Section 7, accuracy is enough",
    ):
        assert result.fact(name).verdict == "reproduced", name
    assert 0.99 < result.fact("Lemma 1 i, ECE / (1 - acc) at its largest").value <= 1 + 1e-9
    assert -0.02 < result.fact("Lemma 1 ii, largest ECE - (acc - 1/K)").value <= 0
    # 0.9 * 0.05 + 0.1 * 0.4999 less 0.9 * 0.05
    broken = result.fact("Lemma 1 i, one row in ten under-confident, ECE - (1 - acc)")
    assert broken.value == pytest.approx(0.04999)


def test_recalibration(result: ExperimentResult) -> None:
    # Gibbs: no report has a smaller expected log loss than the truth.
    assert result.fact("Section 1.3, best possible").value >= 0
    assert result.fact("Section 5.1, accuracy under temperature").value == 0
    assert result.fact("Section 5.1, accuracy, digits").value == 0
    for name in ("Section 5.1, temperature and ECE", "Section 5.1, temperature and classes",
                 "Section 5.2, potential", "Section 5.2, over-fitting",
                 "Figure 3 (a) and (b), digits"):  # fmt: skip
        assert result.fact(name).verdict == "reproduced", name


def test_estimates_are_biased_upwards_and_converge(result: ExperimentResult) -> None:
    assert result.fact("Section 3.2, bias").value > 0.05
    # Twelve repetitions do not tell by two standard errors, and the page says so.
    assert result.fact("Section 3.2, binning scheme").verdict in ("reproduced", "undecided")
    assert result.fact("Section 3.2, binning scheme").value > 1
    rate = result.fact("Section 6, rate of the ECE's error in n, calibrated").value
    assert -0.7 < rate < -0.3  # the rate of a mean is -1/2
    level = result.fact("Section 3.3, consistency of the estimator").value
    assert level <= 0.05 + 3.5 * (0.05 * 0.95 / 20) ** 0.5  # 20 repetitions


def test_every_difference_has_a_reason(result: ExperimentResult) -> None:
    assert len(result.facts) > 40
    assert all(fact.reason for fact in result.facts if fact.verdict == "differs")
    assert all(np.isfinite(fact.value) for fact in result.facts)


def test_page_and_pictures(result: ExperimentResult, folder: Path) -> None:
    from PIL import Image

    page = (folder / "fake.md").read_text(encoding="utf-8")
    for name in PICTURES:
        path = folder / "fake" / f"{name}.png"
        assert f"fake/{name}.png" in page
        assert path.stat().st_size < 120_000
        with Image.open(path) as image:
            assert image.width <= 1100
            assert len(image.convert("RGB").getcolors(1 << 24)) > 10  # type: ignore[arg-type]
    assert "| nan" not in page


def test_truth_by_label_is_bayes_rule() -> None:
    rows = draw(BY_LABEL, 3, 50, np.random.default_rng(1))
    alpha = _label_parameters(3)
    for c, truth in zip(rows.y_prob, rows.p_true, strict=True):
        density = np.array([dirichlet.pdf(c / c.sum(), one) for one in alpha])
        np.testing.assert_allclose(truth, density / density.sum(), rtol=1e-6)


def test_distortions_keep_their_accuracy() -> None:
    for kind in ("calibrated", "over-confident", "under-confident", "top only"):
        assert distorted(kind, 10).accuracy().value == pytest.approx(0.8, abs=1e-6)


def test_what_is_left_by_hand() -> None:
    # Half of the rows report 0.9 for a truth of 0.7, half 0.6 for 0.6.
    p = np.tile([[0.7, 0.3], [0.6, 0.4]], (1000, 1))
    c = np.tile([[0.9, 0.1], [0.6, 0.4]], (1000, 1))
    found = what_is_left(p, c)
    assert found["accuracy"] == pytest.approx(0.65)
    assert found["ECE"] == pytest.approx(0.1)
    assert found["classwise ECE"] == pytest.approx(0.1)
    assert found["distance"] == pytest.approx(0.2)  # root of (0.04 + 0.04) / 2
    expected = -(0.7 * np.log(0.9) + 0.3 * np.log(0.1) + 0.6 * np.log(0.6) + 0.4 * np.log(0.4)) / 2
    assert found["log loss"] == pytest.approx(expected)


def test_counterexample_by_hand() -> None:
    found = _finite([[0.8, 0.2], [1.0, 0.0]], [[1.0, 0.0], [0.8, 0.2]], [0.5, 0.5])
    assert found == pytest.approx({"accuracy": 0.9, "confidence": 0.9, "ece": 0.2})


def test_rows_needed() -> None:
    assert _rows_needed([0.1, 0.001], (100, 10_000)) == pytest.approx(1000)  # half way down
    assert _rows_needed([0.1, 0.02], (100, 10_000)) == pytest.approx(40_000)  # (0.02 / 0.01)^2


def test_overlapping_halves() -> None:
    halves = [{"a": {"x": value}, "b": {"x": 0.0}} for value in (1.0, 3.0)]
    # Mean 2, variance 2, (1/2 + 1) times it is 3.
    assert _difference(halves, "x", "a", "b") == pytest.approx((2.0, 3**0.5))
    by_size = {
        10: [{"a": {"log loss": 2.0}, "temperature": {"log loss": 1.0}}],
        20: [{"a": {"log loss": 0.5}, "temperature": {"log loss": 1.0}}],
    }
    assert _rows_to_win(by_size, "a") == 20
    assert _rows_to_win(by_size, "temperature") is None


def test_given_file_is_named_without_its_folder(tmp_path: Path) -> None:
    rows = distorted("over-confident", 3).sample(600, rng=0)
    path = tmp_path / "secret place" / "my-network.npz"
    path.parent.mkdir()
    np.savez(path, predictions=rows.y_prob, ground_truth=rows.y)
    page = Page("fake")
    show_networks(Laboratory("fake", quick=True, data=(path,)), page)
    names = [fact.name for fact in page.facts]
    assert "Figure 3 (a) and (b), my-network" in names
    text = page.write(tmp_path, ["# page"]).read_text(encoding="utf-8")
    assert "my-network: 600 rows, 3 classes" in text
    assert "secret place" not in text
