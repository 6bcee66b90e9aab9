"""Pieces that the formulas of several calibrators have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from veridical._core.formula import (
    Clip,
    Constant,
    Linear,
    Log,
    Logistic,
    LogSumExp,
    Node,
    Nodes,
    Piecewise,
    Quotient,
    Softmax,
    minus,
    one_minus,
)
from veridical._core.typing import FloatArray
from veridical.calibrators._base.scales import FARTHEST
from veridical.exceptions import InvalidInputError

if TYPE_CHECKING:
    from veridical.calibrators._base.bases import BinaryCalibrator
    from veridical.calibrators._base.calibrator import Calibrator

T = TypeVar("T")


class NoFormulaError(InvalidInputError):
    """A calibrator, maybe within another one, is no formula of its inputs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def both_columns(positive: Node, input: str) -> Nodes:
    """Inputs of two classes, the positive one last, from that of the positive one."""
    return (one_minus(positive) if input == "probability" else Constant(0.0), positive)


def positive_class_last(items: tuple[T, ...] | list[T], positive: int) -> tuple[T, ...]:
    """Of two classes the positive one last; turning twice is not turning."""
    return tuple(items) if positive else tuple(items)[::-1]


def positive_value(calibrator: BinaryCalibrator, inputs: Nodes) -> Node:
    """Score of the positive class."""
    positive = calibrator.positive_index_
    if calibrator.input == "probability":
        return inputs[positive]
    return minus(inputs[positive], inputs[1 - positive])


def floored_pair(calibrator: BinaryCalibrator, inputs: Nodes) -> tuple[Node, Node]:
    """Probabilities of the positive and the negative class, kept from zero."""
    positive = calibrator.positive_index_
    low, high = calibrator.floors_
    return Clip(inputs[positive], low), Clip(inputs[1 - positive], high)


def log_odds_of(calibrator: BinaryCalibrator, inputs: Nodes) -> Node:
    """Log odds of the positive class as the map was fitted to them; scores as they are."""
    if calibrator.input == "probability":
        return Log(Quotient(*floored_pair(calibrator, inputs)))
    value = positive_value(calibrator, inputs)
    return Clip(value, -FARTHEST, FARTHEST) if calibrator.input == "logit" else value


def outputs_from_log_odds(calibrator: BinaryCalibrator, odds: Node) -> Nodes:
    """Both probabilities from calibrated log odds of the positive class."""
    pair = (Logistic(Linear(((-1.0, odds),))), Logistic(odds))
    return positive_class_last(pair, calibrator.positive_index_)


def outputs_from_positive(calibrator: BinaryCalibrator, p: Node) -> Nodes:
    """Both probabilities from that of the positive class."""
    pair = (one_minus(p), p)
    return positive_class_last(pair, calibrator.positive_index_)


def outputs_from_parabolas(
    calibrator: BinaryCalibrator, inputs: Nodes, knots: FloatArray, inside: FloatArray
) -> Nodes:
    """Log odds by parabolas between knots, by lines that rise or are level outside."""
    constant, linear, square = inside[:, -1].tolist()
    width = float(knots[-1] - knots[-2])
    last = constant + width * (linear + width * square)
    lines = np.array(
        [
            [inside[0, 0], last],
            [max(float(inside[1, 0]), 0.0), max(linear + 2 * width * square, 0.0)],
            [0.0, 0.0],
        ]
    )
    coefficients = np.column_stack([lines[:, :1], inside, lines[:, 1:]])
    starts = np.append(knots[0], knots)
    odds = Piecewise(log_odds_of(calibrator, inputs), knots, "right", starts, coefficients)
    return outputs_from_log_odds(calibrator, odds)


def logits_of(calibrator: Calibrator, inputs: Nodes) -> Nodes:
    """What maps of several classes are written in: logarithms of probabilities, or logits."""
    if calibrator.input != "probability":
        return inputs
    floor = calibrator.floor_
    return tuple(Log(Clip(each, floor)) for each in inputs)


def softmax_of(scores: Nodes, scale: float = 1.0) -> Nodes:
    """Softmax of all scores times a number."""
    return tuple(Softmax(scores, k, scale) for k in range(len(scores)))


def log_softmax_of(scores: Nodes) -> Nodes:
    """Logarithms of their softmax."""
    total = LogSumExp(scores)
    return tuple(minus(score, total) for score in scores)


def mixed_with_uniform(outputs: Nodes, mix: float) -> Nodes:
    """A share of the uniform distribution mixed in."""
    if not mix:
        return outputs
    return tuple(Linear(((1 - mix, each),), mix / len(outputs)) for each in outputs)
