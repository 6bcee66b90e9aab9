"""Choices of treatments, as the game and its players write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from veridical._core.validation import is_integer
from veridical.exceptions import invalid
from veridical.planning._game_rules import GameRules

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
