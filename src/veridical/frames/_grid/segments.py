"""Rows as crosses of feature values and cells of scores, summed up where they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.arrays import missing_values
from veridical._core.data.features import Feature, Features, fit_features
from veridical._core.data.labels import encode_labels, positive_class
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames._grid.sample import sample_rows
from veridical.frames._tables.columns import missing_column
from veridical.frames._tables.open import open_lazy, run

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, FloatArray, IntArray

_SAMPLE = 100_000  # rows by which features and scores are cut
_SCORES = 1024  # so many different scores of them are kept apart
_CELLS, _FEWER = 256, 64  # else cells of scores; fewer where features are many
_MANY = 1 << 14  # crosses of feature values
_P, _HIT, _KEY, _VALID = "v_p", "v_hit", "v_key", "v_valid"


@dataclass(frozen=True)
class SegmentSums:
    """Sums by cross of codes and cell of scores.

    Attributes
    ----------
    features : what the codes mean
    codes : of each entry, (m, number of features)
    cell : of scores, from 0 on, in order
    ends : lowest and highest score of each cell
    count, said, happened : rows, sums of predictions and of events
    classes : labels; the positive one is last
    notes : how it was made
    """

    features: Features
    codes: IntArray
    cell: IntArray
    ends: tuple[FloatArray, FloatArray]
    count: FloatArray
    said: FloatArray
    happened: FloatArray
    classes: tuple[Any, ...]
    notes: tuple[str, ...]


def segment_sums(
    source: Any,
    *,
    y: str,
    prob: str,
    features: Sequence[str],
    labels: Any,
    pos_label: Any,
    n_bins: int,
    caller: str,
) -> SegmentSums | None:
    """Sum up the rows of a query or file, in one scan after a sample of it.

    Features and scores are cut at quantiles of 100,000 rows drawn at random; segments need not be
    cut at the quantiles of all rows. Of dates nothing is known that all engines agree on: None.

    Parameters
    ----------
    source : frame, str or path
        As in `open_lazy`.
    y, prob, features : columns
    labels, pos_label : as the user gave them
    n_bins : parts that numbers are cut into
    caller : who asks
    """
    import narwhals.stable.v2 as nw

    names = [y, prob, *features]
    frame = open_lazy(source, columns=names, caller=caller)
    known = frame.collect_schema().names()
    for name in names:
        if name not in known:
            raise missing_column(name, known, caller=caller, param="features")
    rows = sample_rows(source, [prob, *features], n=_SAMPLE, seed=0, caller=caller)
    columns = {name: rows.column(name, caller=caller, param="features") for name in features}
    fitted = fit_features(columns, n_bins=n_bins, caller=caller)
    if any(each.kind == "date" for each in fitted):
        return None
    scores = rows.matrix([prob], caller=caller, param="prob")[:, 0].astype(np.float64)
    edges = _score_edges(scores, math.prod(fitted.n_codes))
    classes = _classes(frame, y, labels, pos_label, caller)
    p = nw.col(prob).cast(nw.Float64)
    hit = nw.col(y) == nw.lit(classes[-1])
    valid = ((p >= 0) & (p <= 1)).fill_null(value=False) & ~nw.col(y).is_null()
    sizes = [*fitted.n_codes, len(edges) + 1]
    parts = [*(_code(each) for each in fitted), _above(p, edges)]
    key = reduce(lambda whole, k: whole * sizes[k] + parts[k], range(1, len(parts)), parts[0])
    query = (
        frame.select(
            p.alias(_P),
            hit.cast(nw.Float64).alias(_HIT),
            valid.cast(nw.Float64).alias(_VALID),
            key.cast(nw.Int64).alias(_KEY),
        )
        .group_by(_KEY)
        .agg(
            nw.len().alias("v_n"),
            nw.col(_P).sum(),
            nw.col(_HIT).sum(),
            nw.col(_VALID).sum(),
            nw.col(_P).min().alias("v_low"),
            nw.col(_P).max().alias("v_high"),
        )
    )
    table = run(query)
    found = {name: _numbers(table, name, caller) for name in table.columns}
    if not (found[_VALID] == found["v_n"]).all():
        bad = int((found["v_n"] - found[_VALID]).sum())
        hint = 'use engine="memory", which says where, or missing="drop" for blanks.'
        got = f"{bad:,} rows with another or none"
        raise invalid(caller, "prob", "a prediction in [0, 1] and a label", got, hint=hint)
    order = np.argsort(found[_KEY])
    keys = found[_KEY][order].astype(np.int64)
    *codes, cell = np.unravel_index(keys, sizes)
    ends = _ends(cell, found["v_low"][order], found["v_high"][order], len(edges) + 1)
    present, cell = np.unique(cell, return_inverse=True)
    note = (
        f"features and scores were cut at quantiles of {min(_SAMPLE, rows.n_rows):,} rows;"
        f" rows of one of {len(present):,} cells of scores have its mean prediction"
    )
    return SegmentSums(
        fitted,
        np.column_stack(codes).astype(np.int16),
        cell.reshape(-1),
        (ends[0][present], ends[1][present]),
        found["v_n"][order],
        found[_P][order],
        found[_HIT][order],
        classes,
        (note,),
    )


def _numbers(table: Any, name: str, caller: str) -> FloatArray:
    values: Array = table.column(name, caller=caller, param="features")
    return values.astype(np.int64 if name == _KEY else np.float64)


def _score_edges(scores: FloatArray, n_crosses: int) -> list[float]:
    """Upper ends of all cells of scores but the last."""
    known = scores[np.isfinite(scores)]
    distinct = np.unique(known)
    if len(distinct) <= _SCORES:
        return list(distinct[:-1].tolist())
    n_cells = _FEWER if n_crosses > _MANY else _CELLS
    place = np.arange(1, n_cells) / n_cells
    return list(np.unique(np.quantile(known, place, method="inverted_cdf"))[:-1].tolist())


def _classes(
    frame: nw.LazyFrame[Any], y: str, labels: Any, pos_label: Any, caller: str
) -> tuple[Any, ...]:
    """The two labels, the positive one last."""
    present = run(frame.select(y).unique()).column(y, caller=caller, param="y")
    try:
        known = present[~missing_values(present)]
        _, classes = encode_labels(known, n_classes=2, labels=labels, caller=caller)
    except InvalidInputError as error:
        hint = error.hint or "pass rows of two labels."
        raise invalid(caller, "y", "of two labels", error.got, hint=hint) from error
    positive = positive_class(classes, pos_label, caller=caller)
    return (classes[1 - positive], classes[positive])


def _above(value: nw.Expr, edges: Sequence[float], first: int = 0) -> nw.Expr:
    """How many edges a number is above: a balanced tree, as deep ones are refused by engines."""
    import narwhals.stable.v2 as nw

    if not edges:
        return nw.lit(first)
    middle = len(edges) // 2
    more = _above(value, edges[middle + 1 :], first + middle + 1)
    return nw.when(value > edges[middle]).then(more).otherwise(_above(value, edges[:middle], first))


def _code(feature: Feature) -> nw.Expr:
    """Code of a feature, as `Feature.codes` has it."""
    import narwhals.stable.v2 as nw

    column = nw.col(feature.name)
    if feature.kind == "text":
        text = column.cast(nw.String)
        missing = column.is_null() | (text.str.strip_chars() == "")
        code = _listed(text, feature)
    else:
        number = column.cast(nw.Float64)
        missing = number.is_null() | number.is_nan()
        code = _above(number, feature.edges) if feature.edges else _listed(number, feature)
    return nw.when(missing).then(nw.lit(feature.missing)).otherwise(code)


def _listed(value: nw.Expr, feature: Feature) -> nw.Expr:
    """Place of a value among those listed, else that of other values."""
    import narwhals.stable.v2 as nw

    code: nw.Expr = nw.lit(feature.other)
    for place, known in enumerate(feature.values):
        code = nw.when(value == nw.lit(known)).then(nw.lit(place)).otherwise(code)
    return code


def _ends(
    cell: IntArray, low: FloatArray, high: FloatArray, n_cells: int
) -> tuple[FloatArray, FloatArray]:
    lowest, highest = np.full(n_cells, np.inf), np.full(n_cells, -np.inf)
    np.minimum.at(lowest, cell, low)
    np.maximum.at(highest, cell, high)
    return lowest, highest
