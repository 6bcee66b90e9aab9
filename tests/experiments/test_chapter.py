"""The chapter's demonstration: R's draw, known means over draws, and truths in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from needs import needed
from PIL import Image

from veridical_lab import run_experiment
from veridical_lab.chapter.claims import true_error
from veridical_lab.chapter.draw import ChapterStudy, RStream, printed_draw
from veridical_lab.chapter.recipes import recipe_temperature

# Table 86.2: Brier score and ECE.
PRINTED = {
    "uncalibrated": (0.1527, 0.0784),
    "Platt": (0.1459, 0.0147),
    "isotonic": (0.1462, 0.0203),
}
# Mean and standard deviation of the ECE over 200 repetitions, found elsewhere.
GOLDEN = {"uncalibrated": (0.083, 0.008), "Platt": (0.019, 0.005), "isotonic": (0.023, 0.006)}

WRONG = {
    "Section 86.6, discrimination, isotonic",
    "Section 86.4.1, calibration, resolution and variance of outcomes in bins",
    "Figure 86.1, uncalibrated curve",
    "Section 86.6, Platt scaling",
    "Section 86.6, how the model is distorted",
    "Section 86.7, calibrating on training rows",
    "Section 86.8, temperature of the recipe",
}
UNSURE = {  # four data sets say less than forty
    "Section 86.2, a penalty of the usual size",
    "Section 86.2, boosted trees",
    "Section 86.5.2, isotonic on few rows",
    "Section 86.7, temperature on few rows",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def result(folder):
    return run_experiment("chapter", folder=folder, quick=True, n_jobs=1)


@pytest.fixture(scope="module")
def study():
    return ChapterStudy(printed_draw())


@pytest.mark.parametrize(
    ("seed", "uniform", "normal", "order"),
    [
        (1, [0.2655087, 0.3721239, 0.5728534], [-0.6264538, 0.1836433, -0.8356286],
         [9, 4, 7, 1, 2, 5, 3, 10, 6, 8]),
        (42, [0.9148060, 0.9370754, 0.2861395], [1.3709584, -0.5646982, 0.3631284],
         [1, 5, 10, 8, 2, 4, 6, 9, 7, 3]),
        (123, [0.2875775, 0.7883051, 0.4089769], [-0.56047565, -0.23017749, 1.55870831],
         [3, 10, 2, 8, 6, 9, 1, 7, 5, 4]),
    ],
)  # fmt: skip
def test_random_numbers_are_those_of_r(seed, uniform, normal, order):
    """runif(3), rnorm(3) and sample(10) after set.seed, as R 3.6 and later print them."""
    assert RStream(seed).uniform(3) == pytest.approx(uniform, abs=6e-8)
    assert RStream(seed).normal(3) == pytest.approx(normal, abs=6e-8)
    assert (1 + RStream(seed).permutation(10)).tolist() == order


def test_bernoulli_numbers_are_those_of_r():
    """set.seed(123); rbinom(10, 1, 0.5), and R's way to draw the rarer outcome."""
    drawn = RStream(123).bernoulli(np.full(10, 0.5))
    assert drawn.tolist() == [0, 1, 0, 1, 1, 0, 1, 1, 1, 0]
    u = RStream(123).uniform(4)  # 0.29 0.79 0.41 0.88
    assert RStream(123).bernoulli(np.array([0.1, 0.3, 0.65, 0.8])).tolist() == [
        int(u[0] >= 0.9), int(u[1] >= 0.7), 1 - int(u[2] >= 0.65), 1 - int(u[3] >= 0.8)
    ]  # fmt: skip


@pytest.mark.parametrize("version", PRINTED)
def test_the_printed_table_is_reproduced(result, version):
    for name, printed in zip(("Brier", "ECE"), PRINTED[version], strict=True):
        fact = result.fact(f"Table 86.2, {version}, {name}")
        assert fact.printed == printed
        assert round(fact.value, 4) == printed
        assert fact.verdict == "reproduced"


@pytest.mark.parametrize("version", GOLDEN)
def test_mean_errors_are_the_golden_ones(result, version):
    mean, deviation = GOLDEN[version]
    found = result.fact(f"Repeated, {version}, mean ECE").value
    rounding = 0.0005
    assert abs(found - mean) < 4 * deviation * math.sqrt(1 / 20 + 1 / 200) + rounding


def test_exactly_the_known_errors_of_the_chapter_differ(result):
    differing = {fact.name for fact in result.facts if fact.verdict == "differs"}
    assert differing - UNSURE == WRONG
    assert all(fact.reason for fact in result.facts if fact.verdict == "differs")


def test_the_recipe_stops_where_torch_stops():
    """The chapter's own code, run on the same logits (torch 2.13.0)."""
    torch = needed("torch")
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 4, (1000, 10))
    y = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(axis=1)
    temperature = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    optimizer = torch.optim.LBFGS([temperature], lr=0.01, max_iter=50)
    tensors = torch.tensor(logits), torch.tensor(y)

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(tensors[0] / temperature, tensors[1])
        loss.backward()
        return loss

    optimizer.step(closure)
    assert recipe_temperature(logits, y) == pytest.approx(temperature.item(), abs=1e-9)


def test_slope_of_platt_scaling_undoes_the_distortion(result):
    """A slope of 1 / 1.8, with the standard error of a logistic slope on 3,000 rows."""
    fact = result.fact("Section 86.6, slope of Platt scaling")
    assert abs(fact.value - 1 / 1.8) < 4 * 0.03 / math.sqrt(20)


def test_a_strict_map_leaves_discrimination_alone(result):
    assert abs(result.fact("Section 86.6, discrimination, Platt").value) < 1e-12
    assert result.fact("Section 86.6, discrimination, isotonic").value > 0


def test_the_curve_crosses_the_diagonal_at_one_half(result):
    assert result.fact("Figure 86.1, uncalibrated curve").value == 4  # of eight bins


def test_truth_of_a_model_with_the_true_slopes_is_in_closed_form(study):
    exact = ChapterStudy(study.draw)
    exact._intercept, exact._slopes = -0.4, np.array([1.6, -1.2])
    log_odds, truth = exact.truth()
    assert truth == pytest.approx(1 / (1 + np.exp(-log_odds / 1.8)), abs=1e-9)


def test_truth_of_the_fitted_model_is_an_integral_along_a_line(study):
    """All features of one score lie on a line, across which they are normal."""
    from scipy.integrate import quad

    log_odds, truth = study.truth()
    slopes = study._slopes
    for at in (0, 1000, 3200):
        foot = (log_odds[at] / 1.8 - study._intercept) * slopes / (slopes @ slopes)
        across = np.array([-slopes[1], slopes[0]]) / np.linalg.norm(slopes)

        def weighted(t, foot=foot, across=across):
            lin = -0.4 + (foot + t * across) @ [1.6, -1.2]
            return math.exp(-t * t / 2) / math.sqrt(2 * math.pi) / (1 + math.exp(-lin))

        assert truth[at] == pytest.approx(quad(weighted, -9, 9)[0], abs=1e-7)


def test_true_error_of_merged_predictions():
    """Slices of 0.2 and 0.6 that share a prediction of 0.5 stand for 0.4."""
    assert true_error(np.array([0.5, 0.5, 0.9]), np.array([0.2, 0.6, 0.8])) == pytest.approx(0.1)


def test_isotonic_steps_are_those_of_scikit_learn(study):
    """Read at the scores it was fitted on, the map is the isotonic fit itself."""
    from sklearn.isotonic import IsotonicRegression

    second = study.draw.part == 1
    z, y = study.log_odds[second], study.draw.y[second]
    expected = IsotonicRegression().fit_transform(z, y)
    assert study.probabilities(z)["isotonic"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("slug", ["fig-86-1", "ece"])
def test_pictures_are_small_and_not_blank(result, folder, slug):
    path = folder / "chapter" / f"{slug}.png"
    assert path.stat().st_size < 120_000
    with Image.open(path) as picture:
        assert picture.width <= 1100
        assert len(picture.convert("RGB").getcolors(maxcolors=100_000)) > 10
    assert result.verdict in (folder / "chapter.md").read_text(encoding="utf-8")
