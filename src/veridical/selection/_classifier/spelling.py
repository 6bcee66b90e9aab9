"""Parameters of `CalibratedClassifierCV` that have another name here get a hint."""

from __future__ import annotations

from collections.abc import Iterable
from functools import wraps
from typing import Any, TypeVar

from veridical.exceptions import invalid

_Class = TypeVar("_Class", bound=type[Any])
_HERE = {"method": "calibrator", "base_estimator": "estimator"}


def knowing_other_spellings(kind: _Class) -> _Class:
    """Let `__init__` and `set_params` of an estimator name the parameter that is meant."""
    for name in ("__init__", "set_params"):
        setattr(kind, name, _hinting(getattr(kind, name), kind.__name__))
    return kind


def _hinting(function: Any, caller: str) -> Any:
    @wraps(function)  # whoever asks for the signature sees the one of `function`
    def with_hint(self: Any, *values: Any, **named: Any) -> Any:
        _check_names(named, caller)
        return function(self, *values, **named)

    return with_hint


def _check_names(given: Iterable[str], caller: str) -> None:
    for name in given:
        if name in _HERE:
            here = _HERE[name]
            hint = f"it is called `{here}` here: `{here}=...`."
            raise invalid(caller, name, "left out", "a parameter of scikit-learn", hint=hint)
