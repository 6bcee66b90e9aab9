"""Near-isotonic fits against the dual problem, and their average against all models."""

import math

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from veridical.calibrators._steps.isotonic import IsotonicCalibrator
from veridical.calibrators._steps.near_isotonic import NearIsotonicCalibrator, near_isotonic_path


def dual_solution(weight, frequency, penalty):
    """Solve min 1/2 sum w (f - b)^2 + penalty sum (b_i - b_{i+1})_+ by its dual in a box."""
    m = len(weight)
    if m == 1 or penalty == 0:
        return np.asarray(frequency, dtype=float)
    falls = np.zeros((m, m - 1))  # transposed differences b_i - b_{i+1}
    falls[np.arange(m - 1), np.arange(m - 1)] = 1
    falls[np.arange(1, m), np.arange(m - 1)] = -1
    root = np.sqrt(weight)
    fit = lsq_linear(
        falls / root[:, None], root * frequency, bounds=(0, penalty), method="bvls", tol=1e-14
    )
    return frequency - falls @ fit.x / weight


def naive_models(weight, positive):
    """Modified pool-adjacent-violators (Tibshirani et al. 2011, section 2), one step at a time.

    Yields the values of all runs and the number of groups, at zero and at every penalty at which
    groups merge.
    """
    groups = []
    for w, k in zip(weight, positive, strict=True):
        if groups and math.isclose(groups[-1][1] / groups[-1][0], k / w, abs_tol=1e-12):
            groups[-1] = [groups[-1][0] + w, groups[-1][1] + k, groups[-1][2] + 1, k / w]
        else:
            groups.append([w, k, 1, k / w])
    penalty = 0.0
    while True:
        yield [g[3] for g in groups for _ in range(g[2])], len(groups)
        value = [g[3] for g in groups]
        falls = [value[i] > value[i + 1] for i in range(len(value) - 1)]
        pull = [False, *falls, False]
        slope = [(pull[i] - pull[i + 1]) / g[0] for i, g in enumerate(groups)]
        waits = []
        for i in range(len(value) - 1):
            closing = slope[i + 1] - slope[i]
            gap = value[i] - value[i + 1]
            if closing and gap / closing > 0:
                waits.append(gap / closing)
        if not waits:
            return
        wait = min(waits)
        penalty += wait
        for i, g in enumerate(groups):
            g[3] += slope[i] * wait
        merged = [groups[0]]
        for g in groups[1:]:
            if math.isclose(merged[-1][3], g[3], abs_tol=1e-10):
                last = merged[-1]
                merged[-1] = [last[0] + g[0], last[1] + g[1], last[2] + g[2], g[3]]
            else:
                merged.append(g)
        groups = merged


def naive_average(weight, positive, size):
    scores, fits = [], []
    for values, n_groups in naive_models(weight, positive):
        likelihood = 0.0
        for w, k, b in zip(weight, positive, values, strict=True):
            likelihood += k * math.log(b) if k else 0.0
            likelihood += (w - k) * math.log(1 - b) if w > k else 0.0
        scores.append(-2 * likelihood + n_groups * math.log(size))
        fits.append(values)
    shares = [math.exp((min(scores) - s) / 2) for s in scores]
    return np.average(fits, axis=0, weights=shares), len(scores)


def rows(n, seed, *, tied=False):
    rng = np.random.default_rng([seed, n])
    p = rng.integers(0, 20, n) / 19 if tied else rng.random(n)
    # Frequencies fall in the middle, where an isotonic map must be wrong.
    return p, (rng.random(n) < p - 0.5 * np.sin(2 * np.pi * p) ** 2 * (p < 0.7)).astype(int)


@pytest.mark.parametrize("seed", range(5))
def test_path_solves_the_problem_at_every_merge(seed):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 6, 25).astype(float)
    positive = np.floor(rng.random(25) * (weight + 1))
    path = near_isotonic_path(weight, positive)
    runs_of = np.cumsum(np.concatenate([[0], np.diff(positive / weight) != 0]))
    for merges in path.models:
        penalty = path.penalty[merges - 1] if merges else 0.0
        group = np.searchsorted(path.last_runs(merges), runs_of)
        expected = dual_solution(weight, positive / weight, penalty)
        np.testing.assert_allclose(path.values(merges)[group], expected, atol=1e-8)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [10, 60, 200])
def test_average_equals_that_of_all_models(tied, n):
    p, y = rows(n, 1, tied=tied)
    values = np.unique(p)
    weight = [float((p == v).sum()) for v in values]
    positive = [float(y[p == v].sum()) for v in values]
    expected, _ = naive_average(weight, positive, n)
    got = NearIsotonicCalibrator(laplace=0).fit(p, y).predict_proba(values)[:, 1]
    np.testing.assert_allclose(got, expected, atol=1e-8)


def test_the_last_model_is_the_isotonic_one():
    p, y = rows(150, 2)
    order = np.argsort(p)
    path = near_isotonic_path(np.ones(150), y[order].astype(float))
    last = path.models[-1]
    assert last == len(path.boundary)
    isotonic = IsotonicCalibrator(laplace=0).fit(p, y).predict_proba(p[order])[:, 1]
    runs_of = np.cumsum(np.concatenate([[0], np.diff(y[order]) != 0]))
    group = np.searchsorted(path.last_runs(last), runs_of)
    np.testing.assert_allclose(path.values(last)[group], isotonic, atol=1e-12)


def test_a_true_fall_is_kept_where_an_isotonic_map_loses_it():
    rng = np.random.default_rng(0)
    p = np.repeat([0.2, 0.4, 0.6, 0.8], 1000)
    truth = np.repeat([0.2, 0.5, 0.3, 0.8], 1000)
    y = (rng.random(4000) < truth).astype(int)
    got = NearIsotonicCalibrator().fit(p, y).predict_proba([0.2, 0.4, 0.6, 0.8])[:, 1]
    np.testing.assert_allclose(got, [0.2, 0.5, 0.3, 0.8], atol=0.06)  # four standard errors


def test_separated_classes_leave_one_model():
    calibrator = NearIsotonicCalibrator(laplace=0).fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    assert calibrator.predict_proba([0.0, 0.49, 0.51, 1.0])[:, 1].tolist() == [0, 0, 1, 1]
