"""Formulas of fitted calibrators: the entrance, and maps of any number of classes.

Formulas of calibrators that are made of others.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, TypeVar

import numpy as np

from veridical._core.formula import (
    Clip,
    Column,
    Constant,
    Formula,
    Linear,
    Log,
    LogSumExp,
    Node,
    OfLargest,
    Quotient,
    Share,
    Softmax,
    looks_up,
    minus,
    one_minus,
    total,
)
from veridical._core.typing import FloatArray
from veridical.calibrators import (
    AveragedCalibrator,
    Calibrator,
    ClassConditionalCalibrator,
    DirichletCalibrator,
    EnsembleTemperatureCalibrator,
    IdentityCalibrator,
    MatrixCalibrator,
    MixingCalibrator,
    NotFittedError,
    OneVsRestCalibrator,
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
)
from veridical.exceptions import InvalidInputError, invalid

Nodes = tuple[Node, ...]


def formula_of(calibrator: Calibrator, *, one_column: bool, caller: str) -> Formula:
    """Formula of a fitted calibrator.

    Parameters
    ----------
    calibrator : Calibrator
    one_column : bool
        Of two classes, whether the only column is that of the positive class.
    caller : str
        Who asks, for messages.
    """
    check_exportable(calibrator, caller)
    classes = tuple(np.asarray(calibrator.classes_).tolist())
    positive = int(classes[1] > classes[0]) if len(classes) == 2 else len(classes) - 1
    inputs: Nodes = tuple(Column(k) for k in range(len(classes)))
    if one_column:
        inputs = both_columns(Column(0), calibrator.input)
        inputs = inputs if positive else inputs[::-1]
    try:
        outputs = outputs_of(calibrator, inputs)
    except NoFormulaError as error:
        name, within = error.name, type(calibrator).__name__
        got = name if name == within else f"{within} with {name} in it"
        hint = "send `save(calibrator, path)` and `load` it there, or fit e.g. `AutoCalibrator()`."
        raise invalid(caller, "calibrator", "one that has a formula", got, hint=hint) from None
    n_columns = 1 if one_column else len(classes)
    kind = calibrator.input
    return Formula(n_columns, kind, outputs, positive, classes)  # type: ignore[arg-type]


def check_exportable(calibrator: Any, caller: str) -> None:
    """Raise unless this is a fitted calibrator."""
    if not isinstance(calibrator, Calibrator):
        got = f"the class {calibrator.__name__}" if isinstance(calibrator, type) else None
        hint = "of a `CalibratedClassifier`, its fitted calibrators."
        got = got or type(calibrator).__name__
        raise invalid(caller, "calibrator", "a fitted calibrator", got, hint=hint)
    if not hasattr(calibrator, "classes_"):
        hint = f"call `{type(calibrator).__name__}.fit(y_prob, y)` first."
        error = invalid(caller, "calibrator", "fitted", "one that is not", hint=hint)
        raise NotFittedError(str(error))


class NoFormulaError(InvalidInputError):
    """A calibrator, maybe within another one, is no formula of its inputs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@singledispatch
def outputs_of(calibrator: Calibrator, inputs: Nodes) -> Nodes:
    """Probability of each class as a formula of K inputs; both in the order of `classes_`."""
    raise NoFormulaError(type(calibrator).__name__)


def both_columns(positive: Node, input: str) -> Nodes:
    """Inputs of two classes, the positive one last, from that of the positive one."""
    return (one_minus(positive) if input == "probability" else Constant(0.0), positive)


@outputs_of.register
def _identity(calibrator: IdentityCalibrator, inputs: Nodes) -> Nodes:
    if calibrator.input == "probability":
        return inputs
    return _softmax(inputs)


@outputs_of.register
def _temperature(calibrator: TemperatureCalibrator, inputs: Nodes) -> Nodes:
    scores = _logits(calibrator, inputs)
    return _mixed(_softmax(scores, calibrator.inverse_temperature_), calibrator.mix_)


@outputs_of.register
def _ensemble(calibrator: EnsembleTemperatureCalibrator, inputs: Nodes) -> Nodes:
    scores, share = _logits(calibrator, inputs), 1 - calibrator.mix_
    scaled, raw, uniform = (share * calibrator.weights_).tolist()
    constant = (uniform + calibrator.mix_) / len(scores)
    pairs = zip(_softmax(scores, calibrator.inverse_temperature_), _softmax(scores), strict=True)
    return tuple(Linear(((scaled, cool), (raw, plain)), constant) for cool, plain in pairs)


@outputs_of.register(VectorCalibrator)
@outputs_of.register(MatrixCalibrator)
def _linear(calibrator: VectorCalibrator | MatrixCalibrator, inputs: Nodes) -> Nodes:
    return _softmax_of_linear(calibrator, _logits(calibrator, inputs))


@outputs_of.register
def _dirichlet(calibrator: DirichletCalibrator, inputs: Nodes) -> Nodes:
    features = _logits(calibrator, inputs)
    if calibrator.input != "probability":
        features = _log_softmax(features)
    return _softmax_of_linear(calibrator, features)


@outputs_of.register(StructuredVectorCalibrator)
@outputs_of.register(StructuredMatrixCalibrator)
def _structured(
    calibrator: StructuredVectorCalibrator | StructuredMatrixCalibrator, inputs: Nodes
) -> Nodes:
    scores, inverse = _logits(calibrator, inputs), calibrator.inverse_temperature_
    if calibrator.input_mix_:
        mixed = _mixed(_softmax(scores, inverse), calibrator.input_mix_)
        features: Nodes = tuple(Log(each) for each in mixed)
    else:
        features = _log_softmax(tuple(Linear(((inverse, score),)) for score in scores))
    return _softmax_of_linear(calibrator, features)


def _logits(calibrator: Calibrator, inputs: Nodes) -> Nodes:
    """What maps of several classes are written in: logarithms of probabilities, or logits."""
    if calibrator.input != "probability":
        return inputs
    floor = calibrator.floor_
    return tuple(Log(Clip(each, floor)) for each in inputs)


def _softmax(scores: Nodes, scale: float = 1.0) -> Nodes:
    return tuple(Softmax(scores, k, scale) for k in range(len(scores)))


def _log_softmax(scores: Nodes) -> Nodes:
    whole = LogSumExp(scores)
    return tuple(minus(score, whole) for score in scores)


def _softmax_of_linear(calibrator: Calibrator, features: Nodes) -> Nodes:
    coef: FloatArray = calibrator.coef_
    intercept: FloatArray = calibrator.intercept_
    matrix = coef if coef.ndim == 2 else np.diag(coef)
    scores = tuple(
        Linear(
            tuple((w, x) for w, x in zip(row, features, strict=True) if w),
            constant,
        )
        for row, constant in zip(matrix.tolist(), intercept.tolist(), strict=True)
    )
    return _mixed(_softmax(scores), calibrator.mix_)


def _mixed(outputs: Nodes, mix: float) -> Nodes:
    """A share of the uniform distribution mixed in."""
    if not mix:
        return outputs
    return tuple(Linear(((1 - mix, each),), mix / len(outputs)) for each in outputs)


T = TypeVar("T")


@outputs_of.register
def _averaged(calibrator: AveragedCalibrator, inputs: Nodes) -> Nodes:
    pairs = zip(calibrator.weights_.tolist(), calibrator.parts_, strict=True)
    kept = [(weight, part) for weight, part in pairs if weight]
    inputs = positive_last(calibrator, inputs)
    outputs = [(weight, outputs_of(part, inputs)) for weight, part in kept]
    return positive_last(
        calibrator,
        tuple(
            Linear(tuple((weight, each[k]) for weight, each in outputs)) for k in range(len(inputs))
        ),
    )


@outputs_of.register
def _mixing(calibrator: MixingCalibrator, inputs: Nodes) -> Nodes:
    parts = outputs_of(calibrator.part_, positive_last(calibrator, inputs))
    mix = calibrator.mix_
    mixed = tuple(Linear(((1 - mix, part),), mix / len(parts)) for part in parts)
    return positive_last(calibrator, mixed)


@outputs_of.register
def _one_vs_rest(calibrator: OneVsRestCalibrator, inputs: Nodes) -> Nodes:
    inputs = positive_last(calibrator, inputs)
    if len(calibrator.parts_) == 1:
        return positive_last(calibrator, outputs_of(calibrator.parts_[0], inputs))
    columns = inputs
    if calibrator.input == "logit":
        columns = tuple(
            minus(each, LogSumExp(inputs[:k] + inputs[k + 1 :])) for k, each in enumerate(inputs)
        )
    pairs = zip(calibrator.parts_, columns, strict=True)
    parts = tuple(outputs_of(part, both_columns(x, part.input))[1] for part, x in pairs)
    if calibrator.input == "logit" and looks_up(parts):
        # Odds against the rest differ in the last bit between engines, and a step needs every bit.
        raise NoFormulaError("steps on logits of several classes (fit it to probabilities)")
    otherwise: Nodes = tuple(Constant(share) for share in calibrator.shares_.tolist())
    if calibrator.input == "logit":
        otherwise = tuple(Softmax(inputs, k) for k in range(len(inputs)))
    elif calibrator.input == "probability":
        otherwise = tuple(Quotient(each, total(inputs)) for each in inputs)
    whole = total(parts)
    return tuple(Share(part, whole, rest) for part, rest in zip(parts, otherwise, strict=True))


@outputs_of.register
def _class_conditional(calibrator: ClassConditionalCalibrator, inputs: Nodes) -> Nodes:
    """Keys stay in the order of classes, so that the first of equal ones is chosen there too."""
    chosen = positive_last(calibrator, calibrator.parts_)
    turned = positive_last(calibrator, inputs)
    branches = [outputs_of(part or calibrator.pooled_, turned) for part in chosen]
    branches = [positive_last(calibrator, each) for each in branches]
    return tuple(
        OfLargest(inputs, tuple(branch[k] for branch in branches)) for k in range(len(inputs))
    )


def positive_last(calibrator: Calibrator, items: tuple[T, ...] | list[T]) -> tuple[T, ...]:
    """Of two classes the positive one last; turning twice is not turning."""
    classes = tuple(calibrator.classes_)
    turned = len(classes) == 2 and not classes[1] > classes[0]
    return tuple(items)[::-1] if turned else tuple(items)
