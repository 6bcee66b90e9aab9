"""Formulas of calibrators that are made of others."""

from __future__ import annotations

from typing import TypeVar

from veridical._core.formula import (
    Constant,
    Linear,
    LogSumExp,
    OfLargest,
    Quotient,
    Share,
    Softmax,
    looks_up,
    minus,
    total,
)
from veridical.calibrators import (
    AveragedCalibrator,
    Calibrator,
    ClassConditionalCalibrator,
    MixingCalibrator,
    OneVsRestCalibrator,
)
from veridical.calibrators.formulas._maps import Nodes, NoFormulaError, both_columns, outputs_of

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
