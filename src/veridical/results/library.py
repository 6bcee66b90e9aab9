"""Tables of results come in the frame library that the data came in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, ParamSpec, TypeVar

from veridical.frames.tables import library_of
from veridical.results._forms.groups import EvaluatedGroups
from veridical.results.base import Result

__all__ = ["answers_in_kind"]

P = ParamSpec("P")
R = TypeVar("R")


def answers_in_kind(function: Callable[P, R]) -> Callable[P, R]:
    """Let the tables of what `function` returns be of the library of its arguments.

    The first argument that is a frame or a series decides, in mappings and tuples, too. Without
    any, tables are those of polars.
    """

    @functools.wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        result = function(*args, **kwargs)
        library = _first_library((*args, *kwargs.values()))
        if library is not None:
            _mark(result, library)
        return result

    return answer


def _mark(result: Any, library: str) -> None:
    """Let the tables of a result, and of all in it, be of this library by default."""
    if isinstance(result, Result):
        object.__setattr__(result, "_library", library)
        record: Any = result
        for each in fields(record):
            _mark(getattr(result, each.name), library)
    elif isinstance(result, EvaluatedGroups):
        result.answer_in(library)
    elif isinstance(result, (tuple, list)):
        for each in result:
            _mark(each, library)


def _first_library(values: Iterable[Any]) -> str | None:
    for value in values:
        if isinstance(value, (Mapping, tuple, list)):
            inside = value.values() if isinstance(value, Mapping) else value[:1]
            found = _first_library(inside)
        else:
            found = library_of(value)
        if found is not None:
            return found
    return None
