"""Handler of the page "Download": what was made, as files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

import veridical.export as export
from veridical._core.data.validation import check_option
from veridical._core.runtime.optional import is_installed
from veridical.calibrators import Calibrator
from veridical.export.core import DIALECTS, write_file
from veridical.frames import open_table
from veridical.frames.files import write_with_columns
from veridical.report import make_report
from veridical.studio._data.answers import CALLER, Refused, in_thread
from veridical.studio._data.files import safe_stem
from veridical.studio._data.session import Dataset, OpenTable, Session

dialects = tuple(DIALECTS)


class _Written(NamedTuple):
    """A file and how it is to be called."""

    path: Path
    name: str
    kind: str


async def download(request: Request) -> Response:
    """Write one file to the private folder and send it."""
    session: Session = request.app.state.session
    what = request.path_params["what"]
    check_option(CALLER, "what", what, _MAKERS)
    table = session.current
    if table is None:
        raise Refused(409, "no data yet", "choose a file and its columns first.")
    written = await in_thread(_MAKERS[what], session, table, dict(request.query_params))
    return FileResponse(
        written.path,
        media_type=written.kind,
        filename=written.name,
        background=BackgroundTask(written.path.unlink),  # sent, and no longer needed
    )


def can_write_onnx() -> bool:
    """Whether ONNX can be written here."""
    return hasattr(export, "to_onnx") and is_installed("onnx")


def _calibrator(table: OpenTable) -> tuple[Dataset, Calibrator]:
    if table.data is None or table.data.picked is None:
        raise Refused(409, "no calibrator yet", "fit some on the page Calibrate and choose one.")
    return table.data, table.data.picked.calibrator


def _json(session: Session, table: OpenTable, query: dict[str, str]) -> _Written:
    data, calibrator = _calibrator(table)
    path = session.new_target("calibrator").with_suffix(".json")
    notes = None
    if len(data.mapping.prob) == 1:  # `veridical apply` finds out which class the column is about
        notes = {"column_of": np.asarray(data.classes[1]).item()}
    write_file(calibrator, path, notes)
    return _Written(path, _named(table, "calibrator.json"), "application/json")


def _sql(session: Session, table: OpenTable, query: dict[str, str]) -> _Written:
    data, calibrator = _calibrator(table)
    dialect = query.get("dialect", "duckdb")
    columns: list[str] | str = list(data.mapping.prob)
    lines = [f"-- {data.picked and data.picked.method} calibrator, {dialect}"]
    if len(columns) == 1 and not data.one_column:
        columns = "p"
        lines += [
            "-- p stands for 1 minus the column of predictions:",
            "-- the expression takes the probability of the larger label.",
        ]
    found = export.to_sql(calibrator, dialect=dialect, columns=columns)
    expressions = [found] if isinstance(found, str) else found
    labels = np.asarray(calibrator.classes_).tolist()
    for label, expression in zip(labels[-len(expressions) :], expressions, strict=True):
        about = re.sub(r"\s+", " ", str(label))
        lines += ["", f"-- probability of {about}", expression]
    return _written(session, "\n".join(lines) + "\n", _named(table, "calibrator.sql"))


def _python(session: Session, table: OpenTable, query: dict[str, str]) -> _Written:
    _, calibrator = _calibrator(table)
    return _written(session, export.to_python(calibrator), _named(table, "calibrator.py"))


def _onnx(session: Session, table: OpenTable, query: dict[str, str]) -> _Written:
    data, calibrator = _calibrator(table)
    if not can_write_onnx():
        hint = 'pip install "veridical[onnx]", or use JSON, SQL or Python.'
        raise Refused(501, "ONNX cannot be written here", hint)
    path = session.new_target("calibrator").with_suffix(".onnx")
    write: Any = export.to_onnx
    write(calibrator, path, one_column=data.one_column)
    return _Written(path, _named(table, "calibrator.onnx"), "application/octet-stream")


def _predictions(session: Session, table: OpenTable, query: dict[str, str]) -> _Written:
    data, calibrator = _calibrator(table)
    columns = list(data.mapping.prob)
    all_rows = open_table(table.path, columns=columns, caller=CALLER)  # of weight zero too
    values = all_rows.matrix(columns, caller=CALLER, param="prob").astype(np.float64)
    if len(columns) == 1:
        one = values[:, 0]
        values = one if data.one_column else np.column_stack([one, 1 - one])  # of the smaller label
    calibrated = calibrator.predict_proba(values)
    labels = np.asarray(calibrator.classes_).tolist()
    added = {_new(f"calibrated_{label}", table): calibrated[:, k] for k, label in enumerate(labels)}
    if len(data.mapping.prob) == 1:
        place = labels.index(data.classes[1])
        added = {_new("calibrated", table): calibrated[:, place]}
    path = session.new_target("calibrated").with_suffix(".csv")
    write_with_columns(table.path, path, added, caller=CALLER)
    return _Written(path, _named(table, "calibrated.csv"), "text/csv")


def _report(session: Session, table: OpenTable, query: dict[str, str]) -> _Written:
    data = table.data
    assert data is not None
    path = session.new_target("report").with_suffix(".html")
    make_report(
        table.path,
        y=data.mapping.y,
        prob=list(data.mapping.prob),
        labels=data.labels,
        pos_label=data.pos_label,
        sample_weight=data.mapping.weight,
        by=data.mapping.by,
        path=path,
    )
    return _Written(path, _named(table, "report.html"), "text/html")


def _written(session: Session, text: str, name: str) -> _Written:
    path = session.new_target("text").with_suffix(".txt")
    path.write_text(text, encoding="utf-8")
    return _Written(path, name, "text/plain; charset=utf-8")


def _named(table: OpenTable, ending: str) -> str:
    """File name after that of the data, of letters that every system takes."""
    return f"{safe_stem(Path(table.name).name.split('.')[0])}-{ending}"


def _new(name: str, table: OpenTable) -> str:
    """A column name that the table does not have yet."""
    while name in table.columns:
        name += "_new"
    return name


_MAKERS: dict[str, Callable[[Session, OpenTable, dict[str, str]], _Written]] = {
    "json": _json,
    "sql": _sql,
    "python": _python,
    "onnx": _onnx,
    "predictions": _predictions,
    "report": _report,
}
