"""The three-class experiment: its facts against integrals written here and what theory leaves.

Silva Filho et al. (2023), doi 10.1007/s10994-023-06336-7, section 5.4.
"""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from scipy.stats import norm

from veridical.simulation import survey_three_class_task
from veridical_lab import run_experiment
from veridical_lab._frame.survey_study import removed
from veridical_lab.survey_multiclass.cells import calibrators, fed, log_scores_of
from veridical_lab.survey_multiclass.run import as_map_of_logarithms

MODES = [[(-4, 960), (64, 1280)], [(4, 980), (-72, 1024)], [(0, 64)]]
N = 10_000


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment")
    return run_experiment("survey-multiclass", folder=folder, quick=True, n_jobs=1), folder


def densities(x):
    return np.array(
        [np.mean([norm.pdf(x, m, v**0.5) for m, v in modes], axis=0) for modes in MODES]
    )


def test_the_cap_of_class_3_tells_how_to_read_its_parameter(run):
    """0.777 with standard deviation 8, 0.908 with variance 8."""
    fact = run[0].fact("Fig. 20, cap of the posterior of class 3")
    assert fact.value == pytest.approx(0.777, abs=5e-4)
    assert fact.verdict == "reproduced"
    other = run[0].fact("Fig. 20, cap if the second parameter were a variance")
    assert other.value == pytest.approx(0.908, abs=5e-4)


def test_best_accuracy(run):
    x = np.linspace(-400, 400, 80_001)
    expected = densities(x).max(axis=0).sum() * (x[1] - x[0]) / 3
    found = run[0].fact("Section 5.4, best possible accuracy").value
    assert found == pytest.approx(expected, abs=1e-6)


def test_what_temperature_and_vector_can_do(run):
    result = run[0]
    assert result.fact("Fig. 17, one map for all classes").value < 1e-9
    assert result.fact("Fig. 18, a map for each class").value > 1e-3


def test_maps_within_the_family_come_close(run):
    """Mean excess log loss is k / (2 n); Pinsker bounds the total variation by its root / 2.

    Four times the excess leaves room for luck; a class's error is at most the distance.
    """
    within = run[0].fact("Temperature scaling within its family, true classwise error").value
    assert within < 2 * np.sqrt(1 / (4 * N))
    left = run[0].fact("Section 5.4.4, Dirichlet holds the identity").value
    assert left < 2 * np.sqrt(8 / (4 * N))


def test_pictures_and_reasons(run):
    result, folder = run
    pictures = sorted((folder / "survey-multiclass").glob("*.png"))
    assert len(pictures) == 7
    for path in pictures:
        with Image.open(path) as picture:
            assert picture.width <= 1100
            assert len(picture.getcolors()) > 3
        assert path.stat().st_size < 120_000
    assert (folder / "survey-multiclass" / "errors.csv").stat().st_size > 1000
    assert all(fact.reason for fact in result.facts if fact.verdict == "differs")
    assert removed(0.2, 0.1) == 0.5


@pytest.mark.parametrize("name", ["vector", "matrix"])
def test_maps_of_logits_are_drawn_as_maps_of_logarithms(name):
    rows = survey_three_class_task().sample(400, rng=0)
    log_p = log_scores_of({"classifier": "over"})(rows.x)
    fits = {each: calibrators()[each] for each in (name, "matrix")}
    for fitted in fits.values():
        fitted.fit(fed(fitted, log_p), rows.y)
    shown = as_map_of_logarithms(fits[name], fits["matrix"])
    np.testing.assert_allclose(
        shown.predict_proba(log_p), fits[name].predict_proba(fed(fits[name], log_p)), atol=1e-9
    )


def test_powers_of_the_posterior():
    x = np.array([[-50.0], [0.0], [30.0]])
    f = densities(x[:, 0]).T
    for name, power in (("over", 2.0), ("under", 0.5), ("posterior", 1.0)):
        expected = f**power / (f**power).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(
            np.exp(log_scores_of({"classifier": name})(x)), expected, rtol=1e-9
        )
