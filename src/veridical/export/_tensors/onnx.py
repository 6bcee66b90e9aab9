"""Calibrators as ONNX graphs, alone or behind a classifier's own graph."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from veridical._core.data.validation import is_integer
from veridical._core.formula import Formula
from veridical._core.runtime.files import whole_file
from veridical._core.runtime.optional import require
from veridical.calibrators import Calibrator
from veridical.calibrators.formulas import check_exportable, formula_of
from veridical.exceptions import invalid
from veridical.export._tensors.blocks import steps_of
from veridical.export._tensors.onnx_features import (
    ENCODER,
    ENCODER_VERSION,
    code_of,
    feature_inputs,
)
from veridical.export._tensors.onnx_writer import GraphWriter

if TYPE_CHECKING:
    import onnx


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


_OPSET = 17  # read by every runtime since the middle of 2022
_OLDEST = 13  # from which every operator that is used means what it means today
_NAMES = {"probability": "probabilities", "logit": "logits", "score": "scores"}


def to_onnx(
    calibrator: Calibrator,
    path: str | os.PathLike[str] | None = None,
    *,
    one_column: bool = False,
    onto: onnx.ModelProto | None = None,
    output: str | None = None,
    opset: int | None = None,
) -> onnx.ModelProto:
    """Write a fitted calibrator as an ONNX graph, alone or behind a classifier's own.

    Parameters
    ----------
    calibrator : Calibrator
        Fitted.
    path : str or path-like, optional
        File to write as well; replaced if it exists, whole or not at all.
    one_column : bool, default False
        Of two classes, whether the input is only the column of the positive class, `pos_label`.
    onto : onnx.ModelProto, optional
        A classifier's graph, which is copied and continued: the copy ends in calibrated
        probabilities. Other outputs stay; a predicted label among them is the classifier's own.
    output : str, optional
        Which output of `onto` holds the predictions. Default: the only one of floating numbers.
    opset : int, optional
        Version of the standard operators, from 13 on. Default: 17, or that of `onto`.

    Returns
    -------
    onnx.ModelProto
        With the input ``"probabilities"``, ``"logits"`` or ``"scores"``, as the calibrator was
        fitted: doubles of shape (n, K) in the order of `classes_`, or of shape (n,) if
        `one_column`. With `onto`, the inputs are its own. The output ``"calibrated"`` holds doubles
        of shape (n, K) in the order of `classes_`. Of a map of features, each is an input of its
        name and shape (n,): texts, an empty one for a missing value, or doubles, NaN for a missing
        one; dates are seconds since 1970, truth values 0 and 1.

    Raises
    ------
    InvalidInputError
        If the calibrator is not a formula of its inputs (`GroupedCalibrator`,
        `ConfidenceReducedCalibrator`, `SimplexHistogramCalibrator`; `OneVsRestCalibrator` of steps
        on logits of three classes or more), or if `onto` does not end in what it needs.
    MissingDependencyError
        If `onnx` is not installed.

    Notes
    -----
    Only operators of the standard domain are used, and `LabelEncoder` of `ai.onnx.ml` for texts
    of features; all in double precision; single precision from
    a classifier is cast first. A row with NaN, infinity or, of probabilities, a number outside
    [0, 1] gives NaN; that a row's probabilities sum to one is not checked. Results agree with
    `predict_proba` to 1e-12. Steps and pieces are found by binary search, so m of them cost
    O(log m) operations a row.

    The metadata name the class (``veridical.calibrator``), its labels as JSON
    (``veridical.classes``), of two also the positive one (``veridical.positive``), which
    probability each column of the output is in words (``veridical.columns``), the kind of input
    (``veridical.input``) and the version of this package (``veridical.version``). The description
    of the output says the same.

    Examples
    --------
    >>> from veridical.calibrators import HistogramCalibrator
    >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    >>> map = HistogramCalibrator(n_bins=2).fit(p, y)  # 2/5 up to 1/2, 4/5 above
    >>> model = to_onnx(map, one_column=True)
    >>> [each.name for each in (*model.graph.input, *model.graph.output)]
    ['probabilities', 'calibrated']
    >>> import numpy as np
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> session.run(None, {"probabilities": np.array([0.5, 0.6, 7.0])})[0].tolist()
    [[0.6, 0.4], [0.19999999999999996, 0.8], [nan, nan]]
    """
    caller = "to_onnx"
    check_exportable(calibrator, caller)
    if one_column and len(calibrator.classes_) != 2:
        got, hint = f"{len(calibrator.classes_)} classes", "leave `one_column` out."
        raise invalid(caller, "one_column", "False unless there are two classes", got, hint=hint)
    formula = formula_of(calibrator, one_column=one_column, caller=caller)
    module = _onnx()
    if onto is not None and not isinstance(onto, module.ModelProto):
        hint = "read a file with `onnx.load(path)`."
        raise invalid(caller, "onto", "an onnx.ModelProto", type(onto).__name__, hint=hint)
    if output is not None and onto is None:
        hint = "it is an output of the graph given as `onto`."
        raise invalid(caller, "output", "left out without `onto`", repr(output), hint=hint)
    opset = _check_opset(opset, onto, module.defs.onnx_opset_version())
    if onto is None:
        model = _alone(module, formula, opset)
    else:
        model = _behind(module, formula, onto, output, opset)
    _label(module, model, calibrator, formula)
    module.checker.check_model(model)
    if path is not None:
        with whole_file(path) as temporary:
            temporary.write_bytes(model.SerializeToString())
    return model


def _onnx() -> Any:
    module = require("onnx", extra="onnx", purpose="to_onnx")
    for part in ("checker", "defs", "helper", "numpy_helper"):
        require(f"onnx.{part}", extra="onnx", purpose="to_onnx")
    return module


def _check_opset(opset: int | None, onto: Any, newest: int) -> int:
    """Version of the operators to write."""
    if onto is not None:
        given = standard_version(onto) or _OPSET
        if opset is not None and opset != given:
            hint = "convert `onto` first: `onnx.version_converter.convert_version(onto, opset)`."
            raise invalid("to_onnx", "opset", f"{given}, that of `onto`", repr(opset), hint=hint)
        if given < _OLDEST:
            hint = f"`onnx.version_converter.convert_version(onto, {_OPSET})` brings it up to date."
            raise invalid("to_onnx", "onto", f"of opset {_OLDEST} or later", str(given), hint=hint)
        return given
    if opset is None:
        return _OPSET
    if not is_integer(opset) or not _OLDEST <= opset <= newest:
        hint = f"leave it out for {_OPSET}."
        expected = f"an integer from {_OLDEST} to {newest}"
        raise invalid("to_onnx", "opset", expected, repr(opset), hint=hint)
    return int(opset)


def _written(
    module: Any, formula: Formula, opset: int, prefix: str, source: str, *, cast: bool
) -> GraphWriter:
    """Nodes from an input of this name to the output."""
    writer = GraphWriter(module, prefix, opset)
    writer.prepare(source, cast=cast, one_column=formula.n_columns < len(formula.classes))
    if formula.features is not None:
        writer.add_codes([code_of(writer, module, each) for each in formula.features])
    result = writer.write(steps_of(formula))
    probability = formula.input == "probability"
    writer.guard(result, OUTPUT, classes=len(formula.classes), probability=probability)
    return writer


def _alone(module: Any, formula: Formula, opset: int) -> Any:
    helper, name = module.helper, _NAMES[formula.input]
    writer = _written(module, formula, opset, "", name, cast=False)
    rows = ["n"] if formula.n_columns < len(formula.classes) else ["n", formula.n_columns]
    graph = helper.make_graph(
        writer.nodes,
        "calibrator",
        [
            helper.make_tensor_value_info(name, module.TensorProto.DOUBLE, rows),
            *feature_inputs(module, formula.features),
        ],
        [_output(module, formula)],
        writer.initializers,
    )
    from veridical._core.version import __version__

    operators = [helper.make_opsetid("", opset)]
    if formula.features is not None:
        operators.append(helper.make_opsetid(ENCODER, ENCODER_VERSION))
    return helper.make_model(
        graph,
        opset_imports=operators,
        ir_version=helper.find_min_ir_version_for(operators),
        producer_name="veridical",
        producer_version=__version__,
    )


def _behind(module: Any, formula: Formula, onto: Any, output: str | None, opset: int) -> Any:
    feed = find_feed(module, onto, output, formula)
    taken = taken_names(onto.graph)
    if OUTPUT in taken:
        hint = "rename it, or pass the classifier without a calibrator behind it."
        raise invalid("to_onnx", "onto", f"free of the name {OUTPUT!r}", "one with it", hint=hint)
    prefix = "calibrator/"
    while any(name.startswith(prefix) for name in taken):
        prefix = f"{prefix[:-1]}_/"
    single = feed.type.tensor_type.elem_type != module.TensorProto.DOUBLE
    writer = _written(module, formula, opset, prefix, feed.name, cast=single)
    least = module.helper.find_min_ir_version_for([module.helper.make_opsetid("", opset)])
    model = extended(onto, feed, writer, _output(module, formula), least_ir=least, opset=opset)
    if formula.features is not None:
        new = feature_inputs(module, formula.features)
        known = taken & {each.name for each in new}
        if known:
            hint = "rename the columns of features, or the names in `onto`."
            raise invalid("to_onnx", "onto", "free of these names", f"{sorted(known)}", hint=hint)
        model.graph.input.extend(new)
        if all(each.domain != ENCODER for each in model.opset_import):
            model.opset_import.add(domain=ENCODER, version=ENCODER_VERSION)
    return model


def _output(module: Any, formula: Formula) -> Any:
    shape = ["n", len(formula.classes)]
    found = module.helper.make_tensor_value_info(OUTPUT, module.TensorProto.DOUBLE, shape)
    found.doc_string = "; ".join(formula.meaning(k) for k in range(len(formula.classes)))
    return found


def _label(module: Any, model: Any, calibrator: Calibrator, formula: Formula) -> None:
    from veridical._core.version import __version__

    columns = [formula.meaning(k) for k in range(len(formula.classes))]
    notes = {
        "veridical.calibrator": type(calibrator).__name__,
        "veridical.classes": json.dumps(formula.classes, default=str),
        "veridical.columns": json.dumps(columns),
        "veridical.input": formula.input,
        "veridical.version": __version__,
    }
    if len(formula.classes) == 2:
        notes["veridical.positive"] = json.dumps(formula.classes[formula.positive], default=str)
    known = {entry.key: entry.value for entry in model.metadata_props}
    module.helper.set_model_props(model, {**known, **notes})
