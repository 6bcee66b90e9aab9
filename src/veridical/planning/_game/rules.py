"""Rules of the healthcare game, and its patients, drawn from a fake classifier."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from veridical._core.data.validation import is_number
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.results import Result
from veridical.simulation import (
    ClassPowerMap,
    DirichletFakeClassifier,
    FakeClassifier,
    fake_classifier_for,
)

_CALLER = "GameRules"
_CODES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, kw_only=True)
class GameRules(Result):
    """Conditions, treatments, their costs and effects, and the budget.

    Parameters
    ----------
    conditions : tuple of str
        What a patient may have, one thing each; the classifier reports a probability for each.
    treatments : tuple of str
        What a patient may get, one thing or nothing. They are also called A, B, C, ...
    costs : tuple of float
        Of each treatment; nothing costs nothing.
    benefit : tuple of tuples of float
        Effect of each treatment (outer) in each condition (inner); negative where it does harm.
        No treatment has no effect.
    budget_per_patient : float
        The budget of a round is this times its patients; what is left is lost.
    stakes : tuple of float
        What effects are multiplied by; each patient has one of these, equally likely and known
        before treatment.
    unit : str
        Of effects.

    Notes
    -----
    All figures are invented and say nothing about medicine. By default every treatment helps in
    one condition and does harm in all others, so that probabilities must be right: drops help on
    average from 0.6 on, an antibiotic from 0.7, surgery from 0.8, and the blood thinner already
    from 3/43. Whoever believes over-confident reports treats too early and takes too small a risk
    for none; whoever believes timid ones treats too late.

    Examples
    --------
    >>> rules = GameRules()
    >>> for code, treatment, cost in zip(rules.codes, rules.treatments, rules.costs):
    ...     print(code, treatment, cost)
    A drops 1.0
    B antibiotic 1.0
    C surgery 2.0
    D blood thinner 2.0
    >>> rules.budget(10)
    15.0
    >>> [round(p, 2) for p in rules.pays_from]
    [0.6, 0.7, 0.8, 0.07]
    """

    conditions: tuple[str, ...] = ("healthy", "allergy", "infection", "appendicitis", "blood clot")
    treatments: tuple[str, ...] = ("drops", "antibiotic", "surgery", "blood thinner")
    costs: tuple[float, ...] = (1.0, 1.0, 2.0, 2.0)
    benefit: tuple[tuple[float, ...], ...] = (
        (-9.0, 6.0, -9.0, -9.0, -9.0),
        (-28.0, -28.0, 12.0, -28.0, -28.0),
        (-80.0, -80.0, -80.0, 20.0, -80.0),
        (-3.0, -3.0, -3.0, -3.0, 40.0),
    )
    budget_per_patient: float = 1.5
    stakes: tuple[float, ...] = (0.5, 1.0, 1.5)
    unit: str = "weeks"

    def __post_init__(self) -> None:
        _check_names("conditions", self.conditions, at_least=2)
        _check_names("treatments", self.treatments, at_least=1)
        if len(self.treatments) > len(_CODES):
            hint = "every treatment has a letter."
            got = f"{len(self.treatments)}"
            raise invalid(_CALLER, "treatments", f"at most {len(_CODES)}", got, hint=hint)
        _check_numbers("costs", self.costs, len(self.treatments), "treatment", at_least=0)
        if not (isinstance(self.benefit, tuple) and len(self.benefit) == len(self.treatments)):
            hint = "pass a tuple with one row of effects for each treatment."
            expected = f"{len(self.treatments)} rows"
            raise invalid(_CALLER, "benefit", expected, repr(self.benefit), hint=hint)
        for row in self.benefit:
            _check_numbers("benefit", row, len(self.conditions), "condition")
        if not (is_number(self.budget_per_patient) and self.budget_per_patient >= 0):
            hint = "1 pays for one treatment of cost 1 for every patient."
            got = repr(self.budget_per_patient)
            raise invalid(_CALLER, "budget_per_patient", "zero or more", got, hint=hint)
        stakes = self.stakes
        good = isinstance(stakes, tuple) and stakes and all(map(is_number, stakes))
        if not good or min(stakes) <= 0:
            hint = "(1.0,) makes effects the same for all patients."
            expected = "a tuple of positive numbers"
            raise invalid(_CALLER, "stakes", expected, repr(stakes), hint=hint)

    @property
    def codes(self) -> str:
        """Letters of the treatments."""
        return _CODES[: len(self.treatments)]

    @property
    def pays_from(self) -> tuple[float, ...]:
        """Probability of the condition it is for from which each treatment helps on average.

        Where several conditions go with different harm, the worst of them is supposed.
        """
        ends = [(min(0.0, *row), max(row)) for row in self.benefit]
        return tuple(-worst / (best - worst) if best > 0 else 1.0 for worst, best in ends)

    def budget(self, n_patients: int) -> float:
        """What a round of so many patients may cost."""
        return self.budget_per_patient * n_patients

    def cost_table(self) -> FloatArray:
        """Costs of no treatment (first) and of each treatment."""
        return np.array([0.0, *self.costs])

    def effect_table(self) -> FloatArray:
        """Effect of no treatment (first row) and of each treatment in each condition (columns)."""
        return np.vstack([np.zeros(len(self.conditions)), np.array(self.benefit, dtype=float)])


def _check_names(param: str, names: tuple[str, ...], *, at_least: int) -> None:
    good = isinstance(names, tuple) and all(isinstance(name, str) and name for name in names)
    if not (good and len(names) >= at_least and len(set(names)) == len(names)):
        hint = "pass a tuple of names."
        expected = f"{at_least} different names or more"
        raise invalid(_CALLER, param, expected, repr(names), hint=hint)


def _check_numbers(
    param: str, values: tuple[float, ...], count: int, what: str, *, at_least: float | None = None
) -> None:
    good = isinstance(values, tuple) and len(values) == count and all(map(is_number, values))
    if not good or (at_least is not None and min(values) < at_least):
        hint = f"pass a tuple with one number for each {what}."
        size = "" if at_least is None else f" of {at_least:g} or more"
        raise invalid(_CALLER, param, f"{count} numbers{size}", repr(values), hint=hint)


Level: TypeAlias = Literal[
    "calibrated",
    "over-confident",
    "very over-confident",
    "under-confident",
    "uneven",
    "you find out",
]

ACCURACY = 0.6  # of all levels but the uneven one, which also misleads about what is most probable
HIDDEN: Level = "you find out"
# Expected calibration error and direction. Over-confidence of every report cannot exceed
# 1 - ACCURACY (Panchenko 2021, Calibration of Classifiers, Lemma 1).
_ERRORS: dict[Level, tuple[float, Literal["over", "under"]]] = {
    "calibrated": (0.0, "over"),
    "over-confident": (0.3, "over"),
    "very over-confident": (0.36, "over"),
    "under-confident": (0.25, "under"),
}
# Powers of the truth, condition by condition in turn: below 1 a condition is claimed too often.
_UNEVEN = (1.5, 1.5, 0.4, 0.4, 2.5)
KNOWN: tuple[Level, ...] = (*_ERRORS, "uneven")
LEVELS: tuple[Level, ...] = (*KNOWN, HIDDEN)
CUSTOM = "own classifier"  # level of a game with a classifier of the user's


@dataclass(frozen=True, eq=False)
class Patients:
    """All patients of a game, round by round.

    Attributes
    ----------
    reports, truth : arrays of shape (rounds, patients, conditions)
        What the classifier reports, and what conditions are drawn from.
    conditions : array of shape (rounds, patients)
        True conditions.
    stakes : array of shape (rounds, patients)
        What the effects of each patient are multiplied by.
    """

    reports: FloatArray
    truth: FloatArray
    conditions: IntArray
    stakes: FloatArray


@lru_cache(maxsize=32)
def classifier_at(level: Level, n_conditions: int) -> DirichletFakeClassifier:
    """Return the fake classifier of a level; at all levels the truth has the same distribution."""
    if level == "uneven":
        calibrated = classifier_at("calibrated", n_conditions)
        powers = [_UNEVEN[k % len(_UNEVEN)] for k in range(n_conditions)]
        return DirichletFakeClassifier(calibrated.alpha, map=ClassPowerMap(powers))
    ece, direction = _ERRORS[level]
    return fake_classifier_for(ACCURACY, ece, n_classes=n_conditions, direction=direction)


def level_to_find_out(seed: int) -> Level:
    """Which level the seed of a game hides; all are equally likely."""
    return KNOWN[int(np.random.default_rng([seed, 2]).integers(len(KNOWN)))]


def draw_patients(
    classifier: FakeClassifier, rules: GameRules, *, n_rounds: int, n_patients: int, seed: int
) -> Patients:
    """Draw the patients of a game.

    Reports are a function of the truth, so the same seed gives the same patients at every level:
    what differs is what is said about them.
    """
    sample = classifier.sample(n_rounds * n_patients, rng=seed)
    shape = (n_rounds, n_patients)
    stakes = np.random.default_rng([seed, 1]).choice(np.array(rules.stakes), shape)
    return Patients(
        sample.y_prob.reshape(*shape, -1),
        sample.p_true.reshape(*shape, -1),
        sample.y.reshape(shape),
        stakes,
    )
