"""Calibrators as Python source that needs nothing but the standard library."""

from __future__ import annotations

import keyword
from collections import Counter
from typing import assert_never

from veridical._core import formula as maths
from veridical._core.data.features import Feature
from veridical._core.formula import Formula, Node
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators import Calibrator
from veridical.calibrators.formulas import formula_of
from veridical.exceptions import invalid

_HELPERS = {
    "_logistic": """\
def _logistic(x):
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    power = math.exp(x)
    return power / (1 + power)
""",
    "_softmax": """\
def _softmax(scores, scale):
    top = max(scores)
    powers = [math.exp(scale * (score - top)) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
""",
    "_leaves": """\
def _leaves(parts, asked, edges, depth):
    leaves, leaf = [], 0
    for k, (part, edge) in enumerate(zip(asked, edges)):
        leaf = 2 * leaf + (parts[part] > edge)
        if k % depth == depth - 1:
            leaves.append(leaf)
            leaf = (k + 1) // depth
    return leaves
""",
    "_code": """\
def _code(value, values, edges):
    named = len(edges) + 1 if edges else len(values)
    if value is None or value != value or isinstance(value, str) and not value.strip():
        return named + 1
    if edges:
        return bisect_left(edges, value)
    place = bisect_left(values, value)
    return place if place < named and values[place] == value else named
""",
    "_cases": """\
def _cases(c, cases, values):
    return math.fsum(
        value
        for case, value in zip(cases, values)
        if all(c[feature] in codes for feature, codes in case)
    )
""",
    "_log_sum_exp": """\
def _log_sum_exp(parts):
    top = max(parts)
    return top + math.log(sum(math.exp(part - top) for part in parts))
""",
}

_MOST_NAMED = 20  # classes that the docstring lists
_CHECKS = {
    "probability": ("not 0 <= value <= 1", "probabilities must be in [0, 1]"),
    "logit": ("not math.isfinite(value)", "logits must be finite"),
    "score": ("not math.isfinite(value)", "scores must be finite"),
}


def to_python(calibrator: Calibrator, *, name: str = "calibrate") -> str:
    """Write a fitted calibrator as the source of a Python function.

    Parameters
    ----------
    calibrator : Calibrator
        Fitted.
    name : str, default "calibrate"
        Name of the function.

    Returns
    -------
    str
        Source of a module that imports only `math` and `bisect`. Its function takes one row of
        predictions, of the kind the calibrator was fitted to: K numbers in the order of
        `classes_`, or of two classes one number, that of the positive class (`pos_label`).
        It returns a list of K probabilities in the order of `classes_`. Of a map of features it
        also takes their values by name, `by`.

    Raises
    ------
    InvalidInputError
        If the calibrator is not a formula of its inputs (`GroupedCalibrator`,
        `ConfidenceReducedCalibrator`, `SimplexHistogramCalibrator`; `OneVsRestCalibrator` of steps
        on logits of three classes or more).

    Notes
    -----
    The function raises `ValueError` for numbers that `predict_proba` refuses; that a row's
    probabilities sum to one is not checked. Results agree with `predict_proba` to 1e-12.

    Examples
    --------
    >>> from veridical.calibrators import HistogramCalibrator
    >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    >>> map = HistogramCalibrator(n_bins=2).fit(p, y)  # 2/5 up to 1/2, 4/5 above
    >>> source = to_python(map)
    >>> print(source[source.index("_EDGES") : source.index("def")].strip())
    _EDGES_1 = (0.5,)
    _CONSTANT_1 = (0.4, 0.8)
    """
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        hint = 'e.g. name="calibrate".'
        raise invalid("to_python", "name", "a name for a function", repr(name), hint=hint)
    formula = formula_of(calibrator, one_column=False, caller="to_python")
    return _Module(formula, name, type(calibrator).__name__).source()


class _Module:
    """Statements and tables of one function; equal expressions are computed once."""

    def __init__(self, formula: Formula, name: str, kind: str) -> None:
        self._formula, self._name, self._kind = formula, name, kind
        self._tables: dict[str, str] = {}  # by content
        self._counts: Counter[str] = Counter()  # tables of each kind
        self._lines: list[str] = []
        self._variables: dict[str, str] = {}  # by expression
        self._written: dict[int, str] = {}

    def source(self) -> str:
        """Write everything."""
        outputs = [self._of(output) for output in self._formula.outputs]
        body = "".join(f"    {line}\n" for line in self._lines)
        helpers = [text for call, text in _HELPERS.items() if f"{call}(" in body]
        tables = [f"{name} = {text}\n" for text, name in self._tables.items()]
        n_classes, kind = len(self._formula.classes), self._formula.input
        test, complaint = _CHECKS[kind]
        accepted = f"{n_classes} {_plural(kind)} in the order of CLASSES"
        single = ""
        if n_classes == 2:
            accepted += (
                f",\n        or one number, the {_said(self._formula, self._formula.positive)}"
            )
            other = "1 - float(p)" if kind == "probability" else "0.0"
            pair = f"({other}, p)" if self._formula.positive else f"(p, {other})"
            single = f"    if not hasattr(p, '__len__'):\n        p = {pair}\n"
        named = self._formula.meaning
        returned = [f"    [{k}]: {named(k)}" for k in range(min(n_classes, _MOST_NAMED))]
        if n_classes > _MOST_NAMED:
            returned.append("    and so on")
        codes = self._codes()
        names = [] if self._formula.features is None else self._formula.features.names
        by, about = "", ""
        if names:
            by = ", by"
            about = f"    by: values of {_one_line(names)}, by name; None for a missing one.\n"
        helpers += [text for call, text in _HELPERS.items() if f"{call}(" in codes]
        function = (
            f"def {self._name}(p{by}):\n"
            f'    """Calibrated probabilities of one row, a list in the order of CLASSES.\n\n'
            f"    p: {accepted}.\n{about}" + "\n".join(returned) + '\n    """\n'
            f"{single}"
            f"    x = [float(value) for value in p]\n"
            f"    if len(x) != {n_classes}:\n"
            f'        raise ValueError(f"expected {n_classes} numbers, got {{len(x)}}")\n'
            f"    if any({test} for value in x):\n"
            f'        raise ValueError(f"{complaint}, got {{x}}")\n'
            f"{codes}{body}"
            f"    return [{', '.join(outputs)}]\n"
        )
        head = (
            f'"""{self._kind}, written by veridical; needs only the standard library."""\n\n'
            "import math\nfrom bisect import bisect_left, bisect_right\n\n"
            f"CLASSES = [{', '.join(map(_label, self._formula.classes))}]\n"
        )
        return "\n\n".join([head + "".join(tables), *helpers, function])

    def _of(self, node: Node) -> str:
        text = self._written.get(id(node))
        if text is None:
            text = self._written[id(node)] = self._write(node)
        return text

    def _keep(self, expression: str) -> str:
        """Name of the variable that holds an expression."""
        if expression not in self._variables:
            name = f"v{len(self._variables) + 1}"
            self._variables[expression] = name
            self._lines.append(f"{name} = {expression}")
        return self._variables[expression]

    def _table(self, kind: str, values: FloatArray | IntArray) -> str:
        """Name of the tuple that holds these numbers."""
        text = f"({', '.join(map(_digits, values.tolist()))},)"
        if len(values) > 1:
            text = text[:-2] + ")"
        return self._literal(kind, text)

    def _literal(self, kind: str, text: str) -> str:
        """Name of a tuple of this text."""
        if text not in self._tables:
            self._counts[kind] += 1
            self._tables[text] = f"_{kind}_{self._counts[kind]}"
        return self._tables[text]

    def _write(self, node: Node) -> str:
        match node:
            case maths.Column():
                return f"x[{node.index}]"
            case maths.Constant():
                return _number(node.value)
            case maths.Linear():
                terms = [self._term(weight, part) for weight, part in node.terms]
                if node.constant or not terms:
                    terms = [_number(node.constant), *terms]
                return self._keep(" + ".join(terms).replace("+ -", "- "))
            case maths.Quotient():
                return self._keep(f"{self._of(node.numerator)} / {self._of(node.denominator)}")
            case maths.Log():
                return self._keep(f"math.log({self._of(node.of)})")
            case maths.Clip():
                text = self._of(node.of)
                if node.low is not None:
                    text = f"max({text}, {_number(node.low)})"
                return self._keep(
                    text if node.high is None else f"min({text}, {_number(node.high)})"
                )
            case maths.Logistic():
                return self._keep(f"_logistic({self._of(node.of)})")
            case maths.Softmax():
                scores = ", ".join(self._of(score) for score in node.scores)
                return (
                    f"{self._keep(f'_softmax(({scores},), {_number(node.scale)})')}[{node.index}]"
                )
            case maths.LogSumExp():
                return self._keep(
                    f"_log_sum_exp(({', '.join(self._of(part) for part in node.parts)},))"
                )
            case maths.Share():
                whole, rest = self._of(node.total), self._of(node.otherwise)
                return self._keep(f"{self._of(node.part)} / {whole} if {whole} else {rest}")
            case maths.OfLargest():
                keys = self._keep(f"({', '.join(self._of(key) for key in node.keys)},)")
                branches = ", ".join(self._of(branch) for branch in node.branches)
                return self._keep(f"({branches},)[{keys}.index(max({keys}))]")
            case maths.Piecewise():
                return self._pieces(node)
            case maths.Trees():
                return self._trees(node)
            case maths.Code():
                return f"c[{node.index}]"
            case maths.Cases():
                return self._cases(node)
        assert_never(node)

    def _pieces(self, node: maths.Piecewise) -> str:
        of = self._of(node.of)
        by = of if node.by is None else self._of(node.by)
        place = self._keep(f"bisect_{node.side}({self._table('EDGES', node.edges)}, {by})")
        parts = zip(("CONSTANT", "SLOPE", "SQUARE", "CUBE"), node.coefficients, strict=False)
        columns = [f"{self._table(kind, part)}[{place}]" for kind, part in parts]
        if len(columns) == 1:
            return self._keep(columns[0])
        away = self._keep(f"{of} - {self._table('START', node.starts)}[{place}]")
        text = columns[-1]
        for column in columns[-2::-1]:
            text = f"{column} + {away} * ({text})"
        return self._keep(text)

    def _trees(self, node: maths.Trees) -> str:
        parts = ", ".join(self._of(part) for part in node.parts)
        which = self._table("ASKED", node.which.ravel())
        edges = self._table("EDGES", node.edges.ravel())
        depth = node.which.shape[1]
        leaves = self._keep(f"_leaves(({parts},), {which}, {edges}, {depth})")
        values = self._table("LEAVES", node.leaves.ravel())
        return self._keep(f"sum({values}[leaf] for leaf in {leaves})")

    def _cases(self, node: maths.Cases) -> str:
        cases = self._literal("CASES", _conditions(node.conditions))
        offset = self._keep(f"_cases(c, {cases}, {self._table('OFFSETS', node.offsets)})")
        if not node.slopes.any():
            return offset
        slope = self._keep(f"_cases(c, {cases}, {self._table('SLOPES', node.slopes)})")
        return self._keep(f"{offset} + {slope} * {self._of(node.of)}")

    def _codes(self) -> str:
        """Statements that turn features into codes."""
        features = self._formula.features
        if features is None:
            return ""
        listed = ", ".join(
            f"_code(by[{feature.name!r}], {_values(feature)}, {_values_of(feature.edges)})"
            for feature in features
        )
        return f"    c = [{listed}]\n"

    def _term(self, weight: float, part: Node) -> str:
        text = self._of(part)
        if weight == 1:
            return text
        return f"-{text}" if weight == -1 else f"{_number(weight)} * {text}"


def _conditions(cases: tuple[maths.Conditions, ...]) -> str:
    """Conditions as a literal: whole numbers only."""
    texts = [
        "".join(f"({int(f)}, ({''.join(f'{int(c)}, ' for c in codes)})), " for f, codes in case)
        for case in cases
    ]
    return f"({''.join(f'({text}), ' for text in texts)})"


def _values(feature: Feature) -> str:
    if feature.kind == "date":
        hint = "give dates as numbers or texts, when fitting and when predicting."
        got = f"dates in {feature.name!r}"
        raise invalid("to_python", "calibrator", "of features without dates", got, hint=hint)
    return _values_of(feature.values)


def _values_of(values: tuple[object, ...]) -> str:
    return f"({''.join(f'{_label(value)}, ' for value in values)})"


def _one_line(names: list[str]) -> str:
    """Names in a docstring: letters, digits and a few signs of them."""
    shown = ["".join(c if c.isalnum() or c in " _.-" else "_" for c in name) for name in names]
    return ", ".join(shown[:_MOST_NAMED])


def _said(formula: Formula, index: int) -> str:
    """What a single number is, in words that a docstring may hold."""
    words = formula.meaning(index)
    return (
        words if formula.input == "probability" else words.replace("probability", formula.input, 1)
    )


def _number(value: object) -> str:
    """A number as Python reads it back to the last bit."""
    return repr(maths.number(value))


def _digits(value: object) -> str:
    """A number of a table; whole numbers are places."""
    return str(value) if isinstance(value, int) else _number(value)


def _label(value: object) -> str:
    """A label as a literal."""
    return repr(value) if isinstance(value, (str, bool, int)) else _number(value)


def _plural(kind: str) -> str:
    return "probabilities" if kind == "probability" else f"{kind}s"
