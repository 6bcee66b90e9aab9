"""Which column is the outcome and which hold probabilities, if their names leave no doubt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from veridical.exceptions import InvalidInputError, invalid
from veridical.frames._expand import expand_columns
from veridical.frames._names import listed, missing_column, natural_order

if TYPE_CHECKING:
    from collections.abc import Sequence

_OUTCOMES = frozenset({"y", "y_true", "label", "labels", "target", "outcome", "truth", "class"})
# "score" is not here: a score may be a logit.
_PROBABILITIES = frozenset({"p", "prob", "proba", "probability", "y_prob", "y_proba"})
_FAMILIES = ("p_", "prob_", "proba_", "probability_")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnGuess:
    """The columns to use, and a sentence about those that were guessed.

    Parameters
    ----------
    y : str
        Column of outcomes.
    prob : tuple of str
        Columns of probabilities: one (positive class), or one per class.
    said : str
        What was guessed, to be shown to the user; empty if nothing was.
    """

    y: str
    prob: tuple[str, ...]
    said: str


def guess_columns(
    available: Sequence[str],
    *,
    y: str | None = None,
    prob: str | Sequence[str] | None = None,
    caller: str,
) -> ColumnGuess:
    """Find the outcome and the probabilities among columns, by name and only if unambiguous.

    Parameters
    ----------
    available : sequence of str
        The columns there are.
    y : str, optional
        The outcome, if the user named it.
    prob : str or sequence of str, optional
        The probabilities, if the user named them; globs are expanded.
    caller : str
        Who asks: it opens the error message.

    Returns
    -------
    ColumnGuess
        With `said` such as "guessed y = 'label', prob = 'p'".

    Notes
    -----
    Outcome: y, y_true, label, labels, target, outcome, truth, class. Probability: p, prob, proba,
    probability, y_prob, y_proba, or two or more columns that start with ``p_``, ``prob_``,
    ``proba_`` or ``probability_``. Case and spaces around a name do not matter.

    Examples
    --------
    >>> guess_columns(["id", "label", "p"], caller="evaluate").said
    "guessed y = 'label', prob = 'p'"
    >>> guess_columns(["kind", "p_cat", "p_dog"], y="kind", caller="evaluate").prob
    ('p_cat', 'p_dog')
    """
    said: list[str] = []
    if y is not None and y not in available:
        raise missing_column(y, available, caller=caller, param="y")
    given = None
    if prob is not None:
        given = tuple(expand_columns(prob, available, caller=caller, param="prob"))
    if y is None:
        outcomes = [name for name in _outcomes(available) if name not in (given or ())]
        if len(outcomes) != 1:
            raise _undecided(outcomes, available, caller=caller, param="y")
        y = outcomes[0]
        said.append(f"y = {y!r}")
    if given is None:
        candidates = _probabilities([name for name in available if name != y])
        if len(candidates) != 1:
            found = [name for candidate in candidates for name in candidate]
            raise _undecided(found, available, caller=caller, param="prob")
        given = candidates[0]
        said.append(f"prob = {listed(given)}")
    return ColumnGuess(y=y, prob=given, said=f"guessed {', '.join(said)}" if said else "")


def _outcomes(available: Sequence[str]) -> list[str]:
    return [name for name in available if name.strip().lower() in _OUTCOMES]


def _probabilities(available: Sequence[str]) -> list[tuple[str, ...]]:
    """Each single column and each family that could be the probabilities."""
    found: list[tuple[str, ...]] = [
        (name,) for name in available if name.strip().lower() in _PROBABILITIES
    ]
    for prefix in _FAMILIES:
        family = [name for name in available if name.strip().lower().startswith(prefix)]
        if len(family) >= 2:
            ends = [name.strip()[len(prefix) :] for name in family]
            found.append(tuple(natural_order(family, ends)))
    return found


def _undecided(
    found: Sequence[str], available: Sequence[str], *, caller: str, param: str
) -> InvalidInputError:
    what = "the outcome" if param == "y" else "the probabilities"
    example = "y='label'" if param == "y" else "prob='p' or prob='p_*'"
    if found:
        got = f"several candidates: {listed(found)} (columns: {listed(available)})"
    else:
        got = f"none that is known by name (columns: {listed(available)})"
    hint = f"say which column holds {what}, e.g. {example}."
    return invalid(caller, param, "given when the names leave a doubt", got, hint=hint)
