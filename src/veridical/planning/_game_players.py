"""Reference players of the healthcare game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from veridical._core.typing import Array, ArrayLike, FloatArray
from veridical._core.validation import is_integer
from veridical.decisions._allocation import allocate
from veridical.exceptions import invalid
from veridical.planning._game_rules import GameRules
from veridical.results._game import PatientRound, RoundOutcome


class Player(Protocol):
    """Whatever chooses treatments from what has been seen."""

    def choose(
        self, patients: PatientRound, history: Sequence[RoundOutcome], rules: GameRules
    ) -> Sequence[int]:
        """Return the treatment of each patient, 0 for none, within the budget."""


def best_choices(beliefs: ArrayLike, rules: GameRules, budget: float) -> tuple[int, ...]:
    """Treatments of the largest expected effect within the budget, if `beliefs` are right.

    A multiple-choice knapsack problem, solved exactly by dynamic programming (see `allocate`).
    As rounds share neither budget nor patients, and conditions are revealed whatever is chosen,
    the best choices of every round are the best of the game.

    Parameters
    ----------
    beliefs : array-like of shape (n_patients, n_conditions)
        Probability of each condition for each patient.
    rules : GameRules
        With the costs and effects of treatments.
    budget : float
        Of the round.

    Returns
    -------
    tuple of int
        Treatment of each patient, 0 for none.

    Examples
    --------
    Two patients and money for one treatment of cost 2. A clot of probability 0.1 is worth
    0.1 x 60 - 0.9 x 3 = 3.3 weeks of blood thinner (D), an operation (C) at 0.7 is worth
    0.7 x 30 - 0.3 x 60 = 3:

    >>> best_choices([[0, 0, 0.3, 0.7, 0], [0.9, 0, 0, 0, 0.1]], GameRules(), budget=2)
    (0, 4)
    """
    worth = np.asarray(beliefs, dtype=float) @ rules.effect_table().T
    return tuple(allocate(worth, rules.cost_table(), budget).choice.tolist())


class TrustingPlayer:
    """Chooses what is best if the reports are right.

    Examples
    --------
    An operation is worth 0.6 x 30 - 0.4 x 60 = -6 weeks, an antibiotic 0.4 x 12 - 0.6 x 4 = 2.4:

    >>> seen = PatientRound(round_number=1, budget=2.0, reports=((0, 0, 0.4, 0.6, 0),))
    >>> TrustingPlayer().choose(seen, (), GameRules())
    (2,)
    """

    def choose(
        self, patients: PatientRound, history: Sequence[RoundOutcome], rules: GameRules
    ) -> tuple[int, ...]:
        """Return the best choices for the reports; what was seen before plays no part."""
        return best_choices(patients.reports, rules, patients.budget)


class InformedPlayer:
    """Chooses what is best at the true probabilities, without knowing the conditions.

    Parameters
    ----------
    truth : array-like of shape (n_rounds, n_patients, n_conditions)
        True probabilities of all rounds, e.g. `HealthcareGame.truth()`.

    Examples
    --------
    The report leaves no doubt that the patient should be operated on; the truth does:

    >>> seen = PatientRound(round_number=1, budget=2.0, reports=((0, 0, 0.02, 0.98, 0),))
    >>> InformedPlayer([[[0, 0, 0.4, 0.6, 0]]]).choose(seen, (), GameRules())
    (2,)
    """

    def __init__(self, truth: ArrayLike) -> None:
        self.truth: Array = np.asarray(truth, dtype=float)

    def choose(
        self, patients: PatientRound, history: Sequence[RoundOutcome], rules: GameRules
    ) -> tuple[int, ...]:
        """Return the best choices for the truth of this round."""
        beliefs = self.truth[patients.round_number - 1]
        return best_choices(beliefs, rules, patients.budget)


class RecalibratingPlayer:
    """Chooses what is best for reports recalibrated on the outcomes of earlier rounds.

    Parameters
    ----------
    calibrator : calibrator, optional
        Fitted afresh in every round; default `TemperatureCalibrator()`.
    min_rows : int, default 20
        With fewer outcomes the reports are trusted.

    Notes
    -----
    The game's reports are a power of the truth, which temperature scaling undoes exactly once the
    temperature is known: what is lost to the informed player is the first round and the error of
    a temperature learnt from few patients. On calibrated reports that error is a pure loss.
    """

    def __init__(self, calibrator: Any = None, *, min_rows: int = 20) -> None:
        if not (is_integer(min_rows) and min_rows >= 1):
            hint = "20 outcomes say roughly whether reports are too sure."
            raise invalid(
                "RecalibratingPlayer", "min_rows", "a positive integer", repr(min_rows), hint=hint
            )
        self.calibrator = calibrator
        self.min_rows = int(min_rows)

    def choose(
        self, patients: PatientRound, history: Sequence[RoundOutcome], rules: GameRules
    ) -> tuple[int, ...]:
        """Return the best choices for the recalibrated reports."""
        return best_choices(self.beliefs(patients, history), rules, patients.budget)

    def beliefs(self, patients: PatientRound, history: Sequence[RoundOutcome]) -> FloatArray:
        """Return recalibrated reports, or the reports if there are too few outcomes."""
        reports = np.array(patients.reports)
        seen = [row for outcome in history for row in outcome.patients.reports]
        if len(seen) < self.min_rows:
            return reports
        found = [condition for outcome in history for condition in outcome.conditions]
        fitted = self._fresh().fit(np.array(seen), np.array(found))
        recalibrated: FloatArray = fitted.predict_proba(reports)
        return recalibrated

    def _fresh(self) -> Any:
        if self.calibrator is None:
            from veridical.calibrators._temperature import TemperatureCalibrator

            return TemperatureCalibrator()
        from sklearn.base import clone

        return clone(self.calibrator)
