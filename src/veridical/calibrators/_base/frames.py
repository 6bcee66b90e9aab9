"""Fitting to columns of a frame or a file, and calibrated probabilities as new ones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from veridical._core.data.classes import arranged_names
from veridical._core.data.faults import rounding_note
from veridical._core.data.validation import is_integer
from veridical._core.numeric.blocks import row_blocks
from veridical._core.numeric.scan import row_sum_tolerance
from veridical._core.sample import effective_size
from veridical._core.typing import Array, BoolArray, FloatArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.exporting import formula_of
from veridical.calibrators._base.rows import CheckedRows, direction_doubts
from veridical.exceptions import invalid
from veridical.frames import tables
from veridical.frames.files import is_large_file

_RESOLUTION = 16384  # cells no wider than 6e-5 in probability and 0.004 in log odds
_SAMPLE_ROWS = 200_000
_SEED = 0  # of the sample: the same rows give the same map


@dataclass(frozen=True)
class FitColumns:
    """What to fit to, and where it is."""

    source: Any
    y: str
    prob: tuple[str, ...]
    weight: str | None
    caller: str

    @property
    def named(self) -> dict[str, Any]:
        """The columns as functions of `frames` take them, and who asks."""
        return {
            "y": self.y,
            "prob": self.prob,
            "sample_weight": self.weight,
            "caller": self.caller,
        }

    def grid(
        self, problem: str, calibrator: Calibrator, *, n_bins: int, resolution: int
    ) -> tables.GridTable:
        """Sums over the cells of a fine grid, of the classes a calibrator is told."""
        options: dict[str, Any] = {"problems": [problem], "n_bins": n_bins, "scores": False}
        options |= {"labels": calibrator.labels, "pos_label": calibrator.pos_label}
        return tables.grid_table(self.source, resolution=resolution, **options, **self.named)


@runtime_checkable
class Pooling(Protocol):
    """A calibrator that can be fitted to pooled rows."""

    def _fits_pooled_rows(self, n_columns: int) -> bool:
        """Whether it can with so many columns of predictions and its settings."""
        ...

    def _fit_rows(self, rows: CheckedRows) -> Notes:
        """Fit to checked rows."""
        ...


@runtime_checkable
class Summing(Protocol):
    """A calibrator that can be fitted from sums over all rows."""

    def _fit_sums(self, columns: FitColumns) -> Notes | None:
        """Fit from sums that an engine returns, and say what is in doubt; None if it cannot."""
        ...


def fit_frame(
    calibrator: Calibrator,
    source: Any,
    y: str,
    prob: str | Sequence[str] | None,
    sample_weight: str | None,
) -> Notes:
    """Fit to columns and say what is in doubt; see `Calibrator.fit`."""
    columns = _columns(
        source,
        y,
        prob,
        sample_weight,
        scale="probability" if calibrator.input == "probability" else "logit",
        caller=type(calibrator).__name__,
    )
    notes = _fit_columns(calibrator, columns)
    calibrator._remember_columns(columns.prob)
    calibrator.outcome_name_ = columns.y
    return notes


def _fit_columns(calibrator: Calibrator, columns: FitColumns) -> Notes:
    if _in_memory(columns.source):
        return _fit_exactly(calibrator, columns)
    if calibrator.input != "probability":
        return _fit_sample(calibrator, columns)
    if isinstance(calibrator, Pooling) and calibrator._fits_pooled_rows(len(columns.prob)):
        return _fit_cells(calibrator, calibrator, columns)
    if isinstance(calibrator, Summing):
        notes = calibrator._fit_sums(columns)
        if notes is not None:
            return notes
    return _fit_sample(calibrator, columns)


def read_columns(
    source: Any,
    y: str,
    prob: Any,
    sample_weight: Any,
    by: Any,
    *,
    groups: Any = None,
    caller: str,
) -> tuple[Any, Any, Any, Any, Any, FitColumns]:
    """Predictions, labels, weights, features and groups of a frame or file, and their columns."""
    columns = _columns(source, y, prob, sample_weight, caller=caller)
    listed = isinstance(by, (list, tuple)) and all(isinstance(name, str) for name in by)
    if listed:
        available = tables.column_names(source, caller=caller, param="y_prob")
        by = tables.expand_columns(by, available, caller=caller, param="by")
    named = [columns.weight, groups, *(by if listed else [by])]
    named = [name for name in named if isinstance(name, str)]
    wanted = list(dict.fromkeys([columns.y, *columns.prob, *named]))
    table = tables.open_table(source, columns=wanted, caller=caller, param="y_prob")
    weight = columns.weight
    if listed:
        by = {name: table.column(name, caller=caller, param="by") for name in by}
    return (
        table.predictions(columns.prob, caller=caller, param="prob"),
        tables.labels_of(source, table, columns.y, caller=caller),
        None if weight is None else table.column(weight, caller=caller, param="sample_weight"),
        table.column(by, caller=caller, param="by") if isinstance(by, str) else by,
        table.column(groups, caller=caller, param="groups") if isinstance(groups, str) else groups,
        columns,
    )


def is_source(obj: object) -> bool:
    """Whether this is a frame or a file, of which columns can be named."""
    return isinstance(obj, (str, os.PathLike)) or tables.is_frame(obj)


def _in_memory(source: Any) -> bool:
    """Whether the rows are here, or few enough to be read."""
    if isinstance(source, (str, os.PathLike)):
        return not is_large_file(source)
    return not tables.is_lazy(source)


def _columns(
    source: Any, y: str, prob: Any, sample_weight: Any, *, scale: str = "probability", caller: str
) -> FitColumns:
    if sample_weight is not None and not isinstance(sample_weight, str):
        hint = 'name its column, e.g. sample_weight="weight".'
        got = type(sample_weight).__name__
        raise invalid(caller, "sample_weight", "a column if `y` is one", got, hint=hint)
    available = tables.column_names(source, caller=caller, param="y_prob")
    outcome = tables.expand_columns(y, available, caller=caller, param="y")[0]
    weight = None
    if sample_weight is not None:
        [weight] = tables.expand_columns(
            [sample_weight], available, caller=caller, param="sample_weight"
        )
    guess = tables.find_columns(
        source, y=outcome, prob=prob, without=[weight], scale=scale, caller=caller, param="y_prob"
    )
    return FitColumns(source, outcome, guess.prob, weight, caller)


def _fit_exactly(calibrator: Calibrator, columns: FitColumns) -> Notes:
    caller, name = columns.caller, columns.weight
    wanted = [columns.y, *columns.prob, *([name] if name else [])]
    table = tables.open_table(columns.source, columns=wanted, caller=caller, param="y_prob")
    weight = None if name is None else table.column(name, caller=caller, param="sample_weight")
    return _fit_table(calibrator, table, columns, weight)


def _fit_cells(calibrator: Calibrator, pooling: Pooling, columns: FitColumns) -> Notes:
    """Fit to one row for each cell of a fine grid and outcome, as often as it occurred."""
    from veridical.summaries import GridSummary

    table = columns.grid("binary", calibrator, n_bins=_cut_at(calibrator), resolution=_RESOLUTION)
    grid = GridSummary(table)
    sample = grid.sample("binary")
    n_cells = len(np.unique(sample.p))
    sample = replace(sample, p=_snapped(sample.p), positive_first=table.positive == 0)
    rows = CheckedRows.of_sample(sample)
    # weights are counts of rows now, whatever those of the rows meant; cells are not known again
    with _meanwhile(calibrator, weight_type=sample.weight_type, keeps_fingerprint=False):
        notes = pooling._fit_rows(rows)
    calibrator.fitted_on_ = f"{grid.n_samples:,} rows, pooled in {n_cells:,} cells"
    return notes + direction_doubts(rows, caller=columns.caller, pos_label=calibrator.pos_label)


def _snapped(p: FloatArray) -> FloatArray:
    """Means without the rounding of sums: of equal predictions, again the prediction itself.

    A step at 0.2 must not be put beside the rows that say 0.2. Numbers of single precision, and
    decimals of up to twelve digits, are found again; everything else moves by less than 1e-12.
    """
    single = p.astype(np.float32).astype(np.float64)
    decimal = np.array([float(f"{value:.12g}") for value in p.tolist()])
    return np.where(np.abs(single - p) <= 1e-12 * p, single, decimal)


def _cut_at(calibrator: Calibrator) -> int:
    """Equal-width bins whose edges no cell lies across: those of the map, if it has any."""
    n_bins = getattr(calibrator, "n_bins", 1)
    return int(n_bins) if is_integer(n_bins) else 1


def _fit_sample(calibrator: Calibrator, columns: FitColumns) -> Notes:
    """Fit to rows drawn in the engine, which weights make stand for all."""
    from veridical.frames.grid import SAMPLING_WEIGHT

    caller, given = columns.caller, [columns.weight] if columns.weight else []
    table = tables.sample_rows(
        columns.source,
        [columns.y, *columns.prob, *given],
        n=_SAMPLE_ROWS,
        stratify=columns.y,
        seed=_SEED,
        caller=caller,
    )
    stands_for = table.column(SAMPLING_WEIGHT, caller=caller, param="prob")
    n_rows = round(float(stands_for.sum()))
    weight = None
    if n_rows > table.n_rows:  # counted as the rows that were drawn, not as those they stand for
        weight = stands_for * (effective_size(stands_for, table.n_rows, "importance") / n_rows)
    for name in given:
        own = table.column(name, caller=caller, param="sample_weight")
        weight = own if weight is None else weight * own
    notes = _fit_table(calibrator, table, columns, weight)
    if n_rows > table.n_rows:
        calibrator.fitted_on_ = f"a stratified sample of {table.n_rows:,} of {n_rows:,} rows"
        notes += (f"{caller}: fitted on {calibrator.fitted_on_}.",)
    return notes


def _fit_table(
    calibrator: Calibrator, table: tables.Table, columns: FitColumns, weight: Any
) -> Notes:
    caller = columns.caller
    y = tables.labels_of(columns.source, table, columns.y, caller=caller)
    values = table.predictions(columns.prob, caller=caller, param="prob")
    notes = calibrator._fit_arrays(values, y, weight)
    return notes


@contextmanager
def _meanwhile(calibrator: Calibrator, **params: Any) -> Iterator[None]:
    """Fit with other parameters than the user's, which are put back."""
    before = {name: getattr(calibrator, name) for name in params}
    for name, value in params.items():
        setattr(calibrator, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(calibrator, name, value)


_CALLER = "transform"
_PREFIX = "calibrated"  # as `veridical apply` names its columns
_BLOCK_VALUES = 1 << 20


def transform_frame(
    calibrator: Calibrator,
    frame: Any,
    prob: str | Sequence[str] | None,
    names: str | Sequence[str] | None,
) -> Any:
    """Add columns of calibrated probabilities; see `Calibrator.transform`."""
    if not tables.is_frame(frame):
        if prob is None and names is None:
            return calibrator.predict_proba(frame)
        hint = "arrays have no columns: leave `prob` and `names` out."
        got = f"an object of type {type(frame).__name__}"
        raise invalid(_CALLER, "frame", "a frame", got, hint=hint)
    available = tables.column_names(frame, caller=_CALLER, param="frame")
    columns = _transform_columns(calibrator, prob, available)
    new = _names(calibrator, names, len(columns), available)
    from veridical.frames.grid import of_partitions

    if not tables.is_lazy(frame):
        return _transform_in_memory(frame, calibrator, columns, new)
    by_part = of_partitions(frame)
    if by_part is not None:
        return by_part(
            partial(_transform_in_memory, calibrator=calibrator, columns=columns, new=new)
        )
    return _lazily(calibrator, frame, columns, new)


def _transform_in_memory(
    frame: Any, calibrator: Calibrator, columns: list[str], new: list[str]
) -> Any:
    from veridical.frames.grid import with_arrays

    features = _features_of(calibrator, frame)
    wanted = list(dict.fromkeys([*columns, *features]))
    table = tables.open_table(frame, columns=wanted, caller=_CALLER, param="frame")
    values = table.matrix(columns, caller=_CALLER, param="prob")
    by = {name: table.column(name, caller=_CALLER, param="frame") for name in features}
    found = _calibrated(calibrator, values[:, 0] if len(columns) == 1 else values, by)
    kept = found[:, [calibrator.positive_index_]] if len(columns) == 1 else found
    return with_arrays(frame, {name: kept[:, k] for k, name in enumerate(new)})


def _lazily(calibrator: Calibrator, frame: Any, columns: list[str], new: list[str]) -> Any:
    from veridical.frames.grid import with_formulas

    formula = formula_of(calibrator, one_column=len(columns) == 1, caller=_CALLER)
    nodes = formula.outputs if len(new) > 1 else (formula.outputs[formula.positive],)
    outputs = dict(zip(new, nodes, strict=True))
    return with_formulas(
        frame, columns, outputs, input=formula.input, caller=_CALLER, features=formula.features
    )


def _features_of(calibrator: Calibrator, frame: Any) -> list[str]:
    """Columns of features that the map uses."""
    features = getattr(calibrator, "features_", None)
    if features is None:
        return []
    available = tables.column_names(frame, caller=_CALLER, param="frame")
    return tables.expand_columns(features.names, available, caller=_CALLER, param="frame")


def _calibrated(calibrator: Calibrator, values: FloatArray, by: dict[str, Array]) -> FloatArray:
    """Probabilities of all classes; NaN in rows that `predict_proba` would refuse."""
    kept = _accepted(values, calibrator.input)
    result = np.full((len(values), len(calibrator.classes_)), np.nan)
    for rows in row_blocks(len(values), max(256, _BLOCK_VALUES // len(calibrator.classes_))):
        within = kept[rows]
        if within.any():
            options = {"by": {k: v[rows][within] for k, v in by.items()}} if by else {}
            result[rows][within] = calibrator.predict_proba(values[rows][within], **options)
    return result


def _accepted(values: FloatArray, input: str) -> BoolArray:
    """Rows that are what they should be; the other ones cannot be calibrated."""
    matrix = values[:, None] if values.ndim == 1 else values
    if input != "probability":
        return np.asarray(np.isfinite(matrix).all(axis=1))
    with np.errstate(invalid="ignore"):
        inside = ((matrix >= 0) & (matrix <= 1)).all(axis=1)
        if values.ndim == 2:
            total = matrix.sum(axis=1, dtype=np.float64)
            summed = np.abs(total - 1) <= row_sum_tolerance(values.dtype)
            rounded = not summed[inside].all() and rounding_note(values[inside]) is not None
            inside &= summed | rounded
    return np.asarray(inside)


def _transform_columns(
    calibrator: Calibrator, prob: str | Sequence[str] | None, available: list[str]
) -> list[str]:
    """Columns to calibrate, one for each class or that of the positive class."""
    if prob is None:
        columns = _known_columns(calibrator, available)
    else:
        columns = tables.expand_columns(prob, available, caller=_CALLER, param="prob")
        fitted = getattr(calibrator, "feature_names_in_", None)
        if fitted is not None and set(columns) == set(fitted.tolist()):
            columns = fitted.tolist()  # whatever order a glob finds them in
        else:
            columns = arranged_names(columns, calibrator.classes_.tolist(), caller=_CALLER)
    n_classes = len(calibrator.classes_)
    if len(columns) not in ((1, 2) if n_classes == 2 else (n_classes,)):
        count = "one or two columns" if n_classes == 2 else f"{n_classes} columns"
        hint = f"one for each class, in this order: {calibrator.classes_.tolist()[:6]}."
        raise invalid(_CALLER, "prob", count, f"{len(columns)}", hint=hint)
    calibrator._check_one_column(columns, caller=_CALLER)
    return columns


def _known_columns(calibrator: Calibrator, available: list[str]) -> list[str]:
    fitted = getattr(calibrator, "feature_names_in_", None)
    if fitted is not None and set(fitted.tolist()) <= set(available):
        return [str(name) for name in fitted]
    n_classes = len(calibrator.classes_)
    sizes = (1, 2) if n_classes == 2 else (n_classes,)
    found = [names for names in tables.predictions_by_name(available) if len(names) in sizes]
    if len(found) != 1:
        hint = "name the columns of predictions, in the order of `classes_`."
        known = [name for names in found for name in names]
        got = f"None, and {known or 'no column'} of {available[:6]} known by name"
        raise invalid(_CALLER, "prob", "given", got, hint=hint)
    return list(found[0])


def _names(
    calibrator: Calibrator,
    names: str | Sequence[str] | None,
    n_columns: int,
    available: list[str],
) -> list[str]:
    """New columns: one for one column of predictions, else one for each class."""
    n_new = 1 if n_columns == 1 else len(calibrator.classes_)
    if names is None:
        labels = calibrator.classes_.tolist()
        new = [_PREFIX] if n_new == 1 else [f"{_PREFIX}_{label}" for label in labels]
    else:
        new = [names] if isinstance(names, str) else list(names)
    if len(new) != n_new or not all(isinstance(name, str) and name for name in new):
        hint = f"one for each class, in this order: {calibrator.classes_.tolist()[:6]}."
        hint = "one column of predictions gives one new column." if n_new == 1 else hint
        raise invalid(_CALLER, "names", f"{n_new} name(s)", repr(names), hint=hint)
    taken = {name.lower() for name in available}  # databases do not tell P from p
    again = [name for name in new if name.lower() in taken]
    if again or len({name.lower() for name in new}) < len(new):
        got = f"{again[0]!r}, which is there" if again else f"repeated names: {new[:6]}"
        hint = "nothing is overwritten: choose other names with `names=`"
        hint += "; a `Pipeline` of calibrators takes arrays."
        raise invalid(_CALLER, "names", "names of new columns", got, hint=hint)
    return new
