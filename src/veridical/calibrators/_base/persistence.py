"""Calibrators as JSON: parameters and fitted attributes, no code.

What is read is data, not trust. A class declares its fitted attributes in `_fitted`, by the fields
of `_core.data.schema` and by `Part` for calibrators in it, and what holds between them in
`_relations`; parameters are checked as by `fit`. Nothing else is ever set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.features import Features
from veridical._core.data.labels import positive_class
from veridical._core.data.schema import (
    Field,
    Place,
    array_from,
    check_fields,
    check_names,
    is_damaged,
    is_label,
    said,
    shortened,
)
from veridical._core.data.validation import check_option
from veridical.calibrators._base.estimator import Estimator, parameters_of
from veridical.calibrators._base.memory import Fingerprint
from veridical.exceptions import invalid
from veridical.results import Evidence

if TYPE_CHECKING:
    from veridical.calibrators._base.calibrator import Calibrator

FORMAT = 1
_KEYS = {"format", "calibrator", "parameters", "fitted"}
_DEEPEST = 100  # lists and calibrators within each other
# Every class that a file can name, and the module that has it. A file is read by this table alone,
# whatever was imported before; a class that is not in it is never built.
CLASSES = {
    "AutoCalibrator": "veridical.selection",
    **dict.fromkeys(
        (
            "AveragedCalibrator",
            "BBQCalibrator",
            "BetaCalibrator",
            "BoostedCalibrator",
            "CalibrationTree",
            "ChainedCalibrator",
            "ClassConditionalCalibrator",
            "CompactCalibrator",
            "ConfidenceReducedCalibrator",
            "DensityCalibrator",
            "DirichletCalibrator",
            "EnsembleTemperatureCalibrator",
            "GroupedCalibrator",
            "HistogramCalibrator",
            "IdentityCalibrator",
            "IsotonicCalibrator",
            "MatrixCalibrator",
            "MixingCalibrator",
            "NearIsotonicCalibrator",
            "OneVsRestCalibrator",
            "OnlineCalibrator",
            "PlattCalibrator",
            "QuadraticCalibrator",
            "ScalingBinningCalibrator",
            "SegmentCalibrator",
            "SimplexHistogramCalibrator",
            "SplineCalibrator",
            "StructuredMatrixCalibrator",
            "StructuredVectorCalibrator",
            "TemperatureCalibrator",
            "VectorCalibrator",
            "VennAbersCalibrator",
        ),
        "veridical.calibrators",
    ),
}


@dataclass(frozen=True)
class Part(Field):
    """A fitted calibrator in another one.

    It knows classes by their indices, of two the positive one last, and takes what the whole takes.

    Attributes
    ----------
    classes : number of its classes; "K" as many as the whole has
    bare : whether it is a map without classes and floors, which its owner knows
    own_input : whether it takes something else than the whole; the owner's relations say what
    """

    classes: int | str = "K"
    bare: bool = False
    own_input: bool = False

    def _check(self, value: Any, place: Place) -> None:
        from veridical.calibrators._base.calibrator import Calibrator
        from veridical.calibrators._base.features import maps_predictions_alone

        owner = place.owner
        if not isinstance(value, Calibrator):
            raise place.wrong(value, "a calibrator")
        if not maps_predictions_alone(value):
            raise place.wrong(said(type(value).__name__), "a map of predictions alone")
        if not getattr(value, "normalize", True):
            raise place.at("normalize").wrong(value.normalize, "True in a part")
        alike = (value.input == "probability") is (owner.input == "probability")
        if not (alike or self.own_input):
            raise place.at("input").wrong(value.input, f"as in the whole, {owner.input!r}")
        check_saved(value, place, bare=self.bare)
        if not (_fitted_values(value) if self.bare else hasattr(value, "classes_")):
            raise place.wrong(said("one that is not"), "fitted")
        if self.bare:
            return
        wanted = place.sizes["K"] if self.classes == "K" else self.classes
        if len(value.classes_) != wanted:
            found = said(f"{len(value.classes_)}")
            raise place.at("classes_").wrong(found, f"{wanted} classes")
        if wanted == 2 and value.positive_index_ != 1:
            raise place.at("positive_index_").wrong(value.positive_index_, "1 in a part")


def encode(calibrator: Calibrator) -> dict[str, Any]:
    """Return a calibrator as a JSON-safe dictionary."""
    fitted = {name: _encode_value(value) for name, value in _fitted_values(calibrator).items()}
    parameters = parameters_of(calibrator)
    return {
        "format": FORMAT,
        "calibrator": type(calibrator).__name__,
        "parameters": {name: _encode_value(value) for name, value in parameters.items()},
        "fitted": fitted,
    }


def decode(data: Any, *, caller: str = "from_dict") -> Calibrator:
    """Read back what `encode` wrote, in a file or not, and check every value."""
    if is_damaged(data):
        hint = "copy or download it again, or save the calibrator anew."
        got = "a damaged one: its content is not what was written"
        raise invalid(caller, "data", "a saved calibrator", got, hint=hint)
    place = Place(caller)
    calibrator = _decode(data, place)
    check_saved(calibrator, place)
    return calibrator


def _decode(data: Any, place: Place, *, depth: int = 0) -> Calibrator:
    where = place.path or "data"
    if not isinstance(data, dict) or not set(data) >= _KEYS:
        hint = "pass what `to_dict` returned."
        got = type(data).__name__
        raise invalid(place.caller, where, "a saved calibrator", got, hint=hint)
    if data["format"] != FORMAT or isinstance(data["format"], (bool, float)):
        hint = f"this version reads format {FORMAT}; update veridical."
        raise invalid(
            place.caller, where, "of a known format", shortened(data["format"]), hint=hint
        )
    name = data["calibrator"]
    if not isinstance(name, str) or name not in CLASSES:
        hint = "update veridical, or fit the calibrator again."
        raise invalid(
            place.caller, where, "a calibrator that this version knows", shortened(name), hint=hint
        )
    kind = getattr(import_module(CLASSES[name]), name)
    strange = set(data) - _KEYS
    if strange and depth:  # beside the outermost, files may say more
        raise place.at(min(map(str, strange))[:60]).wrong(
            said("it"), "absent: the entry is foreign"
        )
    parameters, fitted = data["parameters"], data["fitted"]
    for each, entries in (("parameters", parameters), ("fitted", fitted)):
        if not isinstance(entries, dict):
            raise place.at(each).wrong(entries, "a record of a saved calibrator")
    owned = replace(place, owner=kind)
    names = {each: Field(optional=each in kind._later) for each in kind._get_param_names()}
    check_names(names, parameters, owned)
    calibrator: Calibrator = kind(
        **{key: _decode_value(each, place.at(key), depth) for key, each in parameters.items()}
    )
    if fitted:
        declared = {each: Field(optional=True) for each in fields_of(kind)}
        check_names(declared, fitted, owned)
    for key, value in fitted.items():
        setattr(calibrator, key, _decode_value(value, place.at(key), depth))
    return calibrator


def fields_of(kind: type[Calibrator]) -> dict[str, Field]:
    """Fitted attributes of a class with those of its bases."""
    found: dict[str, Field] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base).get("_fitted", {})
    return found


def check_saved(calibrator: Calibrator, place: Place, *, bare: bool = False) -> None:
    """Raise unless parameters and fitted values are what the class declares."""
    caller = type(calibrator).__name__
    check_option(caller, "input", calibrator.input, calibrator._inputs)
    check_option(caller, "weight_type", calibrator.weight_type, ("importance", "frequency"))
    labels = calibrator.labels
    if not (labels is None or isinstance(labels, (list, tuple, np.ndarray))):
        raise place.at("labels").wrong(labels, "a list of labels, or None")
    for label in [*(() if labels is None else labels), calibrator.pos_label]:
        if label is not None and not is_label(label):
            raise place.at("labels").wrong(label, "texts, numbers or booleans")
    for name, value in parameters_of(calibrator).items():
        for given in _calibrators_in(value):
            check_saved(given, place.at(name))
    calibrator._check_parameters()
    fitted = _fitted_values(calibrator)
    if not fitted:
        return
    own = replace(place, owner=calibrator, sizes={})
    fields = fields_of(type(calibrator))
    if bare:
        fields = {name: each for name, each in fields.items() if name not in _OF_THE_WHOLE}
    elif "classes_" in fitted and "positive_index_" not in fitted:  # in old files, the larger label
        fields["classes_"].check(fitted["classes_"], own.at("classes_"))
        classes = fitted["classes_"].tolist()
        calibrator.positive_index_ = positive_class(classes, None, caller=place.caller)
        fitted["positive_index_"] = calibrator.positive_index_
    check_fields(fields, fitted, own)
    for name, holds, expected in () if bare else calibrator._relations():
        if not holds:
            raise own.at(name).wrong(getattr(calibrator, name, said("nothing")), expected)


_OF_THE_WHOLE = ("classes_", "positive_index_", "floors_")  # a bare map has none


def _calibrators_in(value: Any) -> Iterator[Calibrator]:
    """Calibrators among the parameters of another one."""
    if isinstance(value, Estimator):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _calibrators_in(each)
    elif isinstance(value, dict):
        yield from _calibrators_in(list(value.values()))


def _fitted_values(calibrator: Calibrator) -> dict[str, Any]:
    """What was learnt: by scikit-learn's convention attributes that end in an underscore."""
    return {
        name: value
        for name, value in vars(calibrator).items()
        if name.endswith("_") and not name.startswith("_")
    }


def _encode_value(value: Any) -> Any:
    if isinstance(value, Estimator):
        return {"calibrator": value.to_dict()}
    if isinstance(value, Fingerprint):
        return {"fingerprint": value.to_dict()}
    if isinstance(value, Evidence):
        return {"evidence": value.to_dict()}
    if isinstance(value, Features):
        return {"features": value.to_dict()}
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


def _decode_value(value: Any, place: Place, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise place.wrong(said("more"), f"at most {_DEEPEST} levels deep")
    if isinstance(value, list):
        return [_decode_value(each, place.item(k), depth + 1) for k, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    kind = next((key for key in value if key in _DECODED), None)
    wanted = {"array", "shape", "dtype"} if kind == "array" else {kind}
    if kind is None or set(value) != wanted:
        raise place.wrong(value, "a value as `to_dict` writes it")
    return _DECODED[kind](value, place, depth + 1)


def _decode_calibrator(value: Any, place: Place, depth: int) -> Any:
    return _decode(value["calibrator"], place, depth=depth)


def _decode_array(value: Any, place: Place, depth: int) -> Any:
    items = value["array"]
    if isinstance(items, list) and any(isinstance(each, (dict, list)) for each in items):
        items = [_decode_value(each, place, depth) for each in items]
    return array_from(items, value["shape"], value["dtype"], place)


def _decode_float(value: Any, place: Place, depth: int) -> Any:
    if value["float"] not in ("nan", "inf", "-inf"):
        raise place.wrong(value["float"], "a number")
    return float(value["float"])


def _decode_tuple(value: Any, place: Place, depth: int) -> Any:
    if not isinstance(value["tuple"], list):
        raise place.wrong(value["tuple"], "a list")
    return tuple(_decode_value(value["tuple"], place, depth))


def _decode_items(value: Any, place: Place, depth: int) -> Any:
    pairs = value["items"]
    good = isinstance(pairs, list) and all(isinstance(p, list) and len(p) == 2 for p in pairs)
    if not good:
        raise place.wrong(pairs, "a list of pairs")
    decoded = [[_decode_value(each, place, depth) for each in pair] for pair in pairs]
    if not all(_is_key(key) for key, _ in decoded):
        raise place.wrong(said("other keys"), "a record of named values")
    return dict(decoded)


def _is_key(value: Any) -> bool:
    return all(map(_is_key, value)) if isinstance(value, tuple) else is_label(value)


def _decode_fingerprint(value: Any, place: Place, depth: int) -> Any:
    return Fingerprint.from_dict(value["fingerprint"], place)


def _decode_features(value: Any, place: Place, depth: int) -> Any:
    return Features.from_dict(value["features"], place)


def _decode_evidence(value: Any, place: Place, depth: int) -> Any:
    return Evidence.from_untrusted(value["evidence"], place)


_DECODED = {
    "calibrator": _decode_calibrator,
    "fingerprint": _decode_fingerprint,
    "evidence": _decode_evidence,
    "features": _decode_features,
    "array": _decode_array,
    "float": _decode_float,
    "tuple": _decode_tuple,
    "items": _decode_items,
}
