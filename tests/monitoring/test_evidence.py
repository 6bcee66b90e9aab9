"""Evidence by batch: a fair bet on every row, counted instead of played one by one."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.inference._sequential.process import Bets
from veridical.monitoring._judge.estimates import change_point
from veridical.monitoring._store.counts import FLOOR, N_CELLS, cell_of, centres, clipped, tally
from veridical.monitoring._store.evidence import EProcesses, log_factors


def data(n: int = 700, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.8, n)
    p[:4] = 0, 1, 1e-9, 0.5
    return (rng.random(n) < p).astype(int), p


def test_cells_are_in_order_and_hold_their_centre():
    p = np.linspace(FLOOR, 1 - FLOOR, 10_001)
    assert (np.diff(cell_of(p)) >= 0).all()
    assert cell_of(centres()).tolist() == list(range(N_CELLS))


def test_a_tally_counts_by_stream_cell_and_outcome():
    y, p = data()
    stream = np.arange(len(p)) % 3
    found = tally(y, p, stream, 3)
    q = clipped(p)
    for s in range(3):
        mine = stream == s
        assert found.rows[s] == mine.sum()
        assert found.deviation[s] == pytest.approx((y - q)[mine].sum())
        assert found.squared[s] == pytest.approx(((y - q)[mine] ** 2).sum())
        likelihood = np.where(y == 1, q, 1 - q)[mine]
        assert found.log_likelihood[s] == pytest.approx(np.log(likelihood).sum())
    together = tally(y[:300], p[:300]) + tally(y[300:], p[300:])
    assert (together.counts == tally(y, p).counts).all()


def rivals(p: np.ndarray) -> np.ndarray:
    """Probability of outcome 1 by rival and row: the bets at the middle of a row's cell."""
    middle = centres()[cell_of(clipped(p))]
    ones = np.ones(len(p), dtype=int)
    return np.exp(Bets("two-sided").log_factors(ones, middle)) * middle


def test_factors_are_those_of_rows_one_by_one():
    y, p = data()
    q, mine = rivals(p), clipped(p)
    row_by_row = np.where(y == 1, q / mine, (1 - q) / (1 - mine))
    np.testing.assert_allclose(log_factors(tally(y, p))[0], np.log(row_by_row).sum(axis=1))


def test_every_bet_is_fair():
    """The mean of each factor over the outcome is one, exactly: nothing else makes it valid."""
    _, p = data()
    q, mine = rivals(p), clipped(p)
    mean = mine * (q / mine) + (1 - mine) * ((1 - q) / (1 - mine))
    np.testing.assert_allclose(mean, 1.0, atol=1e-12)


@pytest.mark.parametrize(("edition", "scale"), [(1, 0), (2, 5000), (2, 1000)])
def test_wealth_is_conserved_over_all_outcomes(edition, scale):
    """Mean evidence after two batches over every possible outcome, by enumeration: at most one."""
    p = np.array([0.3, 0.9, 0.6])
    mean = 0.0
    for code in range(8):
        y = np.array([code & 1, code >> 1 & 1, code >> 2 & 1])
        evidence = EProcesses([scale], edition=edition)
        evidence.advance(tally(y[:2], p[:2]))
        evidence.advance(tally(y[2:], p[2:]))
        mean += np.where(y == 1, p, 1 - p).prod() * np.exp(evidence.log_e[0])
    assert mean == pytest.approx(1.0, abs=1e-9)


def test_streams_do_not_touch_each_other():
    y, p = data()
    both, alone = EProcesses([5000, 5000]), EProcesses([5000])
    for rows in (slice(0, 200), slice(200, None)):
        stream = np.zeros(len(p[rows]), dtype=int)
        both.advance(tally(y[rows], p[rows], stream, 2))
        alone.advance(tally(y[rows], p[rows]))
    assert both.log_e.tolist() == pytest.approx([alone.log_e[0], 0.0])


def test_a_change_is_found_where_it_was_made():
    rng = np.random.default_rng(5)
    evidence, factors = EProcesses([5000]), []
    for batch in range(40):
        p = rng.random(300)
        truth = p if batch < 25 else p**2
        factors.append(evidence.advance(tally(rng.random(300) < truth, p))[0])
    found = change_point(np.array(factors))
    assert found is not None
    assert found.low <= 25 <= found.high
    assert abs(found.batch - 25) <= 1
    assert evidence.log_e[0] > np.log(20)
    assert "less frequent" in evidence.direction(0)


def test_no_change_in_what_was_predicted_perfectly():
    p = np.array([0.5, 0.5])
    factors = EProcesses([5000]).advance(tally(np.array([0, 1]), p))
    assert change_point(factors) is None
