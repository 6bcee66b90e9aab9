"""What the values of a column allow it to be: an outcome, a prediction, or neither."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.arrays import missing_values
from veridical.frames._tables.table import percent_numbers, to_array
from veridical.frames._tables.words import Hint, names_outcome, names_prediction, names_risk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, FloatArray

_MOST_LEVELS = 1000
_CODES = (frozenset({0, 1}), frozenset({1, 2}), frozenset({-1, 1}))
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[ T]\d.*)?")
_LOOSE = 0.005  # how far rounding to two decimals moves one of the values that sum to one
_MOST_LOOSE = 0.05
_SUMMED = 0.9  # share of rows that must sum to one; the border asks it of all


@dataclass(frozen=True, eq=False)
class Column:
    """One column as far as it was looked at.

    Attributes
    ----------
    name : of the column
    values : without those that are missing
    numbers : all values as numbers, a missing one as NaN; None for text, dates and others
    levels : distinct values of a column that may hold labels; None if there are too many
    """

    name: str
    values: Array
    numbers: FloatArray | None
    levels: frozenset[Any] | None

    @property
    def as_outcome(self) -> Hint:
        """What the name says; texts are labels of a risk, numbers its size."""
        return Hint.FOR if self.is_risk else names_outcome(self.name)

    @property
    def is_risk(self) -> bool:
        """Whether these are labels such as good and bad under a name such as Risk."""
        return self.numbers is None and names_risk(self.name)

    @property
    def as_prediction(self) -> Hint:
        """What the name says."""
        return names_prediction(self.name)

    def is_binary(self) -> bool:
        """Whether there are two labels: two texts, truth values, or codes that are usual."""
        if self.levels is None or len(self.levels) != 2:
            return False
        return self.numbers is None or self.levels in _CODES or self.as_outcome is Hint.FOR

    def is_within(self, top: float) -> bool:
        """Whether all values are numbers from 0 to `top`."""
        if self.numbers is None or not len(self.values):
            return False
        low, high = np.nanmin(self.numbers), np.nanmax(self.numbers)
        return bool(low >= 0 and high <= top)

    def is_prediction(self, top: float) -> bool:
        """Whether the values can be predictions by themselves: several, and not only 0 and `top`.

        Where `top` is 100, values that all are at most 1 are no percentages.
        """
        if not self.is_within(top) or self.numbers is None:
            return False
        between = self.values[(self.values > 0) & (self.values < top)]
        if top == 1 and not len(between):
            return False
        if top > 1 and not bool((self.values > 1).any()):
            return False
        return bool(np.ptp(self.values) > 0)


def columns_of_frame(frame: nw.DataFrame[Any], scale: str = "probability") -> list[Column]:
    """Look at every column of a frame that holds numbers, texts or truth values."""
    return [column for series in frame.iter_columns() for column in _looked_at(series, scale)]


def _looked_at(series: Any, scale: str) -> Iterator[Column]:
    if series.dtype.is_nested() or series.dtype.is_temporal():
        return
    array = to_array(series, caller="", param="")
    values = array[~missing_values(array)]
    if not len(values) or values.dtype.kind not in "biufOUT":
        return
    if values.dtype.kind in "OUT":
        percent = percent_numbers(array)
        if percent is None:
            yield Column(series.name, values, None, _text_levels(values))
            return
        array = percent if scale == "percent" else percent / 100
        values = array[~np.isnan(array)]
    if values.dtype.kind == "b":
        yield Column(series.name, values, None, frozenset(np.unique(values).tolist()))
        return
    finite = values[np.isfinite(values)].astype(np.float64)
    if len(finite):
        yield Column(series.name, finite, array.astype(np.float64), _codes(finite))


def _text_levels(values: Array) -> frozenset[Any] | None:
    """Distinct texts, unless they are dates or as many as only names of rows are."""
    try:
        levels = frozenset(values.tolist())
    except TypeError:  # something that has no hash is no label
        return None
    if all(isinstance(level, str) and _DATE.fullmatch(level.strip()) for level in levels):
        return None
    return levels if len(levels) <= _MOST_LEVELS else None


def _codes(values: FloatArray) -> frozenset[Any] | None:
    """Distinct integers, if all are."""
    if bool((values != np.floor(values)).any()):
        return None
    distinct = np.unique(values)
    if len(distinct) > _MOST_LEVELS:
        return None
    return frozenset(int(value) for value in distinct)


def sums_to(columns: Sequence[Column], top: float) -> bool:
    """Whether columns of numbers sum to `top` in nearly every row, as rounding allows.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.25, 0.5])
    >>> sums_to([Column("a", p, p, None), Column("b", 1 - p, 1 - p, None)], 1)
    True
    """
    total = np.zeros(len(columns[0].numbers if columns[0].numbers is not None else ()))
    for column in columns:
        if column.numbers is None:
            return False
        total = total + column.numbers
    known = total[~np.isnan(total)]
    loose = min(_MOST_LOOSE, _LOOSE * len(columns)) * top
    return len(known) > 0 and float(np.mean(np.abs(known - top) <= loose)) >= _SUMMED
