"""Calibrators as SQL expressions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical._core.data.features import Features
from veridical._core.data.schema import is_text
from veridical._core.data.validation import check_option
from veridical._core.formula import Formula
from veridical.calibrators import Calibrator, GroupedCalibrator
from veridical.calibrators.formulas import (
    GroupFormula,
    check_exportable,
    formula_of,
    group_formulas,
)
from veridical.exceptions import invalid
from veridical.export._text.sql_dialects import DIALECTS, Dialect
from veridical.export._text.sql_features import FeatureTests
from veridical.export._text.sql_length import length
from veridical.export._text.sql_query import QueryWriter
from veridical.export._text.sql_writer import Writer


def to_sql(
    calibrator: Calibrator,
    *,
    dialect: str = "duckdb",
    columns: str | Sequence[str] | None = None,
    table: str | None = None,
    keep: str | Sequence[str] = (),
    by: str | Sequence[str] | None = None,
) -> str | list[str]:
    r"""Write a fitted calibrator as SQL over columns of a table.

    Parameters
    ----------
    calibrator : Calibrator
        Fitted.
    dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake"}, default "duckdb"
        The first four are executed in this package's tests against `predict_proba`. The others
        are generated from the same formula and labelled by a comment as not executed. SQLite
        needs its mathematical functions, which most builds since 3.35 have.
    columns : str or sequence of str, optional
        Names of the columns that hold predictions, of the kind the calibrator was fitted to
        (probabilities, logits or scores): one for each class in the order of `classes_`, or, of
        two classes, only that of the positive one, `pos_label`. Default: the names of the
        frame it was fitted to, else "p" for two classes and "p0", "p1", ... for more. Names are
        quoted, so they may hold anything.
    table : str, optional
        Write a whole query over this table instead of expressions: what they would repeat is a
        column of an inner SELECT. Parts of a name are separated by dots.
    keep : str or sequence of str, optional
        Columns of the table that the query hands on, such as a key; only with `table`.
    by : str or sequence of str, optional
        Of a `GroupedCalibrator`, the column of groups, of the type that it was fitted to; default
        the one it was fitted to. Groups it does not know get the map of all rows. Of a map of
        features, their columns, in the order and of the types that it was fitted to; default the
        names it was fitted to. An infinite number counts as a missing one.

    Returns
    -------
    str or list of str
        Of two classes the expression of the positive class's probability; of more, one
        expression for each class in the order of `classes_`. A comment says which probability.
        With `table` one query, which gives the columns to keep and "calibrated", of more classes
        "calibrated_CLASS" for each.

    Raises
    ------
    InvalidInputError
        If the calibrator is not a formula of its inputs (`ConfidenceReducedCalibrator`,
        `SimplexHistogramCalibrator`; `OneVsRestCalibrator` of steps on logits of three classes or
        more), if columns do not fit, if SQLite's parser, which keeps 100 entries, could not read
        the expression, or if it would be longer than engines plan: 4 million letters, 1 million
        of a query.

    Notes
    -----
    A row that `predict_proba` would refuse because a value is missing, NaN or outside [0, 1] gives
    NULL; that a row's probabilities sum to one is not checked. Results agree with `predict_proba`
    to 1e-12; probabilities below 1e-261 may differ in relative terms.

    SQL has no names for intermediate results within an expression, so maps of many classes grow
    long: as K^2 for temperatures and K^3 for matrices, all classes together, and K^4 for structured
    matrices; a query (`table`) grows as K^2 at most. Lookups are balanced trees of CASE: an edge
    more doubles nothing and costs one line. In a query for DuckDB, which computes every branch of
    a tree for some rows of each block, long ones are joins with small tables.

    Examples
    --------
    >>> from veridical.calibrators import HistogramCalibrator
    >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    >>> map = HistogramCalibrator(n_bins=2).fit(p, y)  # 2/5 up to 1/2, 4/5 above
    >>> print(to_sql(map, columns="risk"))
    /* probability of 1 */
    CASE WHEN "risk"::DOUBLE BETWEEN 0.0e0 AND 1.0e0 THEN
    CASE WHEN "risk"::DOUBLE <= 0.5e0 THEN 0.4e0 ELSE 0.8e0 END
    END
    """
    caller = "to_sql"
    check_option(caller, "dialect", dialect, tuple(DIALECTS))
    kept = _kept(table, keep)
    check_exportable(calibrator, caller)
    names = column_names(calibrator, columns)
    calibrator._check_one_column(names, caller=caller)
    one_column = len(names) < len(calibrator.classes_)
    features = getattr(calibrator, "features_", None)
    group_column, feature_columns = None, list[str]()
    if features is None:
        group_column = _group_column(calibrator, by)
    else:
        feature_columns = _feature_columns(features, by)
    if group_column in names or set(feature_columns) & set(names):
        hint = "name the column of groups, which is none of predictions."
        raise invalid(caller, "by", "another column", repr(by or group_column), hint=hint)
    if table is not None and (group_column is not None or features is not None):
        hint = "leave `table` out: groups are an expression."
        raise invalid(caller, "table", "unset for maps of groups", repr(table), hint=hint)
    groups: list[GroupFormula] = []
    if isinstance(calibrator, GroupedCalibrator):
        formula, groups = group_formulas(calibrator, one_column=one_column, caller=caller)
    else:
        formula = formula_of(calibrator, one_column=one_column, caller=caller)
    label = (
        "" if DIALECTS[dialect].executed else f"/* {dialect}: generated, not executed by us */\n"
    )

    if table is not None:
        return label + _query(formula, DIALECTS[dialect], names, table, kept)
    _check_length(length(formula.outputs), _LONGEST, formula)
    tests = features and FeatureTests(DIALECTS[dialect], features, feature_columns)
    writer = Writer(DIALECTS[dialect], names, formula.input, tests)

    def written(index: int) -> str:
        if group_column is None:
            text = writer.write(formula.outputs[index])
        else:
            own = [(each.key, each.share, each.outputs[index]) for each in groups]
            text = writer.of_groups(group_column, formula.outputs[index], own)
        return f"{label}/* {formula.meaning(index)} */\n{writer.guarded(formula, text)}"

    if len(formula.outputs) == 2:
        return written(formula.positive)
    return [written(index) for index in range(len(formula.outputs))]


_LONGEST, _LONGEST_QUERY = 4_000_000, 1_000_000


def _query(
    formula: Formula, dialect: Dialect, names: list[str], table: str, kept: list[str]
) -> str:
    outputs, new = formula.outputs, [f"calibrated_{label}" for label in formula.classes]
    meanings = [formula.meaning(k) for k in range(len(outputs))]
    if len(outputs) == 2:
        place = formula.positive
        outputs, new, meanings = outputs[place : place + 1], ["calibrated"], [meanings[place]]
    taken = {name.lower() for name in kept}
    if any(name.lower() in taken for name in new):
        hint = "rename it in a view, or do not keep it."
        raise invalid("to_sql", "keep", f"free of {new[0]!r}", repr(kept), hint=hint)
    _check_length(length(outputs, shared=True), _LONGEST_QUERY, formula)
    writer = QueryWriter(dialect, formula, names, outputs, kept)
    place_of = ".".join(dialect.quote(part) for part in table.split("."))
    about = "; ".join(meanings[:20])
    return f"/* {about} */\n{writer.query(place_of, kept, new)}"


def _check_length(found: int, most: int, formula: Formula) -> None:
    """Raise if a text would be longer than engines plan."""
    if found <= most:
        return
    way = "" if most == _LONGEST_QUERY else "pass `table=` for a query, "
    hint = f'{way}use `to_onnx` or `to_python`, or fit `AutoCalibrator(strategy="select")`.'
    got = f"about {found / 1e6:.1f} million letters for {len(formula.classes)} classes"
    expected = f"of at most {most // 1_000_000} million letters as SQL"
    raise invalid("to_sql", "calibrator", expected, got, hint=hint)


def _kept(table: str | None, keep: str | Sequence[str]) -> list[str]:
    kept = [keep] if isinstance(keep, str) else list(keep)
    if table is None and kept:
        hint = "expressions stand beside whatever columns you select."
        raise invalid("to_sql", "keep", "empty without `table`", repr(keep), hint=hint)
    if table is not None and (not is_text(table) or not all(table.split("."))):
        hint = 'e.g. table="scores" or table="main.scores".'
        raise invalid("to_sql", "table", "the name of a table", repr(table), hint=hint)
    for name in kept:
        if not name or not is_text(name):
            hint = "pass the names of columns, unquoted."
            raise invalid("to_sql", "keep", "names", repr(name), hint=hint)
    return kept


def _feature_columns(features: Features, by: str | Sequence[str] | None) -> list[str]:
    """Columns of features."""
    names = features.names if by is None else [by] if isinstance(by, str) else list(by)
    if len(names) != len(features) or not all(name and is_text(name) for name in names):
        hint = f"one for each of {features.names[:6]}, in this order."
        raise invalid("to_sql", "by", f"{len(features)} names of columns", repr(by), hint=hint)
    return names


def _group_column(calibrator: Calibrator, by: str | Sequence[str] | None) -> str | None:
    """Column of groups, if the calibrator has any."""
    if not isinstance(calibrator, GroupedCalibrator):
        if by is not None:
            hint = "leave it out."
            expected = "unset unless the calibrator is a `GroupedCalibrator`"
            raise invalid("to_sql", "by", expected, repr(by), hint=hint)
        return None
    name = by or getattr(calibrator, "group_name_", None)
    if not name or not is_text(name):
        hint = 'name the column of groups, e.g. by="site".'
        raise invalid("to_sql", "by", "given for a `GroupedCalibrator`", repr(by), hint=hint)
    return str(name)


def column_names(calibrator: Calibrator, columns: str | Sequence[str] | None) -> list[str]:
    """Columns of predictions: those named, those it was fitted to, or "p" and "p0", "p1", ..."""
    n_classes = len(calibrator.classes_)
    if columns is None:
        columns = ["p"] if n_classes == 2 else [f"p{k}" for k in range(n_classes)]
        columns = getattr(calibrator, "feature_names_in_", np.array(columns)).tolist()
    names = [columns] if isinstance(columns, str) else list(columns)
    allowed = (1, 2) if n_classes == 2 else (n_classes,)
    if len(names) not in allowed:
        count = "one or two names" if n_classes == 2 else f"{n_classes} names"
        hint = f"one for each class, in this order: {calibrator.classes_.tolist()[:6]}."
        raise invalid("to_sql", "columns", count, f"{len(names)}", hint=hint)
    for name in names:
        if not name or not is_text(name):
            hint = "pass the names of columns, unquoted."
            raise invalid("to_sql", "columns", "names", repr(name), hint=hint)
        if names.count(name) > 1:
            hint = "each class has a column of its own."
            raise invalid("to_sql", "columns", "different names", f"{name!r} twice", hint=hint)
    return names
