"""Vaicenavicius et al. (2019): facts against the paper's tables, integrals and naive loops.

arXiv 1902.06977.
"""

from __future__ import annotations

import csv
import itertools
import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from PIL import Image
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import binom, norm

from veridical.exceptions import InvalidInputError
from veridical_lab import run_experiment
from veridical_lab._frame.predictions import digits_predictions
from veridical_lab.evaluating.convergence import bin_limit
from veridical_lab.evaluating.networks import (
    CALIBRATED,
    DATA,
    FAKES,
    OVERCONFIDENT,
    bins_for,
    draw_fake,
    seen_through,
)
from veridical_lab.evaluating.tables import measure_line

FIGURES = (
    "estimates", "normals", "top-digits", "top-calibrated-fake", "top-over-confident-fake",
    "groups-calibrated-fake", "training-simulated",
)  # fmt: skip
QUICK_SAMPLES = 40  # of the level, each with its own p-value
# Where the run must disagree with the paper.
DIFFERS = {
    "Tables 3 to 5, maximum lens",
    "Tables 3 to 5, canonical lens",
    "Appendix B, sizes",
    "Section 4.3, p-value",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("evaluating")


@pytest.fixture(scope="module")
def result(folder):
    return run_experiment("evaluating", quick=True, n_jobs=1, folder=folder)


@pytest.fixture(scope="module")
def lines(result, folder):
    """Lines of the tables by network, lens, bins and distance."""
    del result
    with (folder / "evaluating" / "networks.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    keys = ("network", "lens", "bins", "distance")
    return {tuple(row[key] for key in keys): row for row in rows}


def gap(x):
    """P(class 1 | x) minus what the uncalibrated model says of class 1."""
    return expit(2 * x) - expit(-1 - x)


def density(x):
    return (norm.pdf(x, -1) + norm.pdf(x, 1)) / 2


def integral(function, low=-12.0, high=12.0):
    points = [x for x in (-1 / 3,) if low < x < high]  # where the gap changes its sign
    return quad(function, low, high, points=points or None, limit=400)[0]


def test_true_errors_are_integrals(result):
    errors = {
        "": integral(lambda x: abs(gap(x)) * density(x)),
        ", squared Euclidean distance": integral(lambda x: 2 * gap(x) ** 2 * density(x)),
    }
    for end, error in errors.items():
        assert result.fact(f"Section 5.1, uncalibrated model{end}").value == pytest.approx(
            error, abs=1e-6
        )
    # Golden values, from an independent quadrature: total variation, maximum lens, squared.
    assert errors[""] == pytest.approx(0.563751, abs=5e-7)
    found = result.fact("Section 5.1, uncalibrated model, maximum lens").value
    assert found == pytest.approx(0.500346, abs=2e-6)
    assert errors[", squared Euclidean distance"] == pytest.approx(0.797359, abs=5e-7)


@pytest.mark.parametrize(("n_bins", "golden"), [(5, None), (10, 0.558357), (100, 0.563749)])
def test_limits_with_fixed_bins_are_sums_of_integrals(result, n_bins, golden):
    # The score is in a bin where x is between the logits of its edges: s = expit(-1 - x).
    cuts = [-1 - math.log(s / (1 - s)) for s in np.arange(1, n_bins) / n_bins]
    edges = [12.0, *cuts, -12.0]
    limit = sum(
        abs(quad(lambda x: gap(x) * density(x), low, high)[0])
        for high, low in itertools.pairwise(edges)
    )
    assert bin_limit(n_bins) == pytest.approx(limit, abs=1e-7)
    if golden is not None:
        assert limit == pytest.approx(golden, abs=1e-6)
        found = result.fact(f"Section 5.1, limit with {n_bins} bins").value
        assert found == pytest.approx(limit, abs=1e-7)


def test_distances_of_two_classes():
    # 2 t^2 and sqrt(2) t bin by bin; one bin has one t.
    t = bin_limit(1)
    assert bin_limit(1, distance="l2") == pytest.approx(math.sqrt(2) * t)
    assert bin_limit(1, distance="sqeuclidean") == pytest.approx(2 * t**2)


def test_examples(result):
    # Table 1: every row is off by 0.1. Table 2: classes by 0.1, 0.1 and 0.2. Example 5: 1/2.
    assert result.fact("Example 1").value == pytest.approx(0.1)
    assert result.fact("Example 3").value == pytest.approx(0.1)
    bias = result.fact("Example 5, bias of one bin and one row, constant model")
    assert bias.value == bias.printed == 0.5


def test_verdicts(result):
    found = {fact.name for fact in result.facts if fact.verdict == "differs"}
    assert found == DIFFERS
    assert all(fact.reason for fact in result.facts if fact.verdict == "differs")
    assert not [fact.name for fact in result.facts if "  " in fact.reason or "\n" in fact.reason]


def test_six_printed_distances_are_not_squared(result):
    facts = [fact for fact in result.facts if fact.name.endswith('"squared Euclidean"')]
    assert [fact.printed for fact in facts] == [0.054, 0.053, 0.061, 0.061, 0.010, 0.013]
    for fact, variation in zip(facts, (0.038, 0.038, 0.043, 0.043, 0.007, 0.009), strict=True):
        assert fact.value == pytest.approx(math.sqrt(2) * variation)
        assert fact.verdict == "reproduced"
    # A mean gap of 0.053 / (2 * 0.038), and noise of 0.005 / (2 * 0.007).
    assert result.fact("Tables 3 to 5, maximum lens").value == pytest.approx(0.053 / 0.076)
    assert result.fact("Tables 3 to 5, canonical lens").value == pytest.approx(0.005 / 0.014)


def test_fixed_bins_fall_short_by_what_the_integral_says(result):
    # Standard deviation about 0.004 at 10,000 rows, over 100 samples; no gap is near zero but one.
    found = result.fact("Section 4.3").value
    assert found == pytest.approx(0.558357 - 0.563751, abs=4 * 0.004 / 10)


def test_level_with_predictions_fixed(result):
    most = binom.ppf(0.9999, QUICK_SAMPLES, 0.05) / QUICK_SAMPLES
    assert result.fact("Section 4.3, level with predictions fixed").value <= most
    assert max(check.value for check in result.fact("Section 4.3, p-value").checks) > most


def test_errors_of_digits_against_loops(lines):
    digits = digits_predictions()
    top, right = digits.p.max(axis=1), digits.p.argmax(axis=1) == digits.y
    for shown, cell_of, p, y in (
        ("maximum", np.ceil(top * 10), np.column_stack([1 - top, top]), right.astype(int)),
        ("canonical", np.ceil(digits.p * 10), digits.p, digits.y),
    ):
        sums = {"tv": 0.0, "l2": 0.0, "sqeuclidean": 0.0}
        cells: dict[tuple[float, ...], list[int]] = {}
        for row, key in enumerate(cell_of):
            # The first class is left out: it is implied by the others.
            cells.setdefault(tuple(np.atleast_1d(key)[-9:]), []).append(row)
        for rows in cells.values():
            observed = np.bincount(y[rows], minlength=p.shape[1]) / len(rows)
            off = observed - p[rows].mean(axis=0)
            share = len(rows) / len(y)
            sums["tv"] += share * np.abs(off).sum() / 2
            sums["l2"] += share * math.sqrt(off @ off)
            sums["sqeuclidean"] += share * (off @ off)
        for distance, error in sums.items():
            found = float(lines["digits", shown, "equal", distance]["estimate"])
            assert found == pytest.approx(error, abs=1e-6), (shown, distance)


def test_data_dependent_bins_split_at_means():
    problem = seen_through("confidence", digits_predictions())
    partition = bins_for(problem, DATA).fit(problem)

    def cuts(scores):
        if len(scores) < 89 or scores.min() == scores.max():  # a tenth of 899 rows
            return []
        mean = scores.mean()
        return [*cuts(scores[scores <= mean]), mean, *cuts(scores[scores > mean])]

    assert list(partition.edges[1:-1]) == pytest.approx(cuts(problem.p), abs=1e-9)


def test_calibrated_fake_reads_its_null_level_and_the_other_does_not(lines):
    for lens in ("canonical", "maximum"):
        for bins in ("equal", "data-dependent"):
            one, other = (lines[name, lens, bins, "tv"] for name in (CALIBRATED, OVERCONFIDENT))
            excess = float(one["estimate"]) - float(one["null"])
            assert abs(excess) < 4 * float(one["null_spread"])
            assert float(other["pvalue"]) == pytest.approx(1 / 101)  # the least of 100 draws


def test_fakes_are_as_sure_as_the_networks_they_stand_for():
    # Accuracies of appendix D: DenseNet 0.933, LeNet 0.727; DenseNet reads 0.038 by confidence.
    for name, accuracy in ((OVERCONFIDENT, 0.933), (CALIBRATED, 0.727)):
        drawn = draw_fake(name, 0)
        assert (drawn.p.argmax(axis=1) == drawn.y).mean() == pytest.approx(accuracy, abs=0.015)
    gap_of_top = FAKES[OVERCONFIDENT].expected_calibration_error().value
    assert gap_of_top == pytest.approx(0.038, abs=0.005)


def test_files_of_two_classes_have_lines_too(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("label,p\n" + "1,0.75\n0,0.25\n" * 10)  # off by a quarter in both bins
    cell = {"network": "two", "path": str(path), "draws": 20, "bootstraps": 2, "bins": DATA}
    for lens in ("canonical", "maximum"):
        found = measure_line({**cell, "lens": lens}, np.random.default_rng(0))
        assert found["tv"]["estimate"] == pytest.approx(0.25)
        assert found["sqeuclidean"]["estimate"] == pytest.approx(2 * 0.25**2)


@pytest.mark.parametrize("slug", FIGURES)
def test_pictures_show_something(result, folder, slug):
    del result
    path = folder / "evaluating" / f"{slug}.png"
    assert path.stat().st_size < 120_000
    with Image.open(path) as picture:
        assert picture.width <= 1100
        assert len(picture.convert("RGB").getcolors(1 << 16)) > 10


def test_page_names_no_folder(result, folder):
    text = (folder / "evaluating.md").read_text(encoding="utf-8")
    assert result.conclusion in text
    assert str(folder) not in text


def test_two_files_of_one_name_are_refused(tmp_path):
    rows = {"predictions": np.full((4, 3), 1 / 3), "ground_truth": np.array([0, 1, 2, 0])}
    paths = [tmp_path / part / "net.npz" for part in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        np.savez(path, **rows)
    with pytest.raises(InvalidInputError, match="'net' twice"):
        run_experiment("evaluating", quick=True, n_jobs=1, data=paths)
