"""Handler of the page "Download": what was made, as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

import veridical.export as export
from veridical._core.data.validation import check_option
from veridical._core.runtime.optional import is_installed
from veridical.export.core import DIALECTS, TARGETS, export_map
from veridical.frames.files import write_with_columns
from veridical.frames.tables import open_table
from veridical.report import make_report
from veridical.studio._data.answers import CALLER, Refused, in_thread
from veridical.studio._data.files import safe_stem
from veridical.studio._data.session import Dataset, OpenTable, Session

dialects = tuple(DIALECTS)


class _Maker(NamedTuple):
    """How a file is written to a path, and how it is called after the name of the data."""

    write: Callable[[Path, OpenTable, Dataset, Mapping[str, str]], None]
    ending: str
    kind: str


async def download(request: Request) -> Response:
    """Write one file to the private folder and send it."""
    session: Session = request.app.state.session
    what = request.path_params["what"]
    check_option(CALLER, "what", what, _MAKERS)
    table, data = session.in_use
    maker = _MAKERS[what]
    path = session.new_target(what).with_suffix(Path(maker.ending).suffix)
    await in_thread(maker.write, path, table, data, request.query_params)
    return FileResponse(
        path,
        media_type=maker.kind,
        filename=f"{safe_stem(Path(table.name).name.split('.')[0])}-{maker.ending}",
        background=BackgroundTask(path.unlink),  # sent, and no longer needed
    )


def checked(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """What a file of the calibrator is, and how close it came when it was run."""
    _, data = session.in_use
    what = query.get("what", "")
    check_option(CALLER, "what", what, TARGETS)
    if what == "onnx":
        _check_onnx()
    _, made = export_map(data.chosen.calibrator, what, dialect=query.get("dialect", "duckdb"))
    return {"lines": str(made).splitlines(), **made.to_dict()}


def can_write_onnx() -> bool:
    """Whether ONNX can be written here."""
    return hasattr(export, "to_onnx") and is_installed("onnx")


def _check_onnx() -> None:
    if not can_write_onnx():
        hint = "pip install onnx, or use JSON, SQL or Python."
        raise Refused(501, "ONNX cannot be written here", hint)


def _json(path: Path, table: OpenTable, data: Dataset, query: Mapping[str, str]) -> None:
    export.save(data.chosen.calibrator, path)


def _sql(path: Path, table: OpenTable, data: Dataset, query: Mapping[str, str]) -> None:
    dialect = query.get("dialect", "duckdb")
    found = export.to_sql(data.chosen.calibrator, dialect=dialect)
    expressions = [found] if isinstance(found, str) else found
    lines = [f"-- {data.chosen.method} calibrator, {dialect}", *expressions]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")


def _python(path: Path, table: OpenTable, data: Dataset, query: Mapping[str, str]) -> None:
    path.write_text(export.to_python(data.chosen.calibrator), encoding="utf-8")


def _onnx(path: Path, table: OpenTable, data: Dataset, query: Mapping[str, str]) -> None:
    calibrator = data.chosen.calibrator
    _check_onnx()
    write: Any = export.to_onnx
    write(calibrator, path, one_column=data.one_column)


def _predictions(path: Path, table: OpenTable, data: Dataset, query: Mapping[str, str]) -> None:
    calibrator, columns = data.chosen.calibrator, list(data.mapping.prob)
    all_rows = open_table(table.path, columns=columns, caller=CALLER)  # of weight zero too
    values = all_rows.matrix(columns, caller=CALLER, param="prob").astype(np.float64)
    calibrated = calibrator.predict_proba(values[:, 0] if data.one_column else values)
    labels = np.asarray(calibrator.classes_).tolist()
    added = {_new(f"calibrated_{label}", table): calibrated[:, k] for k, label in enumerate(labels)}
    if data.one_column:
        added = {_new("calibrated", table): calibrated[:, calibrator.positive_index_]}
    write_with_columns(table.path, path, added, caller=CALLER)


def _report(path: Path, table: OpenTable, data: Dataset, query: Mapping[str, str]) -> None:
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


def _new(name: str, table: OpenTable) -> str:
    """A column name that the table does not have yet."""
    while name in table.columns:
        name += "_new"
    return name


_TEXT = "text/plain; charset=utf-8"
_MAKERS = {
    "json": _Maker(_json, "calibrator.json", "application/json"),
    "sql": _Maker(_sql, "calibrator.sql", _TEXT),
    "python": _Maker(_python, "calibrator.py", _TEXT),
    "onnx": _Maker(_onnx, "calibrator.onnx", "application/octet-stream"),
    "predictions": _Maker(_predictions, "calibrated.csv", "text/csv"),
    "report": _Maker(_report, "report.html", "text/html"),
}
