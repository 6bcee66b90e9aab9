"""How long a formula would be as SQL, without writing it: texts of a pool of matrices explode."""

from __future__ import annotations

from collections.abc import Sequence

from veridical._core import formula as maths
from veridical._core.formula import Node

_NUMBER, _CALL, _NAME = 20, 40, 8  # letters of a number, a function's call and a column


def length(outputs: Sequence[Node], *, shared: bool = False) -> int:
    """Letters of all outputs, about; `shared` if parts used again are named, not repeated."""
    known: dict[int, int] = {}
    seen: set[tuple[object, ...]] = set()

    def of(node: Node) -> int:
        if id(node) in known:
            return _NAME if shared else known[id(node)]
        found = known[id(node)] = _NAME
        found = known[id(node)] = write(node)
        return found

    def write(node: Node) -> int:
        match node:
            case maths.Column() | maths.Constant():
                return _NUMBER
            case maths.Code():
                return 10 * _CALL
            case maths.Cases():
                tests = sum(len(case) * (_CALL + _NUMBER) for case in node.conditions)
                return 2 * (tests + len(node.conditions) * (_CALL + _NUMBER)) + of(node.of)
            case maths.Linear():
                return sum(of(part) + _NUMBER for _, part in node.terms) + _NUMBER
            case maths.Quotient():
                return of(node.numerator) + of(node.denominator)
            case maths.Log() | maths.Clip() | maths.Logistic():
                return of(node.of) + _CALL
            case maths.Softmax():
                return softmax(node)
            case maths.LogSumExp():
                parts = sum(map(of, node.parts)) + _CALL * len(node.parts)
                return parts if shared else parts * (1 + len(node.parts))
            case maths.Share():
                return of(node.part) + of(node.total) + of(node.otherwise) + _CALL
            case maths.OfLargest():
                keys = sum(map(of, node.keys)) * (1 if shared else len(node.keys))
                return keys + sum(map(of, node.branches)) + _CALL * len(node.keys)
            case maths.Piecewise():
                inside = _NAME if shared else of(node.of)
                compared = inside if node.by is None or shared else of(node.by)
                a_piece = compared + _CALL + _NUMBER + node.degree * (inside + 2 * _NUMBER)
                return of(node.of) + len(node.starts) * a_piece
            case maths.Trees():
                texts = [of(part) for part in node.parts]  # the first question is written once
                asked = sum(2**k * texts[part] for row in node.which for k, part in enumerate(row))
                asked = node.leaves.size * _NAME if shared else asked
                return sum(texts) * shared + asked + node.leaves.size * (_CALL + _NUMBER)

    def softmax(node: maths.Softmax) -> int:
        if shared:
            again = node.key in seen
            seen.add(node.key)
            return _NUMBER if again else sum(of(score) + 2 * _CALL for score in node.scores)
        scores = [of(score) for score in node.scores]
        merged = all(isinstance(score, maths.Linear) for score in node.scores)
        own = 0 if merged else scores[node.index] * len(scores)
        return sum(scores) + own + _CALL * len(scores)

    return sum(map(of, outputs))
