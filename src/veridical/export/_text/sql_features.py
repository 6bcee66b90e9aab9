"""Features in SQL: conditions that a column of a table has one of some values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical._core.data.features import Feature, Features
from veridical._core.formula import Conditions
from veridical.exceptions import invalid
from veridical.export._text.sql_dialects import Dialect

_LARGEST = 1.7976931348623157e308
_NEVER = "1 = 0"


class FeatureTests:
    """Conditions on columns of features.

    Parameters
    ----------
    dialect : of SQL
    features : as the calibrator codes them
    columns : names of their columns
    """

    def __init__(self, dialect: Dialect, features: Features, columns: Sequence[str]) -> None:
        self._dialect, self._features = dialect, list(features)
        for feature in self._features:
            if feature.kind == "date":
                hint = "give dates as numbers or texts, when fitting and in the table."
                got = f"dates in {feature.name!r}"
                raise invalid("to_sql", "calibrator", "of features without dates", got, hint=hint)
        self._names = [
            dialect.double(dialect.quote(name)) if each.kind == "number" else dialect.quote(name)
            for each, name in zip(self._features, columns, strict=True)
        ]

    def all_hold(self, case: Conditions) -> str:
        """Whether a row is in a case."""
        return " AND ".join(self.holds(feature, codes) for feature, codes in case) or "1 = 1"

    def holds(self, index: int, codes: Sequence[int]) -> str:
        """Whether the code of a feature is one of these; false where SQL would not know."""
        feature, name = self._features[index], self._names[index]
        named = sorted(code for code in codes if code < feature.n_named)
        tests = []
        if not feature.edges and {feature.other, feature.missing} <= set(codes):
            left_out = [code for code in range(feature.n_named) if code not in named]
            listed = ", ".join(self._literal(feature, code) for code in left_out)
            return f"({name} IS NULL OR {name} NOT IN ({listed}))" if listed else "1 = 1"
        if named and feature.edges:
            runs = np.split(named, np.flatnonzero(np.diff(named) > 1) + 1)
            tests += [self._between(feature, name, run[0], run[-1]) for run in runs]
        elif len(named) == 1:
            tests.append(f"{name} = {self._literal(feature, named[0])}")
        elif named:
            listed = ", ".join(self._literal(feature, code) for code in named)
            tests.append(f"{name} IN ({listed})")
        if feature.other in codes:
            tests.append(self._is_other(feature, name))
        if feature.missing in codes:
            tests.append(self._is_missing(feature, name))
        return f"({' OR '.join(tests)})" if len(tests) > 1 else "".join(tests) or _NEVER

    def code(self, index: int) -> str:
        """The code itself, as a double."""
        number, feature = self._dialect.number, self._features[index]
        cases = " ".join(
            f"WHEN {self.holds(index, (code,))} THEN {number(float(code))}"
            for code in range(feature.n_named + 1)
        )
        return f"CASE {cases} ELSE {number(float(feature.missing))} END"

    def _between(self, feature: Feature, name: str, first: int, last: int) -> str:
        """Whether a number is in some neighbouring parts; NaN, which engines sort last, is not."""
        number, edges = self._dialect.number, feature.edges
        above = f"{name} > {number(edges[first - 1])}" if first else ""
        end = edges[last] if last < len(edges) else _LARGEST
        below = f"{name} <= {number(end)}"
        return f"({above} AND {below})" if above else below

    def _literal(self, feature: Feature, code: int) -> str:
        value = feature.values[code]
        if feature.kind == "text":
            return self._dialect.text(value)
        if feature.kind == "truth":
            return "TRUE" if value else "FALSE"
        return self._dialect.number(value)

    def _is_other(self, feature: Feature, name: str) -> str:
        if feature.edges:
            return _NEVER
        known = ", ".join(self._literal(feature, code) for code in range(feature.n_named))
        there = f"{_trimmed(name)} <> ''" if feature.kind == "text" else f"{name} IS NOT NULL"
        if feature.kind == "number":
            there = f"{name} <= {self._dialect.number(_LARGEST)}"
        return f"({there} AND {name} NOT IN ({known}))" if known else there

    def _is_missing(self, feature: Feature, name: str) -> str:
        if feature.kind == "text":
            return f"({name} IS NULL OR {_trimmed(name)} = '')"
        if feature.kind == "number":
            return f"({name} IS NULL OR NOT {name} <= {self._dialect.number(_LARGEST)})"
        return f"{name} IS NULL"


def _trimmed(name: str) -> str:
    """Text without blanks and tabs at its ends; TRIM alone knows blanks."""
    return f"TRIM(REPLACE({name}, '\t', ' '))"
