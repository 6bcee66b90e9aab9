"""What miscalibration costs in the healthcare game, and what recalibrating wins back.

python evidence/game.py docs/evidence            # 500 games a level, a minute
python evidence/game.py docs/evidence --games 50

The same seeds at every level, hence the same patients: differences are paired by game. Values are
expected effects at the true probabilities; intervals are of 95 %, normal over games. `beats` is
the share of games in which recalibrating has the better outcome on the same patients.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from error_coverage import write

from veridical._core.runtime.progress import track
from veridical.planning._game.engine import HealthcareGame, play
from veridical.planning._game.players import TrustingPlayer
from veridical.planning._game.rules import KNOWN, classifier_at

GROWING = ("over-confident", "very over-confident")  # worse than the level before
PLAYERS = ("trusting", "recalibrating", "informed")
Z = 1.959964  # 97.5 % quantile of the normal distribution


def games_of(level: str, n_games: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Expected values (game, player), realised ones, and the accuracy of all reports."""
    expected, realised, right = [], [], []
    for seed in track(n_games, level):
        game = HealthcareGame(level, rng=seed)
        summary = play(TrustingPlayer(), game)
        scores = [getattr(summary, name) for name in PLAYERS]
        expected.append([score.expected for score in scores])
        realised.append([score.value for score in scores])
        for outcome in game.outcomes:
            tops = np.argmax(outcome.patients.reports, axis=1)
            right.append(np.mean(tops == np.array(outcome.conditions)))
    return np.array(expected), np.array(realised), float(np.mean(right))


def interval(values: np.ndarray) -> list[float]:
    """Mean over games and its interval."""
    half = Z * values.std(ddof=1) / np.sqrt(len(values))
    return [float(values.mean()), float(values.mean() - half), float(values.mean() + half)]


def closed_share(won: np.ndarray, gap: np.ndarray) -> list[float | str]:
    """Ratio of means and its interval by the delta method; empty without a gap."""
    if gap.mean() < 1e-6:
        return ["", "", ""]
    share = won.mean() / gap.mean()
    middle, low, high = interval((won - share * gap) / gap.mean())
    return [float(share + middle), float(share + low), float(share + high)]


def rows_of(n_games: int) -> list[list[object]]:
    """One row for each level."""
    rows: list[list[object]] = []
    before = None
    for level in KNOWN:
        expected, realised, accuracy = games_of(level, n_games)
        trusting, recalibrating, informed = expected.T
        gap, won = informed - trusting, recalibrating - trusting
        cells: list[object] = [
            classifier_at(level, 5).expected_calibration_error().value,
            accuracy,
            *(
                figure
                for column in expected.T
                for figure in (column.mean(), standard_error(column))
            ),
            *realised.mean(axis=0),
            float(np.mean(realised[:, 1] > realised[:, 0])),
            *interval(gap),
            100 * gap.mean() / informed.mean(),
            *(interval(gap - before) if level in GROWING else ["", "", ""]),
            *interval(won),
            *closed_share(won, gap),
        ]
        rows.append([level, n_games, *(c if c == "" else float(f"{c:.4f}") for c in cells)])
        before = gap
    return rows


def standard_error(values: np.ndarray) -> float:
    """Of the mean over games."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def header() -> list[str]:
    """Names of the columns."""
    return [
        "level", "games", "ece", "accuracy",
        *(f"{name}{end}" for name in PLAYERS for end in ("", "_se")),
        *(f"{name}_outcome" for name in PLAYERS), "beats",
        "gap", "gap_low", "gap_high", "gap_percent",
        "more_gap_than_before", "more_gap_low", "more_gap_high",
        "won_back", "won_back_low", "won_back_high",
        "closed", "closed_low", "closed_high",
    ]  # fmt: skip


def main() -> None:
    """Play all games."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=500)
    options = parser.parse_args()
    write(options.folder / "game.csv", header(), rows_of(options.games))


if __name__ == "__main__":
    main()
