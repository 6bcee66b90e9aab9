"""What every result can do."""

from __future__ import annotations

import datetime as dt
import json
import math
import types
import typing
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from veridical.frames import small_table


class Result:
    """Base of every result: lossless dictionaries and JSON, and a small table."""

    _text_columns: ClassVar[tuple[str, ...]] = ()  # text even where all values are missing
    _number_columns: ClassVar[tuple[str, ...]] = ()  # and numbers

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dictionary; `from_dict` reads it back unchanged."""
        return {f.name: _encode(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        hints = typing.get_type_hints(cls)
        names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: _decode(hints[name], data[name]) for name in names})

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what `to_json` wrote."""
        return cls.from_dict(json.loads(text))

    def to_frame(self, *, backend: str = "polars") -> Any:
        """Small table of fixed columns; `backend` is "polars", "pandas" or "pyarrow"."""
        return small_table(
            self._columns(),
            backend=backend,
            text=self._text_columns,
            numbers=self._number_columns,
            caller="to_frame",
        )

    def _columns(self) -> dict[str, list[Any]]:
        """Return the table of `to_frame`; by default one row with every field."""
        return {f.name: [getattr(self, f.name)] for f in fields(self)}  # type: ignore[arg-type]


def _encode(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return [_encode(item) for item in value.tolist()]
    if isinstance(value, (tuple, list)):
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


def _decode(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any and isinstance(value, list):
        return tuple(_decode(Any, item) for item in value)  # a key of several columns
    if value is None or hint is Any:
        return value
    if origin in (types.UnionType, typing.Union):
        return _decode(next(a for a in arguments if a is not type(None)), value)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return tuple(_decode(arguments[0], item) for item in value)
        return tuple(_decode(a, item) for a, item in zip(arguments, value, strict=True))
    if origin is dict:
        return {key: _decode(arguments[1], item) for key, item in value.items()}
    if origin is np.ndarray:
        return np.asarray([float(item) for item in value])
    if isinstance(hint, type) and issubclass(hint, Result):
        return hint.from_dict(value)
    return float(value) if hint is float else value
