"""At fixed accuracy the trusting player loses as calibration worsens; recalibrating helps."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.planning._game.engine import HealthcareGame, play
from veridical.planning._game.players import TrustingPlayer

N_GAMES = 40


def _lower(values):
    """Lower end of a 99.9 % interval of the mean over games."""
    return values.mean() - 3.3 * values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.slow
def test_miscalibration_costs_and_recalibrating_wins_part_of_it_back():
    """Paired by game: the same seeds, hence the same patients, at every level."""
    gap, won, beats = {}, {}, {}
    for level in ("calibrated", "over-confident", "very over-confident"):
        summaries = [
            play(TrustingPlayer(), HealthcareGame(level, rng=seed)) for seed in range(N_GAMES)
        ]
        gap[level] = np.array([summary.gap for summary in summaries])
        trusting = np.array([summary.trusting.expected for summary in summaries])
        won[level] = np.array([s.recalibrating.expected for s in summaries]) - trusting
        outcome = [s.recalibrating.value > s.trusting.value for s in summaries]
        beats[level] = np.mean(outcome)
    assert np.abs(gap["calibrated"]).max() < 1e-9
    assert _lower(gap["over-confident"]) > 0
    assert _lower(gap["very over-confident"] - gap["over-confident"]) > 0
    for level in ("over-confident", "very over-confident"):
        assert _lower(won[level] - 0.4 * gap[level]) > 0  # closes more than two fifths
        assert _lower(gap[level] - won[level]) > 0  # and not all: learning takes patients
        assert beats[level] >= 0.8  # luck included; 86 % of 500 in docs/evidence/game.csv
