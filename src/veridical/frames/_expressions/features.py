"""Codes of features as expressions of columns."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import narwhals.stable.v2 as nw

from veridical._core.data.features import Feature, Features
from veridical.exceptions import invalid


def check_kinds(features: Features, schema: Any, *, caller: str) -> None:
    """Raise unless the columns of features are there and of the kinds they were fitted to."""
    names = list(schema.names())
    for feature in features:
        if feature.name not in names:
            hint = f"the frame has {names[:6]}."
            expected = f"a column of feature {feature.name!r}"
            raise invalid(caller, "frame", expected, "none", hint=hint)
        kind = schema[feature.name]
        text = isinstance(kind, (nw.String, nw.Categorical, nw.Enum))
        fits = {"text": text, "truth": kind == nw.Boolean}.get(
            feature.kind, kind.is_numeric() or kind == nw.Boolean
        )
        if feature.kind == "date" or not fits:
            got = f"column {feature.name!r} of type {kind}"
            hint = "collect the frame first, or cast the column."
            raise invalid(caller, "frame", f"of {feature.kind}s in a query", got, hint=hint)


def code_of(feature: Feature) -> nw.Expr:
    """Code of each row, a double."""
    column = nw.col(feature.name)
    if feature.kind == "text":
        column = column.cast(nw.String)
        missing = column.is_null() | (column.str.strip_chars() == "")
    elif feature.kind == "truth":
        missing, column = column.is_null(), column.cast(nw.Float64)
    else:
        column = column.cast(nw.Float64)
        missing = column.is_null() | column.is_nan()
    if feature.edges:
        above = [
            nw.when(column > edge).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
            for edge in feature.edges
        ]
        code = reduce(add, above)
    else:
        code = nw.lit(float(feature.other))
        for number, value in enumerate(feature.values):
            code = nw.when(column == value).then(nw.lit(float(number))).otherwise(code)
    missing = missing.fill_null(value=True)
    return nw.when(missing).then(nw.lit(float(feature.missing))).otherwise(code)
