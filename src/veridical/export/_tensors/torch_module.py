"""The torch module that runs blocks of columns.

Torch takes seconds to import and may be missing, so the class is made when it is first asked for.
It is found under its name in this file all the same, which is how copies and pickles find it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from veridical._core.formula import Formula
from veridical._core.runtime.optional import require
from veridical.exceptions import invalid
from veridical.export._tensors import blocks

Tensor = Any  # torch.Tensor, without importing it
Tables = dict[str, Any]


def __getattr__(name: str) -> Any:
    if name == "CalibratorModule":
        return module_class()
    raise AttributeError(name)


@cache
def module_class() -> Any:
    """The class of exported modules."""
    torch = require("torch", extra="torch", purpose="to_torch")
    base: Any = torch.nn.Module

    class CalibratorModule(base):  # type: ignore[misc]
        """A fitted calibrator: predictions in, probabilities of shape (n, K) out."""

        __qualname__ = "CalibratorModule"

        def __init__(self, formula: Formula, kind: str, dtype: Any) -> None:
            super().__init__()
            self.kind, self.input = kind, formula.input
            self.classes = list(formula.classes)
            self.columns = [formula.meaning(k) for k in range(len(formula.classes))]
            self._positive = formula.positive
            self._steps = blocks.steps_of(formula)
            self._names: list[list[str]] = []
            self.register_buffer("_one", torch.ones((), dtype=dtype))
            # What keeps from zero must not become zero; doubles are kept as they are.
            floor = torch.finfo(dtype).tiny if dtype != torch.float64 else 0.0
            for place, step in enumerate(self._steps):
                tables = _tables(step, floor)
                self._names.append(list(tables))
                for name, table in tables.items():
                    tensor = torch.from_numpy(table.copy())
                    tensor = tensor.to(dtype) if tensor.is_floating_point() else tensor
                    self.register_buffer(f"_{place}_{name}", tensor)

        def extra_repr(self) -> str:
            about = f"{self.kind} of {self.input}, {len(self.classes)} classes"
            return f"{about}: {'; '.join(self.columns)}" if len(self.classes) == 2 else about

        def forward(self, x: Tensor) -> Tensor:
            """Calibrated probabilities, in the order of `classes`."""
            x = self._read(x)
            values: list[Tensor] = []
            for place, step in enumerate(self._steps):
                tables = {name: getattr(self, f"_{place}_{name}") for name in self._names[place]}
                first = isinstance(step, blocks.Inputs)
                values.append(x if first else _run(step, values, tables, torch))
            possible = x.isfinite() if self.input != "probability" else (x >= 0) & (x <= 1)
            valid = possible.all(dim=1, keepdim=True)
            still = (x * 0).sum(dim=1, keepdim=True)  # gives steps a gradient, which is zero
            return torch.where(valid, values[-1] + still, self._one * torch.nan)

        def _read(self, x: Tensor) -> Tensor:
            count = len(self.classes)
            if count == 2 and x.ndim == 1:
                x = x.to(self._one)
                other = 1 - x if self.input == "probability" else torch.zeros_like(x)
                return torch.stack([other, x] if self._positive else [x, other], dim=1)
            if x.ndim != 2 or x.shape[1] != count:
                expected = f"of shape (n, {count})" + (" or (n,)" if count == 2 else "")
                hint = f"one column for each of {self.classes[:6]}."
                raise invalid("forward", "x", expected, str(tuple(x.shape)), hint=hint)
            return x.to(self._one)

    return CalibratorModule


def _tables(step: blocks.Step, floor: float) -> dict[str, np.ndarray[Any, Any]]:
    """What a step has learnt, by names; positive lower limits not below `floor`."""
    tables: dict[str, np.ndarray[Any, Any]] = {}
    for name, value in vars(step).items():
        if isinstance(value, np.ndarray):
            tables[name] = value
        elif name in ("columns", "counts"):
            tables[name] = np.array(value, dtype=np.int64)
        elif name == "weights":
            tables.update({f"weights{j}": w for j, w in enumerate(value) if w is not None})
    if isinstance(step, blocks.Limit) and step.low is not None:
        tables["low"] = np.where(step.low > 0, np.maximum(step.low, floor), step.low)
    return tables


def _run(step: blocks.Step, values: list[Tensor], tables: Tables, torch: Any) -> Tensor:
    """Compute a step from the results of earlier ones."""
    match step:
        case blocks.Take():
            return values[step.of].index_select(1, tables["columns"])
        case blocks.Join():
            return torch.cat([values[part] for part in step.parts], dim=1)
        case blocks.Fill():
            return tables["values"].expand(values[0].shape[0], -1)
        case blocks.WeightedSum():
            result = tables.get("constants")
            for j, part in enumerate(step.parts):
                weights = tables.get(f"weights{j}")
                term = values[part] if weights is None else values[part] * weights
                result = term if result is None else result + term
            return result
        case blocks.MatrixSum():
            return values[step.of] @ tables["matrix"] + tables["constants"]
        case blocks.Ratio():
            return values[step.numerator] / values[step.denominator]
        case blocks.Logarithm():
            return values[step.of].log()
        case blocks.Limit():
            result = values[step.of]
            if "low" in tables:
                result = torch.maximum(result, tables["low"])
            return torch.minimum(result, tables["high"]) if "high" in tables else result
        case blocks.Sigmoid():
            return values[step.of].sigmoid()
        case blocks.SoftmaxRows():
            scores = values[step.of]
            if step.scale != 1:  # the largest first, so that large scores keep their last digits
                scores = (scores - scores.detach().amax(dim=1, keepdim=True)) * step.scale
            return scores.softmax(dim=1)
        case blocks.LogSumExpRows():
            return values[step.of].logsumexp(dim=1, keepdim=True)
        case blocks.ShareOf():
            total = values[step.total]
            nothing = total == 0
            # Without ones instead of zeros, gradients are NaN there.
            safe = torch.where(nothing, torch.ones_like(total), total)
            return torch.where(nothing, values[step.otherwise], values[step.part] / safe)
        case blocks.Choice():
            place = values[step.keys].argmax(dim=1, keepdim=True)
            *others, last = step.branches
            result = values[last]
            for k, branch in enumerate(others):
                result = torch.where(place == k, values[branch], result)
            return result
        case blocks.Lookup():
            return _looked_up(step, values, tables, torch)
        case blocks.SumOfTrees():
            return _summed(step, values, tables, torch)
    msg = f"a step that cannot be run: {type(step).__name__}"
    raise TypeError(msg)


def _summed(step: blocks.SumOfTrees, values: list[Tensor], tables: Tables, torch: Any) -> Tensor:
    n_trees, depth = step.which.shape
    asked = values[step.of].detach()[:, tables["which"].ravel()]
    passed = (asked > tables["edges"].ravel()).reshape(-1, n_trees, depth)
    bits = 2 ** torch.arange(depth - 1, -1, -1, device=passed.device)
    first = torch.arange(n_trees, device=passed.device) * 2**depth
    leaf = (passed * bits).sum(dim=2) + first
    return torch.nn.functional.embedding_bag(leaf, tables["leaves"].flatten(0, 1), mode="sum")


def _looked_up(step: blocks.Lookup, values: list[Tensor], tables: Tables, torch: Any) -> Tensor:
    columns, compared = values[step.of].T, values[step.by].T.contiguous()  # one row a table
    place = torch.searchsorted(tables["edges"], compared.detach(), right=step.above)
    place = torch.minimum(place, tables["counts"][:, None])
    terms = [each.gather(1, place) for each in tables["coefficients"]]
    result = terms.pop()
    if step.starts is not None:
        away = columns - tables["starts"].gather(1, place)
        while terms:
            result = terms.pop() + away * result
    return result.T
