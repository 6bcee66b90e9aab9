"""What every result can do, and the results that others are made of."""

from __future__ import annotations

import datetime as dt
import json
import math
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field as DataclassField, dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from veridical._core.data.schema import Field, Place, check_names, is_text
from veridical._core.data.validation import check_level, is_integer, is_number
from veridical._core.typing import FloatArray
from veridical.frames.tables import small_table
from veridical.results._forms.displayed import Displayed


class Result(Displayed):
    """Base of every result: lossless dictionaries and JSON, and a small table.

    Results that hold arrays (dataclasses of ``eq=False``) are equal if all of it is.
    """

    _text_columns: ClassVar[tuple[str, ...]] = ()  # text even where all values are missing
    _number_columns: ClassVar[tuple[str, ...]] = ()  # and numbers
    _library = "polars"  # of `to_frame`; of the data if they came in a frame

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dictionary; `from_dict` reads it back unchanged."""
        return {name: _encode(getattr(self, name)) for name in field_names(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read back what `to_dict` wrote; what an earlier version lacked is as by default."""
        record: Any = cls
        hints = _hints(record)
        known = [f.name for f in fields(record) if f.name in data or not _has_default(f)]
        return cls(**{name: _decode(hints[name], data[name]) for name in known})

    @classmethod
    def from_untrusted(cls, data: Any, place: Place) -> Self:
        """Read back what `to_dict` wrote, of a file that anyone may have written."""
        if not isinstance(data, dict):
            raise place.wrong(data, "a record")
        record: Any = cls
        check_names({f.name: Field(optional=_has_default(f)) for f in fields(record)}, data, place)
        for name, hint in _hints(record).items():
            if name in data:
                _check_type(hint, data[name], place.at(name))
        return cls.from_dict(data)

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what `to_json` wrote."""
        return cls.from_dict(json.loads(text))

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Small table of fixed columns; `backend` is "polars", "pandas" or "pyarrow".

        Default: the library the data came in, and polars for arrays and files.
        """
        return small_table(
            self._columns(),
            backend=self._library if backend is None else backend,
            text=self._text_columns,
            numbers=self._number_columns,
            caller="to_frame",
        )

    def _columns(self) -> dict[str, list[Any]]:
        """Return the table of `to_frame`; by default one row with every field."""
        return columns_of([self], field_names(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


class ArrayResult(Result):
    """A result made of arrays, which are read-only."""

    def _arrays(self, *names: str) -> dict[str, list[Any]]:
        """Arrays of one length as columns of a table."""
        return {name: getattr(self, name).tolist() for name in names}

    def __post_init__(self) -> None:
        for name in field_names(self):
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)


def field_names(record: Any, *, without: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Names of the fields of a record or of its class."""
    return tuple(f.name for f in fields(record) if f.name not in without)


@cache
def _hints(record: Any) -> dict[str, Any]:
    return typing.get_type_hints(record)


def _has_default(field: DataclassField[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def columns_of(records: Iterable[Any], names: Iterable[str]) -> dict[str, list[Any]]:
    """A table of the attributes `names`, one row a record."""
    listed = list(records)
    return {name: [getattr(record, name) for record in listed] for name in names}


def _encode(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return [_encode(item) for item in value.tolist()]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_encode(item) for item in value]
    if isinstance(value, dict):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, dt.date):  # and datetime
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)  # JSON has no infinity; "inf" is read back as a float
    return value


_PLAIN: dict[Any, tuple[Callable[[Any], bool], str]] = {
    float: (lambda value: is_number(value) or value in ("nan", "inf", "-inf"), "a number"),
    int: (is_integer, "a whole number"),
    str: (is_text, "a text"),
    bool: (lambda value: isinstance(value, bool), "true or false"),
}


def _check_type(hint: Any, value: Any, place: Place) -> None:
    """Raise unless an encoded value is of the annotated type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if value is not None or type(None) not in arguments:
            _check_type(next(a for a in arguments if a is not type(None)), value, place)
    elif origin in (tuple, Sequence):
        if not isinstance(value, list):
            raise place.wrong(value, "a list")
        several = origin is Sequence or arguments[-1] is Ellipsis
        for index, each in enumerate(value):
            kind = arguments[0] if several else arguments[index]
            _check_type(kind, each, place.item(index))
    elif isinstance(hint, type) and issubclass(hint, Result):
        hint.from_untrusted(value, place)
    else:
        holds, expected = _PLAIN[hint]
        if not holds(value):
            raise place.wrong(value, expected)


def _decode(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any and isinstance(value, list):
        return tuple(_decode(Any, item) for item in value)  # a key of several columns
    if value is None or hint is Any:
        return value
    if origin in (types.UnionType, typing.Union):
        return _decode(next(a for a in arguments if a is not type(None)), value)
    if origin in (tuple, Sequence):
        if origin is Sequence or arguments[-1] is Ellipsis:
            return tuple(_decode(arguments[0], item) for item in value)
        return tuple(_decode(a, item) for a, item in zip(arguments, value, strict=True))
    if origin is dict:
        return {key: _decode(arguments[1], item) for key, item in value.items()}
    if origin is np.ndarray:
        return np.asarray([float(item) for item in value])
    if isinstance(hint, type) and issubclass(hint, Result):
        return hint.from_dict(value)
    return float(value) if hint is float else value


@dataclass(frozen=True, kw_only=True, repr=False)
class Interval(Result):
    """Confidence interval of a figure.

    Attributes
    ----------
    estimate : the figure itself; a plug-in calibration error of many bins may lie above its
        interval, because it is biased upwards and the interval is not
    low, high : limits
    confidence_level : how often such intervals cover the truth
    method : "analytic", "percentile", "basic" or "bca"
    estimator, definition, lens, n_samples : what was measured
    n_resamples : how many resamples were drawn, None for an analytic interval

    Examples
    --------
    >>> print(Interval(estimate=0.2, low=0.125, high=0.25, confidence_level=0.95,
    ...     method="analytic", estimator="brier", definition="mean brier score", lens="binary",
    ...     n_samples=100, n_resamples=None))
    brier 0.2000, 95 % interval 0.1250 to 0.2500 (analytic; binary, mean brier score, n=100)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("method", "estimator", "definition", "lens")

    estimate: float
    low: float
    high: float
    confidence_level: float
    method: str
    estimator: str
    definition: str
    lens: str
    n_samples: int
    n_resamples: int | None

    @property
    def width(self) -> float:
        """Distance between the limits."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def _text(self) -> str:
        drawn = "" if self.n_resamples is None else f", {self.n_resamples:,} resamples"
        return (
            f"{self.estimator} {self.estimate:.4f}, {100 * self.confidence_level:g} % interval"
            f" {self.low:.4f} to {self.high:.4f} ({self.method}{drawn}; {self.lens},"
            f" {self.definition}, n={self.n_samples})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class CalibrationTest(Result):
    """Outcome of a test of the hypothesis that the predictions are calibrated.

    Attributes
    ----------
    statistic : what was compared with the null distribution
    pvalue : probability of a statistic at least this extreme if the predictions are calibrated
    method : name of the test
    null : where the null distribution comes from, in words
    definition : what the statistic is, in words
    lens : name of the lens
    n_samples : rows (of positive weight)
    df : degrees of freedom, None if the null distribution has none
    n_resamples : Monte-Carlo draws, None for a formula
    notes : statistical doubts in words

    Examples
    --------
    >>> test = CalibrationTest(statistic=2.0, pvalue=0.0455, method="Spiegelhalter's test",
    ...     null="standard normal", definition="z", lens="binary", n_samples=100)
    >>> print(test)
    Spiegelhalter's test: statistic 2.0000, p = 0.0455 (standard normal; binary, z, n=100)
    >>> test.rejects(), test.rejects(0.01)
    (True, False)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("method", "null", "definition", "lens")
    _number_columns: ClassVar[tuple[str, ...]] = ("df", "n_resamples")

    statistic: float
    pvalue: float
    method: str
    null: str
    definition: str
    lens: str
    n_samples: int
    df: float | None = None
    n_resamples: int | None = None
    notes: tuple[str, ...] = ()

    def rejects(self, level: float = 0.05) -> bool:
        """Whether calibration is rejected at this level."""
        return self.pvalue <= check_level("rejects", level, "level")

    def _text(self) -> str:
        return (
            f"{self.method}: statistic {format_statistic(self.statistic)},"
            f" {say_pvalue(self.pvalue, self.n_resamples)}"
            f" ({self.null}; {self.lens}, {self.definition}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[object]]:
        names = ("method", "statistic", "pvalue", "df", "null", "definition", "lens")
        return columns_of([self], (*names, "n_samples", "n_resamples"))


def format_statistic(statistic: float) -> str:
    """Return a statistic with four decimals, or in powers of ten if it is huge."""
    return f"{statistic:.4f}" if abs(statistic) < 1e6 else f"{statistic:.4g}"


def format_pvalue(pvalue: float, n_resamples: int | None = None, *, times: float = 1) -> str:
    """Return a p-value with as many digits as can be read; never zero.

    Parameters
    ----------
    pvalue : float
        Of a test, or `times` that of a test, at most 1.
    n_resamples : int, optional
        Draws it comes from. The smallest p-value they can give, 1 / (1 + n_resamples), says only
        that none of them was as extreme.
    times : float, default=1
        What a correction for the number of tests multiplied it with.

    Examples
    --------
    >>> format_pvalue(0.0312), format_pvalue(2e-9), format_pvalue(0.0)
    ('0.0312', '2e-09', '< 1e-300')
    >>> format_pvalue(1 / 1001, 1000), format_pvalue(2 / 1001, 1000), format_pvalue(1 / 1000, 999)
    ('< 0.001', '0.0020', '< 0.0011')
    """
    if pvalue < _SMALLEST:
        return f"< {_SMALLEST:g}"
    if n_resamples is not None and pvalue < 1:
        floor = times / (1 + n_resamples)
        if abs(pvalue - floor) <= 1e-9 * floor:
            return f"< {_just_above(pvalue)}"
    return f"{pvalue:.4f}" if pvalue >= 1e-4 else f"{pvalue:.2g}"


def say_pvalue(
    pvalue: float, n_resamples: int | None = None, *, times: float = 1, name: str = "p"
) -> str:
    """Return what a p-value is in words: "p = 0.0312" or "p < 0.001".

    Examples
    --------
    >>> say_pvalue(0.0312), say_pvalue(1 / 1001, 1000)
    ('p = 0.0312', 'p < 0.001')
    """
    text = format_pvalue(pvalue, n_resamples, times=times)
    return f"{name} {text}" if text.startswith("<") else f"{name} = {text}"


_SMALLEST = 1e-300


def _just_above(value: float) -> str:
    """The next number above of one digit, or of two if that is more than a tenth above."""
    exponent = math.floor(math.log10(value))
    for digits in (0, 1):
        unit = 10.0 ** (exponent - digits)
        above = math.ceil(value / unit * (1 - 1e-12)) * unit
        if above == value:
            above += unit
        if above <= value * 1.1:
            break
    return f"{above:.4g}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NullLevel(ArrayResult):
    """Distribution of an estimate if the predictions were right.

    Attributes
    ----------
    mean, std : of the null sample
    sample : the estimates on resampled outcomes, sorted
    estimate : the estimate on the real outcomes
    estimator, definition, lens, n_samples, n_resamples : how it was made
    """

    mean: float
    std: float
    sample: FloatArray
    estimate: float
    estimator: str
    definition: str
    lens: str
    n_samples: int
    n_resamples: int

    def quantile(self, q: float) -> float:
        """Return the value a share `q` of the null estimates does not exceed."""
        return float(np.quantile(self.sample, check_level("quantile", q, "q")))

    @property
    def standardised(self) -> float:
        """Estimate in null standard deviations above the null mean (comparable across data)."""
        if self.std == 0:
            return 0.0 if self.estimate == self.mean else float("inf")
        return (self.estimate - self.mean) / self.std

    def _text(self) -> str:
        return (
            f"{self.estimator} {self.estimate:.4f} (null {self.mean:.4f}, 95 % up to"
            f" {self.quantile(0.95):.4f}; {self.lens}, {self.definition}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "estimator": [self.estimator],
            "estimate": [self.estimate],
            "null_mean": [self.mean],
            "null_std": [self.std],
            "null_q95": [self.quantile(0.95)],
            "definition": [self.definition],
            "lens": [self.lens],
            "n_samples": [self.n_samples],
            "n_resamples": [self.n_resamples],
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Difference(Interval):
    """Paired difference of a figure between two models, first minus second.

    Attributes
    ----------
    estimate, low, high, confidence_level : the difference and its interval
    pvalue : of the hypothesis that the two figures are equal in the population, two-sided
    first, second : the figure of each model

    Examples
    --------
    >>> print(Difference(estimate=-0.05, low=-0.08, high=-0.02, confidence_level=0.95,
    ...     method="analytic", estimator="brier", definition="mean brier score", lens="binary",
    ...     n_samples=100, n_resamples=None, pvalue=0.001, first=0.15, second=0.2))
    brier 0.1500 - 0.2000 = -0.0500, 95 % interval -0.0800 to -0.0200, p = 0.0010 (analytic;
     binary, mean brier score, n=100)
    """

    pvalue: float
    first: float
    second: float

    def reversed(self) -> Difference:
        """Return the same difference, second minus first."""
        return replace(
            self,
            estimate=-self.estimate,
            low=-self.high,
            high=-self.low,
            first=self.second,
            second=self.first,
        )

    def _text(self) -> str:
        drawn = "" if self.n_resamples is None else f", {self.n_resamples:,} resamples"
        return (
            f"{self.estimator} {self.first:.4f} - {self.second:.4f} = {self.estimate:+.4f},"
            f" {100 * self.confidence_level:g} % interval {self.low:.4f} to {self.high:.4f},"
            f" {say_pvalue(self.pvalue)} ({self.method}{drawn}; {self.lens},"
            f" {self.definition}, n={self.n_samples})"
        )
