"""What the page "Data" asks for: open a table, show its first rows, map its columns."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from veridical._core.data.arrays import missing_values
from veridical._core.data.reading import Reading
from veridical.evaluation.data import DataRequest
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.files import find_files, scan_file
from veridical.frames.tables import (
    column_names,
    find_columns,
    label_of_column,
    labels_from_columns,
    labels_of,
    open_table,
)
from veridical.lenses.reading import RawData
from veridical.studio._data.answers import CALLER, in_thread, names, plain
from veridical.studio._data.files import check_amount, drop, file_in, files_in, keep_upload
from veridical.studio._data.session import (
    ColumnMapping,
    Dataset,
    OpenTable,
    Session,
    lens_choices,
    lens_of,
)

_PREVIEW_ROWS, _PREVIEW_COLUMNS, _LONGEST_CELL = 8, 30, 200
_MOST_LABELS = 200
_WARMED = 12


def list_files(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Tables of the chosen folder."""
    folder = session.settings.folder
    return {"folder": str(folder), "files": files_in(folder)}


async def upload(request: Request) -> Response:
    """Take a file from the browser and open it."""
    session: Session = request.app.state.session
    name = Path(request.query_params.get("name", "")).name
    path = await keep_upload(
        request.stream(),
        name,
        request.headers.get("content-length"),
        target=session.new_target("upload"),
        limit=session.settings.max_upload,
    )
    try:
        await in_thread(check_amount, path, session.settings.max_upload)
        return JSONResponse(plain(await in_thread(_opened, session, name, path)))
    except BaseException:
        drop(path)
        raise


def open_file(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Open a file of the chosen folder."""
    name = str(body.get("name", ""))
    path = file_in(session.settings.folder, name)
    check_amount(path)
    return _opened(session, name, path)


def find_labels(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Labels that a column of outcomes holds."""
    table = session.table(body.get("id"))
    found, missing = _distinct(table, str(body.get("y", "")))
    prob = names(body.get("prob"), "prob")
    named = labels_from_columns(prob, np.asarray(found)) if len(prob) > 1 else None
    return {
        "labels": [str(label) for label in found[:_MOST_LABELS]],
        "n_labels": len(found),
        "missing": missing,
        "of_columns": None if named is None else [str(label) for label in named],
        "positive": _suggested(prob, found),
    }


def _suggested(prob: list[str], found: list[Any]) -> int:
    """Place of the class a single column is taken for: by its name, else the last of two."""
    said = label_of_column(prob[0], found) if len(prob) == 1 else None
    return found.index(said) if said in found else 1


def use(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Map the columns: from here on the table is what the other pages are about."""
    table = session.table(body.get("id"))
    data = _mapped(table, body)
    with session.lock:
        if session.fit is not None:
            session.fit.cancel()
            session.fit = None
        table.data = data
    threading.Thread(target=_warm, args=(data,), daemon=True).start()
    return described(table, data)


def described(table: OpenTable, data: Dataset) -> dict[str, Any]:
    """What pages show of the data in use."""
    return {
        "id": table.identifier,
        "name": table.name,
        "rows": data.sample.n,
        "classes": [str(label) for label in data.classes[:_MOST_LABELS]],
        "n_classes": len(data.classes),
        "binary": data.is_binary,
        "y": data.mapping.y,
        "prob": list(data.mapping.prob[:_PREVIEW_COLUMNS]),
        "by": data.mapping.by,
        "lenses": [name for name, _ in lens_choices(data.sample)],
        "picked": None if data.picked is None else data.picked.method,
    }


def _opened(session: Session, name: str, path: Path) -> dict[str, Any]:
    try:
        columns = column_names(path, caller=CALLER, param="file")
        preview = columns[:_PREVIEW_COLUMNS]
        rows = _first_rows(path, preview)
    except InvalidInputError as error:
        # The reader knows the file by its own name, not by where it is kept.
        expected, got, hint = (
            text.replace(str(path), name) for text in (error.expected, error.got, error.hint)
        )
        raise invalid(error.caller, error.param, expected, got, hint=hint) from error
    table = session.keep(name, path, columns)
    found: dict[str, Any] = {"y": None, "prob": [], "said": ""}
    try:
        guess = find_columns(path, caller=CALLER, param="file")
        found = {"y": guess.y, "prob": list(guess.prob), "said": guess.said}
    except InvalidInputError:
        pass  # the reader says it
    return {
        "id": table.identifier,
        "name": name,
        "columns": columns,
        "shown": preview,
        "rows": rows,
        "guess": found,
    }


def _first_rows(path: Path, columns: list[str]) -> list[list[str]]:
    _, kind = find_files(path, caller=CALLER, param="file")
    try:
        head = scan_file(path, kind).select(columns).head(_PREVIEW_ROWS).collect()
    except Exception as error:  # whatever the reader of the format says of a damaged file
        got = f"{path.name!r}, where reading stops with: {str(error).splitlines()[0]}"
        hint = "write the file again."
        raise invalid(CALLER, "file", f"a readable {kind} file", got, hint=hint) from error
    return [["" if c is None else str(c)[:_LONGEST_CELL] for c in row] for row in head.rows()]


def _distinct(table: OpenTable, y: str) -> tuple[list[Any], int]:
    """Labels of a column, in the order it declares or sorted, and how many are missing."""
    opened = open_table(table.path, columns=[y], caller=CALLER, param="file")
    outcomes = labels_of(table.path, opened, y, caller=CALLER)
    values = outcomes.values
    missing = missing_values(values) if values.dtype.kind in "fO" else np.zeros(len(values), bool)
    found = np.unique(values[~missing]).tolist()
    if outcomes.declared is not None:
        found.sort(key=outcomes.declared.index)
    return found, int(missing.sum())


def _mapped(table: OpenTable, body: dict[str, Any]) -> Dataset:
    y, prob = str(body.get("y") or ""), names(body.get("prob"), "prob")
    weight, by = body.get("weight") or None, body.get("by") or None
    if not y or not prob:
        hint = "choose the column of outcomes and at least one of probabilities."
        raise invalid(CALLER, "columns", "chosen", "none for the outcome or predictions", hint=hint)
    labels = _chosen_labels(table, y, prob, body)
    asked = {name: body[name] for name in ("scale", "missing", "normalize") if name in body}
    reading = Reading(**asked).checked(caller=CALLER)
    data = RawData(
        table.path, y=y, prob=prob, by=by, sample_weight=weight, reading=reading, **labels
    )
    source = DataRequest(data, caller=CALLER).rows()
    return Dataset(ColumnMapping(y, tuple(prob), weight, by), source, **labels)


def _chosen_labels(
    table: OpenTable, y: str, prob: list[str], body: dict[str, Any]
) -> dict[str, Any]:
    """Labels of columns and the positive one, from their places among those that occur."""
    places, positive = body.get("labels"), body.get("positive")
    if places is None and positive is None:
        return {"labels": None, "pos_label": None}
    found, _ = _distinct(table, y)

    def label(place: Any) -> Any:
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(found):
            hint = "choose one of the labels there are."
            raise invalid(CALLER, "labels", "labels of the outcome", repr(place), hint=hint)
        return found[place]

    named = None
    if len(prob) > 1 and isinstance(places, list):
        named = [label(place) for place in places]
    return {
        "labels": named,
        "pos_label": None if positive is None or len(prob) > 2 else label(positive),
    }


def _warm(data: Dataset) -> None:
    """Prepare the lenses that can be chosen, so that changing them answers at once."""
    for name, _ in lens_choices(data.sample)[:_WARMED]:
        data.view(lens_of(data.sample, name), "before").warm()
