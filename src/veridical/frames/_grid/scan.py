"""The one scan as a query, for engines that run no Python: rows into sums by event, bin and cell.

Columns are put one below the other, and grouped by one key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical.frames._grid.cells import Grid, log_odds, within_limits
from veridical.frames._grid.events import CODE, HIT, STATE, Events
from veridical.frames._grid.rows import WEIGHT
from veridical.frames._tables.open import run

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, FloatArray, IntArray


_KEY, _Q, _NUMBER = "v_key", "v_q", "v_number"


# Up to so many classes the class of a row is part of the key; beyond, it is an event of its own.
_CLASSES_IN_KEY = 32


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Entries of the scan as the engine gave them: in no order, with rows that do not count.

    Attributes
    ----------
    keys : values of the grouping keys
    state : 0 where rows count
    number : the event; `LABELS` and beyond see below
    bin, cell : from 1, and from 0
    outcome : HIT of a single column; else whether the event happened
    code : class of the rows, of several columns; -1 where it was not told apart
    count, w, w2, wq, wqq, w2qq : number of rows and sums; q is the probability, qq is q(1 - q)
    scores : weighted sums of scores, by name; nonzero for one event only
    """

    keys: dict[str, Array]
    state: IntArray
    number: IntArray
    bin: IntArray
    cell: IntArray
    outcome: IntArray
    code: IntArray
    count: FloatArray
    w: FloatArray
    w2: FloatArray
    wq: FloatArray
    wqq: FloatArray
    w2qq: FloatArray
    scores: dict[str, FloatArray]


def scan(events: Events, grid: Grid, *, caller: str) -> Sums:
    """Run one query that sums up all events at once.

    A single event is summed as it stands, with its scores beside it. Several events are first put
    one below the other, and scores (and, of several columns, classes) are events like the others:
    so that every engine reads its data once.
    """
    import narwhals.stable.v2 as nw

    wide = len(events.numbers) == 1 and events.n_classes <= _CLASSES_IN_KEY
    frame, n_tails = _wide(events, grid) if wide else _long(events, grid)
    products = _products(events, scores=wide)
    keys = [_KEY, *events.keys]
    query = (
        frame.select(*keys, **products)
        .group_by(*keys)
        .agg(nw.len().alias("v_count"), *(nw.col(name).sum() for name in products))
    )
    table = run(query)

    def column(name: str) -> Array:
        return table.column(name, caller=caller, param="source")

    total = {name: column(name).astype(np.float64) for name in products}
    total["count"] = column("v_count").astype(np.float64)
    key = column(_KEY).astype(np.int64)
    place, tail = np.divmod(np.maximum(key, 0), n_tails)
    place, cell = np.divmod(place + grid.lowest, grid.n_cells)
    number, bins = np.divmod(place, grid.n_bins + 1)
    if wide:
        number = np.full(len(key), next(iter(events.numbers)))
    code, outcome = np.full(len(key), -1), tail
    if events.n_classes and wide:
        code, outcome = np.divmod(tail, 2)
    elif events.n_classes:
        is_class = number == labels_number(events)
        code, outcome = np.where(is_class, tail, -1), np.where(is_class, 0, tail)
    w = total.get("v_w", total["count"])
    w2 = total.get("v_ww", total["count"])
    return Sums(
        keys={name: column(name) for name in events.keys},
        state=np.minimum(key, 0),
        number=number,
        bin=bins,
        cell=cell,
        outcome=outcome,
        code=code,
        count=total["count"],
        w=w,
        w2=w2,
        wq=total["v_wq"],
        wqq=total["v_wqq"],
        w2qq=total.get("v_wwqq", total["v_wqq"]),
        scores=_scores(events, number, total),
    )


def labels_number(events: Events) -> int:
    """Number of the event that stands for the class of a row."""
    return max(events.n_classes, 2) + 1


def _score_numbers(events: Events) -> dict[str, int]:
    first = labels_number(events) + 1
    return {name: first + i for i, name in enumerate(events.scores)}


def _scores(
    events: Events, number: IntArray, total: Mapping[str, FloatArray]
) -> dict[str, FloatArray]:
    if all(column in total for column in events.scores.values()):
        return {name: total[column] for name, column in events.scores.items()}
    return {
        name: np.where(number == own, total["v_wq"], 0.0)
        for name, own in _score_numbers(events).items()
    }


def _wide(events: Events, grid: Grid) -> tuple[nw.LazyFrame[Any], int]:
    import narwhals.stable.v2 as nw

    ((number, column),) = events.numbers.items()
    q = nw.col(column)
    logit = log_odds(q)
    if "log p" in events.scores:  # both logarithms are there already
        logit = nw.col(events.scores["log p"]) - nw.col(events.scores["log q"])
        logit = within_limits(logit)
    place = grid.bin_of(q) * float(grid.n_cells) + grid.cell_of(q, logit)
    n_tails = 1
    if events.n_classes:
        n_tails = 2 * events.n_classes
        happened = nw.col(HIT)
        if number != events.n_classes:
            happened = (nw.col(CODE) == number).cast(nw.Float64)
        place = place * float(n_tails) + nw.col(CODE) * 2.0 + happened
    return events.frame.with_columns(_key(place), q.alias(_Q)), n_tails


def _long(events: Events, grid: Grid) -> tuple[nw.LazyFrame[Any], int]:
    import narwhals.stable.v2 as nw

    frame, named = events.frame, dict(events.numbers)
    index = [*events.keys, STATE]
    index += [WEIGHT] if events.weighted else []
    labels = labels_number(events)
    if events.n_classes:
        frame = frame.with_columns(nw.lit(0.5).alias("v_labels"))
        named[labels] = "v_labels"
        index += [CODE, HIT]
    elif HIT in frame.collect_schema():
        index += [HIT]
    named |= {own: events.scores[name] for name, own in _score_numbers(events).items()}
    # The name of a column becomes a value: its number.
    frame = frame.rename({column: str(number) for number, column in named.items()})
    frame = frame.unpivot(
        list(map(str, named)), index=index, variable_name=_NUMBER, value_name=_Q
    ).with_columns(nw.col(_NUMBER).cast(nw.Int64))
    number = nw.col(_NUMBER)
    inside = nw.when(number <= labels).then(nw.col(_Q)).otherwise(nw.lit(0.5))
    frame = frame.with_columns(inside.alias("v_inside"))
    q = nw.col("v_inside")
    place = (grid.bin_of(q) + number * float(grid.n_bins + 1)) * float(grid.n_cells)
    place = place + grid.cell_of(q, log_odds(q))
    if events.n_classes:
        n_tails = max(2, events.n_classes)
        tail = nw.when(number == labels).then(nw.col(CODE) * 1.0)
        place = place * float(n_tails) + tail.otherwise(_happened(events, number))
    elif HIT in index:
        n_tails = 3
        place = place * float(n_tails) + nw.col(HIT)
    else:
        n_tails = 1
    return frame.with_columns(_key(place)), n_tails


def _happened(events: Events, number: nw.Expr) -> nw.Expr:
    """Return 1 where the event happened: the top class was right, or the class occurred."""
    import narwhals.stable.v2 as nw

    one = (nw.col(CODE) == number).cast(nw.Float64)
    return nw.when(number == events.n_classes).then(nw.col(HIT)).otherwise(one)


def _key(place: nw.Expr) -> nw.Expr:
    """One whole number for event, bin, cell and outcome: engines group by one key fastest."""
    import narwhals.stable.v2 as nw

    state = nw.col(STATE)
    return nw.when(state == 0).then(place).otherwise(state).cast(nw.Int64).alias(_KEY)


def _products(events: Events, *, scores: bool) -> dict[str, nw.Expr]:
    """Columns to be summed; several engines sum no expressions, only columns."""
    import narwhals.stable.v2 as nw

    q = nw.col(_Q)
    columns = [nw.col(column) for column in events.scores.values()] if scores else []
    if not events.weighted:
        products = {"v_wq": q, "v_wqq": q * (1 - q)}
        names = events.scores.values()
        return products | dict(zip(names, columns, strict=False))
    w = nw.col(WEIGHT)
    products = {"v_w": w, "v_ww": w * w, "v_wq": w * q, "v_wqq": w * q * (1 - q)}
    products["v_wwqq"] = w * w * q * (1 - q)
    return products | {
        name: w * column for name, column in zip(events.scores.values(), columns, strict=False)
    }
