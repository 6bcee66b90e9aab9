"""Blocks of columns as nodes of an ONNX graph, all of them standard operators in double."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import FloatArray
from veridical.export._tensors import blocks

_FAR = 709.0  # exp of more is infinite
_TABLE_BITS = 9  # of the leaves of several trees
_REDUCE_AXES_ARE_INPUTS = 18  # version of the operators from which ReduceMax takes axes so


class GraphWriter:
    """Nodes and initialisers of one graph; equal ones are kept once.

    Parameters
    ----------
    onnx : the module
    prefix : what every name begins with
    opset : version of the standard operators
    """

    def __init__(self, onnx: Any, prefix: str, opset: int) -> None:
        self._onnx, self._prefix, self._opset = onnx, prefix, opset
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._computed: dict[tuple[Any, ...], str] = {}
        self._steps: tuple[blocks.Step, ...] = ()
        self._values: list[str] = []  # names of the results of steps
        self._inputs, self._columns = "", 2
        self._predictions = ""
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def prepare(self, name: str, *, cast: bool, one_column: bool) -> None:
        """Read the input of this name as a table of doubles."""
        if cast:
            name = self.node("Cast", name, to=self._onnx.TensorProto.DOUBLE)
        self._columns = 1 if one_column else 2
        if one_column:
            name = self.node("Reshape", name, self.integers([-1, 1]))
        self._inputs = self._predictions = name

    def add_codes(self, codes: list[str]) -> None:
        """Put codes of features, each a column, beside the predictions."""
        self._inputs = self.node("Concat", self._predictions, *codes, axis=1)

    def write(self, steps: tuple[blocks.Step, ...]) -> str:
        """Write every step; name of the last one's result."""
        self._steps = steps
        for step in steps:
            self._values.append(self._write(step))
        return self._values[-1]

    def guard(self, result: str, output: str, *, classes: int, probability: bool) -> None:
        """Write the output: the result, or NaN in rows with an input that cannot be."""
        x = self._predictions
        if probability:
            above = self.node("GreaterOrEqual", x, self.doubles(0.0))
            below = self.node("LessOrEqual", x, self.doubles(1.0))
            valid = self.node("And", above, below)
        else:
            largest = self.doubles(np.finfo(np.float64).max)
            valid = self.node("LessOrEqual", self.node("Abs", x), largest)
        counted = self.node("Cast", valid, to=self._onnx.TensorProto.DOUBLE)
        flaw = self.node("Div", self.doubles(0.0), counted)  # 0 / 0 is NaN; faster than Where
        if self._columns > 1:
            flaw = self.node("ReduceSum", flaw, self.integers([1]), keepdims=1)
        # A column beside a table is added entry by entry; as a table of its own it is not.
        flaws = self.node("MatMul", flaw, self.doubles(np.ones((1, classes))))
        self.node("Add", result, flaws, output=output)
        self._drop_unused(output)

    def _drop_unused(self, output: str) -> None:
        """Leave out what nothing that is asked for needs."""
        needed, kept = {output}, []
        for each in reversed(self.nodes):
            if needed.intersection(each.output):
                needed.update(each.input)
                kept.append(each)
        self.nodes = kept[::-1]
        self.initializers = [each for each in self.initializers if each.name in needed]

    def node(
        self, operator: str, *inputs: str, output: str | None = None, **attributes: Any
    ) -> str:
        """Name of an operator's result; what was computed before is not computed again."""
        key = (operator, inputs, *((name, str(value)) for name, value in attributes.items()))
        if output is None and key in self._computed:
            return self._computed[key]
        name = f"{self._prefix}{operator}_{len(self.nodes)}"
        self.nodes.append(
            self._onnx.helper.make_node(operator, inputs, [output or name], name=name, **attributes)
        )
        self._computed[key] = output or name
        return self._computed[key]

    def doubles(self, values: FloatArray | float) -> str:
        """Name of an initialiser; a single number is a table of one, as fast runtimes want it."""
        return self._initializer(np.asarray([[values]] if np.ndim(values) == 0 else values))

    def integers(self, values: Any) -> str:
        """Name of an initialiser of whole numbers."""
        return self._initializer(np.asarray(values, dtype=np.int64))

    def _initializer(self, array: np.ndarray[Any, Any]) -> str:
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = f"{self._prefix}constant_{len(self._known)}"
            self.initializers.append(self._onnx.numpy_helper.from_array(array, self._known[key]))
        return self._known[key]

    def _largest(self, name: str) -> str:
        if self._opset < _REDUCE_AXES_ARE_INPUTS:
            return self.node("ReduceMax", name, axes=(1,), keepdims=1)
        return self.node("ReduceMax", name, self.integers([1]), keepdims=1)

    def _write(self, step: blocks.Step) -> str:
        values = self._values
        match step:
            case blocks.Inputs():
                return self._inputs
            case blocks.Take():
                return self.node("Gather", values[step.of], self.integers(step.columns), axis=1)
            case blocks.Join():
                return self.node("Concat", *(values[part] for part in step.parts), axis=1)
            case blocks.Fill():
                rows = self.node("Gather", self.node("Shape", self._inputs), self.integers([0]))
                shape = self.node("Concat", rows, self.integers([len(step.values)]), axis=0)
                return self.node("Expand", self.doubles(step.values[None, :]), shape)
            case blocks.WeightedSum():
                return self._weighted_sum(step)
            case blocks.MatrixSum():
                product = self.node("MatMul", values[step.of], self.doubles(step.matrix))
                return self.node("Add", product, self.doubles(step.constants[None, :]))
            case blocks.Ratio():
                return self.node("Div", values[step.numerator], values[step.denominator])
            case blocks.Logarithm():
                return self.node("Log", values[step.of])
            case blocks.Limit():
                result = values[step.of]
                if step.low is not None:
                    result = self.node("Max", result, self.doubles(step.low[None, :]))
                if step.high is not None:
                    result = self.node("Min", result, self.doubles(step.high[None, :]))
                return result
            case blocks.Sigmoid():
                return self._sigmoid(step)
            case blocks.SoftmaxRows():
                # The largest first, so that large scores keep their last digits.
                scores = values[step.of]
                if step.scale != 1:
                    scores = self.node("Sub", scores, self._largest(scores))
                    scores = self.node("Mul", scores, self.doubles(step.scale))
                return self.node("Softmax", scores, axis=1)
            case blocks.LogSumExpRows():
                return self._log_sum_exp(step)
            case blocks.ShareOf():
                total = values[step.total]
                nothing = self.node("Equal", total, self.doubles(0.0))
                share = self.node("Div", values[step.part], total)
                return self.node("Where", nothing, values[step.otherwise], share)
            case blocks.Choice():
                return self._choice(step)
            case blocks.Lookup():
                return self._lookup(step)
            case blocks.SumOfTrees():
                return self._sum_of_trees(step)
        msg = f"a step that cannot be written: {type(step).__name__}"
        raise TypeError(msg)

    def _weighted_sum(self, step: blocks.WeightedSum) -> str:
        result = "" if step.constants is None else self.doubles(step.constants[None, :])
        for part, weights in zip(step.parts, step.weights, strict=True):
            term = self._values[part]
            if result and weights is not None and bool((weights == -1).all()):
                result = self.node("Sub", result, term)
                continue
            if weights is not None:
                term = self.node("Mul", term, self.doubles(weights[None, :]))
            result = self.node("Add", result, term) if result else term
        return result

    def _sigmoid(self, step: blocks.Sigmoid) -> str:
        """1 / (1 + e) with e = exp(-x), several times faster than the operator of that name.

        Of -x, whose x is there, it is e / (1 + e): the powers of two classes are computed once.
        """
        turned, source, negative = self._steps[step.of], step.of, False
        if isinstance(turned, blocks.WeightedSum) and turned.constants is None:
            weights = turned.weights
            if len(weights) == 1 and weights[0] is not None and bool((weights[0] == -1).all()):
                source, negative = turned.parts[0], True
        x = self._values[source]
        power = self.node("Exp", self.node("Min", self.node("Neg", x), self.doubles(_FAR)))
        result = self.node("Reciprocal", self.node("Add", power, self.doubles(1.0)))
        return self.node("Mul", power, result) if negative else result

    def _log_sum_exp(self, step: blocks.LogSumExpRows) -> str:
        parts = self._values[step.of]
        top = self._largest(parts)
        powers = self.node("Exp", self.node("Sub", parts, top))
        total = self.node("ReduceSum", powers, self.integers([1]), keepdims=1)
        return self.node("Add", top, self.node("Log", total))

    def _choice(self, step: blocks.Choice) -> str:
        place = self.node("ArgMax", self._values[step.keys], axis=1, keepdims=1)
        *others, last = step.branches
        result = self._values[last]
        for k, branch in enumerate(others):
            here = self.node("Equal", place, self.integers(k))
            result = self.node("Where", here, self._values[branch], result)
        return result

    def _sum_of_trees(self, step: blocks.SumOfTrees) -> str:
        """A few trees at a time, whose leaves are one table: memory grows with rows alone."""
        depth, n_columns = step.which.shape[1], step.leaves.shape[-1]
        at_once, result = max(1, _TABLE_BITS // depth), ""
        double, whole = self._onnx.TensorProto.DOUBLE, self._onnx.TensorProto.INT32
        for group in row_blocks(len(step.which), at_once):
            which, edges = step.which[group].ravel(), step.edges[group].ravel()
            table, *others = step.leaves[group]
            for leaves in others:
                table = (table[:, None] + leaves).reshape(-1, n_columns)
            asked = self.node("Gather", self._values[step.of], self.integers(which), axis=1)
            passed = self.node("Greater", asked, self.doubles(edges[None, :]))
            bits = 2.0 ** np.arange(len(which) - 1, -1, -1)
            answers = self.node("Cast", passed, to=double)
            leaf = self.node("MatMul", answers, self.doubles(bits[:, None]))
            leaf = self.node("Squeeze", self.node("Cast", leaf, to=whole), self.integers([1]))
            part = self.node("Gather", self.doubles(table), leaf, axis=0)
            result = self.node("Add", result, part) if result else part
        return result

    def _lookup(self, step: blocks.Lookup) -> str:
        """Binary search of all rows and columns at once: as many rounds as halvings of a table.

        Tables are looked up by `GatherElements`, which in ONNX Runtime is ten times as fast as
        `Gather`, and takes one long column: that of all columns after each other, row by row.
        """
        of, by, (count, width) = self._values[step.of], self._values[step.by], step.edges.shape
        edges = np.pad(step.edges, ((0, 0), (0, 1)), constant_values=np.inf)
        edges[np.arange(width + 1) >= np.array(step.counts)[:, None]] = np.nan  # below nothing
        place = self._initializer(np.arange(count, dtype=np.int32)[None, :])
        whole, compare = self._onnx.TensorProto.INT32, "LessOrEqual" if step.above else "Less"
        size = width + 1
        while size > 1:  # the middles of all intervals that are left, each level a table
            middles = edges[:, size // 2 - 1 :: size].ravel()
            if size > width:  # the first is the same for all rows
                middle = self.doubles(middles[None, :])
            else:
                middle = self._looked_up(middles, place, count)
            passed = self.node("Cast", self.node(compare, middle, by), to=whole)
            place = self.node("Add", self.node("Add", place, place), passed)
            size //= 2
        terms = [self._looked_up(each.ravel(), place, count) for each in step.coefficients]
        result = terms.pop()
        if step.starts is not None:
            away = self.node("Sub", of, self._looked_up(step.starts.ravel(), place, count))
            while terms:
                result = self.node("Add", terms.pop(), self.node("Mul", away, result))
        return result

    def _looked_up(self, table: FloatArray, place: str, columns: int) -> str:
        """Entries of a table at places that are a block of so many columns."""
        line = self.node("Reshape", place, self.integers([-1]))
        found = self.node("GatherElements", self.doubles(table), line, axis=0)
        return self.node("Reshape", found, self.integers([-1, columns]))
