"""The language of requirements: ``[groups:] figure[.field] [- baseline.figure] < number``.

``calibrated`` alone is one too.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from typing import NamedTuple

from veridical.exceptions import InvalidInputError, invalid
from veridical.inference.tests import TESTS

FIELDS = ("value", "low", "high", "null_mean", "null_q95", "pvalue")
_FIELDS_OF_TEST = ("pvalue", "statistic")
_FIELDS_OF = {
    "equivalence": ("pvalue", "high", "value"),
    "difference": ("value", "low", "high", "pvalue"),
    "calibrated": ("verdict",),
    "risk": ("high", "low", "value"),
    **{name.replace("-", "_"): _FIELDS_OF_TEST for name in TESTS},
}
FUNCTIONS = tuple(_FIELDS_OF)
SEGMENTS = "segments_worst"  # the largest gap of any segment, which is searched for
_SCOPES = ("all", "groups")
_EXAMPLE = "e.g. 'ece.high < 0.05' or 'equivalence(0.03).pvalue < 0.05'"
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?%?(?![\w.]))
        |(?P<quoted>"[^"]*"|'[^']*')
        |(?P<name>[^\W\d]\w*)
        |(?P<operator><=|>=|==|!=|<|>|=)
        |(?P<mark>[().:-]))""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Quantity:
    """A field of a figure or of a function: ``ece.high``, ``equivalence(0.03).pvalue``."""

    name: str
    field: str
    argument: float | str | None = None

    @property
    def is_function(self) -> bool:
        """Whether it is computed from rows, and not read from an evaluation."""
        return self.name in FUNCTIONS

    def __str__(self) -> str:
        if self.name == "calibrated":
            return self.name if self.argument is None else f"{self.name}({self.argument})"
        if self.name == SEGMENTS:
            return f"segments.worst.{self.field}"
        called = f"({'' if self.argument is None else f'{self.argument}'})"
        return f"{self.name}{called if self.is_function else ''}.{self.field}"


@dataclass(frozen=True)
class Rule:
    """A requirement that was read."""

    text: str
    scope: str  # "all" rows, "groups", or "" for both
    quantity: Quantity
    minus: Quantity | None  # of the baseline
    operator: str  # empty for "calibrated"
    limit: float | None

    @property
    def asks_evidence(self) -> bool:
        """Whether it asks for a limit on the safe side, or that an error is shown to be small."""
        quantity, less = self.quantity, self.wants_less
        if quantity.name == "equivalence":
            return quantity.field in ("pvalue", "high") and less
        return self.minus is None and quantity.field == ("high" if less else "low")

    def holds(self, value: float | None) -> bool:
        """Whether the value meets the limit; none and NaN never do."""
        if value is None or self.limit is None or math.isnan(value):
            return False
        if self.operator == "<":
            return value < self.limit
        if self.operator == "<=":
            return value <= self.limit
        return value > self.limit if self.operator == ">" else value >= self.limit

    @property
    def wants_less(self) -> bool:
        """Whether the limit is an upper one."""
        return self.operator.startswith("<")


def _share(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


class _Token(NamedTuple):
    kind: str
    text: str


def spelt(name: str) -> str:
    """Name of a figure as requirements spell it.

    Examples
    --------
    >>> spelt("ECE equal-mass"), spelt("observed/expected")
    ('ece_equal_mass', 'observed_expected')
    """
    return re.sub(r"\W+", "_", name.lower()).strip("_")


def read_rule(text: str, *, caller: str) -> Rule:
    """Read one requirement; nothing is evaluated.

    Examples
    --------
    >>> rule = read_rule("ece.high < 0.05", caller="check_requirements")
    >>> rule.quantity, rule.operator, rule.limit
    (Quantity(name='ece', field='high', argument=None), '<', 0.05)
    >>> read_rule("'ECE equal-mass' <= 5e-2", caller="check_requirements").quantity.name
    'ece_equal_mass'
    """
    return _Reader(text, caller).rule()


class _Reader:
    """Reads by recursive descent, one token ahead."""

    def __init__(self, text: str, caller: str) -> None:
        self._text, self._caller = text, caller
        if not isinstance(text, str) or not text.strip():
            raise self._wrong("a requirement", repr(text), f"write one, {_EXAMPLE}.")
        self._tokens = self._split()
        self._at = 0

    def rule(self) -> Rule:
        scope = ""
        if self._peek().kind == "name" and self._peek(1).text == ":":
            scope = self._next().text
            if scope not in _SCOPES:
                raise self._unknown("scope", scope, _SCOPES)
            self._next()
        if self._peek().kind == "number":
            hint = f"write the figure first and the limit last, {_EXAMPLE}."
            raise self._wrong("a figure before the comparison", repr(self._peek().text), hint)
        quantity = self._quantity()
        if quantity.name == "calibrated":
            if self._peek().kind != "end":
                hint = "write 'calibrated' alone, or with a margin: 'calibrated(10%)'."
                got = repr(self._peek().text)
                raise self._wrong("nothing after 'calibrated'", got, hint)
            return Rule(self._text.strip(), scope, quantity, None, "", None)
        minus = None
        if self._peek().text == "-":
            self._next()
            self._expect("baseline", "'baseline' after the minus")
            self._expect(".", "a dot after 'baseline'")
            minus = self._quantity()
            if minus.is_function or quantity.is_function:
                hint = "write e.g. 'log - baseline.log < 0.01'."
                raise self._wrong("figures on both sides of the minus", "a function", hint)
        operator = self._next()
        if operator.kind != "operator" or operator.text not in ("<", "<=", ">", ">="):
            got = repr(operator.text) if operator.text else "the end"
            hint = f"compare with <, <=, > or >=, {_EXAMPLE}."
            expected = f"a comparison after {str(quantity)!r}"
            raise self._wrong(expected, got, hint)
        limit = self._next()
        if limit.kind != "number" or "%" in limit.text or self._peek().kind != "end":
            whole = limit.kind == "number" and "%" not in limit.text
            rest = self._peek() if whole else limit
            got = repr(rest.text) if rest.text else "the end"
            hint = f"end with one number, {_EXAMPLE}; several requirements are given one by one."
            expected = f"one number after {operator.text!r}"
            raise self._wrong(expected, got, hint)
        return Rule(self._text.strip(), scope, quantity, minus, operator.text, float(limit.text))

    def _quantity(self) -> Quantity:
        token = self._next()
        if token.kind not in ("name", "quoted"):
            got = repr(token.text) if token.text else "the end"
            raise self._wrong("the name of a figure", got, f"write one, {_EXAMPLE}.")
        name = spelt(token.text.strip("\"'"))
        if token.kind == "name" and self._peek().text == "(":
            return self._function(name)
        if name == "calibrated":
            return Quantity(name, "verdict")
        if name == "segments":
            return self._segments()
        if name in FUNCTIONS:
            argument = {"equivalence": "0.03", "difference": "log", "risk": "0.8"}.get(name, "")
            hint = f"it is a function: write '{name}({argument}).{_FIELDS_OF[name][0]}'."
            raise self._wrong("the name of a figure", repr(name), hint)
        field = "value"
        if self._peek().text == ".":
            self._next()
            field = self._field(FIELDS)
        return Quantity(name, field)

    def _segments(self) -> Quantity:
        self._expect(".", "'segments.worst'")
        token = self._next()
        if token.text != "worst":
            hint = (
                "that a search finds nothing does not show calibration; require a limit:"
                " 'segments.worst.high < 0.1'."
            )
            raise self._wrong("'segments.worst'", f"'segments.{token.text}'", hint)
        field = "value"
        if self._peek().text == ".":
            self._next()
            field = self._field(("value", "low", "high"))
        return Quantity(SEGMENTS, field)

    def _function(self, name: str) -> Quantity:
        if name not in FUNCTIONS:
            raise self._unknown("function", name, FUNCTIONS)
        self._next()
        argument = self._argument(name)
        self._expect(")", f"a closing bracket after {name!r}")
        if name == "calibrated":
            return Quantity(name, "verdict", argument)
        self._expect(".", f"a field after '{name}()', one of {', '.join(_FIELDS_OF[name])}")
        return Quantity(name, self._field(_FIELDS_OF[name]), argument)

    def _argument(self, name: str) -> float | str | None:
        token = self._peek()
        if name == "calibrated" and token.text == ")":
            return None
        if name in ("equivalence", "calibrated"):
            if token.kind != "number" or not 0 < _share(token.text) < 1:
                hint = f"say within which margin, e.g. '{name}(0.03)', or '{name}(10%)' of the base"
                got = repr(token.text)
                expected = f"a margin between 0 and 1 in '{name}()'"
                raise self._wrong(expected, got, f"{hint} rate.")
            text = self._next().text
            return text if text.endswith("%") else float(text)
        if name == "risk":
            if token.kind != "number" or not 0 <= _share(token.text) <= 1:
                hint = (
                    "say from which confidence on rows are answered, e.g. 'risk(0.8).high < 0.05'."
                )
                got, expected = repr(token.text), "a probability in 'risk()'"
                raise self._wrong(expected, got, hint)
            return _share(self._next().text)
        if name == "difference":
            if token.kind not in ("name", "quoted"):
                hint = "say of which figure, e.g. 'difference(log).high < 0.01'."
                raise self._wrong("a figure in 'difference()'", repr(token.text), hint)
            return spelt(self._next().text.strip("\"'"))
        return None

    def _field(self, fields: tuple[str, ...]) -> str:
        token = self._next()
        if token.text not in fields:
            raise self._unknown("field", token.text, fields)
        return token.text

    def _split(self) -> list[_Token]:
        tokens, at = [], 0
        text = self._text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                odd = text[at:].lstrip()[:12]
                raise self._wrong("names, numbers and comparisons", repr(odd), f"{_EXAMPLE}.")
            kind = found.lastgroup or ""
            tokens.append(_Token(kind, found.group(kind)))
            at = found.end()
        return tokens

    def _peek(self, ahead: int = 0) -> _Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else _Token("end", "")

    def _next(self) -> _Token:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, text: str, expected: str) -> None:
        token = self._next()
        if token.text != text:
            got = repr(token.text) if token.text else "the end"
            raise self._wrong(expected, got, f"write {_EXAMPLE[5:]}.")

    def _unknown(self, what: str, got: str, valid: tuple[str, ...]) -> InvalidInputError:
        near = difflib.get_close_matches(got.lower(), valid, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(valid)}."
        return self._wrong(f"of a known {what}", repr(got), hint)

    def _wrong(self, expected: str, got: str, hint: str) -> InvalidInputError:
        where = f" in {self._text!r}" if isinstance(self._text, str) and self._text.strip() else ""
        return invalid(self._caller, "requirements", expected, f"{got}{where}", hint=hint)
