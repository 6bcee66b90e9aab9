"""A calibrator written for elsewhere, with the check that it says the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from veridical._core.data.features import Features
from veridical._core.data.groups import MISSING_KEY
from veridical._core.data.validation import check_option
from veridical._core.formula import probability_of
from veridical._core.typing import Array, FloatArray
from veridical.calibrators import Calibrator, GroupedCalibrator
from veridical.calibrators.core import FeatureCalibrator
from veridical.calibrators.formulas import check_exportable, probe_scores
from veridical.exceptions import InvalidInputError
from veridical.export._checked.execution import ROW, TABLE, Run, run_onnx, run_python, run_sql
from veridical.export._tensors.onnx import to_onnx
from veridical.export._text.files import saved_text
from veridical.export._text.python import to_python
from veridical.export._text.sql import column_names, to_sql
from veridical.export._text.sql_dialects import DIALECTS
from veridical.results import ExportedMap

TARGETS = ("sql", "python", "onnx", "json")
_SCORES = 10_000
_LONG = 60_000  # bytes of SQL that people still paste
_FARTHEST = 1e6  # logits and scores beyond are not tried, unless such were seen
_FUNCTION = "calibrate"


@dataclass(frozen=True)
class _Written:
    """What was written, and what became of the rows it was tried on."""

    content: bytes
    run: Run
    notes: tuple[str, ...] = ()


def export_map(
    calibrator: Calibrator,
    target: str,
    *,
    dialect: str = "duckdb",
    columns: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    table: str | None = None,
    keep: Sequence[str] = (),
) -> tuple[bytes, ExportedMap]:
    """Write a fitted calibrator, run what was written, and say how close it comes.

    Parameters
    ----------
    calibrator : Calibrator
        Fitted.
    target : {"sql", "python", "onnx", "json"}
    dialect : str, default "duckdb"
        Of SQL. DuckDB and SQLite are run here; if DuckDB is not installed, the same formula is run
        in SQLite.
    columns : str or sequence of str, optional
        Columns of predictions, as `to_sql` takes them; of two classes one or both.
    by : str or sequence of str, optional
        Of a `GroupedCalibrator`, the column of groups; of a map of features, their columns.
    table, keep
        As `to_sql` takes them: a query over this table, which hands these columns on. It is checked
        on a table of the scores.

    Returns
    -------
    bytes
        What to put into a file.
    ExportedMap
        What it is, and the largest error on 10,000 scores: a grid, both ends, and all places where
        pieces of the map meet with the numbers beside them (10,000 of all that, if it is more); of
        several classes corners, edges and random rows.
    """
    caller = "export"
    check_exportable(calibrator, caller)
    check_option(caller, "to", target, TARGETS)
    names = column_names(calibrator, columns)
    calibrator._check_one_column(names, caller=caller)
    rows = _rows(calibrator, one_column=len(names) < len(calibrator.classes_))
    predict, tried = calibrator.predict_proba, _table(names, rows)
    by = by or getattr(calibrator, "group_name_", None)
    if isinstance(calibrator, GroupedCalibrator):
        keys = _keys(calibrator, len(rows))
        predict = partial(calibrator.predict_proba, by=keys)
        tried[str(by or "")] = keys
    features: dict[str, Array] = {}
    if isinstance(calibrator, FeatureCalibrator) and calibrator._uses_features:
        features = _feature_rows(calibrator.features_, len(rows))
        predict = partial(calibrator.predict_proba, by=features)
        named = [by] if isinstance(by, str) else by
        tried |= dict(zip(named or features, features.values(), strict=False))
    expected = predict(rows)
    if target == "sql":
        sql: dict[str, Any] = {"columns": names, "by": by}
        if table is None:
            written = _expressions(calibrator, dialect, sql, tried)
        else:
            text = to_sql(calibrator, dialect=dialect, table=table, keep=keep, **sql)
            query = partial(to_sql, calibrator, table=TABLE, keep=ROW, **sql)
            run, notes = _tried(query, dialect, tried)
            if not keep:
                notes += ("no column is kept: engines may hand rows on in another order",)
            written = _Written(f"{text}\n".encode(), run, notes)
        if len(calibrator.classes_) == 2:
            expected = expected[:, [calibrator.positive_index_]]
    elif target == "python":
        source = to_python(calibrator, name=_FUNCTION)
        written = _Written(source.encode(), run_python(source, _FUNCTION, rows, features))
    elif target == "onnx":
        graph = to_onnx(calibrator, one_column=rows.ndim == 1).SerializeToString()
        written = _Written(graph, run_onnx(graph, rows, features))
    else:
        text = saved_text(calibrator)
        back: Any = Calibrator.from_dict(json.loads(text)).predict_proba
        found = back(rows, **predict.keywords) if isinstance(predict, partial) else back(rows)
        written = _Written(text.encode(), Run(found, "veridical, read back"))
    made = _judged(calibrator, target, dialect, names, written, expected, query=table is not None)
    if isinstance(calibrator, GroupedCalibrator):
        where = f"column {by!r}" if target == "sql" else "`by`"
        made = replace(made, inputs=f"{made.inputs}; groups in {where}")
    if features:
        listed = ", ".join(map(repr, list(features)[:6])) + (", ..." if len(features) > 6 else "")
        made = replace(made, inputs=f"{made.inputs}; features {listed}")
    return written.content, made


def _table(names: list[str], rows: FloatArray) -> dict[str, Array]:
    return dict(zip(names, rows.reshape(len(rows), -1).T, strict=True))


def _feature_rows(features: Features, n: int) -> dict[str, Array]:
    """Features of rows: every value that is known, edges and numbers beside them, and none."""
    rng, found = np.random.default_rng(1), {}
    for feature in features:
        values: list[Any] = [*feature.values, *feature.edges]
        values += [np.nextafter(edge, np.inf) for edge in feature.edges]
        values = [bool(v) if feature.kind == "truth" else v for v in values]
        if feature.kind == "text":
            values.append("".join(map(str, values)) + "?")
        elif feature.kind != "truth":
            values += [min(values, default=0.0) - 1, max(values, default=0.0) + 1]
        values.append(None)
        column = np.empty(len(values), dtype=object)
        column[:] = values
        found[feature.name] = column[rng.integers(len(values), size=n)]
    return found


def _keys(calibrator: GroupedCalibrator, n: int) -> Array:
    """A group for each row: all that are known, one that is not, and none if keys are texts."""
    known = [key for key in calibrator.groups_ if key != MISSING_KEY]
    if all(isinstance(key, str) for key in known):
        keys = np.array([*known, "".join(known) + "?", None], dtype=object)
    elif all(isinstance(key, bool) for key in known):
        keys = np.array([False, True])
    else:
        keys = np.array([*known, max(known) + 1])
    return keys[np.arange(n) % len(keys)]


def _expressions(
    calibrator: Calibrator, dialect: str, sql: dict[str, Any], table: dict[str, Array]
) -> _Written:
    def write(dialect: str) -> list[str]:
        found = to_sql(calibrator, dialect=dialect, **sql)
        return [found] if isinstance(found, str) else found

    expressions = write(dialect)
    run, notes = _tried(write, dialect, table)
    if len(b"".join(each.encode() for each in expressions)) > _LONG and sql["by"] is None:
        notes += ("a query over a table (`table=`, `--table`) is several times shorter",)
    text = expressions[0]
    if len(expressions) > 1:
        labels = np.asarray(calibrator.classes_).tolist()
        text = ",\n\n".join(
            f"{each}\nAS {DIALECTS[dialect].quote(f'calibrated_{label}')}"
            for each, label in zip(expressions, labels, strict=True)
        )
    return _Written(f"{text}\n".encode(), run, notes)


def _tried(
    write: Callable[..., Any], dialect: str, table: dict[str, Array]
) -> tuple[Run, tuple[str, ...]]:
    """What comes of SQL where it can be run; without DuckDB in SQLite's words, if it has them."""
    run = run_sql(write(dialect=dialect), dialect, table)
    if run.values is not None or dialect != "duckdb":
        return run, ()
    missing = run
    try:
        found = write(dialect="sqlite")
    except InvalidInputError:
        return Run(None, f"{missing.by}, and SQLite cannot read it"), ()
    run = run_sql(found, "sqlite", table)
    if run.values is None:
        return Run(None, f"{missing.by}, and {run.by}"), ()
    return run, (f"{missing.by}: the same formula was run as SQL for sqlite",)


def _judged(
    calibrator: Calibrator,
    target: str,
    dialect: str,
    names: list[str],
    written: _Written,
    expected: FloatArray,
    *,
    query: bool,
) -> ExportedMap:
    values, by = written.run
    error = None
    if values is not None:
        away = np.abs(values - expected)
        error = float(np.where(np.isnan(away), np.inf, away).max())
    return ExportedMap(
        calibrator=type(calibrator).__name__,
        target=target,
        dialect=dialect if target == "sql" else None,
        size=len(written.content),
        inputs=_inputs(calibrator, target, names),
        output=_output(calibrator, target, query=query),
        n_scores=0 if values is None else len(expected),
        max_error=error,
        executed_in=None if values is None else by,
        notes=(*written.notes, *(() if values is not None else (f"not executed: {by}",))),
    )


def _inputs(calibrator: Calibrator, target: str, names: list[str]) -> str:
    """What goes in, in words."""
    kind, labels = calibrator.input, np.asarray(calibrator.classes_).tolist()
    outcome = getattr(calibrator, "outcome_name_", None)
    if len(names) == 1 or (target == "python" and len(labels) == 2):
        about = probability_of(calibrator.positive_label, outcome)
        about = about if kind == "probability" else f"{kind} for the {about}"
        where = {"sql": f"column {names[0]!r}", "python": "one number"}.get(target, "one column")
        return f"{where}, the {about}"
    plural = {"probability": "probabilities"}.get(kind, f"{kind}s")
    listed = ", ".join(map(repr, labels[:6])) + (", ..." if len(labels) > 6 else "")
    if target == "sql":
        columns = ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
        return f"columns {columns}, the {plural} of {listed}"
    return f"{len(labels)} {plural} a row, of {listed}"


def _output(calibrator: Calibrator, target: str, *, query: bool) -> str:
    """What comes out, in words."""
    labels = np.asarray(calibrator.classes_).tolist()
    outcome = getattr(calibrator, "outcome_name_", None)
    if target == "sql" and len(labels) == 2:
        what = "column of a query, `calibrated`" if query else "expression"
        return f"one {what}, the {probability_of(calibrator.positive_label, outcome)}"
    said = [probability_of(label, outcome) for label in labels[:3]]
    listed = ", ".join(said) + (", ..." if len(labels) > 3 else "")
    what = "columns" if target in ("sql", "onnx") else "numbers"
    return f"{len(labels)} {what}: {listed}"


def _rows(calibrator: Calibrator, *, one_column: bool) -> FloatArray:
    """Rows to try, 10,000 of them, the same for the same map."""
    rng = np.random.default_rng(0)
    if len(calibrator.classes_) > 2:
        return _several(len(calibrator.classes_), calibrator.input, rng)
    scores = probe_scores(calibrator)
    seen = getattr(calibrator, "score_range_", None)
    farthest = _FARTHEST if seen is None else max(_FARTHEST, *(2 * abs(end) for end in seen))
    scores = scores[np.abs(scores) <= farthest]
    if len(scores) > _SCORES:
        inner = rng.choice(len(scores) - 2, _SCORES - 2, replace=False) + 1
        scores = scores[np.sort(np.concatenate([[0, len(scores) - 1], inner]))]
    else:
        more = rng.random(_SCORES - len(scores))
        if calibrator.input != "probability" and seen is not None:
            more = seen[0] * (1 - more) + seen[1] * more
        elif calibrator.input != "probability":
            more = np.log(more) - np.log1p(-more)
        scores = np.concatenate([scores, more])
    if one_column:
        return scores
    other = 1 - scores if calibrator.input == "probability" else np.zeros(len(scores))
    pair = np.column_stack([other, scores])
    return pair if calibrator.positive_index_ else pair[:, ::-1].copy()


def _several(n_classes: int, kind: str, rng: np.random.Generator) -> FloatArray:
    """Corners, edges and the middle of the simplex, and rows of any concentration."""
    special = [*np.eye(n_classes)[:100], np.full(n_classes, 1 / n_classes)]
    special += [(row + special[0]) / 2 for row in special[1:100]]
    sizes = np.exp(rng.uniform(np.log(0.05), np.log(20), _SCORES - len(special)))
    p = rng.standard_gamma(np.repeat(sizes[:, None], n_classes, axis=1)) + 1e-300
    rows = np.concatenate([special, p / p.sum(axis=1, keepdims=True)])
    return rows if kind == "probability" else np.log(np.maximum(rows, 1e-12))
