"""Histogram maps against hand computation and brute force."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from veridical._core.sample import BinarySample
from veridical.binning import QuantileBins, UniformBins
from veridical.calibrators._steps.histogram import HistogramCalibrator, selected_edges
from veridical.exceptions import InvalidInputError


def positive(calibrator, p):
    return calibrator.predict_proba(p)[:, 1]


def test_uniform_bins_by_hand():
    p, y = [0.1, 0.5, 0.6, 0.7, 0.9, 1.0], [0, 1, 0, 1, 1, 1]
    calibrator = HistogramCalibrator(n_bins=2, strategy="uniform", laplace=0).fit(p, y)
    # 0.5 belongs to [0, 1/2]: one of two; above: three of four.
    assert positive(calibrator, [0.0, 0.5, 0.51, 1.0]).tolist() == [0.5, 0.5, 0.75, 0.75]


def test_laplace_adds_rows_of_each_class_to_each_bin():
    calibrator = HistogramCalibrator(n_bins=2, strategy="uniform", laplace=2)
    calibrator.fit([0.1, 0.2, 0.3, 0.9], [0, 0, 0, 1])
    assert positive(calibrator, [0.1, 0.9]).tolist() == [2 / 7, 3 / 5]


@pytest.mark.parametrize("laplace", [0, 1])
def test_empty_bins_keep_their_middle(laplace):
    calibrator = HistogramCalibrator(n_bins=5, strategy="uniform", laplace=laplace)
    calibrator.fit([0.1, 0.9], [0, 1])
    np.testing.assert_allclose(positive(calibrator, [0.25, 0.5, 0.75]), [0.3, 0.5, 0.7])


def test_weighted_frequencies_by_hand():
    calibrator = HistogramCalibrator(n_bins=1, laplace=1).fit([0.2, 0.4, 0.6], [0, 1, 1], [2, 1, 1])
    # Importance: effective size 16 / 6 = 8/3, of which half is positive.
    assert positive(calibrator, [0.5])[0] == pytest.approx(0.5)
    calibrator.set_params(weight_type="frequency").fit([0.2, 0.4], [0, 1], [2, 1])
    assert positive(calibrator, [0.5])[0] == pytest.approx(2 / 5)


@pytest.mark.parametrize("n_rows", [50, 1000, 200_000])
@pytest.mark.parametrize(
    ("strategy", "rule"), [("quantile", QuantileBins), ("uniform", UniformBins)]
)
def test_bins_are_those_of_the_binnings(strategy, rule, n_rows):
    rng = np.random.default_rng(n_rows)
    p = np.concatenate([rng.random(n_rows), np.arange(11) / 10])
    y = (rng.random(len(p)) < p).astype(int)
    cells = rule(10).fit(BinarySample(y=y, p=p)).assign(p)
    expected = np.bincount(cells, y) / np.bincount(cells)
    calibrator = HistogramCalibrator(strategy=strategy, laplace=0).fit(p, y)
    np.testing.assert_allclose(positive(calibrator, p), expected[cells], atol=1e-12)


@pytest.mark.parametrize("n_bins", [1, 2, 7, 64])
@pytest.mark.parametrize("digits", [1, 2, 4, 16])
@pytest.mark.parametrize("n", [1, 3, 50, 1000])
def test_selected_edges_are_those_of_sorted_scores(n_bins, digits, n):
    rng = np.random.default_rng([n_bins, digits, n])
    p = rng.random(n).round(digits)
    expected = QuantileBins(n_bins).fit(BinarySample(y=np.zeros(n, int), p=p)).edges[1:-1]
    np.testing.assert_array_equal(selected_edges(p, n_bins), expected)


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4])
def test_clusters_have_the_least_variance(n_clusters):
    rng = np.random.default_rng(3)
    p, w = np.sort(rng.random(12).round(2)), rng.integers(1, 5, 12)
    y = rng.integers(0, 2, 12)

    def scatter(cuts):
        groups = np.split(np.arange(12), cuts)
        return sum(w[g] @ (p[g] - np.average(p[g], weights=w[g])) ** 2 for g in groups if len(g))

    best = min(combinations(range(1, 12), n_clusters - 1), key=scatter)
    expected = [(p[cut - 1] + p[cut]) / 2 for cut in best]
    calibrator = HistogramCalibrator(n_bins=n_clusters, strategy="kmeans").fit(p, y, w)
    np.testing.assert_allclose(calibrator.edges_, expected)


def test_clusters_of_many_scores_are_as_tight_as_those_of_scikit_learn():
    p = np.random.default_rng(4).beta(0.4, 1.5, 3000)
    y = np.arange(3000) % 2
    calibrator = HistogramCalibrator(n_bins=8, strategy="kmeans").fit(p, y)
    cells = np.searchsorted(calibrator.edges_, p)
    means = np.bincount(cells, p) / np.bincount(cells)
    peer = KMeans(8, n_init=3, random_state=0).fit(p[:, None])
    assert ((p - means[cells]) ** 2).sum() <= peer.inertia_ * (1 + 1e-6)


def test_more_bins_than_scores_are_as_many_as_scores():
    for strategy in ("quantile", "kmeans"):
        calibrator = HistogramCalibrator(n_bins=10, strategy=strategy, laplace=0)
        calibrator.fit([0.2, 0.2, 0.8], [0, 1, 1])
        assert positive(calibrator, [0.1, 0.9]).tolist() == [0.5, 1.0]


def test_number_of_bins_by_rule():
    p = np.arange(100) / 100
    calibrator = HistogramCalibrator(n_bins="sqrt").fit(p, np.arange(100) % 2)
    assert len(calibrator.values_) == 10
    assert len(calibrator.set_params(n_bins="cbrt").fit(p, np.arange(100) % 2).values_) == 4


def test_quantile_bins_of_logits_are_those_of_probabilities():
    rng = np.random.default_rng(5)
    z = rng.normal(size=300)
    y = (rng.random(300) < 0.5).astype(int)
    by_logit = HistogramCalibrator(input="logit").fit(z, y).predict_proba(z)
    p = 1 / (1 + np.exp(-z))
    np.testing.assert_allclose(by_logit, HistogramCalibrator().fit(p, y).predict_proba(p))


@pytest.mark.parametrize("n_bins", [0, "cv", 2.5, None, True])
def test_bad_numbers_of_bins_are_refused(n_bins):
    with pytest.raises(InvalidInputError, match="HistogramCalibrator: `n_bins` must be"):
        HistogramCalibrator(n_bins=n_bins).fit([0.2, 0.8], [0, 1])


def test_unknown_strategy_is_refused():
    with pytest.raises(InvalidInputError, match="did you mean 'quantile'"):
        HistogramCalibrator(strategy="quantiles").fit([0.2, 0.8], [0, 1])
