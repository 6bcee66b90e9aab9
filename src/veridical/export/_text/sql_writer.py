"""Formulas as SQL expressions."""

from __future__ import annotations

import re
from typing import Any, assert_never

from veridical._core import formula as maths
from veridical._core.data.groups import MISSING_KEY
from veridical._core.formula import Formula, Node
from veridical.exceptions import invalid
from veridical.export._text.sql_dialects import Dialect, signed
from veridical.export._text.sql_features import FeatureTests

_BRANCHES = 16  # of a CASE where a parser's stack is small
_FAR = 600.0  # exp(-600) is 1e-261: neither it nor a small share of it leaves the doubles
# Inputs below count as zero where underflow is an error. A logit may be squared, a probability not.
_TINY = {"probability": 1e-300, "logit": 1e-130, "score": 1e-130}
_SLIGHT = {"probability": 1e-20, "logit": 1e-170, "score": 1e-170}  # weights below change nothing
_LARGEST_DOUBLE = 1.7976931348623157e308


class Writer:
    """Writes nodes in one dialect."""

    def __init__(
        self,
        dialect: Dialect,
        names: list[str],
        input: str,
        features: FeatureTests | None = None,
    ) -> None:
        self._dialect, self._features = dialect, features
        self._columns = [dialect.double(dialect.quote(name)) for name in names]
        self._tiny, self._slight = _TINY[input], _SLIGHT[input]
        self._as_given = not dialect.traps_underflow
        self._written: dict[tuple[int, bool], str] = {}

    def _number(self, value: float) -> str:
        return self._dialect.number(maths.number(value))

    def guarded(self, formula: Formula, text: str) -> str:
        """Guard an expression: NULL where an input is missing or cannot be what it should be."""
        text = f"CASE WHEN {self.tests(formula)} THEN\n{text}\nEND"
        if self._dialect.stack is not None and self._depth(text) > self._dialect.stack:
            hint = "use `to_python` or another dialect."
            if formula.input != "probability":  # odds against the rest are what nests
                hint = "use `to_python`, another dialect, or a calibrator fitted to probabilities."
            got = "one that nests deeper than the parser allows"
            raise invalid("to_sql", "calibrator", "of a shallow formula", got, hint=hint)
        return text

    def tests(self, formula: Formula) -> str:
        """Condition that all inputs are there and can be what they should be."""
        low, high = (0.0, 1.0) if formula.input == "probability" else (None, None)
        least = self._number(-_LARGEST_DOUBLE if low is None else low)
        limits = f"{least} AND {self._number(_LARGEST_DOUBLE if high is None else high)}"
        return " AND ".join(f"{column} BETWEEN {limits}" for column in self._columns)

    def of_groups(self, column: str, pooled: Node, groups: list[tuple[Any, float, Node]]) -> str:
        """Write an average of a group's own output and that of all rows, which others have alone.

        `groups` are keys, shares and own outputs. What all rows say is written once.
        """
        name = self._dialect.quote(column)
        texts = any(isinstance(key, str) and key != MISSING_KEY for key, _, _ in groups)
        tests = [self._is_key(name, key, texts=texts) for key, _, _ in groups]
        if not groups:
            return self.write(pooled)
        own = "".join(
            f"WHEN {test} THEN {self._number(share)} * {self.write(output)}\n"
            for test, (_, share, output) in zip(tests, groups, strict=True)
        )
        rest = "".join(
            f"WHEN {test} THEN {self._number(1 - share)}\n"
            for test, (_, share, _) in zip(tests, groups, strict=True)
        )
        zero, one = self._number(0.0), self._number(1.0)
        return f"(CASE\n{own}ELSE {zero} END + CASE\n{rest}ELSE {one} END * {self.write(pooled)})"

    def _is_key(self, name: str, key: object, *, texts: bool) -> str:
        """Whether a column, maybe of texts, holds a key: text, number or boolean.

        The key of missing ones may be there as a text.
        """
        if isinstance(key, bool):
            return f"{name} = {'TRUE' if key else 'FALSE'}"
        if isinstance(key, int):
            return f"{name} = {signed(str(int(key)))}"
        if isinstance(key, float):
            return f"{name} = {self._number(key)}"
        if not isinstance(key, str):
            hint = "write dates and others as text before fitting, and in the table."
            got = f"{key!r} of type {type(key).__name__}"
            raise invalid("to_sql", "calibrator", "of groups of plain keys", got, hint=hint)
        same = f"{name} = {self._dialect.text(key)}"
        if key != MISSING_KEY:
            return same
        return f"({name} IS NULL OR {same})" if texts else f"{name} IS NULL"

    def _depth(self, text: str) -> int:
        """Entries a parser keeps at most, about: an operator and a bracket, or a CASE so far."""
        for column in self._columns:
            text = text.replace(column, "x")
        deepest = now = 10
        for mark in re.findall(r"[()]|\bCASE\b|\bEND\b", text):
            now += {"(": 3, ")": -3, "CASE": 5, "END": -5}[mark]
            deepest = max(deepest, now)
        return deepest

    def write(self, node: Node) -> str:
        """Write a node as an expression that can stand beside any operator."""
        key = (id(node), self._as_given)
        if key not in self._written:
            self._written[key] = self._write(node)
        return self._written[key]

    def _compared(self, node: Node) -> str:
        """Write a node that is only compared: its columns as they are, however small."""
        before, self._as_given = self._as_given, True
        text = self.write(node)
        self._as_given = before
        return text

    def _write(self, node: Node) -> str:
        match node:
            case maths.Column():
                # A column as given, or zero instead of what a product might make too small.
                text = self._columns[node.index]
                if self._as_given:
                    return text
                return (
                    f"CASE WHEN ABS({text}) < {self._number(self._tiny)} THEN 0.0 ELSE {text} END"
                )
            case maths.Constant():
                return self._number(node.value)
            case maths.Linear():
                return self._weighted(list(node.terms), node.constant)
            case maths.Quotient():
                return f"({self.write(node.numerator)} / {self.write(node.denominator)})"
            case maths.Log():
                return f"LN({self.write(node.of)})"
            case maths.Clip():
                return self._clip(node)
            case maths.Logistic():
                return f"(1.0 / (1.0 + {self._exp(self._weighted([(-1.0, node.of)], 0.0))}))"
            case maths.Softmax():
                return self._softmax(node)
            case maths.LogSumExp():
                return self._log_sum_exp(node)
            case maths.Share():
                part, whole = self.write(node.part), self.write(node.total)
                return f"COALESCE({part} / NULLIF({whole}, 0.0), {self.write(node.otherwise)})"
            case maths.OfLargest():
                return self._of_largest(node)
            case maths.Piecewise():
                return self._pieces(node)
            case maths.Trees():
                return self._trees(node)
            case maths.Code():
                return self._tests.code(node.index)
            case maths.Cases():
                return self._cases(node)
        assert_never(node)

    @property
    def _tests(self) -> FeatureTests:
        assert self._features is not None, "a formula of features is written with their columns"
        return self._features

    def _cases(self, node: maths.Cases) -> str:
        """A sum of offsets, and one of slopes times what they belong to, which is written once."""
        tests = [self._tests.all_hold(case) for case in node.conditions]
        offsets = self._of_cases(tests, node.offsets.tolist(), exclusive=node.exclusive)
        if not node.slopes.any():
            return offsets
        slopes = self._of_cases(tests, node.slopes.tolist(), exclusive=node.exclusive)
        return f"({offsets} + {slopes} * {self.write(node.of)})"

    def _of_cases(self, tests: list[str], values: list[float], *, exclusive: bool) -> str:
        zero, number = self._number(0.0), self._number
        kept = [(test, value) for test, value in zip(tests, values, strict=True) if value]
        if exclusive:
            pairs = zip(tests[:-1], values[:-1], strict=True)
            cases = "".join(f"WHEN {test} THEN {number(value)}\n" for test, value in pairs)
            return f"CASE\n{cases}ELSE {number(values[-1])} END"
        terms = [f"CASE WHEN {test} THEN {number(v)} ELSE {zero} END\n" for test, v in kept]
        return balanced(terms or [zero])

    def _clip(self, node: maths.Clip) -> str:
        raised = node.low is not None and node.low >= self._tiny  # to where nothing is too small
        raised = raised and not any(_shrinks(each) for each in maths.nodes(node.of))
        text = self._compared(node.of) if raised else self.write(node.of)
        if node.low is not None:
            text = self._largest([text, self._number(node.low)])
        if node.high is not None:
            text = f"{self._dialect.smallest}({text}, {self._number(node.high)})"
        return text

    def _softmax(self, node: maths.Softmax) -> str:
        """1 / sum of exp(s_j - s_k): no largest score is needed, which SQL could not name."""
        chosen = node.scores[node.index]
        others = [s for k, s in enumerate(node.scores) if k != node.index]
        powers = [self._exp(self._difference(each, chosen, node.scale)) for each in others]
        return f"(1.0 / {balanced(['1.0', *powers])})"

    def _log_sum_exp(self, node: maths.LogSumExp) -> str:
        if len(node.parts) == 1:
            return self.write(node.parts[0])
        texts = [self.write(part) for part in node.parts]
        top = self._largest(texts)
        powers = [self._exp(f"({text} - {top})") for text in texts]
        return f"({top} + LN({balanced(powers)}))"

    def _of_largest(self, node: maths.OfLargest) -> str:
        keys, last = [self._compared(key) for key in node.keys], len(node.keys) - 1
        cases = ""
        for k, key in enumerate(keys[:last]):
            tests = " AND ".join(f"{key} >= {other}" for other in keys[k + 1 :])
            cases += f"WHEN {tests} THEN {self.write(node.branches[k])} "
        return f"CASE {cases}ELSE {self.write(node.branches[last])} END"

    def _pieces(self, node: maths.Piecewise) -> str:
        compared = self._compared(node.of if node.by is None else node.by)
        inside = self.write(node.of)
        edges, starts = node.edges.tolist(), node.starts.tolist()
        if not self._as_given:
            starts = [0.0 if abs(start) < self._tiny else start for start in starts]
        operator = "<=" if node.side == "left" else "<"
        pieces = [
            self._polynomial(inside, start, each)
            for start, each in zip(starts, node.coefficients.T.tolist(), strict=True)
        ]

        # A flat CASE of several tests takes no more of a parser's stack than one of a single test.
        branches = 2 if self._dialect.stack is None else _BRANCHES

        def tree(first: int, end: int) -> str:
            if end - first == 1:
                return pieces[first]
            size = -(-(end - first) // branches)
            *firsts, last = range(first, end, size)
            tests = "".join(
                f"WHEN {compared} {operator} {self._number(edges[k + size - 1])}"
                f" THEN {tree(k, k + size)} "
                for k in firsts
            )
            return f"CASE {tests}ELSE {tree(last, end)} END"

        return tree(0, len(pieces))

    def _trees(self, node: maths.Trees) -> str:
        coded = [isinstance(part, maths.Code) for part in node.parts]
        parts = ["" if c else self._compared(p) for p, c in zip(node.parts, coded, strict=True)]

        def tree(asked: list[int], edges: list[float], leaves: list[float]) -> str:
            if not asked:
                return self._number(leaves[0])
            half = len(leaves) // 2
            no, yes = (tree(asked[1:], edges[1:], own) for own in (leaves[:half], leaves[half:]))
            if no == yes:
                return no
            part = node.parts[asked[0]]
            if isinstance(part, maths.Code):  # codes up to an edge; what is missing is beyond
                test = self._tests.holds(part.index, range(int(edges[0]) + 1))
            else:
                test = f"{parts[asked[0]]} <= {self._number(edges[0])}"
            return f"CASE WHEN {test} THEN {no} ELSE {yes} END"

        rows = zip(node.which.tolist(), node.edges.tolist(), node.leaves.tolist(), strict=True)
        return balanced([tree(*each) for each in rows])

    def _polynomial(self, of: str, start: float, coefficients: list[float]) -> str:
        while len(coefficients) > 1 and coefficients[-1] == 0:
            coefficients = coefficients[:-1]
        distance = f"({of} - {self._number(start)})" if start else of
        text = self._number(coefficients[-1])
        for each in coefficients[-2::-1]:
            text = f"({self._number(each)} + {distance} * {text})"
        return text

    def _weighted(self, terms: list[tuple[float, Node]], constant: float) -> str:
        texts = [self._number(constant)] if constant or not terms else []
        for weight, part in terms:
            if weight == 1:
                texts.append(self.write(part))
            elif weight == -1:
                texts.append(f"(-{self.write(part)})")
            elif abs(weight) >= self._slight:
                texts.append(f"{self._number(weight)} * {self.write(part)}")
        return balanced(texts or [self._number(0.0)])

    def _difference(self, left: Node, right: Node, scale: float) -> str:
        """Scale * (left - right), with the terms of weighted sums of the same parts merged."""
        if scale != 1 or not (isinstance(left, maths.Linear) and isinstance(right, maths.Linear)):
            text = f"({self.write(left)} - {self.write(right)})"
            return text if scale == 1 else f"{self._number(scale)} * {text}"
        weights: dict[int, float] = {}
        parts: dict[int, Node] = {}
        for sign, side in ((1.0, left), (-1.0, right)):
            for weight, part in side.terms:
                parts[id(part)] = part
                weights[id(part)] = weights.get(id(part), 0.0) + sign * weight
        terms = [(weight, parts[key]) for key, weight in weights.items() if weight]
        return self._weighted(terms, left.constant - right.constant)

    def _exp(self, text: str) -> str:
        if self._dialect.traps_exp:
            text = self._largest([text, self._number(-_FAR)])
            text = f"{self._dialect.smallest}({text}, {self._number(_FAR)})"
        return f"EXP({text})"

    def _largest(self, texts: list[str]) -> str:
        return f"{self._dialect.largest}({', '.join(texts)})"


def _shrinks(node: Node) -> bool:
    """Whether a product in a node may be smaller than what goes into it."""
    return isinstance(node, maths.Linear) and any(abs(weight) < 1 for weight, _ in node.terms)


def balanced(texts: list[str]) -> str:
    """Sum whose brackets nest as little as possible: engines limit the depth of expressions."""
    if len(texts) == 1:
        return f"({texts[0]})" if " " in texts[0] else texts[0]
    if len(texts) <= 4:
        return f"({' + '.join(texts)})"
    half = len(texts) // 2
    return f"({balanced(texts[:half])} + {balanced(texts[half:])})"
