"""What values read from a file must be: type, shape, range and order, one declaration a field.

A record of fields stands beside the class that holds them:

>>> fields = Fields(knots_=Numbers("m", increasing=True), values_=Numbers("m", low=0, high=1))
>>> values = {"knots_": np.array([0.2, 0.7]), "values_": np.array([0.1, 0.4, 0.8])}
>>> check_fields(fields, values, Place("load"))
Traceback (most recent call last):
    ...
veridical.exceptions.InvalidInputError: load: `values_` must be an array of shape (2); got shape (3).
Hint: it was damaged or changed by hand: write it again.

Numbers are finite, and at most 1e200 in size unless a field says otherwise, so that no product with
a log odds overflows. Letters in shapes are sizes that the fields of a record share; "K" is the
number of classes.
"""  # noqa: E501 - a message is one line

from __future__ import annotations

import hashlib
import json
import math
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from veridical._core.data.validation import is_integer, is_number
from veridical._core.typing import Array
from veridical.exceptions import InvalidInputError, invalid

LARGEST = 1e200
ANY = 1.7976931348623157e308  # as a limit: any finite number
_LONGEST_TEXT = 10_000
_SUM = 1e-9  # by how much shares may miss one
HINT = "it was damaged or changed by hand: write it again."


@dataclass(slots=True)
class Place:
    """Where in a file a value stands, for messages, and what is known about its record.

    Attributes
    ----------
    caller : who reads
    path : names from the outside in, e.g. "parts_[3].slope_"
    sizes : letters of shapes, as found so far
    owner : the object that the field belongs to
    hint : what to do about it
    """

    caller: str
    path: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    owner: Any = None
    hint: str = HINT

    def at(self, name: str) -> Place:
        """A field of the record that stands here."""
        path = f"{self.path}.{name}" if self.path else name
        return Place(self.caller, path, self.sizes, self.owner, self.hint)

    def item(self, index: int) -> Place:
        """An entry of the list that stands here; its letters are its own."""
        path = f"{self.path}[{index}]"
        return Place(self.caller, path, dict(self.sizes), self.owner, self.hint)

    def wrong(self, got: Any, expected: str) -> InvalidInputError:
        """The error of a value that is not as expected."""
        text = got if isinstance(got, _Said) else shortened(got)
        return invalid(self.caller, self.path or "data", expected, text, hint=self.hint)


_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 3, 200, 200


def shortened(value: object) -> str:
    """The value as Python writes it, however large or deep it is."""
    return _SHORT.repr(value)


class _Said(str):
    """Words about a value, instead of the value."""

    __slots__ = ()


def said(text: str) -> str:
    """Words that an error prints as they are."""
    return _Said(text)


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field that may hold anything; its kinds say what.

    Attributes
    ----------
    optional : whether the field may be absent
    none : whether it may be None
    """

    optional: bool = False
    none: bool = False

    def check(self, value: Any, place: Place) -> None:
        """Raise unless the value is what the field holds."""
        if value is not None or not self.none:
            self._check(value, place)

    def _check(self, value: Any, place: Place) -> None:
        """Raise unless the value, which is not a permitted None, is of this kind."""


class Fields(dict[str, Field]):
    """Fields of a record by name: ``Fields(slope_=Number(), knots_=Numbers("m"))``."""


Relations = Iterator[tuple[str, bool, str]]  # a field, whether it holds, and what is expected


@dataclass(frozen=True, kw_only=True)
class Number(Field):
    """A finite number from `low` to `high`, of which `above` and `below` are outside."""

    low: float = -LARGEST
    high: float = LARGEST
    above: float | None = None
    below: float | None = None
    whole: bool = False

    def _check(self, value: Any, place: Place) -> None:
        good = is_integer(value) if self.whole else is_number(value)
        if not (good and _within(self, value, value)):
            raise place.wrong(value, _range(self, "a whole number" if self.whole else "a number"))


@dataclass(frozen=True, init=False)
class Numbers(Field):
    """A numeric array of a shape, its values within limits.

    Attributes
    ----------
    shape : sizes of the axes: numbers, or letters such as "m", "m+1", "K"
    low, high, above, below, whole : as in `Number`
    least : smallest size of the first axis
    increasing : whether each value is above the one before
    shares : whether values along the last axis sum to one
    """

    shape: tuple[int | str, ...]
    low: float
    high: float
    above: float | None
    below: float | None
    whole: bool
    least: int
    increasing: bool
    shares: bool

    def __init__(
        self,
        *shape: int | str,
        low: float = -LARGEST,
        high: float = LARGEST,
        above: float | None = None,
        below: float | None = None,
        whole: bool = False,
        least: int = 0,
        increasing: bool = False,
        shares: bool = False,
        optional: bool = False,
        none: bool = False,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def _check(self, value: Any, place: Place) -> None:
        noun = "an array of whole numbers" if self.whole else "an array of numbers"
        if not (isinstance(value, np.ndarray) and value.dtype == (int if self.whole else float)):
            raise place.wrong(value, noun)
        check_shape(value.shape, self.shape, place, least=self.least)
        if not value.size:
            return
        if not _within(self, value.min(), value.max()):  # NaN if one is
            bad = next(v for v in value.ravel().tolist() if not _within(self, v, v))
            raise place.wrong(bad, _range(self, noun))
        if self.increasing and not (value[1:] > value[:-1]).all():
            raise place.wrong(value[1:][value[1:] <= value[:-1]][0].item(), "increasing")
        if self.shares and not np.allclose(value.sum(axis=-1), 1.0, rtol=0, atol=_SUM):
            raise place.wrong(value.sum(axis=-1).tolist(), "shares that sum to one")


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """A text that can be written to a file or a database; one of `options` if there are some."""

    options: tuple[str, ...] = ()

    def _check(self, value: Any, place: Place) -> None:
        if not is_text(value) or (self.options and value not in self.options):
            listed = ", ".join(map(repr, self.options))
            raise place.wrong(value, f"one of {listed}" if self.options else "a text")


@dataclass(frozen=True, kw_only=True)
class Labels(Field):
    """Different labels in an array: texts, numbers or booleans.

    Attributes
    ----------
    size : number of labels, or the letter for it
    least : how many there are at least
    """

    size: int | str = "K"
    least: int = 2
    text: bool = False

    def _check(self, value: Any, place: Place) -> None:
        if not isinstance(value, np.ndarray):
            raise place.wrong(value, "an array of labels")
        check_shape(value.shape, (self.size,), place, least=self.least)
        items = value.tolist()
        for item in items:
            if not (is_text(item) or (is_label(item) and not self.text)):
                raise place.wrong(item, "names" if self.text else "labels")
        if len({isinstance(item, str) for item in items}) > 1:
            raise place.wrong(items, "of one kind: texts or numbers")
        if len(set(items)) < len(items):
            raise place.wrong(items, "different from each other")


@dataclass(frozen=True, kw_only=True)
class Label(Field):
    """A text, number or boolean, or a tuple of them."""

    def _check(self, value: Any, place: Place) -> None:
        for each in value if isinstance(value, tuple) else (value,):
            if not is_label(each):
                raise place.wrong(each, "a text, a number or a boolean")


@dataclass(frozen=True)
class Several(Field):
    """A list or tuple of values of one kind; letters inside are each entry's own."""

    of: Field
    size: int | str = "n"
    kind: type[list[Any]] | type[tuple[Any, ...]] = list

    def _check(self, value: Any, place: Place) -> None:
        if type(value) is not self.kind:
            raise place.wrong(value, f"a {self.kind.__name__}")
        check_shape((len(value),), (self.size,), place, least=0)
        for index, each in enumerate(value):
            self.of.check(each, place.item(index))


@dataclass(frozen=True)
class Together(Field):
    """A tuple of these values."""

    of: tuple[Field, ...]

    def _check(self, value: Any, place: Place) -> None:
        if type(value) is not tuple or len(value) != len(self.of):
            raise place.wrong(value, f"{len(self.of)} values")
        for index, (each, entry) in enumerate(zip(self.of, value, strict=True)):
            each.check(entry, replace(place, path=f"{place.path}[{index}]"))


@dataclass(frozen=True)
class Instance(Field):
    """A record of a class that checks its own fields."""

    of: type

    def _check(self, value: Any, place: Place) -> None:
        if not isinstance(value, self.of):
            raise place.wrong(value, f"a record of {self.of.__name__}")


def check_fields(fields: Mapping[str, Field], values: Mapping[str, Any], place: Place) -> None:
    """Raise unless all fields are there, no other is, and each holds what it should."""
    check_names(fields, values, place)
    for name, each in fields.items():
        if name in values:
            each.check(values[name], place.at(name))


def check_names(fields: Mapping[str, Field], names: Iterable[str], place: Place) -> None:
    """Raise if a field is missing or foreign."""
    given = set(names)
    for name in sorted(given - fields.keys(), key=str):
        kind = getattr(place.owner, "__name__", type(place.owner).__name__)
        shown = place.at(str(name)[:60])
        raise shown.wrong(said("it"), f"absent: the entry is foreign to {kind}")
    for name, each in fields.items():
        if name not in given and not each.optional:
            raise place.at(name).wrong(said("nothing: it is missing"), "there")


def check_shape(
    got: tuple[int, ...], wanted: tuple[int | str, ...], place: Place, *, least: int = 0
) -> None:
    """Raise unless a shape is as declared; letters met for the first time take the size found."""
    sizes = place.sizes
    expected = []
    for axis, size in enumerate(wanted):
        if isinstance(size, str):
            letter, sign, offset = _DIMENSION.fullmatch(size).groups()  # type: ignore[union-attr]
            shift = int(offset or 0) * (-1 if sign == "-" else 1)
            if letter not in sizes and len(got) == len(wanted):
                sizes[letter] = max(got[axis] - shift, 0)
            size = sizes.get(letter, 0) + shift
        expected.append(size)
    if tuple(expected) != got or (got and got[0] < least):
        at_least = f", at least {least}" if least and tuple(expected) == got else ""
        shape = ", ".join(map(str, expected))
        now = said(f"shape ({', '.join(map(str, got))})")
        raise place.wrong(now, f"an array of shape ({shape}){at_least}")


_DIMENSION = re.compile(r"([A-Za-z])(?:([+-])(\d+))?")


def is_text(value: object) -> bool:
    """Whether this is a text of bearable length that files and databases can hold."""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or "\0" in value:
        return False
    return value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value)


def is_label(value: object) -> bool:
    """Whether this can be the label of a class: text, number or boolean."""
    return isinstance(value, (bool, np.bool_)) or is_number(value) or is_text(value)


_LONGEST_OF_NOTHING = 4096  # an axis of an array without values
_NUMBERS = {"b": (bool,), "i": (int,), "u": (int,), "f": (float, int), "U": (str,)}
_DTYPES = re.compile(r"[<>|](?:b1|[iu][1248]|f[248]|U\d{1,9}|O)")


def array_from(items: Any, shape: Any, dtype: Any, place: Place) -> Array:
    """The array of a flat list of plain values, a shape and a type as `numpy.dtype.str`.

    Sizes must agree with what is there: nothing larger than the list is made.
    """
    if not (isinstance(dtype, str) and _DTYPES.fullmatch(dtype)):
        raise place.wrong(dtype, "of a known dtype")
    plain = isinstance(shape, list) and 0 < len(shape) <= 4 and all(is_integer(n) for n in shape)
    if not (plain and isinstance(items, list) and min(shape) >= 0):
        raise place.wrong(said(f"a shape of {shortened(shape)}"), "a list and its shape")
    if math.prod(shape) != len(items) or max(shape) > max(len(items), _LONGEST_OF_NOTHING):
        raise place.wrong(said(f"{len(items)} values"), f"of shape {tuple(shape)}")
    kind = dtype[1]
    foreign = set(map(type, items)) - set(_NUMBERS.get(kind, (bool, int, float, str)))
    if foreign:
        raise place.wrong(said(min(t.__name__ for t in foreign)), f"of values of dtype {dtype}")
    try:
        made = np.asarray(items, dtype="U" if kind == "U" else dtype)  # as wide as the texts are
    except OverflowError as error:
        raise place.wrong(said("larger ones"), f"of numbers of dtype {dtype}") from error
    return made.reshape(shape)


SEAL = "sha256"


def seal(data: Mapping[str, Any]) -> str:
    """Hash of what a file says beside it, whatever its layout: tells damage, not intent."""
    content = {key: value for key, value in data.items() if key != SEAL}
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):  # nothing that was ever written
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


def is_damaged(data: Any) -> bool:
    """Whether this has a hash, and another content than when it was written."""
    return isinstance(data, Mapping) and SEAL in data and data[SEAL] != seal(data)


def _within(limits: Number | Numbers, least: Any, most: Any) -> bool:
    above = limits.above is None or least > limits.above
    below = limits.below is None or most < limits.below
    return bool(limits.low <= least and most <= limits.high and above and below)


def _range(limits: Number | Numbers, noun: str) -> str:
    words = []
    if limits.above is not None:
        words.append(f"above {limits.above:g}")
    elif limits.low > -LARGEST:
        words.append(f"from {limits.low:g}")
    if limits.below is not None:
        words.append(f"below {limits.below:g}")
    elif limits.high < LARGEST:
        words.append(f"up to {limits.high:g}")
    return " ".join([noun, *words]) if words else noun.replace("number", "finite number", 1)
