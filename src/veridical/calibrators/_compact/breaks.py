"""Where a map of two classes jumps or bends, read off its formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from veridical._core import formula as maths
from veridical._core.formula import Column, Node
from veridical._core.numeric.bisection import last_within
from veridical._core.typing import FloatArray
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._base.nodes import both_columns

LARGEST = 1.7976931348623157e308


def breaks_of(calibrator: Calibrator) -> FloatArray:
    """Predictions of the positive class beyond which another piece of the map holds, increasing.

    A break belongs to the piece below it. They are exact: what lies on the scale of log odds is
    carried over to that of the predictions, to the last bit.

    Examples
    --------
    >>> from veridical.calibrators import HistogramCalibrator
    >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    >>> breaks_of(HistogramCalibrator(n_bins=2).fit(p, y)).tolist()
    [0.5]
    """
    low, high = (0.0, 1.0) if calibrator.input == "probability" else (-LARGEST, LARGEST)
    inputs = both_columns(Column(0), calibrator.input)
    found: list[FloatArray] = []
    for of, levels, below in _marks(calibrator._formula(inputs)):
        places = levels
        if not isinstance(of, Column):
            places = _carried(_function(of), levels, low, high)
        elif not below:
            places = np.nextafter(levels, -np.inf)
        found.append(places[(places >= low) & (places < high)])
    return np.unique(np.concatenate([np.empty(0), *found]))


def _marks(outputs: tuple[Node, ...]) -> Iterator[tuple[Node, FloatArray, bool]]:
    """Nodes whose value decides, the values at which, and whether those belong to what is below."""
    for each in maths.nodes(outputs):
        if isinstance(each, maths.Piecewise):
            by = each.of if each.by is None else each.by
            yield by, each.edges, each.side == "left"
        elif isinstance(each, maths.Clip):
            limits = [limit for limit in (each.low, each.high) if limit is not None]
            yield each.of, np.array(limits), True
        elif isinstance(each, maths.OfLargest):
            for first, second in zip(each.keys, each.keys[1:], strict=False):
                yield maths.minus(first, second), np.zeros(1), True


def _carried(
    function: Callable[[FloatArray], FloatArray], levels: FloatArray, low: float, high: float
) -> FloatArray:
    """Last prediction on the nearer side of each level, or of none if levels are not reached."""
    ends = function(np.array([low, high]))
    if ends[0] == ends[1]:
        return levels[:0]
    sign = 1.0 if ends[1] > ends[0] else -1.0
    target = sign * levels
    reached = (target >= sign * ends[0]) & (target < sign * ends[1])
    return last_within(lambda v: sign * function(v), target[reached], low, high)


def _function(node: Node) -> Callable[[FloatArray], FloatArray]:
    """A formula of the one input column as a function of arrays."""

    def of(each: Any, v: FloatArray) -> Any:
        match each:
            case maths.Column():
                return v
            case maths.Constant():
                return np.full(len(v), each.value)
            case maths.Linear():
                return sum(
                    (w * of(part, v) for w, part in each.terms), np.full(len(v), each.constant)
                )
            case maths.Quotient():
                return of(each.numerator, v) / of(each.denominator, v)
            case maths.Log():
                return np.log(of(each.of, v))
            case maths.Clip():
                return np.clip(of(each.of, v), each.low, each.high)
            case maths.Logistic():
                from scipy.special import expit

                return expit(of(each.of, v))
            case maths.LogSumExp():
                return np.logaddexp.reduce([of(part, v) for part in each.parts])
        msg = f"a node that nothing is looked up by: {type(each).__name__}"
        raise TypeError(msg)

    def evaluated(v: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return np.asarray(of(node, v), dtype=np.float64)

    return evaluated
