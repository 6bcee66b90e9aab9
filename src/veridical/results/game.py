"""What the healthcare game shows: patients, outcomes and the final account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from veridical.results.base import Result, columns_of, field_names

_NOTHING = 1e-9  # gaps below this share of the value are rounding


@dataclass(frozen=True, kw_only=True, repr=False)
class PatientRound(Result):
    """What a player sees of one round: the classifier's reports and the budget.

    Attributes
    ----------
    round_number : from 1
    budget : what all treatments of the round may cost together
    reports : reported probability of each condition (inner) for each patient (outer)
    stakes : what effects are multiplied by, for each patient; empty if nothing

    Examples
    --------
    >>> print(PatientRound(round_number=1, budget=2.0, reports=((0.9, 0.1), (0.4, 0.6))))
    round 1: 2 patients, budget 2
    """

    round_number: int
    budget: float
    reports: tuple[tuple[float, ...], ...]
    stakes: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.reports)

    def _text(self) -> str:
        return f"round {self.round_number}: {len(self)} patients, budget {self.budget:g}"

    def _columns(self) -> dict[str, list[Any]]:
        """One row for each patient and condition."""
        cells = [(i + 1, k, p) for i, row in enumerate(self.reports) for k, p in enumerate(row)]
        return {
            "patient": [cell[0] for cell in cells],
            "condition": [cell[1] for cell in cells],
            "probability": [cell[2] for cell in cells],
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class RoundOutcome(Result):
    """What came of one round: the conditions are known now.

    Attributes
    ----------
    patients : what the player saw
    choices : treatment of each patient, 0 for none, 1 for the first of the rules
    conditions : true condition of each patient, from 0
    effects : what the treatment did for each patient
    cost : of all treatments
    promised : total effect if the reports were right, on average
    value : total effect

    Examples
    --------
    >>> seen = PatientRound(round_number=1, budget=2.0, reports=((0.9, 0.1), (0.4, 0.6)))
    >>> print(RoundOutcome(patients=seen, choices=(0, 1), conditions=(0, 1), effects=(0.0, 6.0),
    ...     cost=1.0, promised=3.6, value=6.0))
    round 1: 1 of 2 patients treated for 1 of 2; effect 6, promised 3.6
    """

    patients: PatientRound
    choices: tuple[int, ...]
    conditions: tuple[int, ...]
    effects: tuple[float, ...]
    cost: float
    promised: float
    value: float

    def _text(self) -> str:
        treated = sum(choice > 0 for choice in self.choices)
        return (
            f"round {self.patients.round_number}: {treated} of {len(self.choices)} patients treated"
            f" for {self.cost:g} of {self.patients.budget:g}; effect {self.value:.4g}, promised"
            f" {self.promised:.4g}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        """One row for each patient."""
        return {
            "patient": list(range(1, len(self.choices) + 1)),
            "choice": list(self.choices),
            "condition": list(self.conditions),
            "effect": list(self.effects),
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class PlayerScore(Result):
    """What one player's choices cost and were worth.

    Attributes
    ----------
    name : of the player
    promised : total effect on average if the reports were right
    expected : total effect on average at the true probabilities: how good the choices were
    value : total effect on these patients: how good the choices were, and luck
    cost : of all treatments

    Examples
    --------
    >>> print(PlayerScore(name="trusting", promised=60.0, expected=48.0, value=50.0, cost=20.0))
    trusting: expected 48, on these patients 50, promised 60, cost 20
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    promised: float
    expected: float
    value: float
    cost: float

    def _text(self) -> str:
        return (
            f"{self.name}: expected {self.expected:.4g}, on these patients {self.value:.4g},"
            f" promised {self.promised:.4g}, cost {self.cost:.4g}"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class GameSummary(Result):
    """What a game's choices were worth beside those of reference players.

    Attributes
    ----------
    level : how well the reports are calibrated
    accuracy, ece, classwise_ece : share of patients whose most probable condition is right, and
        expected calibration errors by confidence and by condition, all of the classifier and not of
        these patients
    unit : of effects
    n_rounds, n_patients : rounds played, and patients in each
    you : the choices that were made
    trusting : the optimum if the reports were right
    recalibrating : the optimum for reports recalibrated on the rounds before
    informed : the optimum at the true probabilities; nobody can expect more
    hindsight : the most the same patients could have had from one who knew every condition

    Examples
    --------
    >>> def score(name, expected):
    ...     return PlayerScore(name=name, promised=70.0, expected=expected, value=50.0, cost=20.0)
    >>> summary = GameSummary(level="over-confident", accuracy=0.8, ece=0.1, classwise_ece=0.05,
    ...     unit="weeks", n_rounds=1, n_patients=20, you=score("you", 45.0),
    ...     trusting=score("trusting", 40.0), recalibrating=score("recalibrating", 48.0),
    ...     informed=score("informed", 50.0), hindsight=90.0)
    >>> summary.gap, summary.gap_percent, summary.closed
    (10.0, 20.0, 0.8)
    >>> for sentence in summary.sentences()[1:]:
    ...     print(sentence)
    Trusting the reports cost 10.0 weeks, 20.0 % of what one who knows the true probabilities
    can expect.
    A player who recalibrates the reports from past outcomes closed 80 % of that gap.
    Your choices can expect 5.0 weeks more than trusting the reports would have.
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name",)

    level: str
    accuracy: float
    ece: float
    classwise_ece: float
    unit: str
    n_rounds: int
    n_patients: int
    you: PlayerScore
    trusting: PlayerScore
    recalibrating: PlayerScore
    informed: PlayerScore
    hindsight: float

    @property
    def players(self) -> tuple[PlayerScore, ...]:
        """All four, best informed last."""
        return (self.you, self.trusting, self.recalibrating, self.informed)

    @property
    def gap(self) -> float:
        """What trusting the reports cost: expected effect of `informed` less `trusting`."""
        return self.informed.expected - self.trusting.expected

    @property
    def gap_percent(self) -> float | None:
        """`gap` in per cent of what `informed` expects; None if that is nothing."""
        if self.informed.expected <= 0:
            return None
        return 100 * self.gap / self.informed.expected

    @property
    def closed(self) -> float | None:
        """Share of `gap` that recalibrating closed, below 0 if it did harm; None without a gap."""
        if self.gap <= self._rounding():
            return None
        return (self.recalibrating.expected - self.trusting.expected) / self.gap

    def sentences(self) -> tuple[str, ...]:
        """What happened, in words."""
        if self.n_rounds == 0:
            return ("No round was played.",)
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        rounds = "1 round" if self.n_rounds == 1 else f"{self.n_rounds} rounds"
        yield (
            f"{self.level.capitalize()} reports (right for {100 * self.accuracy:.0f} % of patients,"
            f" ECE {self.ece:.2f}, by condition {self.classwise_ece:.2f}); {rounds} of"
            f" {self.n_patients} patients."
        )
        yield self._gap_sentence()
        yield self._learning_sentence()
        yield self._own_sentence()

    def _gap_sentence(self) -> str:
        if self.gap <= self._rounding():
            return "Trusting the reports cost nothing: no choice can expect more."
        share = "" if self.gap_percent is None else f", {self.gap_percent:.1f} %"
        return (
            f"Trusting the reports cost {self.gap:.1f} {self.unit}{share} of what one who knows the"
            " true probabilities can expect."
        )

    def _learning_sentence(self) -> str:
        who = "A player who recalibrates the reports from past outcomes"
        gain = self.recalibrating.expected - self.trusting.expected
        if abs(gain) <= self._rounding():
            return f"{who} can expect as much as one who trusts them."
        if gain < 0:
            return (
                f"{who} can expect {-gain:.1f} {self.unit} less: they were too few to learn from."
            )
        return f"{who} closed {100 * gain / self.gap:.0f} % of that gap."

    def _own_sentence(self) -> str:
        gain = self.you.expected - self.trusting.expected
        if abs(gain) <= self._rounding():
            return "Your choices can expect as much as trusting the reports."
        size = f"{abs(gain):.1f} {self.unit} {'more' if gain > 0 else 'less'}"
        return f"Your choices can expect {size} than trusting the reports would have."

    def _rounding(self) -> float:
        return _NOTHING * max(abs(self.informed.expected), 1.0)

    def _text(self) -> str:
        if self.n_rounds == 0:
            return "\n".join(self.sentences())
        first, *rest = self.sentences()
        lines = [first, "", f"{'player':<15}{'expected':>10}{'outcome':>10}{'promised':>10}"]
        lines += [
            f"{p.name:<15}{p.expected:>10.1f}{p.value:>10.1f}{p.promised:>10.1f}"
            for p in self.players
        ]
        lines += [
            f"{'hindsight':<15}{'':>10}{self.hindsight:>10.1f}",
            f"({self.unit}; expected: on average over patients such as these; outcome: on these)",
            "",
        ]
        return "\n".join([*lines, *rest])

    def _columns(self) -> dict[str, list[Any]]:
        """One row for each player."""
        return columns_of(self.players, field_names(PlayerScore))
