"""The columns a calibration scan needs, under names of its own, in any engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from veridical.exceptions import invalid
from veridical.frames._tables.columns import missing_column
from veridical.frames._tables.open import open_lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import narwhals.stable.v2 as nw

    from veridical._core.data.faults import Option

LABEL, WEIGHT = "v_label", "v_weight"
# Labels stored as floats are whole numbers below this: beyond, integers are not told apart.
LARGEST_LABEL = 2.0**53
LARGEST_FLOAT = 1.7976931348623157e308


@dataclass(frozen=True, kw_only=True)
class EngineRows:
    """A query for labels, probabilities, weights and keys.

    Attributes
    ----------
    frame : columns LABEL, `p_names`, WEIGHT if there are weights, and `by_names`
    y, prob, sample_weight, by : what the user calls them
    single : whether every probability is a Float32
    label_type : type of the labels
    declared : categories of the labels in their order, if their type orders them
    tolerance : how far from one a row may sum; None for that of its type
    notes : what was done to values, or accepted of them
    option : parameter of the caller that says what predictions are, for advice
    as_given : `frame` and the query it renames columns of, if it does no more than that
    """

    frame: nw.LazyFrame[Any]
    y: str
    prob: tuple[str, ...]
    sample_weight: str | None
    by: tuple[str, ...]
    single: bool
    label_type: nw.dtypes.DType
    declared: tuple[Any, ...] | None = None
    tolerance: float | None = None
    notes: tuple[str, ...] = ()
    option: Option = None
    as_given: tuple[nw.LazyFrame[Any], nw.LazyFrame[Any]] | None = None

    def arranged(self, order: Sequence[int] | None) -> EngineRows:
        """The same rows with probability columns in another order."""
        import narwhals.stable.v2 as nw

        if order is None:
            return self
        moved = [nw.col(f"v_p{column}").alias(f"v_p{k}") for k, column in enumerate(order)]
        kept = [LABEL, *([] if self.sample_weight is None else [WEIGHT]), *self.by_names]
        prob = tuple(self.prob[column] for column in order)
        return replace(self, frame=self.frame.select(*kept, *moved), prob=prob)

    @property
    def untouched(self) -> nw.LazyFrame[Any] | None:
        """The query with the user's names, if nothing was done to its values.

        Engines hold more rows in memory for every step between a file and what reads it.
        """
        if self.as_given is None or self.as_given[0] is not self.frame:
            return None
        return self.as_given[1]

    @property
    def fractions(self) -> bool:
        """Whether labels are floats, which may hold fractions."""
        return self.label_type.is_float()

    @property
    def p_names(self) -> list[str]:
        """Probability columns."""
        return [f"v_p{k}" for k in range(len(self.prob))]

    @property
    def by_names(self) -> list[str]:
        """Key columns."""
        return [f"v_by{k}" for k in range(len(self.by))]

    @property
    def user_names(self) -> dict[str, str]:
        """What the user calls each column."""
        names = {LABEL: self.y, **dict(zip(self.p_names, self.prob, strict=True))}
        if self.sample_weight is not None:
            names[WEIGHT] = self.sample_weight
        return names | dict(zip(self.by_names, self.by, strict=True))

    def missing_label(self) -> nw.Expr:
        """Whether a row has no label."""
        import narwhals.stable.v2 as nw

        label = nw.col(LABEL)
        # Engines order NaN differently, and SQL has NULL besides; this is true for neither.
        return label.is_null() | label.is_nan() if self.fractions else label.is_null()

    def is_label(self) -> nw.Expr:
        """Whether a row has a label: not missing, not a fraction."""
        import narwhals.stable.v2 as nw

        label = nw.col(LABEL)
        if not self.fractions:
            return ~label.is_null()
        whole = (label == label.floor()) & (label.abs() < LARGEST_LABEL)
        return ~label.is_null() & whole.fill_null(value=False)


def opened_rows(
    source: Any, *, y: str, prob: Sequence[str], sample_weight: str | None, caller: str
) -> tuple[nw.LazyFrame[Any], EngineRows]:
    """Open a frame or file with the columns asked for, and choose them; the query and its rows."""
    needed = dict.fromkeys([y, *prob, *([] if sample_weight is None else [sample_weight])])
    frame = open_lazy(source, columns=list(needed), caller=caller)
    rows = engine_rows(frame, y=y, prob=prob, sample_weight=sample_weight, by=(), caller=caller)
    return frame, rows


def engine_rows(
    frame: nw.LazyFrame[Any],
    *,
    y: str,
    prob: Sequence[str],
    sample_weight: str | None,
    by: Sequence[str],
    declared: Callable[[], tuple[Any, ...] | None] = lambda: None,
    caller: str,
) -> EngineRows:
    """Choose the columns; say what is wrong with those that are absent or hold no numbers.

    `declared` finds the order that the type of the labels declares, once they are known to exist.
    """
    import narwhals.stable.v2 as nw

    types = frame.collect_schema()
    weights = [] if sample_weight is None else [sample_weight]
    asked = {"y": [y], "prob": prob, "sample_weight": weights, "by": by}
    for param, names in asked.items():
        for name in names:
            if name not in types:
                raise missing_column(name, types.names(), caller=caller, param=param)
    for name in prob:
        _check_numbers(name, types[name], "prob", caller)
    for name in weights:
        _check_numbers(name, types[name], "sample_weight", caller)
    single = all(types[name] == nw.Float32 for name in prob)
    p_type = nw.Float32 if single else nw.Float64
    label, label_type = nw.col(y), types[y]
    if label_type in (nw.Categorical, nw.Enum):
        label_type = nw.String()
        label = label.cast(nw.String)
    elif label_type == nw.Decimal:
        label_type = nw.Float64()
        label = label.cast(nw.Float64)
    elif label_type.is_temporal() or label_type == nw.Binary:
        hint = "turn the column into text or integers first."
        got = f"column {y!r} of type {label_type}"
        expected = "labels that are integers, booleans or strings"
        raise invalid(caller, "y_true", expected, got, hint=hint)
    elif label_type.is_nested():
        hint = "unpack it into one plain column per value first."
        got = f"column {y!r} of type {label_type}"
        raise invalid(caller, "y", "a column of numbers, text or booleans", got, hint=hint)
    chosen = [label.alias(LABEL)]
    chosen += [nw.col(name).cast(p_type).alias(f"v_p{k}") for k, name in enumerate(prob)]
    chosen += [nw.col(name).cast(nw.Float64).alias(WEIGHT) for name in weights]
    chosen += [nw.col(name).alias(f"v_by{k}") for k, name in enumerate(by)]
    doubles = all(types[name] == p_type for name in prob) and label_type == types[y]
    chosen_frame = frame.select(chosen)
    unchanged = doubles and all(types[name] == nw.Float64 for name in weights)
    return EngineRows(
        frame=chosen_frame,
        as_given=(chosen_frame, frame) if unchanged else None,
        y=y,
        prob=tuple(prob),
        sample_weight=sample_weight,
        by=tuple(by),
        single=single,
        label_type=label_type,
        declared=declared(),
    )


def _check_numbers(name: str, dtype: nw.dtypes.DType, param: str, caller: str) -> None:
    import narwhals.stable.v2 as nw

    if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Unknown)):
        got = f"column {name!r} of type {dtype}"
        raise invalid(caller, param, "numeric", got, hint="choose a column of numbers.")
