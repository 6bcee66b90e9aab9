"""Null levels of figures without fixed bins: outcomes drawn in fine cells of scores."""

from __future__ import annotations

import numpy as np
import pytest

import veridical as v
from veridical._core.data.randomness import Draws
from veridical._core.sample import BinarySample
from veridical.inference._nulls import cells as module
from veridical.inference._nulls.cells import CellDraws, knows_cells
from veridical.inference._nulls.null import null_sample

FIGURES = {
    "smooth": (v.SmoothError(), 0.01),
    "smooth of a given width": (v.SmoothError(0.1), 0.001),
    "KS": (v.CumulativeError(), 1e-12),
    "Kuiper": (v.CumulativeError("kuiper"), 1e-12),
    "sweep": (v.BinnedError(v.SweepBins()), 1e-12),
}


def rows(n=300, seed=0, *, tied=False, weighted=False):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.2, 2.0, n)
    p = p.round(2) if tied else p
    y = (rng.random(n) < p).astype(int)
    return BinarySample(y=y, p=p, weight=rng.gamma(1.0, size=n) if weighted else None)


def draws(n=200, seed=1):
    return Draws(n, np.random.default_rng(seed))


def one_by_one(estimator, sample, n, seed=3):
    """Figures of samples whose outcomes are drawn row by row."""
    if sample.weight is not None:  # weights that go with nothing: a multiplier null
        return null_sample(estimator, sample, draws(n, seed))
    rng = np.random.default_rng(seed)
    outcomes = ((rng.random(sample.n) < sample.p).astype(int) for _ in range(n))
    return np.array([estimator.measure(BinarySample(y=y, p=sample.p)) for y in outcomes])


@pytest.mark.parametrize("name", ["smooth", "KS"])
@pytest.mark.parametrize(("n", "tied"), [(40, True), (300, False), (12_000, False)])
def test_null_samples_have_the_law_of_rows_drawn_one_by_one(name, n, tied):
    """12,000 rows are pooled into 4,096 and 8,192 cells."""
    estimator, _ = FIGURES[name]
    sample = rows(n, tied=tied)
    found = null_sample(estimator, sample, draws(400))
    known = one_by_one(estimator, sample, 60 if n > 1000 else 200)
    error = np.hypot(found.std() / np.sqrt(400), known.std() / np.sqrt(len(known)))
    assert abs(found.mean() - known.mean()) < 4 * error
    assert found.std() == pytest.approx(known.std(), rel=0.4)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_outcomes_at_once_are_measured_like_one_by_one(name, tied, weighted):
    estimator, close = FIGURES[name]
    sample = rows(tied=tied, weighted=weighted)
    rng = np.random.default_rng(2)
    drawn = (rng.random((8, sample.n)) < sample.p).astype(int)
    drawn[0] = (rng.random(sample.n) < np.sqrt(sample.p)).astype(int)  # clearly off
    order = np.argsort(sample.p, kind="stable")
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    value, starts = np.unique(sample.p[order], return_index=True)
    mass = np.add.reduceat(weight[order], starts)
    positive = np.add.reduceat((drawn * weight)[:, order], starts, axis=1)
    cells = CellDraws(value, mass, positive, float(mass.sum()))
    expected = [
        estimator.measure(BinarySample(y=y, p=sample.p, weight=sample.weight)) for y in drawn
    ]
    np.testing.assert_allclose(cells.figures(estimator), expected, rtol=close)


@pytest.mark.parametrize("name", ["smooth", "KS", "sweep"])
@pytest.mark.parametrize(("n", "weighted"), [(150, False), (150, True), (6000, True)])
def test_null_levels_are_those_of_rows_drawn_one_by_one(name, n, weighted):
    """6,000 rows of different weights are pooled into 2,048 cells."""
    estimator, _ = FIGURES[name]
    sample = rows(n, weighted=weighted)
    found = CellDraws.of(sample, draws()).figures(estimator)
    # Sweep bins of pooled cells end elsewhere, so what was observed is a little off, as is a draw.
    close = 0.15 if name == "sweep" else 0.02
    assert found[0] == pytest.approx(estimator.measure(sample), rel=close)
    known = one_by_one(estimator, sample, 60 if n > 1000 else 200)
    error = np.hypot(found[1:].std() / np.sqrt(200), known.std() / np.sqrt(len(known)))
    assert abs(found[1:].mean() - known.mean()) < 4 * error


@pytest.mark.parametrize("weighted", [False, True])
def test_drawn_sums_have_the_mean_and_the_variance_of_the_rows(weighted):
    sample = rows(9000, weighted=weighted)
    cells = CellDraws.of(sample, draws())
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    assert cells.positive.shape == (201, len(cells.value))
    assert len(cells.value) <= 2048
    assert cells.positive[0].sum() == pytest.approx(weight @ sample.y)
    totals = cells.positive[1:].sum(axis=1)
    variance = float(weight**2 @ (sample.p * (1 - sample.p)))
    assert totals.mean() == pytest.approx(weight @ sample.p, abs=4 * np.sqrt(variance / 200))
    assert totals.var() == pytest.approx(variance, rel=0.45)


def test_few_scores_are_drawn_exactly():
    """Two scores: the chance of each number of positives is binomial."""
    sample = BinarySample(y=np.array([0, 1, 0, 1, 1]), p=np.array([0.2, 0.2, 0.7, 0.7, 0.7]))
    found = np.concatenate([CellDraws.of(sample, draws(seed=i)).positive[1:] for i in range(20)])
    share = [np.mean(found[:, 0] == k) for k in range(3)]
    assert share == pytest.approx([0.64, 0.32, 0.04], abs=4 * np.sqrt(0.25 / 4000))
    assert np.mean(found[:, 1] == 3) == pytest.approx(0.343, abs=4 * np.sqrt(0.25 / 4000))


def test_whole_frequencies_are_repeated_rows():
    sample = rows(200, tied=True)
    times = np.random.default_rng(5).integers(1, 4, 200)
    weighted = BinarySample(
        y=sample.y, p=sample.p, weight=times.astype(float), weight_type="frequency"
    )
    repeated = BinarySample(y=np.repeat(sample.y, times), p=np.repeat(sample.p, times))
    one, two = CellDraws.of(weighted, draws()), CellDraws.of(repeated, draws())
    np.testing.assert_array_equal(one.positive, two.positive)


def test_order_of_rows_does_not_matter():
    sample = rows(500, weighted=True)
    moved = np.random.default_rng(6).permutation(500)
    one, two = (CellDraws.of(each, draws()) for each in (sample, sample.take(moved)))
    np.testing.assert_allclose(one.positive, two.positive)


def test_calibrated_models_are_seldom_rejected(monkeypatch):
    """Level 5 % in 100 samples; pooled cells and few draws as in evaluate."""
    monkeypatch.setattr(module, "_MOST_CELLS", 128)
    rejected = np.zeros(3)
    for seed in range(100):
        cells = CellDraws.of(rows(400, seed=seed), draws(59, seed=seed))
        for i, name in enumerate(("smooth", "KS", "sweep")):
            figures = cells.figures(FIGURES[name][0])
            rejected[i] += (1 + (figures[1:] >= figures[0]).sum()) / 60 <= 0.05
    assert (rejected / 100 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)).all()


def test_who_is_known():
    assert all(knows_cells(estimator) for estimator, _ in FIGURES.values())
    for other in (v.BinnedError(), v.IsotonicError(), v.BinnedError(v.SweepBins(), norm=2)):
        assert not knows_cells(other)
