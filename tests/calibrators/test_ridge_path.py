"""Structured matrices of several ridges, fitted one after the other to the same rows."""

import numpy as np
import pytest

from veridical.calibrators import StructuredMatrixCalibrator, TemperatureCalibrator
from veridical.calibrators._softmax.path import fit_path
from veridical.calibrators.core import fit_part, held_out_masses, row_masses, rows_of_mass
from veridical.exceptions import InvalidInputError

RIDGES = (0.05, 0.5, 0.0015)


def several(n, k, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, (n, k))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    q = np.exp(0.5 * z + 0.3 * np.roll(z, 1, axis=1))
    q /= q.sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > q.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    return p, y


def maps(**options):
    return [StructuredMatrixCalibrator(strength=each, **options) for each in RIDGES]


def gradient_of(map, p, y, weight):
    """Naive derivative of the penalised mean loss of a map, computed from its definition."""
    k, size = p.shape[1], weight.sum() ** 2 / (weight**2).sum()
    tempered = p ** (1 / map.temperature_)
    tempered /= tempered.sum(axis=1, keepdims=True)
    mix = 1 / (size + 1)
    features = np.log((1 - mix) * tempered + mix / k)
    scores = features @ map.coef_.T + map.intercept_
    share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rest = (share - np.eye(k)[y]) * (weight / weight.sum())[:, None]
    ridge = map.strength * k / size
    away = map.coef_ - np.eye(k)
    pull = 2 * ridge * np.where(np.eye(k) == 1, 1, k - 1) * away
    return np.append(
        (rest.T @ features + pull).ravel(), rest.sum(axis=0) + 2 * ridge * map.intercept_
    )


@pytest.mark.parametrize(("n", "k"), [(200, 3), (400, 30)])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_map_is_the_one_that_is_fitted_alone(n, k, weighted):
    p, y = several(n, k)
    weight = np.random.default_rng(1).uniform(0.5, 2, n) if weighted else None
    rows = StructuredMatrixCalibrator()._read_rows(p, y, weight)
    parts = maps()
    path = fit_path(parts, rows)
    assert path.strengths == (0.5, 0.05, 0.0015)
    assert path.notes == ()
    for part, alone in zip(parts, maps(), strict=True):
        alone.fit(p, y, weight)
        assert (
            np.abs(gradient_of(part, p, y, np.ones(n) if weight is None else weight)).max() < 1e-6
        )
        np.testing.assert_allclose(part.predict_proba(p), alone.predict_proba(p), atol=1e-5)
        assert part.temperature_ == alone.temperature_
        assert part.classes_.tolist() == alone.classes_.tolist()


@pytest.mark.parametrize(("n", "k"), [(300, 3), (400, 30)])
def test_folds_that_begin_at_the_optima_of_all_rows_end_where_they_should(n, k):
    p, y = several(n, k)
    rows = StructuredMatrixCalibrator()._read_rows(p, y, None)
    path = fit_path(maps(), rows)
    for held in list(held_out_masses(rows, 5))[:2]:
        kept = rows_of_mass(rows, row_masses(rows) - held)
        parts = maps()
        fit_path(parts, kept, path)
        for part, alone in zip(parts, maps(), strict=True):
            fit_part(alone, kept)
            np.testing.assert_allclose(part.predict_proba(p), alone.predict_proba(p), atol=1e-5)


def test_other_maps_and_other_ridges_are_refused():
    p, y = several(100, 3)
    rows = StructuredMatrixCalibrator()._read_rows(p, y, None)
    with pytest.raises(InvalidInputError, match="differ in `strength` alone"):
        fit_path([StructuredMatrixCalibrator(), TemperatureCalibrator()], rows)
    with pytest.raises(InvalidInputError, match="differ in `strength` alone"):
        fit_path([*maps(), StructuredMatrixCalibrator(pseudo_rows=0)], rows)
    path = fit_path(maps(), rows)
    with pytest.raises(InvalidInputError, match="near"):
        fit_path(maps()[:2], rows, path)
