"""The healthcare game: treat patients on the word of a classifier, and the final account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import check_option, is_integer
from veridical._core.typing import FloatArray
from veridical.exceptions import InvalidInputError, invalid
from veridical.planning._game.players import (
    Choices,
    InformedPlayer,
    Player,
    RecalibratingPlayer,
    TrustingPlayer,
    best_choices,
    check_choices,
    cost_of,
)
from veridical.planning._game.rules import (
    CUSTOM,
    HIDDEN,
    LEVELS,
    GameRules,
    Level,
    Patients,
    classifier_at,
    draw_patients,
    level_to_find_out,
)
from veridical.results import GameSummary, PatientRound, PlayerScore, Result, RoundOutcome
from veridical.simulation import FakeClassifier

_DRAWS = 200_000  # of figures that no integral is known for: two digits are shown


def summarise(
    level: str,
    classifier: FakeClassifier,
    rules: GameRules,
    patients: Patients,
    outcomes: Sequence[RoundOutcome],
) -> GameSummary:
    """Score the choices made so far and what the reference players choose for the same patients.

    What a reference player knows of earlier rounds is the same as in a game of its own: all
    conditions are revealed after a round, whatever was chosen.
    """
    references: dict[str, Player] = {
        "trusting": TrustingPlayer(),
        "recalibrating": RecalibratingPlayer(),
        "informed": InformedPlayer(patients.truth),
    }
    chosen = {
        name: [
            player.choose(outcome.patients, outcomes[:i], rules)
            for i, outcome in enumerate(outcomes)
        ]
        for name, player in references.items()
    }
    scores = {name: _score(name, chosen[name], rules, patients) for name in chosen}
    accuracy, ece, classwise = classifier_figures(classifier)
    return GameSummary(
        level=level,
        accuracy=accuracy,
        ece=ece,
        classwise_ece=classwise,
        unit=rules.unit,
        n_rounds=len(outcomes),
        n_patients=patients.conditions.shape[1],
        you=_score("you", [outcome.choices for outcome in outcomes], rules, patients),
        hindsight=_hindsight(rules, patients, outcomes),
        **scores,
    )


@lru_cache(maxsize=32)
def classifier_figures(classifier: FakeClassifier) -> tuple[float, float, float]:
    """How often it is right, and how far off, by its confidence and by condition."""
    return (
        classifier.accuracy(n_draws=_DRAWS).value,
        classifier.expected_calibration_error(n_draws=_DRAWS).value,
        classifier.classwise_error(n_draws=_DRAWS).value,
    )


def effects_of(
    choices: Sequence[int], probabilities: FloatArray, rules: GameRules, stakes: FloatArray
) -> FloatArray:
    """Mean effect on each patient at these probabilities of the conditions."""
    effects: FloatArray = (rules.effect_table()[list(choices)] * probabilities).sum(axis=1)
    return effects * stakes


def certain(conditions: Sequence[int], rules: GameRules) -> FloatArray:
    """Probabilities of one who knows the conditions."""
    known: FloatArray = np.eye(len(rules.conditions))[list(conditions)]
    return known


def _score(
    name: str, choices: Sequence[Sequence[int]], rules: GameRules, patients: Patients
) -> PlayerScore:
    promised = expected = value = cost = 0.0
    for i, chosen in enumerate(choices):
        stakes = patients.stakes[i]
        promised += float(effects_of(chosen, patients.reports[i], rules, stakes).sum())
        expected += float(effects_of(chosen, patients.truth[i], rules, stakes).sum())
        known = certain(patients.conditions[i].tolist(), rules)
        value += float(effects_of(chosen, known, rules, stakes).sum())
        cost += cost_of(chosen, rules)
    return PlayerScore(name=name, promised=promised, expected=expected, value=value, cost=cost)


def _hindsight(rules: GameRules, patients: Patients, outcomes: Sequence[RoundOutcome]) -> float:
    choices = [
        best_choices(
            certain(outcome.conditions, rules), rules, outcome.patients.budget, patients.stakes[i]
        )
        for i, outcome in enumerate(outcomes)
    ]
    return _score("hindsight", choices, rules, patients).value


@dataclass(frozen=True, kw_only=True)
class GameState(Result):
    """All it takes to go on with a game elsewhere, also as JSON.

    It holds the seed, from which patients and their conditions follow: for the side that keeps the
    game, not for the player.

    Attributes
    ----------
    level, n_rounds, n_patients, seed, rules : of the game
    choices : treatments of every round played

    Examples
    --------
    >>> game = HealthcareGame(n_patients=3, rng=0)
    >>> outcome = game.treat({2: "A"})
    >>> state = GameState.from_json(game.state().to_json())
    >>> state.choices, HealthcareGame.resume(state).patients() == game.patients()
    (((0, 1, 0),), True)
    """

    level: str
    n_rounds: int
    n_patients: int
    seed: int
    rules: GameRules
    choices: tuple[tuple[int, ...], ...]


class HealthcareGame:
    """Treat patients within a budget on the word of a classifier, and see what its word was worth.

    In every round a classifier reports the probability of five conditions for each patient. The
    player chooses treatments within the round's budget; then the conditions are revealed. The same
    seed gives the same patients at every level, and all but "uneven" have the classifier right for
    60 % of them; only its confidence differs. So what the levels cost is the price of
    miscalibration alone.

    Parameters
    ----------
    level : str, default "over-confident"
        Of the reports. "calibrated", "over-confident", "very over-confident" and "under-confident"
        have an expected calibration error of 0, 0.30, 0.36 and 0.25; "uneven" claims some
        conditions too often and others too seldom; "you find out" is one of these five, which the
        summary names.
    n_rounds : int, default 5
        Rounds; what was seen in one can be used in the next.
    n_patients : int, default 10
        Patients in each round.
    rules : GameRules, optional
        Conditions, treatments, costs, effects, stakes and budget.
    classifier : FakeClassifier, optional
        Makes the reports in place of that of a level; with as many classes as there are conditions.
    rng : int, Generator or None
        Source of the patients. An integer is the seed itself; else a seed is drawn.

    Attributes
    ----------
    level, n_rounds, n_patients, rules :
        As above; the level of a classifier of your own is "own classifier".
    seed : int
        `HealthcareGame(..., rng=seed)` has the same patients.
    outcomes : tuple of RoundOutcome
        Rounds played. Nothing else about a game changes.

    Notes
    -----
    After KALE, the calibration game of appliedAI, in which a classifier's confidences decide which
    patients are treated for which disease [1]_. The true probabilities p are Dirichlet, conditions
    are drawn from p, and the reports are powers of p, normalised: sharper or flatter than the
    truth. All conditions are revealed after a round, so that learning costs no treatment.

    Stakes are such that repairing the reports pays where it can be seen: on the same patients, and
    by outcome, whoever recalibrates over-confident reports from the second round on beats whoever
    trusts them in more than 80 % of games (`evidence/game.py`). `summary` also compares choices by
    what they can expect at the true probabilities, which leaves luck out.

    The reference players solve every round exactly: a knapsack of 10 patients takes milliseconds.

    References
    ----------
    .. [1] Panchenko (2021), Calibration of Classifiers, appliedAI, section 4.

    Examples
    --------
    >>> game = HealthcareGame("over-confident", n_rounds=2, n_patients=3, rng=0)
    >>> print(game.patients())
    round 1: 3 patients, budget 4.5
    >>> outcome = game.treat({2: "A"})  # drops for the second patient
    >>> outcome.choices, outcome.cost
    ((0, 1, 0), 1.0)
    >>> game.treat(["C", "D", "A"])
    Traceback (most recent call last):
    veridical.exceptions.InvalidInputError: HealthcareGame.treat: `choices` must be within the
    budget of 4.5; got a cost of 5 for 3 treated.
    Hint: treat fewer patients or choose cheaper treatments, to save 0.5.
    >>> summary = game.summary()
    >>> summary.n_rounds, summary.gap >= 0  # nobody can expect more than the informed player
    (1, True)
    """

    LEVELS: ClassVar[tuple[str, ...]] = LEVELS

    def __init__(
        self,
        level: Level = "over-confident",
        *,
        n_rounds: int = 5,
        n_patients: int = 10,
        rules: GameRules | None = None,
        classifier: FakeClassifier | None = None,
        rng: Any = None,
    ) -> None:
        caller = type(self).__name__
        check_option(caller, "level", level, LEVELS)
        usual = "the default is 5 rounds of 10 patients."
        self.n_rounds = check_integer(caller, "n_rounds", n_rounds, hint=usual)
        self.n_patients = check_integer(caller, "n_patients", n_patients, hint=usual)
        self.rules = GameRules() if rules is None else rules
        if not isinstance(self.rules, GameRules):
            raise invalid(caller, "rules", "a GameRules", repr(rules), hint="pass `GameRules()`.")
        generator = check_rng(rng, caller=caller)
        self.seed = int(rng) if is_integer(rng) else int(generator.integers(2**32))
        self.level: str = level if classifier is None else CUSTOM
        self._level: str = level_to_find_out(self.seed) if self.level == HIDDEN else self.level
        self._classifier = self._make_classifier(classifier)
        self._patients = draw_patients(
            self._classifier,
            self.rules,
            n_rounds=self.n_rounds,
            n_patients=self.n_patients,
            seed=self.seed,
        )
        self._outcomes: tuple[RoundOutcome, ...] = ()

    def _make_classifier(self, own: FakeClassifier | None) -> FakeClassifier:
        count = len(self.rules.conditions)
        if own is None:
            return classifier_at(self._level, count)
        if not isinstance(own, FakeClassifier) or own.n_classes != count:
            hint = f"such as fake_classifier_for(0.6, 0.2, n_classes={count})."
            expected = f"a FakeClassifier of {count} classes, one a condition"
            raise invalid(type(self).__name__, "classifier", expected, repr(own), hint=hint)
        return own

    @property
    def outcomes(self) -> tuple[RoundOutcome, ...]:
        """Rounds played."""
        return self._outcomes

    @property
    def finished(self) -> bool:
        """Whether all rounds are played."""
        return len(self._outcomes) == self.n_rounds

    def patients(self) -> PatientRound:
        """Return what a player sees of the round to play."""
        if self.finished:
            raise self._over("patients")
        number = len(self._outcomes)
        return PatientRound(
            round_number=number + 1,
            budget=self.rules.budget(self.n_patients),
            reports=tuple(tuple(row) for row in self._patients.reports[number].tolist()),
            stakes=tuple(self._patients.stakes[number].tolist()),
        )

    def treat(self, choices: Choices) -> RoundOutcome:
        """Play a round; it cannot be taken back.

        Parameters
        ----------
        choices : sequence or mapping
            Treatment of each patient, by number (0 for none), letter or name ("-" or None for
            none); or a mapping from patients, numbered from 1, which leaves the others alone.

        Returns
        -------
        RoundOutcome
            With the conditions and what the treatments did.
        """
        if self.finished:
            raise self._over("treat")
        patients, number = self.patients(), len(self._outcomes)
        chosen = check_choices(
            choices,
            self.rules,
            n_patients=self.n_patients,
            budget=patients.budget,
            caller="HealthcareGame.treat",
        )
        conditions = tuple(self._patients.conditions[number].tolist())
        stakes = self._patients.stakes[number]
        effects = effects_of(chosen, certain(conditions, self.rules), self.rules, stakes)
        promised = effects_of(chosen, self._patients.reports[number], self.rules, stakes)
        outcome = RoundOutcome(
            patients=patients,
            choices=chosen,
            conditions=conditions,
            effects=tuple(effects.tolist()),
            cost=cost_of(chosen, self.rules),
            promised=float(promised.sum()),
            value=float(effects.sum()),
        )
        self._outcomes = (*self._outcomes, outcome)
        return outcome

    def summary(self) -> GameSummary:
        """Return the account of the rounds played so far, beside the reference players."""
        return summarise(self._level, self._classifier, self.rules, self._patients, self._outcomes)

    def truth(self) -> FloatArray:
        """True probabilities of all rounds, (n_rounds, n_patients, n_conditions); not to be shown.

        For players that stand for perfect calibration, such as `InformedPlayer`.
        """
        return self._patients.truth.copy()

    def state(self) -> GameState:
        """Return all it takes to go on elsewhere; `resume` reads it."""
        if self.level == CUSTOM:
            hint = "keep the game itself; a classifier of your own is not part of a state."
            raise invalid("HealthcareGame.state", "level", "one of the game's", CUSTOM, hint=hint)
        return GameState(
            level=self.level,
            n_rounds=self.n_rounds,
            n_patients=self.n_patients,
            seed=self.seed,
            rules=self.rules,
            choices=tuple(outcome.choices for outcome in self._outcomes),
        )

    @classmethod
    def resume(cls, state: GameState) -> Self:
        """Return the game that `state` came from, at the same round."""
        game = cls(
            state.level,  # type: ignore[arg-type]  # checked as any level is
            n_rounds=state.n_rounds,
            n_patients=state.n_patients,
            rules=state.rules,
            rng=state.seed,
        )
        for choices in state.choices:
            game.treat(choices)
        return game

    def __repr__(self) -> str:
        return (
            f"HealthcareGame({self.level!r}, n_rounds={self.n_rounds},"
            f" n_patients={self.n_patients}, rng={self.seed})"
        )

    def _over(self, method: str) -> InvalidInputError:
        hint = "see `summary()`, or start another game."
        got = f"a game whose {self.n_rounds} rounds are all played"
        return invalid(f"HealthcareGame.{method}", "game", "in play", got, hint=hint)


def play(player: Player, game: HealthcareGame) -> GameSummary:
    """Let a player play the rest of a game.

    Parameters
    ----------
    player : Player
        With `choose(patients, history, rules)`, e.g. `TrustingPlayer()`.
    game : HealthcareGame
        It is played to its end.

    Returns
    -------
    GameSummary
        In which the player is `you`.

    Examples
    --------
    >>> from veridical.planning import TrustingPlayer
    >>> summary = play(TrustingPlayer(), HealthcareGame(n_rounds=1, rng=0))
    >>> summary.you.expected == summary.trusting.expected
    True
    """
    while not game.finished:
        game.treat(player.choose(game.patients(), game.outcomes, game.rules))
    return game.summary()
