"""Two models on the same rows, as sums that an engine makes in one scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical.frames._grid.cells import Grid
from veridical.frames._grid.rows import LABEL, WEIGHT, opened_rows
from veridical.frames._tables.open import run

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, FloatArray, IntArray

RULES = ("brier", "log", "zero-one")
_KEYS = ("v_bin0", "v_bin1", "v_hit")
_MOMENTS = ("1", "p", "q", "pp", "qq", "pq")


@dataclass(frozen=True)
class PairedSums:
    """Sums over rows that share the bins of both models and the outcome.

    Attributes
    ----------
    first, second : bin of each model, from 0
    outcome : 1 where the positive class occurred
    w : sums of weights
    moments : sums of w^2 times 1, p, q, p^2, q^2 and p q, (6, m); p, q are the predictions
    scores : by rule, sums of w d, w^2 d and w^2 d^2, (3, m); d is the first model's score less
        the second's
    """

    first: IntArray
    second: IntArray
    outcome: IntArray
    w: FloatArray
    moments: FloatArray
    scores: dict[str, FloatArray]


def paired_sums(
    source: Any,
    *,
    y: str,
    prob: tuple[str, str],
    sample_weight: str | None,
    positive: Any,
    positive_first: bool,
    n_bins: int,
    rules: Sequence[str] = RULES,
    caller: str,
) -> PairedSums:
    """Sum up two models' probabilities of one class, rows having been checked already.

    Parameters
    ----------
    source : frame, str or path
        As in `grid_table`.
    y, prob, sample_weight : str; pair of str; str or None
        Columns.
    positive : object
        The label the probabilities are of.
    positive_first : bool
        Whether that label is the first in column order, which ties go to.
    n_bins : int
        Number of equal-width bins, the same for both models.
    rules : sequence of str
        Scores whose differences are wanted.
    caller : str
        Who asks: it opens the error message.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.LazyFrame({"y": [0, 1], "a": [0.25, 0.75], "b": [0.5, 0.5]})
    >>> sums = paired_sums(frame, y="y", prob=("a", "b"), sample_weight=None, positive=1,
    ...     positive_first=False, n_bins=2, rules=["brier"], caller="f")
    >>> sums.first.tolist(), sums.second.tolist(), sums.scores["brier"][0].tolist()
    ([0, 1], [0, 0], [-0.1875, -0.1875])
    """
    import narwhals.stable.v2 as nw

    frame, rows = opened_rows(source, y=y, prob=prob, sample_weight=sample_weight, caller=caller)
    types = frame.collect_schema()
    query, weighted = rows.frame, sample_weight is not None
    if weighted:
        query = query.filter(nw.col(WEIGHT) > 0)
    hit = (nw.col(LABEL) == positive).cast(nw.Float64)
    columns = [hit.alias("v_hit")]
    for k, name in enumerate(prob):
        p = nw.col(f"v_p{k}").cast(nw.Float64)
        grid = Grid(n_bins, 64, types[name] == nw.Float32)  # each model as by itself
        columns += [p.alias(f"v_q{k}"), grid.bin_of(p).alias(f"v_bin{k}")]
    query = query.with_columns(*columns)
    products = _products(rules, positive_first=positive_first, weighted=weighted)
    table = run(
        query.select(*_KEYS, **products)
        .group_by(*_KEYS)
        .agg(nw.len().alias("v_count"), *(nw.col(name).sum() for name in products))
    )

    def column(name: str) -> Array:
        return table.column(name, caller=caller, param="source").astype(np.float64)

    keys = [column(name).astype(np.intp) for name in _KEYS]
    order = np.lexsort(keys[::-1])
    count = column("v_count")[order]
    total = {name: column(name)[order] for name in products} | {"v_m1": count, "v_w": count}
    if weighted:
        total |= {name: column(name)[order] for name in ("v_m1", "v_w")}
    return PairedSums(
        first=keys[0][order] - 1,
        second=keys[1][order] - 1,
        outcome=keys[2][order],
        w=total["v_w"],
        moments=np.stack([total[f"v_m{name}"] for name in _MOMENTS]),
        scores={
            rule: np.stack([total[f"v_{part}_{rule}"] for part in ("wd", "wwd", "wwdd")])
            for rule in rules
        },
    )


def _products(rules: Sequence[str], *, positive_first: bool, weighted: bool) -> dict[str, nw.Expr]:
    """Columns to be summed; several engines sum no expressions, only columns."""
    import narwhals.stable.v2 as nw

    w = nw.col(WEIGHT) if weighted else nw.lit(1.0)
    p, q, y = nw.col("v_q0"), nw.col("v_q1"), nw.col("v_hit")
    products = {"v_w": w, "v_m1": w * w} if weighted else {}
    for name, value in {"p": p, "q": q, "pp": p * p, "qq": q * q, "pq": p * q}.items():
        products[f"v_m{name}"] = w * w * value
    for rule in rules:
        d = _score(rule, p, y, positive_first) - _score(rule, q, y, positive_first)
        products[f"v_wd_{rule}"] = w * d
        products[f"v_wwd_{rule}"] = w * w * d
        products[f"v_wwdd_{rule}"] = w * w * d * d
    return products


def _score(rule: str, p: nw.Expr, y: nw.Expr, positive_first: bool) -> nw.Expr:  # noqa: FBT001
    import narwhals.stable.v2 as nw

    if rule == "brier":
        return (p - y) * (p - y)
    if rule == "log":
        return 0.0 - (1 - y - p + 2 * p * y).log()  # of p where y is 1, of 1 - p where it is 0
    chosen = (p >= 0.5 if positive_first else p > 0.5).cast(nw.Float64)
    return (chosen - y) * (chosen - y)
