"""Reference players of the healthcare game, and how choices of treatments are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.validation import is_integer
from veridical._core.typing import Array, ArrayLike, FloatArray
from veridical.decisions import allocate
from veridical.exceptions import invalid
from veridical.planning._game.rules import GameRules
from veridical.results import PatientRound, RoundOutcome


class Player(Protocol):
    """Whatever chooses treatments from what has been seen."""

    def choose(
        self, patients: PatientRound, history: Sequence[RoundOutcome], rules: GameRules
    ) -> Sequence[int]:
        """Return the treatment of each patient, 0 for none, within the budget."""


def best_choices(
    beliefs: ArrayLike, rules: GameRules, budget: float, stakes: ArrayLike = 1.0
) -> tuple[int, ...]:
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
    stakes : float or array-like of shape (n_patients,), default 1
        What the effects of each patient are multiplied by.

    Returns
    -------
    tuple of int
        Treatment of each patient, 0 for none.

    Examples
    --------
    Two patients and money for one treatment of cost 2. A clot of probability 0.1 is worth
    0.1 x 40 - 0.9 x 3 = 1.3 weeks of blood thinner (D), an operation (C) at 0.81 is worth
    0.81 x 20 - 0.19 x 80 = 1; it is worth more if twice as much is at stake:

    >>> beliefs = [[0.19, 0, 0, 0.81, 0], [0.9, 0, 0, 0, 0.1]]
    >>> best_choices(beliefs, GameRules(), budget=2)
    (0, 4)
    >>> best_choices(beliefs, GameRules(), budget=2, stakes=[2, 1])
    (3, 0)
    """
    worth = np.asarray(beliefs, dtype=float) @ rules.effect_table().T
    worth = worth * np.reshape(np.asarray(stakes, dtype=float), (-1, 1))
    return tuple(allocate(worth, rules.cost_table(), budget).choice.tolist())


class TrustingPlayer:
    """Chooses what is best if the reports are right.

    Examples
    --------
    An operation is worth 0.9 x 20 - 0.1 x 80 = 10 weeks if the report is right:

    >>> seen = PatientRound(round_number=1, budget=2.0, reports=((0, 0, 0.1, 0.9, 0),))
    >>> TrustingPlayer().choose(seen, (), GameRules())
    (3,)
    """

    def choose(
        self, patients: PatientRound, history: Sequence[RoundOutcome], rules: GameRules
    ) -> tuple[int, ...]:
        """Return the best choices for the reports; what was seen before plays no part."""
        return best_choices(patients.reports, rules, patients.budget, patients.stakes or 1.0)


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
    (0,)
    """

    def __init__(self, truth: ArrayLike) -> None:
        self.truth: Array = np.asarray(truth, dtype=float)

    def choose(
        self, patients: PatientRound, history: Sequence[RoundOutcome], rules: GameRules
    ) -> tuple[int, ...]:
        """Return the best choices for the truth of this round."""
        beliefs = self.truth[patients.round_number - 1]
        return best_choices(beliefs, rules, patients.budget, patients.stakes or 1.0)


class RecalibratingPlayer:
    """Chooses what is best for reports recalibrated on the outcomes of earlier rounds.

    Parameters
    ----------
    calibrator : calibrator, optional
        Fitted afresh in every round; default `TemperatureCalibrator()`.
    min_rows : int, default 10
        With fewer outcomes the reports are trusted.

    Notes
    -----
    Reports of most levels are a power of the truth, which temperature scaling undoes exactly once
    the temperature is known: what is lost to the informed player is the first round and the error
    of a temperature learnt from few patients. On calibrated reports that error is a pure loss.
    """

    def __init__(self, calibrator: Any = None, *, min_rows: int = 10) -> None:
        hint = "10 outcomes, a round by default, say roughly whether reports are too sure."
        self.min_rows = check_integer("RecalibratingPlayer", "min_rows", min_rows, hint=hint)
        self.calibrator = calibrator

    def choose(
        self, patients: PatientRound, history: Sequence[RoundOutcome], rules: GameRules
    ) -> tuple[int, ...]:
        """Return the best choices for the recalibrated reports."""
        beliefs = self.beliefs(patients, history)
        return best_choices(beliefs, rules, patients.budget, patients.stakes or 1.0)

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
            from veridical.calibrators import TemperatureCalibrator

            return TemperatureCalibrator()
        from sklearn.base import clone

        return clone(self.calibrator)


Choices: TypeAlias = Sequence[Any] | Mapping[int, Any]
NONE = "-"  # written for no treatment

_TOLERANCE = 1e-9  # of a budget of fractions
_MOST_DIGITS = 9  # of a patient's number


def check_choices(
    choices: Choices, rules: GameRules, *, n_patients: int, budget: float, caller: str
) -> tuple[int, ...]:
    """Return the treatment of each patient, 0 for none; raise if they cannot be given.

    A sequence has one entry for each patient, a mapping goes from patients, numbered from 1, to
    treatments and leaves the others alone.
    """
    if isinstance(choices, Mapping):
        entries = _spread(choices, n_patients, caller)
    else:
        entries = _listed(choices, n_patients, caller)
    numbers = tuple(_treatment(entry, rules, caller) for entry in entries)
    cost = cost_of(numbers, rules)
    if cost > budget + _TOLERANCE * max(budget, 1.0):
        hint = f"treat fewer patients or choose cheaper treatments, to save {cost - budget:g}."
        treated = sum(number > 0 for number in numbers)
        got = f"a cost of {cost:g} for {treated} treated"
        raise invalid(caller, "choices", f"within the budget of {budget:g}", got, hint=hint)
    return numbers


def cost_of(choices: Sequence[int], rules: GameRules) -> float:
    """What treatments cost together."""
    return float(rules.cost_table()[list(choices)].sum())


def parse_choices(text: str, *, caller: str) -> dict[int, str]:
    """Read choices such as "3:A 7:B", separated by blanks or commas; "none" treats nobody.

    Examples
    --------
    >>> parse_choices("3:A, 7:b", caller="example")
    {3: 'A', 7: 'b'}
    """
    words = text.replace(",", " ").split()
    if [word.lower() for word in words] == ["none"]:
        return {}
    chosen: dict[int, str] = {}
    for word in words:
        patient, colon, treatment = word.partition(":")
        numbered = patient.isascii() and patient.isdigit() and len(patient) <= _MOST_DIGITS
        if not (colon and treatment and numbered):
            hint = "write the patient's number, a colon and a letter, e.g. 3:A 7:B."
            raise invalid(caller, "choices", "such as 3:A", repr(word), hint=hint)
        if int(patient) in chosen:
            hint = "a patient gets one treatment at most."
            got = f"{word!r} for a second time"
            raise invalid(caller, "choices", "one for each patient", got, hint=hint)
        chosen[int(patient)] = treatment
    return chosen


def _listed(choices: Any, n_patients: int, caller: str) -> list[Any]:
    entries = choices.tolist() if isinstance(choices, np.ndarray) else choices
    listed = isinstance(entries, Sequence) and not isinstance(entries, (str, bytes))
    if not listed or len(entries) != n_patients:
        hint = "pass one treatment for each patient, or those of some: {3: 'A', 7: 'B'}."
        got = f"{len(entries)}" if listed else repr(choices)
        raise invalid(caller, "choices", f"{n_patients} treatments", got, hint=hint)
    return list(entries)


def _spread(choices: Mapping[int, Any], n_patients: int, caller: str) -> list[Any]:
    entries: list[Any] = [0] * n_patients
    for patient, treatment in choices.items():
        if not (is_integer(patient) and 1 <= patient <= n_patients):
            hint = f"patients are numbered from 1 to {n_patients}."
            expected = "for patients of this round"
            raise invalid(caller, "choices", expected, f"patient {patient!r}", hint=hint)
        entries[patient - 1] = treatment
    return entries


def _treatment(entry: Any, rules: GameRules, caller: str) -> int:
    """Number of a treatment given by number, letter or name."""
    if entry is None:
        return 0
    if is_integer(entry):
        if not 0 <= entry <= len(rules.treatments):
            hint = "0 is no treatment, 1 the first."
            expected = f"treatments from 0 to {len(rules.treatments)}"
            raise invalid(caller, "choices", expected, repr(entry), hint=hint)
        return int(entry)
    if isinstance(entry, str):
        if entry in rules.treatments:
            return rules.treatments.index(entry) + 1
        if len(entry) == 1 and entry.upper() in NONE + rules.codes:
            return (NONE + rules.codes).index(entry.upper())
    known = ", ".join(f"{c} {name}" for c, name in zip(rules.codes, rules.treatments, strict=True))
    hint = f"choose from {known}, and {NONE} for none."
    raise invalid(caller, "choices", "treatments of these rules", repr(entry), hint=hint)
