"""Bayesian binning into quantiles against the formula of the paper, written out."""

import math

import numpy as np
import pytest
from oracles import quantile_bins

from veridical.calibrators._steps.bbq import BBQCalibrator
from veridical.exceptions import InvalidInputError


def naive_bbq(p, y, new, *, prior_size=2.0, factor=10.0, w=None):
    """Eq. 2 and the average of Naeini, Cooper & Hauskrecht (2015), bin by bin."""
    w = np.ones(len(p)) if w is None else w
    size, distinct = w.sum(), sorted(set(p.tolist()))
    most = min(math.ceil(factor * size ** (1 / 3) - 1e-9), len(distinct))
    fewest = min(max(1, math.floor(size ** (1 / 3) / factor + 1e-9)), most)
    scores, predictions = [], []
    for asked in range(fewest, most + 1):
        cells = np.array(quantile_bins(p, asked, w))
        used = sorted(set(cells.tolist()))
        b = len(used)
        tops = [p[cells == c].max() for c in used]
        lows = [p[cells == c].min() for c in used]
        inner = [(tops[i] + lows[i + 1]) / 2 for i in range(b - 1)]
        edges = [0.0, *inner, 1.0]
        score, value = 0.0, []
        for i, c in enumerate(used):
            n, m = w[cells == c].sum(), (w * y)[cells == c].sum()
            centre = (edges[i] + edges[i + 1]) / 2
            alpha, beta = prior_size / b * centre, prior_size / b * (1 - centre)
            score += math.lgamma(prior_size / b) - math.lgamma(n + prior_size / b)
            score += math.lgamma(m + alpha) - math.lgamma(alpha)
            score += math.lgamma(n - m + beta) - math.lgamma(beta)
            value.append((m + alpha) / (n + prior_size / b))
        scores.append(score)
        predictions.append([value[sum(s > edge for edge in inner)] for s in new])
    shares = np.exp(np.array(scores) - max(scores))
    return np.average(predictions, axis=0, weights=shares)


def rows(n, seed, *, tied=False):
    rng = np.random.default_rng([seed, n])
    p = rng.integers(0, 13, n) / 12 if tied else rng.random(n)
    return p, (rng.random(n) < p**1.5).astype(int), rng


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [1, 3, 20, 150])
def test_equals_the_formula_of_the_paper(tied, n):
    p, y, rng = rows(n, 1, tied=tied)
    new = np.concatenate([rng.random(30), p, [0.0, 1.0]])
    got = BBQCalibrator(laplace=0, labels=[0, 1]).fit(p, y).predict_proba(new)[:, 1]
    np.testing.assert_allclose(got, naive_bbq(p, y, new), atol=1e-10)


def test_equals_the_formula_with_other_options_and_weights():
    p, y, rng = rows(60, 2)
    w = rng.integers(1, 4, 60).astype(float)
    calibrator = BBQCalibrator(laplace=0, bin_factor=3, prior_size=5, weight_type="frequency").fit(
        p, y, w
    )
    expected = naive_bbq(p, y, p, prior_size=5.0, factor=3.0, w=w)
    np.testing.assert_allclose(calibrator.predict_proba(p)[:, 1], expected, atol=1e-10)


def test_guard_adds_a_row_of_each_class():
    p, y, _ = rows(50, 3)
    plain = BBQCalibrator(laplace=0).fit(p, y).predict_proba(p)[:, 1]
    guarded = BBQCalibrator(laplace=1).fit(p, y).predict_proba(p)[:, 1]
    np.testing.assert_allclose(guarded, (50 * plain + 1) / 52, atol=1e-12)


def test_repairs_a_distorted_model():
    p, y, _ = rows(20_000, 4)
    grid = np.linspace(0.05, 0.95, 19)
    got = BBQCalibrator().fit(p, y).predict_proba(grid)[:, 1]
    np.testing.assert_allclose(got, grid**1.5, atol=0.06)


def test_weights_of_the_models_add_up():
    p, y, _ = rows(500, 5)
    calibrator = BBQCalibrator().fit(p, y)
    assert calibrator.model_weights_.sum() == pytest.approx(1)
    assert len(calibrator.n_bins_) == len(calibrator.model_weights_)


@pytest.mark.parametrize("option", [{"bin_factor": 0.5}, {"prior_size": 0}, {"laplace": "1"}])
def test_bad_options_are_refused(option):
    with pytest.raises(InvalidInputError, match=f"`{next(iter(option))}` must be"):
        BBQCalibrator(**option).fit([0.2, 0.8], [0, 1])
