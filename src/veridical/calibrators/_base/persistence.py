"""Calibrators as JSON: parameters and fitted attributes, no code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.labels import positive_class
from veridical._core.data.validation import is_integer
from veridical.calibrators._base.memory import Fingerprint
from veridical.exceptions import invalid
from veridical.results import Evidence

if TYPE_CHECKING:
    from veridical.calibrators._base.calibrator import Calibrator

FORMAT = 1
_KEYS = {"format", "calibrator", "parameters", "fitted"}
_KNOWN: dict[str, type[Calibrator]] = {}  # classes of this package that can be read back


def register(kind: type[Calibrator]) -> None:
    """Make a calibrator of this package known by name; classes from elsewhere are never built."""
    if kind.__module__.startswith("veridical.") and not kind.__name__.startswith("_"):
        _KNOWN[kind.__name__] = kind


def encode(calibrator: Calibrator) -> dict[str, Any]:
    """Return a calibrator as a JSON-safe dictionary."""
    fitted = {
        name: _encode_value(value) for name, value in vars(calibrator).items() if _is_fitted(name)
    }
    parameters = calibrator.get_params(deep=False)
    return {
        "format": FORMAT,
        "calibrator": type(calibrator).__name__,
        "parameters": {name: _encode_value(value) for name, value in parameters.items()},
        "fitted": fitted,
    }


def decode(data: dict[str, Any]) -> Calibrator:
    """Read back what `encode` wrote."""
    if not isinstance(data, dict) or not set(data) >= _KEYS:
        hint = "pass what `to_dict` returned."
        raise invalid("from_dict", "data", "a saved calibrator", type(data).__name__, hint=hint)
    if data["format"] != FORMAT:
        hint = f"this version reads format {FORMAT}; update veridical."
        raise invalid("from_dict", "data", "of a known format", repr(data["format"]), hint=hint)
    name = data["calibrator"]
    kind = _KNOWN.get(name) if isinstance(name, str) else None
    if kind is None or kind.__abstractmethods__:
        known = [each for each, found in _KNOWN.items() if not found.__abstractmethods__]
        hint = f"it was written by another version; known are {', '.join(sorted(known))}."
        raise invalid("from_dict", "data", "of a known calibrator", repr(name), hint=hint)
    parameters = {key: _decode_value(value) for key, value in data["parameters"].items()}
    strange = set(parameters) - set(kind._get_param_names())
    strange |= {key for key in data["fitted"] if not _is_fitted(key)}
    if strange:
        hint = "pass what `to_dict` returned, unchanged."
        raise invalid("from_dict", "data", "free of foreign entries", repr(min(strange)), hint=hint)
    calibrator: Calibrator = kind(**parameters)
    for key, value in data["fitted"].items():
        setattr(calibrator, key, _decode_value(value))
    if "classes_" in data["fitted"]:
        _check_positive(calibrator)
    return calibrator


def _check_positive(calibrator: Calibrator) -> None:
    """Raise unless the positive class is one of two; in old files it is the larger label."""
    if not hasattr(calibrator, "positive_index_"):
        classes = calibrator.classes_.tolist()
        calibrator.positive_index_ = positive_class(classes, None, caller="from_dict")
    place = calibrator.positive_index_
    if not is_integer(place) or place not in (0, 1):
        hint = "pass what `to_dict` returned, unchanged."
        raise invalid("from_dict", "positive_index_", "0 or 1", repr(place), hint=hint)


def _is_fitted(name: str) -> bool:
    """Whether an attribute was learnt: by scikit-learn's convention it ends in an underscore."""
    return name.endswith("_") and not name.startswith("_")


def _encode_value(value: Any) -> Any:
    if hasattr(value, "get_params") and hasattr(value, "to_dict"):
        return {"calibrator": value.to_dict()}
    if isinstance(value, Fingerprint):
        return {"fingerprint": value.to_dict()}
    if isinstance(value, Evidence):
        return {"evidence": value.to_dict()}
    if isinstance(value, np.ndarray):
        items = [_encode_value(item) for item in value.ravel().tolist()]
        return {"array": items, "shape": list(value.shape), "dtype": value.dtype.str}
    if isinstance(value, np.generic):
        return _encode_value(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, tuple):
        return {"tuple": [_encode_value(item) for item in value]}
    if isinstance(value, (list, range)):
        return [_encode_value(item) for item in value]
    if isinstance(value, dict):
        return {"items": [[_encode_value(k), _encode_value(v)] for k, v in value.items()]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    hint = "calibrators hold numbers, texts, arrays and other calibrators."
    raise invalid("to_dict", "self", "made of plain values", type(value).__name__, hint=hint)


def _decode_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "calibrator" in value:
        return decode(value["calibrator"])
    if "fingerprint" in value:
        return Fingerprint(**value["fingerprint"])
    if "evidence" in value:
        return Evidence.from_dict(value["evidence"])
    if "array" in value:
        items = [_decode_value(item) for item in value["array"]]
        return np.asarray(items, dtype=np.dtype(value["dtype"])).reshape(value["shape"])
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(_decode_value(item) for item in value["tuple"])
    return {_decode_value(k): _decode_value(v) for k, v in value["items"]}
