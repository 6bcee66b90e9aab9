"""Which estimator of the ECE to trust: the pieces against closed forms, and the quick run."""

import math
from itertools import pairwise

import numpy as np
import pytest

from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning import UniformBins
from veridical.lenses import ClasswiseProblem
from veridical.miscalibration import BinnedError
from veridical.simulation import LogisticModel, two_normals_model, two_normals_task
from veridical_lab import run_experiment
from veridical_lab.estimators.cell import (
    FULL,
    QUICK,
    SOURCE,
    Problems,
    binned_errors,
    random_task,
    read_all,
)
from veridical_lab.estimators.claims import CLAIMS
from veridical_lab.estimators.settings import LENSES, as_meant, as_run, newer, settings
from veridical_lab.estimators.study import Errors, Lead, leaders, ranks, told_leaders
from veridical_lab.estimators.truth import GapSums, expected_fine_error, scores_and_truths


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("estimators")


@pytest.fixture(scope="module")
def result(folder):
    return run_experiment("estimators", quick=True, n_jobs=1, folder=folder)


def test_the_grid_is_that_of_the_paper():
    # 001 section 5.1: 45 distributions, 4 models, 3 training sets, "the 540 95th percentiles".
    for law in ("text", "program"):
        assert len(SOURCE.cells(0, law)) == 540
    assert (min(SOURCE.sizes), max(SOURCE.sizes), len(SOURCE.sizes)) == (30, 5000, 20)


def test_the_full_run_has_all_tasks_and_models_of_the_paper():
    def kinds(cells):
        return {(c["classes"], c["features"], c["task"], c["model"]) for c in cells}

    for law in ("text", "program"):
        cells = FULL.cells(0, law)
        assert kinds(cells) == kinds(SOURCE.cells(0, law))
        assert len({str(cell) for cell in cells}) == len(cells)
        for cell in cells:
            assert cell["sizes"] == list(FULL.sizes if cell["newer"] else FULL.printed_sizes)
    assert len({cell["task"] for cell in QUICK.cells(0, "text")}) > 1  # else nothing has an error


def test_the_settings_are_those_of_the_paper():
    assert len(settings()) == 15
    assert tuple(as_meant(0.5)) == settings()


def test_tasks_of_the_program_are_twice_as_wide():
    means = [random_task(7, 5, law, [4]).modes.means for law in ("text", "program")]
    assert means[0].min() > 0
    assert means[0].max() < 1
    np.testing.assert_allclose(means[1], 2 * means[0] - 1)
    covariances = [random_task(7, 5, law, [4]).modes.covariances for law in ("text", "program")]
    np.testing.assert_allclose(covariances[1], covariances[0])


def test_only_what_the_program_gets_wrong_is_run_otherwise():
    linear = {f"{family} {count}" for family in ("ECE_c", "ECE_ac") for count in (10, 30, "sqrt")}
    assert set(as_run(0.0)) == linear
    assert set(as_run(0.2)) == linear | {"ECE_l 10", "ECE_l 30", "ECE_l sqrt"}


def naive_error(y, p, edges, assignment):
    """001 eq. 1 with the matrix W written out."""
    n_bins = len(edges) - 1
    centres = [(a + b) / 2 for a, b in pairwise(edges)]
    total = [0.0] * n_bins
    for outcome, score in zip(y, p, strict=True):
        weight = [0.0] * n_bins
        if assignment == "hard":
            weight[next((j for j in range(n_bins) if score <= edges[j + 1]), n_bins - 1)] = 1.0
        elif score <= centres[0]:
            weight[0] = 1.0
        elif score >= centres[-1]:
            weight[-1] = 1.0
        else:
            j = max(k for k in range(n_bins) if centres[k] <= score)
            far = (score - centres[j]) / (centres[j + 1] - centres[j])
            weight[j], weight[j + 1] = (1 - far, far) if assignment == "linear" else (far, 1 - far)
        for j in range(n_bins):
            total[j] += weight[j] * (outcome - score)
    return sum(abs(value) for value in total) / len(y)


@pytest.mark.parametrize("assignment", ["hard", "linear", "linear-inverted"])
def test_equation_1_by_hand(assignment):
    rng = np.random.default_rng(3)
    samples = [BinarySample(y=rng.integers(0, 2, 40), p=rng.uniform(0.2, 1, 40)) for _ in range(3)]
    found = binned_errors(UniformBins(7, support=(0.2, 1.0)), (assignment,), samples)[assignment]
    edges = 0.2 + 0.8 * np.arange(8) / 7
    expected = [naive_error(sample.y, sample.p, edges, assignment) for sample in samples]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("lens", LENSES)
def test_many_samples_at_once_are_as_one_by_one(lens, n_classes):
    rng = np.random.default_rng(n_classes)
    p = rng.multinomial(20, np.full(n_classes, 1 / n_classes), 500) / 20  # many ties
    p[:250] = rng.dirichlet(np.full(n_classes, 0.5), 250)
    classes = tuple(range(n_classes))
    whole = Problems.of(MulticlassSample(y=rng.integers(0, n_classes, 500), p=p, classes=classes))
    samples = [whole.take(rng.integers(0, 500, 60)) for _ in range(3)]
    low = 1 / n_classes if lens == "confidence" else 0.0
    estimators = as_meant(low) | newer() | {f"run {k}": v for k, v in as_run(low).items()}
    found = read_all(estimators, samples, lens)
    for name, estimator in estimators.items():
        problems = [s.top if lens == "confidence" else ClasswiseProblem(s.sample) for s in samples]
        expected = [estimator.measure(problem) for problem in problems]
        np.testing.assert_allclose(found[name], expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("lens", "exact"),
    # Vaicenavicius et al. (2019), section 5.1, integrated: 0.500346 and 0.563751.
    [("confidence", 0.500346), ("classwise", 0.563751)],
)
def test_truth_of_two_normals(lens, exact):
    rows = two_normals_task().sample(100_000, rng=0)
    model = two_normals_model("uncalibrated")
    value, half_width = GapSums.of(*scores_and_truths(model(rows.x), rows.posterior, lens)).error()
    # Truth less score spreads by less than 1/2 over rows: four standard errors.
    assert abs(value - exact) < 4 * 0.5 / math.sqrt(100_000)
    assert half_width < 0.01


def test_truth_of_the_posterior_is_zero_also_in_blocks():
    task, model = two_normals_task(), LogisticModel(0.0, 2.0)
    first, second = task.sample(4000, rng=0), task.sample(4000, rng=1)
    sums = GapSums.of(*scores_and_truths(model(first.x), first.posterior, "confidence"))
    sums.add(*scores_and_truths(model(second.x), second.posterior, "confidence"))
    assert sum(sums.rows) == 8000
    assert sums.error()[0] == pytest.approx(0, abs=1e-12)


def test_a_fine_binning_of_a_calibrated_model_reads_the_noise():
    # m rows a bin: mean absolute deviation sqrt(2 p (1 - p) / (pi m)), and the mean of
    # sqrt(p (1 - p)) over [0, 1] is pi / 8.
    score = (np.arange(100_000)[:, None] + 0.5) / 100_000
    found = expected_fine_error(np.zeros_like(score), score, score, n_bins=2000, n_rows=2_000_000)
    closed = math.sqrt(2 / math.pi) * math.pi / 8 * math.sqrt(2000 / 2_000_000)
    assert found == pytest.approx(closed, rel=1e-3)


def test_a_fine_binning_reads_what_is_expected_on_average():
    rng = np.random.default_rng(5)
    score = rng.beta(2, 2, (50_000, 1))
    curve = -0.1 * (score - 0.5)
    truth = score + curve
    expected = expected_fine_error(curve, score, truth, n_bins=100, n_rows=5000)
    read = []
    for _ in range(60):
        p = rng.beta(2, 2, 5000)
        y = (rng.random(5000) < p - 0.1 * (p - 0.5)).astype(np.int64)
        read.append(BinnedError(UniformBins(100)).measure(BinarySample(y=y, p=p)))
    error = np.std(read, ddof=1) / math.sqrt(len(read))
    # Normal means of bins: outer bins hold a row or two, which costs a few per cent at most.
    assert abs(np.mean(read) - expected) < 4 * error + 0.02 * expected
    assert expected > 1.5 * np.abs(curve).mean()  # of which most is noise


def test_leaders_and_places():
    curves = {"a": np.array([1.0, 3.0, 1.0]), "b": np.array([2.0, 1.0, 2.0])}
    assert leaders(curves) == ["a", "b", "a"]
    assert ranks(curves, "b").tolist() == [2, 1, 2]


def test_leaders_are_named_where_they_can_be_told():
    sure, unsure = Lead("a", "b", 0.3, 0.1), Lead("b", "a", 0.1, 0.1)
    words = told_leaders([sure, sure, unsure], (30, 90, 300))
    assert words == "a (n = 30 to 90), cannot be told (n = 300)"


def test_a_lead_is_judged_over_tasks():
    """Two settings whose errors differ by a task's luck, and one that is always twice as large."""
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(40), 6)  # six models and training sets each
    first = np.exp(rng.normal(0, 1, 40))[task][:, None]
    luck = np.exp(rng.normal(0, 0.5, 40))[task][:, None]
    alike = Errors(("a", "b"), np.stack([first, first * luck]), task)
    twice = Errors(("a", "b"), np.stack([first, 2 * first]), task)
    assert not alike.leads()[0].sure
    assert twice.leads()[0].sure
    assert twice.leads()[0].by == pytest.approx(math.log(2))
    # The standard error is that of 40 tasks, not of 240 rows: pi / 2 for a median.
    rows = Errors(("a", "b"), np.stack([first, first * luck]), np.arange(240))
    name = "a"
    ratio = alike.noise(lambda c: c[name][0]) / rows.noise(lambda c: c[name][0])
    assert 1.5 < ratio < 4


@pytest.mark.parametrize(("behind", "share"), [(0, 1.0), (1, 0.75), (4, 0.0)])
def test_shares_of_sizes_that_a_setting_leads(behind, share):
    silverman = np.ones(4)
    silverman[:behind] = 3.0
    curves = {"ECE_d silverman": silverman, "other": np.full(4, 2.0)}
    claim = next(claim for claim in CLAIMS if claim.name == "confidence, density")
    assert claim.value(curves, np.array([30, 90, 300, 500])) == share
    assert claim.asked == "as almost all"


def test_the_two_errors_on_300_rows(result):
    # Output of the authors' program on these rows, and linear binning of them done by hand.
    assert result.fact("ECE_c of 300 rows, authors' program").value == pytest.approx(
        0.055441, abs=1e-6
    )
    assert result.fact("ECE_c of 300 rows, linear binning").value == pytest.approx(
        0.068712, abs=1e-6
    )
    assert result.fact("ECE_l of 300 rows, authors' program").value == pytest.approx(
        0.0467, abs=5e-5
    )


def test_reference_is_biased(result):
    fact = result.fact("2,000 bins on 2,000,000 rows, calibrated")
    assert fact.value == pytest.approx(0.0099083, abs=1e-7)
    # Folded normals against labelled rows: much closer than the bias they predict.
    assert abs(result.fact("Folded normals less 2,000 bins, mean").value) < 0.003


def test_ten_per_cent_is_never_the_error_of_thirty_rows(result):
    # Thirty outcomes: noise of one mean alone is sqrt(p (1 - p) / 30), about 0.05 or more, while
    # the true errors are 0.03 to 0.13 here, so the 95 % quantile cannot be a tenth of the truth.
    fact = result.fact("Section 5.2, error at 30 rows as a share of the truth")
    assert fact.verdict == "differs"
    assert fact.value > 0.3


@pytest.mark.parametrize("version", ["as run", "corrected", "as written"])
def test_every_statement_is_judged_in_each_version(result, version):
    judged = [fact for fact in result.facts if fact.name.endswith(f", {version}")]
    assert len(judged) == 11
    held = sum(fact.verdict == "reproduced" for fact in judged)
    assert f" {held} " in result.conclusion
    assert all(fact.reason for fact in judged)
    assert {fact.origin == "" for fact in judged} == {version == "as run"}


def test_page_and_pictures(result, folder):
    page = (folder / "estimators.md").read_text(encoding="utf-8")
    for slug in ("figure-2", "corrected", "as-written", "median", "reference", "newer"):
        assert f"(estimators/{slug}.png)" in page
        assert 2_000 < (folder / "estimators" / f"{slug}.png").stat().st_size < 120_000
    table = (folder / "estimators" / "curves.csv").read_text(encoding="utf-8").splitlines()
    # Two lenses, four sizes: fifteen as run and corrected by two laws, and nineteen of both.
    assert len(table) == 1 + 2 * 4 * (2 * (15 + 15) + 19)
    assert "nan" not in page
    assert result.conclusion in page
