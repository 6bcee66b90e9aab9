"""Sums by cell of what rows draw, against drawing every row."""

import math

import numpy as np
import pytest

from veridical import evaluate
from veridical._core.data.randomness import Draws
from veridical._core.resampling import sums
from veridical._core.resampling.hypothesis import fixed_variance, redraw_of
from veridical._core.resampling.redraw import Redraw
from veridical._core.resampling.sums import Rows, drawn_sums
from veridical._core.sample import BinarySample

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

N = 4000
# Two samples of N draws are farther apart than this with probability 1e-6 (Smirnov's bound).
FAR = math.sqrt(math.log(2 / 1e-6) / N)


def one_by_one(rows, cell, n_cells, rng):
    """Every row draws, N times."""
    found = np.zeros((N, n_cells))
    for values, chance, c in zip(rows.values, rows.chance, cell, strict=True):
        found[:, c] += rng.choice(values, size=N, p=chance / chance.sum())
    return found


def farthest(a, b, apart):
    """Largest distance between two distributions, of which values may be so far `apart`."""
    a, b = np.sort(a), np.sort(b)
    worst = 0.0
    for one, other in ((a, b), (b, a)):
        here = np.searchsorted(one, one, side="right") / len(one)
        worst = max(worst, np.max(here - np.searchsorted(other, one + apart, side="right") / N))
    return float(worst)


def residuals(p, weight, other=None):
    """Residuals of rows that weigh `weight`, or `other` if the outcome is 1."""
    other = weight if other is None else other
    chance = np.column_stack([(1 - p) / weight, p / other])
    chance /= chance.sum(axis=1, keepdims=True)
    return Rows(np.column_stack([-weight * p, other * (1 - p)]), chance)


def cases():
    rng = np.random.default_rng(3)
    p = np.sort(rng.beta(1, 3, 2000))
    heavy = np.ones(2000)
    heavy[700] = 1e6
    yield "one heavy row", residuals(p, heavy)
    yield "weights by label", residuals(p, np.full(2000, 5.0), np.full(2000, 0.5))
    yield "continuous weights", residuals(p, rng.lognormal(0, 1.5, 2000))
    yield "rare events", residuals(p * 0.004, rng.integers(1, 4, 2000).astype(float))
    turned = residuals(p, rng.exponential(1, 2000))
    sign = np.where(np.arange(2000) % 2, 1.0, -1.0)[:, None]
    yield "steps up and down", Rows(turned.values * sign, turned.chance)
    yield "three values", Rows(rng.normal(size=(2000, 3)), rng.dirichlet([1, 1, 1], 2000))


CASES = dict(cases())


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("n_cells", [1, 12, 300])
@pytest.mark.parametrize("case", CASES)
def test_sums_have_the_law_of_rows_drawn_one_by_one(case, n_cells, pooled, monkeypatch):
    monkeypatch.setattr(sums, "_ROW_BY_ROW", 0 if pooled else 1 << 40)
    monkeypatch.setattr(sums, "_COST_OF_A_POOL", 0 if pooled else 4)
    rows = CASES[case]
    cell = np.arange(2000) * n_cells // 2000
    found = drawn_sums(rows, cell, n_cells, Draws(N, np.random.default_rng(1)))
    expected = one_by_one(rows, cell, n_cells, np.random.default_rng(2))
    for c in np.unique(np.linspace(0, n_cells - 1, 12).astype(int)):
        # Rows that are drawn together differ by a tenth of the standard deviation at most.
        values, chance = rows.values[cell == c], rows.chance[cell == c]
        mean = (values * chance).sum(axis=1)
        spread = np.sqrt(((values - mean[:, None]) ** 2 * chance).sum())
        assert farthest(found[:, c], expected[:, c], 0.1 * spread) < FAR, c
    assert found.shape == (N, n_cells)


@pytest.mark.parametrize("case", CASES)
def test_mean_and_variance_of_every_cell_are_those_of_its_rows(case, monkeypatch):
    monkeypatch.setattr(sums, "_ROW_BY_ROW", 0)
    monkeypatch.setattr(sums, "_COST_OF_A_POOL", 0)
    rows, n_cells = CASES[case], 40
    cell = np.arange(2000) * n_cells // 2000
    found = drawn_sums(rows, cell, n_cells, Draws(N, np.random.default_rng(5)))
    for c in range(n_cells):
        inside = zip(rows.values[cell == c], rows.chance[cell == c], strict=True)
        moments = [(v @ q, np.square(v) @ q - (v @ q) ** 2) for v, q in inside]
        mean, variance = np.sum(moments, axis=0)
        drawn = found[:, c]
        fourth = np.mean(np.square(drawn - drawn.mean()) ** 2)
        assert abs(drawn.mean() - mean) < 6 * math.sqrt(variance / N)
        assert abs(drawn.var() - variance) < 6 * math.sqrt(fourth / N)


def test_a_pool_of_equal_rows_counts_whole_rows(monkeypatch):
    """30 rows of one chance and weight: sums are multiples of the weight, as binomial as these."""
    monkeypatch.setattr(sums, "_ROW_BY_ROW", 0)
    rows = residuals(np.full(30, 0.2), np.full(30, 3.0))
    found = drawn_sums(rows, np.zeros(30, dtype=int), 1, Draws(N, np.random.default_rng(0)))
    hits = found[:, 0] / 3 + 30 * 0.2
    assert np.abs(hits - np.rint(hits)).max() < 1e-9
    share = np.bincount(np.rint(hits).astype(int), minlength=31) / N
    law = [math.comb(30, k) * 0.2**k * 0.8 ** (30 - k) for k in range(31)]
    assert np.abs(np.cumsum(share) - np.cumsum(law)).max() < FAR


def test_what_is_known_of_rows_is_not_kept_for_others():
    p = np.linspace(0.05, 0.95, 50)
    sample = BinarySample(y=(p > 0.4).astype(np.uint8), p=p, weight=np.linspace(1, 3, 50))
    made = redraw_of(sample)
    assert isinstance(made, Redraw)
    assert redraw_of(sample) is made
    half = sample.take(np.arange(25))
    assert redraw_of(half).n == 25
    expected = np.square(sample.weight[made.rows]) * p[made.rows] * (1 - p[made.rows])
    for _ in range(2):
        assert fixed_variance(made, sample)[:, 1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", ["one heavy row", "by label", "continuous"])
def test_order_of_rows_does_not_matter_to_a_weighted_evaluation(kind):
    rng = np.random.default_rng(8)
    p = rng.random(3000)
    y = (rng.random(3000) < p).astype(int)
    weight = {
        "one heavy row": np.where(np.arange(3000) == 17, 1e6, 1.0),
        "by label": np.where(y == 1, 1.0, 4.0),
        "continuous": rng.exponential(1, 3000),
    }[kind]
    mixed = rng.permutation(3000)
    one = evaluate(y, p, sample_weight=weight, rng=1)
    other = evaluate(y[mixed], p[mixed], sample_weight=weight[mixed], rng=1)
    for a, b in zip(one.errors, other.errors, strict=True):
        assert a.name == b.name
        if a.null_mean is not None:
            assert a.null_mean == pytest.approx(b.null_mean, rel=1e-6)
            assert a.pvalue == pytest.approx(b.pvalue, abs=2e-3)


@pytest.mark.parametrize("ordered", [True, False])
def test_sums_of_cells_are_those_of_a_loop(ordered):
    rng = np.random.default_rng(2)
    cell, values = rng.integers(0, 9, 200), rng.standard_normal(200)
    cell = np.sort(cell[cell != 4]) if ordered else cell[cell != 4]  # one cell has no row
    values = values[: len(cell)]
    expected = [
        math.fsum(v for v, c in zip(values, cell, strict=True) if c == k) for k in range(11)
    ]
    assert sums.Cells(cell, 11).sums(values) == pytest.approx(expected, abs=1e-12)


def test_places_among_ends_are_those_of_searchsorted():
    rng = np.random.default_rng(2)
    ends = np.sort(rng.integers(0, 40, 12) / 40)
    ordered = np.sort(np.append(rng.random(50), ends))
    found = sums.places_of(ordered, ends)
    np.testing.assert_array_equal(found, [sum(end < each for end in ends) for each in ordered])
