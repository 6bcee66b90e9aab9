"""Features as inputs of an ONNX graph, and the nodes that turn them into codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.data.features import Feature, Features
from veridical.exceptions import invalid
from veridical.export._tensors.onnx_writer import GraphWriter

ENCODER, ENCODER_VERSION = "ai.onnx.ml", 2
_TAKEN = ("probabilities", "logits", "scores", "calibrated")


def feature_inputs(module: Any, features: Features | None) -> list[Any]:
    """An input for each feature, of its name."""
    found = []
    for feature in features or ():
        if not feature.name or feature.name in _TAKEN:
            hint = "rename the column when fitting."
            raise invalid("to_onnx", "calibrator", "free of that name", feature.name, hint=hint)
        text = feature.kind == "text"
        kind = module.TensorProto.STRING if text else module.TensorProto.DOUBLE
        found.append(module.helper.make_tensor_value_info(feature.name, kind, ["n"]))
    return found


def code_of(writer: GraphWriter, module: Any, feature: Feature) -> str:
    """Name of a column of codes, as doubles."""
    double, column = module.TensorProto.DOUBLE, writer.integers([-1, 1])
    if feature.kind == "text":
        values = [*feature.values, ""]
        codes = [*range(feature.n_named), feature.missing]
        found = writer.node(
            "LabelEncoder",
            feature.name,
            domain=ENCODER,
            keys_strings=values,
            values_int64s=codes,
            default_int64=feature.other,
        )
        return writer.node("Reshape", writer.node("Cast", found, to=double), column)
    x = writer.node("Reshape", feature.name, column)
    if feature.edges:
        above = writer.node("Greater", x, writer.doubles(np.array([feature.edges])))
        counted = writer.node("Cast", above, to=double)
        code = writer.node("ReduceSum", counted, writer.integers([1]), keepdims=1)
    else:
        same = writer.node("Equal", x, writer.doubles(np.array([feature.values], dtype=float)))
        steps = np.arange(feature.n_named, dtype=float)[:, None] - feature.other
        known = writer.node("MatMul", writer.node("Cast", same, to=double), writer.doubles(steps))
        code = writer.node("Add", known, writer.doubles(float(feature.other)))
    missing = writer.doubles(float(feature.missing))
    return writer.node("Where", writer.node("IsNaN", x), missing, code)
