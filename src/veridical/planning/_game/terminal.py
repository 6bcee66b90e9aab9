"""The healthcare game in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from veridical.exceptions import InvalidInputError, invalid
from veridical.planning._game.engine import HealthcareGame
from veridical.planning._game.players import NONE, TrustingPlayer, parse_choices
from veridical.planning._game.rules import HIDDEN, GameRules
from veridical.results import GameSummary, PatientRound, RoundOutcome

_PROMPT = "treat> "
_HELP = """Write the patient's number, a colon and the letter of the treatment, e.g. 3:A 7:D.
  none  treat nobody this round
  auto  the best treatments if the reports are right
  rules show treatments and effects again
  quit  end the game and show the summary"""
_RANGES = ((0.0, 0.6), (0.6, 0.9), (0.9, 1.0))  # of past reports in the tally


def play_in_terminal(
    game: HealthcareGame,
    *,
    read: Callable[[str], str] = input,
    write: Callable[[str], object] = print,
) -> GameSummary:
    """Play a game by typing.

    Parameters
    ----------
    game : HealthcareGame
        It goes on from its current round.
    read : callable, default `input`
        Takes a prompt, returns a line. `EOFError` and `KeyboardInterrupt` end the game.
    write : callable, default `print`
        Takes text of one line or more.

    Returns
    -------
    GameSummary
        Of the rounds played, which is also written.

    Examples
    --------
    >>> answers = iter(["2:Z", "2:A", "quit"])
    >>> written = []
    >>> summary = play_in_terminal(HealthcareGame(n_patients=3, rng=0),
    ...     read=lambda prompt: next(answers), write=written.append)
    >>> summary.n_rounds, summary.you.cost
    (1, 1.0)
    """
    write(_rules_text(game))
    write(_HELP)
    while not game.finished:
        patients = game.patients()
        write(_patients_text(patients, game.n_rounds, game.rules))
        outcome = _ask(game, patients, read, write)
        if outcome is None:
            break
        write(_outcome_text(outcome, game.rules))
        write(_score_text(game.outcomes, game.rules))
        write(_tally_text(game.outcomes))
    summary = game.summary()
    write(f"\n{summary}")
    return summary


def _ask(
    game: HealthcareGame,
    patients: PatientRound,
    read: Callable[[str], str],
    write: Callable[[str], object],
) -> RoundOutcome | None:
    """Ask until a round is played; None to quit."""
    while True:
        try:
            line = read(_PROMPT).strip()
        except (EOFError, KeyboardInterrupt):
            write("")
            return None
        match line.lower():
            case "quit" | "q" | "exit":
                return None
            case "" | "help" | "?":
                write(_HELP)
            case "rules":
                write(_rules_text(game))
            case "auto":
                return game.treat(TrustingPlayer().choose(patients, game.outcomes, game.rules))
            case _:
                try:
                    return game.treat(parse_choices(line, caller="treat"))
                except InvalidInputError as error:
                    about = (error.param, error.expected, error.got)
                    write(str(invalid("treat", *about, hint=error.hint)))


def _rules_text(game: HealthcareGame) -> str:
    rules = game.rules
    reports = "you find out how good they are" if game.level == HIDDEN else game.level
    head = [
        f"A classifier reports what patients may have; its reports: {reports}.",
        f"Gain as many {rules.unit} as you can. Who is not treated neither gains nor loses.",
        f"{game.n_rounds} rounds of {game.n_patients} patients. Budget of a round:"
        f" {rules.budget(game.n_patients):g}. Effects in {rules.unit}, times what is at stake for"
        " the patient:",
        "",
    ]
    body = [
        [f"{code} {treatment}", f"{cost:g}", *(f"{effect:g}" for effect in row), f"{100 * p:.0f} %"]
        for code, treatment, cost, row, p in zip(
            rules.codes, rules.treatments, rules.costs, rules.benefit, rules.pays_from, strict=True
        )
    ]
    table = _table(["treatment", "cost", *rules.conditions, "pays from"], body)
    foot = "Pays from: so probable must its condition be, truly, for it to help on average."
    return "\n".join([*head, *table, foot])


def _patients_text(patients: PatientRound, n_rounds: int, rules: GameRules) -> str:
    title = (
        f"\nRound {patients.round_number} of {n_rounds}, budget {patients.budget:g}."
        " Reported probabilities in per cent:"
    )
    stakes = patients.stakes or (1.0,) * len(patients)
    body = [
        [f"{i}", f"x {stake:g}", *map(_percent, row)]
        for i, (row, stake) in enumerate(zip(patients.reports, stakes, strict=True), start=1)
    ]
    return "\n".join([title, "", *_table(["patient", "stake", *rules.conditions], body)])


def _outcome_text(outcome: RoundOutcome, rules: GameRules) -> str:
    body = []
    for i, choice in enumerate(outcome.choices):
        report, condition = outcome.patients.reports[i], outcome.conditions[i]
        top = max(range(len(report)), key=report.__getitem__)
        body.append(
            [
                f"{i + 1}",
                f"{rules.conditions[top]} {_percent(report[top])}",
                rules.conditions[condition],
                (NONE + rules.codes)[choice],
                f"{outcome.effects[i]:+g}" if choice else "",
            ]
        )
    table = _table(["patient", "most probable", "was", "got", f"effect ({rules.unit})"], body)
    return "\n".join(["", *table, "", f"{outcome}."])


def _score_text(outcomes: Sequence[RoundOutcome], rules: GameRules) -> str:
    gained = sum(outcome.value for outcome in outcomes)
    promised = sum(outcome.promised for outcome in outcomes)
    return f"Score: {gained:g} {rules.unit}; the reports promised {promised:.4g}."


def _tally_text(outcomes: Sequence[RoundOutcome]) -> str:
    """How often reports were right so far, by how sure they were: what a player can learn from."""
    said = np.array([max(row) for outcome in outcomes for row in outcome.patients.reports])
    right = np.array(
        [
            report[condition] == max(report)
            for outcome in outcomes
            for report, condition in zip(outcome.patients.reports, outcome.conditions, strict=True)
        ]
    )
    body = []
    for low, high in _RANGES:
        within = (said >= low) & ((said < high) | (high == 1))
        if within.any():
            mean, share = 100 * said[within].mean(), 100 * right[within].mean()
            name = f"{100 * low:.0f} to {100 * high:.0f} %"
            body.append([name, f"{within.sum()}", f"{mean:.0f} %", f"{share:.0f} %"])
    header = ["sure of the most probable", "reports", "said", "right"]
    return "\n".join(["Reports so far:", *_table(header, body)])


def _percent(p: float) -> str:
    """Per cent, with more digits where a report all but excludes a condition."""
    percent = 100 * p
    if percent >= 0.1:
        return f"{percent:.1f}"
    return f"{percent:.3f}" if percent >= 0.0005 else "0"


def _table(header: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(len(row[j]) for row in [header, *body]) for j in range(len(header))]
    return [
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [header, *body]
    ]
