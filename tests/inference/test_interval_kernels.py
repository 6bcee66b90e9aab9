"""Inner loops of limits and forms, against their definitions."""

import math

import numpy as np
import pytest
from scipy.special import xlogy

from veridical._core import loops
from veridical._core.numeric import density
from veridical._core.sample import BinarySample
from veridical.inference._design.sample_size import Design, detection_power
from veridical.inference._intervals import unbinned
from veridical.inference._intervals.binned import cumulant_cdf, find_root
from veridical.inference._intervals.bounded import EDGE, MAX_STEPS, Masses
from veridical.inference._intervals.rows import rows_of
from veridical.inference._intervals.support import expected_support
from veridical.inference._joint.forms import _x_log_ratio


def masses(n, seed, alike):
    rng = np.random.default_rng(seed)
    shape = np.ones(n) if alike else rng.integers(1, 4, n).astype(float)
    shape[:16] = 1.0
    return Masses(rng.standard_normal(n) ** 3, shape, rng.exponential(1, n))


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("n", [2, 16, 17, 100, 1000])
def test_the_compiled_saddlepoint_is_where_the_slope_is_zero(n, alike):
    """Sums there are those of plain Python, with a logarithm of every row."""
    if loops.library() is None:
        pytest.skip("not compiled")
    given = masses(n, n, alike)
    low, high = float(given.value.min()), float(given.value.max())
    for mean in np.linspace(low, high, 5)[1:-1]:
        found = loops.saddlepoint(given, float(mean), 0.0, EDGE, MAX_STEPS)
        x = [s * (v - mean) / found.unit for v, s in zip(given.value, given.scale, strict=True)]
        ratio = [each / (1 - found.tilt * each) for each in x]
        pairs = list(zip(given.shape, ratio, strict=True))
        size = math.fsum(k * abs(r) for k, r in pairs)
        assert abs(math.fsum(k * r for k, r in pairs)) < 1e-9 * size
        assert found.square == pytest.approx(math.fsum(k * r**2 for k, r in pairs), rel=1e-11)
        cubes = [k * r**3 for k, r in pairs]
        assert found.cube == pytest.approx(math.fsum(cubes), abs=1e-11 * sum(map(abs, cubes)))
        logs = [k * math.log1p(-found.tilt * e) for k, e in zip(given.shape, x, strict=True)]
        assert found.fall == pytest.approx(math.fsum(logs), abs=1e-11 * sum(map(abs, logs)))


def test_values_on_one_side_of_the_mean_have_no_saddlepoint():
    if loops.library() is None:
        pytest.skip("not compiled")
    for n in (3, 16, 40):
        given = Masses(np.linspace(1.0, 2.0, n), np.ones(n), np.ones(n))
        assert loops.saddlepoint(given, 0.5, 0.0, EDGE, MAX_STEPS) == -math.inf
        assert loops.saddlepoint(given, 2.5, 0.0, EDGE, MAX_STEPS) == math.inf


@pytest.mark.parametrize("seed", range(6))
def test_two_outcomes_have_the_support_of_a_loop_over_rows(seed):
    rng = np.random.default_rng(seed)
    p = np.append(rng.random(60), [0.0, 1.0, 0.5])
    chance = np.column_stack([1 - p, p])
    with np.errstate(divide="ignore"):
        losses = -np.log(chance)
    seen = rng.random(4) * 0.2
    copies = rng.integers(1, 5, len(p)).astype(np.float64)
    likely, surprises = [], []
    for row, (a, b) in enumerate(chance):
        top = 0 if a >= b else 1
        likely.append(losses[row, top])
        other = 1 - top
        if chance[row, other] > 0 and math.isfinite(losses[row, other]):
            surprises.append((losses[row, other], copies[row] * math.sqrt(chance[row, other])))
    surprises.sort()
    total = sum(weight for _, weight in surprises)
    tail = min(max(0.5, 0.01 * total), 0.05 * total)
    ends, passed = [], 0.0
    for limit in (tail, total - tail):
        passed = 0.0
        for value, weight in surprises:
            passed += weight
            if passed >= limit:
                ends.append(value)
                break
    every = [*likely, *ends, *seen]
    found = expected_support(losses, chance, seen, copies)
    assert found.lowest == pytest.approx(min(every), abs=1e-15)
    assert found.highest == pytest.approx(max(every), rel=1e-12)


def test_bets_of_rows_are_read_between_the_nodes():
    rng = np.random.default_rng(1)
    p = np.concatenate([rng.random(50), [0.0, 1.0, 0.5]])
    rows = rows_of(BinarySample(y=(p > 0.3).astype(np.uint8), p=p))
    grid = np.linspace(0, 1, 1025)
    smoother = unbinned._Kernel(rows).of(0.07)
    sign = np.where(np.sin(9 * grid) > 0, 1.0, -1.0)
    share = np.full(1025, 1 / 1024)
    share[[0, -1]] /= 2
    smooth = density.smoothed_density(density.cosine_spectrum(sign * share), 0.07)
    assert smoother.on_rows(sign) == pytest.approx(np.interp(p, grid, smooth), abs=1e-13)
    mass = rng.standard_normal(len(p))
    nodes = np.array([(mass * np.maximum(1 - np.abs(p - g) * 1024, 0)).sum() for g in grid])
    expected = density.smoothed_density(density.cosine_spectrum(nodes), 0.07)
    assert smoother.at_nodes(mass) == pytest.approx(expected, abs=1e-10)


def test_x_log_ratio_is_that_of_scipy():
    x = np.concatenate([[0.0, 1e-320, 1e-200], np.random.default_rng(0).random(100) * 9])
    mean = np.linspace(0.1, 5, len(x))
    assert _x_log_ratio(x, mean) == pytest.approx(xlogy(x, x / mean), rel=1e-14, abs=1e-290)


def test_power_is_found_with_the_critical_value_of_its_own_size():
    """What a design knows of one number of rows is not used for another."""
    design = Design(np.linspace(0.01, 0.99, 300), 10)
    truth = design.miscalibrated("even", 0.05)
    assert truth.error == pytest.approx(0.05, rel=1e-9)
    for n, level in ((100, 0.05), (1000, 0.05), (100, 0.2)) * 2:
        mean, variance, third = design.truth(design.p).cumulants(n)

        def beyond(value, law=(mean, variance, third), level=level):
            return cumulant_cdf(value, *law) - (1 - level)

        critical = find_root(beyond, 0.0, mean + 40 * math.sqrt(variance))
        power = 1 - cumulant_cdf(critical, *truth.cumulants(n))
        assert detection_power(design, truth, n, level) == pytest.approx(power, rel=1e-9)
