"""A classifier's ONNX graph, continued by a calibrator."""

from __future__ import annotations

from typing import Any

from veridical._core.formula import Formula
from veridical.exceptions import invalid
from veridical.export._onnx_writer import GraphWriter

OUTPUT = "calibrated"


def find_feed(module: Any, onto: Any, name: str | None, formula: Formula) -> Any:
    """Output of a graph that holds the predictions to calibrate."""
    floats = {
        getattr(module.TensorProto, kind) for kind in ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")
    }
    found = [
        each
        for each in onto.graph.output
        if each.type.WhichOneof("value") == "tensor_type"
        and each.type.tensor_type.elem_type in floats
    ]
    names = [each.name for each in onto.graph.output]
    if name is None:
        if len(found) != 1:
            expected = "given, as not exactly one output of `onto` holds floating numbers"
            hint = f"one of {names}. {_zipmap(onto)}".strip()
            raise invalid("to_onnx", "output", expected, "none", hint=hint)
        feed = found[0]
    else:
        chosen = [each for each in found if each.name == name]
        if not chosen:
            hint = f"`onto` has the outputs {names}. {_zipmap(onto)}".strip()
            expected = "an output of floating numbers"
            raise invalid("to_onnx", "output", expected, repr(name), hint=hint)
        feed = chosen[0]
    _check_shape(feed, formula)
    return feed


def _zipmap(onto: Any) -> str:
    if all(node.op_type != "ZipMap" for node in onto.graph.node):
        return ""
    return "Convert the classifier with `options={'zipmap': False}`, so that it ends in a table."


def _check_shape(feed: Any, formula: Formula) -> None:
    """Raise if the shape is known and cannot be right."""
    tensor = feed.type.tensor_type
    if not tensor.HasField("shape"):
        return
    sizes = [each.dim_value if each.HasField("dim_value") else None for each in tensor.shape.dim]
    one_column = formula.n_columns < len(formula.classes)
    fits = len(sizes) == 2 and sizes[1] in (None, formula.n_columns)
    if fits or (one_column and len(sizes) == 1):
        return
    shape = f"({', '.join('?' if size is None else str(size) for size in sizes)})"
    expected = f"an output of shape (n, {formula.n_columns})"
    hint = f"one column for each of {list(formula.classes)[:6]}."
    if len(formula.classes) == 2:
        hint = "of two classes: `one_column=True` for one column, False for two."
    raise invalid("to_onnx", "output", expected, f"{feed.name!r} of {shape}", hint=hint)


def standard_version(model: Any) -> int | None:
    """Version of the standard operators that a model uses, if it does."""
    found = [each.version for each in model.opset_import if each.domain in ("", "ai.onnx")]
    return max(found) if found else None


def taken_names(graph: Any) -> set[str]:
    """Every name in a graph."""
    named = (graph.input, graph.output, graph.value_info, graph.initializer, graph.node)
    names = {each.name for part in named for each in part}
    return names.union(*(node.output for node in graph.node))


def extended(
    onto: Any, feed: Any, writer: GraphWriter, output: Any, *, least_ir: int, opset: int
) -> Any:
    """Copy of a model with more nodes behind, and its fed output replaced.

    A copy is continued instead of two models merged (`onnx.compose`), so that everything else of
    the classifier stays: its producer, notes, functions and shapes.
    """
    model = type(onto)()
    model.CopyFrom(onto)
    graph = model.graph
    graph.node.extend(writer.nodes)
    graph.initializer.extend(writer.initializers)
    place = [each.name for each in graph.output].index(feed.name)
    if feed.name not in {each.name for each in (*graph.value_info, *graph.input)}:
        graph.value_info.add().CopyFrom(feed)
    graph.output[place].CopyFrom(output)
    model.ir_version = max(model.ir_version, least_ir)
    if standard_version(model) is None:
        model.opset_import.add(domain="", version=opset)
    return model
