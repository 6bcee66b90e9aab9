"""The outcome and its predictions among the columns of a table: by values first, then by names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.columns import labels_from_columns
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames._tables.columns import expand_columns, listed, missing_column, natural_order
from veridical.frames._tables.open import column_names
from veridical.frames._tables.peek import peek
from veridical.frames._tables.profile import Column, columns_of_frame, sums_to
from veridical.frames._tables.words import Hint, names_outcome, names_percent, names_prediction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TOPS = {"probability": 1.0, "percent": 100.0}
_MOST_RUNS = 200  # columns in a row among which neighbours that sum to one are looked for
_SUMMED_ROWS = 500  # by which stretches are chosen
_NEAR = 0.05
_LISTED = 6


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


@dataclass(frozen=True)
class _Reading:
    """An outcome and its predictions, and how far names speak for each."""

    y: str
    prob: tuple[str, ...]
    outcome: float
    prediction: float


def find_columns(
    source: Any,
    *,
    y: str | None = None,
    prob: str | Sequence[str] | None = None,
    without: Iterable[str | None] = (),
    scale: str = "probability",
    caller: str,
    param: str = "source",
) -> ColumnGuess:
    """Find the outcome and the predictions in a frame or file, where there is only one reading.

    Parameters
    ----------
    source : frame, str or path
        As in `open_table`; up to 10,000 rows are looked at.
    y : str, optional
        The outcome, if the user named it.
    prob : str or sequence of str, optional
        The predictions, if the user named them; globs are expanded.
    without : iterable of str
        Columns that are known to be something else: weights, groups.
    scale : {"probability", "percent", "logit", "logprob"}, default="probability"
        What predictions are written in.
    caller, param : str
        Who asks, and for which argument: they open the error message.

    Returns
    -------
    ColumnGuess
        With `said` such as "guessed y='label', prob='p'; pass others if that is wrong".

    Notes
    -----
    One column of numbers in [0, 1] can be the prediction of an outcome of two labels; K columns
    that sum to one in nearly every row are those of K labels. Among several possibilities names
    decide (`words.py`), if they speak for one only. Names that contradict the values, such as an
    outcome called ``p``, are no reading. Where no values fit, names alone decide, and whoever
    checks the values says what is wrong with them.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({
    ...     "id": [7, 8, 9], "risk": [0.2, 0.5, 0.75], "ill": ["no", "yes", "yes"]})
    >>> find_columns(frame, caller="evaluate").said
    "guessed y='ill', prob='risk'; pass others if that is wrong"
    """
    available = column_names(source, caller=caller, param=param)
    if y is not None and y not in available:
        raise missing_column(y, available, caller=caller, param="y")
    given = None
    if prob is not None:
        given = tuple(expand_columns(prob, available, caller=caller, param="prob"))
    if y is not None and given is not None:
        return ColumnGuess(y=y, prob=given, said="")
    looked = peek(source, caller=caller, param=param)
    left_out = set(without) - {y, *(given or ())}
    columns = [
        column for column in columns_of_frame(looked.frame, scale) if column.name not in left_out
    ]
    finder = _Finder(columns, available, whole=looked.whole, scale=scale, caller=caller)
    reading = finder.reading(y, given)
    said = [] if y is not None else [f"y={reading.y!r}"]
    if given is None:
        said.append(f"prob={_shown(reading.prob)}")
    text = f"guessed {', '.join(said)}; pass others if that is wrong"
    return ColumnGuess(y=reading.y, prob=reading.prob, said=text)


def _shown(names: Sequence[str]) -> str:
    if len(names) == 1:
        return repr(names[0])
    if len(names) <= _LISTED:
        return repr(list(names))
    return f"[{names[0]!r}, {names[1]!r}, ..., {names[-1]!r}] ({len(names)} columns)"


class _Finder:
    """Readings of a table."""

    def __init__(
        self,
        columns: Sequence[Column],
        available: Sequence[str],
        *,
        whole: bool,
        scale: str,
        caller: str,
    ) -> None:
        self._columns = {column.name: column for column in columns}
        self._available, self._whole = available, whole
        self._scale, self._caller = scale, caller

    def reading(self, y: str | None, prob: tuple[str, ...] | None) -> _Reading:
        """The only reading that fits, or an error that lists them."""
        found = self._fitting(y, prob, _TOPS.get(self._scale))
        if not found and self._scale == "probability":
            # Percentages are taken so that the border can say what they seem to be.
            percent = self._fitting(y, prob, _TOPS["percent"])
            found = [one for one in percent if one.prediction == Hint.FOR]
        best = [
            one
            for one in found
            if one.outcome == max(each.outcome for each in found)
            and one.prediction == max(each.prediction for each in found)
        ]
        doubted = self._named_otherwise(best, y, prob)
        if len(best) == 1 and not doubted and min(best[0].outcome, best[0].prediction) > 1:
            if prob is None:
                self._check_single(best[0])
            return best[0]
        named = self._by_name(y, prob)
        if named is not None and not any(min(one.outcome, one.prediction) > 1 for one in best):
            return named
        raise self._undecided(best or found, doubted, y, prob)

    def _check_single(self, reading: _Reading) -> None:
        """Refuse one column whose values can be read in another way, which nobody sees later."""
        if len(reading.prob) > 1 or self._scale not in _TOPS:
            return
        name, column = reading.prob[0], self._columns[reading.prob[0]]
        expected = "given where the data leave a doubt"
        if names_percent(name) and self._scale == "probability" and column.is_within(1.0):
            got = f"{name!r}, named like percentages, with values up to {column.values.max():.3g}"
            hint = f"pass scale='percent', or prob={name!r} if it holds probabilities."
            raise invalid(self._caller, "prob", expected, got, hint=hint)
        top = _TOPS[self._scale]
        guessed = self._predicted_labels(reading)
        if guessed and column.values.min() >= top / 2 and column.as_prediction is Hint.FOR:
            got = f"{name!r}, never below one half, beside the labels predicted in {guessed!r}"
            hint = (
                f"if it is the probability that {guessed!r} is right, make a column of"
                f" {reading.y!r} == {guessed!r} and name it as the outcome; pass prob={name!r}"
                " if it is that of the positive class."
            )
            raise invalid(self._caller, "prob", expected, got, hint=hint)

    def _predicted_labels(self, reading: _Reading) -> str | None:
        """A column of the same labels as the outcome that is named as its prediction."""
        outcome = self._columns[reading.y].levels if reading.y in self._columns else None
        for name, column in self._columns.items():
            same = name != reading.y and outcome is not None and column.levels == outcome
            if same and names_prediction(name) is Hint.FOR:
                return name
        return None

    def _fitting(
        self, y: str | None, prob: tuple[str, ...] | None, top: float | None
    ) -> list[_Reading]:
        """Every pair of outcome and predictions whose values fit each other."""
        predictions = [prob] if prob is not None else self._predictions(y, top)
        readings = []
        for names in predictions:
            outcomes = [y] if y is not None else self._columns
            for name in outcomes:
                if name in names or (y is None and not self._can_be_outcome(name, names)):
                    continue
                linked = len(names) > 1 and self._linked(name, names)
                outcome = Hint.FOR if y is not None or linked else self._columns[name].as_outcome
                readings.append(
                    _Reading(name, names, outcome, self._speaks_for(names, prob, linked=linked))
                )
        return readings

    def _speaks_for(
        self, names: tuple[str, ...], prob: tuple[str, ...] | None, *, linked: bool
    ) -> float:
        """How far names, and values that sum to one, speak for predictions."""
        if prob is not None or linked:
            return Hint.FOR
        hint = min(names_prediction(name) for name in names)
        if len(names) == 1 or hint is not Hint.NOTHING:
            return hint
        # Any two shares sum to one; more columns hardly do by chance.
        return Hint.AGAINST if len(names) == 2 else Hint.NOTHING + 0.5

    def _can_be_outcome(self, name: str, names: tuple[str, ...]) -> bool:
        """Whether the values of a column can be labels of so many columns of predictions."""
        column = self._columns[name]
        if column.levels is None or (names_prediction(name) is Hint.FOR and not column.is_risk):
            return False
        n_levels, n_classes = len(column.levels), max(2, len(names))
        if n_classes == 2 and n_levels == 2:
            return column.is_binary() or (len(names) == 2 and self._linked(name, names))
        if n_levels < 2:  # all labels may not have been seen
            return not self._whole and column.as_outcome is Hint.FOR
        if len(names) == 1:
            return False
        if self._linked(name, names):
            return True
        hinted = all(names_prediction(each) is Hint.FOR for each in names)
        fewer = n_levels < n_classes and hinted
        if column.numbers is None:
            return n_levels == n_classes or fewer
        low, high = min(column.levels), max(column.levels)
        return (low in (0, 1) and high - low < n_classes) and (n_levels == n_classes or fewer)

    def _linked(self, name: str, names: tuple[str, ...]) -> bool:
        """Whether the names of predictions are those of the labels."""
        column = self._columns.get(name)
        if column is None:
            return False
        labels = labels_from_columns(names, column.values)
        return labels is not None and column.levels is not None and column.levels <= set(labels)

    def _predictions(self, y: str | None, top: float | None) -> list[tuple[str, ...]]:
        """Columns, and families of columns, whose values can be predictions."""
        usable = [
            column
            for column in self._columns.values()
            if column.name != y and names_outcome(column.name) is not Hint.FOR
        ]
        if top is None:  # logits have no bounds that could tell them
            return predictions_by_name([one.name for one in usable if one.numbers is not None])
        families = self._families([one for one in usable if one.is_within(top)], top)
        members = {name for family in families for name in family}
        single = [
            (column.name,)
            for column in usable
            if column.name not in members and column.is_prediction(top)
        ]
        return [*families, *single]

    def _families(self, columns: list[Column], top: float) -> list[tuple[str, ...]]:
        """Columns of one naming, or side by side, that sum to `top`; the largest of each kind."""
        found: list[tuple[str, ...]] = []
        split: list[frozenset[str]] = []
        for group in [*_same_naming(columns), *_labels_of_others(columns, self._columns)]:
            names = _in_order([column.name for column in group])
            if sums_to(group, top) or self._is_meant_as_family(names):
                found.append(names)
            elif names_prediction(names[0]) is Hint.FOR:
                split.append(frozenset(names))
        taken = {name for family in found for name in family}
        rest = [column for column in columns if column.name not in taken]
        runs = [_in_order(run) for run in _runs(rest, self._available, top)]
        members = frozenset(name for run in runs for name in run)
        # Of columns of one naming all are in a family, or none: p_0 and p_1 beside p_2 are none.
        broken = frozenset[str]().union(*(group for group in split if not group <= members))
        found += [run for run in runs if broken.isdisjoint(run)]
        sets = [frozenset(family) for family in found]
        return [
            family
            for i, family in enumerate(found)
            if sets[i] not in sets[:i] and not any(sets[i] < other for other in sets)
        ]

    def _is_meant_as_family(self, names: tuple[str, ...]) -> bool:
        """Whether names are those of predictions, one for each label of a column."""
        return all(names_prediction(name) is Hint.FOR for name in names) and any(
            self._linked(other, names)
            for other, column in self._columns.items()
            if column.as_outcome is not Hint.AGAINST and other not in names
        )

    def _named_otherwise(
        self, best: list[_Reading], y: str | None, prob: tuple[str, ...] | None
    ) -> list[_Reading]:
        """Readings that names speak for, though values do not, where `best` has no such name."""
        if len(best) != 1:
            return []
        [one] = best
        others = []
        if y is None and one.outcome < Hint.FOR:
            names = [n for n in self._available if names_outcome(n) is Hint.FOR and n != one.y]
            others += [_Reading(n, one.prob, Hint.FOR, one.prediction) for n in names]
        if prob is None and one.prediction < Hint.FOR:
            numeric = [n for n, column in self._columns.items() if column.numbers is not None]
            names = [n for n in numeric if names_prediction(n) is Hint.FOR and n != one.y]
            others += [_Reading(one.y, (n,), one.outcome, Hint.FOR) for n in names]
        return [each for each in others if each.y not in each.prob]

    def _by_name(self, y: str | None, prob: tuple[str, ...] | None) -> _Reading | None:
        """The reading that names alone speak for, if it is the only one."""
        if y is None:
            names = [n for n in self._available if names_outcome(n) is Hint.FOR]
            names = [n for n in names if n not in (prob or ())]
            if len(names) != 1:
                return None
            [y] = names
        if prob is None:
            families = predictions_by_name([n for n in self._available if n != y])
            if len(families) != 1:
                return None
            [prob] = families
        return _Reading(y, prob, Hint.FOR, Hint.FOR)

    def _undecided(
        self,
        found: list[_Reading],
        doubted: list[_Reading],
        y: str | None,
        prob: tuple[str, ...] | None,
    ) -> InvalidInputError:
        readings = [*found, *doubted]
        outcomes = list(dict.fromkeys(one.y for one in readings))
        predictions = list(dict.fromkeys(one.prob for one in readings))
        doubtful = len(outcomes) != 1 or max(one.outcome for one in readings) < Hint.NOTHING
        if y is None and (doubtful or prob is not None):
            what, param = "the outcome", "y"
            ways = [f"y={name!r}" for name in outcomes]
            example = "y='label'"
        else:
            what, param = "the predictions", "prob"
            ways = [f"prob={_shown(names)}" for names in predictions]
            example = "prob='p' or prob='p_*'"
        if not ways:
            kind = "labels" if param == "y" else "probabilities"
            got = f"no column that can hold {kind} (columns: {listed(self._available)})"
            hint = f"say which column holds {what}, e.g. {example}."
        else:
            got = ", ".join(way.partition("=")[2] for way in ways[:_LISTED])
            got += f" and {len(ways) - _LISTED} more" if len(ways) > _LISTED else ""
            got = f"{len(ways)} possible: {got}" if len(ways) > 1 else f"only {got}, which may be"
            got += "" if len(ways) > 1 else " something else"
            hint = f"say which column holds {what}: pass {' or '.join(ways[:_LISTED])}."
        expected = "given where the data leave a doubt"
        return invalid(self._caller, param, expected, got, hint=hint)


def predictions_by_name(available: Sequence[str]) -> list[tuple[str, ...]]:
    """Each single column and each family whose names are those of predictions.

    Examples
    --------
    >>> predictions_by_name(["id", "p_b", "p_a", "q"])
    [('p_b', 'p_a')]
    >>> predictions_by_name(["label", "score"])
    [('score',)]
    """
    names = [name for name in available if names_prediction(name) is Hint.FOR]
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_stem(name), []).append(name)
    return [_in_order(group) for group in groups.values()]


def _stem(name: str) -> str:
    """What names of one family share: ``p`` of p_a and p_b, and of p0 and p1."""
    bare = name.strip().lower()
    return re.split(r"[\W_]|(?<=[^\W\d_])\d+$", bare, maxsplit=1)[0] or bare


def _same_naming(columns: Sequence[Column]) -> list[list[Column]]:
    groups: dict[str, list[Column]] = {}
    for column in columns:
        groups.setdefault(_stem(column.name), []).append(column)
    numbered = [column for column in columns if column.name.strip().isdigit()]
    return [group for group in [*groups.values(), numbered] if len(group) > 1]


def _labels_of_others(columns: Sequence[Column], others: dict[str, Column]) -> list[list[Column]]:
    """Columns that are named exactly as the labels of a column of texts."""
    found = []
    for other in others.values():
        if other.levels is not None and other.numbers is None and len(other.levels) > 1:
            named = [column for column in columns if column.name.strip() in other.levels]
            if len(named) == len(other.levels):
                found.append(named)
    return found


def _runs(columns: Sequence[Column], available: Sequence[str], top: float) -> list[list[str]]:
    """Neighbouring columns that sum to `top`, the longest from each beginning."""
    place = {name: i for i, name in enumerate(available)}
    usable = sorted(columns, key=lambda column: place[column.name])[:_MOST_RUNS]
    found: list[list[str]] = []
    start = 0
    while start < len(usable):
        end = start + 1
        while end < len(usable) and place[usable[end].name] == place[usable[end - 1].name] + 1:
            end += 1
        found += _summing(usable[start:end], top)
        start = end
    return found


def _summing(neighbours: Sequence[Column], top: float) -> list[list[str]]:
    """Disjoint stretches of neighbours that sum to `top`, from the left."""
    if len(neighbours) < 2:
        return []
    numbers = [column.numbers for column in neighbours if column.numbers is not None]
    rows = np.column_stack(numbers)
    rows = rows[~np.isnan(rows).any(axis=1)][:_SUMMED_ROWS]
    sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)
    found: list[list[str]] = []
    first = 0
    while first < len(neighbours) - 1:
        gaps = np.abs(sums[:, first + 2 :] - sums[:, [first]] - top)
        near = np.median(gaps, axis=0) <= _NEAR * top if len(rows) else np.zeros(0, dtype=bool)
        longest_first = np.flatnonzero(near)[::-1].tolist()
        stretches = (neighbours[first : first + 2 + extra] for extra in longest_first)
        stretch = next((each for each in stretches if sums_to(each, top)), None)
        if stretch is not None:
            found.append([column.name for column in stretch])
        first += 1 if stretch is None else len(stretch)
    return found


def _in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Numbered names by their numbers, others as they come."""
    ends = [match[0] if (match := re.search(r"\d+$", name.strip())) else "" for name in names]
    return tuple(natural_order(names, ends) if all(ends) else names)
